"""Reads a wish to forget, not to store, or to undo. It finds no memory: it says what was asked for."""

import re
from dataclasses import replace

from bot.memory.numbers import listed, numbered
from bot.memory.remember_wish import told_before
from bot.memory.shape import Found, Place
from bot.memory.wish_patterns import QUOTED, pattern, templates
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
    for template in templates("forget"):
        match = template.match(place.shape, place.at)
        if match and (found := _meant(place, match)):
            return found
    return None


def _meant(place: Place, match: re.Match[str]) -> Found | None:
    """What such a wish is about: everything, what was pointed at, or what is named and may be forgotten."""
    groups, a, b = match.groupdict(), *match.span("c")
    body, tail = place.shape[a:b].strip(), groups.get("tail") or ""
    mine = pattern("of_oneself").search(place.lead) and not pattern("cjk").search(body)
    if _question(place, match) or mine:
        return None
    aside = groups.get("not") is not None
    head = groups.get("head")
    kept = "记忆" in tail or any(groups.get(name) is not None for name in ("from", "mem", "named"))
    kept = kept or (head is not None and bool(pattern("told_kept").search(head) or pattern("mine").match(body)))
    found = Found("forget", place.start, match.end(), forever=_forever(place), scope="aside" if aside else "")
    if not aside and (pattern("all_of_me").fullmatch(body + tail) or (kept and body in _ALL_OF_US)):
        return replace(found, scope="all")
    if counted := pattern("ordinal").search(match[0]):  # 第二条 may be #2 or the second of a list: asked back
        return replace(found, number=numbered(counted[0]), scope="unsure")
    if pattern("pointing").fullmatch(body + tail):
        idle = body in ("它", "it", "that", "this", "them") and not aside
        thing: Scope = "thing" if pattern("talked_thing").search(match[0]) else ""
        if aside and pattern("no_more").search(match[0]):
            thing, found = "no_more", replace(found, scope="")
        return None if idle and not kept else replace(found, scope=found.scope or thing)
    after = place.shape[b : match.end()].rstrip()
    return replace(found, content=(a, b)) if kept or _may_go(place, groups, body, after) else None


def _may_go(place: Place, groups: dict[str, str | None], body: str, after: str) -> bool:
    """Whether it is an order there, and about something of theirs that can be forgotten; 我一忙就忘了 tells."""
    chinese, verb, lead = pattern("cjk").search(body), groups.get("verb"), place.lead.strip(" ,")
    own = pattern("forgettable").match(body) if chinese else pattern("mine").search(body)
    pointed = body[:1] in ("那", "这")
    that = bool(own or re.match("的?[那这]", after) or groups.get("of") or QUOTED in body)
    that = that or (pointed and pattern("lets_go").search(after) is not None)
    if pattern("elsewhere").match(body) or body in _ALL_OF_US or (pattern("said_by").fullmatch(body) and not verb):
        return False
    if groups.get("not"):
        return bool(own or pointed) and not (chinese and pattern("not_forgettable").match(body))
    if not that or pattern("question").search(body) or pattern("not_forgettable").match(body):
        return False
    if verb is None:
        asked = any(groups.get(name) for name in ("put", "did", "of")) or pattern("requests").search(
            groups["how"] or ""
        )
        return bool(asked) and not pattern("own_forgetting").search(body + after)
    meant = after.endswith(("吧", *_POLITELY)) or place.asked
    if pattern("idle").match(verb):
        told = pattern("told_of_you").fullmatch(lead) and not pattern("firmly").search(place.lead)
        sure = "忘了" not in verb or meant or "请" in lead or groups["tail"]
        return bool(sure) and (not told or meant)
    return (chinese is not None or QUOTED in body or pattern("personal_en").match(body) is not None) and verb[
        -1
    ] != "了"


def _unstored(place: Place) -> Found | None:
    """别记 without an object, right beside what its writer tells of themselves."""
    match = place.matches("unstored")
    told = told_before(place, strong=False) if match else None
    words = place.shape[slice(*told)] if told else ""
    others = pattern("said_by").match(words) or pattern("studies").search(words)
    if match and pattern("this_said").search(place.shape, place.floor, place.start):
        return Found("forget", place.start, match.end(), scope="aside")
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
