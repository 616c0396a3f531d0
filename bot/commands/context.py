"""`.ai context`: how much of what happened a chat is told when a conversation opens."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.commands.table import Asked
from bot.config.settings import Context
from bot.store.switches import Switches
from bot.text.fold import fold
from bot.types.context import ContextWish

_NUMBER = re.compile(r"[+-]?[0-9]+")
_DIGITS = 12
"""A longer number is as good as the largest one."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One number of the command, the least and the most it may be (seed AI Chat Pipeline: 1, 10 and 20)."""

    name: str
    least: int
    most: int


KNOBS = (Knob("recent", 1, 5_000), Knob("window", 10, 31_536_000), Knob("recentmax", 20, 5_000))


def clamped(word: str, knob: Knob) -> tuple[int, bool] | None:
    """The number that a word says, brought into bounds, and whether that changed it; None when it is no number."""
    text = fold(word)
    if not _NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    size = knob.most + 1 if len(digits) > _DIGITS else int(digits)
    asked = -size if text.startswith("-") else size
    kept = min(max(asked, knob.least), knob.most)
    return kept, kept != asked


class ContextCommand:
    """Shows and sets the numbers of the chat it is asked in."""

    def __init__(self, switches: Switches, context: Context, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._context = context
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai context …`; a number is stored before it is confirmed."""
        match tuple(fold(word) for word in asked.words):
            case () | ("show",):
                return await self._show(asked)
            case ("reset",):
                await self._switches.set_context(asked.chat.id, ContextWish())
                return f"{self._text(asked, 'context_reset')}\n{await self._show(asked)}"
            case (name, _) if knob := next((knob for knob in KNOBS if knob.name == name), None):
                return await self._set(asked, knob, asked.words[1])
            case _:
                return self._text(asked, "context_words")

    async def _set(self, asked: Asked, knob: Knob, word: str) -> str:
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

    async def _show(self, asked: Asked) -> str:
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
