"""Reads a wish that says nothing of what it is about: 记住, 帮我记一下, forget, and as a reply 把这条忘掉, forget this.

The whole message must be that wish. What tells of noting or forgetting (记住了吗, 忘了, forget it) is none. Whether it is
a reply is not known here.
"""

from bot.memory import patterns as p
from bot.memory.reading import Place, beginning, shaped
from bot.memory.wording import chinese as zh
from bot.memory.wording.signs import NAME
from bot.memory.worth import plain, tells
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryCommand, Verb

MOST_CHARS, MOST_POINTING = 60, 100
"""Such a wish is short; names and courtesies around it as well."""

_KEEP = LazyPattern(
    f"(?:{zh.FOR} ?{zh.NOTE}{zh.NOT_NOTED}|{zh.FOR}记(?:录)?|记(?:[住下着牢]|好(?=[吧啊哦哈喔 ,。]|$))(?:来|一下)?{zh.NOT_NOTED}"
    "|记一[下记]|记个事|(?:remember|memori[sz]e|(?:make|take) a note)(?: for me)?(?![a-z]))"
)
_FORGET = LazyPattern("(?:(?:彻底|永久)?(?:忘记|忘掉)|忘了吧|forget(?![a-z]))")
_CLOSING = LazyPattern(
    f"(?:[ ,。]|一下|@?{NAME}+|@[^ ,。?]+|{p.PARTICLE}|{p.POLITE}|(?:please|thanks?)(?![a-z]))*+(?P<asked>[吗么]?\\?)?"
)
_TELLS = LazyPattern(r"\b(?:i|we|let|never|always|to|can't)\b|你们?(?:都|就)?$|不|别|都$")
"""A lead after which noting or forgetting is told and not asked for."""
_FOREVER = LazyPattern("彻底|永久|permanently|for good")

_THIS = (
    "(?:(?:上面|刚才|刚刚)?(?:的)?[这那]一?(?:条|则|个|句|段|件)?(?:消息|信息|讯息|话|内容|记忆|事情?)?"
    "|(?:我)?(?:上面|刚才|刚刚|这里)说的(?:话|这?句|那句)?|它)"
)
_DROP = "(?:忘记|忘掉|忘了|删[掉除了]|抹掉|清除|撤回)"
_WISH = LazyPattern(
    f"(?:请|帮我|给我|麻烦)*(?:彻底|永久)?(?:{_DROP}掉?{_THIS}|{_THIS}(?:帮我|给我)?(?:彻底|永久)?{_DROP}"
    f"|[把将]{_THIS}(?:给我|帮我)?(?:彻底|永久)?{_DROP}|(?:忘记|忘掉)|忘了吧)"
    "(?:吧|好吗|可以吗|好不好|行吗|吗|啊|哦|喔|嘛|一下|谢谢|[ ,。])*"
    "|(?:forget(?: (?:this|that)(?: (?:message|memory|one|line))?)?"
    "|(?:delete|erase|remove|unremember) (?:this|that)(?: (?:message|memory|one|line))?)"
    "(?:[ ,。]|please|pls|thanks?(?: you)?|permanently|for good)*"
)
_POLITELY = LazyPattern(f"(?:[ ,。]|@?{NAME}+|@[^ ,。?]+|{p.POLITE})*\\??")


def bare(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command of a message that is only a wish to keep or to forget; `names` call the bot. Never raises."""
    place = _place(text, names, MOST_CHARS)
    if place is None:
        return None
    shape = place.shape
    wishes: tuple[tuple[Verb, LazyPattern], ...] = (("remember", _KEEP), ("forget", _FORGET))
    for verb, pattern in wishes:
        wish = pattern.match(shape, place.at)
        closing = _CLOSING.fullmatch(shape, wish.end()) if wish else None
        if wish is None or closing is None or (closing["asked"] and not place.asked):
            continue
        told = _TELLS.search(place.lead.strip(" ,"))
        if told and not place.asked and not (verb == "remember" and told[0] == "你"):
            continue
        return MemoryCommand(verb, None, forever=_FOREVER.search(shape) is not None, scope="bare")
    return None


def states(text: str) -> bool:
    """Whether a line tells something of its writer, so that a bare wish to keep right after it means it."""
    shape = shaped(fold(text.strip()), ())
    if "?" in shape or p.QUESTION.search(shape) or not p.MINE.search(shape):
        return False
    return plain(shape) or tells(shape)


def pointing(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command to forget what is replied to, when the whole text is that wish; `names` call the bot."""
    place = _place(text, names, MOST_POINTING)
    wish = _WISH.match(place.shape, place.at) if place is not None else None
    if place is None or wish is None:
        return None
    shape = place.shape
    if not _POLITELY.fullmatch(shape, wish.end()) or ("?" in shape and not _asks(place.lead, wish[0])):
        return None
    return MemoryCommand("forget", None, forever=_FOREVER.search(shape) is not None, replied=True)


def _asks(lead: str, wish: str) -> bool:
    """Whether a question is a polite wish (能忘记这条吗?) and no question about one (忘记这条?)."""
    return p.ASKED.search(lead) is not None or wish.rstrip(" ,。").endswith(("好吗", "可以吗", "好不好", "行吗"))


def _place(text: str, names: tuple[str, ...], most: int) -> Place | None:
    """Where such a wish would begin in a text; None where it is too long or has no word of one."""
    folded = fold(text) if len(text) <= most else ""
    return beginning(shaped(folded, names)) if p.HINT.search(folded) else None
