"""What was forgotten, deleted or denied while a call is under way is not sent again, and nothing is said to nobody."""

from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from tests.fakes.clock import let_others_run
from tests.fakes.model import says
from tests.pools import Named, asked, is_pause, left, tell, through, with_models
from tests.test_changes import change
from tests.test_closing import TALK
from tests.test_linking import link_code
from tests.world import World

BUSY = ModelError("busy", "HTTP 503")
SECRET = "swordfish99"
OPEN = {"telegram": {"allow": ["t-阿明"]}, "discord": {"allow": ["d-阿明"]}}


async def paused(world: World) -> None:
    """Return when a call waits before its next request."""
    while not any(is_pause(alarm) for alarm in world.clock._alarms if not alarm.cancelled):
        await let_others_run()


def told_in(model: Named, since: int) -> bool:
    """Whether a request after the first `since` ones held the secret."""
    return any(SECRET in message.content for request in model.requests[since:] for message in request.prompt.messages)


async def test_a_question_goes_out_on_a_new_log_when_its_log_was_forgotten_meanwhile(tmp_path: Path) -> None:
    first = Named("first", "好的")
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "model": {"tries": 3}, **OPEN})
    world = World(tmp_path, settings, ("telegram", "discord"))
    world.model, first.clock = first, lambda: world.clock
    await world.open()

    async def says_on(platform: str, text: str) -> None:
        await world.app.ingest.accept(world.message(text, "阿明", platform=platform))
        await through(world)

    await says_on("telegram", "你好呀")
    await says_on("discord", "你好呀")
    code = await link_code(world)
    await says_on("discord", f".ai link {code}")
    for platform in ("telegram", "discord"):
        await says_on(platform, f".ai link yes {code}")
    await says_on("telegram", f"记住我的密码是 {SECRET}")
    await says_on("telegram", f"我的密码是 {SECRET}，对吧")
    first.answers = [BUSY, "好的，听什么呢"]
    await world.app.ingest.accept(world.message("我们聊聊音乐吧", "阿明", platform="telegram"))
    await paused(world)
    before = len(first.requests)
    await world.app.ingest.accept(world.message(f"忘记 {SECRET}", "阿明", platform="discord"))
    while not world.replies[-1].startswith("好，忘掉了"):
        await let_others_run()
    await through(world)
    assert not told_in(first, before)
    assert len(first.requests) == before + 1
    assert world.replies[-1] == "好的，听什么呢"
    assert left(world) == 0
    await world.close()


async def test_a_digest_that_waits_does_not_tell_what_was_deleted_meanwhile(tmp_path: Path) -> None:
    first = Named("first", "好的")
    async with with_models(tmp_path, first) as world:
        first.digests = True
        for number, text in enumerate((*TALK, f"我的密码是 {SECRET}")):
            await world.app.ingest.accept(world.message(text, external_id=f"m{number}"))
            await through(world)
        first.answers = [BUSY, '{"summary": "聊了一天", "statements": []}']
        await world.app.ingest.accept(world.message("/new"))
        await paused(world)
        before = len(first.requests)
        await world.app.ingest.accept(change(world, "delete", f"m{len(TALK)}"))
        await through(world)
        await world.wait(60)
        assert not told_in(first, before)
        assert left(world) == 0


async def test_a_small_model_whose_window_is_too_small_leaves_the_answer_to_the_first(tmp_path: Path) -> None:
    first, small = Named("first", "大模型在"), Named("small", ModelError("overflow", "HTTP 400"))
    budget: dict[str, object] = {"day_tokens": 100_000, "small_at": 0.0, "light_at": 1.0}
    async with with_models(tmp_path, first, smaller=small, small={"name": "small"}, budget=budget) as world:
        await tell(world, "我今天想聊聊工作上的事")
        assert world.replies == ["大模型在"]
        assert asked(world) == ["small released", "first settled"]
        assert world.peek.sessions.count() == 1


async def test_of_fallbacks_the_next_one_is_asked_when_one_has_too_small_a_window(tmp_path: Path) -> None:
    first, narrow = (
        Named("first", ModelError("unreachable", "away")),
        Named("narrow", ModelError("overflow", "HTTP 400")),
    )
    async with with_models(tmp_path, first, narrow, Named("wide", "三号在")) as world:
        await tell(world, "我今天想聊聊工作上的事")
        assert world.replies == ["三号在"]


@pytest.mark.parametrize("counted", [0, 2**53 - 1])
async def test_of_a_count_that_cannot_be_what_was_reserved_is_charged(tmp_path: Path, counted: int) -> None:
    first = Named("first", "好的")
    async with with_models(tmp_path, first) as world:
        usage = says("", prompt_tokens=1).usage
        assert usage is not None
        first.answers = [says("好的", prompt_tokens=counted)]
        await tell(world, "我今天想聊聊工作上的事")
        ((tokens, how),) = world.peek.calls("prompt_tokens", "counted")
        assert isinstance(tokens, int)
        assert 100 < tokens < 5_000
        assert how == "reserved"
