"""`nuan ctx --raw` beside a running nuan prints, byte for byte, what the server receives when that is said next."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.cli.inspection import CtxRequest, show_ctx
from bot.cli.installation import Installation
from bot.cli.lookup import PromptTarget
from bot.config.settings import Settings
from bot.core.files import PromptFiles, resource_dir
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect
from bot.pipeline.endpoints import capabilities_of
from tests.fakes.openai_dialects import DialectName
from tests.fakes.openai_rules import list_of, mapping, text_of
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.world import World

KEY = "sk-ctx-raw"
DIGEST = '{"summary":"聊了猫和旅行","statements":[{"text":"小王家的猫叫年糕","from":[1]}]}'


def answers(asked: Asked) -> Reply:
    """A short reply; a digest; a look into the memory for a question."""
    if not asked.tool_names:
        return Reply(DIGEST)
    if asked.last_role == "user" and "？</p>" in asked.last_user:
        return Reply("", (Call("memory_recall", '{"query":"猫"}'),), reasoning="他在问猫")
    return Reply("好的呀", reasoning="随便聊聊")


@dataclass
class Beside:
    """A running nuan with the real client, and a look at it from outside."""

    world: World
    server: FakeOpenAI
    place: Installation

    async def looked(self, text: str, who: str = "小王", group: str = "", raw: bool = True) -> bytes:
        """What `nuan ctx` prints now."""
        whom = "local" if who == "小王" else f"person:{who}"
        view = PromptTarget(f"console:{f'group:{group}' if group else 'local'}", f"console:{whom}")
        return await show_ctx(self.place, view, CtxRequest(text, raw), self.world.clock)

    async def received(self, text: str, who: str = "小王", group: str = "") -> bytes:
        """The first body the server gets when that is said."""
        before = len(self.server.bodies)
        await self.world.say(text, who, group)
        return self.server.bodies[before]

    async def same(self, text: str, who: str = "小王", group: str = "") -> bytes:
        """Look, say, compare; the body."""
        looked = await self.looked(text, who, group)
        assert looked.decode() == (await self.received(text, who, group)).decode()
        return looked


RULES: dict[DialectName, list[dict[str, object]]] = {
    "plain": [],
    "openai-5.6": [
        {
            "marks": "breakpoint",
            "cache_key": True,
            "max_tokens_field": "max_completion_tokens",
            "temperature": False,
            "thinking_off": {"reasoning_effort": "none"},
        }
    ],
    "deepseek": [{"keep_reasoning": True, "thinking_on": {"thinking": {"type": "enabled"}}}],
}
"""What makes nuan speak to the server of this machine as to that provider's."""


@pytest.fixture(params=["plain", "openai-5.6"])
async def beside(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Beside]:
    async with FakeOpenAI(answers, key=KEY, dialect=request.param) as server:
        model = {"base_url": server.base_url, "api_key": KEY, "name": "fake", "thinking": True}
        settings = Settings.model_validate(
            {"bot": {"timezone": "Asia/Shanghai"}, "model": model, "capabilities": RULES[request.param]}
        )
        world = World(tmp_path / "data", settings)
        client = OpenAIModel(
            server.base_url, KEY, "fake", speaks=Dialect(capabilities_of(settings, settings.model), True)
        )
        world.model = client  # type: ignore[assignment]
        await world.open()
        persona = resource_dir("data/persona") / settings.persona
        yield Beside(
            world, server, Installation(world.settings, tmp_path / "data", PromptFiles(None), persona, world.settings)
        )
        await world.close()
        await client.close()
        assert server.violations == []


def messages(body: bytes) -> list[str]:
    """The contents of a request."""
    return [text_of(message) for message in list_of(mapping(json.loads(body))["messages"])]


def opening(body: bytes) -> str:
    """The block that a new log opens with."""
    return messages(body)[1].partition("<ctx")[0]


async def test_the_first_turn_of_a_session_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("记住我喜欢猫")
    body = await beside.same("你好")
    assert "我喜欢猫" in opening(body)
    await beside.world.say("/new")
    assert len(messages(await beside.same("又来了"))) == 2


async def test_a_turn_in_the_middle_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("你好")
    await beside.world.say("我的猫叫什么？")
    await beside.world.wait(400)
    await beside.world.say("记住猫叫年糕")
    assert len(messages(await beside.same("她又把杯子推下去了 <b>&amp;"))) == 8


async def test_a_turn_after_something_was_forgotten_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("记住我对花生过敏")
    await beside.world.say("你好")
    await beside.world.say("忘记我对花生过敏")
    body = await beside.same("今天吃什么")
    assert len(messages(body)) == 2
    assert "花生" not in messages(body)[1]


async def test_a_turn_after_the_session_fell_asleep_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("我家的猫叫年糕，她今天打翻了一个杯子")
    await beside.world.say("下个月我想带她去旅行")
    await beside.world.wait(beside.world.settings.session.idle_seconds + 1)
    assert "年糕" in messages(await beside.same("我回来了"))[1], "the lines of a talk that is not digested yet"
    await beside.world.wait(20 * 3600)
    assert "年糕" in opening(await beside.same("早上好"))


async def test_a_turn_in_another_language_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("记住我喜欢猫")
    assert "周五" in messages(await beside.same("good morning, how are you?"))[1], "one line changes nothing"
    await beside.same("今天天氣真好，我們出門吧")


async def test_a_line_with_what_is_no_text_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("你好")
    await beside.same("一\r\n二\x00\x1b[31m三\ud83d")
    await beside.same("长" * 9_000)
    await beside.same("长" * 120_000)


async def test_a_turn_in_a_group_is_shown_as_it_will_be(beside: Beside) -> None:
    await beside.world.say("今天好热", "妈妈", "家")
    await beside.world.say("小暖，你在吗", "爸爸", "家")
    await beside.world.say("我也热", "妈妈", "家")
    body = await beside.same("小暖，出个主意", "妈妈", "家")
    assert "我也热" in messages(body)[-1]


async def test_the_command_in_the_chat_shows_the_same_parts(beside: Beside) -> None:
    await beside.world.say("记住我喜欢猫")
    await beside.world.say("你好")
    shown = (await beside.looked("我的猫呢", raw=False)).decode()
    await beside.world.say(".ai ctx full 我的猫呢")
    assert beside.world.replies[-1] == shown.rstrip("\n")
    for content in messages(await beside.same("我的猫呢")):
        for part in content.partition("<ctx"):
            assert part.strip() in shown


@pytest.mark.parametrize("beside", ["openai-5.6", "deepseek"], indirect=True)
async def test_after_a_restart_thoughts_and_key_are_as_before(beside: Beside) -> None:
    await beside.world.say("你好")
    await beside.world.say("我的猫叫什么？")
    await beside.world.restart()
    await beside.same("她又把杯子推下去了")
    first, *_, last = (mapping(json.loads(body)) for body in beside.server.bodies)
    thoughts = [each.get("reasoning_content") for each in list_of(last["messages"]) if each["role"] == "assistant"]
    if "thinking" in last:
        assert thoughts == ["随便聊聊", "他在问猫", "随便聊聊"]
    else:
        assert thoughts == [None, None, None]
        assert last["prompt_cache_key"] == first["prompt_cache_key"]


@pytest.mark.parametrize("beside", ["plain"], indirect=True)
@pytest.mark.parametrize(("small_at", "name"), [(0.0, "little"), (1.0, "fake")])
async def test_the_shown_body_is_that_of_the_model_that_would_answer(
    beside: Beside, small_at: float, name: str
) -> None:
    await beside.world.say("你好")
    settings = Settings.model_validate(
        {
            **beside.place.settings.model_dump(exclude_unset=True),
            "small": {"name": "little"},
            "budget": {"small_at": small_at},
        }
    )
    beside.place = replace(beside.place, settings=settings)
    assert mapping(json.loads(await beside.looked("她又把杯子推下去了")))["model"] == name
