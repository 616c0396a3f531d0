"""Where the words to keep begin and end: after a command up to the next subject, or before it back to the sentence."""

from collections.abc import Iterator

from bot.memory import patterns as p
from bot.memory.reading import Place
from bot.memory.wording.signs import NAME
from bot.memory.worth import tells
from bot.text.lazy import LazyPattern

_LOOSE_ENDS = "啊呀哦喔噢啦嘛吧呢哈哟唷吗齁咯呦欸 ,.:"
_COURTESY_AT_END = LazyPattern(
    "(?:好吗|可以吗|行吗|好不好|就行|就好|谢谢|拜托|(?<![a-z])(?:thanks|thank you|please|ok|for me|for later|for next time"
    f"|from now on|always)|(?<= ){NAME}+)$"
)
_ASKED_AT_END = ("好吗", "可以吗", "行吗", "好不好")
_ASIDE = LazyPattern("[你您]|再说一遍|重复一遍|跟你[讲说]|听好|听着|烦死|备忘:?$|换个")
_TO_YOU = LazyPattern(r"[你您]|\byou\b")
_REPLIED = LazyPattern("(?:每次|以后|今后|回[复答])")
_SPACES = LazyPattern(f"(?:@?{NAME}+[ ,]*)*+(?:备忘:|memo:|update:|(?:fyi|btw|ok|oh)[ ,:])? *")
_HARD = LazyPattern(r"[。?\n]|$")
_MEANT = LazyPattern("[吗么]$|呢$")
_BACK = 400
"""Characters before a command in which a statement that it points back to may begin: contents reach 200."""


def extent(shape: str, a: int, asked: bool) -> tuple[int, int]:
    """Where the content that begins at `a` ends, and where what is left begins; (a, a) when it is a question."""
    stop = _HARD.search(shape, a)
    sentence_end = stop.start() if stop else len(shape)
    questioned = shape.startswith("?", sentence_end)
    end = shape.find(",", a, sentence_end) % (sentence_end + 1)
    polite = shape.endswith(_ASKED_AT_END, a, end)
    if end == sentence_end and questioned and not asked and not polite:
        return a, a
    if p.QUESTION.search(_unasked(shape[a:end]) if asked else shape[a:end]) and not polite:
        return a, a
    while end < sentence_end and not (asked and _MEANT.search(shape, a, end)):
        following = shape.find(",", end + 1, sentence_end) % (sentence_end + 1)
        clause = shape[end + 1 : following].strip()
        last = following == sentence_end
        ends_asking = asked and last and not p.QUESTION.search(_unasked(clause)) and not p.CUT.match(clause)
        if ends_asking and not p.CLOSING.fullmatch(clause) and not _TO_YOU.search(clause):
            return _trim(shape, a, following), following
        if p.CUT.match(clause) or p.QUESTION.search(clause) or (last and questioned):
            return _trim(shape, a, end), end
        if p.CLOSING.fullmatch(clause):
            return _trim(shape, a, end), following
        end = following
    return _trim(shape, a, end), end


def _unasked(clause: str) -> str:
    """A clause without the 吗 of the polite question around it."""
    return clause.rstrip("吗么? ")


def _trim(shape: str, a: int, b: int) -> int:
    """The content's end without closing particles and courtesies."""
    while b > a:
        if courtesy := _COURTESY_AT_END.search(shape[max(a, b - 12) : b]):
            b -= len(courtesy[0])
            continue
        end = a + len(shape[a:b].rstrip(_LOOSE_ENDS))
        if end == b or shape[a:end].endswith(("叫", "姓")):
            break
        b = end
    return b


def before(place: Place, strong: bool) -> tuple[int, int] | None:
    """The statement before a command that points back to it, or None when nothing there is one."""
    shape = place.shape
    end = place.start
    while end > place.floor and shape[end - 1] in ",。 \n":
        end -= 1
    low = max(place.floor, end - _BACK)
    begin = max(low, *(shape.rfind(stop, low, end) + 1 for stop in "。?\n"))
    if begin == low > place.floor:  # of a sentence that never ends only the last clauses
        begin = shape.find(",", low, end) + 1 or end
    for clause in _clauses(shape, begin, end):
        part = shape[clause:end]
        first = part.split(",", 1)[0].strip()
        if p.NOTHING_LEFT.fullmatch(first) or _ASIDE.search(first):
            continue
        if (_TO_YOU.search(part) and not _REPLIED.match(part)) or p.QUESTION.search(part):
            return None
        told = p.MINE.search(part) or (strong and tells(part))
        return (clause, _trim(shape, clause, end)) if told and len(part) > 2 else None
    return None


def _clauses(shape: str, begin: int, end: int) -> Iterator[int]:
    while begin < end:
        lead = _SPACES.match(shape, begin)
        yield lead.end() if lead else begin
        begin = shape.find(",", begin, end) + 1 or end
