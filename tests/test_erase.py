"""`.ai forget me` and `nuan erase`: nothing of a person is left but counts, and no backup brings them back."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from bot.core.errors import StoreError
from bot.core.people import ErasedPerson
from bot.store.personal_data import NOBODYS_TABLES, TABLES_OF_CHAT, TABLES_OF_PERSON, TABLES_OF_TURN
from bot.store.schema import MIGRATIONS
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import DATABASE
from tests.belonging import nuan_in_thread
from tests.conftest import NewWorld
from tests.erasing import CANARY, GROUP, NAME, files_with, forget, lived_in, plant
from tests.peek import Like, Other
from tests.storing import holding, sound
from tests.world import World

STEPS = {
    "lines": "event edge effect attachment",
    "notes": "note note_chunk note_line",
    "memories": "memory merged rewriting",
    "talks": "digest",
    "plans": "commitment reminder",
    "logs": "entry epoch session",
    "sent": "outbox",
    "turns": "turn",
    "index": "doc doc_text posting vector",
    "identity": "person place chat meta link linked linking",
}
"""What the steps of `erase_person` take care of beside the lists of tables."""


def tables() -> Iterator[str]:
    """The tables there are after all migrations."""
    made: set[str] = set()
    for migration in MIGRATIONS:
        for words in (statement.split() for statement in migration):
            if words[0] == "CREATE" and "TABLE" in words:
                made.add(words[words.index("TABLE") + 1])
            if words[:2] == ["DROP", "TABLE"]:
                made.discard(words[2])
            if words[:2] == ["ALTER", "TABLE"] and words[3:5] == ["RENAME", "TO"]:
                made.discard(words[2])
                made.add(words[5])
    return iter(sorted(made))


def test_of_every_table_it_is_said_what_becomes_of_a_persons_rows() -> None:
    lists = {*TABLES_OF_PERSON, *TABLES_OF_CHAT, *TABLES_OF_TURN, *NOBODYS_TABLES}
    steps = {table for named in STEPS.values() for table in named.split()}
    impersonal = {
        "prefix",
        "counting",
        "turn_event",
        "spent",
        "outside_day",
        "outside_server",
        "process",
        "chat_lease",
        "lease",
    }
    assert sorted(lists | steps | impersonal) == list(tables()), "give a new table a step in bot/store/personal_data.py"


async def test_afterwards_nothing_of_them_is_in_any_table_or_file(new_world: NewWorld) -> None:
    world = await lived_in(new_world, all_of_it=True)
    assert len(holding(world.folder, CANARY)) > 8
    spent = world.rows("SELECT count(*), sum(cost), sum(prompt_tokens) FROM call")
    ((number,),) = world.peek.people("id", name=NAME)
    await plant(world, int(str(number)))
    await forget(world)
    assert world.replies[-1].startswith("好了，关于你的我什么都不留了")
    await world.wait(120)
    for word in (CANARY, NAME, f"person:{NAME}", f"dm:{NAME}"):
        assert holding(world.folder, word) == []
        assert files_with(world.folder, word) == []
    for table in tables():
        columns = {str(row[1]) for row in world.rows(f"PRAGMA table_info({table})")}
        for column in columns & {"person_id", "owner_id"} if table not in ("event", "turn") else ():
            assert world.rows(f"SELECT count(*) FROM {table} WHERE {column} = ?", number) == [(0,)], table
    assert world.rows("SELECT count(*), sum(cost), sum(prompt_tokens) FROM call") == spent
    assert sound(world.folder) == []


async def test_an_address_that_goes_while_somebody_reads_is_gone_from_the_log_soon_after(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await forget(world)
    await world.wait(40)
    assert "nuan.db" in str(files_with(world.folder, f"dm:{NAME}")), "the last word was only just sent there"
    with closing(sqlite3.connect(world.folder / DATABASE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchone()
        await world.wait(30)
        assert "nuan.db" in str(files_with(world.folder, f"dm:{NAME}")), "that reader still sees it"
    await world.wait(60)
    assert files_with(world.folder, f"dm:{NAME}") == []


async def test_what_others_have_is_still_theirs(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    before = [world.rows(sql) for sql in OTHERS]
    await forget(world)
    assert [world.rows(sql) for sql in OTHERS] == before != []
    await world.say("记住我喜欢菊花")
    assert "菊花" in str(world.peek.memories("text"))


OTHERS = (
    "SELECT id, text FROM memory WHERE text LIKE '%荷花%' AND disabled_at IS NULL",
    "SELECT id, text FROM commitment WHERE text LIKE '%荷花%'",
    "SELECT id, text FROM reminder WHERE text LIKE '%荷花%'",
    "SELECT id, text FROM event WHERE person_id = (SELECT id FROM person WHERE name = '小王') AND kind = 'message'",
    "SELECT count(*) FROM note WHERE owner_id = (SELECT id FROM person WHERE name = '小王')",
)


@pytest.mark.parametrize(
    ("before", "asked", "done"),
    [
        ("我喜欢荷花", "这会删掉我记着的关于你的一切：\n1 条记忆、", "好了，关于你的我什么都不留了"),
        ("我喜歡荷花", "這會刪掉我記著的關於你的一切：\n1 條記憶、", "好了，關於你的我什麼都不留了"),
        ("I like lotus flowers", "everything I keep of you:\nmemories (1), ", "Done. I keep nothing of you any more."),
    ],
)
async def test_it_is_asked_and_done_in_the_persons_script(world: World, before: str, asked: str, done: str) -> None:
    await world.say(f"/remember {before}")
    await world.say(".ai forget me")
    assert asked in world.replies[-1]
    assert world.peek.memories.count() == 1, "nothing before the number was said"
    await world.say(f".ai forget me {re.findall('[0-9]{4}', world.replies[-1])[-1]}")
    assert done in world.replies[-1]
    assert world.peek.memories.count() == 0


async def test_only_the_number_that_was_named_counts_once_and_for_ten_minutes(world: World) -> None:
    await world.say("记住我喜欢荷花")
    await world.say(".ai forget me 1234")
    assert "数字不对" in world.replies[-1]
    for spoil in ("wrong", "late"):
        await world.say(".ai forget me")
        number = re.findall("[0-9]{4}", world.replies[-1])[-1]
        await (world.say(".ai forget me 0000") if spoil == "wrong" else world.wait(601))
        await world.say(f".ai forget me {number}")
        assert "数字不对" in world.replies[-1]
    await world.say(".ai forget")
    assert world.replies[-1] == "只忘一件就说“忘记…”；要忘掉你的一切，说 .ai forget me，\n再把我给的数字说一遍"
    assert world.peek.memories.count() == 1


async def test_who_knows_nuan_from_a_group_alone_is_asked_and_erased_there(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await world.say(f"小暖你好，我也要{CANARY}", "阿明", GROUP)
    await world.say(f"我带{CANARY}茶", "阿明", GROUP)
    await forget(world, "阿明", GROUP)
    await world.wait(120)
    assert holding(world.folder, "阿明") == []
    assert world.peek.memories.count(text=Like(f"%{CANARY}%")) != 0
    assert world.peek.places.count(external_id=f"group:{GROUP}") == 1
    lines = world.peek.events("text", name="小王", text=Other(""))
    assert (f"小暖你看{'荷花'}",) in lines


async def test_who_comes_back_is_somebody_new_and_stays(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await forget(world)
    await world.say("记住我喜欢菊花", NAME)
    await world.wait(300)
    await world.restart()
    assert world.peek.accounts.count(name=NAME) == 1
    assert world.rows("SELECT text FROM memory WHERE owner_id = (SELECT id FROM person WHERE name = ?)", NAME) == [
        ("我喜欢菊花",)
    ]
    await world.say("在吗", NAME)
    assert "菊花" in world.sent.split("在吗")[0][-3000:]


async def test_the_running_talk_of_a_group_ends_so_that_the_model_sees_no_more_of_it(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say(f"小暖，我家有{CANARY}", NAME, GROUP)
    await world.say("小暖你好", "小王", GROUP)
    assert CANARY in str(world.prompts[-1])
    await forget(world)
    await forget(world, NAME, GROUP)
    await world.say("小暖在吗", "小王", GROUP)
    assert CANARY not in str(world.prompts[-1])


async def test_a_crash_between_the_tombstone_and_the_deed_is_made_good_at_the_next_start(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    rows = world.rows("SELECT platform || ':' || external_id FROM account WHERE name = ?", NAME)
    world.store.files.erasures.begin([str(row[0]) for row in rows], 1)
    assert holding(world.folder, CANARY) != []
    await world.crash()
    assert holding(world.folder, CANARY) == []
    assert files_with(world.folder, CANARY) == []
    await world.say("记住我喜欢菊花", NAME)
    await world.restart()
    assert world.peek.accounts.count(name=NAME) == 1, "done once"


async def test_where_the_database_refuses_nothing_is_erased_now_or_later(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    writer = world.store._database._writer
    assert writer is not None
    assert isinstance(writer.tx, SqliteTx)
    writer.tx.set_authorizer(
        lambda action, table, *_: sqlite3.SQLITE_DENY if (action, table) == (sqlite3.SQLITE_DELETE, "account") else 0
    )
    before = world.peek.events("text")
    number = await world.store.people.by_account(f"console:person:{NAME}")
    assert number is not None
    with pytest.raises((StoreError, sqlite3.Error)):
        await world.store.people.erase(number, 1)
    writer.tx.set_authorizer(None)
    await world.restart()
    assert world.peek.events("text") == before
    await forget(world)
    assert holding(world.folder, CANARY) == []


async def test_a_crash_before_the_answer_says_it_again(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await forget(world)
    ((number,),) = world.rows("SELECT max(id) FROM event WHERE text = '.ai forget me'")
    said = len(world.replies)
    await world.store._database.write(
        lambda db: db.execute("UPDATE event SET state = 'queued', due_at = 1 WHERE id = ?", (number,)).rowcount
    )
    await world.crash()
    assert len(world.replies) == said + 1
    assert "什么都不留了" in world.replies[-1] or "keep nothing" in world.replies[-1]


async def test_what_a_crash_left_of_them_in_files_goes_with_the_next_start(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    seen: list[ErasedPerson] = []

    def cannot(erased: ErasedPerson) -> int:
        raise OSError(f"cannot {len(seen)}")

    def scrub(erased: ErasedPerson) -> int:
        seen.append(erased)
        return 1

    world.scrub = cannot
    await world.restart()
    await forget(world)
    assert [line["error"] for line in world.log.named("erasing_left_files")] == ["cannot 0"]
    world.scrub = scrub
    await world.crash()
    assert [(each.names, each.ids) for each in seen] == [(frozenset({NAME}), frozenset({f"person:{NAME}"}))]
    await world.crash()
    assert len(seen) == 1
    await world.wait(120)
    assert holding(world.folder, NAME) == []
    assert files_with(world.folder, NAME) == []


async def test_what_is_finished_while_somebody_reads_is_gone_from_the_log_soon_after(new_world: NewWorld) -> None:
    world, name = await lived_in(new_world), json.dumps(f"person:{NAME}").strip('"')

    def cannot(erased: ErasedPerson) -> int:
        raise OSError

    world.scrub = cannot
    await world.restart()
    await forget(world)
    await world.wait(120)
    world.scrub = lambda erased: 1
    await world.close()
    with closing(sqlite3.connect(world.folder / DATABASE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM event").fetchone()
        await world.open()
        assert "nuan.db" in str(files_with(world.folder, name)), "that reader still sees it"
    await world.wait(60)
    assert files_with(world.folder, name) == []


async def test_a_turn_that_runs_meanwhile_leaves_nothing_behind(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    world.model.script = lambda request: f"我也喜欢{CANARY}"
    world.shut()
    await world.app.ingest.accept(world.message(f"小暖，说说{CANARY}", NAME, GROUP))
    await world.held()
    await world.app.ingest.accept(world.message(".ai forget me", NAME))
    await world.held()
    number = re.findall("[0-9]{4}", world.replies[-1])[-1]
    await world.app.ingest.accept(world.message(f".ai forget me {number}", NAME))
    await world.held()
    said = len(world.replies)
    await world.let_answer()
    await world.wait(120)
    assert not [text for text in world.replies[said:] if CANARY in text]
    assert holding(world.folder, CANARY) == []
    assert sound(world.folder) == []
    assert world.peek.calls.count(state="reserved") == 0


async def test_afterwards_every_other_command_works_and_finds_nothing_astray(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await forget(world)
    await world.wait(120)
    for asked in (
        ".ai mem",
        ".ai promise",
        ".ai remind",
        ".ai dialog",
        ".ai ctx full 荷花",
        ".ai why",
        ".ai budget",
        ".ai calls",
    ):
        await world.say(asked)
        await world.say(asked, "小王", GROUP)
    assert [line for line in world.log.lines if line[0] in ("error", "warning")] == []
    for words in (
        ("memory", "export", str(world.folder.parent / "out")),
        ("memory", "list"),
        ("usage",),
        ("ctx", "--chat", "1"),
        ("sections",),
        ("boot", "--chat", "1"),
    ):
        said = await nuan_in_thread(world, *words)
        assert (said.code, NAME in said.out, CANARY in said.out) == (0, False, False), (words, said)
    await world.close()
    for part in ("namespaces", "sections", "text-index"):
        assert f"{part}: ✓" in (await nuan_in_thread(world, "memory", "backfill")).out
    await world.open()
