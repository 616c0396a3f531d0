"""How often people are answered: the limits of an occasion, and what is said to who meets one. The store counts."""

import math
from collections.abc import Mapping

from bot.config.limits import TalkLimits
from bot.errors import OverLimit
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.store.switches import Switches
from bot.store.views import Waiting
from bot.text.dates import day_start, next_local_time
from bot.text.script import Script
from bot.types.duration import MINUTE_MS
from bot.types.event import Event
from bot.types.log import Log
from bot.types.occasion import Occasion
from bot.types.outgoing import Draft
from bot.types.pace import Pace
from bot.types.people import Person

OWN = ("cooldown", "person_minute", "person_day")
"""Limits of one person; the others hold for all together."""


async def current(switches: Switches, rules: TalkLimits) -> TalkLimits:
    """The limits that hold now: the owner's word comes before the configuration."""
    return holding(rules, await switches.limits())


def holding(rules: TalkLimits, said: Mapping[str, str]) -> TalkLimits:
    """The same when the owner's word is known."""
    return TalkLimits.model_validate({**rules.model_dump(), **said}) if said else rules


def calling(batch: tuple[Event, ...], waiting: Waiting) -> tuple[Event, ...]:
    """What of a batch asks for an answer now: what is parked was counted when its own call failed."""
    return tuple(event for event in batch if event.id not in waiting.standing.parked) or batch


class Limiting:
    """Stands before every call that a person causes."""

    def __init__(self, store: Store, clock: Clock, rules: TalkLimits, words: Words, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._rules = rules
        self._words = words
        self._log = log

    def pace(self, person: Person | None, batch: tuple[Event, ...], said: Mapping[str, str]) -> Pace:
        """The limits for an answer to these messages, when that is the owner's word.

        Those of one person are not for owners, nor if nobody asked.
        """
        rules, tz = holding(self._rules, said), self._words.tz(self._words.zone)
        now, first = self._clock.now(), min(event.id for event in batch)
        since, until = day_start(now, tz), next_local_time(now, 0, tz)
        if person is None or person.is_owner:
            return Pace(first, since, until, None, None, None, rules.global_minute, rules.global_day)
        cooldown = None if rules.cooldown_seconds is None else rules.cooldown_seconds * 1000
        return Pace(
            first, since, until, cooldown, rules.person_minute, rules.person_day, rules.global_minute, rules.global_day
        )

    async def sift(self, batch: tuple[Event, ...], waiting: Waiting) -> tuple[Event, ...]:
        """The part of a batch to answer first: whoever reached their own limit does not hold up the others.

        What is parked waits for a call that is answered.
        """
        writers = {event.person_id: waiting.people[event.person_id] for event in batch}
        if len(writers) == 1:
            return batch
        over, asking = set(), calling(batch, waiting)
        for number, person in writers.items():
            pace = self.pace(person, asking, waiting.limits)
            error = await self._store.refusals.over(person.id, pace, self._clock.now())
            if error is not None and error.limit in OWN:
                over.add(number)
        others = tuple(event for event in batch if event.person_id not in over)
        return others if any(event.id not in waiting.standing.parked for event in others) else batch

    async def refuse(self, occasion: Occasion, error: OverLimit) -> None:
        """Take the messages off the queue; who called is told when to try again, unless they were told just now.

        What others wrote beside somebody who reached their own limit stays on the queue. A bot is told nothing.
        """
        now, person = self._clock.now(), occasion.person
        rules = await current(self._store.switches, self._rules)
        refused = [event for event in occasion.answering if error.limit not in OWN or event.person_id == person.id]
        receipts = "\n".join(occasion.receipts)
        notice = ""
        if rules.notify and occasion.why != "window" and not person.is_bot:
            notice = "\n".join((*occasion.receipts, self._text(error, self._words.script(person))))
        by_day = error.limit.endswith("day")
        pause = (rules.cooldown_seconds or 0) * 1000 if error.limit == "cooldown" else 0
        since = day_start(now, self._words.tz(self._words.zone)) if by_day else now - max(MINUTE_MS, pause) + 1
        said = await self._store.refusals.limit(
            occasion.chat.id, person.id, tuple(event.id for event in refused),
            (Draft(notice, "notice") if notice else None, Draft(receipts, "notice") if receipts else None),
            ("day" if by_day else "minute", since), now,
        )  # fmt: skip
        self._log.warning("over_limit", chat=occasion.chat.id, person=person.id, limit=error.limit, said=said)

    def _text(self, error: OverLimit, script: Script) -> str:
        text = self._words.messages.text
        everybody = "" if error.limit in OWN else "_all"
        if error.limit.endswith("day"):
            return text(f"limited_day{everybody}", script, when=text("tomorrow", script))
        seconds = max(math.ceil(error.wait_ms / 1000), 1)
        for unit, size in (("seconds", 1), ("minutes", 60), ("hours", 3_600)):
            if seconds <= 90 * size or unit == "hours":
                when = text(f"in_{unit}", script, n=math.ceil(seconds / size))
                break
        return text(f"limited{everybody}", script, when=when)
