"""`.ai mode` and `.ai why`: how nuan speaks in a group, and why it did or did not. They decide nothing."""

import math
from collections.abc import Callable

from bot.commands.table import Asked
from bot.config.speak import Speak
from bot.flow.words import Words
from bot.ports import Clock
from bot.session.explaining import explain
from bot.store.store import Store
from bot.store.switches import Switches
from bot.text.dates import time_label
from bot.text.fold import fold


class ModeCommand:
    """Shows and sets how nuan speaks in the group it is asked in."""

    def __init__(self, switches: Switches, speak: Speak, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._speak = speak
        self._text = text

    async def run(self, asked: Asked) -> str:
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

    def __init__(self, store: Store, clock: Clock, words: Words, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Asked) -> str:
        """One line; it holds names of those who write here, and nothing else that anybody said or keeps."""
        known, now = await self._store.reasons.last(asked.chat.id, asked.event.id), self._clock.now()
        reason = explain(known, now)
        tz = self._words.tz(self._words.zone_of(asked.chat, asked.person))
        told = self._text(
            asked, reason.key, name=reason.name, seconds=math.ceil(max(reason.at - now, 0) / 100) / 10,
            at=time_label(reason.at, tz),
        )  # fmt: skip
        return self._text(asked, f"why_frame_{reason.frame}", reason=told)
