"""How alike two statements are, and whether they contradict each other, in Chinese and English. By words, no model."""

import re
from dataclasses import dataclass
from typing import Literal

from bot.text.fold import fold
from bot.text.script import ENGLISH
from bot.text.stem import stem
from bot.text.tokens import index_terms

STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""

SAME_CORE = 0.82
"""Two statements are about the same thing when they share so much beside denial and end."""

_COMMON = frozenset("我你您他她它们的了吗呢吧啊呀哦是在也都就还又很和跟与把被这那会已会")
"""Characters that tell nothing of what a statement is about; so does a pair with one of them."""

_DENIED = re.compile(
    r"再也不|不再|并不|从不|从来不|不太|没有?(?!错|事|关系|问题|想到|准)|别再|(?<!差)不(?!错|过(?!敏|生日|节|年)|久|同|仅|但|管|断|得不|如|少)"
    r"|\b(?:(?:do|does|did|is|are|was|were|can|could|has|have|had|will|would)(?: not|n'?t)|cannot|no longer|not|never"
    r"|any ?more|neither|quit|stopped|gave up|without)\b"
)
_OVER = re.compile(
    r"的?(?:计划|安排|约会?|任务)?(?:已经?|都)?被?(?:取消|作废|搞定|办完|做完|完成|结束)掉?了?|不去了|不做了|黄了|泡汤了?"
    r"|\b(?:(?:has been|have been|is|was|are|were|got|already)\s+)*"
    r"(?:cancell?ed|called off|done|finished|completed|over)\b"
    r"|\b(?:finished|completed|cancell?ed)\b"
)
"""A thing that has ended. No word border beside Chinese: `\\b` never matches there (measured in the reference)."""

_FIGURE = re.compile(
    r"[0-9]+(?:[.:/][0-9]+)*|(?<![一-鿿])[一二三四五六七八九十百千万两]+(?=[个只岁点号月年日天次公元块斤口条])"
)

_ONE_OF = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<whose>.{0,12}?)(?:现在|目前|最近)?(?P<what>(?:居)?住在|搬到了?|搬去了?)(?P<value>.+)",
        r"(?P<whose>.{0,12}?)(?P<what>生日|电话|手机号?|邮箱|门禁码|密码|车牌|地址|年龄|身高|体重|血型|星座|职业|名字)"
        r"(?:号码)?(?:现在)?(?:是|为|改成了?|换成了?|:|：)(?P<value>.+)",
        r"(?P<whose>.{0,12}?)(?:现在)?(?P<what>在)(?P<value>.{1,12}?)(?:上班|工作|上学|读书)",
        r"(?P<whose>.{0,12}?)(?:今年)?(?P<value>[0-9]+|[一二三四五六七八九十]+)(?P<what>岁)",
        r"(?P<whose>.{0,24}?)\b(?P<what>lives?|living|moved)\b(?: now)? (?:in|at|to) (?P<value>.+)",
        r"(?P<whose>.{0,24}?)\b(?P<what>birthday|phone(?: number)?|e-?mail|password|door code|address|age|job|name)\b"
        r" (?:is(?: now)?|changed to) (?P<value>.+)",
        r"(?P<whose>.{0,24}?)\b(?P<what>works?|working)\b(?: now)? (?:at|for|in) (?P<value>.+)",
        r"(?P<whose>.{0,24}?)\b(?:is|am|'m|turned) (?P<value>[0-9]+)(?P<what> years? old)?\b",
        r"(?P<whose>.{0,12}?)(?P<what>[男女]朋友|[男女]友|老[公婆]|丈夫|妻子|太太|未婚[夫妻]|对象|爸爸?|妈妈?|父亲|母亲"
        r"|老板|上司|导师|班主任|房东|牙医|(?:家庭|主治|心理)?医生|教练|理发师|律师)的?(?:名字)?(?:现在)?"
        r"(?:改?叫|名叫|(?<=名字)是|是(?=[小阿老][一-鿿]{1,2}$|[一-鿿]{1,3}(?:医生|大夫|老师|教练|律师|先生|女士|总)$))(?P<value>.+)",
        r"(?P<whose>.{0,12}?)(?P<what>最(?:喜欢|爱)[^是]{1,8}?)(?:现在)?(?:是|变成了?|换成了?)(?P<value>.+)",
        r"(?P<whose>.{0,24}?)\b(?P<what>girlfriend|boyfriend|wife|husband|partner|fianc[eé]e?|mother|mum|mom|father|dad"
        r"|boss|manager|landlord|landlady|dentist|doctor|gp|therapist|lawyer|teacher|tutor|coach|hairdresser)"
        r"(?:'s name is| is (?:now )?(?:called|named)| is(?: now)?(?= (?:dr|mr|mrs|ms|miss|prof)\b))(?: now)?"
        r" (?P<value>.+)",
        r"(?P<whose>.{0,24}?)\bfavou?rite (?P<what>[a-z ]{1,20}?) is(?: now)? (?P<value>.+)",
    )
)
"""What somebody has one of: another value of the same is a correction."""

_SUBJECT = re.compile(r"^(?:用户|本人|我|他|她|the user|user|i|he|she|they|my|his|her)(?:'s|’s)?(?=[^a-z]|$)[\s的]*")


Conflict = Literal["", "value", "status"]


@dataclass(frozen=True, slots=True)
class Compared:
    """`like`: how much two statements share, 0 to 1. `told`: how much of the new one the older one says. `conflict`:
    the new one corrects a value, or its status: it denies or ends what the older one says."""

    like: float
    told: float
    conflict: Conflict


def compared(new: str, older: str, names: tuple[str, ...] = ()) -> Compared:
    """The new statement beside the older one of the same owner; `names` are the owner's, who is I in both."""
    one, other = plain(new, names), plain(older, names)
    mine, theirs = _units(one), _units(other)
    shared = len(mine & theirs)
    like = 2 * shared / (len(mine) + len(theirs)) if mine and theirs else float(one == other)
    told = shared / len(mine) if mine else 0.0
    conflict: Conflict = "status" if _denied(one, other) else "value" if _valued(one, other) else ""
    return Compared(like, told, conflict)


def overtakes(new: str, older: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a new statement corrects what an older one says somebody has or does, or one of its clauses denies it.

    The same sentence with other figures says something else: another day, another number.
    """
    if _valued(plain(new, names), plain(older, names), figures=False):
        return True
    parts = clauses(older)
    return any(compared(one, other, names).conflict == "status" for one in clauses(new) for other in parts)


def plain(text: str, names: tuple[str, ...] = ()) -> str:
    """Folded, without the owner's name or pronoun at the beginning."""
    rest = fold(text).strip()
    for name in sorted({fold(name).strip() for name in names if name.strip()}, key=lambda name: -len(name)):
        if rest.startswith(name):
            rest = rest.removeprefix(name).removeprefix("'s").lstrip(" 的,，:：")
            break
    return _SUBJECT.sub("", rest, count=1).strip(" 。.!！~～")


def clauses(text: str) -> tuple[str, ...]:
    """The parts of a statement, in order; a comma inside a figure ends none."""
    return tuple(part.strip() for part in re.split(r"[；;。！!]+|[，,](?![0-9])", text) if part.strip())


def _units(text: str) -> set[str]:
    """Characters, pairs and words that tell something."""
    terms = index_terms(text)
    telling = {term for term in terms if term not in ENGLISH and _COMMON.isdisjoint(term)} or set(terms)
    return {stem(term)[:STEM] if term.isascii() else term for term in telling}


def _valued(new: str, older: str, *, figures: bool = True) -> bool:
    """Another value of what one has one of, or the same sentence with other figures."""
    for pattern in _ONE_OF:
        mine, theirs = pattern.fullmatch(new), pattern.fullmatch(older)
        if mine and theirs and mine["whose"].strip() == theirs["whose"].strip():
            a, b = _units(mine["value"]), _units(theirs["value"])
            same = mine["value"].strip() == theirs["value"].strip() or bool(a and b and (a <= b or b <= a))
            kind = (mine["what"] or "").strip() == (theirs["what"] or "").strip() or "搬" in mine[0] or "mov" in mine[0]
            if kind and not same:
                return True
    return figures and new != older and _FIGURE.sub("#", new) == _FIGURE.sub("#", older)


def _denied(new: str, older: str) -> bool:
    """One of them says that it is not, or is over, what the other says."""
    mine, theirs = _standing(new), _standing(older)
    if mine[1] == theirs[1]:
        return False
    a, b = _units(mine[0]), _units(theirs[0])
    if not a or not b:
        return False
    shared = len(a & b)
    return max(2 * shared / (len(a) + len(b)), shared / len(b)) >= SAME_CORE


def _standing(text: str) -> tuple[str, bool]:
    """What a statement is about, and whether it says that this holds."""
    rest, denied = _DENIED.subn(" ", text)
    rest, over = _OVER.subn(" ", rest)
    return rest, (denied + bool(over)) % 2 == 0
