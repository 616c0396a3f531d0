"""Whether the words after a wish to keep tell a fact, and are no advice, errand, maxim or promise. Doubt means no."""

from typing import Literal

from bot.memory import patterns as p
from bot.memory.wording import facts_en as en
from bot.memory.wording import facts_zh as zh
from bot.memory.wording.signs import QUOTED
from bot.text.fold import fold
from bot.text.lazy import LazyPattern

Kind = Literal["strong", "weak", "fact", "told"]
"""How clearly keeping was asked: noted for me, remember (or advice), do not forget (mostly an errand), noted (了)."""

_FACT_ZH = LazyPattern(zh.FACT)
_REMINISCENCE = LazyPattern(zh.REMINISCENCE)
_TENDER = LazyPattern(zh.TENDER)
_ADVICE = LazyPattern(zh.ADVICE)
_STANDING = LazyPattern(zh.STANDING)
_MAXIM = LazyPattern(zh.MAXIM)
_PREDICATE = LazyPattern(zh.PREDICATE)
_DATA = LazyPattern(zh.DATA)
_STARTS_WITH_TIME = LazyPattern(zh.TIME)
_BARE_NOUN = LazyPattern(zh.BARE_NOUN)
_THIN = LazyPattern(zh.THIN)
_NOUN_FIRST = LazyPattern(f"{zh.NOTED_NOUN},(?!.*(?:{zh.DATA}))")

_STATEMENT_EN = LazyPattern(en.STATEMENT)
_THIRD_EN = LazyPattern(en.THIRD)
_CONCRETE_EN = LazyPattern(en.CONCRETE)
_GENERIC_EN = LazyPattern(en.GENERIC)
_NOT_FACT_EN = LazyPattern(en.NOT_FACT)


def worth(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    """Whether `body`, shaped text, can be a fact to keep.

    `after_comma`: a break stands between verb and body, as in discourse; `firmly`: it was put as a request.
    """
    if kind == "strong":
        if _NOUN_FIRST.match(body) and not p.MINE.search(body):
            return False
        return (
            len(body) >= 2
            and not body.startswith(("to ", "方便", "you ", "your ", "it ", "this "))
            and not _THIN.fullmatch(body)
        )
    if not p.CJK.search(body):
        return _worth_en(body, kind, after_comma, firmly)
    if kind in ("fact", "told"):
        return _plain_fact(body)
    if _STANDING.match(body) and p.MINE.search(body):
        return True
    if _ADVICE.match(body) or _TENDER.search(body):
        return bool(_STANDING.match(body))
    if p.MINE.search(body):
        told = p.MINE.match(body) or tells(body) or not p.CJK.match(body)
        return bool(told) and not _BARE_NOUN.fullmatch(body) and not body.startswith(("你", "您"))
    if after_comma and not _DATA.search(body):
        return False
    told = len(body) >= 4 and (_PREDICATE.search(body) or _STARTS_WITH_TIME.match(body) or QUOTED in body)
    return bool(told) and not _MAXIM.search(body)


def plain(part: str) -> bool:
    """Whether a statement that stands before its command is a plain fact about the speaker."""
    if p.CJK.search(part):
        return _plain_fact(part)
    return bool(_STATEMENT_EN.match(part)) and not _NOT_FACT_EN.search(part)


def tells(part: str) -> bool:
    """Whether it says something of anything: a predicate, a number, a time."""
    return bool(_PREDICATE.search(part) or (not p.CJK.search(part) and _CONCRETE_EN.search(part)))


def _plain_fact(body: str) -> bool:
    return (
        bool(_FACT_ZH.match(body)) and not _REMINISCENCE.search(body) and not _TENDER.search(body) and "你" not in body
    )


def _worth_en(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    if _NOT_FACT_EN.search(body):
        return False
    if _STATEMENT_EN.match(body):
        return True
    third = (
        kind == "weak"
        and (firmly or not after_comma)
        and _THIRD_EN.match(body)
        and (_CONCRETE_EN.search(body) or p.MINE.search(body))
    )
    return bool(third) and not _GENERIC_EN.search(body)


_NOTHING_SAID = LazyPattern(
    "(?:[\\W_]|好[的吧啊呀]?|行吧?|可以|嗯+|哦+|喔+|啊+|呃+|额+|哈+|嘿+|是的?|对[的啊]?|知道了?|收到|明白了?|了解|谢谢你?|多谢|再见|拜拜|晚安"
    "|早安?|你好|在吗|没事|不用|算了|ok(?:ay)?|k|kk|yes|yeah|yep|no|nope|hi|hello|hey|thanks?(?: you)?|thx|lol|ha(?:ha)*"
    "|hm+|um+|sure|fine|good|great|cool|nice|bye|got it|i see|right|了|的|啦|吧|呢|呀)*"
)
_THIN_CHARS = 24


def thin(text: str) -> bool:
    """Whether a text says nothing that could be kept: 好的, 嗯, ok, signs alone (seed: low-signal texts are rejected)."""
    said = fold(text).strip()
    return len(said) <= _THIN_CHARS and _NOTHING_SAID.fullmatch(said) is not None
