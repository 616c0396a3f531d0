"""`.ai tools`, `trace`, `introspect`, `personality`: a look inside. They show; nothing changes by being looked at."""

from collections.abc import Callable
from datetime import tzinfo
from functools import partial

from bot.commands.account import judged, listed
from bot.commands.table import Asked
from bot.flow.imagine import imagine
from bot.flow.plan import Planner
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.store.watching import Sent
from bot.text.clip import clip
from bot.text.dates import clock_label, local_day
from bot.types.duration import DAY_MS
from bot.types.prompt import ToolSpec

DAYS = 7
"""How far back introspection looks."""

SOUL_CHARS = 1_200

ABOUT_CHARS = 60

Text = Callable[..., str]


class InsightCommands:
    """Shows which tools there are, how the last turn came about, how it goes here, and who nuan is."""

    def __init__(self, store: Store, planner: Planner, clock: Clock, words: Words, currency: str, text: Text) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._words = words
        self._currency = currency
        self._text = text

    async def tools(self, asked: Asked) -> str:
        """The answer to `.ai tools`: what a turn here would bring, composed as one is."""
        text = partial(self._text, asked)
        plan = await imagine(self._planner, self._words, asked.chat, asked.person, "", self._clock.now())
        known, alone = self._planner.personas.of(asked.chat.persona), asked.chat.kind == "dm"
        there = plan.prompt.tools or known.of("full", asked.script, alone=alone).tools
        lines = [text("tools_head", n=len(there)) if there else text("tools_none")]
        lines += [f"{tool.name} — {about(tool, text)}" for tool in there]
        if there and not plan.prompt.tools:
            lines.append(text("tools_light", why=plan.choice.why))
        return "\n".join(lines)

    async def trace(self, asked: Asked) -> str:
        """The answer to `.ai trace`: the last turn of this chat in numbers; none of its words."""
        last = await self._store.watching.taken(0, 1, asked.chat.id)
        sent = await self._store.watching.sent(last[0].id) if last else None
        if sent is None:
            return self._text(asked, "trace_none")
        return trace_lines(sent, self._currency, self._tz(asked), partial(self._text, asked))

    async def introspect(self, asked: Asked) -> str:
        """The answer to `.ai introspect`: how it went in this chat lately, in numbers."""
        text = partial(self._text, asked)
        seen = await self._store.insight.looked(asked.chat.id, self._clock.now() - DAYS * DAY_MS)
        lines = [
            text("introspect_turns", days=DAYS, said=seen.said, unasked=seen.unasked, failed=seen.failed,
                 quiet=seen.quiet),
            text("introspect_signs", signs=listed(seen.signs, text), **judged(seen.signs))
            if seen.signs else text("introspect_no_signs"),
            text("introspect_memory", told=seen.with_memory, said=seen.said),
            text("introspect_only"),
        ]  # fmt: skip
        return "\n".join(lines)

    async def personality(self, asked: Asked) -> str:
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

    def _tz(self, asked: Asked) -> tzinfo:
        return self._words.tz(self._words.zone_of(asked.chat, asked.person))


def about(tool: ToolSpec, text: Text) -> str:
    """What a tool does: in the person's script where it is one of our own, else as the model is told."""
    key = f"tool_{tool.name}"
    told = text(key)
    return told if told != key else clip(" ".join(tool.description.split()), ABOUT_CHARS)


def trace_lines(sent: Sent, currency: str, tz: tzinfo, text: Text) -> str:
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
