"""The ledger: every model call is a row, reserved before it is made and settled after. Prices are not known here."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from bot.errors import OverBudget
from bot.store.database import Repository
from bot.store.pace import admit
from bot.store.recounts import COUNTED
from bot.types.money import Limits, Made, Period, Pressure, Spend, Used
from bot.types.pace import Pace
from bot.types.prompt import Usage
from bot.types.speaking import UNASKED
from bot.types.turn import Call, Cause

USED = """SELECT coalesce(sum(CASE state WHEN 'released' THEN 0 ELSE calls END), 0),
    coalesce(sum(CASE state WHEN 'reserved' THEN reserved_cost ELSE cost END), 0),
    coalesce(sum(CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens + output_tokens END), 0),
    coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0),
    coalesce(sum(CASE state WHEN 'reserved' THEN reserved_cost ELSE 0 END), 0),
    coalesce(sum(CASE state WHEN 'reserved' THEN reserved_tokens ELSE 0 END), 0) FROM call WHERE at >= ? """


HOUSE = 0
"""Stands for no chat: what the house needed for itself."""

ROUNDING = 1e-9
"""Sums of money are floats: 0.1 + 0.1 + 0.1 must fit into 0.3."""


KEPT = 0.9
"""How much of the old ratio stays with each new count."""

SMALLEST_SAMPLE = 100
"""Estimated tokens below which a count says nothing: what a server adds to every prompt outweighs the text."""

WILDEST = 4.0
"""A count so many times our estimate, or less than that part of it, is a picture or an error of the server."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a call may cost at most, and the limits it must fit in; day and month begin at these ms.

    `estimated` is the bare offline estimate of the whole prompt in tokens, 0 for what is no text; `own_tokens` is what
    all calls of this cause together may use in a day; `pace` is how often people may be answered, for a call that may
    be the first of an answer.
    """

    cause: Cause
    model: str
    tokens: int
    cost: float
    limits: Limits
    day_since: int
    month_since: int
    estimated: int = 0
    own_tokens: int | None = None
    pace: Pace | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a call really cost; `usage.returned` says whether the server counted.

    Else it is our estimate, or, when it is `reserved`, what was reserved.
    """

    call_id: int
    usage: Usage
    cost: float
    reserved: bool = False


class Ledger(Repository):
    """What was spent, and whether more may be."""

    async def spend(
        self, since: int, chat_id: int | None = None, person_id: int | None = None, *, period: Period | None = None
    ) -> Spend:  # fmt: skip
        """What was used since that instant: in all chats or one, for everybody or one person.

        With a `period` only what its limits count.
        """
        kinds = {"AND chat_id = ? ": chat_id, "AND person_id = ? ": person_id}
        chosen = {where: number for where, number in kinds.items() if number is not None}
        counted = COUNTED[period] if period is not None else ""
        row = await self._database.row(USED + counted + "".join(chosen), (since, *chosen.values()))
        assert row is not None
        calls, money, tokens, prompt, cached, reserved_money, reserved_tokens = row
        return Spend(since, float(money), int(tokens), int(calls), int(prompt), int(cached), float(reserved_money),
                     int(reserved_tokens))  # fmt: skip

    async def pressure(self, limits: Limits, day: int, month: int, chat_id: int, person_id: int | None) -> Pressure:
        """The fullest of the limits that a call for that person in that chat counts for."""
        fullest = Pressure()
        for check in _checks(limits, day, month, Owner(None, chat_id, person_id=person_id)):
            row = await self._database.row(check.sql, check.values)
            assert row is not None
            for kind, used, most in (("money", row[1], check.money), ("tokens", row[2], check.tokens)):
                share = 0.0 if most is None else (float(used) / most if most else 1.0)
                if share > fullest.share:
                    fullest = Pressure(share, f"{check.name}_{kind}")
        return fullest

    async def used(self, since: int) -> tuple[Used, ...]:
        """Every call since that instant (ms), oldest first; what is in flight counts as reserved."""
        rows = await self._database.rows(
            "SELECT at, chat_id, cause, CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens END, "
            "cached_tokens, output_tokens, CASE state WHEN 'reserved' THEN reserved_cost ELSE cost END, "
            "person_id FROM call WHERE at >= ? AND state <> 'released' ORDER BY at, id",
            (since,),
        )
        return tuple(Used(*row) for row in rows)

    async def recent(self, limit: int) -> tuple[Made, ...]:
        """The newest calls of all chats, newest first."""
        rows = await self._database.rows(
            "SELECT at, cause, model, prompt_tokens, cached_tokens, output_tokens, cost, "
            "coalesce(settled_at, at) - at, state, written_tokens, reasoning_tokens FROM call ORDER BY id DESC LIMIT ?",
            (limit,),
        )
        return tuple(Made(*row) for row in rows)

    async def last_talk(self, chat_id: int) -> Used | None:
        """The last settled call of a chat that was made for a reply; those for digests and pictures do not count."""
        row = await self._database.row(
            "SELECT at, chat_id, cause, prompt_tokens, cached_tokens, output_tokens, cost FROM call WHERE chat_id = ? "
            "AND state = 'settled' AND cause IN ('reply', 'followup', 'tool', 'heartbeat', 'join') "
            "ORDER BY id DESC LIMIT 1",
            (chat_id,),
        )
        return Used(*row) if row is not None else None

    async def ratio(self, model: str) -> float:
        """How many tokens that model counted for each that we estimated; 1 before it returned a count."""
        row = await self._database.row("SELECT ratio FROM counting WHERE model = ?", (model,))
        return float(row[0]) if row is not None else 1.0

    async def used_since(self, signature: str, model: str, since: int) -> bool:
        """Whether that model was sent that prefix, in any chat, at `since` (ms) or later, and took it."""
        row = await self._database.row(
            "SELECT 1 FROM call JOIN turn ON turn.id = call.turn_id JOIN epoch ON epoch.id = turn.epoch_id "
            "WHERE call.at >= ? AND call.state = 'settled' AND signature = ? AND call.model = ? LIMIT 1",
            (since, signature, model),
        )
        return row is not None

    async def reserve(self, session_id: int, reservation: Reservation, at: int) -> Call:
        """Reserve a call that belongs to no turn; OverBudget when a limit would be passed."""
        return await self._database.write(
            lambda db: reserve(db, reservation, at, Owner(session_id=session_id, chat_id=_chat(db, session_id)))
        )

    async def book(self, chat_id: int, reservation: Reservation, at: int) -> Call:
        """Reserve a call on the account of a chat alone, HOUSE for none; OverBudget beyond a limit."""
        return await self._database.write(lambda db: reserve(db, reservation, at, Owner(None, chat_id)))

    async def settle(self, settlement: Settlement, at: int) -> None:
        """Replace the reservation by what the call cost."""
        await self._database.write(lambda db: settle(db, settlement, at))

    async def charge(self, call_id: int, at: int) -> None:
        """A call whose cost nobody knows (lost, cut, cancelled) costs what was reserved for it."""
        await self._database.write(lambda db: charge(db, call_id, at))

    async def release(self, call_id: int, at: int) -> None:
        """A call that the server refused costs nothing."""
        await self._database.write(lambda db: release(db, call_id, at))


@dataclass(frozen=True, slots=True)
class Owner:
    """On whose account a call goes; what comes before a turn may have no session yet."""

    session_id: int | None
    chat_id: int
    turn_id: int | None = None
    person_id: int | None = None


def _chat(db: sqlite3.Connection, session_id: int) -> int:
    return cast("int", db.execute("SELECT chat_id FROM session WHERE id = ?", (session_id,)).fetchone()[0])


@dataclass(frozen=True, slots=True)
class _Check:
    """One pair of limits: in money and in tokens, and which calls count for it."""

    name: str
    money: float | None
    tokens: int | None
    where: str
    values: tuple[int | str, ...]
    period: Period | None = None

    @property
    def sql(self) -> str:
        """What reads the use that counts."""
        return USED + (COUNTED[self.period] if self.period is not None else "") + self.where


def _checks(limits: Limits, day: int, month: int, owner: Owner) -> Iterator[_Check]:
    """The limits that there are for a call on that account."""
    every = [
        _Check("day", limits.day_money, limits.day_tokens, "", (day,), "day"),
        _Check("month", limits.month_money, limits.month_tokens, "", (month,), "month"),
        _Check("total", limits.total_money, limits.total_tokens, "", (0,), "total"),
    ]
    for since, ending, here, person in (
        (day, "", (limits.chat_money, limits.chat_tokens), (limits.person_money, limits.person_tokens)),
        (month, "_month", (limits.chat_month_money, limits.chat_month_tokens),
         (limits.person_month_money, limits.person_month_tokens)),
    ):  # fmt: skip
        period: Period = "month" if ending else "day"
        every.append(_Check(f"chat{ending}", *here, "AND chat_id = ?", (since, owner.chat_id), period))
        if owner.person_id is not None:
            every.append(_Check(f"person{ending}", *person, "AND person_id = ?", (since, owner.person_id), period))
    return (check for check in every if check.money is not None or check.tokens is not None)


def reserve(db: sqlite3.Connection, reservation: Reservation, at: int, owner: Owner) -> Call:
    """Verb part: reserve, or raise OverLimit, or OverBudget naming the limit that the call would pass.

    What nobody asked for is on nobody's account.
    """
    occasion = admit(db, reservation.pace, at, owner.person_id) if reservation.pace is not None else None
    owner = replace(owner, person_id=None) if reservation.cause in UNASKED else owner
    day, cause = reservation.day_since, reservation.cause
    own = _Check(cause, None, reservation.own_tokens, "AND cause = ?", (day, cause))
    for check in (*_checks(reservation.limits, day, reservation.month_since, owner), own):
        used = db.execute(check.sql, check.values).fetchone()
        if check.money is not None and used[1] + reservation.cost > check.money + ROUNDING:
            raise _over(f"{check.name}_money", check.money, used[1], used[5], reservation.cost)
        if check.tokens is not None and used[2] + reservation.tokens > check.tokens:
            raise _over(f"{check.name}_tokens", check.tokens, used[2], used[6], reservation.tokens)
    number = db.execute(
        "INSERT INTO call (turn_id, session_id, chat_id, person_id, cause, model, state, at, reserved_tokens, "
        "reserved_cost, estimated_tokens, occasion) VALUES (?, ?, ?, ?, ?, ?, 'reserved', ?, ?, ?, ?, ?)",
        (owner.turn_id, owner.session_id, owner.chat_id, owner.person_id, reservation.cause, reservation.model, at,
         reservation.tokens, reservation.cost, reservation.estimated, occasion),
    ).lastrowid  # fmt: skip
    return Call(cast("int", number), reservation.cause, reservation.tokens, reservation.cost)


def _over(name: str, most: float, counted: float, held: float, needed: float) -> OverBudget:
    """`held` of what is `counted` is reserved by calls under way."""
    return OverBudget(name, (counted - held) / most, held / most, needed / most) if most else OverBudget(name)


def settle(db: sqlite3.Connection, settlement: Settlement, at: int) -> bool:
    """Verb part: what the call cost; False when it was settled, charged or released before."""
    usage = settlement.usage
    counted = "returned" if usage.returned else "reserved" if settlement.reserved else "estimated"
    changed = db.execute(
        "UPDATE call SET state = 'settled', settled_at = ?, prompt_tokens = ?, cached_tokens = ?, output_tokens = ?, "
        "cost = ?, counted = ?, written_tokens = ?, reasoning_tokens = ? WHERE id = ? AND state = 'reserved'",
        (at, usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, settlement.cost,
         counted, usage.written_tokens, usage.reasoning_tokens,
         settlement.call_id),
    ).rowcount  # fmt: skip
    if changed and usage.returned and usage.prompt_tokens:
        _calibrate(db, settlement.call_id, usage.prompt_tokens)
    return changed == 1


def _calibrate(db: sqlite3.Connection, call_id: int, counted: int) -> None:
    """How a model counts beside our estimate, as a moving average (PROMPT_ECONOMICS 6: .9 and .1)."""
    model, estimated = db.execute("SELECT model, estimated_tokens FROM call WHERE id = ?", (call_id,)).fetchone()
    if estimated >= SMALLEST_SAMPLE:
        seen = min(max(counted / estimated, 1 / WILDEST), WILDEST)
        db.execute(
            "INSERT INTO counting (model, ratio) VALUES (?1, ?2) "
            "ON CONFLICT (model) DO UPDATE SET ratio = ?3 * ratio + (1 - ?3) * ?2",
            (model, seen, KEPT),
        )


def charge(db: sqlite3.Connection, call_id: int, at: int) -> None:
    """Verb part: charge at the reservation."""
    db.execute(
        "UPDATE call SET state = 'lost', settled_at = ?, prompt_tokens = reserved_tokens, cost = reserved_cost, "
        "counted = 'reserved' WHERE id = ? AND state = 'reserved'",
        (at, call_id),
    )


def release(db: sqlite3.Connection, call_id: int, at: int) -> None:
    """Verb part: the reservation is given back."""
    db.execute("UPDATE call SET state = 'released', settled_at = ? WHERE id = ? AND state = 'reserved'", (at, call_id))
