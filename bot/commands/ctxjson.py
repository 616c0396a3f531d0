"""What `nuan ctx` shows, as one JSON object with English keys, for programs. Pure."""

import json
from dataclasses import asdict

from bot.commands.ctx import parts_of, rate, total_tokens
from bot.commands.recalled import ref_of
from bot.flow.inspection import Inspection
from bot.prompt.cache import Step
from bot.types.people import Chat, Person
from bot.types.recall import Scored, Trace

Json = dict[str, object]


def ctx_json(
    seen: Inspection, about: tuple[Chat, Person, str], traces: tuple[Trace, ...], configured: str, *, debug: bool
) -> str:  # fmt: skip
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
        "session": _session(seen),
        "signature": plan.prefix.signature,
        "tokens": total_tokens(seen),
        "parts": [asdict(part) for part in parts_of(seen)],
        "refs": [{"turn": turn or None, **asdict(each)} for turn, each in seen.refs],
        "cache": _cache(seen),
        "diff": _diff(seen, debug=debug),
    }
    if traces:
        body["recall"] = {
            "configured": configured,
            "missing": {trace.mode: trace.missing for trace in traces if trace.missing},
            "refs": {trace.mode: [ref_of(one) for one in trace.chosen] for trace in traces},
            "modes": {trace.mode: [_scored(one) for one in trace.chosen] for trace in traces},
        }
    if traces and debug:
        body["debug"] = {trace.mode: _trace(trace) for trace in traces}
    return json.dumps(body, ensure_ascii=False, indent=2)


def _session(seen: Inspection) -> Json:
    facts = seen.session
    session, before = facts.session, facts.before
    return {
        "open": {
            "number": session.number, "opened_at": session.opened_at, "why": session.open_reason,
            "close_at": session.close_at, "participants": list(facts.participants),
        } if session is not None else None,
        "before": {"number": before.number, "why": before.close_reason} if before is not None else None,
        "windows": [{"name": name, "until": until} for name, until in facts.windows],
    }  # fmt: skip


def _cache(seen: Inspection) -> Json:
    spent, last = seen.spent, seen.settled
    return {
        "all": {"calls": spent.calls, **_used(spent.prompt_tokens, spent.cached_tokens)},
        "last": _used(last.prompt_tokens, last.cached_tokens) if last is not None else None,
        "possible_last": _possible(seen.last),
        "possible_next": _possible(seen.next),
    }


def _used(prompt: int, cached: int) -> Json:
    return {"prompt_tokens": prompt, "cached_tokens": cached, "rate": round(rate(cached, prompt), 4)}


def _possible(found: Step | None) -> Json | None:
    return {"tokens": found.kept_tokens, "of": found.tokens, "rate": round(found.rate, 4)} if found else None


def _diff(seen: Inspection, *, debug: bool) -> Json | None:
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


def _scored(one: Scored) -> Json:
    return {
        "kind": one.finding.kind,
        "id": one.finding.ref,
        "score": one.score,
        "parts": dict(one.parts),
        "text": one.finding.text,
    }


def _trace(trace: Trace) -> Json:
    return {
        "terms": list(trace.terms),
        "thresholds": dict(trace.thresholds),
        "candidates": [{**_scored(one), "cut": one.cut} for one in trace.scored],
        "talks": [{"chat": each.chat_id, "line": each.talk, "figure": each.figure} for each in trace.talks],
    }
