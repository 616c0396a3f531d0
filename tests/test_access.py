"""Who may use nuan: strangers, pairing, owners, groups. A stranger costs nothing and leaves no word behind."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from bot.config.settings import Settings
from bot.core.events import Incoming, Place
from bot.store.people import OWNER_FILE, leave_owner_code
from bot.text.codes import code_form, new_code
from tests.peek import Like, Other
from tests.world import World

Enter = Callable[..., Awaitable[World]]
CODE = re.compile(r"[2-9A-HJKMNP-Z]{8}")
TELEGRAM = {"platform": "telegram"}


@pytest.fixture
async def enter(tmp_path: Path) -> AsyncIterator[Enter]:
    """Starts a nuan on Telegram and Discord, too; 小王 at the terminal is the owner."""
    worlds: list[World] = []

    async def start(**sections: dict[str, object]) -> World:
        settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **sections})
        worlds.append(World(tmp_path / "data", settings, ("telegram", "discord")))
        return await worlds[-1].open()

    yield start
    for world in worlds:
        await world.close()


@pytest.fixture
async def nuan(enter: Enter) -> World:
    """That nuan, whose owner has said hello."""
    world = await enter()
    await world.say("你好")
    world.talk.said.clear()
    return world


def code_told(world: World, chat: str = "") -> str:
    """The code in the last message that holds one, to that place."""
    told = [CODE.search(out.text) for out in world.talk.said if not chat or out.external_chat_id == chat]
    return [found.group() for found in told if found and code_form(found.group())][-1]


async def asked(world: World, who: str = "阿生", platform: str = "telegram") -> str:
    """The pairing code of somebody who has just written for the first time."""
    await world.say("你好呀", who, platform=platform)
    return code_told(world, f"dm:{who}")


async def test_a_stranger_gets_a_pairing_code_and_no_model(nuan: World) -> None:
    calls = len(nuan.model.requests)
    await asked(nuan)
    said = [(out.platform, out.external_chat_id) for out in nuan.talk.said]
    assert said == [("telegram", "dm:阿生"), ("console", "local")]
    assert len(nuan.model.requests) == calls


async def test_many_messages_of_strangers_cost_no_model_call_and_few_lines(nuan: World) -> None:
    calls = len(nuan.model.requests)
    for number in range(60):
        await nuan.say(f"第{number}句，小暖", f"人{number % 6}", platform="telegram")
        await nuan.say(f"小暖，第{number}句", f"人{number % 6}", "大群", platform="telegram", mentions_bot=True)
        await nuan.wait(10)
    assert len(nuan.model.requests) == calls
    assert max(sum(out.external_chat_id == f"dm:人{who}" for out in nuan.talk.said) for who in range(6)) <= 1
    assert not any(out.external_chat_id == "group:大群" for out in nuan.talk.said)


async def test_what_a_stranger_writes_is_not_stored(nuan: World) -> None:
    await nuan.say("我的秘密是蓝鲸", "阿生", platform="telegram")
    await nuan.say(".ai ctx 蓝鲸", "阿生", platform="telegram")
    await nuan.say("/start 蓝鲸", "阿生", platform="telegram")
    await nuan.say("小暖，蓝鲸", "阿生", "大群", platform="telegram", mentions_bot=True, scene="蓝鲸馆")
    place = Place("telegram", "group:大群", "group")
    await nuan.app.ingest.accept(Incoming(place, None, "event", "蓝鲸标题", "title"))
    await nuan.app.settled()
    assert nuan.peek.events.count(text=Like("%蓝鲸%")) == 0
    assert nuan.peek.chats.count(scene=Like("%蓝鲸%")) == 0


async def test_a_code_is_told_once_an_hour_and_again_to_who_asks_for_it(nuan: World) -> None:
    code = await asked(nuan)
    for _ in range(5):
        await nuan.say("在吗", "阿生", platform="telegram")
        await nuan.wait(60)
    assert sum(out.platform == "telegram" for out in nuan.talk.said) == 1
    await nuan.say("/start", "阿生", platform="telegram")
    assert code in nuan.talk.said[-1].text
    assert sum(out.external_chat_id == "local" for out in nuan.talk.said) == 1
    await nuan.wait(3600)
    assert await asked(nuan) != code


async def test_no_more_than_three_strangers_of_a_platform_wait(nuan: World) -> None:
    codes = {await asked(nuan, f"人{number}") for number in range(3)}
    assert len(codes) == 3
    nuan.talk.said.clear()
    for _ in range(3):
        await nuan.say("还有我", "人3", platform="telegram")
        await nuan.wait(61)
    assert [(out.external_chat_id, CODE.search(out.text)) for out in nuan.talk.said] == [("dm:人3", None)]
    assert await asked(nuan, "别处", "discord") not in codes


async def test_an_approved_person_is_told_and_may_talk(nuan: World) -> None:
    code = await asked(nuan)
    nuan.talk.said.clear()
    await nuan.say(f".ai approve {code.lower()}")
    assert sorted((out.external_chat_id, out.text) for out in nuan.talk.said) == [
        ("dm:阿生", "主人同意啦，以后直接跟我说话就好"),
        ("local", "好，阿生 (telegram:t-阿生)现在可以跟我聊天了"),
    ]
    await nuan.say("谢谢", "阿生", platform="telegram")
    assert nuan.replies[-1] == "好的"
    assert "你好呀" not in nuan.sent


async def test_the_owners_notice_has_buttons_for_the_owner_alone(nuan: World) -> None:
    code = await asked(nuan)
    buttons = next(out for out in nuan.talk.said if out.external_chat_id == "local").buttons
    assert [(each.text, each.account) for each in buttons] == [
        (f".ai approve {code}", "local"),
        (f".ai deny {code}", "local"),
    ]


async def test_a_denied_person_gets_no_answer_at_all(nuan: World) -> None:
    code = await asked(nuan)
    await nuan.say(f".ai deny {code}")
    nuan.talk.said.clear()
    for text in ("为什么", "/start", "/help", ".ai help", f"/start {code}"):
        await nuan.say(text, "阿生", platform="telegram")
        await nuan.wait(70)
    assert nuan.talk.said == []
    await nuan.say(".ai allow telegram:t-阿生")
    await nuan.say("谢谢", "阿生", platform="telegram")
    assert nuan.replies[-1] == "好的"


@pytest.mark.parametrize("command", [".ai approve {}", ".ai allow", ".ai deny", ".ai allow telegram:t-阿生"])
async def test_only_an_owner_decides(nuan: World, command: str) -> None:
    code = await asked(nuan)
    for who, platform in (("阿生", "telegram"), ("阿红", "telegram"), ("阿明", "console")):
        await nuan.say(command.format(code), who, platform=platform)
    assert nuan.peek.people.count(access=Other("")) == 0
    assert nuan.peek.chats.count(access=Other("")) == 0


async def test_an_owner_is_not_denied(nuan: World) -> None:
    await nuan.say(".ai deny console:local")
    assert nuan.replies == ["主人不用同意，也不能拒绝"]
    assert nuan.peek.people.count(access="denied") == 0


async def test_a_code_is_shown_to_its_stranger_and_the_owner_only(nuan: World) -> None:
    codes = [await asked(nuan, who) for who in ("甲", "乙")]
    for who in ("丙", "丁", "甲", "乙"):
        await nuan.say("你好", who, platform="telegram")
        await nuan.say(".ai dialog", who, platform="telegram")
        await nuan.say("小暖", who, "大群", platform="telegram", mentions_bot=True)
    for who, code in zip(("甲", "乙"), codes, strict=True):
        assert {out.external_chat_id for out in nuan.talk.said if code in out.text} == {f"dm:{who}", "local"}
    assert not any(code in nuan.sent for code in codes)


async def test_an_expired_code_approves_nobody(nuan: World) -> None:
    code = await asked(nuan)
    await nuan.wait(3601)
    await nuan.say(f".ai approve {code}")
    assert nuan.replies[-1] == "没有在等的人用这个码，也许已经过期了"
    assert nuan.peek.codes.count(kind="pair") == 0


async def test_a_group_works_only_after_an_owner_allows_it(enter: Enter) -> None:
    world = await enter(bot={"timezone": "Asia/Shanghai", "owners": ["telegram:t-王"]})
    call = {"group": "大群", "platform": "telegram", "mentions_bot": True}
    await world.say("在吗", "王", **call)  # type: ignore[arg-type]
    assert world.replies == []
    await world.say(".ai allow", "王", "大群", **TELEGRAM)
    await world.say("在吗", "谁都行", **call)  # type: ignore[arg-type]
    assert world.replies == ["好，我可以在大群 (telegram:group:大群)说话了", "好的"]
    await world.say(".ai deny", "王", "大群", **TELEGRAM)
    await world.say("在吗", "谁都行", **call)  # type: ignore[arg-type]
    assert world.replies[2:] == ["好，我不在大群 (telegram:group:大群)说话了"]


async def test_a_name_lets_nobody_in_but_asks_with_ids(nuan: World) -> None:
    await asked(nuan, "阿生")
    await nuan.say("你好", "阿生", platform="discord")
    for command in ("allow", "deny"):
        await nuan.say(f".ai {command} 阿生")
        said = nuan.talk.said[-1]
        assert sorted(each.text for each in said.buttons) == [
            f".ai {command} discord:d-阿生",
            f".ai {command} telegram:t-阿生",
        ]
        assert all(each.text in said.text for each in said.buttons)
    assert nuan.peek.people("access", name="阿生") == [("",), ("",)]
    await nuan.say(".ai allow telegram:t-阿生")
    assert nuan.replies[-1] == "好，阿生 (telegram:t-阿生)现在可以跟我聊天了"
    assert nuan.peek.people("access", name="阿生") == [("allowed",), ("",)]


async def test_a_name_that_looks_like_an_id_is_only_a_name(nuan: World) -> None:
    await asked(nuan, "telegram:t-阿生", "discord")
    await asked(nuan, "阿生")
    await nuan.say(".ai allow telegram:t-阿生")
    assert nuan.peek.people("access", name="telegram:t-阿生") == [("",)]
    assert nuan.peek.people("access", name="阿生") == [("allowed",)]


async def test_what_is_allowed_in_a_guild_holds_for_all_its_channels(enter: Enter) -> None:
    world = await enter(bot={"timezone": "Asia/Shanghai", "owners": ["discord:d-王"]})
    await world.say(".ai allow", "王", "频道一", platform="discord", parent="guild1")
    for channel, parent in (("频道二", "guild1"), ("频道三", "guild2")):
        await world.say("小暖，在吗", "阿明", channel, platform="discord", parent=parent)
    assert [out.external_chat_id for out in world.talk.said] == ["group:频道一", "group:频道二"]


@pytest.mark.parametrize(
    ("allow", "who", "group"), [("t-阿生", "阿生", ""), ("group:大群", "谁", "大群"), ("g1", "谁", "话题")]
)
async def test_the_configurations_list_needs_no_approval(enter: Enter, allow: str, who: str, group: str) -> None:
    world = await enter(telegram={"allow": [allow]})
    await world.say("小暖，在吗", who, group, platform="telegram", parent="g1" if group == "话题" else "")
    await world.say("小暖，在吗", "外人", "别的群" if group else "", platform="telegram")
    assert sum(reply == "好的" for reply in world.replies) == 1


async def test_a_post_without_a_sender_is_nobodys_command(enter: Enter) -> None:
    world = await enter(telegram={"allow": ["group:频道"]})
    place = Place("telegram", "group:频道", "group")
    for text in (".ai allow", ".ai help", "小暖，在吗"):
        await world.app.ingest.accept(Incoming(place, None, "message", text, mentions_bot=True))
        await world.app.settled()
    assert (world.replies, world.log.named("answer_failed")) == ([], [])


@pytest.mark.parametrize("text", ["/start", "/help", "/start QQQQQQQ2"])
@pytest.mark.parametrize("group", ["", "大群"])
async def test_start_and_help_always_answer(nuan: World, text: str, group: str) -> None:
    await nuan.say(text, "阿生", group, platform="telegram")
    assert [out.text for out in nuan.talk.said if out.platform == "telegram"] != []


async def test_start_gives_a_stranger_the_code_each_time(nuan: World) -> None:
    for _ in range(2):
        await nuan.say("/start", "阿生", platform="telegram")
    assert sum("配对码" in out.text for out in nuan.talk.said if out.platform == "telegram") == 2


@pytest.mark.parametrize("form", ["/start {}", "{}", " {} ", ".ai link {}"])
async def test_the_code_of_init_makes_its_sender_the_owner_once(enter: Enter, form: str) -> None:
    world = await enter()
    code = leave_owner_code(world.folder, world.clock.now())
    assert (world.folder / OWNER_FILE).stat().st_mode & 0o777 == 0o600
    await world.say(form.format(code.lower()), "王", platform="telegram")
    assert world.replies == ["认出来啦，你就是我的主人"]
    await world.say(".ai approve QQQQQQQ2", "王", platform="telegram")
    assert "只有主人" not in world.replies[-1]
    await world.say(f"/start {code}", "贼", platform="telegram")
    assert world.replies[-1] == "这个码不对，或者已经过期了"
    assert world.peek.accounts("external_id", owner=1) == [("t-王",)]
    assert not (world.folder / OWNER_FILE).exists()


async def test_the_owner_code_is_over_after_a_day_and_survives_a_crash(enter: Enter) -> None:
    world = await enter()
    code = leave_owner_code(world.folder, world.clock.now())
    await world.crash()
    await world.wait(24 * 3600 + 1)
    await world.say(f"/start {code}", "王", platform="telegram")
    assert world.peek.accounts.count(owner=1) == 0


async def test_a_code_that_is_over_is_a_word_to_who_may_talk(enter: Enter) -> None:
    world = await enter(telegram={"allow": ["t-王"]})
    code = leave_owner_code(world.folder, world.clock.now())
    await world.say(f"/start {new_code()}", "王", platform="telegram")
    await world.wait(24 * 3600 + 1)
    await world.say(code, "王", platform="telegram")
    assert world.replies[-1] == "好的"


@pytest.mark.parametrize(("group", "forwarded"), [("大群", False), ("", True)])
async def test_a_code_that_others_see_or_wrote_makes_nobody_an_owner(enter: Enter, group: str, forwarded: bool) -> None:
    world = await enter(telegram={"allow": ["t-王", "group:大群"]})
    code = leave_owner_code(world.folder, world.clock.now())
    await world.say("你好", "王", platform="telegram")
    await world.store.people.take_owner_code()
    await world.say(code, "王", group, platform="telegram", forwarded=forwarded, mentions_bot=True)
    assert world.replies[-1] == "好的"
    assert world.peek.accounts.count(owner=1) == 0


async def test_a_bot_on_the_list_is_answered_nowhere_in_private(enter: Enter) -> None:
    world = await enter(telegram={"allow": ["t-机器"]}, bot={"owners": ["telegram:t-机器"]})
    await world.say("小暖，你好", "机器", platform="telegram", is_bot=True)
    assert world.replies == []
    ((bot, chat),) = world.rows("SELECT person_id, chat_id FROM member")
    standing = await world.store.people.standing(cast("int", chat), cast("int", bot))
    assert (standing.allowed, standing.owner) == (False, False)


async def test_a_denial_outweighs_the_configurations_list(enter: Enter) -> None:
    world = await enter(telegram={"allow": ["group:大群"]})
    await world.say("小暖，在吗", "阿生", "大群", platform="telegram", mentions_bot=True)
    assert world.replies == ["好的"]
    await world.say(".ai deny telegram:group:大群")
    world.talk.said.clear()
    await world.say("小暖，在吗", "阿生", "大群", platform="telegram", mentions_bot=True)
    assert world.replies == []


async def test_a_bot_uses_no_code_and_owns_nothing(enter: Enter) -> None:
    world = await enter(bot={"timezone": "Asia/Shanghai", "owners": ["telegram:t-匿名管理员"]})
    code = leave_owner_code(world.folder, world.clock.now())
    for text in (code, f"/start {code}", f".ai link {code}", ".ai allow"):
        await world.say(text, "匿名管理员", platform="telegram", is_bot=True)
        await world.say(text, "匿名管理员", "大群", platform="telegram", is_bot=True)
    assert world.replies == []
    assert world.peek.accounts.count(owner=1) == 0


async def test_five_wrong_codes_and_the_right_one_is_ignored_for_an_hour(enter: Enter) -> None:
    world = await enter()
    code = leave_owner_code(world.folder, world.clock.now())
    for _ in range(5):
        await world.say(f"/start {new_code()}", "贼", platform="telegram")
    for text in (f"/start {code}", code, "你好", "/help"):
        await world.say(text, "贼", platform="telegram")
    assert world.replies == ["这个码不对，或者已经过期了"] * 5
    await world.wait(3601)
    await world.say(code, "贼", platform="telegram")
    assert world.replies[-1] == "认出来啦，你就是我的主人"


async def test_an_answer_with_somebodys_data_goes_to_that_person_alone(enter: Enter) -> None:
    world = await enter(
        bot={"timezone": "Asia/Shanghai", "owners": ["discord:d-王"]}, discord={"allow": ["group:大群"]}
    )
    for command in (".ai ctx", ".ai dialog", ".ai budget show", ".ai help"):
        await world.say(command, "王", "大群", platform="discord", via=f"handle {command}")
    assert [(out.only_for, out.via) for out in world.talk.said] == [
        ("d-王", "handle .ai ctx"),
        ("d-王", "handle .ai dialog"),
        ("d-王", "handle .ai budget show"),
        ("", "handle .ai help"),
    ]


async def test_a_receipt_has_a_button_that_takes_it_back(nuan: World) -> None:
    pressed = "记住我怕狗"
    for receipt in ("记住啦 #1：我怕狗", "好，忘掉了 #1“我怕狗”。7 天内说“撤销 #1”还能找回来", "找回来啦 #1"):
        await nuan.say(pressed)
        assert nuan.replies[-1] == receipt
        for button in nuan.talk.said[-1].buttons:
            assert (button.label, button.account) == ("撤销", "local")
            pressed = button.text
    assert nuan.talk.said[-1].buttons == ()


async def test_owner_code_prints_a_code_that_makes_its_sender_the_owner(enter: Enter) -> None:
    world = await enter()
    said = CliRunner().invoke(app, ["owner-code", "--data", str(world.folder)], env={"LANG": "en"})
    (code,) = re.findall(r"/start (\w+)", said.stdout)
    await world.say(f"/start {code}", "王", platform="telegram")
    assert world.peek.accounts("external_id", owner=1) == [("t-王",)]
