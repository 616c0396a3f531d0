"""What a message says to the question when to remind: a time, that any will do, or that it is not wanted. Pure."""

import re
from dataclasses import dataclass

from bot.people.asking import NOTHING
from bot.people.wording import blanked_of, said_of
from bot.text.fold import fold, fold_mapped
from bot.text.lazy import LazyPattern
from bot.text.when.found import TAKEN, Parts
from bot.text.when.meaning import parts_folded

CORRECTING = (
    r"(?:等等|等下|啊|哦)?(?:不对|不是|说错了?|搞错了?|错了|弄错了?)|改[成到为在]?|换[成到]|还是|应该是|"
    r"(?a:\b(?:no|nope|wait|oops|actually|sorry|i mean|i meant|make (?:it|that)|change (?:it|that) to|rather|instead)"
    r"\b)"
)
ANSWER_CHARS = 60
"""A longer message is no answer to a question for a time."""

_DISMISS = LazyPattern(
    r"\s*(?:算了|不用了?|不要了?|不必了?|没事了?|取消|别提醒我?了?|never ?mind|forget it|no|nope|cancel|no thanks?)(?:吧|啦|谢谢|[。.!！~\s])*"
)
_WHENEVER = LazyPattern(
    r"\s*(?:随便|都行|都可以|什么时候都行|你定|你看着办|看着办|无所谓|随你|any ?time|whenever|you choose|up to you|doesn't matter)"
    r"(?:吧|啦|[。.!！~\s])*"
)
_AGREE = LazyPattern(
    r"(?:好|要|嗯+|对|行|可以|没错|是|ok|okay|yes|yeah|yep|sure|please)"
    r"(?:[的呀啊哦呢吧啦好要对行嗯]|谢谢|please|thanks|thx|do|[,，。.!！~\s])*"
)
_CORRECTS = LazyPattern(CORRECTING)
_FIRST = LazyPattern(rf"^(?:[\s,，.。]*(?:{CORRECTING}))+")
_FILL_ANSWER = LazyPattern(
    rf"{CORRECTING}|"
    r"好的?|那就|那|就|吧|是|嗯|对|的|呢|啊|哦|在|要|早点|\b(?:ok|okay|at|on|in|the|please|then|let's say|say|make it|by|around|yes|um"
    r"|i mean|i meant|meant|sorry|pls|thanks?|thank you|thx|ty|lol|haha|yeah|yep)\b|谢谢|谢啦|哈+|我是说|意思是|不好意思"
    r"|[\s，,。.!！?？~～、:]"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer to a question says: `parts` of a time, that any will do, or that it is not wanted any more.

    `bare`: nothing but a number. `corrects` what was said before; `agreed`: nothing but a yes.
    """

    parts: Parts = NOTHING
    whenever: bool = False
    dismissed: bool = False
    said: str = ""
    bare: bool = False
    corrects: bool = False
    agreed: bool = False


def replied(text: str, names: tuple[str, ...] = ()) -> Reply | None:
    """What a message says to the question for a time; None when it speaks of something else."""
    if not text.strip() or len(text) > ANSWER_CHARS:
        return None
    folded, origin = fold_mapped(text)
    for name in (fold(name) for name in names if name):
        folded = folded.replace(name, " " * len(name))
    if _DISMISS.fullmatch(folded.strip(" ,，")):
        return Reply(dismissed=True)
    if _WHENEVER.fullmatch(folded.strip(" ,，")):
        return Reply(whenever=True)
    if _AGREE.fullmatch(folded.strip(" ,，")):
        return Reply(agreed=True)
    bare = folded.strip(" 。.!！~吧")
    if re.fullmatch(r"\d{1,2}", bare):
        return Reply(parts_folded(f"{bare}点"), said=f"{bare}点", bare=True)
    corrects = _CORRECTS.search(folded) is not None
    first = _FIRST.match(folded)
    folded = " " * first.end() + folded[first.end() :] if first else folded
    parts = parts_folded(folded)
    if not parts.spans and re.search(r"\d|[一二三四五六七八九十两半]|minute|hour|an? ", bare):
        later = parts_folded(f"{bare}后") if not bare.isascii() else parts_folded(f"in {bare}")
        if later.delay is not None and _plain(f"{bare}后" if not bare.isascii() else f"in {bare}", later):
            return Reply(later, said=f"{bare}后" if not bare.isascii() else f"in {bare}")
    if parts.empty or not _plain(folded, parts):
        return None
    return Reply(parts, said=said_of(text, folded, origin, parts), corrects=corrects)


def _plain(folded: str, parts: Parts) -> bool:
    """Whether a text is nothing but a time, and courtesy."""
    left = _FILL_ANSWER.sub("", blanked_of(folded, parts).replace(TAKEN, " "))
    return not left.strip()
