"""Deadlines: what is due, and what is next, is what a reader of the rows would say."""

import sqlite3
from contextlib import closing
from functools import cache
from itertools import chain
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.store.deadlines import DUE_DEADLINES, NEXT_DEADLINE
from bot.store.schema import MIGRATIONS
from tests.blank import open_laid
from tests.storing import NOW, say

KINDS = ("event", "window", "session", "digest", "outbox", "heartbeat", "join", "purge", "roll", "tidy", "life")
ROWS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.booleans()), max_size=8)


@cache
def migrated() -> sqlite3.Connection:
    """Every migration ran, nothing is in it; only to be copied."""
    db = sqlite3.connect(":memory:")
    for statement in chain(*MIGRATIONS):
        db.execute(statement)
    db.commit()
    return db


def empty() -> sqlite3.Connection:
    """A database of its own."""
    db = sqlite3.connect(":memory:")
    migrated().backup(db)
    return db


def insert(db: sqlite3.Connection, number: int, kind: str, at: int, live: bool) -> None:
    """One row with a deadline; a row that is not live is done with."""
    match kind:
        case "event":
            state = "queued" if live else "done"
            db.execute(
                "INSERT INTO event (chat_id, at, kind, state, due_at) VALUES (?, 0, '', ?, ?)", (number, state, at)
            )
        case "window":
            db.execute("INSERT INTO window VALUES (?, 1, ?)", (number, at))
        case "session" | "digest":
            state = "open" if live and kind == "session" else "closed"
            due = at if live and kind == "digest" else None
            db.execute(
                "INSERT INTO session (id, chat_id, number, state, opened_at, last_at, close_at, from_event, "
                "upto_event, digest_due_at) VALUES (?1, ?1, 1, ?2, 0, 0, ?3, 0, 0, ?4)",
                (number, state, at, due),
            )
        case "outbox":
            db.execute(
                "INSERT INTO outbox (chat_id, kind, text, state, due_at) VALUES (?, '', '', ?, ?)",
                (number, "pending" if live else "sent", at),
            )
        case "heartbeat":
            db.execute("INSERT INTO heartbeat VALUES (?, ?, NULL)", (number, at if live else None))
        case "join":
            db.execute("INSERT INTO joining (chat_id, due_at) VALUES (?, ?)", (number, at if live else None))
        case "purge":
            db.execute(
                "INSERT INTO memory (chat_id, visibility, kind, text, folded, source, stability_days, accessed_at, "
                "observed_at, created_at, updated_at, purge_at) VALUES (?, '', '', '', '', '', 1, 0, 0, 0, 0, ?)",
                (number, at if live else None),
            )
        case "roll":
            db.execute(
                "INSERT INTO digest (chat_id, summary, made_by, names, started_at, ended_at, created_at, roll_at) "
                "VALUES (?, '', '', '[]', 0, 0, 0, ?)",
                (number, at if live else None),
            )
        case _:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{kind}_at", str(at)))


@settings(max_examples=80, deadline=None)
@given(rows=ROWS, now=st.integers(0, 9))
def test_due_and_next_say_what_the_rows_say(rows: list[tuple[str, int, bool]], now: int) -> None:
    daily = {name: [at for kind, at, _ in rows if kind == name][-1:] for name in ("tidy", "life")}
    wanted = [(kind, at, number) for number, (kind, at, live) in enumerate(rows, 1)
              if kind not in daily and (live or kind == "window")]  # fmt: skip
    about = {"window": lambda number: 0, "purge": lambda number: 0, "heartbeat": lambda number: 0}
    due = {(kind, about.get(kind, int)(number)) for kind, at, number in wanted if at <= now}
    due |= {(name, 0) for name, at in daily.items() if not at or at[0] <= now}
    later = [at for _, at, _ in wanted if at > now] + [at for each in daily.values() for at in each if at > now]
    with closing(empty()) as db:
        for number, (kind, at, live) in enumerate(rows, 1):
            insert(db, number, kind, at, live)
        found = db.execute(DUE_DEADLINES, (now,)).fetchall()
        assert set(found) == due
        assert len(found) == len(due)
        assert db.execute(NEXT_DEADLINE, (now,)).fetchone()[0] == min(later, default=None)


def test_the_next_chat_is_asked_to_be_written_to_a_minute_after_the_last_one() -> None:
    with closing(empty()) as db:
        rows = [(1, None, 5_000), (2, 4_000, None), (3, 90_000, None)]
        db.executemany("INSERT INTO heartbeat VALUES (?, ?, ?)", rows)
        assert ("heartbeat", 0) not in db.execute(DUE_DEADLINES, (64_999,)).fetchall()
        assert db.execute(NEXT_DEADLINE, (5_000,)).fetchone() == (65_000,)
        assert ("heartbeat", 0) in db.execute(DUE_DEADLINES, (65_000,)).fetchall()
        assert db.execute(NEXT_DEADLINE, (65_000,)).fetchone() == (90_000,)


async def test_the_end_of_a_conversation_is_its_deadline(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await say(store, "你好")
        assert await store.deadlines.next(NOW) == NOW + 60_000
        assert await store.deadlines.end_windows(NOW + 59_999) == 0
        assert await store.deadlines.end_windows(NOW + 60_000) == 1
        assert await store.deadlines.next(NOW) is None
