"""Reads how someone wants to be called, and how no longer. Other people's names for them are no wish."""

import re

from bot.memory.shape import Found, Place
from bot.memory.wish_patterns import pattern, templates
from bot.types.memory import Verb

NAME_CHARS = 9
"""Characters of a Chinese name; longer ones are sentences."""

_LISTS: tuple[tuple[Verb, str], ...] = (
    ("nick_revoke", "name_revoke"), ("nick_set", "name_set"), ("nick_set", "be_called"),
)  # fmt: skip
_SOON = 4
"""Characters between a name refused and the one that takes its place."""


def name_wish(place: Place) -> Found | None:
    """The wish to be called, or no longer called, by a name that stands at this place; none in doubt."""
    if not pattern("naming_sure").search(place.shape, place.start, place.start + 400):
        return None
    for verb, name in _LISTS:
        if name == "be_called" and not _of_oneself(place):
            continue
        for template in templates(name):
            if match := template.match(place.shape, place.at):
                return _named(verb, place, match)
    return _my_name(place)


def _of_oneself(place: Place) -> bool:
    return bool(pattern("of_oneself").search(place.lead) or pattern("let_me").search(place.lead))


def _named(verb: Verb, place: Place, match: re.Match[str]) -> Found | None:
    if "c" not in match.re.groupindex:
        return Found(verb, place.start, match.end())
    name = match["c"].strip()
    asked = (
        place.shape.startswith("?", match.end()) and not place.asked and not match[0].rstrip().endswith(("吗", "ok"))
    )
    stated = verb == "nick_set" and not place.asked and pattern("stated").search(place.lead.strip(" ,"))
    told = stated and match.end() == match.end("c") and not pattern("lasting").search(place.lead)
    unasked = verb == "nick_revoke" and match[0].startswith("不") and match[0][1] in "叫喊" and not place.asked
    if asked or told or unasked or not name or pattern("question").search(name):
        return None
    if not (verb == "nick_revoke" and pattern("all_hold").fullmatch(name)) and _no_name(name):
        return None
    return Found(verb, place.start, match.end(), match.span("c"))


def _no_name(name: str) -> bool:
    """Whether it is what people are called to do, and no name."""
    if pattern("cjk").search(name):
        return len(name) > NAME_CHARS or pattern("no_name").match(name) is not None
    return pattern("no_name_latin").match(name) is not None


def _my_name(place: Place) -> Found | None:
    """以后我的名字是X, 别叫我A，叫B, my name is X, use it: an introduction alone is no wish."""
    match = place.matches("renamed") if pattern("lasting").search(place.lead) else None
    if match is None and place.floor > 0 and place.start - place.floor < _SOON:
        match = place.matches("instead")
    if match is not None:
        return _named("nick_set", place, match)
    told = place.matches("so_called")
    before = list(pattern("named_before").finditer(place.shape, place.floor, place.start)) if told else []
    if told and before and not _no_name(before[-1]["c"]):  # 我小名叫豆苗，你也这么叫
        return Found("nick_set", place.start, told.end(), before[-1].span("c"))
    match = place.matches("my_name_en")
    if match is None:
        return None
    refused = pattern("name_refused").search(place.shape, max(0, place.start - 80), place.start)
    meant = match["use"] or pattern("firm_name").search(place.lead) or refused
    if not meant or _no_name(match["c"]):
        return None
    return Found("nick_set", place.start, match.end("use") if match["use"] else match.end(), match.span("c"))
