"""Reads 忘记 with nothing but an object: 忘记年糕, forget Oslo, 把猫忘了. Only what nuan knows of it makes a wish of it.

忘了我的生日 may be a reproach: it is asked back, never done. 忘记他 and forget about it are what people say to
themselves; where nothing fits, or in doubt, it is talk.
"""

from dataclasses import dataclass

from bot.memory import patterns as p
from bot.memory.match import match, perhaps, tells
from bot.memory.reading import beginning, shaped
from bot.memory.wording import chinese as zh
from bot.memory.wording.signs import NAME, QUOTED, STOP
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.types.memory import Memory, MemoryCommand

MOST_CHARS = 80
"""A name and what is around it."""

_AFTER = f"(?:[ ,。]|@?{NAME}+|{p.PARTICLE}|{p.POLITE}|(?:please|permanently|for good)(?![a-z]))*+"
_OBJECT = f"(?P<c>(?:[^{STOP}:{NAME}{QUOTED}]|{QUOTED}+){{1,30}}?)"
_NAMED = f"[^{STOP}:{NAME}{QUOTED}]{{1,30}}?"
_FORGET = LazyPattern(
    f"(?:忘记|忘掉|忘了(?=[^{STOP}]+吧{_AFTER}$)|forget(?![a-z])(?: about)?)(?:关于|有关)? ?{_OBJECT}{zh.TAIL_OFF}{_AFTER}"
)
_REPROACH = LazyPattern(f"忘了(?:我的(?P<mine>{_NAMED})|(?P<of>{_NAMED}(?=的事情?{_AFTER}$))的事情?){_AFTER}")
_PUT_OFF = LazyPattern(f"把(?:我的)?(?P<it>{_NAMED})(?:的事情?)?给?忘[了掉记]{_AFTER}")
"""忘了我的生日 and 把猫忘了: what may as well be told."""
_TELLS = LazyPattern(r"\b(?:i|we|u|you|let|let['’]?s|never|always|to)\b|[你您大各]|都$|就$|再|不|别|想|会")
"""A lead after which forgetting is told and not asked for."""
_NO_OBJECT = LazyPattern(
    ".*(?:[了过着得吗呢么]$|怎么|什么|为什么|如何|哪|谁|多少|很|太|真的|不|没|吧.|容易|需要|[要会能该想]|[他她它你您自])|(?:我|咱|带|跟|说|告诉|邀请|去|来|吃|喝|拿|关|买|打|"
    "写|做|给|把|被|叫|回|发|交|锁|洗|刷|充|签|过去|昨天|今天|明天|一切|所有|全部|烦恼|痛苦|悲伤|伤|那些|这些|这|那|时间|初心|密码|一个|一段|前任|爱|恨|如|是|曾经|从前|以前)"
    r"|(?:it|that|this|them|him|her|you|us|me|they|those|these|to|what|who|how|why|when|where|if|everything|everyone"
    r"|anything|something|all|i|we|she|he|the|my|our|your|yourself|about|love|life|love|not|and|or|but|password)\b"
    r"|(?:\S+ ){4,}|.*\b(?:is|are|was|were|me|you|us|it|him|her|them|not|never|ever|will|can|should|hard|easy)\b"
)
"""What stands there in laments, reports, errands and advice, or is more than a name."""
_NO_CHARACTER = LazyPattern("[^一-鿿]|[他她它您你我咱俺人事爱恨家本心钱伞门课饭药]")
"""A single character that names nothing, or what people leave behind."""
_SOFT = LazyPattern(f"吧|(?:{zh.PERSONAL})$")
"""忘了小明吧 may be meant for oneself, and 忘记生日 for a birthday that was missed: asked back."""
_FOREVER = LazyPattern("彻底|永久|permanently|for good")


@dataclass(frozen=True, slots=True)
class Alone:
    """An object that somebody might want forgotten, verbatim; `soft`: it might as well be meant for themselves."""

    content: str
    soft: bool
    forever: bool


def alone(text: str, names: tuple[str, ...] = ()) -> Alone | None:
    """The object of a message that is nothing else than 忘记 X; whether it is a wish is told by `wish`. Never raises."""
    if len(text) > MOST_CHARS or not p.HINT.search(fold(text)):
        return None
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    place = beginning(shape)
    sure = _FORGET.fullmatch(shape, place.at)
    found = sure or _REPROACH.fullmatch(shape, place.at) or _PUT_OFF.fullmatch(shape, place.at)
    if found is None or "?" in shape or _TELLS.search(place.lead):
        return None
    a, b = found.span(found.lastgroup or 0)
    said = shape[a:b].strip()
    if (len(said) < 2 and _NO_CHARACTER.match(said)) or _NO_OBJECT.match(said) or p.DEICTIC.fullmatch(said):
        return None
    content = unfold(text, origin, a, b).strip().strip("“”\"'「」『』").strip()
    soft = sure is None or len(said) < 2 or _SOFT.search(shape[b:]) is not None or _SOFT.search(said) is not None
    return Alone(content, soft, _FOREVER.search(shape) is not None) if content else None


def wish(said: Alone, known: tuple[Memory, ...], plans: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The wish that it is, given what is known of its writer; None when nothing fits, so that it is talk.

    One memory that holds these very words is meant beyond doubt; of anything else it is asked which. Where no memory
    fits, their promises and reminders (`plans`) may, unless it might as well be meant for themselves.
    """
    found = match(said.content, known)
    literal = len(found) == 1 and fold(said.content) in fold(found[0].text)
    chosen = tuple(memory.id for memory in found or perhaps(said.content, known))
    if not chosen:
        planned = not said.soft and any(tells(said.content, plan) for plan in plans)
        return MemoryCommand("forget", said.content, forever=said.forever) if planned else None
    return MemoryCommand(
        "forget", said.content, forever=said.forever, scope="" if literal and not said.soft else "unsure",
        chosen=chosen,
    )  # fmt: skip
