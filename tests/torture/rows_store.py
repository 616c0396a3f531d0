"""The store's rows of the table of faults: what is written, refused, damaged, copied and brought to a new schema."""

import asyncio
import contextlib
import json
import os
import random
import re
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from bot.store.schema import SCHEMA_VERSION
from tests.fork_server import ROOT, Order, fork_server
from tests.torture.row import Bound, Found, Row, Size, merge

PAGES_AT_ALL = 400
"""About so many pages are written in all stories of tests/torture/fulldisk.py together."""

OUTAGES = 10
"""Of the running program, on each platform."""

MIGRATIONS_EACH = 5
"""Migrations of one piece."""


async def child(module: str, *words: str) -> str:
    """Run a module of the project to its end; what it printed. RuntimeError when it failed."""
    out_of, into = os.pipe()
    process = fork_server().start(Order(module, words, str(ROOT), dict(os.environ)), (0, into, 2))
    os.close(into)
    said = await asyncio.to_thread(Path(f"/dev/fd/{out_of}").read_text, "utf-8")
    os.close(out_of)
    if code := await process.wait():
        raise RuntimeError(f"{module} ended with {code}")
    return said


async def pages(folder: Path, size: Size) -> Found:
    """A disk that is full at each page, or each so many-th, that an installation writes."""
    each = max(1, round(PAGES_AT_ALL / size.units))
    sums, slowest, notes = json.loads(
        await child("tests.torture.fulldisk", str(folder / "nuan"), str(each), str(size.seed))
    )
    names = ("writes", "full", "lost", "twice", "unanswered", "lies", "left", "damage", "health wrong")
    return Found({name: sums.get(name, 0) for name in names}, {"seconds": slowest}, tuple(notes))


async def full_disk(folder: Path, size: Size) -> Found:
    """The same; when that is each page, the running program on both platforms, too."""
    from tests.torture.outages import discord, telegram

    found, ends = [await pages(folder, size)], ("lost", "twice", "ended", "bad exits", "outages")
    if size.units >= PAGES_AT_ALL * 2 // 3:
        for name, platform in (("telegram", telegram), ("discord", discord)):
            (folder / name).mkdir()
            seen, took = await platform(folder / name, OUTAGES, size.seed)
            found.append(Found({each: seen[each] for each in ends}, {"seconds": took}))
    return merge((*found, Found(dict.fromkeys(ends, 0))))


async def busy(folder: Path, size: Size) -> Found:
    """Another program holds the lock for `size.units` ms while twenty memories are to be kept."""
    from bot.core.errors import StoreError
    from bot.store.store import DATABASE, open_store
    from tests.storing import keep, look

    async with await open_store(folder) as store:
        await keep(store, "第一件")
        with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writes = [asyncio.ensure_future(keep(store, f"第{number}件")) for number in range(20)]
            await asyncio.wait(writes, timeout=size.units / 1000)
            early = sum(task.done() for task in writes)
            other.execute("COMMIT")
        done = await asyncio.gather(*writes, return_exceptions=True)
    failed = sum(isinstance(one, StoreError) for one in done)
    stored = len(look(folder, "SELECT 1 FROM memory")) - 1
    return Found({"ms held": size.units, "failed": failed, "early": early, "acknowledged": 20 - failed - stored})


async def one_writer(folder: Path, size: Size) -> Found:
    """Days of talk with backups beside; who can write, in the program's text and while it runs."""
    from bot.config.settings import Settings
    from tests.world import World

    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "backup": {"daily": True}})
    before = _open_connections()
    world, most = await World(folder, settings).open(), 0
    for day in range(size.units):
        await world.say(f"记住我喜欢第{day}种花")
        await world.wait(86_400)
        most = max(most, len(_open_connections()) - len(before))
    query_only = await world.store._database.read(lambda tx: tx.value("PRAGMA query_only"))
    await world.close()
    writing = set()
    for path in (ROOT / "bot").rglob("*.py"):
        if re.search(r"sqlite3\.connect\(|aiosqlite\.connect\(", path.read_text("utf-8")):
            writing.add(path.name)
    known = {"connection.py", "copies.py", "opening.py", "backups.py", "move.py"}
    return Found(
        {"days": size.units, "unknown files": len(writing - known)},
        {"writers": most - int(query_only), "readers": int(query_only)},
    )


def _open_connections() -> list[sqlite3.Connection]:
    """Those of this process; one that is closed does not tell its changes any more."""
    import gc

    found = []
    for one in gc.get_objects():
        if isinstance(one, sqlite3.Connection):
            with contextlib.suppress(sqlite3.ProgrammingError):
                found.append((one, one.total_changes)[0])
    return found


async def migrations(folder: Path, size: Size) -> Found:
    """Those of this piece, killed at each statement."""
    first = 1 + (size.seed - 1) * MIGRATIONS_EACH
    sums, notes = json.loads(
        await child("tests.kill_migration", str(folder / "m"), str(first), str(first + size.units))
    )
    names = ("migrations", "kills", "wrong", "older refuse")
    return Found({name: sums.get(name, 0) for name in names}, {}, tuple(notes))


async def damage(folder: Path, size: Size) -> Found:
    """Bytes of the first page, of a page in the middle, of the full-text index or inside a value are other ones; then a
    restore. What is inside a value only is counted: SQLite has no checksums."""
    from bot.core.errors import StoreError
    from bot.store.backups import copy_to, count_newer, roll_back
    from bot.store.store import DATABASE, open_store
    from tests.storing import NOW, keep, look, sound

    chance, seen, path = random.Random(size.seed), Counter[str](), folder / DATABASE
    async with await open_store(folder) as store:
        await asyncio.gather(*(keep(store, f"第{number}件事 word{number}") for number in range(300)))
        copy = await asyncio.to_thread(copy_to, folder, folder / "copy.db")
        await asyncio.gather(*(keep(store, f"后来第{number}件") for number in range(7)))
    whole = path.read_bytes()
    for number in range(size.units):
        where = ("first page", "middle", "value")[number % 3]
        path.write_bytes(_flipped(whole, where, chance))
        before, newer = path.read_bytes(), count_newer(folder, copy)
        seen["newer told"] += newer == (7, 7)
        seen["newer told wrongly"] += newer not in ((7, 7), None)
        try:
            await (await open_store(folder)).close()
        except StoreError:
            seen["detected" if where != "value" else "value seen"] += 1
            seen["replaced"] += path.read_bytes() != before
        else:
            seen[f"unseen in the {where}" if where != "value" else "value unseen"] += 1
        seen["sure"] += where != "value"
        previous, _ = await roll_back(folder, copy, f"{number:08}T000000000Z", NOW, label="restore")
        back = look(folder, "SELECT count(*) FROM memory")[0][0] == 300 and sound(folder) == []
        seen["not restored"] += not back or previous is None
    unseen = tuple(f"{name}: {count}" for name, count in seen.items() if name.startswith("unseen"))
    names = (
        "sure",
        "detected",
        "replaced",
        "not restored",
        "newer told",
        "newer told wrongly",
        "value seen",
        "value unseen",
    )
    return Found({"flips": size.units, **{name: seen[name] for name in names}}, {}, unseen)


def _flipped(whole: bytes, where: str, chance: random.Random) -> bytes:
    """The file with sixteen bytes of that place turned over, where something stands."""
    data, page = bytearray(whole), 4_096
    if where == "first page":
        at = chance.choice((0, 8, 16, 100))  # the numbers between count changes, and may be any
    elif where == "middle":
        at = chance.choice([n for n in range(4, len(data) // page) if data[n * page] in (5, 13)]) * page
    else:
        text = f"第{chance.randrange(300)}件事".encode()
        at = data.find(text)
        data[at + 4] ^= 0x01  # one sign is another one
        return bytes(data)
    data[at : at + 16] = bytes(byte ^ 0xFF for byte in data[at : at + 16])
    return bytes(data)


async def backup(folder: Path, size: Size) -> Found:
    """Copies while memories are kept as fast as they can be; what is recalled after a restore is what was. `rate`: writes
    for each second of processor time, the copies' own in it.
    """
    from bot.core.people import Audience
    from bot.store.backups import copy_to, roll_back
    from bot.store.sqlite.copies import verify_copy
    from bot.store.store import open_store
    from tests.storing import NOW, ids, keep, searched

    copies, bad = 0, 0
    async with await open_store(folder) as store:
        person, chat, _ = await ids(store)
        audience = Audience(chat, "dm", (person,))
        for number in range(20):
            await keep(store, f"旧事 word{number % 7}")
        kept = await asyncio.to_thread(copy_to, folder, folder / "kept.db")
        before = [await searched(store, audience, f"word{number}") for number in range(7)]
        begun, writes = time.process_time(), []
        for number in range(size.units // 2):  # each is stored as a line and as a memory
            writes.append(asyncio.ensure_future(keep(store, f"新事{number} word{number % 7}")))
            if number % 100 == 20:
                copy = await asyncio.to_thread(copy_to, folder, folder / f"copy{number}.db")
                copies, bad = copies + 1, bad + (await asyncio.to_thread(verify_copy, copy, 0) == 0)
        await asyncio.gather(*writes)
        rate = size.units / (time.process_time() - begun)
    await roll_back(folder, kept, "20260101T000000000Z", NOW)
    async with await open_store(folder) as store:
        after = [await searched(store, audience, f"word{number}") for number in range(7)]
    other = sum(one != two for one, two in zip(before, after, strict=True))
    return Found({"writes": size.units, "copies": copies, "damaged": bad, "other answers": other}, {"rate": rate})


ROWS: tuple[Row, ...] = (
    Row(
        "S2",
        "Told before it is stored",
        "nobody is told that something is kept before it is",
        "writes",
        300,
        limit_s=1_800,
        bounds=(Bound("lies", "==", 0), Bound("lost", "==", 0), Bound("full", ">=", 0.4, "writes")),
        run=pages,
        existing=(
            "test_store_writer.py::test_a_commit_that_fails_is_told_to_nobody_as_done",
            "test_memory_talk.py::test_a_receipt_is_said_only_after_its_commit",
        ),
        differs="while the store refuses nobody is told anything, as what is said is stored first (ARCHITECTURE 8.2): "
        "the command waits, and its receipt comes with its commit",
    ),
    Row(
        "S3",
        "Tasks on one connection",
        "exactly what was acknowledged is stored",
        "tasks",
        1_000,
        existing=(
            "contract/test_transactions.py::"
            "test_of_a_thousand_that_write_fail_or_leave_exactly_the_acknowledged_are_stored",
        ),
    ),
    Row(
        "S4",
        "Somebody else holds the lock",
        "no write fails, none is told before it is done",
        "ms held",
        3_000,
        200,
        bounds=(Bound("failed", "==", 0), Bound("early", "==", 0), Bound("acknowledged", "==", 0)),
        run=busy,
    ),
    Row(
        "S5",
        "SQLite's WAL-reset fault",
        "one connection that can write, in the text and while it runs",
        "days",
        30,
        2,
        bounds=(Bound("writers", "==", 1), Bound("readers", "==", 1), Bound("unknown files", "==", 0)),
        run=one_writer,
        existing=("test_doctor_call.py::test_versions_of_sqlite_with_the_fault_are_told_apart",),
    ),
    Row(
        "S6",
        "Full disk at every write",
        "nothing confirmed is lost, the health says so while it is full, all answered within 30 s of room",
        "writes",
        300,
        6,
        0,
        1_800,
        bounds=(
            *(
                Bound(name, "==", 0)
                for name in (
                    "lost",
                    "twice",
                    "unanswered",
                    "lies",
                    "left",
                    "damage",
                    "health wrong",
                    "ended",
                    "bad exits",
                )
            ),
            Bound("seconds", "<=", 30, clocked=True),
            Bound("full", ">=", 0.4, "writes"),
        ),
        run=full_disk,
    ),
    Row(
        "S7",
        "Damaged file",
        "seen at the start, left as it is, restored by hand, newer rows counted where they can be read",
        "flips",
        120,
        4,
        bounds=(
            Bound("detected", "==", 1, "sure"),
            Bound("replaced", "==", 0),
            Bound("not restored", "==", 0),
            Bound("newer told wrongly", "==", 0),
            Bound("newer told", ">=", 0.33, "flips"),
        ),
        run=damage,
        differs="an operator restores (`nuan restore`): nothing takes a damaged database's place by itself "
        "(ARCHITECTURE 6); a byte that is another one inside a value may not be seen: SQLite has no checksums "
        "(SECURITY.md)",
    ),
    Row(
        "S8",
        "Backup under load",
        "copies under 200 writes for each second of a processor are whole, and after a restore the same is recalled",
        "writes",
        2_000,
        60,
        bounds=(
            Bound("damaged", "==", 0),
            Bound("other answers", "==", 0),
            Bound("copies", ">=", 1),
            Bound("rate", ">=", 200, clocked=True),
        ),
        run=backup,
        differs="daily backups are scheduled by backup.daily, which is off unless it is set",
    ),
    Row(
        "S9",
        "Migration killed half-way",
        "old or new, no row lost, and the next start finishes it",
        "migrations",
        SCHEMA_VERSION - 1,
        1,
        MIGRATIONS_EACH,
        bounds=(
            Bound("wrong", "==", 0),
            Bound("older refuse", "==", 1, "migrations"),
            Bound("kills", ">=", 4, "migrations"),
        ),
        run=migrations,
    ),
)
