"""Closing sessions: each is told by exactly one digest, made by a model that is checked, or by the rule."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo

from bot.config.settings import Settings
from bot.context import CUT_LABEL
from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.errors import ModelError, OverBudget, StatementError
from bot.core.events import WISH_TAKEN, Event
from bot.core.models import Message
from bot.core.people import Audience, Chat, Script
from bot.core.ports import Clock, Log
from bot.core.sessions import CloseReason, Digest, ModelCall, Session
from bot.language.small_talk import is_casual
from bot.language.time.dates import comes_before
from bot.language.wishes.names import only_names
from bot.memory.digest.answer import CHECK_SHAPE as CHECK
from bot.memory.digest.answer import DIGEST_SHAPE, BrokenAnswer, read_check
from bot.memory.digest.request import (
    NOTHING,
    KnownFacts,
    is_plan,
    may_change_known,
    needs_model,
    request_text,
    touchable,
)
from bot.memory.digest.review import Review, checked, digest_of, review
from bot.memory.digest.rule import rule_digest
from bot.memory.supersession import merge_rule
from bot.memory.transcript import DigestLine, TalkScope
from bot.pipeline.calls import BackgroundGate, BackgroundWriter, ReserveAt, WritingTask
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.pipeline.refusals import is_machine_error
from bot.speaking.reminders import nudging_rules
from bot.store.digests import Digested
from bot.store.ledger import Reservation, Settlement
from bot.store.reminders import REMINDER_LABEL as REMINDER
from bot.store.store import Store
from bot.text.dates import next_local_time
from bot.text.fold import script_of
from bot.text.length import clip, estimate_tokens

TOLD = ("", CUT_LABEL, REMINDER, WISH_TAKEN)
"""The labels of lines that are told: people's, also what is left of one, nuan's, and what nuan said of reminders: it is
what "done" answers."""

LED_UP_MS = HOUR_MS
"""What was done without a model so long before the first answer of a DM's talk belongs to it: who "she" is may stand there."""

AROUND = 200
"""Lines before and after one in which a change of plans is looked for."""

MOST_TRIES = 12
"""After this many failed calls (about six hours) the rule makes the digest, so that a dead model loses nothing."""

OUTPUT_TOKENS = 1_600
"""Longest digest: an answer of sixteen statements and a few tasks has about 1,400."""

BROKEN_CHARS = 1_500
"""How much of a broken answer is shown to the model that is to mend it."""
CHECK_TOKENS = 800
"""Longest answer to the second look: what is right is not said again."""

UNUSABLE = ("cut", "invalid", "filtered", "overflow")
"""Faults of an answer that the same question would have again: then the rule makes the digest."""

CHANGED = ModelError("busy", "what it tells was changed meanwhile", final=True)
"""Why a digest under way is thrown away."""

Made = tuple[Digest, Settlement | None]
"""A digest, with the settlement of the call that made it when a model did."""

FIRST_WAIT_MS = 30_000
LONGEST_WAIT_MS = HOUR_MS
LONGEST_SHARED_MS = DAY_MS + HOUR_MS
"""Back-off while the model is down: 30 s, doubled each time, at most an hour; a short talk waits a day at most."""

SHORT_TOKENS = 60
"""A talk in which people said less waits for others of its chat: till the early hour, or the next full opening."""

OPEN = 20
"""Open tasks, and reminders, that a digest may settle or change; in a group those of all who are in it."""

WAITING: tuple[CloseReason, ...] = ("idle",)
"""How a talk ended that may wait; `/new`, a full log and the early hour end one for good."""


async def read_talk(store: Store, settings: Settings, chat_id: int, after: int, upto: int) -> tuple[DigestLine, ...]:
    """The messages and replies of a chat with after < number <= upto, as they are now; commands are none.

    What was forgotten, deleted or is not to be recorded is left out, and so is what is older than the chat wants kept.
    """
    events = await store.events.between(chat_id, after, upto)
    told = [event for event in events if event.kind in ("message", "bot") and event.label in TOLD]
    most = (await store.settings.context(chat_id)).recent_max
    told = told if most is None else told[max(0, len(told) - most) :]
    return tuple(_line(number, event, settings) for number, event in enumerate(told, 1))


async def read_talk_around(store: Store, settings: Settings, chat_id: int, event_id: int) -> tuple[DigestLine, ...]:
    """What was said in a chat around a line, in order: at most AROUND lines before it, and as many after it."""
    first, last = await store.events.around(chat_id, event_id, AROUND)
    return await read_talk(store, settings, chat_id, first - 1, last)


def _line(number: int, event: Event, settings: Settings) -> DigestLine:
    is_bot = event.kind == "bot"
    name = settings.bot.names[0] if is_bot else event.name
    return DigestLine(
        number, event.id, event.person_id, name, event.text, event.at, is_bot, event.marks, event.forwarded
    )


@dataclass(frozen=True, slots=True)
class _Failed:
    """An answer that is no digest: what is wrong with it, and the answer as far as there is one."""

    fault: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a digest is made of: whose session, its lines, and what is known that they may touch."""

    session: Session
    lines: tuple[DigestLine, ...]
    scope: TalkScope
    known: KnownFacts


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer that is a digest, as far as it stands, with what it cost."""

    review: Review
    answer: str
    settlement: Settlement


class DigestMaker:
    """Makes digests; stores none."""

    def __init__(
        self,
        store: Store,
        writer: BackgroundWriter,
        planner: Planner,
        clock: Clock,
        current: Current,
        thread: TextThread,
        log: Log,
    ) -> None:
        self._store = store
        self._writer = writer
        self._planner = planner
        self._clock = clock
        self._current = current
        self._thread = thread
        self._log = log
        self._gate = BackgroundGate(store.settings, current)

    async def told(self, session: Session) -> tuple[DigestLine, ...]:
        """What was said in a session, and in those that it tells with its own, as it is now."""
        return await read_talk(
            self._store, self._current.settings, session.chat_id, session.told_from, session.upto_event
        )

    async def able(self) -> bool:
        """Whether a model may make digests now."""
        return self._writer.able and await self._gate.allows("digest")

    def wanted(self, lines: tuple[DigestLine, ...]) -> bool:
        """Whether somebody said more than small talk, so that a model is to make the digest."""
        return needs_model(lines, lambda text: is_casual(text, self._current.settings.bot.names))

    async def make(
        self, session: Session, lines: tuple[DigestLine, ...], scope: TalkScope, known: KnownFacts = NOTHING
    ) -> Made:
        """The digest of a session; `known` is what it may touch. ModelError: it is to be tried later."""
        enough = session.digest_attempts >= MOST_TRIES
        if enough or not await self.able() or not self.wanted(lines):
            return await self._by_rule(_Asked(session, lines, scope, known)), None
        asked = _Asked(session, lines, scope, await self._thread.run(touchable, known, lines))
        try:
            task = await self._task(asked)
            found = await self._found(task, asked)
            if found is not None:
                return await self._checked(task, found, asked)
        except OverBudget as error:
            self._log.warning("over_budget", session=session.number, chat=scope.chat_id, limit=error.limit)
        except ModelError as error:
            if error.fault not in UNUSABLE:
                raise
        return await self._by_rule(_Asked(session, lines, scope, known)), None

    async def _found(self, task: WritingTask, asked: _Asked) -> _Read | None:
        """What an answer says; a broken one is asked for once more with its fault. None when that is broken too."""
        try:
            first = await self._ask(task, asked)
        except ModelError as error:
            if not (error.fault == "cut" and error.final):
                raise
            first = _Failed("cut: too long")
        if not isinstance(first, _Failed):
            return first
        second: _Read | _Failed = first
        try:
            second = await self._ask(self._told(task, first), asked)
        except ModelError as error:
            if error is CHANGED:
                raise
            second = _Failed(error.fault)
        finally:
            self._log_broken(asked.session, first, second)
        return None if isinstance(second, _Failed) else second

    async def _checked(self, task: WritingTask, found: _Read, asked: _Asked) -> Made:
        """The digest after a second look at it; without one it is the rule's, or is tried later (ModelError)."""
        if not found.review.answer.items and not found.review.answer.changes:
            return await self._digest(found.review, asked), found.settlement
        await self._store.ledger.settle(found.settlement, self._clock.now())
        note = self._instruction("check", task.script)
        lines, rows = await self._thread.run(found.review.second_look, asked.lines, asked.known)
        talk = task.text
        if lines != asked.lines:
            talk = await self._thread.run(request_text, lines, asked.scope, asked.known, self._clock.now())
        looked = replace(task, text=f"{talk}\n\n{note}\n{rows}", more=(), output_tokens=CHECK_TOKENS, shape=CHECK)
        async with self._writer.written(looked, self._reserving(asked)) as written:
            wrong, settlement = read_check(written.text), written.settlement
        if wrong is None:
            await self._store.ledger.settle(settlement, self._clock.now())
            self._log.warning(
                "digest_broken", session=asked.session.number, chat=asked.session.chat_id, tried=2, fault="check"
            )
            raise ModelError("invalid", "the second look is no list")
        whole = await self._thread.run(checked, found.review, wrong, asked.lines, asked.scope, asked.known)
        return await self._digest(whole, asked), settlement

    def _instruction(self, folder: str, script: Script) -> str:
        return self._current.value.texts.instructions[folder][script]

    def _told(self, task: WritingTask, failed: _Failed) -> WritingTask:
        """The task with what is wrong with its answer."""
        note = self._instruction("mend", task.script).replace("{fault}", failed.fault)
        shown = clip(failed.answer, BROKEN_CHARS)
        if shown.strip():
            return replace(task, more=(Message("assistant", shown), Message("user", note)))
        return replace(task, text=f"{task.text}\n\n{note}")

    async def _ask(self, task: WritingTask, asked: _Asked) -> _Read | _Failed:
        """One call; of a broken answer the cost is settled here, of a good one with the digest."""
        async with self._writer.written(task, self._reserving(asked)) as written:
            found = await self._thread.run(review, written.text, asked.lines, asked.scope, asked.known)
            if not isinstance(found, BrokenAnswer):
                return _Read(found, written.text, written.settlement)
            await self._store.ledger.settle(written.settlement, self._clock.now())
        return _Failed(found.fault, written.text)

    def _reserving(self, asked: _Asked) -> ReserveAt:
        async def reserve(reservation: Reservation, now: int) -> ModelCall:
            if await self.told(asked.session) != asked.lines:
                raise CHANGED
            return await self._store.ledger.reserve(asked.session.id, reservation, now)

        return reserve

    async def _digest(self, found: Review, asked: _Asked) -> Digest:
        return await self._thread.run(digest_of, found, asked.lines, asked.scope, asked.known)

    async def _task(self, asked: _Asked) -> WritingTask:
        """What a model is shown."""
        session, lines, now = asked.session, asked.lines, self._clock.now()
        step, _ = await self._planner.step(session.chat_id, None, now)
        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._current.words.language)
        text = await self._thread.run(request_text, lines, asked.scope, asked.known, now)
        return WritingTask(
            "digest", session.chat_id, script, text, OUTPUT_TOKENS, small=step != "full", shape=DIGEST_SHAPE
        )

    def _log_broken(self, session: Session, first: _Failed, second: _Read | _Failed) -> None:
        """One line of an answer that was no digest; `tried` 2 where none came of it."""
        again = isinstance(second, _Failed) and second is not first
        self._log.warning(
            "digest_broken",
            session=session.number,
            chat=session.chat_id,
            tried=1 + again,
            fault=f"{first.fault}; {second.fault}" if isinstance(second, _Failed) and again else first.fault,
        )

    async def _by_rule(self, asked: _Asked) -> Digest:
        """The deterministic digest, made off the event loop: a busy group's session has thousands of lines."""
        session, lines, known = asked.session, asked.lines, asked.known
        last = lines[-1].event_id if lines else session.upto_event
        around = await read_talk_around(self._store, self._current.settings, session.chat_id, last)
        return await self._thread.run(rule_digest, lines, asked.scope, around, known.commitments, known.memories)


class SessionCloser:
    """Makes and commits digests."""

    def __init__(self, store: Store, digest_maker: DigestMaker, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._digest_maker = digest_maker
        self._clock = clock
        self._current = current
        self._log = log

    async def ended(self, chat_id: int) -> tuple[int, ...]:
        """The numbers of the sessions of a chat whose digest is due."""
        return tuple(each.id for each in await self._store.sessions.due(chat_id, self._clock.now()))

    async def work(self, chat_id: int) -> None:
        """Digest what is due in a chat, or put it off while the model is down; nothing happens twice."""
        for session in await self._store.sessions.due(chat_id, self._clock.now()):
            current = await self._store.sessions.session(session.id)
            if current.digest_due_at is not None:  # else another one told it with its own
                await self._digest(current)

    async def _digest(self, session: Session) -> None:
        chat = await self._store.people.chat(session.chat_id)
        begins = session.state == "closing" and session.digest_from is None and not session.digest_attempts
        if begins:
            self._log.info(
                "session_closed",
                chat=chat.id,
                session=session.number,
                reason=session.close_reason,
                opened=session.open_reason,
            )
        before = await self._store.sessions.waiting(session) if session.state == "closing" else ()
        if session.close_reason == "clear" and before:
            await self._digest(before[-1])
            before = ()
        first = (*before, session)[0]
        since = 0 if chat.kind == "group" else first.opened_at - LED_UP_MS
        heard = await self._store.sessions.heard_from(first, self._current.settings.session.heard_lines, since)
        told_from = min(heard, *(each.told_from for each in (*before, session)))
        whole = replace(session, digest_from=told_from)
        seen = await self._store.digests.seen(chat.id)
        lines = await self._digest_maker.told(whole) if session.close_reason != "clear" else ()
        scope = await self._scope(chat, lines)
        known = await self._known(chat, session, lines)
        early = next_local_time(self._clock.now(), self._current.settings.session.close_hour, scope.tz)
        may_wait = begins and not _at_once(lines, scope, early, known) and await self._may_wait(session, lines)
        if may_wait and await self._store.sessions.wait(session, early):
            return
        try:
            digest, settlement = await self._digest_maker.make(whole, lines, scope, known)
        except Exception as defect:  # a defect in one digest must leave neither it nor its money hanging
            if is_machine_error(defect):
                raise
            await self._put_off(session, defect)
            return
        named = [(one.owner_id, one.text) for one in known.called]
        news = tuple(
            new
            for new in digest.memories
            if not any(new.owner_id == owner and only_names(new.text, name) for owner, name in named)
        )
        kept = self._store.digests.allowed(replace(digest, memories=news))
        remake = session.state == "closing" and kept.by == "rule" and self._digest_maker.wanted(lines)
        people = _people(lines)
        told = Digested(
            whole,
            kept,
            scope.owner_id,
            tuple(people.values()),
            tuple(line.event_id for line in lines),
            settlement,
            merge_rule(people, judged=kept.by == "model"),
            tuple(each.id for each in before),
            min(each.opened_at for each in (*before, session)),
            remake,
            seen,
        )
        try:
            stored = await self._store.digests.store(told, self._clock.now())
        except StatementError as refused:  # what the database never takes must not be paid for without end
            if settlement is not None:
                await self._store.ledger.settle(settlement, self._clock.now())
            await self._put_off(session, refused)
            return
        if stored:
            self._log.info(
                "digest",
                chat=chat.id,
                session=session.number,
                reason=session.close_reason,
                by=kept.by,
                lines=len(lines),
                talks=1 + len(before),
                memories=len(kept.memories),
                commitments=len(kept.commitments),
                proposed=kept.counts.proposed,
                kept=kept.counts.kept,
                mended=kept.counts.mended,
                refused=kept.counts.refused,
                left_out=kept.counts.left_out,
            )

    async def _known(self, chat: Chat, session: Session, lines: tuple[DigestLine, ...]) -> KnownFacts:
        """What is kept of those who spoke, as far as this chat may see it, and open of theirs; in a group also what
        lies ahead of all who are in it.

        Without what the rule found in the same lines: it is taken back where it is not told again.
        """
        own = await self._store.digests.by_rule(session.id, tuple(line.event_id for line in lines))
        people = tuple(_people(lines))
        if not people:
            return KnownFacts()
        here = await self._store.people.audience(chat) if chat.kind == "group" else Audience(chat.id, chat.kind, people)
        everybody = dict.fromkeys((*people, *here.person_ids))
        seen = [Audience(chat.id, chat.kind, (person,)) for person in everybody]
        memories = [each for who in seen for each in await self._store.memories.owned(who.person_ids[0], who)]
        current = tuple(
            m
            for m in memories
            if m.disabled_at is None
            and m.former_at is None
            and not m.is_name
            and m.id not in own
            and (m.owner_id in people or is_plan(m, lines[-1].at))
        )
        open_ = await self._store.commitments.open(here, OPEN)
        asked = [each for person in here.person_ids for each in await self._store.reminders.open(person, chat.id)]
        called = tuple(m for m in memories if m.is_name and m.disabled_at is None and m.owner_id in people)
        return KnownFacts(current, open_, tuple(each for each in asked if not each.promise)[:OPEN], called)

    async def _may_wait(self, session: Session, lines: tuple[DigestLine, ...]) -> bool:
        """Whether so little was said that its digest may be made with those of later talks."""
        said = sum(estimate_tokens(line.text) for line in lines if not line.is_bot)
        return session.close_reason in WAITING and said < SHORT_TOKENS and await self._digest_maker.able()

    async def _put_off(self, session: Session, defect: Exception) -> None:
        error = defect if isinstance(defect, ModelError) else ModelError("invalid", type(defect).__name__)
        if error is not defect:
            self._log.error("digest_failed", chat=session.chat_id, session=session.number, exc_info=defect)
        wait = min(FIRST_WAIT_MS * 2**session.digest_attempts, LONGEST_WAIT_MS)
        await self._store.sessions.postpone_digest(session.id, self._clock.now() + wait)
        self._log.warning(
            "digest_postponed",
            session=session.number,
            chat=session.chat_id,
            wait_ms=wait,
            fault=error.fault,
            detail=error.detail,
            text=error.said,
        )

    async def _scope(self, chat: Chat, lines: tuple[DigestLine, ...]) -> TalkScope:
        """Whose talk it was, and by which calendars."""
        people = _people(lines)
        owner = next(iter(people), None) if chat.kind == "dm" else None
        person = await self._store.people.person(owner) if owner is not None else None
        words, settings = self._current.words, self._current.settings
        tz, zones, nudging = (
            words.tz(words.zone_of(chat, person)),
            await self._zones(people),
            nudging_rules(settings.remind),
        )
        name = settings.bot.names[0]
        return TalkScope(chat.id, chat.kind, name, owner, tz, zones, nudging, names=await self._names(chat))

    async def _names(self, chat: Chat) -> dict[int, str]:
        """Who is in a group, by number."""
        people = (await self._store.people.audience(chat)).person_ids if chat.kind == "group" else ()
        return {number: (await self._store.people.person(number)).name for number in people}

    async def _zones(self, people: Iterable[int]) -> dict[int, tzinfo]:
        """By whose calendar each of these people promises: their own where they set one."""
        known = [await self._store.people.person(number) for number in people]
        return {person.id: self._current.words.tz(person.timezone) for person in known if person.timezone}


def _at_once(lines: tuple[DigestLine, ...], scope: TalkScope, early: int, known: KnownFacts) -> bool:
    """Whether somebody named a moment to come before the early hour, or spoke of what is open or lies ahead: a plan
    that was moved must not be told, nor reminded of, as it was."""
    said = [line for line in lines if not line.is_bot and not line.forwarded]
    return may_change_known(known, lines) or any(
        comes_before(line.text, line.at, early, scope.zones.get(line.person_id or 0, scope.tz)) for line in said
    )


def _people(lines: tuple[DigestLine, ...]) -> dict[int, str]:
    """Who spoke, by number, with their names."""
    return {line.person_id: line.name for line in lines if line.person_id is not None}
