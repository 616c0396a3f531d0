"""What comes to nuan's mind by itself: memories that a message calls for, appended once to the log that asks."""

from dataclasses import dataclass, replace

from bot.config.memory import MemoryLimits
from bot.flow.aside import Aside
from bot.flow.recalling import Recalling
from bot.flow.sectioning import Narrowing, Sectioning
from bot.flow.words import Words
from bot.recall.calling import calls_for, why
from bot.recall.question import own_lines
from bot.store.store import Store
from bot.text.clean import as_data, named_once
from bot.text.clip import clip
from bot.text.dates import local_day, relative_day
from bot.text.estimate import Vocabulary, estimate_tokens
from bot.text.script import Script
from bot.types.brought import Brought
from bot.types.event import Event
from bot.types.occasion import Occasion
from bot.types.people import Audience
from bot.types.recall import Asking, Scored, Trace
from bot.types.sections import Round
from bot.types.session import Mode
from bot.types.speaking import UNASKED

LINE_CHARS = 160
"""Characters of one line; memory_get brings the whole."""

TELLING_CHARS = 80
"""By so much of its beginning a memory is known again: all that tell one cut it later."""

CANDIDATES = 20
"""Results that are looked through for those that a log does not tell yet."""


@dataclass(frozen=True, slots=True)
class Telling:
    """To whom lines are told: who may read them, in which script, in which time zone, at what time (ms), and how the
    model counts tokens; what the person wrote last, oldest first, and the scene."""

    audience: Audience
    script: Script
    zone: str
    now: int
    vocabulary: Vocabulary
    own: tuple[Event, ...] = ()
    scene: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The lines as they are appended ("" for none), the memories in them, what is to be noted of each, and what was
    found in which section."""

    text: str = ""
    memories: tuple[int, ...] = ()
    brought: tuple[Brought, ...] = ()
    round: Round | None = None


class Bringing:
    """Finds what a turn is told without asking."""

    def __init__(
        self, store: Store, recalling: Recalling, aside: Aside, rules: MemoryLimits, names: tuple[str, ...],
        words: Words, sectioning: Sectioning,
    ) -> None:  # fmt: skip
        """`names` are those that nuan is called by."""
        self._store = store
        self._recalling = recalling
        self._aside = aside
        self._rules = rules
        self._names = names
        self._words = words
        self.sectioning = sectioning

    def wanted(self, occasion: Occasion, mode: Mode) -> bool:
        """Whether this turn may be told something: never small talk, nor where nobody called."""
        return self._rules.inject in ("auto", "both") and mode == "full" and occasion.why not in UNASKED

    async def lines(self, occasion: Occasion, telling: Telling, said: str) -> Recalled:
        """What the messages being answered call for and the log does not tell yet; `said` is all that it says.

        It asks no model: words, age and importance decide, whichever way a recall is ordered.
        """
        asked = "\n".join(event.text for event in occasion.answering if event.kind == "message")
        if not asked.strip():
            return Recalled()
        own = own_lines(telling.own, {event.id for event in occasion.answering}, telling.now)
        asking = Asking(
            telling.audience, occasion.person.id, asked, telling.now, CANDIDATES, kinds=("memory",), mode="v2",
            own=own, scene=telling.scene, strict=True,
        )  # fmt: skip
        narrowing = await self.sectioning.narrow(telling.audience.chat_id, occasion.person.id, asked, telling.now)
        _, found, narrowing = await self.found(asking, narrowing)
        return replace(await self._told(telling, said, found), round=narrowing.round(found))

    async def found(self, asking: Asking, narrowing: Narrowing) -> tuple[Trace, tuple[Scored, ...], Narrowing]:
        """What the message calls for, first where the talk stays, and everywhere when nothing is there.

        It comes with all that was found, and with where that was.
        """
        trace = await self._recalling.recall(replace(asking, sections=narrowing.searched))
        # Nothing for most messages: no thread has to be asked, and no dictionary loaded.
        found = await self._aside.run(calls_for, trace, asking.text, self._names) if trace.chosen else ()
        if narrowing.searched and not found:
            return await self.found(asking, narrowing.widened())
        return trace, found, narrowing

    async def _told(self, telling: Telling, said: str, found: tuple[Scored, ...]) -> Recalled:
        """As many of these as there is room for."""
        if not found:
            return Recalled()
        news = [
            (one, memory)
            for one in found
            if (memory := one.finding.memory) is not None and not tells(said, memory.text)
        ]
        text = self._words.opening(telling.script)
        days, tz = self._words.days(telling.script), self._words.tz(telling.zone)
        today = local_day(telling.now, tz)
        left = self._rules.inject_tokens - estimate_tokens(text("brought"), telling.vocabulary)
        lines: list[str] = []
        brought: list[Brought] = []
        for one, memory in news[: self._rules.max]:
            who = as_data((await self._store.people.person(memory.teller_id)).name) if memory.teller_id else ""
            who, words = named_once(who, as_data(clip(memory.text, LINE_CHARS)))
            if memory.former_at is not None:
                words = text("found_former", text=words)
            line = text("known_line" if who else "own_line", id=memory.id, who=who, text=words)
            line += text("found_day", day=relative_day(local_day(memory.observed_at, tz), today, days))
            tokens = estimate_tokens(line, telling.vocabulary)
            left -= tokens
            if left < 0:
                break
            lines.append(line)
            brought.append(Brought("auto", f"#{memory.id}", tokens, why(one)))
        if not lines:
            return Recalled()
        chosen = tuple(memory.id for _, memory in news[: len(lines)])
        return Recalled("\n".join((text("brought"), *lines)), chosen, tuple(brought))


def tells(said: str, memory: str) -> bool:
    """Whether a text tells this memory already: in an opening, a result, or in the person's own words."""
    return bool(said) and as_data(memory[:TELLING_CHARS]) in said
