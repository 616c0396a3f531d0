"""A log that is nearly full gets one call of a model, which may write what is worth keeping into the day's note.

Nobody sees anything of it, and whatever goes wrong with it the log closes as it would without.
"""

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.background import BackgroundGate
from bot.flow.plan import Planner
from bot.flow.scribe import Errand, Scribe
from bot.flow.talk import talk
from bot.flow.words import Words
from bot.memory.minutes import DigestLine, excerpt
from bot.memory.notes import kept_lines
from bot.ports import Clock
from bot.prompt.tokens import log_budget
from bot.store.flushes import FullLog
from bot.store.ledger import Reservation
from bot.store.store import Store
from bot.text.dates import clock_label, local_day
from bot.text.estimate import estimate_tokens
from bot.text.script import script_of
from bot.types.heartbeat import HEARTBEAT
from bot.types.log import Log
from bot.types.note import Front, NewNote, Written
from bot.types.people import Chat
from bot.types.turn import Call

OUTPUT_TOKENS = 400
"""Longest answer: eight lines."""

ROWS, ROW_CHARS, SHOWN_CHARS = 200, 300, 12_000
"""What a model is shown: about what a log of the default size, 6,000 tokens, tells."""


class Flushing:
    """Flushes logs, each once."""

    def __init__(
        self, store: Store, scribe: Scribe, planner: Planner, clock: Clock, settings: Settings, words: Words,
        log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = scribe
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._gate = BackgroundGate(store.switches, settings.background)
        self._log = log

    async def due(self, chat_id: int) -> int | None:
        """The open session of a chat when its log is to be flushed."""
        if not self._settings.memory.flush:
            return None
        log = await self._store.flushes.open_log(chat_id)
        return log.session_id if log is not None and self._wants(log) else None

    async def work(self, session_id: int) -> bool:
        """Flush the log of a session if it is to be; whether a note came of it."""
        if not self._settings.memory.flush:
            return False
        try:
            log = await self._store.flushes.log(session_id)
            return log is not None and self._wants(log) and await self._flush(log)
        except OverBudget as error:
            self._log.warning("flush_skipped", **await self._place(session_id), why=error.limit)
        except Exception as error:  # noqa: BLE001 - a note that fails must not keep a session from its digest
            fault = error.fault if isinstance(error, ModelError) else type(error).__name__
            self._log.warning("flush_failed", **await self._place(session_id), fault=fault)
        return False

    async def _place(self, session_id: int) -> dict[str, int]:
        session = await self._store.sessions.session(session_id)
        return {"chat": session.chat_id, "session": session.number}

    def _wants(self, log: FullLog) -> bool:
        """Whether it is full enough, for the first time, and by somebody's words."""
        return (
            not log.flushed and log.last_why != HEARTBEAT and log.tokens >= self._part(self._settings.memory.flush_at)
        )

    def _part(self, share: float) -> float:
        """So much of the log budget, in tokens."""
        model, limits = self._settings.model, self._settings.session
        return share * log_budget(
            limits.log_tokens, model.window_tokens, model.max_output_tokens, limits.reserve_tokens
        )

    async def _flush(self, log: FullLog) -> bool:
        session = await self._store.sessions.session(log.session_id)
        chat = await self._store.people.chat(session.chat_id)
        after, upto = max(session.from_event, log.before), session.upto_event
        lines = await talk(self._store, self._settings, chat.id, after, upto)
        said = sum(estimate_tokens(line.text) for line in lines if not line.is_bot)
        step, _ = await self._planner.step(chat.id, None, self._clock.now())
        able = self._scribe.able and await self._gate.allows("flush")
        if not said or said < self._part(self._settings.memory.flush_least) or step != "full" or not able:
            return False
        if not await self._store.flushes.begin(log.epoch_id, upto):
            return False

        async def reserve(reservation: Reservation, now: int) -> Call:
            return await self._store.ledger.reserve(log.session_id, reservation, now)

        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._words.language)
        shown = excerpt(lines, ROWS, ROW_CHARS, SHOWN_CHARS)
        errand = Errand("flush", chat.id, script, shown, OUTPUT_TOKENS, small=False)
        async with self._scribe.written(errand, reserve) as paper:
            kept = self._kept(paper.text, lines)
            # What somebody edited while the model wrote is not kept as it was.
            now = await talk(self._store, self._settings, chat.id, after, upto)
            same = {(line.event_id, line.text) for line in now}
            there = {line.event_id for line in lines if (line.event_id, line.text) in same}
            kept = tuple(line for line in kept if there.issuperset(line.event_ids))
            new = await self._note(chat, lines, kept) if kept else None
            most = self._settings.notes.max_kilobytes * 1024
            path = await self._store.flushes.store(paper.settlement, new, most, self._clock.now())
        self._log.info("flushed", chat=chat.id, session=session.number, lines=len(kept) if path else 0)
        return path is not None

    def _kept(self, answer: str, lines: tuple[DigestLine, ...]) -> tuple[Written, ...]:
        """What the model wants in the note, without what was forgotten."""
        covers = self._store.tombstones.covers
        return tuple(line for line in kept_lines(answer, lines) if not covers(line.text.removeprefix("- ")))

    async def _note(self, chat: Chat, lines: tuple[DigestLine, ...], kept: tuple[Written, ...]) -> NewNote:
        """The part of the day's note that these lines become, by the calendar of whoever the chat belongs to."""
        newest = next(line for line in reversed(lines) if not line.is_bot)
        person = await self._store.people.person(newest.person_id or 0)
        tz = self._words.tz(self._words.zone_of(chat, person))
        front = Front(chat.id, "private" if chat.kind == "dm" else "chat")
        label = clock_label(newest.at, tz)
        return NewNote(front, f"{local_day(newest.at, tz)}", f"## {label}", kept, appends=True)
