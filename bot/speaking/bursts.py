"""Many messages at once: how long to wait, who is still typing, which are answered together."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from bot.core.events import Event, Place
from bot.core.speaking import STOP_REASONS, BusyPolicy, Decision, PacedDecision, PendingMessages, QueueMarks, Situation

TYPING_MS = 10_000
"""How long a platform's word holds: Discord shows somebody as typing for this long, and says so anew every 8 s."""

REMEMBERED = 1_024
"""People who are remembered; the one heard of longest ago is forgotten first."""

WITHOUT_MODEL = ("command", "pair", "closed", "off")
"""What is done by itself, without a model."""

DEBOUNCE_MOST_MS = 3_000
"""The longest wait for what a person adds, from their first message on (issue: 3 s in all)."""

FOLLOW_MOST_MS = 60_000
"""A person who never pauses for a follow-up's silence is answered after this long all the same."""

RUSH_MS = 250
"""The third message for nuan in one chat within this time is a flood; as with copies, nobody types so fast."""

GATHER_MS, GATHER_MOST_MS = 2_000, 12_000
"""A flood is answered when it is over, 1 to 2 s after its last message, or 12 s after it began."""

QUEUE_MOST = 3
"""With `queue`: when more messages than this wait, they are answered together."""


class Typists:
    """The people who began to write and have not sent anything yet."""

    def __init__(self) -> None:
        self._since: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def typing(self, place: Place, account: str, at: int) -> None:
        """The account of that platform was seen typing there, at that time, ms."""
        key = (place.platform, place.external_id, account)
        self._since[key] = at
        self._since.move_to_end(key)
        if len(self._since) > REMEMBERED:
            self._since.popitem(last=False)

    def wrote(self, place: Place, account: str) -> None:
        """What they were typing is sent."""
        self._since.pop((place.platform, place.external_id, account), None)

    def still(self, platform: str, external_id: str, now: int) -> frozenset[str]:
        """The accounts that are typing in that place now."""
        return frozenset(
            account
            for (on, where, account), at in self._since.items()
            if on == platform and where == external_id and now - at < TYPING_MS
        )


@dataclass(frozen=True, slots=True)
class BurstRules:
    """What the operator decides about bursts; `debounce_ms` is the wait of the message's platform, 0 for none.

    `gathers`: messages may come before the last is answered, so that many of them are a flood.
    """

    busy: BusyPolicy = "collect"
    debounce_ms: int = 0
    followup_ms: int = 5_000
    gathers: bool = True


def with_deadline(decision: Decision, seen: Situation, waiting: PendingMessages, rules: BurstRules) -> PacedDecision:
    """The decision with the deadline that it has among the chat's other messages.

    What needs no model (commands, memory commands, stop words) never waits; what comes late has its own wait.
    """
    rush = PacedDecision(decision, waiting.rush_since, waiting.rush_until)
    apart = decision.action == "listen" or decision.why in (*WITHOUT_MODEL, *STOP_REASONS) or seen.is_memory_command
    if apart or seen.age_ms > rules.followup_ms:
        return rush
    due, since = decision.due_at, waiting.since or seen.at
    pauses = rules.debounce_ms and rules.busy != "queue"
    if decision.action == "follow" and not (pauses and waiting.calls):
        due = max(seen.at, min(due, since + FOLLOW_MOST_MS))
    elif pauses:
        # Also what follows a call that still waits: 小暖 and, in a line of its own, what she is called for.
        due = max(seen.at, min(seen.at + rules.debounce_ms, since + DEBOUNCE_MOST_MS))
        rush = replace(rush, joins=True)
    rush = _rush(rush, seen.at, waiting) if rules.gathers else PacedDecision(rush.decision, joins=rush.joins)
    if rush.rush_until > seen.at:
        due = rush.rush_until if decision.action == "follow" else max(due, rush.rush_until)
    action = "follow" if due > seen.at else decision.action
    return replace(rush, decision=replace(decision, action=action, due_at=due))


def _rush(found: PacedDecision, at: int, waiting: PendingMessages) -> PacedDecision:
    """The time in which a flood is gathered, if there is one after this message."""
    # Only what came before this very instant: a clock that stands still or was set back counts no rate.
    fast = at - RUSH_MS < waiting.before <= waiting.last < at
    if not at < found.rush_until <= at + GATHER_MOST_MS:
        return replace(found, rush_since=at, rush_until=at + GATHER_MS) if fast else replace(found, rush_until=0)
    if not fast or found.rush_until >= at + GATHER_MS // 2:
        return found
    return replace(found, rush_until=min(at + GATHER_MS, found.rush_since + GATHER_MOST_MS))


def due_batch(due: Sequence[Event], standing: QueueMarks, busy: BusyPolicy) -> tuple[Event, ...]:
    """What a chat's queue does next, of what is due in order; not empty.

    What failed before is handled by itself, so that only it fails. What is parked goes with what is answered after it
    and never alone: it would fail, be parked and be due again, for as long as a call waits.
    """
    found = _next([event for event in due if event.id not in standing.parked], standing.later, busy)
    if found[0].why in WITHOUT_MODEL or found[0].id in standing.tried:
        return found[:1]
    found = tuple(takewhile(lambda event: event.id not in standing.tried, found))
    numbers = {event.id for event in found}
    return tuple(
        event for event in due if event.id in numbers or (event.id in standing.parked and event.id < found[-1].id)
    )


def _next(due: Sequence[Event], later: Collection[int], busy: BusyPolicy) -> tuple[Event, ...]:
    """The first command that is due, or the messages before it.

    A command does not wait for the wait of what was said before it. With `queue` each message is one batch, unless more
    than QUEUE_MOST wait. Commands that came between the lines of a flood do not divide it.
    """
    lines = tuple(takewhile(lambda event: event.why not in WITHOUT_MODEL, due))
    divided = sum(one.why not in WITHOUT_MODEL and other.why in WITHOUT_MODEL for one, other in pairwise(due))
    if divided > QUEUE_MOST:
        lines = tuple(event for event in due if event.why not in WITHOUT_MODEL)
    ready = tuple(event for event in lines if event.id not in later)
    if not ready:
        alone = next((event for event in due if event.why in WITHOUT_MODEL and event.id not in later), None)
        return (alone,) if alone is not None else lines or tuple(due[:1])
    if busy == "queue" and len(ready) <= QUEUE_MOST:
        return ready[:1]
    return lines
