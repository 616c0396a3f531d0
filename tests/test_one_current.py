"""Of what somebody has one of, one value is current, whatever was kept, replaced, forgotten and brought back."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.memories import NewMemory
from bot.store.digests import take_memory_back
from bot.store.lifecycle import archive_memory, restore_memory
from bot.store.memories import store_memory
from bot.store.supersession import one_current, restore_former
from bot.store.transactions import Tx
from tests.blank import open_laid
from tests.sizes import sized
from tests.storing import NOW, Where, ids

DAY = 86_400_000
VALUES = ("住在杭州", "住在上海", "住在北京", "住在成都")
STEP = st.tuples(
    st.sampled_from(("say", "ask", "replace", "forget", "undo", "archive", "restore", "bring")), st.integers(0, 3)
)


def step(db: Tx, owner: int, chat: int, deed: str, which: int, at: int) -> None:
    """One thing that may happen to the memories of somebody's home."""
    rows = [number for (number,) in db.execute("SELECT id FROM memory ORDER BY id")]
    number = rows[which % len(rows)] if rows else 0
    if deed in ("say", "ask", "replace") or not rows:
        new = NewMemory(
            owner,
            chat,
            "private",
            "knowledge",
            VALUES[which],
            at,
            "digest",
            (),
            "home",
            asked=deed == "ask",
            said_at=at,
            lasting=True,
            replaces=(number,) if deed == "replace" else (),
        )
        store_memory(db, new, at)
    elif deed == "forget":
        db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = 'asked' WHERE id = ?", (at, number))
    elif deed == "undo":
        restore_former(db, number)
        take_memory_back(db, number, "derived", at)
    elif deed == "archive":
        if db.execute("SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL", (number,)).fetchone():
            archive_memory(db, number, at + 90 * DAY, at)
    elif deed == "restore":
        restore_memory(db, number, at)
    else:
        db.execute("UPDATE memory SET disabled_at = NULL, disabled_reason = '' WHERE id = ?", (number,))
        one_current(db, owner)


async def played(steps: list[tuple[str, int]]) -> tuple[int, int]:
    """After these steps: how many homes are current, and how many rows are left that somebody might be told."""
    with TemporaryDirectory() as folder:
        async with await open_laid(Path(folder)) as store:
            owner, chat, _ = await ids(store, Where(), NOW)

            def write(db: Tx) -> list[tuple[int, int]]:
                seen: list[tuple[int, int]] = []
                for place, (deed, which) in enumerate(steps):
                    step(db, owner, chat, deed, which, NOW + place * DAY)
                    sql = (
                        "SELECT count(*) FROM memory WHERE slot = 'home' AND disabled_at IS NULL AND former_at IS NULL"
                    )
                    (current,) = db.execute(sql).fetchone()
                    seen.append((current, place))
                return seen

            seen = await store._database.write(write)
    return max(seen, default=(0, 0))


@given(st.lists(STEP, min_size=1, max_size=12))
@settings(max_examples=sized(60), deadline=None)
def test_never_two_homes_at_once(steps: list[tuple[str, int]]) -> None:
    current, place = asyncio.run(played(steps))
    assert current <= 1, steps[: place + 1]
