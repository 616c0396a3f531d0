"""One person on two platforms: what a link joins, and that before it nothing crosses and after it nothing is left."""

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.core.memories import NewMemory, Visibility
from bot.core.people import Audience
from bot.store.index import documents_anew, indexed_documents
from bot.store.joining import join_persons
from bot.store.people import leave_owner_code
from bot.store.sqlite.connection import SqliteTx
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


async def linked(world: World, who: str = "阿明", giver: str = "telegram", taker: str = "discord") -> None:
    """That person links their accounts on two platforms, as both sides are told."""
    code = await link_code(world, who, giver)
    await world.say(f".ai link {code.lower()}", who, platform=taker)
    await world.say(f".ai link yes {code}", who, platform=giver)
    await world.say(f".ai link yes {code}", who, platform=taker)
    assert world.replies[-1].startswith("连上啦"), world.replies[-1]


async def asked_about(world: World, who: str, platform: str) -> str:
    """The whole prompt of that person's next turn."""
    await world.say("你还记得什么？", who, platform=platform)
    return "\n".join(message.content for message in world.turns[-1])


async def test_a_private_memory_follows_after_the_link_and_not_before(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    assert "怕狗" not in await asked_about(nuan, "阿明", "discord")
    await linked(nuan)
    assert "怕狗" in await asked_about(nuan, "阿明", "discord")
    assert "怕狗" not in await asked_about(nuan, "阿红", "discord")
    await nuan.say("忘记我怕狗", "阿明", platform="discord")
    assert nuan.replies[-1].startswith("好，忘掉了 #1")


async def test_who_was_asked_back_may_link_and_answers_there(nuan: World) -> None:
    await nuan.say("你好", "阿明", platform="telegram")
    for fact in ("记住我怕狗", "记住我怕蛇", "忘记关于我的一切"):
        await nuan.say(fact, "阿明", platform="discord")
    await linked(nuan)
    await nuan.say("忘记关于我的一切", "阿明", platform="discord")
    await nuan.say("是", "阿明", platform="discord")
    assert nuan.peek.memories.count(disabled_at=None) == 0


async def test_who_took_part_on_both_platforms_is_one_person_afterwards(nuan: World) -> None:
    for platform in ("telegram", "discord"):
        await nuan.say("你好", "阿明", platform=platform)
    await linked(nuan)
    assert nuan.rows("SELECT count(*), count(DISTINCT person_id) FROM participant") == [(2, 1)]


async def test_a_stranger_may_link_and_is_let_in_with_the_one_they_are(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say("你好", "小号", platform="discord")
    assert nuan.model.requests == []
    await nuan.say(f".ai link {code}", "小号", platform="discord")
    await nuan.say(f".ai link yes {code}", "小号", platform="discord")
    await nuan.say(f".ai link yes {code}", "阿明", platform="telegram")
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
    await linked(nuan)
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
    for command in (".ai link", ".ai unlink"):
        await nuan.say(command, "阿明", "大群", platform="telegram")
        assert (nuan.replies[-1], nuan.talk.said[-1].only_for) == ("这个要私聊我才行", "t-阿明")


async def test_a_link_waits_until_what_is_being_said_is_said(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    await nuan.say(f".ai link yes {code}", "阿明", platform="telegram")
    nuan.shut()
    await nuan.app.ingest.accept(nuan.message("讲个故事", "阿明", platform="telegram"))
    await nuan.held()
    await nuan.app.ingest.accept(nuan.message(f".ai link yes {code}", "阿明", platform="discord"))
    await nuan.held()
    assert "再发一次" in nuan.replies[-1]
    await nuan.let_answer()
    await nuan.wait(1)
    await nuan.say(f".ai link yes {code}", "阿明", platform="discord")
    assert nuan.replies[-1].startswith("连上啦")


async def test_the_owner_is_the_owner_on_the_linked_account_too(nuan: World) -> None:
    await nuan.say(".ai link")
    code = CODE.findall(nuan.replies[-1])[0]
    for text, where in ((f".ai link {code}", "telegram"), (f".ai link yes {code}", "telegram")):
        await nuan.say(text, "王", platform=where)
    await nuan.say(f".ai link yes {code}")
    await nuan.say(".ai allow telegram:t-新人", "王", platform="telegram")
    assert "只有主人" not in nuan.replies[-1]


async def test_nobody_becomes_the_owner_by_a_code_that_the_owner_was_given(nuan: World) -> None:
    code = await link_code(nuan)
    before = len(nuan.replies)
    await nuan.say(f".ai link {code}")
    assert len(nuan.replies) == before + 1, "the giver is asked nothing"
    for text in (code, f"/start {code}", f".ai link {code}", f".ai link yes {code}"):
        await nuan.say(text)
        await nuan.say(f".ai link yes {code}", "阿明", platform="telegram")
    assert "主人的账号只能从主人这边连" in nuan.replies[-2]
    await nuan.say(".ai deny telegram:t-阿红", "阿明", platform="telegram")
    assert "只有主人" in nuan.replies[-1]
    assert nuan.peek.people.count(name="小王") == 1


async def test_who_becomes_the_owner_before_both_agreed_is_not_joined_from_the_other_side(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿红", platform="telegram")
    await nuan.say(f"/start {leave_owner_code(nuan.folder, nuan.clock.now())}", "阿红", platform="telegram")
    for who in ("阿红", "阿明"):
        await nuan.say(f".ai link yes {code}", who, platform="telegram")
        assert "主人的账号只能从主人这边连" in nuan.replies[-1]
    assert nuan.peek.people.count() == 2


async def test_a_code_that_is_pasted_without_its_command_joins_nobody(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    code = await link_code(nuan, "阿红", "discord")
    for text in (code, f"/start {code}", f"给你这个 {code}"):
        await nuan.say(text, "阿明", platform="telegram")
    assert "怕狗" not in await asked_about(nuan, "阿红", "discord")
    assert nuan.peek.people.count() == 2


async def test_a_link_names_both_accounts_to_both_sides_and_needs_the_word_of_each(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    code = await link_code(nuan)
    nuan.talk.said.clear()
    await nuan.say(f".ai link {code}", "阿红", platform="discord")
    assert {out.platform for out in nuan.talk.said} == {"telegram", "discord"}
    for out in nuan.talk.said:
        assert "阿明 (telegram:t-阿明)" in out.text
        assert "阿红 (discord:d-阿红)" in out.text
        assert [(each.text, each.account) for each in out.buttons] == [
            (f".ai link yes {code}", "t-阿明" if out.platform == "telegram" else "d-阿红"),
            (f".ai link no {code}", "t-阿明" if out.platform == "telegram" else "d-阿红"),
        ]
    for _ in range(3):
        await nuan.say(f".ai link yes {code}", "阿红", platform="discord")
    assert "怕狗" not in await asked_about(nuan, "阿红", "discord")
    nuan.talk.said.clear()
    await nuan.say(f".ai link no {code}", "阿明", platform="telegram")
    assert [("不连了" in out.text) for out in nuan.talk.said] == [True, True]
    await nuan.say(f".ai link yes {code}", "阿红", platform="discord")
    assert nuan.replies[-1] == "这个码不对，或者已经过期了"


async def test_the_two_sides_of_a_link_are_told_of_it_and_of_its_end(nuan: World) -> None:
    await linked(nuan)
    told = [out.platform for out in nuan.talk.said if out.text.startswith("连上啦")]
    assert sorted(told) == ["discord", "telegram"]
    nuan.talk.said.clear()
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    ends = [(out.platform, "telegram:t-阿明" in out.text, "discord:d-阿明" in out.text) for out in nuan.talk.said]
    assert sorted(ends) == [("discord", True, True), ("telegram", True, True)]
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    assert nuan.replies[-1] == "最近 7 天里没有连过账号"


async def test_after_an_unlink_each_account_has_what_it_told_before_and_since(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    await nuan.say("记住我住在苏州", "阿明", platform="telegram")
    await nuan.say("记住我怕蛇", "阿明", platform="discord")
    await nuan.say("记住我怕狗", "阿明", platform="discord")
    await nuan.say("记住我住在上海", "阿明", platform="discord")
    await linked(nuan)
    await nuan.say("记住我怕水", "阿明", platform="telegram")
    await nuan.say("记住我怕火", "阿明", platform="discord")
    await nuan.say("后天下午三点提醒我浇花", "阿明", platform="discord")
    await nuan.say(".ai unlink", "阿明", platform="discord")
    telegram, discord = [await asked_about(nuan, "阿明", platform) for platform in ("telegram", "discord")]
    known = ("怕狗", "怕蛇", "怕水", "怕火", "苏州", "上海", "浇花")
    mine, others = ("怕狗", "怕水", "苏州"), ("怕狗", "怕蛇", "怕火", "上海", "浇花")
    assert tuple(word for word in known if word in telegram) == mine
    assert tuple(word for word in known if word in discord) == others
    await nuan.say(".ai remind", "阿明", platform="telegram")
    assert "浇花" not in nuan.replies[-1]
    faults = await nuan.store._database.read(lambda tx: documents_anew(tx).items() ^ indexed_documents(tx).items())
    assert not faults


async def test_a_link_cannot_be_taken_back_after_seven_days(nuan: World) -> None:
    await linked(nuan)
    await nuan.wait(7 * 86_400 + 1)
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    assert nuan.replies[-1] == "最近 7 天里没有连过账号"


async def test_an_unlink_gives_nobody_a_rank_and_undoes_no_denial(nuan: World) -> None:
    await nuan.say("你好", "小号", platform="discord")
    code = await link_code(nuan)
    for text in (f".ai link {code}", f".ai link yes {code}"):
        await nuan.say(text, "小号", platform="discord")
    await nuan.say(f".ai link yes {code}", "阿明", platform="telegram")
    await nuan.say("你好", "小号", platform="discord")
    assert nuan.replies[-1] == "好的"
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    await nuan.say("你好", "小号", platform="discord")
    assert "配对码" in nuan.replies[-2] + nuan.replies[-1]


async def test_an_unlink_takes_a_denial_from_neither_side(nuan: World) -> None:
    await linked(nuan)
    await nuan.say(f"/start {leave_owner_code(nuan.folder, nuan.clock.now())}", "阿明", platform="telegram")
    ((person,),) = nuan.rows("SELECT person_id FROM account WHERE external_id = 't-阿明'")
    await nuan.store.people.set_person(int(str(person)), "denied")  # as of before they were the owner
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    assert nuan.peek.people.count(access="denied") == 2


async def test_what_was_forgotten_stays_forgotten_after_a_link(nuan: World) -> None:
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    await nuan.say("忘记我怕狗", "阿明", platform="telegram")
    await linked(nuan)
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
        assert join_persons(db, *((one, other) if order else (other, one)), NOW) == one
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


async def test_whoever_joins_or_parts_their_own_accounts_between_two_answers_has_agreed_for_one_side_alone(
    nuan: World,
) -> None:
    await nuan.say("你好", "阿明", platform="telegram")
    await nuan.say("记住我怕狗", "阿红", platform="telegram")
    code = await link_code(nuan, "阿红")
    for answer in (f".ai link {code}", f".ai link yes {code}"):
        await nuan.say(answer, "阿明", platform="discord")
    await linked(nuan)
    await nuan.say(f".ai link yes {code}", "阿明", platform="discord")
    assert not nuan.replies[-1].startswith("连上啦")
    again = await link_code(nuan, "阿红")
    for answer in (f".ai link {again}", f".ai link yes {again}", ".ai unlink", f".ai link yes {again}"):
        await nuan.say(answer, "阿明", platform="discord")
    assert not nuan.replies[-1].startswith("连上啦")
    assert "怕狗" not in await asked_about(nuan, "阿明", "discord")


async def became_one(world: World, giver: str, taker: str) -> None:
    """Two people on Telegram say that they are one."""
    code = await link_code(world, giver)
    await world.say(f".ai link {code}", taker, platform="telegram")
    for who in (giver, taker):
        await world.say(f".ai link yes {code}", who, platform="telegram")
    assert world.replies[-1].startswith("连上啦"), world.replies[-1]


async def test_who_became_owner_while_linked_is_it_alone_afterwards(nuan: World) -> None:
    for who in ("阿明", "阿红"):
        await nuan.say("你好", who, platform="telegram")
    await became_one(nuan, "阿明", "阿红")
    await nuan.say(f"/start {leave_owner_code(nuan.folder, nuan.clock.now())}", "阿明", platform="telegram")
    await nuan.say(".ai unlink", "阿明", platform="telegram")
    assert nuan.rows("SELECT external_id FROM account WHERE owner = 1") == [("t-阿明",)]


async def test_a_link_within_another_is_taken_back_by_those_it_joined(nuan: World) -> None:
    await nuan.say("你好", "阿红", platform="telegram")
    await linked(nuan, "阿明")
    await became_one(nuan, "阿红", "阿明")
    await nuan.say(".ai unlink", "阿红", platform="telegram")
    await nuan.say(".ai unlink", "阿明", platform="discord")
    assert "又是两个人" in nuan.replies[-1]
    assert len(nuan.rows("SELECT DISTINCT person_id FROM account")) == 3


async def test_who_has_set_something_can_be_linked(nuan: World) -> None:
    await nuan.say("你好", "阿明", platform="telegram")
    await nuan.say("你好", "阿明", platform="discord")
    with closing(sqlite3.connect(nuan.folder / DATABASE)) as db, db:
        db.execute("INSERT INTO trace SELECT chat_id, person_id, 0 FROM member")
        db.execute("INSERT INTO recount SELECT 'day', max(person_id), 0 FROM member")
    await linked(nuan, "阿明")


async def test_what_both_told_while_linked_is_there_for_both_afterwards(nuan: World) -> None:
    await linked(nuan)
    for platform in ("telegram", "discord"):
        await nuan.say("记住我怕狗", "阿明", platform=platform)
    await nuan.say(".ai unlink", "阿明", platform="discord")
    assert held(nuan) == [("discord", "我怕狗"), ("telegram", "我怕狗")]
    await nuan.say("忘记我怕狗", "阿明", platform="discord")
    assert held(nuan) == [("telegram", "我怕狗")]
    await in_order(nuan)


@pytest.mark.parametrize("when", ["before", "since"])
async def test_what_both_told_and_forgot_while_linked_each_can_bring_back(nuan: World, when: str) -> None:
    if when == "since":
        await linked(nuan)
    for platform in ("telegram", "discord"):
        await nuan.say("记住我怕狗", "阿明", platform=platform)
    if when == "before":
        await linked(nuan)
    await nuan.say("忘记我怕狗", "阿明", platform="telegram")
    await nuan.say(".ai unlink", "阿明", platform="discord")
    assert held(nuan) == []
    await nuan.say("撤销", "阿明", platform="discord")
    assert held(nuan) == [("discord", "我怕狗")]
    await nuan.say("撤销", "阿明", platform="telegram")
    assert held(nuan) == [("discord", "我怕狗"), ("telegram", "我怕狗")]
    await in_order(nuan)


@pytest.mark.parametrize(("who", "names"), [("telegram", ("老明", "大明")), ("discord", ("小明", "老明"))])
async def test_a_name_taken_while_linked_is_of_whose_account_took_it(
    nuan: World, who: str, names: tuple[str, str]
) -> None:
    await nuan.say("叫我小明", "阿明", platform="telegram")
    await nuan.say("叫我大明", "阿明", platform="discord")
    await linked(nuan)
    await nuan.say("叫我老明", "阿明", platform=who)
    await nuan.say(".ai unlink", "阿明", platform="discord")
    assert held(nuan) == [("discord", names[1]), ("telegram", names[0])]
    await in_order(nuan)


@pytest.mark.parametrize("when", ["before", "since"])
async def test_of_a_promise_that_both_made_each_is_reminded_at_home(nuan: World, when: str) -> None:
    if when == "since":
        await linked(nuan)
    for platform in ("telegram", "discord"):
        await nuan.say("我后天下午三点要交报告", "阿明", platform=platform)
    if when == "before":
        await linked(nuan)
    await nuan.say(".ai unlink", "阿明", platform="discord")
    nuan.talk.said.clear()
    await nuan.wait(3 * 86_400)
    assert sorted(out.platform for out in nuan.talk.said if "报告" in out.text) == ["discord", "telegram"]


async def test_nothing_that_answers_keep_of_a_link_names_who_is_erased(nuan: World) -> None:
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "Ann", platform="discord")
    await nuan.say(f".ai link no {code}", "阿明", platform="telegram")
    await nuan.say("你好", "Ann", platform="telegram")
    await nuan.say(".ai allow telegram:t-Ann")
    await linked(nuan, "Ann")
    await nuan.say(".ai unlink", "Ann", platform="telegram")
    assert "Ann" not in str(nuan.rows("SELECT result FROM effect"))


def held(world: World) -> list[tuple[object, ...]]:
    """What is kept of whom."""
    return world.rows(
        "SELECT platform, text FROM memory JOIN account ON account.person_id = owner_id "
        "WHERE disabled_at IS NULL AND former_at IS NULL ORDER BY platform, text"
    )


async def in_order(world: World) -> None:
    """What the index holds is what it would hold if it were made anew."""
    faults = await world.store._database.read(lambda tx: documents_anew(tx).items() ^ indexed_documents(tx).items())
    assert not faults


async def test_no_name_passes_for_an_account_where_somebody_is_asked_about_one(nuan: World) -> None:
    await nuan.say("你好", "阿明", platform="telegram")
    code, name = await link_code(nuan), "阿明 (discord:d-阿明) 和 阿明（telegram：t-阿明）"
    stranger = nuan.message(f".ai link {code}", "贼", platform="discord")
    assert stranger.sender is not None
    await nuan.app.ingest.accept(replace(stranger, sender=replace(stranger.sender, name=name)))
    await nuan.app.settled()
    told = [out.text for out in nuan.talk.said if "discord:d-贼" in out.text]
    assert len(told) == 2, "both sides of the link"
    assert not [text for text in told if "discord:d-阿明" in text or "telegram：t-阿明" in text]


async def test_a_number_to_erase_everything_counts_in_the_chat_in_which_it_was_told(nuan: World) -> None:
    await linked(nuan)
    await nuan.say("记住我怕狗", "阿明", platform="telegram")
    await nuan.say(".ai forget me", "阿明", platform="telegram")
    number = re.findall(r"\b\d{4}\b", nuan.replies[-1])[0]
    await nuan.say(f".ai forget me {number}", "阿明", platform="discord")
    await nuan.wait(5)
    assert nuan.peek.memories.count() == 1


async def test_no_third_person_agrees_to_a_link(nuan: World) -> None:
    await nuan.say("你好", "阿红", platform="telegram")
    code = await link_code(nuan)
    await nuan.say(f".ai link {code}", "阿明", platform="discord")
    await nuan.say(f".ai link yes {code}", "阿明", platform="telegram")
    await nuan.say(f".ai link yes {code}", "阿红", platform="telegram")
    assert nuan.replies[-1] == "这个码不对，或者已经过期了"
    assert len(nuan.rows("SELECT DISTINCT person_id FROM account WHERE external_id LIKE '%阿明'")) == 2


async def test_a_code_to_link_approves_nobody(nuan: World) -> None:
    await nuan.say("你好")
    await nuan.say("你好", "生人", platform="telegram")
    code = await link_code(nuan)
    await nuan.say(f".ai approve {code}")
    assert nuan.peek.people.count(access="allowed") == 0


async def test_after_an_unlink_nobody_is_shown_the_calls_that_an_owner_asked_for(nuan: World) -> None:
    await nuan.say(".ai link")
    code = CODE.findall(nuan.replies[-1])[0]
    for text in (f".ai link {code}", f".ai link yes {code}"):
        await nuan.say(text, "王", platform="telegram")
    await nuan.say(f".ai link yes {code}")
    await nuan.say(".ai trace on", "王", platform="telegram")
    await nuan.say(".ai unlink")
    nuan.talk.said.clear()
    await nuan.say("你好", "阿明", platform="discord")
    assert nuan.replies == ["好的"]
