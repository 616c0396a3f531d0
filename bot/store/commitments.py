"""What people promised and still have to do. Every read takes an audience and filters in the query."""

import sqlite3
from typing import cast

from bot.store.database import Database
from bot.text.fold import fold
from bot.types.commitment import Commitment, CommitmentSource, CommitmentState, NewCommitment
from bot.types.memory import Visibility
from bot.types.people import Audience

_COLUMNS = "SELECT id, owner_id, chat_id, visibility, text, state, made_at, due_at, source, updated_at FROM commitment "


class Commitments:
    """Promises and open tasks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, audience: Audience, limit: int) -> tuple[Commitment, ...]:
        """What those who take part have still to do, as far as this audience may see it: the newest, oldest first."""
        where, params = visible_commitment(audience)
        rows = await self._database.rows(
            f"{_COLUMNS}WHERE ended_at IS NULL AND {where} ORDER BY made_at DESC, id DESC LIMIT ?", (*params, limit)
        )
        return tuple(commitment_of(row) for row in reversed(rows))


def store_commitment(db: sqlite3.Connection, new: NewCommitment, at: int) -> int:
    """Verb part: store a commitment and its source edges, or find the one that is open already; its number."""
    folded = fold(new.text)
    same = db.execute(
        "SELECT id FROM commitment WHERE owner_id = ? AND folded = ? AND visibility = ? AND ended_at IS NULL "
        "AND (visibility <> 'chat' OR chat_id = ?)",
        (new.owner_id, folded, new.visibility, new.chat_id),
    ).fetchone()
    if same is not None:
        number = cast("int", same[0])
        db.execute(
            "UPDATE commitment SET due_at = coalesce(?, due_at), updated_at = ? WHERE id = ?", (new.due_at, at, number)
        )
    else:
        number = cast(
            "int",
            db.execute(
                "INSERT INTO commitment (owner_id, chat_id, visibility, text, folded, due_at, source, made_at, "
                "updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (new.owner_id, new.chat_id, new.visibility, new.text, folded, new.due_at, new.source, new.made_at, at),
            ).lastrowid,
        )
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('commitment', ?, ?)",
        [(number, event) for event in new.event_ids],
    )
    return number


def visible_commitment(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 for commitments, only of those who take part."""
    people = ", ".join("?" * len(audience.person_ids)) or "NULL"
    here = "(visibility = 'chat' AND chat_id = ?)"
    alone = audience.kind == "dm" and len(audience.person_ids) == 1
    reach = f"(visibility = 'public' OR {here}" + (" OR visibility = 'private')" if alone else ")")
    return f"owner_id IN ({people}) AND {reach}", (*audience.person_ids, audience.chat_id)


def commitment_of(row: sqlite3.Row | tuple[object, ...]) -> Commitment:
    """A row of `_COLUMNS` as a value."""
    return Commitment(
        cast("int", row[0]), cast("int", row[1]), cast("int", row[2]), cast("Visibility", row[3]), str(row[4]),
        cast("CommitmentState", row[5]), cast("int", row[6]), cast("int | None", row[7]),
        cast("CommitmentSource", row[8]), cast("int", row[9]),
    )  # fmt: skip
