"""Entering a talk: after a lull nuan looks at what was said; an event asks for a turn, and people come before it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.config.speak import Speak
from bot.errors import OverLimit, StoreError
from bot.flow.background import BackgroundGate
from bot.flow.limiting import Limiting
from bot.flow.plan import Planner
from bot.flow.recalling import Recalling
from bot.flow.words import Words
from bot.ports import Clock
from bot.prompt.casual import asks
from bot.session.joining import addressee, held, weigh
from bot.store.joins import Heard, Standing
from bot.store.store import Store
from bot.types.joining import JOIN, Talk, TalkLine, Verdict
from bot.types.log import Log
from bot.types.occasion import Occasion
from bot.types.recall import Asking

Begin = Callable[[Occasion, asyncio.Event], Awaitable[None]]
"""Runs the turn of an occasion; its model call ends when the event is set."""

SAID = 6
"""Newest lines that are compared with what nuan knows (SEED_SYSTEMS C27: up to 6)."""


@dataclass(frozen=True, slots=True)
class Knowing:
    """What an entry passes: memories and the words of who nuan is by `persona`, limits, and the gate of the owner."""

    recalling: Recalling
    planner: Planner
    persona: Callable[[str], str]
    limiting: Limiting
    gate: BackgroundGate


class Joining:
    """What the alarm and the chat lanes do so that nuan enters talks."""

    def __init__(
        self, store: Store, clock: Clock, speak: Speak, words: Words, knowing: Knowing, begin: Begin, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._mode = speak.mode
        self._rules = speak.join
        self._window_ms = speak.window_seconds * 1000
        self._words = words
        self._knowing = knowing
        self._begin = begin
        self._log = log
        self._due: set[int] = set()
        self._under_way: set[int] = set()
        self._stops: dict[int, asyncio.Event] = {}

    async def start(self) -> None:
        """Drop what an earlier process began: it is said once or not at all."""
        await self._store.joins.begin(self._clock.now())

    @property
    def under_way(self) -> tuple[set[int], set[int], dict[int, asyncio.Event]]:
        """The chats where it is due, where it was begun, and what ends their turns; for whoever goes on."""
        return self._due, self._under_way, self._stops

    def succeed(self, due: set[int], under_way: set[int], stops: dict[int, asyncio.Event]) -> None:
        """Go on in the place of another by other rules."""
        self._due, self._under_way, self._stops = due, under_way, stops

    def fire(self, chat_id: int) -> None:
        """The deadline of that chat has come: its lane looks next."""
        self._due.add(chat_id)

    def interrupt(self, chat_id: int) -> None:
        """Somebody says something in this chat: what nuan was about to say has no place any more."""
        if chat_id in self._stops:
            self._stops[chat_id].set()

    async def work(self, chat_id: int) -> None:
        """Look at a chat where that is due, and enter; whatever goes wrong is logged and nobody is told.

        StoreError: nothing of the last step was stored; the next call ends what was begun.
        """
        if chat_id in self._under_way:
            await self._store.joins.leave(chat_id, "void", overtaken=False, at=self._clock.now())
            self._under_way.discard(chat_id)
        if chat_id not in self._due:
            return
        self._due.discard(chat_id)
        standing = await self._store.joins.take(chat_id, self._window_ms, self._clock.now())
        if standing is None or (standing.mode or self._mode) != "join":
            return
        stop = self._stops[chat_id] = asyncio.Event()
        try:
            await self._look(chat_id, standing, stop)
        except (StoreError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - what nobody asked for must not stop the chat
            self._log.error("join_failed", chat=chat_id, exc_info=error)
        finally:
            del self._stops[chat_id]

    async def _look(self, chat_id: int, standing: Standing, stop: asyncio.Event) -> None:
        """Judge the talk, remember and log the verdict, and enter where that is it."""
        now, tz, talk = self._clock.now(), self._words.tz(self._words.zone), talk_of(standing)
        verdict = held(talk, self._rules, self._window_ms, tz, now)
        if verdict is None and not await self._knowing.gate.allows("join"):
            verdict = Verdict("silent", "background")
        if verdict is None:
            verdict = weigh(talk, await self._relevance(chat_id, standing), self._rules, now)
        newest = standing.lines[-1] if standing.lines else None
        if verdict.action == "enter" and newest is not None:
            self._under_way.add(chat_id)
            person = await self._store.people.person(newest.person_id)
            told = self._words.opening(self._words.script(person))("entry")
            verdict = await self._store.joins.enter(chat_id, verdict, newest, told, now)
        else:
            await self._store.joins.keep(chat_id, verdict, newest.id if newest is not None else 0, now)
        line = self._log.info if verdict.action == "enter" else self._log.debug
        line("looked", chat=chat_id, action=verdict.action, why=verdict.why, score=verdict.score, until=verdict.at)
        if verdict.action == "enter":
            await self._enter(chat_id, stop)
        self._under_way.discard(chat_id)

    async def _enter(self, chat_id: int, stop: asyncio.Event) -> None:
        """Run the turn, unless somebody came before it."""
        outcome = "void"
        try:
            waiting = await self._store.views.waiting(chat_id, self._clock.now())
            mine = tuple(event for event in waiting.due if event.why == JOIN)
            if len(mine) < len(waiting.due) or stop.is_set():
                outcome = "overtaken"
            elif mine:
                pace = self._knowing.limiting.pace(None, mine, waiting.limits)
                person = waiting.people[mine[0].person_id]
                await self._begin(Occasion(waiting.chat, person, mine, JOIN, pace=pace), stop)
        except OverLimit as error:
            self._log.info("over_limit", chat=chat_id, limit=error.limit, said=False)
            outcome = "limited"
        await self._store.joins.leave(chat_id, outcome, overtaken=stop.is_set(), at=self._clock.now())

    async def _relevance(self, chat_id: int, standing: Standing) -> float:
        """0 to 1: how well the last lines fit what everybody here may be told, or who nuan is.

        Memories are measured as the reference does, whichever mode orders a recall: the others have no scale.
        """
        last = [line for line in standing.lines if line.id > standing.spoke_id and not line.from_bot][-SAID:]
        text = "\n".join(line.text for line in last if not line.forwarded)
        chat, person = await self._store.people.chat(chat_id), await self._store.people.person(last[-1].person_id)
        audience = await self._knowing.planner.audience(chat, person)
        now, recalling = self._clock.now(), self._knowing.recalling
        known = await recalling.known(Asking(audience, person.id, text, now))
        return max(
            known, self._rules.weight_persona * await recalling.shared(text, self._knowing.persona(chat.persona))
        )


def talk_of(standing: Standing) -> Talk:
    """What is stored of a talk as its manners see it: who is called by name is read from the lines."""
    people = {line.person_id: line.name for line in standing.lines if not line.from_bot}
    return Talk(
        tuple(_line(line, people) for line in standing.lines), standing.entries, standing.spoke_id, standing.spoke_at,
        standing.seen, standing.waiting, standing.hushed,
    )  # fmt: skip


def _line(line: Heard, people: dict[int, str]) -> TalkLine:
    others = {number: name for number, name in people.items() if number != line.person_id}
    to = line.replied_to if line.is_reply else addressee(line.text, others)
    aimed = (line.is_reply and to != line.person_id) or to in others or line.why == "other"
    return TalkLine(
        line.id, line.at, line.person_id, aimed, to if to != line.person_id else None, asks(line.text), line.forwarded,
        line.from_bot,
    )  # fmt: skip
