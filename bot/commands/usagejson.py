"""What `nuan usage` shows, as one JSON object with English keys, for programs. Pure."""

import json
from collections.abc import Callable, Hashable
from dataclasses import asdict
from datetime import timedelta
from typing import TypeVar

from bot.commands.usage import Names, Span, add
from bot.text.dates import local_day
from bot.types.brought import Share
from bot.types.money import Used

K = TypeVar("K", bound=Hashable)

Json = dict[str, object]


def usage_json(used: tuple[Used, ...], shares: tuple[Share, ...], span: Span, names: Names, currency: str) -> str:
    """Sums in all, per day (every day of the span), chat, person and cause; what memory brought, by its way."""
    first, days, tz = span.first, span.days, span.tz
    by_day = {first + timedelta(days=number): list[Used]() for number in range(days)}
    by_day |= _by(used, lambda each: local_day(each.at, tz))
    chats = _by(used, lambda each: each.chat_id)
    people = _by(tuple(each for each in used if each.person_id is not None), lambda each: each.person_id or 0)
    told: Json = {
        "first_day": f"{first}",
        "days": days,
        "currency": currency,
        "all": _sum(used),
        "by_day": [{"day": f"{day}"} | _sum(calls) for day, calls in sorted(by_day.items())],
        "by_chat": [{"chat": key, "name": names.chats.get(key)} | _sum(calls) for key, calls in _largest(chats)],
        "by_person": [{"person": key, "name": names.people.get(key)} | _sum(calls) for key, calls in _largest(people)],
        "by_cause": [
            {"cause": key} | _sum(calls) for key, calls in _largest(_by(used, lambda each: each.cause))
        ],
        "brought": [asdict(share) for share in shares],
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False, indent=2)


def _by(used: tuple[Used, ...], key: Callable[[Used], K]) -> dict[K, list[Used]]:
    groups: dict[K, list[Used]] = {}
    for each in used:
        groups.setdefault(key(each), []).append(each)
    return groups


def _largest(groups: dict[K, list[Used]]) -> list[tuple[K, list[Used]]]:
    return sorted(groups.items(), key=lambda item: (-add(item[1]).tokens, f"{item[0]}"))


def _sum(calls: tuple[Used, ...] | list[Used]) -> Json:
    one = add(calls)
    return {
        "calls": one.calls, "input_tokens": one.prompt, "cached_tokens": one.cached, "output_tokens": one.output,
        "money": one.money,
    }  # fmt: skip
