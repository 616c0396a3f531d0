"""Closing sessions: open → closing → closed, each told by exactly one digest, which short talks of a chat may share."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import tzinfo

from bot.config.settings import Settings
from bot.errors import ModelError, StoreError
from bot.flow.digesting import Digesting
from bot.flow.words import Words
from bot.memory.digest_request import Known, is_plan, tells_of_open
from bot.memory.introducing import only_names
from bot.memory.merging import merging
from bot.memory.minutes import DigestLine, Scope
from bot.people.reminding import nudging
from bot.ports import Clock
from bot.store.digests import Digested
from bot.store.store import Store
from bot.text.dated import comes_before
from bot.text.dates import next_local_time
from bot.text.estimate import estimate_tokens
from bot.types.duration import DAY_MS, HOUR_MS
from bot.types.log import Log
from bot.types.people import Audience, Chat
from bot.types.session import CloseReason, Session

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


class Closing:
    """Makes and commits digests."""

    def __init__(
        self, store: Store, digesting: Digesting, clock: Clock, settings: Settings, words: Words, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._digesting = digesting
        self._clock = clock
        self._settings = settings
        self._words = words
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
                "session_closed", chat=chat.id, session=session.number, reason=session.close_reason,
                opened=session.open_reason,
            )  # fmt: skip
        before = await self._store.sessions.waiting(session) if session.state == "closing" else ()
        if session.close_reason == "clear" and before:
            await self._digest(before[-1])
            before = ()
        told_from = min(each.told_from for each in (*before, session))
        if chat.kind == "group":
            most = self._settings.session.heard_lines
            told_from = min(told_from, await self._store.sessions.heard_from((*before, session)[0], most))
        whole = replace(session, digest_from=told_from)
        seen = await self._store.digests.seen(chat.id)
        lines = await self._digesting.told(whole) if session.close_reason != "clear" else ()
        scope = await self._scope(chat, lines)
        known = await self._known(chat, session, lines)
        early = next_local_time(self._clock.now(), self._settings.session.close_hour, scope.tz)
        if begins and not _at_once(lines, scope, early, known) and await self._may_wait(session, lines):
            await self._store.sessions.wait(session, early)
            return
        try:
            digest, settlement = await self._digesting.make(whole, lines, scope, known)
        except (StoreError, OSError):
            raise
        except Exception as defect:  # noqa: BLE001 - a defect in one digest must leave neither it nor its money hanging
            await self._put_off(session, defect)
            return
        named = [(one.owner_id, one.text) for one in known.called]
        news = tuple(new for new in digest.memories if not any(
            new.owner_id == owner and only_names(new.text, name) for owner, name in named
        ))  # fmt: skip
        kept = self._store.digests.allowed(replace(digest, memories=news))
        remake = session.state == "closing" and kept.by == "rule" and self._digesting.wanted(lines)
        people = _people(lines)
        told = Digested(
            whole, kept, scope.owner_id, tuple(people.values()), tuple(line.event_id for line in lines), settlement,
            merging(people), tuple(each.id for each in before),
            min(each.opened_at for each in (*before, session)), remake, seen,
        )  # fmt: skip
        if await self._store.digests.store(told, self._clock.now()):
            self._log.info(
                "digest", chat=chat.id, session=session.number, reason=session.close_reason, by=kept.by,
                lines=len(lines), talks=1 + len(before), memories=len(kept.memories),
                commitments=len(kept.commitments), proposed=kept.counts.proposed, kept=kept.counts.kept,
                mended=kept.counts.mended, refused=kept.counts.refused,
            )  # fmt: skip

    async def _known(self, chat: Chat, session: Session, lines: tuple[DigestLine, ...]) -> Known:
        """What is kept of those who spoke, as far as this chat may see it, and open of theirs; in a group also what
        lies ahead of all who are in it.

        Without what the rule found in the same lines: it is taken back where it is not told again.
        """
        own = await self._store.digests.by_rule(session.id, tuple(line.event_id for line in lines))
        people = tuple(_people(lines))
        if not people:
            return Known()
        here = await self._store.people.audience(chat) if chat.kind == "group" else Audience(chat.id, chat.kind, people)
        everybody = dict.fromkeys((*people, *here.person_ids))
        seen = [Audience(chat.id, chat.kind, (person,)) for person in everybody]
        memories = [each for who in seen for each in await self._store.memories.owned(who.person_ids[0], who)]
        current = tuple(m for m in memories if m.disabled_at is None and m.former_at is None and not m.is_name
                        and m.id not in own and (m.owner_id in people or is_plan(m, lines[-1].at)))  # fmt: skip
        open_ = await self._store.commitments.open(here, OPEN)
        asked = [each for person in here.person_ids for each in await self._store.reminders.open(person, chat.id)]
        called = tuple(m for m in memories if m.slot == "address" and m.disabled_at is None and m.owner_id in people)
        return Known(current, open_, tuple(each for each in asked if not each.promise)[:OPEN], called)

    async def _may_wait(self, session: Session, lines: tuple[DigestLine, ...]) -> bool:
        """Whether so little was said that its digest may be made with those of later talks."""
        said = sum(estimate_tokens(line.text) for line in lines if not line.is_bot)
        return session.close_reason in WAITING and said < SHORT_TOKENS and await self._digesting.able()

    async def _put_off(self, session: Session, defect: Exception) -> None:
        error = defect if isinstance(defect, ModelError) else ModelError("invalid", type(defect).__name__)
        if error is not defect:
            self._log.error("digest_failed", chat=session.chat_id, session=session.number, exc_info=defect)
        wait = min(FIRST_WAIT_MS * 2**session.digest_attempts, LONGEST_WAIT_MS)
        await self._store.sessions.postpone_digest(session.id, self._clock.now() + wait)
        self._log.warning(
            "digest_postponed", session=session.number, chat=session.chat_id, wait_ms=wait, fault=error.fault,
            detail=error.detail, text=error.said,
        )  # fmt: skip

    async def _scope(self, chat: Chat, lines: tuple[DigestLine, ...]) -> Scope:
        """Whose talk it was, and by which calendars."""
        people = _people(lines)
        owner = next(iter(people), None) if chat.kind == "dm" else None
        zone = self._words.zone
        if owner is not None:
            zone = self._words.zone_of(chat, await self._store.people.person(owner))
        return Scope(
            chat.id, chat.kind, self._settings.bot.names[0], owner, self._words.tz(zone), await self._zones(people),
            nudging(self._settings.remind), names=await self._names(chat),
        )  # fmt: skip

    async def _names(self, chat: Chat) -> dict[int, str]:
        """Who is in a group, by number."""
        people = (await self._store.people.audience(chat)).person_ids if chat.kind == "group" else ()
        return {number: (await self._store.people.person(number)).name for number in people}

    async def _zones(self, people: Iterable[int]) -> dict[int, tzinfo]:
        """By whose calendar each of these people promises: their own where they set one."""
        known = [await self._store.people.person(number) for number in people]
        return {person.id: self._words.tz(person.timezone) for person in known if person.timezone}


def _at_once(lines: tuple[DigestLine, ...], scope: Scope, early: int, known: Known) -> bool:
    """Whether somebody named a moment to come before the early hour, or spoke of what is open or lies ahead: a plan
    that was moved must not be told, nor reminded of, as it was."""
    said = [line for line in lines if not line.is_bot and not line.forwarded]
    return tells_of_open(known, lines) or any(
        comes_before(line.text, line.at, early, scope.zones.get(line.person_id or 0, scope.tz)) for line in said
    )


def _people(lines: tuple[DigestLine, ...]) -> dict[int, str]:
    """Who spoke, by number, with their names."""
    return {line.person_id: line.name for line in lines if line.person_id is not None}
