"""Turns, from asked to said, and what a crash leaves of them. What each commit holds is in bot/store/steps.py."""

import sqlite3
from dataclasses import replace

from bot.store.changes import goes_on, still_known
from bot.store.database import Database
from bot.store.ledger import Owner, Reservation, Settlement, charge, reserve
from bot.store.sessions import close
from bot.store.steps import (
    TURN,
    Asked,
    Asking,
    Saying,
    answer,
    ask,
    say,
    tool_done,
    turn_of,
)
from bot.store.voiding import fail
from bot.store.windows import requeue
from bot.types.outgoing import Draft, Outgoing
from bot.types.prompt import Message
from bot.types.tool import ToolOutcome
from bot.types.turn import Call, Turn

__all__ = ["Asked", "Asking", "Saying", "ToolOutcome", "Turns"]


class Turns:
    """Turns, from asked to said."""

    def __init__(self, database: Database, boot: str) -> None:
        self._database = database
        self._boot = boot

    async def ask(self, asking: Asking, at: int) -> Asked:
        """Commit the composed bytes and the reservation; OverBudget stores nothing.

        StoreError when the session it was composed for was closed meanwhile: compose again.
        """
        return await self._database.write(lambda db: ask(db, asking, at))

    async def ask_again(self, turn: Turn, reservation: Reservation, at: int) -> Call:
        """Reserve the next call of a running turn; StoreError when it was voided, or its log forgotten, meanwhile."""
        owner = Owner(turn.session_id, turn.chat_id, turn.id, turn.person_id)

        def verb(db: sqlite3.Connection) -> Call:
            goes_on(db, turn.id)
            still_known(db, turn.epoch_id)
            return reserve(db, reservation, at, owner)

        return await self._database.write(verb)

    async def answer(self, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
        """Commit a completion that asks for tools, once for each call."""

        await self._database.write(lambda db: answer(db, turn, entry, tokens, settlement, at))

    async def tool_done(self, turn: Turn, outcome: ToolOutcome, at: int) -> None:
        """Commit a tool's effect with its result, once for each (turn, key)."""
        await self._database.write(lambda db: tool_done(db, turn, outcome, at))

    async def say(self, saying: Saying, at: int) -> Outgoing | None:
        """Commit the final completion, the outbox rows and the end of the turn together; what to send first."""
        return await self._database.write(lambda db: say(db, saying, at, self._boot))

    async def fail(
        self, turn: Turn, error: str, notice: Draft | None, call: tuple[int, str] | None, at: int, *,
        sorry: bool = False,
    ) -> None:  # fmt: skip
        """Void a turn: its log entries go, its events end as failed and join the next delta; tell the person.

        Without a notice follow-ups are put back instead.

        `call` is the call in flight and what becomes of its reservation: charge or release. `sorry`: the notice tells
        that no model answers.
        """
        await self._database.write(lambda db: fail(db, turn, error, notice, call, at, sorry))

    async def begin_anew(self, turn: Turn, error: str, call: tuple[int, str] | None, at: int) -> None:
        """The log cannot be sent (again): void the turn and let its events be answered anew.

        One that is too long (`overflow`) ends its session, and what was asked belongs to the next one. Receipts are
        made again with the answer.
        """

        def verb(db: sqlite3.Connection) -> None:
            fail(db, turn, error, None, call, at)
            requeue(db, turn.event_ids, at)
            if error == "overflow" and close(db, turn.session_id, "budget", at, False):
                last = min(turn.event_ids) - 1
                db.execute("UPDATE session SET upto_event = ? WHERE id = ?", (last, turn.session_id))

        await self._database.write(verb)

    async def reserved_call(self, turn_id: int) -> int | None:
        """The call of a turn that is in flight."""
        row = await self._database.row("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn_id,))
        return int(row[0]) if row else None

    async def running(self, chat_id: int | None = None) -> tuple[Turn, ...]:
        """Turns between asked and said, in one chat or all: after a crash or a full disk they wait to be taken up."""
        rows = await self._database.rows(
            TURN + "WHERE turn.state IN ('asked', 'answered') AND (?1 IS NULL OR turn.chat_id = ?1) ORDER BY turn.id",
            (chat_id,),
        )
        return tuple([await self._with_events(turn_of(row)) for row in rows])

    async def lost_calls(self, at: int) -> int:
        """Charge every reservation that an earlier process left; how many there were."""

        def verb(db: sqlite3.Connection) -> int:
            calls = db.execute("SELECT id FROM call WHERE state = 'reserved'").fetchall()
            for (number,) in calls:
                charge(db, number, at)
            return len(calls)

        return await self._database.write(verb)

    async def tried(self, turn_id: int) -> tuple[int, int]:
        """How many requests of a turn were answered, and how many were not: failed, or cut off by a crash."""
        row = await self._database.row(
            "SELECT count(*), coalesce(sum(state <> 'settled'), 0) FROM call WHERE turn_id = ?", (turn_id,)
        )
        assert row is not None
        return int(row[0]) - int(row[1]), int(row[1])

    async def totals(self, turn_id: int) -> tuple[int, int, int, int, float, str]:
        """Calls, prompt, cached and output tokens, and money of one turn, and the model of its last call."""
        row = await self._database.row(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), "
            "(SELECT model FROM call WHERE turn_id = ?1 ORDER BY id DESC LIMIT 1) FROM call WHERE turn_id = ?1",
            (turn_id,),
        )
        assert row is not None
        return int(row[0]), int(row[1]), int(row[2]), int(row[3]), float(row[4]), str(row[5] or "")

    async def _with_events(self, turn: Turn) -> Turn:
        rows = await self._database.rows(
            "SELECT event_id FROM turn_event WHERE turn_id = ? ORDER BY event_id", (turn.id,)
        )
        return replace(turn, event_ids=tuple(int(row[0]) for row in rows))
