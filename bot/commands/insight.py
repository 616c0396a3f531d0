"""`.ai ctx`, `calls`, `tools`, `trace`, `introspect`, `personality`, `feedback` and `refs`: a look inside."""

from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from itertools import groupby

from bot.commands.command import Invocation, command
from bot.commands.prompt_report import ctx_report, ctx_summary
from bot.commands.settings import day_minute, show_or_set
from bot.core.clock import DAY_MS
from bot.core.events import Draft
from bot.core.inspection import ToldMemory
from bot.core.memories import SIGN_WEIGHTS
from bot.core.models import RecentCall, ToolSpec
from bot.core.people import Person
from bot.pipeline.calls import BackgroundGate
from bot.pipeline.inspection import inspect_plan, plan_imagined
from bot.store.inspector import TurnRequest
from bot.text.dates import clock_label, local, local_day
from bot.text.fold import fold
from bot.text.length import clip

REPLIES_SHOWN = 10
"""Signs or replies that a list shows."""

MOST_MEMORIES_READ = 60
"""Memories of those replies that are read."""

TEXT_CHARS = 40

MODEL_CHARS = 24
"""Of a model's name where a line has to fit a phone."""

Text = Callable[..., str]

CALLS_SHOWN, MOST_CALLS = 5, 50
"""What fits a phone, of two lines each, and what one answer holds."""

INTROSPECTION_DAYS = 7
"""How far back introspection looks."""

SOUL_CHARS = 1_200

ABOUT_CHARS = 60


@command("feedback", "[stats | recent]", who="anyone", topic="memory", private=True, example="recent")
async def feedback(call: Invocation) -> str:
    """Only the signs of the person who asks, to replies of this chat."""
    if call.folded == ("recent",):
        marks = await call.store.inspector.reply_signs(call.chat.id, call.person.id, REPLIES_SHOWN)
        lines = [
            call.text(
                "feedback_line",
                at=day_minute(mark.at, call.tz),
                sign=sign_text(mark.sign, call.text),
                reply=clip(" ".join(mark.reply.split()), TEXT_CHARS) or call.text("feedback_gone"),
            )
            for mark in marks
        ]
        return "\n".join(lines) or call.text("feedback_none")
    signs = await call.store.inspector.signs(call.chat.id, call.person.id)
    if not signs:
        return call.text("feedback_none")
    return call.text("feedback_stats", signs=sign_list(signs, call.text), **sign_figures(signs))


@command("refs", "[recent | stats]", who="anyone", topic="memory", private=True, example="stats")
async def refs(call: Invocation) -> str:
    """Only memories of the person who asks, as this chat may see them."""
    audience = await call.audience()
    if call.folded == ("stats",):
        days = call.services.settings.retention.transcript_days
        counts = await call.store.inspector.told_counts(call.person.id, audience, call.now - days * DAY_MS)
        return call.text(
            "refs_stats",
            days=days,
            replies=counts.replies,
            told=counts.with_memory,
            recalled=counts.recalled,
            opened=counts.opened,
            memories=counts.memories,
        )
    told = await call.store.inspector.told_memories(call.person.id, audience, MOST_MEMORIES_READ)
    turns = [tuple(each) for _, each in groupby(told, key=lambda one: (one.session, one.turn))]
    return "\n".join(_reply_line(call, each) for each in turns[:REPLIES_SHOWN]) or call.text("refs_none")


def _reply_line(call: Invocation, told: tuple[ToldMemory, ...]) -> str:
    """One reply and the memories that it was told, the recalled ones first."""
    first = told[0]
    parts = [
        call.text(key, list="; ".join(f"#{one.memory_id} {clip(one.text, TEXT_CHARS)}" for one in found))
        for key, boot in (("refs_recalled", False), ("refs_opened", True))
        if (found := [one for one in told if one.boot == boot])
    ]
    at = day_minute(first.at, call.tz)
    return call.text("refs_line", at=at, session=first.session, turn=first.turn, told=" · ".join(parts))


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


@command("ctx", "[full] [PERSON] [QUERY]", who="own", topic="inside", private=True)
async def ctx(call: Invocation) -> str | Draft:
    """The next turn as it would be sent: what it holds, or with `full` word for word."""
    whole = call.folded[:1] == ("full",)
    wanted = await _ctx_wanted(
        replace(call, words=call.words[1:]) if whole else call, ".ai ctx full" if whole else ".ai ctx"
    )
    if isinstance(wanted, Draft):
        return wanted
    person, query = wanted
    services, now = call.services, call.now
    tz = services.texts.tz_of(call.chat, person)
    plan = await plan_imagined(services.planner, services.texts, call.chat, person, query, now)
    seen = await inspect_plan(call.store, services.planner, plan, call.chat.id, now, tz)
    return ctx_report(seen, call.text) if whole else ctx_summary(seen, call.text)


async def _ctx_wanted(call: Invocation, command: str) -> tuple[Person, str] | Draft:
    """Of whom, and what they would say; in a DM only of oneself. A name asks which account is meant."""
    words = call.words
    if words and call.person.is_owner and call.chat.kind == "group":
        found = await call.one_here(words[0], lambda account: " ".join((command, account, *words[1:])))
        if isinstance(found, Draft):
            return found
        if found is not None:
            return await call.store.people.person(found), " ".join(words[1:])
    return call.person, " ".join(words[1:] if words[:1] == (call.person.name,) else words)


@command("calls", "[recent N | background on|off]", who="owner", topic="inside", private=True, example="background off")
async def calls(call: Invocation) -> str:
    """The calls of models, the newest first; switches those of the background."""
    words = call.folded
    gate = BackgroundGate(call.store.settings, call.services.current)
    shown = calls_wanted(words)
    if shown is None and words not in (("background", "on"), ("background", "off")):
        return call.text("calls_words")
    if shown is None:
        await gate.switch(words[1] == "on")
    if words[1:] == ("on",) and not gate.configured:
        return call.text("background_fixed")
    made = await call.store.ledger.recent(shown or CALLS_SHOWN)
    sources = gate.sources if await gate.is_on() else ()
    report = calls_report(made, sources, call.tz, call.services.settings.budget.currency, call.text)
    dead = sum((await call.store.events.dead()).values())
    return f"{report}\n{call.text('calls_dead', n=dead)}" if dead else report


def calls_wanted(words: tuple[str, ...]) -> int | None:
    """How many calls these words ask to see; None when they ask for something else."""
    match words:
        case () | ("recent",):
            return CALLS_SHOWN
        case ("recent", number) if number.isascii() and number.isdigit() and int(number[:9]):
            return min(int(number[:9]), MOST_CALLS)
        case _:
            return None


def calls_report(
    made: tuple[RecentCall, ...], sources: tuple[str, ...], tz: tzinfo, currency: str, text: Callable[..., str]
) -> str:
    """Whether there are calls in the background, then each call, the newest first."""
    state = text("background_on" if sources else "background_off")
    lines = [call_line(call, f"{local(call.at, tz):%m-%d %H:%M}", currency, text) for call in made]
    more = [text("calls_more")] if len(made) == CALLS_SHOWN else []
    return "\n".join((text("calls_head", state=state, n=len(made)), *(lines or [text("calls_none")]), *more))


def call_line(call: RecentCall, at: str, currency: str, text: Text) -> str:
    """What a call was for, which model took how long, and what it read and wrote at what cost."""
    return text(
        "calls_line",
        at=at,
        cause=text(f"cause_{call.cause}"),
        model=clip(call.model, MODEL_CHARS),
        seconds=f"{call.ms / 1000:.1f}",
        prompt=call.prompt_tokens,
        cached=call.cached_tokens,
        output=call.output_tokens,
        money=f"{call.money:.5f} {currency}",
        state="" if call.state == "settled" else text(f"call_{call.state}"),
    ).strip()


@command("tools", "[on | off | reset]", who="anyone", topic="inside", example="off")
async def tools(call: Invocation) -> str:
    """Which tools a turn here would bring, composed as one is, for anyone; owners switch them."""
    if call.words:
        return await show_or_set(call, "tools")
    planner = call.services.planner
    plan = await plan_imagined(planner, call.services.texts, call.chat, call.person, "", call.now)
    known, alone = planner.personas.of(call.chat.persona), call.chat.kind == "dm"
    there = plan.prompt.tools or known.of("full", call.script, alone=alone).tools
    lines = [call.text("tools_head", n=len(there)) if there else call.text("tools_none")]
    lines += [f"{tool.name} — {tool_text(tool, call.text)}" for tool in there]
    if there and not plan.prompt.tools:
        lines.append(call.text("tools_light"))
    return "\n".join(lines)


@command("trace", "[on | off]", who="own", topic="inside", private=True, example="on")
async def trace(call: Invocation) -> str:
    """Show the last turn, or switch the line about each turn in an owner's own direct chat; stored before confirmed."""
    words = fold(" ".join(call.words))
    if words not in ("on", "off"):
        return call.text("trace_words") if words else await _last_turn(call)
    if not call.person.is_owner:
        return call.text("not_allowed")
    if call.chat.kind != "dm":
        return call.text("trace_private")
    await call.store.outbox.set_trace(call.chat.id, call.person.id, words == "on", call.now)
    return call.text(f"trace_{words}")


async def _last_turn(call: Invocation) -> str:
    """The last turn of this chat in numbers; none of its words."""
    last = await call.store.inspector.turns(0, 1, call.chat.id)
    sent = await call.store.inspector.request(last[0].id) if last else None
    if sent is None:
        return call.text("trace_none")
    told = trace_lines(sent, call.services.settings.budget.currency, call.tz, call.text)
    phases = call.services.timings.of(last[0].id)
    return told if phases is None else f"{told}\n{call.text('trace_phases', **phases)}"


@command("introspect", who="own", topic="inside", private=True)
async def introspect(call: Invocation) -> str:
    """How it went in this chat lately, in numbers."""
    text = call.text
    seen = await call.store.inspector.statistics(call.chat.id, call.now - INTROSPECTION_DAYS * DAY_MS)
    lines = [
        text(
            "introspect_turns",
            days=INTROSPECTION_DAYS,
            said=seen.said,
            unasked=seen.unasked,
            failed=seen.failed,
            quiet=seen.quiet,
        ),
        text("introspect_signs", signs=sign_list(seen.signs, text), **sign_figures(seen.signs))
        if seen.signs
        else text("introspect_no_signs"),
        text("introspect_memory", told=seen.with_memory, said=seen.said),
        text("introspect_only"),
    ]
    return "\n".join(lines)


@command("personality", who="own", topic="inside", private=True)
async def personality(call: Invocation) -> str:
    """The persona of this chat in its own words, and since when it is that."""
    personas = call.services.planner.personas
    name, known = personas.name(call.chat.persona), personas.of(call.chat.persona)
    since, text = await call.store.inspector.talked_on(call.chat.id, known.signatures), call.text
    own = known.of("full", call.script, alone=call.chat.kind == "dm")
    return "\n".join(
        (
            text("personality_who", name=name, who=own.who),
            *((clip(own.soul, SOUL_CHARS),) if own.soul else ()),
            text("personality_since", day=local_day(since[0], call.tz)) if since else text("personality_new"),
            text("personality_only", name=name),
        )
    )


def tool_text(tool: ToolSpec, text: Text) -> str:
    """What a tool does: in the person's script where it is one of our own, else as the model is told."""
    key = f"tool_{tool.name}"
    told = text(key)
    return told if told != key else clip(" ".join(tool.description.split()), ABOUT_CHARS)


def trace_lines(sent: TurnRequest, currency: str, tz: tzinfo, text: Text) -> str:
    """A turn in numbers: where it stands, why it was taken, its calls, and what memory brought to it and why."""
    turn = sent.turn
    lines = [
        text("trace_head", session=turn.session, turn=turn.number, at=clock_label(turn.asked_at, tz)),
        text(
            "trace_why",
            why=text(f"why_{turn.why}", name=turn.who),
            state=text(f"turn_{turn.state}"),
            error=f" ({turn.error})" if turn.error else "",
        ),
        text("trace_mode", mode=text(f"mode_said_{turn.mode}"), tools=len(sent.tools)),
    ]
    lines += [call_line(call, "", currency, text) for call in sent.calls]
    lines += [text("trace_brought", ref=each.ref or each.way, tokens=each.tokens) for each in sent.brought]
    return "\n".join(lines)
