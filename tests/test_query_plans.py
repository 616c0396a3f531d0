"""How SQLite carries out what the program asks: nothing that happens often reads a whole table that grows."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from bot.cli.doctor import store_findings
from bot.config.settings import Settings
from bot.pipeline.jobs.archives import PersonData, pack_person
from bot.store.store import DATABASE
from tests.beating import DAY_S, ON
from tests.blank import lay
from tests.metering import recorded
from tests.noting import look
from tests.webbed import webbed
from tests.world import World

SMALL = frozenset(
    (
        "code",
        "conversation_window",
        "counting",
        "lately",
        "link",
        "linking",
        "meta",
        "prefix",
        "question",
        "recount",
        "reminder_question",
        "setting",
        "sqlite_master",
        "sqlite_sequence",
        "trace",
    ),
)
"""Tables that do not grow with what people say: settings, and what is under way for minutes."""

UNDER_WAY = frozenset(
    ("call_reserved", "event_dead", "event_queue", "outbox_buttons", "outbox_due", "outbox_pending", "turn_running"),
)
"""Indexes of what waits or runs; what is over is not in them."""

SCANS = re.compile(r"SCAN (?P<name>\w+)(?: USING (?:COVERING )?INDEX (?P<index>\w+))?$")
KINDS = re.compile(r"SEARCH (?P<name>\w+) USING .*\(kind=\?\)$")
"""All rows of a kind are as good as all."""

LEAST = re.compile(r"SEARCH (?P<name>\w+)$")
"""The least or greatest number of all; with a condition it is looked for row by row."""

ALLOWED = {
    "MemoryLifecycle.come_true": "once a day",
    "MemoryLifecycle.memory_pools": "once a day",
    "Sessions.overhear": "once a day",
    "ProactiveTurns._unarm": "at a start, in steps",
    "index_faults": "for the doctor",
    "wrong_postings": "for the doctor",
    "InstallationReads.memories": "the operator's search for any part of a text, the newest until a page is full",
    "InstallationReads.memory_counts": "a page of the operator's: counts of an index",
    "InstallationReads.people": "the operator's list of everybody",
    "InstallationReads.talkers": "the operator's overview: who wrote last",
    "InstallationReads.names": "the operator's list of everybody",
    "InstallationReads.chat_labels": "the operator's list of all chats",
    "Processes.all": "one row for each process",
    "_others": "one row for each process",
    "is_index_stale": "the first row alone, at a start",
    "Notes.known": "beside a look at all files of notes",
    "InstallationReads.newest_line": "the last one alone",
    "Outbox.states": "a count of an index",
    "owner_ids": "an index of owners alone",
    "MemoryForgetting.plans": "of lines that were asked not to be kept, which are few",
}
"""Who may read whole tables, and why."""


def reads_all(database: sqlite3.Connection, statement: str) -> Iterator[str]:
    """Tables of which a statement reads all rows."""
    named: tuple[str, ...] = tuple(re.findall(r"(?<!\w):([a-z]\w*)", statement))
    nothing: dict[str, None] | tuple[None, ...] = (None,) * statement.count("?")
    values = dict.fromkeys(named) if named and not nothing else nothing
    for *_, step in database.execute(f"EXPLAIN QUERY PLAN {statement}", values):
        found = SCANS.match(step) or KINDS.match(step) or LEAST.match(step)
        if found is None or (found.re is LEAST and f"FROM {found['name']} WHERE" not in statement):
            continue
        if found.groupdict().get("index") in UNDER_WAY:
            continue
        name = found["name"]
        if re.search(rf"\) AS {name}\b|\b{name} AS \(", statement):
            continue  # what another query inside found
        table = re.search(rf"\b(\w+) AS {name}\b", statement)
        if (table[1] if table else name) not in SMALL:
            yield step


def explained(folder: Path, statements: dict[str, str]) -> dict[str, list[str]]:
    """Of each who asks: what is read whole; as SQLite plans it without statistics, which the program never makes."""
    found: dict[str, list[str]] = {}
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        for statement, asks in statements.items():
            if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)", statement) and "IN ()" not in statement:
                steps = list(reads_all(database, statement))
                if steps:
                    found.setdefault(asks, []).append(f"{steps}: {' '.join(statement.split())[:400]}")
    return found


async def lived(folder: Path) -> None:
    """What people, operators and the program itself do often."""
    world = await World(folder, Settings.model_validate({"heartbeat": ON, "notes": {"on_new": True}})).open()
    for text in (
        "记住我喜欢绿茶",
        "我喜欢什么茶？",
        "叫我阿王",
        "忘记我喜欢绿茶",
        "撤销",
        "提醒我十分钟后喝水",
        "我明天给你带一本书",
        ".ai ctx",
        ".ai budget",
        ".ai mem list",
        ".ai promise",
        ".ai export",
        "别提醒我了",
        "彻底忘记我喜欢绿茶",
    ):
        await world.say(text)
    await world.say("小暖，你看这个", "阿明", "闲聊", external_id="g1")
    await world.say("我养了一只猫", "阿明", "闲聊", external_id="g2")
    for label, target, text in (("edit", "g2", "我养了一只狗"), ("reaction", "g1", "👍"), ("delete", "g2", "")):
        said = world.message("", "阿明", "闲聊")
        await world.app.ingest.accept(replace(said, kind="event", label=label, target=target, text=text))
        await world.app.settled()
    await world.wait(700)
    await world.say("/new")
    await look(world)
    await world.wait(2 * DAY_S)
    await world.say("早上好")
    async with webbed(world) as page:
        await page.every_page()
        await page.visitor.get("/memories?q=茶&owner=1")
        await page.visitor.get("/turns?chat=1")
        await page.visitor.get("/dialogue?chat=1")
    await pack_person(world.store, 1, world.clock.now(), "UTC")
    await store_findings(folder, world.clock.now())
    await world.restart()
    await PersonData(world.store, world.clock, world.log).erase(1)
    await world.close()


async def test_no_query_that_is_asked_often_reads_a_whole_table_that_grows(tmp_path: Path) -> None:
    lay(tmp_path / "blank")
    with recorded() as statements:
        await lived(tmp_path / "data")
    found = explained(tmp_path / "blank", statements)
    assert len(statements) > 400
    wrong = [f"{asks} reads all: {step}" for asks, steps in found.items() if asks not in ALLOWED for step in steps]
    assert not wrong, "\n".join(wrong)
    assert sorted(ALLOWED.keys() - found.keys()) == [], "these read nothing whole any more"
