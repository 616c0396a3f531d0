"""`.ai dialog`: the past talks of dialogue memory as this chat may be told them, and clearing them."""

from collections.abc import Callable

from bot.commands.command import Invocation
from bot.commands.registry import COMMANDS, hint
from bot.config.settings import Settings
from bot.core.people import Audience
from bot.core.ports import Clock
from bot.core.sessions import TIERS, Dialogue
from bot.pipeline.opening import past_talks
from bot.pipeline.plan import Planner
from bot.pipeline.texts import Texts
from bot.prompt.past_talks import PastTalk, past_talk_lines
from bot.store.store import Store
from bot.text.clean import clean_name
from bot.text.fold import fold
from bot.text.length import clip

NAME_CHARS = 32

TALKS_SHOWN = 10
"""Lines of the short view."""


class DialogCommand:
    """Shows past talks and clears them."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Texts, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._most_raw = settings.memory.raw_dialogues
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai dialog …`; nothing is shown or cleared that this audience is not told anyway."""
        audience = await self._planner.audience(asked.chat, asked.person)
        match tuple(fold(word) for word in asked.words):
            case ():
                return await self._short(asked, audience)
            case ("full",):
                return await self._full(asked, audience)
            case ("clear",):
                return await self._clear(asked, audience)
            case ("person",):
                return self._text(asked, "dialog_words")
            case ("full" | "clear", *_):
                return self._text(asked, "dialog_words")
            case ("person", *_):
                return await self._with(asked, audience, " ".join(asked.words[1:]))
            case _:
                return await self._with(asked, audience, " ".join(asked.words))

    async def _short(self, asked: Invocation, audience: Audience) -> str:
        found = await past_talks(self._store, audience, asked.person.id, self._clock.now())
        lines = self._lines(asked, found)
        more = len(lines) - TALKS_SHOWN
        told = _numbered(lines[:TALKS_SHOWN])
        if more > 0:
            told = f"{told}\n{self._text(asked, 'dialog_more', n=more)}"
        return told or self._text(asked, "dialog_none")

    async def _full(self, asked: Invocation, audience: Audience) -> str:
        found = await self._store.digests.told(audience, asked.person.id, 0)
        parts: list[str] = []
        for tier in TIERS:
            rows = [talk for talk in found if talk.tier == tier]
            if rows:
                key = "dialog_full_raw" if tier == "raw" else "dialog_full_tier"
                named = self._text(asked, f"dialog_tier_{tier}")
                parts.append(self._text(asked, key, tier=named, n=len(rows), most=self._most_raw))
                parts.append(_numbered([line for talk in rows for line in self._lines(asked, (talk,))]))
        return "\n".join(parts) or self._text(asked, "dialog_none")

    async def _clear(self, asked: Invocation, audience: Audience) -> str:
        # In a group it takes what everybody there is told: who may end its conversation may do that, too.
        if not next(command for command in COMMANDS if command.name == "clear").allows(asked):
            return self._text(asked, "not_allowed")
        count = await self._store.rollups.clear(audience, self._clock.now())
        return self._text(asked, "dialog_cleared", n=count)

    async def _with(self, asked: Invocation, audience: Audience, name: str) -> str:
        person = await self._store.people.person_named(name)
        talks = await self._store.digests.told(audience, person.id if person is not None else 0, 0)
        found = tuple(talk for talk in talks if talk.own or name in talk.names)
        if found:
            return _numbered(self._lines(asked, found))
        return self._text(asked, "dialog_none_with", name=clip(clean_name(name), NAME_CHARS)) + hint(
            asked, "dialog", self._text
        )

    def _lines(self, asked: Invocation, talks: tuple[Dialogue, ...]) -> tuple[PastTalk, ...]:
        when = (self._clock.now(), self._words.tz(self._words.zone_of(asked.chat, asked.person)))
        return past_talk_lines(talks, when, self._words.opening(asked.script), self._words.days(asked.script))


def _numbered(lines: tuple[PastTalk, ...] | list[PastTalk]) -> str:
    return "\n".join(f"{number}. {line.head} {line.text}" for number, line in enumerate(lines, 1))
