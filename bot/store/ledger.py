"""The ledger: model calls reserved and settled, budgets that begin anew, and how often people were answered."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.clock import MINUTE_MS
from bot.core.errors import OverBudget, OverLimit
from bot.core.models import (
    BUDGET_PERIODS,
    BudgetLimits,
    BudgetPeriod,
    BudgetPressure,
    BudgetReset,
    CallUse,
    RecentCall,
    Spend,
    Usage,
)
from bot.core.sessions import CallCause, ModelCall
from bot.core.speaking import UNASKED, AnswerLimits
from bot.store.engine import Repository, reading, reads, writes, writing
from bot.store.schema import META_AT, placeholders
from bot.store.transactions import Row, Tx

IS_COUNTED: Mapping[BudgetPeriod, str] = {
    period: f"AND uncounted & {1 << bit} = 0 " for bit, period in enumerate(BUDGET_PERIODS)
}
"""Which calls the limits of a period count, as SQL: not what was over when they began anew. A call in flight counts."""


ReservationFate = Literal["charge", "release"]

NO_ROOM_KEY = "no_room:"
"""How the key of the effect begins that keeps what a person's last refused answer lacked, by chat and person."""

COUNTED_OCCASIONS = """FROM call LEFT JOIN turn ON turn.id = call.turn_id WHERE occasion IS NOT NULL
    AND (call.state <> 'released' OR turn.state NOT IN ('failed', 'void')) """
"""Occasions that were answered or are being answered; one that a server refused, at no cost, is given back."""


def admit_occasion(tx: Tx, pace: AnswerLimits, at: int, person_id: int | None) -> int | None:
    """The mark of a call that begins an occasion, None for one that goes on with it. OverLimit."""
    if occasion_begun(tx, pace):
        return None
    found = limit_reached(tx, pace, at, person_id)
    if found is not None:
        raise found
    return pace.occasion


def occasion_begun(tx: Tx, pace: AnswerLimits) -> bool:
    """Whether a call was counted for that occasion before."""
    return tx.has(f"SELECT 1 {COUNTED_OCCASIONS} AND occasion = ?", pace.occasion)


def limit_reached(tx: Tx, pace: AnswerLimits, at: int, person_id: int | None) -> OverLimit | None:
    """Of the limits that are reached, the one that holds longest.

    What lies further ahead than a period is long was counted before the clock was set back.
    """
    own, minute, pause = "AND call.person_id = ? ", (at - MINUTE_MS, at + MINUTE_MS), pace.cooldown_ms or 0
    day = (pace.day_since - 1, pace.day_until)
    limits = (
        ("cooldown", pace.cooldown_ms and 1, (at - pause, at + pause), own),
        ("person_minute", pace.person_minute, minute, own),
        ("person_day", pace.person_day, day, own),
        ("global_minute", pace.global_minute, minute, ""),
        ("global_day", pace.global_day, day, ""),
    )
    met: list[OverLimit] = []
    for name, most, (after, before), who in limits:
        if most is None:
            continue
        # The oldest of the newest `most`: when it is out of the period, there is room again.
        sql = (
            f"SELECT call.at {COUNTED_OCCASIONS} AND call.at > ? AND call.at < ? {who}ORDER BY call.at DESC LIMIT 1 "
            "OFFSET ?"
        )
        oldest = tx.value(sql, after, before, *((person_id,) if who else ()), most - 1)
        if oldest is not None:
            met.append(OverLimit(name, (pace.day_until if name.endswith("day") else oldest + at - after) - at))
    return max(met, key=lambda each: each.wait_ms, default=None)


def tell_limit_once(tx: Tx, person_id: int, window: str, since: int, at: int) -> bool:
    """Whether a person is to be told of a limit: not if they were told of one of that window since then."""
    sql = (
        "INSERT INTO told (person_id, period, at) VALUES (?, ?, ?) ON CONFLICT (person_id, period) "
        "DO UPDATE SET at = excluded.at WHERE told.at < ? OR told.at > excluded.at"
    )
    told = tx.run(sql, person_id, window, at, since)
    return told == 1


SELECT_CALL = """SELECT at, cause, model, prompt_tokens, cached_tokens, output_tokens, cost,
    coalesce(settled_at, at) - at, state, written_tokens, reasoning_tokens, counted FROM call """

USED_BY_CALL = """SELECT CASE state WHEN 'released' THEN 0 ELSE calls END AS calls,
    CASE state WHEN 'reserved' THEN reserved_cost ELSE cost END AS cost,
    CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens + output_tokens END AS tokens,
    prompt_tokens, cached_tokens, CASE state WHEN 'reserved' THEN reserved_cost ELSE 0 END AS held_cost,
    CASE state WHEN 'reserved' THEN reserved_tokens ELSE 0 END AS held_tokens FROM call WHERE at >= ? """

SELECT_USE = """SELECT at, chat_id, cause, CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens END,
    cached_tokens, output_tokens, CASE state WHEN 'reserved' THEN reserved_cost ELSE cost END, person_id FROM call """
IS_USED = "AND state <> 'released' "

SUM_USED = """SELECT coalesce(sum(calls), 0), coalesce(sum(cost), 0), coalesce(sum(tokens), 0),
    coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), coalesce(sum(held_cost), 0),
    coalesce(sum(held_tokens), 0) FROM """

SLOT_MS = 900_000
"""Calls that are over are summed by quarters of an hour (table `spent`), with which the days of all zones begin."""

UNSUMMED = 8
"""So many newest calls, and what is in flight, are counted one by one."""

SUMMED_KEY = "spent_upto"
SUMMED = f"coalesce((SELECT {META_AT} FROM meta WHERE key = '{SUMMED_KEY}'), 0)"
"""The number of the last call that is in the sums."""

SUM_CALLS = f"""INSERT INTO spent (slot, cause, uncounted, calls, cost, tokens, prompt_tokens, cached_tokens)
    SELECT at / {SLOT_MS}, cause, uncounted, sum(CASE state WHEN 'released' THEN 0 ELSE calls END), sum(cost),
    sum(prompt_tokens + output_tokens), sum(prompt_tokens), sum(cached_tokens) FROM call WHERE {{}}
    GROUP BY at / {SLOT_MS}, cause, uncounted ON CONFLICT (slot, cause, uncounted) DO UPDATE SET
    calls = spent.calls + excluded.calls, cost = spent.cost + excluded.cost, tokens = spent.tokens + excluded.tokens,
    prompt_tokens = spent.prompt_tokens + excluded.prompt_tokens,
    cached_tokens = spent.cached_tokens + excluded.cached_tokens"""


def _used(tx: Tx, since: int, period: BudgetPeriod | None, **of: int | str | None) -> Row:
    """What the calls since that instant come to, of all or those `of` a chat, a person or a cause: how many, money,
    tokens, those of prompts and cached ones, and what of the money and the tokens is reserved.
    """
    chosen = {name: value for name, value in of.items() if value is not None}
    where = (IS_COUNTED[period] if period is not None else "") + "".join(f"AND {name} = ? " for name in chosen)
    values = tuple(chosen.values())
    if not chosen.keys() <= {"cause"}:
        return tx.row(f"{SUM_USED} ({USED_BY_CALL}{where}) AS used", since, *values)
    slot = -(-since // SLOT_MS)
    summed = f"SELECT calls, cost, tokens, prompt_tokens, cached_tokens, 0, 0 FROM spent WHERE slot >= ? {where}"
    sql = (
        f"{SUM_USED} ({USED_BY_CALL} AND id > {SUMMED} {where} UNION ALL {summed} "
        f"UNION ALL {USED_BY_CALL} AND at < ? AND id <= {SUMMED} {where}) AS used"
    )
    return tx.row(sql, since, *values, slot, *values, since, slot * SLOT_MS, *values)


def _sum_ended(tx: Tx) -> None:
    """Calls before the first one in flight go into the sums, once there are enough of them."""
    upto, newest = tx.row(f"SELECT {SUMMED}, coalesce((SELECT max(id) FROM call), 0)")
    if newest - upto < UNSUMMED:
        return
    tx.hold_counts()
    upto, newest = tx.row(f"SELECT {SUMMED}, coalesce((SELECT max(id) FROM call), 0)")
    # Of the bare number SQLite would look for the least by reading one call after the other.
    flying = tx.value("SELECT min(id + 0) FROM call WHERE state = 'reserved'")
    last = newest if flying is None else flying - 1
    tx.run(SUM_CALLS.format("id > ? AND id <= ?"), upto, last)
    tx.set_meta(SUMMED_KEY, max(last, upto))


def sum_again(tx: Tx, after: int, before: int | None = None) -> None:
    """Calls from an instant on, up to another, are otherwise than they were summed (ms, None: all later ones)."""
    first, end = after // SLOT_MS, NO_END if before is None else before // SLOT_MS + 1
    tx.run("DELETE FROM spent WHERE slot >= ? AND slot < ?", first, end)
    # A number above the newest one that is left may be given again.
    upto = min(tx.number(f"SELECT {SUMMED}"), tx.number("SELECT max(id) FROM call"))
    tx.set_meta(SUMMED_KEY, upto)
    tx.run(SUM_CALLS.format("at >= ? AND at < ? AND id <= ?"), first * SLOT_MS, end * SLOT_MS, upto)


CHARGE = """UPDATE call SET state = 'lost', settled_at = ?, prompt_tokens = reserved_tokens, cost = reserved_cost,
    counted = 'reserved' WHERE state = 'reserved' """
"""Calls in flight cost what was reserved for them."""

RELEASE = "UPDATE call SET state = 'released', settled_at = ? WHERE state = 'reserved' "

NO_END = 1 << 40
"""A quarter of an hour that never comes."""

PERSON_CALLS = "person_calls"
"""The limit that is met when a person caused as many calls of a kind in a day as they may."""

NO_CHAT = 0
"""Stands for no chat: what the installation needed for itself."""

ROUNDING = 1e-9
"""Sums of money are floats: 0.1 + 0.1 + 0.1 must fit into 0.3."""


OLD_RATIO_SHARE = 0.9
"""How much of the old ratio stays with each new count."""

SMALLEST_SAMPLE = 100
"""Estimated tokens below which a count says nothing: what a server adds to every prompt outweighs the text."""

WILDEST = 4.0
"""A count so many times our estimate, or less than that part of it, is a picture or an error of the server."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a call may cost at most, and the limits it must fit in; day and month begin at these ms.

    `estimated` is the bare offline estimate of the whole prompt in tokens, 0 for what is no text; `own_tokens` is what
    all calls of this cause together may use in a day, `person_calls` how many of them that person may cause; `pace` is
    how often people may be answered, for a call that may be the first of an answer.
    """

    cause: CallCause
    model: str
    tokens: int
    cost: float
    limits: BudgetLimits
    day_since: int
    month_since: int
    estimated: int = 0
    own_tokens: int | None = None
    person_calls: int | None = None
    pace: AnswerLimits | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a call really cost; `usage.returned` says whether the server counted.

    Else it is our estimate, or, when it is `reserved`, what was reserved.
    """

    call_id: int
    usage: Usage
    cost: float
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class CallAccount:
    """On whose account a call goes; what comes before a turn may have no session yet."""

    session_id: int | None
    chat_id: int
    turn_id: int | None = None
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class TurnTotals:
    """What the calls of one turn came to, and the model of the last; `watchers` are the direct chats in which turns are
    told of, each with the person who wanted it."""

    calls: int
    prompt: int
    cached: int
    output: int
    cost: float
    model: str
    watchers: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class _Check:
    """One pair of limits: in money and in tokens, and which calls since when count for it."""

    name: str
    money: float | None
    tokens: int | None
    since: int
    of: Mapping[str, int | str]
    period: BudgetPeriod | None = None

    def used(self, tx: Tx) -> Row:
        """The use that counts."""
        return _used(tx, self.since, self.period, **self.of)


def _checks(limits: BudgetLimits, day: int, month: int, owner: CallAccount) -> Iterator[_Check]:
    """The limits that there are for a call on that account."""
    every = [
        _Check("day", limits.day_money, limits.day_tokens, day, {}, "day"),
        _Check("month", limits.month_money, limits.month_tokens, month, {}, "month"),
        _Check("total", limits.total_money, limits.total_tokens, 0, {}, "total"),
    ]
    for since, ending, here, person in (
        (day, "", (limits.chat_money, limits.chat_tokens), (limits.person_money, limits.person_tokens)),
        (
            month,
            "_month",
            (limits.chat_month_money, limits.chat_month_tokens),
            (limits.person_month_money, limits.person_month_tokens),
        ),
    ):
        period: BudgetPeriod = "month" if ending else "day"
        every.append(_Check(f"chat{ending}", *here, since, {"chat_id": owner.chat_id}, period))
        if owner.person_id is not None:
            every.append(_Check(f"person{ending}", *person, since, {"person_id": owner.person_id}, period))
    return (check for check in every if check.money is not None or check.tokens is not None)


def reserve_call(tx: Tx, reservation: Reservation, at: int, owner: CallAccount) -> ModelCall:
    """Reserve, or raise OverLimit, or OverBudget naming the limit that the call would pass.

    What nobody asked for is on nobody's account.
    """
    tx.hold_counts()
    occasion = admit_occasion(tx, reservation.pace, at, owner.person_id) if reservation.pace is not None else None
    owner = replace(owner, person_id=None) if reservation.cause in UNASKED else owner
    day, cause = reservation.day_since, reservation.cause
    checks = [*_checks(reservation.limits, day, reservation.month_since, owner)]
    if reservation.own_tokens is not None:
        checks.append(_Check(cause, None, reservation.own_tokens, day, {"cause": cause}))
    if reservation.person_calls is not None:
        of = {"cause": cause, "person_id": owner.person_id}
        made = _used(tx, day, None, **of)[0]
        if made >= reservation.person_calls:
            raise _over(PERSON_CALLS, reservation.person_calls, made, 0, 1)
    for check in checks:
        _, money, tokens, _, _, held_money, held_tokens = check.used(tx)
        if check.money is not None and reservation.cost and money + reservation.cost > check.money + ROUNDING:
            raise _over(f"{check.name}_money", check.money, money, held_money, reservation.cost)
        if check.tokens is not None and tokens + reservation.tokens > check.tokens:
            raise _over(f"{check.name}_tokens", check.tokens, tokens, held_tokens, reservation.tokens)
    number = tx.insert(
        "call",
        turn_id=owner.turn_id,
        session_id=owner.session_id,
        chat_id=owner.chat_id,
        person_id=owner.person_id,
        cause=cause,
        model=reservation.model,
        state="reserved",
        at=at,
        reserved_tokens=reservation.tokens,
        reserved_cost=reservation.cost,
        estimated_tokens=reservation.estimated,
        occasion=occasion,
        boot=tx.boot,
    )
    return ModelCall(number, cause, reservation.tokens, reservation.cost)


def budget_pressure(
    tx: Tx, limits: BudgetLimits, day: int, month: int, chat_id: int, person_id: int | None
) -> BudgetPressure:
    """The fullest of the limits that a call for that person in that chat counts for; day and month begin at these ms."""
    fullest = BudgetPressure()
    for check in _checks(limits, day, month, CallAccount(None, chat_id, person_id=person_id)):
        _, money, tokens, *_ = check.used(tx)
        for kind, used, most in (("money", money, check.money), ("tokens", tokens, check.tokens)):
            share = 0.0 if most is None else (float(used) / most if most else 1.0)
            if share > fullest.share:
                fullest = BudgetPressure(share, f"{check.name}_{kind}")
    return fullest


def _over(name: str, most: float, counted: float, held: float, needed: float) -> OverBudget:
    """`held` of what is `counted` is reserved by calls under way."""
    return OverBudget(name, (counted - held) / most, held / most, needed / most, most) if most else OverBudget(name)


def settle_call(tx: Tx, settlement: Settlement, at: int) -> bool:
    """Replace the reservation by what the call cost; False when it was settled, charged or released before."""
    usage = settlement.usage
    counted = "returned" if usage.returned else "reserved" if settlement.reserved else "estimated"
    settled = tx.one(
        "UPDATE call SET state = 'settled', settled_at = ?, prompt_tokens = ?, cached_tokens = ?, output_tokens = ?, "
        "cost = ?, counted = ?, written_tokens = ?, reasoning_tokens = ? WHERE id = ? AND state = 'reserved' "
        "RETURNING model, estimated_tokens",
        at,
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        settlement.cost,
        counted,
        usage.written_tokens,
        usage.reasoning_tokens,
        settlement.call_id,
    )
    if settled is not None and usage.returned and usage.prompt_tokens:
        model, estimated = settled
        _calibrate(tx, model, estimated, usage.prompt_tokens)
    tx.at_end(_sum_ended)
    return settled is not None


def _calibrate(tx: Tx, model: str, estimated: int, counted: int) -> None:
    """How a model counts beside our estimate, as a moving average (PROMPT_ECONOMICS 6: .9 and .1)."""
    if estimated >= SMALLEST_SAMPLE:
        seen = min(max(counted / estimated, 1 / WILDEST), WILDEST)
        sql = (
            "INSERT INTO counting (model, ratio) VALUES (?, ?) ON CONFLICT (model) "
            f"DO UPDATE SET ratio = {OLD_RATIO_SHARE} * counting.ratio + {1 - OLD_RATIO_SHARE} * excluded.ratio"
        )
        tx.at_end(lambda tx: tx.run(sql, model, seen))


def charge_call(tx: Tx, call_id: int, at: int) -> None:
    """A call whose cost nobody knows (lost, cut, cancelled) costs what was reserved for it."""
    tx.run(CHARGE + "AND id = ?", at, call_id)


def charge_reserved(tx: Tx, turn_id: int, at: int) -> None:
    """What a turn has in flight costs what was reserved for it."""
    tx.run(CHARGE + "AND turn_id = ?", at, turn_id)


def release_reserved(tx: Tx, turn_id: int, at: int) -> None:
    """What a turn has in flight was refused by the server."""
    tx.run(RELEASE + "AND turn_id = ?", at, turn_id)


def release_call(tx: Tx, call_id: int, at: int) -> None:
    """A call that the server refused costs nothing."""
    tx.run(RELEASE + "AND id = ?", at, call_id)


def end_call(tx: Tx, call: tuple[int, ReservationFate] | None, at: int) -> None:
    """A call that failed, if there was one: what becomes of its reservation."""
    if call is not None:
        (charge_call if call[1] == "charge" else release_call)(tx, call[0], at)


class Ledger(Repository):
    """What was spent, and whether more may be."""

    @reads
    def spend(
        self,
        tx: Tx,
        since: int,
        chat_id: int | None = None,
        person_id: int | None = None,
        *,
        period: BudgetPeriod | None = None,
    ) -> Spend:
        """What was used since that instant: in all chats or one, for everybody or one person.

        With a `period` only what its limits count.
        """
        calls, money, tokens, prompt, cached, reserved_money, reserved_tokens = _used(
            tx, since, period, chat_id=chat_id, person_id=person_id
        )
        return Spend(since, float(money), tokens, calls, prompt, cached, float(reserved_money), reserved_tokens)

    pressure = reading(budget_pressure)

    @reads
    def used(self, tx: Tx, since: int, chats: Collection[int] | None = None) -> tuple[CallUse, ...]:
        """Every call since that instant (ms), oldest first, None: of all chats; what is in flight counts as reserved."""
        here = "" if chats is None else f"AND chat_id IN ({placeholders(chats)}) "
        return tx.all(f"{SELECT_USE}WHERE at >= ? {here}{IS_USED}ORDER BY at, id", since, *(chats or ()), to=CallUse)

    @reads
    def used_by_cause(self, tx: Tx, since: int) -> tuple[CallUse, ...]:
        """As `used`, those of a quarter of an hour and a cause together, of no chat in particular."""
        slot = -(-since // SLOT_MS)
        sql = (
            f"SELECT slot * {SLOT_MS}, {NO_CHAT}, cause, prompt_tokens, cached_tokens, tokens - prompt_tokens, cost "
            "FROM spent WHERE slot >= ? AND calls > 0"
        )
        summed = tx.all(sql, slot, to=CallUse)
        alone = f"at >= ? AND (id > {SUMMED} OR at < ?) "
        return (*summed, *tx.all(f"{SELECT_USE}WHERE {alone}{IS_USED}", since, slot * SLOT_MS, to=CallUse))

    @reads
    def largest_chats(self, tx: Tx, since: int, most: int) -> tuple[int, ...]:
        """The chats that used most tokens since that instant (ms), the largest first."""
        tokens = "CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens + output_tokens END"
        # The plus keeps SQLite from reading the calls of all times, chat by chat.
        largest = f"GROUP BY +chat_id ORDER BY sum({tokens}) DESC, chat_id LIMIT ?"
        return tx.ids(f"SELECT chat_id FROM call WHERE at >= ? {IS_USED}{largest}", since, most)

    @reads
    def recent(self, tx: Tx, limit: int) -> tuple[RecentCall, ...]:
        """The newest calls of all chats, newest first."""
        return tx.all(f"{SELECT_CALL}ORDER BY id DESC LIMIT ?", limit, to=RecentCall)

    @reads
    def last_talk(self, tx: Tx, chat_id: int) -> CallUse | None:
        """The last settled call of a chat that was made for a reply; those for digests and pictures do not count."""
        sql = (
            "SELECT at, chat_id, cause, prompt_tokens, cached_tokens, output_tokens, cost FROM call WHERE chat_id = ? "
            "AND state = 'settled' AND cause IN ('reply', 'followup', 'tool', 'heartbeat', 'join') "
            "ORDER BY id DESC LIMIT 1"
        )
        return tx.one(sql, chat_id, to=CallUse)

    @reads
    def turn_totals(self, tx: Tx, turn_id: int) -> TurnTotals:
        """What the calls of that turn came to, and who is told."""
        sql = (
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), "
            "(SELECT model FROM call WHERE turn_id = ? ORDER BY id DESC LIMIT 1) FROM call WHERE turn_id = ?"
        )
        calls, prompt, cached, output, cost, model = tx.row(sql, turn_id, turn_id)
        watchers = tx.all(
            "SELECT chat_id, trace.person_id FROM trace JOIN chat ON chat.id = chat_id WHERE kind = 'dm' AND gone = 0 "
            "ORDER BY chat_id"
        )
        return TurnTotals(calls, prompt, cached, output, float(cost), model or "", watchers)

    @reads
    def ratio(self, tx: Tx, model: str) -> float:
        """How many tokens that model counted for each that we estimated; 1 before it returned a count."""
        found = tx.value("SELECT ratio FROM counting WHERE model = ?", model)
        return 1.0 if found is None else float(found)

    @reads
    def used_since(self, tx: Tx, signature: str, model: str, since: int) -> bool:
        """Whether that model was sent that prefix, in any chat, at `since` (ms) or later, and took it."""
        sql = (
            "SELECT 1 FROM call JOIN turn ON turn.id = call.turn_id JOIN epoch ON epoch.id = turn.epoch_id "
            "WHERE call.at >= ? AND call.state = 'settled' AND signature = ? AND call.model = ? LIMIT 1"
        )
        return tx.has(sql, since, signature, model)

    @writes
    def reserve(self, tx: Tx, session_id: int, reservation: Reservation, at: int) -> ModelCall:
        """Reserve a call that belongs to no turn; OverBudget when a limit would be passed."""
        chat_id = tx.value("SELECT chat_id FROM session WHERE id = ?", session_id)
        return reserve_call(tx, reservation, at, CallAccount(session_id, chat_id))

    @writes
    def book(self, tx: Tx, chat_id: int, reservation: Reservation, at: int, person_id: int | None = None) -> ModelCall:
        """Reserve a call on the account of a chat, NO_CHAT for none, and of whoever asks; OverBudget beyond a limit."""
        return reserve_call(tx, reservation, at, CallAccount(None, chat_id, None, person_id))

    @reads
    def reached_limit(self, tx: Tx, person_id: int, pace: AnswerLimits, at: int) -> OverLimit | None:
        """The limit that an answer to that person would meet now; none when it was begun before."""
        return None if occasion_begun(tx, pace) else limit_reached(tx, pace, at, person_id)

    @writes
    def keep_shortage(self, tx: Tx, chat_id: int, person_id: int, error: OverBudget, at: int) -> None:
        """Keep by how much a limit had no room for an answer to that person there."""
        told = json.dumps((error.limit, error.used, error.held, error.needed, error.most))
        tx.put("effect", "key", key=f"{NO_ROOM_KEY}{chat_id}:{person_id}", result=told, at=at)

    @reads
    def last_shortage(self, tx: Tx, chat_id: int, person_id: int, since: int) -> OverBudget | None:
        """What was kept of them last, at `since` (ms) or later."""
        key = f"{NO_ROOM_KEY}{chat_id}:{person_id}"
        told: str | None = tx.value("SELECT result FROM effect WHERE key = ? AND at >= ?", key, since)
        return None if told is None else OverBudget(*json.loads(told))

    settle = writing(settle_call)
    charge = writing(charge_call)
    release = writing(release_call)
    charge_turn = writing(charge_reserved)

    @writes
    def reset_budget(self, tx: Tx, period: BudgetPeriod, since: int, person_id: int | None, at: int) -> None:
        """The limits of that period, which began at `since` (ms), count from now on; what is in flight still counts."""
        bit = 1 << BUDGET_PERIODS.index(period)
        sql = "UPDATE call SET uncounted = uncounted | ? WHERE at >= ? AND uncounted & ? = 0 AND state <> 'reserved'"
        tx.run(sql, bit, since, bit)
        sum_again(tx, since)
        tx.put("recount", "period", period=period, person_id=person_id, at=at)

    @reads
    def budget_resets(self, tx: Tx) -> Mapping[BudgetPeriod, BudgetReset]:
        """When the limits of each period last began anew, and on whose word."""
        found = tx.all(
            "SELECT period, coalesce(person.name, ''), at FROM recount LEFT JOIN person ON person.id = person_id"
        )
        return {period: BudgetReset(name, at) for period, name, at in found}
