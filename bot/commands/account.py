"""`.ai info`, `feedback` and `refs`: what there is to know of this chat and one's part in it. They change nothing."""

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from itertools import groupby

from bot import __version__
from bot.commands.table import Asked
from bot.config.settings import Settings
from bot.flow.plan import Planner
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.dates import clock_label, day_start
from bot.text.fold import fold
from bot.types.duration import DAY_MS
from bot.types.feedback import SIGNS
from bot.types.insight import Told

SHOWN = 10
"""Signs or replies that a list shows."""

MOST_TOLD = 60
"""Memories of those replies that are read."""

TEXT_CHARS = 40

Text = Callable[..., str]


class AccountCommands:
    """Shows a chat as it stands, what somebody thought of replies here, and which of their memories those were told."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Words, text: Text
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._text = text

    async def info(self, asked: Asked) -> str:
        """The answer to `.ai` and `.ai info`: of the chat alone, as everyone in it may know it."""
        text, chat, tz = partial(self._text, asked), asked.chat, self._tz(asked)
        here = await self._store.insight.here(chat.id, day_start(self._clock.now(), tz))
        mode = text("info_dm") if chat.kind == "dm" else text(f"mode_{chat.mode or self._settings.speak.mode}")
        lines = [
            text("info_who", version=__version__, persona=self._planner.personas.name(chat.persona)),
            text("info_on", mode=mode) if chat.enabled else text("info_off"),
            text("info_session", n=here.session, at=clock_label(here.opened_at, tz), turns=here.turns)
            if here.session else text("info_no_session"),
            text("info_today", n=here.said_today),
        ]  # fmt: skip
        return "\n".join((*lines, text("info_help")))

    async def feedback(self, asked: Asked) -> str:
        """The answer to `.ai feedback …`: only the signs of the person who asks, to replies of this chat."""
        text, given = partial(self._text, asked), (asked.chat.id, asked.person.id)
        if tuple(map(fold, asked.words)) == ("recent",):
            marks = await self._store.insight.marks(*given, SHOWN)
            tz = self._tz(asked)
            lines = [
                text("feedback_line", at=stamp(mark.at, tz), sign=signed(mark.sign, text),
                     reply=clip(" ".join(mark.reply.split()), TEXT_CHARS) or text("feedback_gone"))
                for mark in marks
            ]  # fmt: skip
            return "\n".join(lines) or text("feedback_none")
        signs = await self._store.insight.signs(*given)
        return text("feedback_stats", signs=listed(signs, text), **judged(signs)) if signs else text("feedback_none")

    async def refs(self, asked: Asked) -> str:
        """The answer to `.ai refs …`: only memories of the person who asks, as this chat may see them."""
        text = partial(self._text, asked)
        audience = await self._planner.audience(asked.chat, asked.person)
        if tuple(map(fold, asked.words)) == ("stats",):
            days = self._settings.retention.transcript_days
            since = self._clock.now() - days * DAY_MS
            counts = await self._store.insight.told_counts(asked.person.id, audience, since)
            return text(
                "refs_stats", days=days, replies=counts.replies, told=counts.with_memory, recalled=counts.recalled,
                opened=counts.opened, memories=counts.memories,
            )  # fmt: skip
        told = await self._store.insight.told(asked.person.id, audience, MOST_TOLD)
        turns = [tuple(each) for _, each in groupby(told, key=lambda one: (one.session, one.turn))]
        return "\n".join(self._reply(each, asked) for each in turns[:SHOWN]) or text("refs_none")

    def _reply(self, told: tuple[Told, ...], asked: Asked) -> str:
        """One reply and the memories that it was told, the recalled ones first."""
        text, first = partial(self._text, asked), told[0]
        parts = [
            text(key, list="; ".join(f"#{one.memory_id} {clip(one.text, TEXT_CHARS)}" for one in found))
            for key, boot in (("refs_recalled", False), ("refs_opened", True))
            if (found := [one for one in told if one.boot == boot])
        ]
        at = stamp(first.at, self._tz(asked))
        return text("refs_line", at=at, session=first.session, turn=first.turn, told=" · ".join(parts))

    def _tz(self, asked: Asked) -> tzinfo:
        return self._words.tz(self._words.zone_of(asked.chat, asked.person))


def stamp(ms: int, tz: tzinfo) -> str:
    """A moment in a list, "06-12 09:03"."""
    return f"{datetime.fromtimestamp(ms / 1000, tz):%m-%d %H:%M}"


def signed(sign: str, text: Text) -> str:
    """A sign as people know it: the emoji, or the word for what was said."""
    return text(f"sign_{sign}") if sign.isascii() else sign


def listed(signs: tuple[tuple[str, int], ...], text: Text) -> str:
    """The signs with their numbers, "👍 2, thanks 1"."""
    return ", ".join(f"{signed(sign, text)} {count}" for sign, count in signs)


def judged(signs: tuple[tuple[str, int], ...]) -> dict[str, object]:
    """How many signs speak for replies and how many against, and their average weight."""
    weights = [(SIGNS.get(sign, 0.0), count) for sign, count in signs]
    total = sum(count for _, count in weights)
    mean = sum(weight * count for weight, count in weights) / total if total else 0.0
    up, down = (sum(count for weight, count in weights if weight * way > 0) for way in (1, -1))
    return {"n": total, "up": up, "down": down, "mean": f"{mean:+.2f}"}
