"""Reads how someone wants to be called, and how no longer. Other people's names for them are no wish."""

import re

from bot.memory import patterns as p
from bot.memory.reading import Found, Place
from bot.memory.wording import calling_en as of_en
from bot.memory.wording import calling_zh as of_zh
from bot.memory.wording import chinese as zh
from bot.memory.wording.signs import STOP
from bot.text.lazy import LazyPattern
from bot.types.memory import Verb

_SURE = LazyPattern(
    "[叫喊称唤名]|go by|known as|when (?:you )?(?:talk|address)|call|address|respond|refer|name|speak to me"
)
_REVOKES = tuple(LazyPattern(words) for words in (*of_zh.REVOKES, *of_en.REVOKES_THAT))
_REVOKES_EN = tuple(LazyPattern(words + of_en.WORDS + of_en.WELL) for words in of_en.REVOKES)
_SETS = tuple(LazyPattern(words) for words in of_zh.SETS)
_BE_CALLED = tuple(LazyPattern(words + of_en.WORDS + of_en.WELL) for words in of_en.BE_CALLED)
_SETS_EN = tuple(LazyPattern(words + of_en.WORDS + of_en.WELL) for words in of_en.SETS)

_TOPIC = LazyPattern(
    f"(?P<name>[^{STOP}:的]{{1,12}}?)(?:这个?(?:称呼|名字|叫法|外号|昵称)|这种(?:称呼|叫法)|什么的|(?:这?[两三俩]个?)字)(?:我(?:真的|很|一点都)?(?:不喜欢"
    f"|讨厌|受不了)"
    "|(?:以后)?(?:就)?),?"
    f"(?:请|以后|就|你)*{zh.STOP}(?:再|老)*(?:{of_zh.CALLING}|用)(?:我)?了?{of_zh.GOOD}"
)
"""阿姨这个称呼我不喜欢，别叫了: the name comes first."""
_NO_MORE = LazyPattern(f"(?:请|以后|就|你|都)*{zh.STOP}(?:再|老|这么|这样)*{of_zh.CALLING}(?:我)?了?{of_zh.GOOD}")
_CALLED_BEFORE = LazyPattern(
    rf"(?:叫|喊)我(?P<name>[^{STOP}:]{{1,8}}?)(?=干嘛|干什么|的|我|很|真|太|会|让|,)[^{STOP}]{{0,8}},(?:[^{STOP}]{{1,10}},)?"
)
_NAMED_BEFORE = LazyPattern(rf"(?:我(?:现在|已经)?(?:不叫|不是)|那个?)(?P<name>[^{STOP}:]{{1,12}}?)了?,")
_THIS_NAME = LazyPattern(
    f"(?:请|以后|就|你)*{zh.STOP}(?:再|老)*(?:{of_zh.CALLING}|用)(?:我)?[这那]个?名字?了?{of_zh.GOOD}"
)


_MY_NAME_EN = LazyPattern(
    r"my (?:nick)?name(?: is|['’]s) (?P<name>[^ ,。?\n:]{1,24}(?: (?!please|pls|and|so|but|use"
    r"|now)[^ ,。?\n:]{1,24})?)(?=(?P<use>[, ]*(?:and |so )?(?:please |pls )?(?:use (?:my name|it|that)"
    r"|call me (?:that|it|by (?:it|that|my name))))|[ ]?[,。?\n]|$)"
)
"""An introduction, which is a wish only with "use it", after "from now on" or after a name refused."""
_RENAMED = LazyPattern(f"我的?(?:名字|称呼|[昵暱]称|外号)?(?:就)?(?:是|叫){of_zh.WHO}{of_zh.GOOD}")
_INSTEAD = LazyPattern(f"(?:请|要|改)*叫(?!我){of_zh.WHO}{of_zh.GOOD}")
_USE_AS = LazyPattern(
    r"use (?P<name>[^ ,。?\n:]{1,24}) (?:when (?:you )?(?:talk|speak|address|writ)|to address me|for me$"
    "|to refer to me|for my name|as my (?:nick)?name)"
)
_GO_NOW = LazyPattern(r"i go by (?P<name>[^ ,。?\n:]{1,24}) now")
_FIRM_NAME = LazyPattern("from (?:now|here|today)|going forward|henceforth")
_NAME_REFUSED = LazyPattern(r"(?:stop|quit|do ?n[o']t|do not|never) (?:call|referr?|address)[^。?\n]{0,60}[,。] *$")
_SOON = 4
"""Characters between a name refused and the one that takes its place."""
_STATED = LazyPattern("(?<![想要让请望欢])你$|都$|大家$|各位$|^(?:and |so |well |oh )?you$")
"""你叫我X, 大家都叫我X tell what others say; they ask for nothing."""
_LASTING = LazyPattern("以?后|开始|from now|今往")
_NO_NAME = LazyPattern(of_zh.NO_NAME)
_NO_NAME_MOST = 9
"""Characters of a Chinese name; longer ones are sentences."""
_GIVEN = LazyPattern("名字|全名|真名|本名|my ")
_NO_NAME_EN = LazyPattern(of_en.NO_NAME)
_ALL_HOLD = LazyPattern(
    "the (?:boss|chief|king|queen|captain|great|man|dude|user|one and only)|my (?:full|first|last|middle"
    "|real) name|your [a-z]+"
)


def naming(place: Place) -> tuple[Found, ...]:
    """The wish to be called, or no longer called, by a name that stands at this place; none in doubt."""
    if not _SURE.search(place.shape, place.start, place.start + 400):
        return ()
    found = _read(place) or _named_first(place) or _my_name(place)
    return (found,) if found else ()


def _read(place: Place) -> Found | None:
    readings: tuple[tuple[Verb, tuple[LazyPattern, ...], LazyPattern], ...] = (
        ("nick_revoke", _REVOKES, _NO_NAME),
        ("nick_revoke", _REVOKES_EN, _NO_NAME_EN),
        ("nick_set", _SETS, _NO_NAME),
        ("nick_set", _SETS_EN, _NO_NAME_EN),
    )
    for verb, patterns, refused in readings:
        for pattern in patterns:
            if match := pattern.match(place.shape, place.at):
                return _named(verb, place, match, refused)
    if p.OF_ONESELF.search(place.lead) or p.LET_ME.search(place.lead):
        for pattern in _BE_CALLED:
            if match := pattern.match(place.shape, place.at):
                return _named("nick_set", place, match, _NO_NAME_EN)
    return None


def _named(verb: Verb, place: Place, match: re.Match[str], refused: LazyPattern) -> Found | None:
    if "name" not in match.re.groupindex:
        return Found(verb, place.start, match.end())
    name = match["name"].strip()
    asked = (
        place.shape.startswith("?", match.end()) and not place.asked and not match[0].rstrip().endswith(("吗", "ok"))
    )
    stated = verb == "nick_set" and not place.asked and _STATED.search(place.lead.strip(" ,"))
    told = stated and match.end() == match.end("name") and not _LASTING.search(place.lead)
    if asked or told or not name or p.QUESTION.search(name):
        return None
    if verb == "nick_revoke" and (_ALL_HOLD.fullmatch(name) or name in ("全名", "真名", "本名", "英文名")):
        return Found(verb, place.start, match.end(), match.span("name"))
    if refused.match(name) or (verb == "nick_set" and _GIVEN.match(name)):
        return None
    if p.CJK.search(name) and len(name) > _NO_NAME_MOST:
        return None
    return Found(verb, place.start, match.end(), match.span("name"))


def _named_first(place: Place) -> Found | None:
    """The name stands before the wish that it be dropped."""
    if (match := _TOPIC.match(place.shape, place.at)) and not _NO_NAME.match(match["name"]):
        return Found("nick_revoke", place.start, match.end(), match.span("name"))
    match = _NO_MORE.match(place.shape, place.at)
    if match and (told := _CALLED_BEFORE.search(place.shape, max(place.floor, place.start - 40), place.start)):
        named = not _NO_NAME.match(told["name"])
        return Found("nick_revoke", told.start(), match.end(), told.span("name")) if named else None
    match = _THIS_NAME.match(place.shape, place.at)
    if match is None:
        return None
    told = _NAMED_BEFORE.search(place.shape, max(place.floor, place.start - 30), place.start)
    return Found("nick_revoke", place.start, match.end(), told.span("name") if told else None)


def _my_name(place: Place) -> Found | None:
    renamed = _RENAMED.match(place.shape, place.at) if _LASTING.search(place.lead) else None
    if renamed is None and place.floor > 0 and place.start - place.floor < _SOON:
        renamed = _INSTEAD.match(place.shape, place.at)
    if renamed is not None:
        return _named("nick_set", place, renamed, _NO_NAME)
    for pattern in (_USE_AS, _GO_NOW):
        if (match := pattern.match(place.shape, place.at)) and not _NO_NAME_EN.match(match["name"]):
            return Found("nick_set", place.start, match.end(), match.span("name"))
    match = _MY_NAME_EN.match(place.shape, place.at)
    if match is None:
        return None
    refused = _NAME_REFUSED.search(place.shape, max(0, place.start - 80), place.start)
    if not (match["use"] or _FIRM_NAME.search(place.lead) or refused) or _NO_NAME_EN.match(match["name"]):
        return None
    return Found("nick_set", place.start, match.end("use") if match["use"] else match.end(), match.span("name"))
