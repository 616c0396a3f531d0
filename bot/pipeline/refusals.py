"""What happens instead of an answer: strangers, talk limits, budget limits, failures and their retries."""

import errno
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot import money
from bot.core.clock import MINUTE_MS
from bot.core.errors import ModelError, ModelFault, OverBudget, OverLimit, StatementError, StoreError
from bot.core.events import Button, Draft, Event
from bot.core.people import Chat, Person, Script
from bot.core.ports import Clock, Log
from bot.core.sessions import Occasion
from bot.core.speaking import UNCALLED, AnswerLimits
from bot.pipeline.configuration import Current
from bot.pipeline.ingest import OWN_PLATFORMS
from bot.store.events import WaitingChat
from bot.store.store import Store
from bot.text.clean import beside_id
from bot.text.dates import day_start, next_local_time

PERSON_LIMITS = ("cooldown", "person_minute", "person_day")
"""Limits of one person; the others hold for all together."""

OUTAGE_MS = 10 * MINUTE_MS
"""An outage is told once in a chat in so long (FAULTS D27: 10 min)."""

OF_MESSAGE: tuple[ModelFault, ...] = ("filtered", "overflow")
"""Faults that another message would not have."""

FIRST_WAIT_MS, LONGEST_WAIT_MS, MOST_TRIES = 1_000, 180_000, 8
"""FAULTS D5: 1 s, at most 3 min, 8 tries."""

MACHINE_ERRORS = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EACCES,
        errno.EPERM,
    )
)
"""Errors of the machine: with another message it would be the same."""


class Strangers:
    """Answers people who are not allowed yet."""

    def __init__(self, store: Store, clock: Clock, current: Current) -> None:
        self._store = store
        self._clock = clock
        self._current = current

    def text(self, key: str, script: str, **values: object) -> str:
        """A sentence in that script, the configured language for one who never wrote."""
        return self._current.words.messages.text(key, self._current.words.script_named(script), **values)

    async def closed(self, event: Event, chat: Chat, person: Person) -> None:
        """Say that nuan does not talk here, and who can change that; without a model."""
        via, account = await self._store.people.answer_to(event)
        here = await self._store.people.standing(chat.id, person.id)
        off = "off_wish" if event.why == "off" else "off_here"
        text = self.text(off if here.allowed else "closed_here", person.script)
        await self._store.outbox.answer(
            chat.id, (event.id,), (Draft(text, "notice", via, only_for=account if via else ""),), self._clock.now()
        )

    async def request_pairing(self, event: Event, chat: Chat, person: Person, *, always: bool = False) -> None:
        """Give a stranger a pairing code, or say that too many wait, and tell the owners; without a model."""
        via, account = await self._store.people.answer_to(event)

        def answer(code: str) -> Draft:
            key = "pair" if code else "pair_full"
            return Draft(self.text(key, person.script, code=code), "notice", via)

        def notice(code: str, script: str, owner: str) -> Draft:
            who = f"{chat.platform}:{account}"
            buttons = tuple(
                Button(self.text(f"button_{name}", script), f".ai {name} {code}", owner) for name in ("approve", "deny")
            )
            text = self.text("pair_notice", script, name=beside_id(person.name), account=who, code=code)
            return Draft(text, "notice", buttons=buttons)

        await self._store.people.request_pairing(
            event, person.id, chat.platform, answer, notice, self._clock.now(), always=always
        )


def unparked(batch: tuple[Event, ...], waiting: WaitingChat) -> tuple[Event, ...]:
    """What of a batch asks for an answer now: what is parked was counted when its own call failed."""
    return tuple(event for event in batch if event.id not in waiting.standing.parked) or batch


class TalkLimiter:
    """Stands before every call that a person causes."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log

    def pace(self, person: Person | None, batch: tuple[Event, ...]) -> AnswerLimits:
        """The limits for an answer to these messages; those of one person are not for owners, nor if nobody asked."""
        rules, tz = self._current.settings.limits, self._current.words.default_tz
        now, first = self._clock.now(), min(event.id for event in batch)
        since, until = day_start(now, tz), next_local_time(now, 0, tz)
        limits = AnswerLimits(first, since, until, global_minute=rules.global_minute, global_day=rules.global_day)
        if person is None or person.is_owner:
            return limits
        cooldown = None if rules.cooldown_seconds is None else rules.cooldown_seconds * 1000
        return replace(limits, cooldown_ms=cooldown, person_minute=rules.person_minute, person_day=rules.person_day)

    async def within_limits(self, batch: tuple[Event, ...], waiting: WaitingChat) -> tuple[Event, ...]:
        """The part of a batch to answer first: whoever reached their own limit does not hold up the others.

        What is parked waits for a call that is answered.
        """
        writers = {event.person_id: waiting.people[event.person_id] for event in batch}
        if len(writers) == 1:
            return batch
        over, asking = set(), unparked(batch, waiting)
        for number, person in writers.items():
            pace = self.pace(person, asking)
            error = await self._store.ledger.reached_limit(person.id, pace, self._clock.now())
            if error is not None and error.limit in PERSON_LIMITS:
                over.add(number)
        others = tuple(event for event in batch if event.person_id not in over)
        return others if any(event.id not in waiting.standing.parked for event in others) else batch

    async def refuse(self, occasion: Occasion, error: OverLimit) -> None:
        """Take the messages off the queue; who called is told when to try again, unless they were told just now.

        What others wrote beside somebody who reached their own limit stays on the queue. A bot is told nothing.
        """
        now, person = self._clock.now(), occasion.person
        rules = self._current.settings.limits
        refused = [
            event for event in occasion.answering if error.limit not in PERSON_LIMITS or event.person_id == person.id
        ]
        receipts = "\n".join(occasion.receipts)
        notice = ""
        if rules.notify and occasion.why != "window" and not person.is_bot:
            notice = "\n".join((*occasion.receipts, self._text(error, self._current.words.script(person))))
        by_day = error.limit.endswith("day")
        pause = (rules.cooldown_seconds or 0) * 1000 if error.limit == "cooldown" else 0
        since = day_start(now, self._current.words.default_tz) if by_day else now - max(MINUTE_MS, pause) + 1
        said = await self._store.outbox.limit(
            occasion.chat.id,
            person.id,
            tuple(event.id for event in refused),
            (Draft(notice, "notice") if notice else None, Draft(receipts, "notice") if receipts else None),
            ("day" if by_day else "minute", since),
            now,
        )
        self._log.warning("over_limit", chat=occasion.chat.id, person=person.id, limit=error.limit, said=said)

    def _text(self, error: OverLimit, script: Script) -> str:
        text = self._current.words.messages.text
        everybody = "" if error.limit in PERSON_LIMITS else "_all"
        if error.limit.endswith("day"):
            return text(f"limited_day{everybody}", script, when=text("tomorrow", script))
        seconds = max(math.ceil(error.wait_ms / 1000), 1)
        for unit, size in (("seconds", 1), ("minutes", 60), ("hours", 3_600)):
            if seconds <= 90 * size or unit == "hours":
                when = text(f"in_{unit}", script, n=math.ceil(seconds / size))
                break
        return text(f"limited{everybody}", script, when=when)


class BudgetRefusal:
    """Takes messages off the queue that no call may be made for."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log

    async def refuse(self, occasion: Occasion, error: OverBudget) -> None:
        """Say why, unless nobody called, a bot did, or it was said today; receipts are said in any case."""
        now, chat, person = self._clock.now(), occasion.chat, occasion.person
        numbers = tuple(event.id for event in occasion.answering)
        said = await self.told(chat.id, person)
        await self._store.ledger.keep_shortage(chat.id, person.id, error, now)
        lines = list(occasion.receipts)
        if not said and not person.is_bot and (occasion.why not in UNCALLED or occasion.receipts):
            lines.append(self.text(person, error))
        if lines:
            await self._store.outbox.answer(chat.id, numbers, (Draft("\n".join(lines), "notice"),), now, "refused")
        elif occasion.why == "window":
            await self._store.events.put_back(numbers, "silent", now)
        else:
            await self._store.events.finish(numbers, "silent")
        self._log.warning("over_budget", chat=chat.id, person=person.id, limit=error.limit, said=bool(lines))

    async def told(self, chat_id: int, person: Person) -> bool:
        """Whether nobody is to tell that person any more that a limit is reached: it was said there today."""
        if not self._current.settings.budget.notify:
            return True
        day, _ = money.periods(self._clock.now(), self._current.words.default_tz)
        anew = (await self._store.ledger.budget_resets()).get("day")
        return await self._store.events.was_refused(chat_id, person.id, max(day, anew.at if anew else 0))

    async def unanswered(self, chat_id: int, person: Person, error: ModelError) -> tuple[str, bool]:
        """What is said when no model answered, and whether that tells of an outage, which is told once.

        Nothing is said in a chat that was told just now, but to whoever sits at the machine. What is wrong with this one
        message is always told.
        """
        outage, chat = error.fault not in OF_MESSAGE, await self._store.people.chat(chat_id)
        alone = chat.platform in OWN_PLATFORMS and chat.kind == "dm"
        if outage and not alone and await self._store.turns.sorry(chat_id, self._clock.now() - OUTAGE_MS):
            return "", False
        return self._current.words.tell(person, f"model_failed_{error.fault}"), outage

    def text(self, person: Person, error: OverBudget) -> str:
        """The line, in the person's script."""
        text = partial(self._current.words.tell, person)
        return text("budget_over" if error.used >= 1 else "budget_short", limit=money.shortage(error, text))


def is_machine_error(error: Exception) -> bool:
    """Whether an error is not of the message at hand: nothing can be stored now, and nothing is counted for it."""
    if isinstance(error, OSError):
        return error.errno in MACHINE_ERRORS
    return isinstance(error, StoreError) and not isinstance(error, StatementError)


def retry_wait(tries: int) -> int | None:
    """In how many ms a message that failed so often is tried again, None: no more."""
    return min(FIRST_WAIT_MS << (tries - 1), LONGEST_WAIT_MS) if tries < MOST_TRIES else None


class FailureRetry:
    """Puts off what failed, and gives it up in the end."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log

    async def failed(self, chat_id: int, events: Sequence[Event], error: Exception) -> bool:
        """Count a try for these; without any it was the first that is due in the chat. StoreError as any write.

        False when there was none either.
        """
        self._log.error("answer_failed", chat=chat_id, events=[event.id for event in events], exc_info=error)
        numbers, now = tuple(event.id for event in events), self._clock.now()
        notice = await self._notice(events)
        name = type(error).__name__
        failed = partial(self._store.turns.failed, chat_id, numbers, name, retry_wait)
        try:
            counted, dead = await failed(notice, now)
        except StatementError as refused:
            if notice is None:
                raise
            self._log.error("notice_failed", exc_info=refused)
            counted, dead = await failed(None, now)
        if dead:
            self._log.error("retries_exhausted", chat=chat_id, events=dead, tries=MOST_TRIES, error=name)
        return bool(events or counted)

    async def _notice(self, events: Sequence[Event]) -> Draft | None:
        """What is said when they are given up: to who called, in their script; to nobody else, and to no bot."""
        try:
            for event in reversed(events):
                if event.kind != "message" or event.why in UNCALLED:
                    continue
                person = await self._store.people.person(event.person_id or 0)
                if not person.is_bot:
                    return Draft(self._current.words.tell(person, "went_wrong"), "notice")
        except Exception as error:  # noqa: BLE001 - what makes a message fail may be who wrote it
            self._log.error("notice_failed", exc_info=error)
        return None
