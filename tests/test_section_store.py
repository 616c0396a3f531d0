"""Sections in the store: a narrowed search really reads less and hides nothing, rows belong to a person in a chat."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.core.memories import NewMemory
from bot.core.people import Audience
from bot.core.recall import Matches, RecallQuery, RecallRound, SectionWords
from bot.language.sections import section_registry
from bot.store.changes import join_chats
from bot.store.index import KEPT_ROUNDS, note_round
from bot.store.joining import join_persons
from bot.store.memories import store_memory
from bot.store.search import RARE_DOCUMENTS, WantedDocuments
from bot.store.store import DATABASE, Store
from bot.store.transactions import Tx
from tests.blank import open_laid
from tests.carrying import in_installation, nuan
from tests.conftest import NewWorld
from tests.peek import Like, Other
from tests.storing import NOW, Where, ids, keep, look
from tests.test_sections import PILLS, brought, told
from tests.world import World

MANY = 3 * RARE_DOCUMENTS


async def derived(store: Store, *texts: str) -> tuple[int, int]:
    """Memories that a digest made of that person's talks; the person and the chat."""
    person, chat, _ = await ids(store)

    def put(db: Tx) -> None:
        for text in texts:
            store_memory(db, NewMemory(person, chat, "private", "knowledge", text, NOW, "digest", ()), NOW)

    await store._database.write(put)
    return person, chat


async def found(store: Store, asking: RecallQuery, *terms: str) -> tuple[set[str], int]:
    """What a question reads, and how many documents the index handed over."""
    handed = 0

    def choose(matches: Matches) -> WantedDocuments:
        nonlocal handed
        handed = sum(len(posting.docs) for posting in matches.postings)
        return WantedDocuments(tuple({doc for posting in matches.postings for doc in posting.docs}), ())

    _, candidates = await store.search.look(asking, terms, (), choose)
    return {each.finding.text for each in candidates}, handed


async def test_a_narrowed_search_reads_less_and_leaves_out_neither_rare_words_nor_what_was_kept(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        work = [f"周三的会议纪要第{number}份" for number in range(MANY)]
        health = [f"周三要吃药第{number}种" for number in range(MANY)]
        person, chat = await derived(store, *work, *health, "周三的会议室在望湖楼")
        await keep(store, "周三的会议改到八点")
        asking = RecallQuery(Audience(chat, "dm", (person,)), person, "?", NOW, kinds=("memory",))
        everything, rows = await found(store, asking, "周三")
        assert everything == {*work, *health, "周三的会议室在望湖楼", "周三的会议改到八点"}
        narrowed = RecallQuery(asking.audience, person, "?", NOW, kinds=("memory",), sections=("health",))
        some, fewer = await found(store, narrowed, "周三")
        assert some == {*health, "周三的会议改到八点"}, "what somebody asked to keep is looked at everywhere"
        assert fewer < rows / 1.9
        assert (await found(store, narrowed, "周三", "望湖"))[0] == {*some, "周三的会议室在望湖楼"}


async def test_what_one_had_kept_in_a_group_is_searched_in_ones_own_chat_and_what_others_had_kept_is_not(
    tmp_path: Path,
) -> None:
    async with await open_laid(tmp_path) as store:
        person, chat, _ = await ids(store)
        await keep(store, "周三去爬山", Where(chat="hall", kind="group"))
        await keep(store, "周三去划船", Where("bob", "hall", "group"))
        for sections in ((), ("health",)):
            asking = RecallQuery(
                Audience(chat, "dm", (person,)), person, "?", NOW, kinds=("memory",), sections=sections
            )
            assert (await found(store, asking, "周三"))[0] == {"周三去爬山"}


async def test_how_much_a_word_tells_is_the_same_however_narrow_the_search(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        person, chat = await derived(store, *(f"周三的会议纪要第{n}份" for n in range(MANY)), "周三要吃药")
        seen: list[int] = []
        for sections in ((), ("health",)):
            asking = RecallQuery(
                Audience(chat, "dm", (person,)), person, "?", NOW, kinds=("memory",), sections=sections
            )

            def choose(matches: Matches) -> WantedDocuments:
                seen.extend(posting.holding for posting in matches.postings)
                return WantedDocuments((), ())

            await store.search.look(asking, ("周三",), (), choose)
        assert seen == [MANY + 1, MANY + 1]


async def busy(new_world: NewWorld) -> World:
    """A talk that stays with health, in an installation where a digest drew much about work that shares its words."""
    world = await new_world(context={"opening_tokens": 60})
    await told(world, *(fact for fact, _ in PILLS))
    [(person, chat)] = world.rows("SELECT DISTINCT owner_id, chat_id FROM memory")
    whose = int(str(person)), int(str(chat))
    texts = [f"第{n}个项目的血糖仪报价" for n in range(MANY)] + [f"血糖记录第{n}页和医院" for n in range(MANY)]

    def put(db: Tx) -> None:
        for text in (*texts, "项目的甲方代表姓欧阳，血糖仪归他管"):
            store_memory(db, NewMemory(whose[0], whose[1], "private", "knowledge", text, NOW, "digest", ()), NOW)

    await world.store._database.write(put)
    for _, asked in PILLS[:4]:
        await world.say(asked)
    return world


async def test_a_message_about_something_else_finds_it_while_a_topic_lasts(new_world: NewWorld) -> None:
    world = await busy(new_world)
    await world.say("血糖仪的甲方代表姓什么")
    assert any("欧阳" in line for line in brought(world))
    await world.say("给我讲讲欧阳")
    last = world.rows("SELECT searched FROM section_round ORDER BY turn_id DESC LIMIT 2")
    assert [json.loads(str(row[0])) != [] for row in last] == [True, True], "both were found narrowed, by a rare word"


async def test_a_turns_round_is_stored_once_and_the_oldest_of_many_go(new_world: NewWorld) -> None:
    world = await new_world()
    await told(world, "我青霉素过敏")
    await world.say("青霉素我能用吗")
    newest, before = world.rows("SELECT max(turn_id), count(*) FROM section_round")[0]
    number = int(str(newest))

    def again(db: Tx) -> None:
        note_round(db, number, 1, 1, RecallRound({"work": 9}), NOW)

    await world.store._database.write(again)
    assert world.peek.section_rounds.count() == before
    assert world.peek.section_rounds.count(hits=Like("%work%")) == 0
    many = "WITH RECURSIVE n (i) AS (SELECT -80 UNION ALL SELECT i + 1 FROM n WHERE i < -1) "
    turn = "chat_id, session_id, epoch_id, state, why, person_id, asked_at, logged_before"
    columns = "chat_id, person_id, at, hits, searched, held"

    def fill(db: Tx) -> None:
        db.execute(
            f"{many}INSERT INTO turn (id, number, {turn}) SELECT i, i, {turn} FROM n, turn WHERE id = ?", (number,)
        )
        db.execute(
            f"{many}INSERT INTO section_round SELECT i, {columns} FROM n, section_round WHERE turn_id = ?", (number,)
        )

    await world.store._database.write(fill)
    await world.say("青霉素我能用吗")
    assert world.peek.section_rounds.count() == KEPT_ROUNDS


async def test_rounds_are_of_one_person_in_one_chat(new_world: NewWorld) -> None:
    world = await new_world()
    await told(world, "我青霉素过敏")
    await world.say("青霉素我能用吗")
    await world.say("小暖，青霉素我能用吗", "小王", "群")
    await world.say("青霉素我能用吗", "小李")
    hits = world.peek.section_rounds("chat_id", "person_id", "hits", hits=Other("{}"))
    assert len(hits) == 1, "the memory is the owner's own, in the chat it was told in"
    places = world.rows("SELECT DISTINCT chat_id, person_id FROM section_round")
    assert len(places) == 3
    for chat, person in places:
        own = await world.store.sessions.recall_rounds(int(str(chat)), int(str(person)), 0)
        assert [bool(each.hits) for each in own] == [(chat, person) == hits[0][:2]]


async def test_what_becomes_kept_is_searched_always_and_a_new_text_stands_in_a_new_section(tmp_path: Path) -> None:
    where = "SELECT memory.section, doc.section FROM memory JOIN doc ON ref = memory.id AND doc.kind = 'memory'"
    async with await open_laid(tmp_path) as store:
        await derived(store, "牙疼去看了医生")
        assert look(tmp_path, where) == [("health", "health")]
        await keep(store, "牙疼去看了医生")
        assert look(tmp_path, where) == [("health", "")]
        assert await store.memories.reword(1, "公司的老板很严格", NOW) == "done"
        assert look(tmp_path, where) == [("work", "")]


async def test_sections_of_an_operator_are_those_that_memories_are_stored_in(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await store.settings.register_sections(section_registry([SectionWords("garden", ("番茄",))]))
        await keep(store, "番茄要多晒太阳")
    async with await open_laid(tmp_path) as store:
        await keep(store, "番茄苗在阳台")
        await store.settings.register_sections(section_registry([]))
        await keep(store, "番茄炒蛋")
    assert look(tmp_path, "SELECT section FROM memory ORDER BY id") == [("garden",), ("garden",), ("person",)]


OLD = "UPDATE memory SET section = CASE id WHEN 1 THEN '' WHEN 2 THEN 'no more' ELSE 'lesson' END"


async def _three(store: Store) -> None:
    for text in ("我对花生过敏", "周五之前要交报告", "我住在平江路"):
        await keep(store, text)


def test_backfill_gives_old_rows_a_section_and_leaves_what_was_given(tmp_path: Path) -> None:
    in_installation(tmp_path, _three)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        db.execute(OLD)
        db.commit()
    shown = nuan(tmp_path, "backfill", "--sections")
    assert (shown.code, "#1 is in none → health" in shown.out, "#2 is in no more → todo" in shown.out) == (
        0,
        True,
        True,
    )
    assert shown.out.endswith("nothing was changed: --apply puts right what can be, after a backup\n")
    rows = "SELECT section FROM memory ORDER BY id"
    assert look(tmp_path, rows) == [("",), ("no more",), ("lesson",)]
    assert "2 rows put right" in nuan(tmp_path, "backfill", "--sections", "--apply").out
    assert look(tmp_path, rows) == [("health",), ("todo",), ("lesson",)]
    assert nuan(tmp_path, "backfill", "--sections").out == "sections: ✓\n"
    own = '["garden: 平江路", "lesson:"]'
    assert "#3 is in lesson → garden" in nuan(tmp_path, "backfill", "--sections", NUAN_SECTIONS__WORDS=own).out
    assert nuan(tmp_path, "rollback").code == 0
    assert look(tmp_path, rows) == [("",), ("no more",), ("lesson",)]


async def test_damaged_rows_are_passed_over(new_world: NewWorld) -> None:
    world = await new_world()
    await told(world, "我青霉素过敏")
    for hits in ("", "[", "[1]", '{"todo": "x"}', '{"todo": null}', "7"):
        sql = "UPDATE section_round SET hits = ?", (hits,)
        await world.store._database.write(lambda db, sql=sql: db.execute(*sql).rowcount)  # type: ignore[misc]
        await world.say("青霉素我能用吗")
        rows = world.rows("SELECT hits FROM section_round ORDER BY turn_id DESC LIMIT 1")
        assert rows == [('{"health": 1}',)]


async def test_rounds_follow_their_chat_and_their_person(new_world: NewWorld) -> None:
    world = await new_world()
    await told(world, "我青霉素过敏")
    await world.say("青霉素我能用吗")
    await world.say("在吗", "小李")
    [(mine,)] = world.rows("SELECT DISTINCT person_id FROM section_round WHERE hits <> '{}'")
    [(other,)] = world.rows("SELECT DISTINCT person_id FROM section_round WHERE hits = '{}'")
    keep_ = await world.store._database.write(
        lambda db: join_persons(db, int(str(mine)), int(str(other)), world.clock.now())
    )
    assert set(world.peek.section_rounds("person_id")) == {(keep_,)}
    chats = [int(str(row[0])) for row in world.peek.chats("id")]
    await world.store._database.write(lambda db: join_chats(db, chats[1], chats[0], NOW))
    assert set(world.peek.section_rounds("chat_id")) == {(chats[0],)}
