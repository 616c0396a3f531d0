"""A composed turn shown to people: its parts with tokens, the signature, the cache, what is new. Pure."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from bot.flow.inspection import Inspection
from bot.prompt.cache import Step
from bot.prompt.tokens import log_tokens, message_tokens, tools_tokens
from bot.text.dates import clock_label
from bot.text.estimate import estimate_tokens
from bot.types.prompt import Message

UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the request: its name (ctx_<name> is its title), what it counts, its text and estimated tokens."""

    name: str
    count: int
    body: str
    tokens: int


def parts_of(seen: Inspection) -> tuple[Part, ...]:
    """Exactly the parts that the next call would send, in order; what is empty is left out."""
    plan, words = seen.plan, seen.vocabulary
    system, *logged, _ = plan.prompt.messages
    tools = "\n".join(json.dumps(tool.wire(), ensure_ascii=False) for tool in plan.prompt.tools)
    composed = plan.composed
    parts = (
        Part("system", 1, system.content, message_tokens(system, words)),
        Part("tools", len(plan.prompt.tools), tools, tools_tokens(plan.prompt.tools, words)),
        Part(
            "log", len(logged), "\n".join(f"[{message.role}] {_shown(message)}" for message in logged),
            log_tokens(plan.epoch) if plan.epoch is not None else 0,
        ),
        Part("opening", 1, composed.opening, estimate_tokens(composed.opening, words)),
        Part("new", 1, composed.ctx, estimate_tokens(composed.ctx, words)),
        Part("recalled", len(plan.asking.recalled), composed.recalled, estimate_tokens(composed.recalled, words)),
    )  # fmt: skip
    return tuple(part for part in parts if part.body or part.tokens)


def total_tokens(seen: Inspection) -> int:
    """The whole next request, as it would be reserved before the server has counted anything."""
    return sum(item.tokens for item in seen.request)


def ctx_report(seen: Inspection, text: Callable[..., str]) -> str:
    """The parts, each with its tokens; then signature, cache and what the last call shares with this one."""
    choice = seen.plan.choice
    lines = [text("ctx_mode", mode=choice.mode, why=choice.why), *_session(seen, text)]
    for part in parts_of(seen):
        title = text(f"ctx_{part.name}", n=part.count)
        lines += [f"── {title} · {part.tokens} tok", *([part.body] if part.body else [])]
    lines += _refs(seen, text)
    lines.append(text("ctx_total", tokens=total_tokens(seen), signature=seen.plan.prefix.signature))
    lines += [_cache(seen, text), _diff(seen, text)]
    return "\n".join(lines)


def _session(seen: Inspection, text: Callable[..., str]) -> list[str]:
    """Since when and why a conversation goes on, with whom and until when; who is in it without calling again."""
    facts, tz = seen.session, seen.tz
    lines = []
    if facts.before is not None:
        reason = text(f"ctx_ended_{facts.before.close_reason}")
        lines.append(text("ctx_before", n=facts.before.number, why=reason))
    if (session := facts.session) is not None:
        lines.append(
            text(
                "ctx_session", n=session.number, at=clock_label(session.opened_at, tz), why=session.open_reason,
                names=", ".join(facts.participants) or UNKNOWN, ends=clock_label(session.close_at, tz),
            )
        )  # fmt: skip
    for name, until in facts.windows:
        seconds = str(until // 1_000 % 60).zfill(2)
        lines.append(text("ctx_window", name=name, until=f"{clock_label(until, tz)}:{seconds}"))
    return lines


def _refs(seen: Inspection, text: Callable[..., str]) -> list[str]:
    """What came from memory into this log and why: in which turn, which way, which numbers, with what figures."""
    return [
        text(
            "ctx_ref", turn=turn or text("ctx_ref_now"), way=each.way, ref=each.ref or UNKNOWN, tokens=each.tokens,
            why=each.why or UNKNOWN,
        )
        for turn, each in seen.refs
    ]  # fmt: skip


def _cache(seen: Inspection, text: Callable[..., str]) -> str:
    spent, last = seen.spent, seen.settled
    return text(
        "ctx_cache", calls=spent.calls, prompt=spent.prompt_tokens, cached=spent.cached_tokens,
        rate=f"{rate(spent.cached_tokens, spent.prompt_tokens):.0%}",
        last=_part(last.cached_tokens, last.prompt_tokens) if last is not None else UNKNOWN,
        last_best=_best(seen.last), best=_best(seen.next),
    )  # fmt: skip


def _diff(seen: Inspection, text: Callable[..., str]) -> str:
    found = seen.next
    if found is None:
        return text("ctx_diff_none")
    key = "ctx_diff_whole" if seen.goes_on else "ctx_diff_gone" if seen.gone else "ctx_diff_new"
    return text(
        key, kept=found.kept, kept_tokens=found.kept_tokens, added=found.added, added_tokens=found.added_tokens,
        item=found.kept + 1, before=found.before, why=text(f"ctx_why_{seen.why}"),
    )  # fmt: skip


def _best(found: Step | None) -> str:
    return _part(found.kept_tokens, found.tokens) if found is not None else UNKNOWN


def _part(some: int, whole: int) -> str:
    return f"{some}/{whole} tok ({rate(some, whole):.0%})"


def rate(some: int, whole: int) -> float:
    """The part, 0 to 1; 0 of nothing."""
    return some / whole if whole else 0.0


def _shown(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return " ".join(part for part in (message.content, *calls) if part)
