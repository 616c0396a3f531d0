"""Reads a wish to forget, not to store, or to undo. It finds no memory: it says what was asked for."""

import re
from dataclasses import replace

from bot.memory.numbers import listed, numbered
from bot.memory.remember_wish import told_before
from bot.memory.shape import Found, Place
from bot.memory.wish_patterns import pattern, templates
from bot.types.memory import Scope, Verb

_ALL_OF_US = ("我", "我的", "关于我", "关于我的", "我们", "我们之间", "me")
_POLITELY = ("好吗", "可以吗", "行吗", "好不好")


def forget_wish(place: Place) -> Found | None:
    """The wish to forget or to undo that stands at this place; None in doubt."""
    if not pattern("forget_sure").search(place.shape, place.start, place.start + 400):
        return None
    found = _numbered(place) or _forget(place) or _unstored(place)
    if found and pattern("many").search(place.shape, found.start, found.end) and not (found.content or found.scope):
        found = replace(found, scope="unsure")
    return found


def _numbered(place: Place) -> Found | None:
    if (several := place.matches("several")) and (numbers := listed(several["numbers"])):
        counted: Scope = "unsure" if pattern("ordinal").search(several["numbers"]) else ""
        return Found("forget", place.start, several.end(), None, None, _forever(place), counted, numbers)
    if match := place.matches("numbered"):
        verb: Verb = "forget" if match["forget"] else "undo"
        forever = _forever(place) or pattern("forever").search(match[0]) is not None
        return Found(verb, place.start, match.end(), None, int(match["number"]), forever)
    if match := place.matches("undo"):
        return Found("undo", place.start, match.end()) if _nothing_else(place, match) else None
    return None


def _nothing_else(place: Place, match: re.Match[str]) -> bool:
    """Whether the message says no more than that, a greeting or a courtesy apart."""
    nothing = pattern("nothing_left").fullmatch
    return bool(nothing(place.shape, 0, place.start) and nothing(place.shape, match.end()))


def _forget(place: Place) -> Found | None:
    if (match := place.matches("all_of_it")) and _nothing_else(place, match):
        return Found("forget", place.start, match.end(), forever=_forever(place), scope="all")
    for name in ("forget_all", "forget_pointed"):
        for template in templates(name):
            match = template.match(place.shape, place.at)
            if match and not _question(place, match):
                return _all(place, match) if name == "forget_all" else _pointed(place, match)
    for template in templates("forget_named"):
        if match := template.match(place.shape, place.at):
            return _named(place, match)
    return None


def _all(place: Place, match: re.Match[str]) -> Found:
    return Found("forget", place.start, match.end(), forever=_forever(place), scope="all")


def _pointed(place: Place, match: re.Match[str]) -> Found:
    if counted := pattern("ordinal").search(match[0]):  # 第二条 may be #2 or the second of a list: asked back
        return Found("forget", place.start, match.end(), None, numbered(counted[0]), _forever(place), "unsure")
    return Found(
        "forget", place.start, match.end(), forever=_forever(place), scope=_scope(place, match, None) or _thing(match)
    )


def _thing(match: re.Match[str]) -> Scope:
    """Whether it points at a thing that was talked of (那件事), which may be no memory."""
    return "thing" if pattern("talked_thing").search(match[0]) else ""


def _scope(place: Place, match: re.Match[str], named: tuple[int, int] | None) -> Scope:
    """Whether it asks only that a message be kept nowhere (别记这个), in its words beside what is named."""
    words = place.lead + match[0]
    if named is not None:
        words = place.lead + place.shape[match.start() : named[0]] + place.shape[named[1] : match.end()]
    return "aside" if pattern("aside").search(words) and not pattern("drops").search(words) else ""


def _unstored(place: Place) -> Found | None:
    """别记 without an object, right beside what its writer tells of themselves."""
    match = place.matches("unstored")
    told = told_before(place, strong=False) if match else None
    words = place.shape[slice(*told)] if told else ""
    others = pattern("said_by").match(words) or pattern("studies").search(words)
    if match is None or not pattern("mine").match(words) or others:
        match = place.matches("unstored_next")
    return Found("forget", place.start, match.end(), scope="aside") if match else None


def _forever(place: Place) -> bool:
    """Whether nothing is to stay for an undo (彻底忘记)."""
    return pattern("forever").search(place.lead) is not None or place.matches("forever_drop") is not None


def _question(place: Place, match: re.Match[str]) -> bool:
    """Whether it is asked about, and not politely asked for."""
    asks = place.shape.startswith("?", match.end()) and not place.asked
    return asks and not match[0].rstrip().endswith(_POLITELY) and "可以" not in match[0]


def _named(place: Place, match: re.Match[str]) -> Found | None:
    a, b = match.span("c")
    body = place.shape[a:b].strip()
    found = Found(
        "forget", place.start, match.end(), (a, b), forever=_forever(place), scope=_scope(place, match, (a, b))
    )
    if _question(place, match) or (pattern("of_oneself").search(place.lead) and not pattern("cjk").search(body)):
        return None
    if body in _ALL_OF_US and not match[0].startswith(("忘", "forget")):
        return replace(found, content=None, scope="all")
    if pattern("pointing").fullmatch(body):
        idle = match[0].startswith(("忘", "forget")) and body in ("它", "it", "that", "this", "them")
        return None if idle else replace(found, content=None, scope=_scope(place, match, None) or _thing(match))
    if match[0].startswith(("忘", "forget")):
        return found if _plainly(place, match, body) else None
    if pattern("said_by").fullmatch(body) or pattern("own_forgetting").match(place.shape, a):
        return None
    stored = pattern("hint_memory").search(match[0]) is not None
    return found if stored or not pattern("elsewhere").match(body) else None


def _plainly(place: Place, match: re.Match[str], body: str) -> bool:
    """忘记我的地址: whether 忘记 and forget are an order there, and about something that can be forgotten."""
    if pattern("not_forgettable").match(body) or pattern("question").search(body):
        return False
    told = pattern("told_of_you").fullmatch(place.lead.strip(" ,")) and not pattern("firmly").search(place.lead)
    if told and not place.asked and not match[0].rstrip().endswith("吧"):  # 你忘记我的生日了 tells
        return False
    if place.shape[: match.start("c")].rstrip().endswith(("关于", "有关")) or not place.shape.startswith(
        "忘", place.at
    ):
        return True
    chinese = pattern("cjk").search(body)
    return (pattern("forgettable").match(body) if chinese else pattern("mine").search(body)) is not None
