"""A person's own words of groups in their own chat: what comes, and what never does, whatever happens to them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.store.store import DATABASE
from tests.indexed import wrong_index
from tests.test_changes import happens
from tests.test_linking import OPEN, linked
from tests.test_recall_kinds import GROUP, recalls, result
from tests.world import World

ASKED = "帐篷 几号"


async def own(world: World, who: str = "阿明", platform: str = "console") -> str:
    """What a recall in that person's own chat brings."""
    await world.say("/new", who, platform=platform)
    recalls(world, ASKED)
    await world.say("查查看", who, platform=platform)
    return result(world)


async def test_what_was_edited_is_found_by_its_new_words_and_what_was_deleted_is_not(world: World) -> None:
    await world.say("我领的帐篷是七号", "阿明", GROUP, external_id="m1")
    assert "七号" in await own(world)
    await happens(world, "edit", "m1", "我领的帐篷是九号", who="阿明", group=GROUP)
    told = await own(world)
    assert ("九号" in told, "七号" in told) == (True, False)
    await happens(world, "delete", "m1", who="阿明", group=GROUP)
    assert "九号" not in await own(world)


async def test_what_others_said_around_it_stays_in_the_group(world: World) -> None:
    await world.say("帐篷是几号", "小红", GROUP)
    await world.say("七号", "阿明", GROUP)
    await world.say("我的帐篷是三号，门口密码四四二", "小红", GROUP)
    await world.say("我领的帐篷在车上", "阿明", GROUP)
    told = await own(world)
    assert [word for word in ("三号", "密码", "小红", "在车上") if word in told] == ["在车上"]


async def test_it_comes_neither_in_another_group_nor_to_somebody_else(world: World) -> None:
    await world.say("我领的帐篷是七号", "阿明", GROUP)
    assert "七号" in await own(world)
    assert "七号" not in await own(world, "小红")
    recalls(world, ASKED)
    await world.say("小暖，查查看", "阿明", "别处")
    assert "七号" not in result(world)


async def test_how_one_is_called_in_a_group_is_told_there_alone(world: World) -> None:
    await world.say("小暖，叫我老大", "阿明", GROUP)
    await world.say("小暖，记住我住在杭州", "阿明", GROUP)
    recalls(world, "怎么叫我 老大 杭州")
    await world.say("查查看", "阿明")
    assert ("#2 " in result(world), "#1 " in result(world)) == (True, False)
    assert "杭州" in world.last_user
    await world.say(".ai mem", "阿明")
    assert ("#2" in world.replies[-1], "#1" in world.replies[-1]) == (True, False)
    recalls(world, "#1")
    await world.say("查查看", "阿明")
    assert "老大" not in result(world)
    assert "老大" not in "".join(message.content for message in world.prompts[-1] if message.role == "user")


async def test_the_line_that_a_shared_memory_was_told_in_stays_where_it_was_said(world: World) -> None:
    await world.say("记住我的狗叫旺财。今天好累啊，刚跟老板吵了一架", "阿明")
    await world.say(".ai mem share #1", "阿明")
    recalls(world, "#1")
    await world.say("查查看", "阿明")
    assert "吵了一架" in result(world)
    await world.say("小暖，查查看", "阿明", GROUP)
    assert ("旺财" in result(world), "吵了一架" in world.sent.rpartition(GROUP)[2]) == (True, False)


async def test_what_was_forgotten_in_the_own_chat_comes_no_more(world: World) -> None:
    await world.say("小暖，记住我领的帐篷是七号", "阿明", GROUP)
    await world.say("小暖，忘记我领的帐篷是七号", "阿明", GROUP)
    assert "七号" not in await own(world)


async def test_forwarded_words_are_told_as_anothers(world: World) -> None:
    await world.say("我的帐篷是七号，记得来拿", forwarded=True)
    told = await own(world, "小王")
    assert "小王转发的别人的话：我的帐篷是七号" in told
    assert "小王说：我的帐篷" not in told


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("帐篷是几号？", False),
        ("小暖，帐篷几号来着", False),
        ("你知道我领的帐篷是七号吗？", True),
        ("我的帐篷是七号，够大吗？", True),
    ],
)
async def test_a_question_that_states_something_is_found_and_a_bare_one_is_not(
    world: World, said: str, there: bool
) -> None:
    await world.say(said)
    assert ("小王说" in await own(world, "小王")) == there


async def test_it_follows_its_person_to_the_other_account(tmp_path: Path) -> None:
    sections = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **OPEN})
    world = await World(tmp_path / "data", sections, ("telegram", "discord")).open()
    await world.say("你好", "阿明", platform="discord")
    await world.say("我领的帐篷是七号", "阿明", "大群", platform="telegram")
    await world.say("帐篷八号是我的", "阿红", "大群", platform="telegram")
    await world.say("你好", "阿明", platform="telegram")
    assert "七号" not in await own(world, "阿明", "discord")
    world.model.script = lambda request: "好"
    await linked(world)
    told = await own(world, "阿明", "discord")
    assert ("七号" in told, "八号" in told) == (True, False)
    assert "七号" not in await own(world, "阿红", "discord")
    await world.close()
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as db:
        assert wrong_index(db) == []


async def test_it_is_found_after_the_group_moved(world: World) -> None:
    await world.say("我领的帐篷是七号", "阿明", GROUP)
    await world.say("我领的帐篷很轻", "阿明", "大群")
    await happens(world, "migrate", "group:大群", group=GROUP)
    told = await own(world)
    assert ("七号" in told, "很轻" in told) == (True, True)
    await world.close()
    with closing(sqlite3.connect(world.folder / DATABASE)) as db:
        assert wrong_index(db) == []
