"""`.ai info`, `feedback`, `refs`, `tools`, `trace`, `introspect` and `personality`: a look inside; nothing changes."""

from collections.abc import Awaitable, Callable
from datetime import datetime, tzinfo
from functools import partial
from itertools import groupby

from bot import __version__
from bot.commands.command import Invocation
from bot.config.settings import Settings
from bot.core.clock import DAY_MS
from bot.core.inspection import ToldMemory
from bot.core.memories import SIGN_WEIGHTS
from bot.core.models import ToolSpec
from bot.core.ports import Clock
from bot.pipeline.inspection import plan_imagined
from bot.pipeline.plan import Planner
from bot.pipeline.texts import Texts
from bot.store.inspector import TurnRequest
from bot.store.outbox import Traces
from bot.store.store import Store
from bot.text.dates import clock_label, day_start, local_day
from bot.text.fold import fold
from bot.text.length import clip

REPLIES_SHOWN = 10
"""Signs or replies that a list shows."""

MOST_MEMORIES_READ = 60
"""Memories of those replies that are read."""

TEXT_CHARS = 40

Text = Callable[..., str]


class AccountCommands:
    """Shows a chat as it stands, what somebody thought of replies here, and which of their memories those were told."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Texts, text: Text
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._text = text

    async def info(self, asked: Invocation) -> str:
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

    async def feedback(self, asked: Invocation) -> str:
        """The answer to `.ai feedback …`: only the signs of the person who asks, to replies of this chat."""
        text, given = partial(self._text, asked), (asked.chat.id, asked.person.id)
        if tuple(map(fold, asked.words)) == ("recent",):
            marks = await self._store.insight.marks(*given, REPLIES_SHOWN)
            tz = self._tz(asked)
            lines = [
                text("feedback_line", at=time_text(mark.at, tz), sign=sign_text(mark.sign, text),
                     reply=clip(" ".join(mark.reply.split()), TEXT_CHARS) or text("feedback_gone"))
                for mark in marks
            ]  # fmt: skip
            return "\n".join(lines) or text("feedback_none")
        signs = await self._store.insight.signs(*given)
        return (
            text("feedback_stats", signs=sign_list(signs, text), **sign_figures(signs))
            if signs
            else text("feedback_none")
        )

    async def refs(self, asked: Invocation) -> str:
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
        told = await self._store.insight.told(asked.person.id, audience, MOST_MEMORIES_READ)
        turns = [tuple(each) for _, each in groupby(told, key=lambda one: (one.session, one.turn))]
        return "\n".join(self._reply(each, asked) for each in turns[:REPLIES_SHOWN]) or text("refs_none")

    def _reply(self, told: tuple[ToldMemory, ...], asked: Invocation) -> str:
        """One reply and the memories that it was told, the recalled ones first."""
        text, first = partial(self._text, asked), told[0]
        parts = [
            text(key, list="; ".join(f"#{one.memory_id} {clip(one.text, TEXT_CHARS)}" for one in found))
            for key, boot in (("refs_recalled", False), ("refs_opened", True))
            if (found := [one for one in told if one.boot == boot])
        ]
        at = time_text(first.at, self._tz(asked))
        return text("refs_line", at=at, session=first.session, turn=first.turn, told=" · ".join(parts))

    def _tz(self, asked: Invocation) -> tzinfo:
        return self._words.tz(self._words.zone_of(asked.chat, asked.person))


def time_text(ms: int, tz: tzinfo) -> str:
    """A moment in a list, "06-12 09:03"."""
    return f"{datetime.fromtimestamp(ms / 1000, tz):%m-%d %H:%M}"


def sign_text(sign: str, text: Text) -> str:
    """A sign as people know it: the emoji, or the word for what was said."""
    return text(f"sign_{sign}") if sign.isascii() else sign


def sign_list(signs: tuple[tuple[str, int], ...], text: Text) -> str:
    """The signs with their numbers, "👍 2, thanks 1"."""
    return ", ".join(f"{sign_text(sign, text)} {count}" for sign, count in signs)


def sign_figures(signs: tuple[tuple[str, int], ...]) -> dict[str, object]:
    """How many signs speak for replies and how many against, and their average weight."""
    weights = [(SIGN_WEIGHTS.get(sign, 0.0), count) for sign, count in signs]
    total = sum(count for _, count in weights)
    mean = sum(weight * count for weight, count in weights) / total if total else 0.0
    up, down = (sum(count for weight, count in weights if weight * way > 0) for way in (1, -1))
    return {"n": total, "up": up, "down": down, "mean": f"{mean:+.2f}"}


INTROSPECTION_DAYS = 7
"""How far back introspection looks."""

SOUL_CHARS = 1_200

ABOUT_CHARS = 60


class InsightCommands:
    """Shows which tools there are, how the last turn came about, how it goes here, and who nuan is."""

    def __init__(self, store: Store, planner: Planner, clock: Clock, words: Texts, currency: str, text: Text) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._words = words
        self._currency = currency
        self._text = text

    async def tools(self, asked: Invocation) -> str:
        """The answer to `.ai tools`: what a turn here would bring, composed as one is."""
        text = partial(self._text, asked)
        plan = await plan_imagined(self._planner, self._words, asked.chat, asked.person, "", self._clock.now())
        known, alone = self._planner.personas.of(asked.chat.persona), asked.chat.kind == "dm"
        there = plan.prompt.tools or known.of("full", asked.script, alone=alone).tools
        lines = [text("tools_head", n=len(there)) if there else text("tools_none")]
        lines += [f"{tool.name} — {tool_text(tool, text)}" for tool in there]
        if there and not plan.prompt.tools:
            lines.append(text("tools_light", why=plan.choice.why))
        return "\n".join(lines)

    async def trace(self, asked: Invocation) -> str:
        """The answer to `.ai trace`: the last turn of this chat in numbers; none of its words."""
        last = await self._store.turn_inspector.taken(0, 1, asked.chat.id)
        sent = await self._store.turn_inspector.sent(last[0].id) if last else None
        if sent is None:
            return self._text(asked, "trace_none")
        return trace_lines(sent, self._currency, self._tz(asked), partial(self._text, asked))

    async def introspect(self, asked: Invocation) -> str:
        """The answer to `.ai introspect`: how it went in this chat lately, in numbers."""
        text = partial(self._text, asked)
        seen = await self._store.insight.looked(asked.chat.id, self._clock.now() - INTROSPECTION_DAYS * DAY_MS)
        lines = [
            text("introspect_turns", days=INTROSPECTION_DAYS, said=seen.said, unasked=seen.unasked, failed=seen.failed,
                 quiet=seen.quiet),
            text("introspect_signs", signs=sign_list(seen.signs, text), **sign_figures(seen.signs))
            if seen.signs else text("introspect_no_signs"),
            text("introspect_memory", told=seen.with_memory, said=seen.said),
            text("introspect_only"),
        ]  # fmt: skip
        return "\n".join(lines)

    async def personality(self, asked: Invocation) -> str:
        """The answer to `.ai personality`: the persona of this chat in its own words, and since when it is that."""
        text, personas = partial(self._text, asked), self._planner.personas
        name, known = personas.name(asked.chat.persona), personas.of(asked.chat.persona)
        full = known.of("full", asked.script, alone=asked.chat.kind == "dm")
        since = await self._store.insight.since(asked.chat.id, full.signature)
        day = local_day(since, self._tz(asked)) if since else None
        return "\n".join(
            (
                text("personality_who", name=name, who=full.who),
                *((clip(known.soul, SOUL_CHARS),) if known.soul else ()),
                text("personality_since", day=day, signature=full.signature) if day else text("personality_new"),
                text("personality_only", name=name),
            )
        )

    def _tz(self, asked: Invocation) -> tzinfo:
        return self._words.tz(self._words.zone_of(asked.chat, asked.person))


def tool_text(tool: ToolSpec, text: Text) -> str:
    """What a tool does: in the person's script where it is one of our own, else as the model is told."""
    key = f"tool_{tool.name}"
    told = text(key)
    return told if told != key else clip(" ".join(tool.description.split()), ABOUT_CHARS)


def trace_lines(sent: TurnRequest, currency: str, tz: tzinfo, text: Text) -> str:
    """A turn in numbers: where it stands, why it was taken, its calls, and what memory brought to it and why."""
    turn = sent.turn
    lines = [
        text("trace_head", session=turn.session, epoch=turn.epoch, turn=turn.number, at=clock_label(turn.asked_at, tz)),
        text("trace_why", why=text(f"why_{turn.why}", name=turn.who), state=turn.state, error=turn.error or "–"),
        text("trace_mode", mode=turn.mode, why=turn.mode_why or "–", log=turn.epoch_reason, tools=len(sent.tools)),
    ]
    lines += [
        text("trace_call", cause=call.cause, model=call.model, prompt=call.prompt_tokens, cached=call.cached_tokens,
             output=call.output_tokens, money=f"{call.cost:.5f} {currency}", ms=call.ms, state=call.state)
        for call in sent.calls
    ]  # fmt: skip
    lines += [
        text("trace_brought", way=each.way, ref=each.ref or "–", tokens=each.tokens, why=each.why or "–")
        for each in sent.brought
    ]
    return "\n".join(lines)


class TraceCommand:
    """Shows the last turn, and switches the line about each turn in an owner's own direct chat."""

    def __init__(
        self, traces: Traces, clock: Clock, text: Callable[..., str], look: Callable[[Invocation], Awaitable[str]]
    ) -> None:  # fmt: skip
        """`look` shows the last turn."""
        self._traces = traces
        self._clock = clock
        self._text = text
        self._look = look

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai trace …`; a switch is stored before it is confirmed."""
        words = fold(" ".join(asked.words))
        if words not in ("on", "off"):
            return self._text(asked, "trace_words") if words else await self._look(asked)
        if not asked.person.is_owner:
            return self._text(asked, "not_allowed")
        if asked.chat.kind != "dm":
            return self._text(asked, "trace_private")
        await self._traces.switch(asked.chat.id, asked.person.id, words == "on", self._clock.now())
        return self._text(asked, f"trace_{words}")
