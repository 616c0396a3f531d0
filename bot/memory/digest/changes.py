"""Open tasks, plans and reminders that a digest says were changed, held against the talk. Pure."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from bot.core.clock import DAY_MS, Instant
from bot.core.memories import Memory, NewCommitment, NewMemory, Reminder
from bot.core.sessions import ChangedReminder
from bot.language.assertions import VOCABULARY, folded_plain, novelty, numbers, terms
from bot.language.time.dates import checked_when, days_beside, named_times, nudge_for
from bot.language.time.moments import squeezed
from bot.memory.digest.answer import ChangeState, DigestChange
from bot.memory.digest.request import KnownFacts, is_plan
from bot.memory.screening import harmless
from bot.memory.talk import ASKED, TalkEvidence, times
from bot.memory.transcript import DigestLine, TalkScope
from bot.text.clean import one_row
from bot.text.dates import local, local_day, ms_of
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.length import estimate_tokens
from bot.text.similarity import content_words

_TO_DAY_END_MS = DAY_MS - 1
TITLE_TOKENS, LEAST_CHARS = 40, 4
"""Longest new title, and least of a text without its day."""

LATE_MS = 7 * DAY_MS
"""So long after its day a plan may still be told done, off or moved."""

_ENDS = tuple(VOCABULARY.patterns[name] for name in ("failed", "over"))

_HOUR = re.compile(r"[T ]\d\d:")
_END_OF_DAY = time(23, 59, 59, 999_000)


def tells_an_end(grounds: TalkEvidence, text: str, lines: Iterable[DigestLine]) -> bool:
    """Whether one of these lines may tell that something is over: it is of it, or says no or that it is done, and does
    not ask."""
    wanted = terms(folded_plain(text))
    for line in lines:
        parts = grounds.parts((line,))
        for part in parts[:-1] if ASKED.search(line.text) else parts:
            if wanted & part.terms or part.denied or any(cue.search(part.folded) for cue in _ENDS):
                return True
    return False


@dataclass(frozen=True, slots=True)
class ChangedPlans:
    """The changes of one answer, held against the talk."""

    changes: Sequence[DigestChange]
    known: KnownFacts
    grounds: TalkEvidence
    scope: TalkScope

    def tasks(self) -> Iterator[NewCommitment]:
        """Tasks as they are now; each names the open one that it changes."""
        open_ = {task.id: task for task in self.known.commitments}
        for one, lines in self._told("T"):
            task = open_.get(one.number)
            if task is None:
                continue
            tz = self._tz(task.owner_id)
            due = self._due(one, lines, task.due_at, tz, task.text)
            title = self._title(one, task.text, lines, local(due.at, tz) if due else None)
            if due is None and title == task.text:
                continue
            at = due or (Instant(task.due_at, task.dated == "time") if task.due_at is not None else None)
            yield NewCommitment(
                task.owner_id,
                task.chat_id,
                task.visibility,
                title,
                lines[-1].at,
                "digest",
                tuple(line.event_id for line in lines),
                at.at if at else None,
                nudge_for(at, lines[-1].at, self.scope.nudging, tz, [(line.text, line.at) for line in lines]),
                task.toward,
                task.dated if due is None else "time" if due.timed else "day",
                task.id,
            )

    def plans(self, replaced: Container[int]) -> Iterator[NewMemory]:
        """Plans that have another day or other words, each in the place of the known one that it changes.

        What a statement of the same digest takes the place of is left to that.
        """
        for one, plan, lines in self._plans():
            if one.state != "changed" or plan.id in replaced:
                continue
            tz = self.scope.tz
            # A day without a time is held by its noon; here it is due at its end, as of tasks.
            old = plan.observed_at if plan.dated == "time" else plan.observed_at - DAY_MS // 2 + _TO_DAY_END_MS
            due = self._due(one, lines, old, tz, plan.text)
            title = self._title(one, plan.text, lines, local(due.at, tz) if due else None)
            counts = days_beside(folded_plain(plan.text))  # the night before the 11th: its day is another one's
            dayless = plan.text if counts else _dayless(plan.text, plan.said_at or plan.created_at, tz)
            if content_words(title) < content_words(dayless):  # it only says less
                title = plan.text
            if due is None and title == plan.text:
                continue
            timed = due.timed if due is not None else plan.dated == "time"
            at = plan.observed_at if due is None else due.at if timed else due.at - _TO_DAY_END_MS + DAY_MS // 2
            text = title if title != plan.text or due is None else dayless
            yield NewMemory(
                plan.owner_id,
                plan.chat_id,
                plan.visibility,
                plan.kind,
                text,
                at,
                "digest",
                tuple(line.event_id for line in lines),
                plan.slot,
                plan.asked,
                subject=plan.subject,
                said_at=lines[-1].at,
                dated="time" if timed else "day",
                replaces=(plan.id,),
            )

    def over(self, state: ChangeState) -> tuple[int, ...]:
        """Plans that are off, or done: a line tells so; what is done may also be told from the plan's day on."""
        return tuple(
            plan.id
            for one, plan, lines in self._plans()
            if one.state == state
            and (tells_an_end(self.grounds, plan.text, lines) or (state == "done" and self._has_come(plan, lines)))
        )

    def _has_come(self, plan: Memory, lines: Sequence[DigestLine]) -> bool:
        return local_day(plan.observed_at, self.scope.tz) <= local_day(lines[-1].at, self.scope.tz)

    def _plans(self) -> Iterator[tuple[DigestChange, Memory, tuple[DigestLine, ...]]]:
        """Known plans whose day is to come or just went by, changed by whoever speaks; what somebody asked to keep by
        themselves."""
        known = {one.id: one for one in self.known.memories}
        for one in self.changes:
            plan, lines = known.get(one.number), self.grounds.cited(one.cited)
            if one.mark != "#" or plan is None or not lines or not is_plan(plan, lines[-1].at - LATE_MS):
                continue
            own = any(line.person_id == plan.owner_id for line in lines)
            if own or not plan.kept:
                yield one, plan, lines

    def reminders(self) -> Iterator[ChangedReminder]:
        """Reminders with other words or at another time."""
        open_ = {one.id: one for one in self.known.reminders}
        for one, lines in self._told("R"):
            reminder = open_.get(one.number)
            if reminder is None or reminder.promise:
                continue
            due = None if reminder.rule else self._reminded(one, lines, reminder)
            at = local(due, self._tz(reminder.person_id)) if due else None
            title = self._title(one, reminder.text, lines, at)
            if title != reminder.text or due is not None:
                yield ChangedReminder(one.number, title, due)

    def _told(self, mark: str) -> Iterator[tuple[DigestChange, tuple[DigestLine, ...]]]:
        for one in self.changes:
            lines = self.grounds.cited(one.cited)
            if one.mark == mark and one.state == "changed" and lines:
                yield one, lines

    def _tz(self, person: int) -> tzinfo:
        return self.scope.zones.get(person, self.scope.tz)

    def _title(self, one: DigestChange, old: str, lines: Sequence[DigestLine], due: datetime | None) -> str:
        """The new title where its words stand in the lines or in the old one, and it is still of that; else the old.

        The figures of the new day and hour, which are held against the lines by themselves, may stand in it.
        """
        new = one_row(one.text).strip()
        if not new or fold(new) == fold(old) or estimate_tokens(new) > TITLE_TOKENS:
            return old
        if not harmless(new, self.scope.screened) or not terms(folded_plain(new)) & terms(folded_plain(old)):
            return old
        named = f"{due:%Y} {due.month} {due.day} {due:%B} {due:%A} {due.hour} {due.minute} {due:%I %p}" if due else ""
        said = folded_plain("\n".join((old, named, *(self.grounds.own[line.number] for line in lines))))
        strange = novelty(folded_plain(new), said)[1] or numbers(folded_plain(new), all_of_them=False) - numbers(
            said, all_of_them=True
        )
        return old if strange else new

    def _due(
        self, one: DigestChange, lines: Sequence[DigestLine], old: int | None, tz: tzinfo, told: str
    ) -> Instant | None:
        """When it is due now: what the lines name, or the old time moved as far as a known day was; None: as before.

        `told` is what is known of it: the day before one that they name stays that.
        """
        if not one.when:
            return None
        found = checked_when(one.when, self._words(lines), tz)
        if (found is None or (found.precision == "day" and _HOUR.search(one.when))) and old is not None:
            # An hour alone is of the day that is known.
            # What is known may name it, too: on Friday, at the same time.
            plans = [(plan.text, lines[-1].at) for plan in self.known.memories if plan.dated]
            words = [*self._words(lines), *plans, (f"{local(old, tz):%Y-%m-%d}", lines[-1].at)]
            there = checked_when(one.when, words, tz)
            found = there if there is not None and there.precision == "time" else found
        if (
            found is None
            and old is not None
            and (day := _day(one.when)) is not None
            and (day in self._shifted(lines, old) or self._is_beside(day, f"{told}\n{one.text}", lines, tz))
        ):
            before = local(old, tz)
            at = ms_of(before.replace(year=day.year, month=day.month, day=day.day))
            return Instant(at, before.time() < _END_OF_DAY) if at != old else None
        if found is None or found.precision not in ("time", "day"):
            return None
        at = found.at if found.precision == "time" else found.at + _TO_DAY_END_MS
        return Instant(at, found.precision == "time") if at > lines[-1].at and at != old else None

    def _reminded(self, one: DigestChange, lines: Sequence[DigestLine], reminder: Reminder) -> int | None:
        """When it is said now: on a day without a time at the hour it had."""
        tz = self._tz(reminder.person_id)
        due = self._due(one, lines, reminder.due_at, tz, reminder.text)
        if due is None:
            return None
        before, after = local(reminder.due_at, tz), local(due.at, tz)
        at = (
            due.at
            if due.timed
            else ms_of(after.replace(hour=before.hour, minute=before.minute, second=0, microsecond=0))
        )
        return at if at > lines[-1].at and at != reminder.due_at else None

    def _words(self, lines: Sequence[DigestLine]) -> list[tuple[str, int]]:
        """What people said of days: in the lines that it cites, and elsewhere in the talk."""
        return [(words, line.at) for line, words in self.grounds.told if line.number in self.grounds.own]

    def _shifted(self, lines: Sequence[DigestLine], old: int) -> set[date]:
        """The days that an old one becomes where what is known of a day moved to one that the lines name."""
        was = local_day(old, self.scope.tz)
        told = [one for line in lines for one in times(line.text, line.at, self.scope.tz)]
        named = {days.first for one in told for days in one.choices if days.first == days.last}
        known = {local_day(memory.observed_at, self.scope.tz) for memory in self.known.memories if memory.dated}
        known |= {local_day(task.due_at, self.scope.tz) for task in self.known.commitments if task.due_at is not None}
        return {was + (new - day) for new in named for day in known if abs(new - day) <= timedelta(days=31)} | named

    def _is_beside(self, day: date, text: str, lines: Sequence[DigestLine], tz: tzinfo) -> bool:
        """Whether a text counts that day from one that the talk names: the night before the operation."""
        steps = days_beside(folded_plain(text))
        return any(checked_when(str(day - timedelta(days=step)), self._words(lines), tz) for step in steps)


def _day(when: str) -> date | None:
    try:
        return date.fromisoformat(when[:10])
    except ValueError:
        return None


def _dayless(text: str, said_at: int, tz: tzinfo) -> str:
    """A text without the days that it names, or as it is where little would be left."""
    folded, origin = squeezed(*fold_mapped(text))
    kept, cut = "", 0
    for one in named_times(folded, local_day(said_at, tz)):
        kept += unfold(text, origin, cut, one.start) if one.start > cut else ""
        cut = max(cut, one.end)
    kept = (kept + unfold(text, origin, cut, len(folded))).strip(" ,，") if cut else text
    return kept if len(kept) >= LEAST_CHARS else text
