"""Reads a wish that says nothing of what it is about: 记住, 帮我记一下, forget. It is asked back, or points before it.

The whole message must be that wish. What tells of noting or forgetting (记住了吗, 忘了, forget it) is none.
"""

from bot.memory import patterns as p
from bot.memory.reading import beginning, shaped
from bot.memory.wording import chinese as zh
from bot.memory.wording.signs import NAME
from bot.memory.worth import plain, tells
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryCommand, Verb

MOST_CHARS = 60
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
_FOREVER = LazyPattern("彻底|永久")


def bare(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command of a message that is only a wish to keep or to forget; `names` call the bot. Never raises."""
    if len(text) > MOST_CHARS:
        return None
    folded = fold(text)
    if not p.HINT.search(folded):
        return None
    shape = shaped(folded, names)
    place = beginning(shape)
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
