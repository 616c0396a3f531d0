"""Commands as menus give them: taken as they are, always answered, and never by a model."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.commands.registry import COMMANDS, command_specs, is_command
from bot.config.settings import Settings
from bot.core.errors import SendError, SendFate
from bot.core.events import Outgoing
from bot.core.files import PromptFiles
from bot.core.people import SCRIPTS
from bot.language.wishes.reader import ORDERS, menu_command
from bot.text.catalogue import catalogue
from tests.peek import Like
from tests.world import Talk, World

MESSAGES = catalogue(PromptFiles(None).path, "messages")


@pytest.fixture
async def nuan(tmp_path: Path) -> AsyncIterator[World]:
    """A nuan on Discord and Telegram, where Ann and one group each may talk."""
    allow = {"allow": ["group:hall", "d-Ann", "t-Ann"]}
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "discord": allow, "telegram": allow})
    world = World(tmp_path / "data", settings, ("discord", "telegram"))
    await world.open()
    yield world
    await world.close()


async def slash(world: World, text: str, who: str = "Ann", group: str = "hall", **more: object) -> list[Outgoing]:
    """Somebody uses a slash command; what is answered, which no model had a hand in."""
    calls, before = len(world.model.requests), len(world.talk.said)
    facts = {"platform": "discord", "mentions_bot": True, "via": "77", **more}
    await world.say(text, who, group, **facts)
    assert len(world.model.requests) == calls
    return world.talk.said[before:]


def kept(world: World) -> list[tuple[object, ...]]:
    return world.peek.memories("text", disabled_at=None)


@pytest.mark.parametrize("group", ["", "hall"])
async def test_every_command_is_answered_with_a_sentence(nuan: World, group: str) -> None:
    told = [
        out.text
        for text in ("/start", *(f".ai {each.name}" for each in COMMANDS), ".ai nonsense")
        for out in await slash(nuan, text, group=group)
    ]
    told += [
        out.text
        for text in ("/start", *(f".ai {each.name}" for each in COMMANDS))
        for out in await slash(nuan, text, "小王", "", platform="console", via="")
    ]
    assert len(told) > len(COMMANDS)
    assert [text for text in told if text and " " not in text and text.isascii()] == []


@pytest.mark.parametrize("group", ["hall", "elsewhere"])
async def test_start_greets_by_name(nuan: World, group: str) -> None:
    (answer,) = await slash(nuan, "/start", group=group)
    assert nuan.settings.bot.names[0] in answer.text


@pytest.mark.parametrize("text", ["Ann likes green tea", "buy milk tomorrow", "that", "do you remember me?", "记住"])
async def test_remember_keeps_exactly_what_follows(nuan: World, text: str) -> None:
    (answer,) = await slash(nuan, f"/remember {text}")
    assert kept(nuan) == [(text,)]
    assert (answer.via, answer.kind) == ("77", "receipt")


async def test_forget_forgets_what_follows_and_its_number(nuan: World) -> None:
    for text in ("Ann likes green tea", "buy milk tomorrow"):
        await slash(nuan, f"/remember {text}")
    (answer,) = await slash(nuan, "/forget tea")
    assert (kept(nuan), answer.via) == ([("buy milk tomorrow",)], "77")
    await slash(nuan, "/forget #2")
    assert kept(nuan) == []
    assert nuan.peek.events.count(text=Like("%tea%")) == 0


async def test_a_menu_command_without_words_asks_and_keeps_nothing(nuan: World) -> None:
    await nuan.say("你好", "Ann", platform="telegram")
    (answer,) = await slash(nuan, "/remember", group="", platform="telegram", via="", mentions_bot=False)
    assert (kept(nuan), answer.text) == ([], MESSAGES.text("remember_what", "zh-Hans"))


async def test_a_menu_command_works_in_a_group_that_did_not_call(nuan: World) -> None:
    (answer,) = await slash(nuan, "/remember 我怕狗", platform="telegram", via="", mentions_bot=False)
    assert (kept(nuan), answer.text) == ([("我怕狗",)], "记住啦 #1：我怕狗")


async def test_a_person_is_answered_in_the_script_of_their_own_words(nuan: World) -> None:
    answers = [
        (await slash(nuan, text))[0].text
        for text in ("/remember Ann likes green tea", "/forget tea", "/remember 我喜歡綠茶", "/forget #2")
    ]
    assert answers[0] == "Got it, I'll remember #1: Ann likes green tea"
    assert answers[1].startswith("All right, forgotten #1")
    assert answers[2].startswith("記住啦 #2：")
    assert answers[3].startswith("好，忘掉了")
    assert "天內" in answers[3]


async def test_remember_is_kept_once_and_edited_with_its_message(nuan: World) -> None:
    facts = {"platform": "telegram", "via": "", "external_id": "5", "delivery_key": "a"}
    await slash(nuan, "/remember I like tea", **facts)
    assert await slash(nuan, "/remember I like tea", **facts) == []
    edit = nuan.message("/remember I like milk", "Ann", "hall", "telegram", target="5", label="edit")
    await nuan.app.ingest.accept(replace(edit, kind="event", mentions_bot=False))
    await nuan.app.settled()
    assert kept(nuan) == [("I like milk",)]


async def test_a_command_where_nuan_may_not_talk_gets_one_line(nuan: World) -> None:
    (answer,) = await slash(nuan, ".ai dialog 蓝鲸", "Bo", "elsewhere")
    assert (answer.via, ".ai allow" in answer.text) == ("77", True)
    assert nuan.peek.events.count(text=Like("%蓝鲸%")) == 0
    assert await slash(nuan, ".ai dialog", "Bo", "elsewhere", via="") == []


async def test_a_button_where_nuan_is_switched_off_gets_one_line(nuan: World) -> None:
    await slash(nuan, ".ai off", "Ann", "")
    (answer,) = await slash(nuan, "忘记 #1", "Ann", "")
    assert (answer.via, ".ai on" in answer.text) == ("77", True)
    (answer,) = await slash(nuan, "忘记 #1", "Ann", "", via="")
    assert (answer.via, ".ai on" in answer.text) == ("", True)
    assert await slash(nuan, "在吗", "Ann", "", via="") == []


@dataclass
class Shy(Talk):
    """A platform that does not take what is for one person."""

    fate: SendFate = "shut"

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        if outgoing.only_for:
            raise SendError(self.fate, "Forbidden")
        return await super().send(outgoing)


@pytest.mark.parametrize("script", SCRIPTS)
async def test_who_cannot_be_written_to_is_asked_to_write_first_once(nuan: World, script: str) -> None:
    said = {"en": "do you know me", "zh-Hans": "这个群里说话", "zh-Hant": "這個群裡說話"}[script]
    await nuan.say(said, "Ann", "hall", platform="telegram", mentions_bot=True)
    nuan.app._sender.connect(Shy("telegram", said=nuan.talk.said))
    answers = await slash(nuan, ".ai dialog", platform="telegram", via="")
    assert [(out.text, out.only_for) for out in answers] == [(MESSAGES.text("private_first", script, name="Ann"), "")]
    assert nuan.peek.outbox.count(state="pending") == 0


async def test_a_private_answer_that_fails_for_another_reason_asks_nobody_to_write_first(nuan: World) -> None:
    await nuan.say("do you know me", "Ann", "hall", platform="telegram", mentions_bot=True)
    nuan.app._sender.connect(Shy("telegram", said=nuan.talk.said, fate="never"))
    assert await slash(nuan, ".ai dialog", platform="telegram", via="") == []


def test_what_a_menu_says_is_a_command() -> None:
    assert all(is_command(spec.says) for spec in command_specs(MESSAGES))


@given(st.text(max_size=60))
def test_only_the_menus_own_form_is_an_order(text: str) -> None:
    assert (menu_command(text) is not None) == (" ".join(text.split()[:1]).lower() in ORDERS)
    order = menu_command(f"/remember {text}")
    assert order is not None
    assert order.content == text.strip()


async def test_who_was_refused_is_told_so_where_an_answer_is_shown_to_be_coming(nuan: World) -> None:
    await nuan.say("你好", "Ann", platform="discord")
    await nuan.say(".ai deny discord:d-Ann")
    before = len(nuan.replies)
    await nuan.say("在吗", "Ann", platform="discord")
    assert len(nuan.replies) == before
    (answer,) = await slash(nuan, "/remember 我怕狗", group="")
    assert (answer.via, answer.kind) == ("77", "notice")
    assert nuan.peek.memories.count() == 0
