"""One person on two platforms: what a link joins, and that before it nothing crosses and after it nothing is left."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.core.memories import NewMemory, Visibility
from bot.core.people import Audience
from bot.store.people import join_persons
from bot.store.sqlite import SqliteTx
from bot.store.store import DATABASE
from bot.text.codes import new_code
from tests.blank import open_laid
from tests.sizes import sized
from tests.storing import NOW, Where, ids, receipt
from tests.world import World

Enter = Callable[[], Awaitable[World]]
CODE = re.compile(r"[2-9A-HJKMNP-Z]{8}")
OPEN = {"telegram": {"allow": ["t-阿明", "t-阿红", "group:大群"]}, "discord": {"allow": ["d-阿明", "d-阿红"]}}
COLUMNS = (
    "account.person_id",
    "event.person_id",
    "member.person_id",
    "conversation_window.person_id",
    "turn.person_id",
    "call.person_id",
    "memory.owner_id",
    "digest.owner_id",
    "feedback.person_id",
    "code.person_id",
    "told.person_id",
    "participant.person_id",
    "person.id",
    "note.owner_id",
    "talker.person_id",
)


@pytest.fixture
async def nuan(tmp_path: Path) -> AsyncIterator[World]:
    """A nuan on Telegram and Discord that talks with 阿明 and 阿红 on both."""
    sections = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, **OPEN})
    world = await World(tmp_path / "data", sections, ("telegram", "discord")).open()
    yield world
    await world.close()


async def link_code(world: World, who: str = "阿明", platform: str = "telegram") -> str:
    """The code that somebody gets for their other account."""
    await world.say(".ai link", who, platform=platform)
    found = CODE.search(world.replies[-1])
    assert found is not None
    return found.group()


async def asked_about(world: World, who: str, platform: str) -> str:
    """The whole prompt of that person's next turn."""
    await world.say("你还记得什么？", who, platform=platform)
    return "\n".join(message.content for message in world.turns[-1])


async def test_a_private_memory_follows_after_the_link_and_not_before(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    assert "怕狗" not in await asked_about(nuan, "阿明", "discord")
    code = await link_code(nuan)
    assert "怕狗" not in await asked_about(nuan, "阿明", "discord")
    await nuan.say(f".ai link {code.lower()}", "阿明", platform="discord")
    assert nuan.replies[-1] == "连上啦，两边现在是同一个人，我记得的事都跟着你"
    assert "怕狗" in await asked_about(nuan, "阿明", "discord")
    assert "怕狗" not in await asked_about(nuan, "阿红", "discord")
    await nuan.say("忘记我怕狗", "阿明", platform="discord")
    assert nuan.replies[-1].startswith("好，忘掉了 #1")


async def test_who_was_asked_back_may_link_and_answers_there(nuan: World) -> None:
    await nuan.say("你好", "阿明", platform="telegram")
    for fact in ("记住我怕狗", "记住我怕蛇", "忘记关于我的一切"):
        await nuan.say(fact, "阿明", platform="discord")
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    assert nuan.replies[-1] == "连上啦，两边现在是同一个人，我记得的事都跟着你"
    await nuan.say("忘记关于我的一切", "阿明", platform="discord")
    await nuan.say("是", "阿明", platform="discord")
    assert nuan.peek.memories.count(disabled_at=None) == 0


async def test_who_took_part_on_both_platforms_is_one_person_afterwards(nuan: World) -> None:
    for platform in ("telegram", "discord"):
        await nuan.say("你好", "阿明", platform=platform)
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    assert nuan.rows("SELECT count(*), count(DISTINCT person_id) FROM participant") == [(2, 1)]


async def test_a_stranger_may_link_and_is_let_in_with_the_one_they_are(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say("你好", "小号", platform="discord")
    assert nuan.model.requests == []
    await nuan.say(code, "小号", platform="discord")
    await nuan.say("你好", "小号", platform="discord")
    assert nuan.replies[-1] == "好的"
    assert nuan.rows(
        "SELECT count(DISTINCT person_id) FROM account WHERE external_id LIKE '%阿明' OR external_id LIKE '%小号'"
    ) == [(1,)]


async def test_a_link_code_works_once_for_ten_minutes_and_not_for_its_maker(nuan: World) -> None:
    first = await link_code(nuan)
    await nuan.say(f".ai link {first}", "阿明", platform="telegram")
    assert nuan.replies[-1] == "这个码要在你的另一个账号上用"
    code = await link_code(nuan)
    for used in (first, "QQQQQQQ2"):
        await nuan.say(f".ai link {used}", "阿红", platform="discord")
        assert nuan.replies[-1] == "这个码不对，或者已经过期了"
    await nuan.wait(601)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    assert nuan.replies[-1] == "这个码不对，或者已经过期了"
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    await nuan.say(f".ai link {code}", "阿红", platform="discord")
    assert nuan.replies[-1] == "这个码不对，或者已经过期了"
    assert nuan.peek.people.count() == 2


async def test_who_guesses_codes_loses_them_for_an_hour_but_may_go_on_talking(nuan: World) -> None:
    code = await link_code(nuan)
    for _ in range(5):
        await nuan.say(f".ai link {new_code()}", "阿明", platform="discord")
    nuan.talk.said.clear()
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    await nuan.say("你好", "阿明", platform="discord")
    assert nuan.replies == ["好的"]


async def test_a_link_made_before_a_denial_does_not_undo_it(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say(".ai deny telegram:t-阿明")
    await nuan.say(f".ai link {code}", "阿红", platform="telegram")
    assert nuan.replies[-1] == "这个码不对，或者已经过期了"
    assert nuan.peek.people("access", name="阿明") == [("denied",)]


async def test_a_link_code_is_never_given_in_a_group(nuan: World) -> None:
    await nuan.say(".ai link", "阿明", "大群", platform="telegram")
    assert (nuan.replies, nuan.talk.said[-1].only_for) == (["这个要私聊我才行"], "t-阿明")


async def test_a_link_waits_until_what_is_being_said_is_said(nuan: World) -> None:
    code = await link_code(nuan)
    nuan.shut()
    await nuan.app.ingest.accept(nuan.message("讲个故事", "阿明", platform="telegram"))
    await nuan.held()
    await nuan.app.ingest.accept(nuan.message(f".ai link {code}", "阿明", platform="discord"))
    await nuan.held()
    assert "再发一次" in nuan.replies[-1]
    await nuan.let_answer()
    await nuan.wait(1)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    assert nuan.replies[-1].startswith("连上啦")


async def test_the_owner_is_the_owner_on_the_linked_account_too(nuan: World) -> None:
    await nuan.say(".ai link")
    code = CODE.search(nuan.replies[-1])
    assert code is not None
    await nuan.say(f"/start {code.group()}", "王", platform="telegram")
    await nuan.say(".ai allow telegram:t-新人", "王", platform="telegram")
    assert "只有主人" not in nuan.replies[-1]


async def test_what_was_forgotten_stays_forgotten_after_a_link(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    await nuan.say("忘记我怕狗", "阿明", platform="telegram")
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    assert "怕狗" not in await asked_about(nuan, "阿明", "discord")
    await nuan.say("撤销 #1", "阿明", platform="discord")
    assert nuan.replies[-1] == "找回来啦 #1"


def memory(owner: int, chat: int, event: int, text: str, visibility: Visibility, slot: str) -> NewMemory:
    return NewMemory(owner, chat, visibility, "knowledge", text, NOW, "command", (event,), slot)


Fact = tuple[int, str, Visibility, str]
facts = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["怕狗", "怕貓", "怕猫", "小明"]),
        st.sampled_from(["private", "chat", "public"]),
        st.sampled_from(["", "address", "no_address"]),
    ),
    max_size=12,
)


async def joined(folder: Path, said: list[Fact], order: bool) -> None:
    """Three persons know things, two of them become one; what must hold afterwards."""
    async with await open_laid(folder) as store:
        places = [Where("ann", "dm-ann"), Where("bob", "dm-bob"), Where("eve", "dm-eve")]
        who = [await ids(store, place, NOW + number) for number, place in enumerate(places)]
        group = [await ids(store, Where(place.who, "all", "group"), NOW + 10) for place in places]
        for number, (person, text, visibility, slot) in enumerate(said):
            owner, chat, event = (group if visibility == "chat" else who)[person]
            new = memory(owner, chat, event, text, visibility, slot)
            await store.memories.remember(new, receipt(event, chat, f"key{number}"), NOW + number)
        eve = {(each.text, each.visibility) for each in await store.memories.owned(who[2][0], dm(who[2]))}
    with closing(sqlite3.connect(folder / DATABASE, factory=SqliteTx)) as db, db:
        db.execute("PRAGMA foreign_keys = ON")
        one, other = who[0][0], who[1][0]
        assert join_persons(db, *((one, other) if order else (other, one))) == one
        for column in COLUMNS:
            table, _, name = column.partition(".")
            assert db.execute(f"SELECT count(*) FROM {table} WHERE {name} = ?", (other,)).fetchone() == (0,), column
        assert db.execute(f"SELECT count(*) FROM doc WHERE scope IN ('p{other}', 'o{other}')").fetchone() == (0,)
        indexed = {row[0] for row in db.execute("SELECT ref FROM doc WHERE kind = 'memory'")}
        assert indexed == {row[0] for row in db.execute("SELECT id FROM memory WHERE disabled_at IS NULL")}
        twins = (
            "SELECT count(*) FROM memory WHERE disabled_at IS NULL GROUP BY owner_id, folded, visibility, slot, "
            "CASE visibility WHEN 'chat' THEN chat_id END HAVING count(*) > 1"
        )
        assert db.execute(twins).fetchall() == []
        names = (
            "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND slot = 'address' GROUP BY owner_id, "
            "visibility, CASE visibility WHEN 'chat' THEN chat_id END HAVING count(*) > 1"
        )
        assert db.execute(names).fetchall() == []
    async with await open_laid(folder) as store:
        assert {(each.text, each.visibility) for each in await store.memories.owned(who[2][0], dm(who[2]))} == eve
        mine = {
            each.text
            for each in await store.memories.owned(one, Audience(who[1][1], "dm", (one,)))
            if each.visibility == "private"
        }
        plain = {text for person, text, visibility, slot in said if person < 2 and visibility == "private" and not slot}
        assert {fold_cat(text) for text in mine} >= {fold_cat(text) for text in plain}


def fold_cat(text: str) -> str:
    return text.replace("貓", "猫")


def dm(who: tuple[int, int, int]) -> Audience:
    return Audience(who[1], "dm", (who[0],))


@settings(max_examples=sized(30))
@given(facts, st.booleans())
def test_a_merge_leaves_no_row_of_the_one_that_vanished_and_no_statement_twice(said: list[Fact], order: bool) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(joined(Path(folder), said, order))
