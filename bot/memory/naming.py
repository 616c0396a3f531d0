"""Reads how someone wants to be addressed, or no longer. Who a person is called by others is no wish."""

import re

from bot.memory import patterns as p
from bot.memory.patterns import EDGE, END, NAME, STOP
from bot.memory.reading import Found, Place
from bot.text.lazy import LazyPattern
from bot.types.memory import Verb

_CALL = "(?:叫|喊|称呼|唤|call)"
_STOP_IT = "(?:请?(?:别|不要|不许|不准|莫|勿要|麦|禁止|甭|唔好)(?:老|一直|总|再)*)"
_WHO = f"(?P<name>[^{STOP}:]{{1,24}}?)"
_GOOD = (
    f"(?:吧|好了|就好|就行|就可以|即可|就ok|好吗|行吗|可以吗|好不好|or whatever|@?{NAME}+|[了啦吗啊呀哦喔嘛哈呢齁 ])*"
    f"(?={EDGE}|叫我|别叫我|不要叫我)"
)
_WORDS = rf"(?P<name>[^{STOP}: ]{{1,24}}(?: [^{STOP}: ]{{1,24}}){{0,2}}?)"
_WELL = (
    r"(?: (?:from (?:now|here) on(?: out)?|please|pls|ok|okay|instead|any ?more|again|now|thanks|or whatever|lol))*"
    rf"(?=[ ]?[{STOP}:]| and | but | so |$)"
)
_REVOKES = tuple(
    LazyPattern(pattern)
    for pattern in (
        f"{_STOP_IT} ?(?:这么|这样|那么|那样){_CALL}我?{_GOOD}",
        f"(?:stop|do ?n[o']t|quit) call(?:ing)? me (?:that|this|it)(?= |{EDGE})",
        f"{_STOP_IT} ?{_CALL} ?我(?:为|做(?![饭菜])|作)? *{_WHO}{_GOOD}",
        f"{_STOP_IT} ?用 ?{_WHO}(?:来)?(?:称呼|叫|喊)我{_GOOD}",
        f"我不(?:想|喜欢|要)再?被人?(?:叫|喊|称为)做? ?{_WHO}{_GOOD}",
    )
)
_REVOKES_EN = tuple(
    LazyPattern(pattern + _WORDS + _WELL)
    for pattern in (
        "(?:stop|quit|not|do ?n[o']t|do not|never)(?: ever)? "
        "(?:call(?:ing)?|refer(?:ring)? to|address(?:ing)?) me (?:as )?",
        "i (?:do ?n[o']t|do not) (?:want|like) (?:to be|being) called ",
    )
)
_SETS = tuple(
    LazyPattern(pattern)
    for pattern in (
        f"(?:管我叫|快?{_CALL} ?我)(?:为|做(?![饭菜])|作)? *{_WHO}{_GOOD}",
        f"叫{_WHO}就(?:好|行|可以)了?{END}",
        f"(?:把?我的?)?(?:名字|称呼|昵称)(?:改成|改为|换成){_WHO}{_GOOD}",
    )
)
_SETS_EN = tuple(
    LazyPattern(pattern + _WORDS + _WELL)
    for pattern in (
        "(?:just )?(?:call(?:ing|ed)?|refer to|address(?:ing)?|speak to) me (?:as |by )?",
        "(?:change|set) my (?:nick)?name to ",
        "i want to be called by ",
    )
)
_STATED = LazyPattern("(?<![想要让请望])你$|都$|大家$|各位$")
"""你叫我X, 大家都叫我X tell what others say; they ask for nothing."""
_NO_NAME = LazyPattern(
    "(?!先生|学[霸长姐妹弟]|打工|大|老|小|阿)"
    "(?:[们起来去出吃喝回咋啥干做说讲别不给帮把买看玩等到在再也都还又走睡写跑陪请跟往让几多醒留滚开发拿送找背洗搬坐呆快赶怎什]"
    "|[打上下过先学早晚被一了吧吗呢啊哦的]|加班(?![狂王狗])|如何|情何|明天|今天|周[一二三四五六日]|[0-9]+[:点]|名字|全名)"
    "|.*(?:怎么|什么|干嘛|的时候|一声|起床|起来|吃饭|睡觉|过来|回家|出门|[来去我]$|一起)|[我你他她]"
)
_NO_NAME_EN = LazyPattern(
    r"(?:at|when|if|an?|the|later|back|tomorrow|tonight|today|on|in|by|after|before|and|or|out|for|asap|crazy|names?"
    r"|that|something|any\w*|whatever|maybe|old|stupid|dumb|paranoid|lazy|cynical|weird|to|with|about|up|now|please"
    r"|again|soon"
    r"|your|it|this|what|whenever|as|im|i'm|i|he|she|they|but|because|my|next|every|once|first|not|ignorant|confused"
    r"|naive|picky)\b|[0-9]|.*\b(?:a|the) "
)


def naming(place: Place) -> Found | None:
    """The wish to be called, or no longer called, by a name that stands at this place, or None; doubt means None."""
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
    return None


def _named(verb: Verb, place: Place, match: re.Match[str], refused: LazyPattern) -> Found | None:
    if "name" not in match.re.groupindex:
        return Found(verb, place.start, match.end())
    name = match["name"].strip()
    asked = place.shape.startswith("?", match.end()) and not place.asked
    told = verb == "nick_set" and _STATED.search(place.lead.strip(" ,")) and match.end() == match.end("name")
    if asked or told or refused.match(name) or p.QUESTION.search(name):
        return None
    return Found(verb, place.start, match.end(), match.span("name"))
