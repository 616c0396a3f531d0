"""Reads how someone wants to be called, and how no longer, and how they introduce themselves. Pure."""

import re

from bot.core.memories import MemoryVerb
from bot.language.wishes.patterns import FoundWish, WishPlace, pattern, templates
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold

NAME_CHARS = 9
"""Characters of a Chinese name; longer ones are sentences."""

_LISTS: tuple[tuple[MemoryVerb, str], ...] = (
    ("nick_revoke", "name_revoke"),
    ("nick_set", "name_set"),
)
_SOON = 4
"""Characters between a name refused and the one that takes its place."""

MOST_CHARS = 200
"""Who introduces themselves says so in few words."""

_GREETING = "(?:你好|您好|嗨|哈[喽囉啰]|哈囉|hi|hey|hello|yo|nice to meet you|good (?:morning|evening|afternoon))"
_START = rf"(?:^|[，,。.!！~～\n]\s*)(?:{_GREETING}(?: there)?[\s，,。.!！~～]*)*(?:by the way,? |btw,? |对了[，,]?|對了[，,]?)?"
_END = r"(?=\s*(?:$|[，,。.!！~～\n;；:：()（）]|(?:and|but|from|by the way)\b|[哦喔啦呀哈]))(?!\s*[?？])"
_NAMES = (
    LazyPattern(
        rf"{_START}我(?:(?:的)?名字)?(?:叫|是(?=[小阿老][^是的](?![\u4e00-\u9fff])))"
        rf"(?P<name>[\u4e00-\u9fff·]{{2,4}}|[A-Za-z]{{2,15}}){_END}",
        re.IGNORECASE,
    ),
    LazyPattern(
        rf"(?i:{_START}(?:my name(?:['’]s| is)|i['’]?m|i am|this is))\s+"
        rf"(?P<name>[A-Z][a-z]{{1,14}}(?: [A-Z][a-z]{{1,14}})?){_END}"
    ),
)

_ABOUT_NAMES = LazyPattern(
    r"(?:用[户戶]|名字|我|他|她|的|叫做?|是|以后|\b(?:user|person|the|is|are|am|i|my|me|they|called?|named?|goes by|s|m)\b|[\W_])*"
)


def name_wish(place: WishPlace) -> FoundWish | None:
    """The wish to be called, or no longer called, by a name that stands at this place; none in doubt."""
    if not pattern("naming_sure").search(place.shape, place.start, place.start + 400):
        return None
    for verb, name in _LISTS:
        for template in templates(name):
            if match := template.match(place.shape, place.at):
                return _named(verb, place, match)
    return _my_name(place)


def _named(verb: MemoryVerb, place: WishPlace, match: re.Match[str]) -> FoundWish | None:
    if "c" not in match.re.groupindex:
        return FoundWish(verb, place.start, match.end())
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
    return FoundWish(verb, place.start, match.end(), match.span("c"))


def _no_name(name: str) -> bool:
    """Whether it is what people are called to do, and no name."""
    if pattern("cjk").search(name):
        return len(name) > NAME_CHARS or pattern("no_name").match(name) is not None
    return pattern("no_name_latin").match(name) is not None


def _my_name(place: WishPlace) -> FoundWish | None:
    """别叫我A，叫B, my name is X, use it: an introduction alone is no wish."""
    match = place.matches("instead") if place.floor > 0 and place.start - place.floor < _SOON else None
    if match is not None:
        return _named("nick_set", place, match)
    told = place.matches("so_called")
    before = list(pattern("named_before").finditer(place.shape, place.floor, place.start)) if told else []
    if told and before and not _no_name(before[-1]["c"]):  # 我小名叫豆苗，你也这么叫
        return FoundWish("nick_set", place.start, told.end(), before[-1].span("c"))
    match = place.matches("my_name_en")
    if match is None:
        return None
    refused = pattern("name_refused").search(place.shape, max(0, place.start - 80), place.start)
    meant = match["use"] or pattern("lasting").search(place.lead) or refused
    if not meant or _no_name(match["c"]):
        return None
    return FoundWish("nick_set", place.start, match.end("use") if match["use"] else match.end(), match.span("c"))


def introduced_name(text: str) -> str | None:
    """The name that somebody gives as their own, verbatim; None where the text gives none, or asks."""
    for introduction in _NAMES if len(text) <= MOST_CHARS else ():
        found = introduction.search(text)
        if found and not pattern("not_introduced").match(found["name"]):
            return found["name"]
    return None


def only_names(text: str, name: str) -> bool:
    """Whether a statement says no more than that somebody is called `name`: that is kept already."""
    if not (called := fold(name)):  # nothing of it can be seen
        return False
    before, found, after = fold(text).partition(called)
    return bool(found) and all(_ABOUT_NAMES.fullmatch(part) is not None for part in (before, after))
