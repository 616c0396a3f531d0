"""Commands about one chat: `.ai on`, `off`, `mode`, `why`, `persona` and `context`."""

import asyncio
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.commands.command import Invocation
from bot.commands.registry import hint
from bot.config.settings import ContextRules
from bot.config.speaking import SpeakRules
from bot.core.people import ChatContextSettings
from bot.core.ports import Adapter, Admins, Clock, implements
from bot.pipeline.texts import Texts
from bot.prompt.persona import Personas
from bot.speaking.activation import explain_decision
from bot.store.settings import Switches
from bot.store.store import Store
from bot.text.clean import clean_name
from bot.text.dates import time_label
from bot.text.fold import fold
from bot.text.length import clip

EVERYWHERE_WORDS = ("all", "全部")

ADMIN_ANSWER_S = 10.0
"""Seconds to wait until a platform says who looks after a group."""


class SwitchCommands:
    """A chat by those who may, everything by owners."""

    def __init__(
        self, store: Store, clock: Clock, adapter: Callable[[str], Adapter | None], text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`adapter` finds a platform, `text` is (asked, key, **values) in the person's script."""
        self._adapter = adapter
        self._store = store
        self._clock = clock
        self._text = text

    async def on(self, asked: Invocation) -> str:
        """Speak here again, or everywhere."""
        return await self._switch(asked, on=True)

    async def off(self, asked: Invocation) -> str:
        """Be quiet here, or everywhere: what is said is still read and commands work; nobody is answered.

        Reminders that people asked for still come, as they cost no call and somebody relies on them; nuan writes
        nothing by herself.
        """
        return await self._switch(asked, on=False)

    async def _switch(self, asked: Invocation, *, on: bool) -> str:
        words, now = fold(" ".join(asked.words)), self._clock.now()
        if words in EVERYWHERE_WORDS:
            if not asked.person.is_owner:
                return self._text(asked, "not_allowed")
            await self._store.people.switch_bot(on, asked.person.id, now)
            return self._text(asked, "switched_on_all" if on else "switched_off_all")
        if words:
            return self._text(asked, "switch_words")
        if refused := await self._refused(asked):
            return self._text(asked, refused)
        await self._store.people.switch(asked.chat.id, on, now)
        if on and await self._store.settings.is_bot_off():
            return self._text(asked, "switched_on_house_off")
        return self._text(asked, "switched_on" if on else "switched_off")

    async def _refused(self, asked: Invocation) -> str:
        """Why this person may not switch this chat, as a key, "" when they may; in a group the platform says so."""
        if asked.person.is_owner or asked.chat.kind == "dm":
            return ""
        adapter = self._adapter(asked.chat.platform)
        if adapter is None or not implements(adapter, Admins):
            return "not_allowed"
        _, account = await self._store.access.answer_to(asked.event)
        try:
            async with asyncio.timeout(ADMIN_ANSWER_S):
                may = bool(account) and await adapter.is_admin(asked.chat.external_id, account)
        except (OSError, TimeoutError):
            return "switch_unsure"
        return "" if may else "switch_not_allowed"


class ModeCommand:
    """Shows and sets how nuan speaks in the group it is asked in."""

    def __init__(self, switches: Switches, speak: SpeakRules, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._speak = speak
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai mode …`; a mode is stored before it is confirmed."""
        if asked.chat.kind == "dm":
            return self._text(asked, "mode_dm")
        match tuple(fold(word) for word in asked.words):
            case () | ("show",):
                mode = asked.chat.mode or self._speak.mode
                origin = self._text(asked, "context_own" if asked.chat.mode else "context_configured")
                return self._text(asked, "mode_now", mode=self._text(asked, f"mode_{mode}"), origin=origin)
            case ("reset",):
                await self._switches.set_mode(asked.chat.id, None, drop=self._speak.mode == "called")
                return self._text(asked, "mode_set", mode=self._text(asked, f"mode_{self._speak.mode}"))
            case ("window" | "called" | "join" as mode,):
                await self._switches.set_mode(asked.chat.id, mode, drop=mode == "called")
                return self._text(asked, "mode_set", mode=self._text(asked, f"mode_{mode}"))
            case _:
                return self._text(asked, "mode_words")


class WhyCommand:
    """Says why nuan last spoke, waits or stayed silent in the chat it is asked in."""

    def __init__(self, store: Store, clock: Clock, words: Texts, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """One line; it holds names of those who write here, and nothing else that anybody said or keeps."""
        known, now = await self._store.reasons.last(asked.chat.id, asked.event.id), self._clock.now()
        reason = explain_decision(known, now)
        tz = self._words.tz(self._words.zone_of(asked.chat, asked.person))
        told = self._text(
            asked, reason.key, name=reason.name, seconds=math.ceil(max(reason.at - now, 0) / 100) / 10,
            at=time_label(reason.at, tz),
        )  # fmt: skip
        return self._text(asked, f"why_frame_{reason.frame}", reason=told)


NAME_CHARS = 32


class PersonaCommand:
    """Shows and sets the persona of a chat; its next turn begins a new log on it."""

    def __init__(self, switches: Switches, personas: Personas, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._personas = personas
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai persona …`; a choice is stored before it is confirmed."""
        known = self._personas.known
        match asked.words:
            case ():
                return self._now(asked)
            case (name,) if name in known:
                await self._switches.set_persona(asked.chat.id, name)
                return self._text(asked, "persona_set", name=name)
            case ("reset",):
                await self._switches.set_persona(asked.chat.id, "")
                return self._text(asked, "persona_set", name=self._personas.default)
            case _:
                return self._unknown(asked, " ".join(asked.words))

    def _now(self, asked: Invocation) -> str:
        chosen = asked.chat.persona
        name = self._personas.name(chosen)
        origin = self._text(asked, "context_own" if chosen == name else "context_configured")
        others = ", ".join(sorted(each for each in self._personas.known if each != name))
        return self._text(asked, "persona_now" if others else "persona_only", name=name, origin=origin, list=others)

    def _unknown(self, asked: Invocation, wanted: str) -> str:
        name, near = clip(clean_name(wanted), NAME_CHARS), self._personas.near(wanted)
        listed = ", ".join(sorted(self._personas.known))
        told = self._text(asked, "persona_near" if near else "persona_unknown", name=name, near=near, list=listed)
        return told if near else told + hint(asked, "persona", self._text)


_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
_DIGITS = 12
"""A longer number is as good as the largest one."""


@dataclass(frozen=True, slots=True)
class ContextNumber:
    """One number of the command, the least and the most it may be (seed AI Chat Pipeline: 1, 10 and 20)."""

    name: str
    least: int
    most: int


CONTEXT_NUMBERS = (
    ContextNumber("recent", 1, 5_000),
    ContextNumber("window", 10, 31_536_000),
    ContextNumber("recentmax", 20, 5_000),
)


def clamped(word: str, knob: ContextNumber) -> tuple[int, bool] | None:
    """The number that a word says, brought into bounds, and whether that changed it; None when it is no number."""
    text = fold(word)
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    size = knob.most + 1 if len(digits) > _DIGITS else int(digits)
    asked = -size if text.startswith("-") else size
    kept = min(max(asked, knob.least), knob.most)
    return kept, kept != asked


class ContextCommand:
    """Shows and sets the numbers of the chat it is asked in."""

    def __init__(self, switches: Switches, context: ContextRules, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._context = context
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai context …`; a number is stored before it is confirmed."""
        match tuple(fold(word) for word in asked.words):
            case () | ("show",):
                return await self._show(asked)
            case ("reset",):
                await self._switches.set_context(asked.chat.id, ChatContextSettings())
                return f"{self._text(asked, 'context_reset')}\n{await self._show(asked)}"
            case (name, _) if knob := next((knob for knob in CONTEXT_NUMBERS if knob.name == name), None):
                return await self._set(asked, knob, asked.words[1])
            case _:
                return self._text(asked, "context_words")

    async def _set(self, asked: Invocation, knob: ContextNumber, word: str) -> str:
        found = clamped(word, knob)
        if found is None:
            return self._text(asked, "context_number", name=knob.name, word=word[:32], least=knob.least, most=knob.most)
        number, changed = found
        wish = await self._switches.context(asked.chat.id)
        match knob.name:
            case "recent":
                wish = replace(wish, recent=number)
            case "window":
                wish = replace(wish, window_seconds=number)
            case _:
                wish = replace(wish, recent_max=number)
        await self._switches.set_context(asked.chat.id, wish)
        key = "context_clamped" if changed else "context_set"
        return self._text(asked, key, name=knob.name, n=number, least=knob.least, most=knob.most)

    async def _show(self, asked: Invocation) -> str:
        wish = await self._switches.context(asked.chat.id)
        rows = (
            ("context_recent", wish.recent, self._context.recent),
            ("context_window", wish.window_seconds, self._context.window_seconds),
            ("context_recentmax", wish.recent_max, self._context.bus_max),
        )
        lines = [
            self._text(
                asked, key, n=usual if own is None else own,
                origin=self._text(asked, "context_configured" if own is None else "context_own"),
            )
            for key, own, usual in rows
        ]  # fmt: skip
        digest = "context_digest_all" if wish.recent_max is None else "context_digest"
        return "\n".join((*lines, self._text(asked, digest, n=wish.recent_max or 0), self._text(asked, "context_when")))
