"""Deadlines: what is due, and what is next, is what a reader of the rows would say."""

from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.store.store import Store
from bot.store.transactions import Tx
from tests.blank import DONE_UNTIL
from tests.sizes import sized
from tests.storing import NOW, say

KINDS = ("event", "window", "session", "digest", "outbox", "heartbeat", "join", "purge", "roll", "tidy", "life")
TABLES = ("event", "conversation_window", "session", "digest", "outbox", "heartbeat", "joining", "memory")
MOST_ROWS = 8
ROWS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 9), st.booleans()), max_size=MOST_ROWS)


def places(tx: Tx) -> None:
    """There are as many chats as rows at most, and one person."""
    tx.run("INSERT INTO person (id, name, created_at) VALUES (1, '', 0) ON CONFLICT DO NOTHING")
    for number in range(1, MOST_ROWS + 1):
        tx.run("INSERT INTO chat (id, kind, created_at) VALUES (?, 'dm', 0) ON CONFLICT DO NOTHING", number)


def fill(tx: Tx, rows: list[tuple[str, int, bool]]) -> None:
    """Exactly these rows have a deadline."""
    places(tx)
    for table in TABLES:
        tx.run(f"DELETE FROM {table}")
    for name in ("tidy_at", "life_at"):
        tx.set_meta(name, None)
    for number, (kind, at, live) in enumerate(rows, 1):
        insert(tx, number, kind, at, live)


def insert(tx: Tx, number: int, kind: str, at: int, live: bool) -> None:
    """One row with a deadline; a row that is not live is done with."""
    due = at if live else None
    match kind:
        case "event":
            tx.insert("event", chat_id=number, at=0, kind="", state="queued" if live else "done", due_at=at)
        case "window":
            tx.insert("conversation_window", chat_id=number, person_id=1, until=at)
        case "session" | "digest":
            state, digest = ("open" if live else "closed", None) if kind == "session" else ("closed", due)
            tx.insert(
                "session",
                id=number,
                chat_id=number,
                number=1,
                state=state,
                opened_at=0,
                last_at=0,
                close_at=at,
                from_event=0,
                upto_event=0,
                digest_due_at=digest,
            )
        case "outbox":
            tx.insert("outbox", chat_id=number, kind="", text="", state="pending" if live else "sent", due_at=at)
        case "heartbeat":
            tx.insert("heartbeat", chat_id=number, due_at=due)
        case "join":
            tx.insert("joining", chat_id=number, due_at=due)
        case "purge":
            tx.insert(
                "memory",
                chat_id=number,
                visibility="",
                kind="",
                text="",
                folded="",
                source="",
                stability_days=1,
                accessed_at=0,
                observed_at=0,
                created_at=0,
                updated_at=0,
                purge_at=due,
            )
        case "roll":
            tx.insert(
                "digest",
                chat_id=number,
                summary="",
                made_by="",
                names="[]",
                started_at=0,
                ended_at=0,
                created_at=0,
                roll_at=due,
            )
        case _:
            tx.set_meta(f"{kind}_at", str(at))


@settings(max_examples=sized(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, now=st.integers(0, 9))
async def test_due_and_next_say_what_the_rows_say(store: Store, rows: list[tuple[str, int, bool]], now: int) -> None:
    daily = {name: [at for kind, at, _ in rows if kind == name][-1:] for name in ("tidy", "life")}
    wanted = [
        (kind, at, number)
        for number, (kind, at, live) in enumerate(rows, 1)
        if kind not in daily and (live or kind == "window")
    ]
    about = {"window": lambda number: 0, "purge": lambda number: 0, "heartbeat": lambda number: 0}
    due = {(kind, about.get(kind, int)(number)) for kind, at, number in wanted if at <= now}
    due |= {(name, 0) for name, at in daily.items() if not at or at[0] <= now}
    later = [at for _, at, _ in wanted if at > now] + [at for each in daily.values() for at in each if at > now]
    await store._database.write(partial(fill, rows=rows))
    found, following = await store.deadlines.look(now)
    assert set(found) == due
    assert len(found) == len(due)
    assert following == min(later, default=None)
    assert await store.deadlines.next(now) == following


async def test_the_next_chat_is_asked_to_be_written_to_a_minute_after_the_last_one(store: Store) -> None:
    def beat(tx: Tx) -> None:
        places(tx)
        for chat, due, asked in ((1, None, 5_000), (2, 4_000, None), (3, 90_000, None)):
            tx.insert("heartbeat", chat_id=chat, due_at=due, tried_at=asked)

    await store._database.write(beat)
    assert ("heartbeat", 0) not in (await store.deadlines.look(64_999))[0]
    assert await store.deadlines.next(5_000) == 65_000
    assert ("heartbeat", 0) in (await store.deadlines.look(65_000))[0]
    assert await store.deadlines.next(65_000) == 90_000


async def test_the_end_of_a_conversation_is_its_deadline(store: Store) -> None:
    await say(store, "你好")
    assert await store.deadlines.next(NOW) == NOW + 60_000
    assert await store.deadlines.end_windows(NOW + 59_999) == 0
    assert await store.deadlines.end_windows(NOW + 60_000) == 1
    assert await store.deadlines.next(NOW) == int(DONE_UNTIL["tidy_at"])
