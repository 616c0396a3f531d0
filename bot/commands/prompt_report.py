"""A composed turn shown to people and programs: parts with tokens, cache, what is new, what recall brings. Pure."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size

from bot.core.models import Message
from bot.core.people import Chat, Person
from bot.core.recall import RecallTrace, ScoredHit
from bot.pipeline.inspection import Inspection
from bot.prompt.composition import CacheStep, log_tokens
from bot.text.dates import clock_label, local
from bot.text.length import estimate_tokens, message_tokens, tools_tokens

UNKNOWN = "–"

COLUMN_CELLS = 34
"""Cells of one mode in the table."""

CANDIDATES_SHOWN = 12
"""Candidates of a mode that are shown one by one (seed Recall, scoredTop)."""

TEXT_CELLS = 60
"""Cells of a memory's text in the trace."""

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A part of the request: its name (ctx_<name> is its title), what it counts, its text and estimated tokens."""

    name: str
    count: int
    body: str
    tokens: int


def parts_of(seen: Inspection) -> tuple[PromptPart, ...]:
    """Exactly the parts that the next call would send, in order; what is empty is left out."""
    plan, words = seen.plan, seen.vocabulary
    system, *logged, _ = plan.prompt.messages
    tools = "\n".join(json.dumps(tool.wire(), ensure_ascii=False) for tool in plan.prompt.tools)
    composed = plan.composed
    parts = (
        PromptPart("system", 1, system.content, message_tokens(system, words)),
        PromptPart("tools", len(plan.prompt.tools), tools, tools_tokens(plan.prompt.tools, words)),
        PromptPart(
            "log",
            len(logged),
            "\n".join(f"[{message.role}] {_message_text(message)}" for message in logged),
            log_tokens(plan.epoch) if plan.epoch is not None else 0,
        ),
        PromptPart("opening", 1, composed.opening, estimate_tokens(composed.opening, words)),
        PromptPart("new", 1, composed.ctx, estimate_tokens(composed.ctx, words)),
        PromptPart("recalled", len(plan.asking.recalled), composed.recalled, estimate_tokens(composed.recalled, words)),
    )
    return tuple(part for part in parts if part.body or part.tokens)


def total_tokens(seen: Inspection) -> int:
    """The whole next request, as it would be reserved before the server has counted anything."""
    return sum(item.tokens for item in seen.request)


def ctx_summary(seen: Inspection, text: Callable[..., str]) -> str:
    """How many tokens the next request has and of what, how much of it is as in the last, until when the talk goes on."""
    lines = [text("ctx_brief", tokens=f"{total_tokens(seen):,}")]
    lines += [
        text("ctx_brief_part", title=text(f"ctx_{part.name}", n=part.count), tokens=f"{part.tokens:,}")
        for part in parts_of(seen)
        if part.tokens
    ]
    if (same := seen.next) is not None:
        lines.append(text("ctx_brief_same", kept=f"{same.kept_tokens:,}", rate=f"{same.rate:.0%}"))
    if (session := seen.session.session) is not None:
        at, ends = (f"{local(moment, seen.tz):%H:%M}" for moment in (session.opened_at, session.close_at))
        lines.append(text("ctx_brief_ends", at=at, ends=ends))
    return "\n".join((*lines, text("ctx_brief_whole")))


def ctx_report(seen: Inspection, text: Callable[..., str]) -> str:
    """The parts, each with its tokens; then signature, cache and what the last call shares with this one."""
    choice = seen.plan.choice
    lines = [
        text("ctx_mode", mode=text(f"mode_said_{choice.mode}"), why=text(f"mode_why_{choice.why}")),
        *_session(seen, text),
    ]
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
                "ctx_session",
                n=session.number,
                at=clock_label(session.opened_at, tz),
                why=session.open_reason,
                names=", ".join(facts.participants) or UNKNOWN,
                ends=clock_label(session.close_at, tz),
            )
        )
    for name, until in facts.windows:
        seconds = str(until // 1_000 % 60).zfill(2)
        lines.append(text("ctx_window", name=name, until=f"{clock_label(until, tz)}:{seconds}"))
    return lines


def way_name(way: str, text: Callable[..., str]) -> str:
    """How somebody is told which way something came from memory."""
    return text(f"way_{way}" if way in ("opening", "auto") else "way_tool")


def _refs(seen: Inspection, text: Callable[..., str]) -> list[str]:
    """What came from memory into this log and why: in which turn, which way, which numbers, with what figures."""
    return [
        text(
            "ctx_ref",
            turn=turn or text("ctx_ref_now"),
            way=way_name(each.way, text),
            ref=each.ref or UNKNOWN,
            tokens=each.tokens,
            why=each.why or UNKNOWN,
        )
        for turn, each in seen.refs
    ]


def _cache(seen: Inspection, text: Callable[..., str]) -> str:
    spent, last = seen.spent, seen.settled
    return text(
        "ctx_cache",
        calls=spent.calls,
        prompt=spent.prompt_tokens,
        cached=spent.cached_tokens,
        rate=f"{rate(spent.cached_tokens, spent.prompt_tokens):.0%}",
        last=_share_text(last.cached_tokens, last.prompt_tokens) if last is not None else UNKNOWN,
        last_best=_best(seen.last),
        best=_best(seen.next),
    )


def _diff(seen: Inspection, text: Callable[..., str]) -> str:
    found = seen.next
    if found is None:
        return text("ctx_diff_none")
    key = "ctx_diff_whole" if seen.goes_on else "ctx_diff_gone" if seen.gone else "ctx_diff_new"
    return text(
        key,
        kept=found.kept,
        kept_tokens=found.kept_tokens,
        added=found.added,
        added_tokens=found.added_tokens,
        item=found.kept + 1,
        before=found.before,
        why=text(f"ctx_why_{seen.why}"),
    )


def _best(found: CacheStep | None) -> str:
    return _share_text(found.kept_tokens, found.tokens) if found is not None else UNKNOWN


def _share_text(some: int, whole: int) -> str:
    return f"{some}/{whole} tok ({rate(some, whole):.0%})"


def rate(some: int, whole: int) -> float:
    """The part, 0 to 1; 0 of nothing."""
    return some / whole if whole else 0.0


def _message_text(message: Message) -> str:
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return " ".join(part for part in (message.content, *calls) if part)


def recall_report(traces: tuple[RecallTrace, ...], configured: str, text: Callable[..., str]) -> str:
    """One column a mode, best first: number, figure and the beginning of the text; * marks the configured one."""
    heads = [f"{trace.mode}{'*' if trace.mode == configured else ''}" for trace in traces]
    cells = [[_cell(one) for one in trace.chosen] or [text("recalled_none")] for trace in traces]
    rows = [_row("", heads), *(_row(str(place), row) for place, row in enumerate(zip_longest(*cells, fillvalue=""), 1))]
    missing = [text(f"recalled_missing_{trace.missing}") for trace in traces if trace.missing]
    return "\n".join((text("recalled"), *rows, *missing))


def trace_report(trace: RecallTrace, text: Callable[..., str]) -> str:
    """The terms, the cut-offs, the best candidates with what their figure is made of, and why the others were left."""
    limits = "  ".join(f"{name} {figure:g}" for name, figure in trace.thresholds)
    lines = [
        text("recalled_trace", mode=trace.mode, n=len(trace.scored), chosen=len(trace.chosen)),
        text("recalled_terms", n=len(trace.terms), terms=" ".join(trace.terms) or "–"),
        text("recalled_limits", limits=limits or "–"),
    ]
    near = [dict(one.parts) for one in trace.scored if "dense" in dict(one.parts)]
    if near:
        alone, best = sum("sparse" not in parts for parts in near), max(parts["cosine"] for parts in near)
        lines.append(text("recalled_dense", n=len(near), alone=alone, best=f"{best:.2f}"))
    for one in trace.scored[:CANDIDATES_SHOWN]:
        parts = "  ".join(f"{name} {figure:.4g}" for name, figure in one.parts)
        why = text(f"recalled_cut_{one.cut}") if one.cut else "✓"
        lines.append(
            f"  {ref_of(one)} {one.score:.4f} [{why}] {parts}  {_clipped(one.finding.text, TEXT_CELLS)}".rstrip()
        )
    rest = Counter(one.cut for one in trace.scored[CANDIDATES_SHOWN:])
    if rest:
        told = ", ".join(f"{text(f'recalled_cut_{cut}') if cut else '✓'} {n}" for cut, n in sorted(rest.items()))
        lines.append(text("recalled_rest", n=rest.total(), rest=told))
    return "\n".join(lines)


def _cell(one: ScoredHit) -> str:
    return f"{ref_of(one)} {one.score:.4f} {' '.join(one.finding.text.split())}"


def ref_of(one: ScoredHit) -> str:
    """As the model takes it: #12 is a memory, @345 a line; the others say what they are."""
    mark = {"memory": "#", "line": "@"}.get(one.finding.kind, f"{one.finding.kind} ")
    return f"{mark}{one.finding.ref}"


def _row(place: str, cells: list[str] | tuple[str, ...]) -> str:
    return (f"{place:>2}  " + "  ".join(set_cell_size(cell, COLUMN_CELLS) for cell in cells)).rstrip()


def _clipped(text: str, cells: int) -> str:
    line = " ".join(text.split())
    return line if cell_len(line) <= cells else set_cell_size(line, cells - 1).rstrip() + "…"


def ctx_json(
    seen: Inspection, about: tuple[Chat, Person, str], traces: tuple[RecallTrace, ...], configured: str, *, debug: bool
) -> str:
    """The parts, signature, cache figures and the step from the last call; `traces` are the modes of recall asked for.

    Tokens are estimates, except those of the ledger. With `debug` the differing item and every candidate, too.
    """
    chat, person, query = about
    plan = seen.plan
    body: Json = {
        "chat": {"id": chat.id, "platform": chat.platform, "kind": chat.kind, "title": chat.title},
        "person": {"id": person.id, "name": person.name},
        "query": query,
        "mode": plan.choice.mode,
        "why": plan.choice.why,
        "session": _session_json(seen),
        "signature": plan.prefix.signature,
        "tokens": total_tokens(seen),
        "parts": [asdict(part) for part in parts_of(seen)],
        "refs": [{"turn": turn or None, **asdict(each)} for turn, each in seen.refs],
        "cache": _cache_json(seen),
        "diff": _diff_json(seen, debug=debug),
    }
    if traces:
        body["recall"] = {
            "configured": configured,
            "missing": {trace.mode: trace.missing for trace in traces if trace.missing},
            "refs": {trace.mode: [ref_of(one) for one in trace.chosen] for trace in traces},
            "modes": {trace.mode: [_scored_json(one) for one in trace.chosen] for trace in traces},
        }
    if traces and debug:
        body["debug"] = {trace.mode: _trace_json(trace) for trace in traces}
    return json.dumps(body, ensure_ascii=False, indent=2)


def _session_json(seen: Inspection) -> Json:
    facts = seen.session
    session, before = facts.session, facts.before
    return {
        "open": {
            "number": session.number,
            "opened_at": session.opened_at,
            "why": session.open_reason,
            "close_at": session.close_at,
            "participants": list(facts.participants),
        }
        if session is not None
        else None,
        "before": {"number": before.number, "why": before.close_reason} if before is not None else None,
        "windows": [{"name": name, "until": until} for name, until in facts.windows],
    }


def _cache_json(seen: Inspection) -> Json:
    spent, last = seen.spent, seen.settled
    return {
        "all": {"calls": spent.calls, **_used_json(spent.prompt_tokens, spent.cached_tokens)},
        "last": _used_json(last.prompt_tokens, last.cached_tokens) if last is not None else None,
        "possible_last": _possible_json(seen.last),
        "possible_next": _possible_json(seen.next),
    }


def _used_json(prompt: int, cached: int) -> Json:
    return {"prompt_tokens": prompt, "cached_tokens": cached, "rate": round(rate(cached, prompt), 4)}


def _possible_json(found: CacheStep | None) -> Json | None:
    return {"tokens": found.kept_tokens, "of": found.tokens, "rate": round(found.rate, 4)} if found else None


def _diff_json(seen: Inspection, *, debug: bool) -> Json | None:
    found = seen.next
    if found is None:
        return None
    return {
        **asdict(found),
        "gone": seen.gone,
        "whole": seen.goes_on,
        "why": "" if seen.goes_on else seen.why,
        **({"lines": list(seen.lines)} if debug else {}),
    }


def _scored_json(one: ScoredHit) -> Json:
    return {
        "kind": one.finding.kind,
        "id": one.finding.ref,
        "score": one.score,
        "parts": dict(one.parts),
        "text": one.finding.text,
    }


def _trace_json(trace: RecallTrace) -> Json:
    return {
        "terms": list(trace.terms),
        "thresholds": dict(trace.thresholds),
        "candidates": [{**_scored_json(one), "cut": one.cut} for one in trace.scored],
        "talks": [{"chat": each.chat_id, "line": each.talk, "figure": each.figure} for each in trace.talks],
    }
