"""The expressions of wishes.toml, numbers of memories, and the shaped text in which wishes are read. Pure."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from bot.core.memories import MemoryVerb, WishScope
from bot.language.time.parts import count_zh
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold

MOST_NUMBERS = 1000
"""Numbers that one wish names at most; a longer range is none."""

PLACE = "第[一二三四五六七八九十]{1,3}条"
"""A place told in words; 第一次 and 第一个 are none."""
_ONE = f"(?:{PLACE}|(?:编号|第|memory |number |no\\.? ?)?#? ?[0-9]{{1,9}} ?[号条]?)"
_AND = "(?:[ ,、&+/]|和|跟|与|及|以及|还有|and(?= ?[#0-9]))"
_TO = "(?: ?(?:[-~–—至到]|to|through) ?)"
SEVERAL = f"{_ONE}(?:{_TO}{_ONE}|{_AND}+{_ONE})+"
"""Two or more of them, as part of an expression for shaped text; what leads to it and ends it is checked elsewhere."""

_EACH = LazyPattern(f"(?P<to>{_TO})?(?P<one>{_ONE})")
_RANGE = LazyPattern(f"[0-9] ?[号条]?{_TO}")
_MARKED = LazyPattern("[#号条]|memory|number|编号")
_DIGITS = LazyPattern("[0-9]{1,9}")
_WORDS = LazyPattern("第((?:[一二三四五六七八九]?十)?[一二三四五六七八九]?)条")

CALLED, QUOTED = "\ue001", "\ue000"
"""The signs of shaped text (shape.py) for a name that the bot is called by, and for what is quoted."""

_MACRO = re.compile(r"\{([a-z_]+)\}")
_BREAK = re.compile(r"\n *")

_HIDDEN = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|‘[^‘’\n]*’|《[^《》\n]*》"
    r"|\"[^\"\n]*\"|^(?:>|[\[【](?:(?:转发|转自|通知|公告|fwd|forwarded|聊天记录))).*$",
    re.MULTILINE,
)
_LISTED = re.compile(r"(?:^|[\s:,])1[.)] ?[^\d]")
_ITEM_STOP = LazyPattern(
    r"[。!]|(?<!\d)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)\.(?![a-z0-9忘记])|\.(?=\.)|(?<=\d)\.(?=$|\n)"
)
"""In an enumeration the dot after a number ends nothing."""
_FULL_STOP = LazyPattern(_ITEM_STOP.text + r"|(?:(?<=[a-z] \d)|(?<=[a-z] \d\d)|(?<=\d{3}))\.(?= )")
_SOFT_STOP = re.compile(
    r";|(?<=[0-9一-鿿][一-鿿])(?<![记住忆下叫掉]) (?=[一-鿿]{2})|(?<!喜欢)(?<![是为叫爱吃喝])(?<!\bis )(?<!\blikes )(?<!\blike )(?<!\blove )[☀-➿\U0001F000-\U0001FAFF]"
    r"|[~—–](?!(?:(?<=#\d.)|(?<=#\d\d.)|(?<=#\d{3}.)|(?<=#\d{4}.))#?\d)"
    r"|(?<!\d),|,(?!\d{3})|(?<= )-(?= )(?!(?<=\d -) #\d)|、(?=[。,\n]|$)|(?<= )(?:but|so"
    "|and)(?= (?:can you |could you |please |pls |just |do |you can )*(?:call me|keep (?:that|it) in mind"
    "|remember (?:that|it)(?= ?[,.!?]|$)))"
)
CLAUSE = LazyPattern(r"[^,。?\n]+")
"""A clause of shaped text."""
_MISSPELT = re.compile("纪[住录]|[记纪]注(?![册释意目])|记ㄧ|计(?:一(?=下)|住)")
_MENTIONED = re.compile("[ ,]*(?:@[^ ,。?]+[ ,]+)*")


def listed(text: str) -> tuple[int, ...]:
    """The numbers in order, each once, with those between the ends of a range; () when they are too many or unclear."""
    if _RANGE.search(text) and not _MARKED.search(text):
        return ()  # 2020-2021 is a time
    found: list[int] = []
    for each in _EACH.finditer(text):
        number = numbered(each["one"])
        if each["to"] and found:
            low, high = sorted((found[-1], number))
            if high - low >= MOST_NUMBERS:
                return ()
            found += range(low, high + 1)
        else:
            found.append(number)
    numbers = tuple(dict.fromkeys(found))
    if _RANGE.search(text):
        numbers = tuple(sorted(numbers))
    return numbers if len(numbers) <= MOST_NUMBERS else ()


def numbered(text: str) -> int:
    """The number in 第3条, #3 or 第十二条; 0 when there is none."""
    if digits := _DIGITS.search(text):
        return int(digits[0])
    words = _WORDS.search(text)
    return count_zh(words[1]) if words else 0


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The expression of that name, in [sign] or a macro. KeyError when there is none."""
    text = _data()["sign"].get(name) or _macro(name)
    return re.compile(_expanded(text), re.MULTILINE if name == "override" else 0)


@cache
def templates(name: str) -> tuple[re.Pattern[str], ...]:
    """The expressions of that list in [list], in order; the first that fits decides. KeyError when there is none."""
    return tuple(re.compile(_expanded(each)) for each in _data()["list"][name])


@cache
def _data() -> dict[str, Any]:
    found = read_table("bot.language.wishes", "wishes")
    found["macro"] |= {"called": CALLED, "quoted": QUOTED, "several_numbers": SEVERAL}
    return found


@cache
def _macro(name: str) -> str:
    value = _data()["macro"][name]
    text = _expanded("|".join(value) if isinstance(value, list) else value)
    if name.endswith("_en"):
        return f"(?:{text})(?![a-z])"
    return f"(?:{text})" if "|" in text else text


def _expanded(text: str) -> str:
    return _MACRO.sub(lambda match: _macro(match[1]), _BREAK.sub("", text))


@dataclass(frozen=True, slots=True)
class FoundWish:
    """One command in the shaped text; spans are indexes there."""

    verb: MemoryVerb
    start: int
    end: int
    content: tuple[int, int] | None = None
    number: int | None = None
    forever: bool = False
    scope: WishScope = ""
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WishPlace:
    """Where a command may begin: clause start, the command's own start after the lead, and where the last one ended."""

    shape: str
    start: int
    at: int
    floor: int

    @property
    def lead(self) -> str:
        """What stands before the command in its clause: names, courtesies, fillers."""
        return self.shape[self.start : self.at]

    @property
    def asked(self) -> bool:
        """Whether it is put as a polite question (能…吗, could you)."""
        return pattern("asking").search(self.lead) is not None

    def matches(self, name: str) -> re.Match[str] | None:
        """What stands here, if it is of that form."""
        return pattern(name).match(self.shape, self.at)


def shaped(folded: str, names: tuple[str, ...]) -> str:
    """The folded text with the same length, where quotes, names and stops are each one known sign."""
    folded = _MISSPELT.sub(lambda match: {"录": "记录", "住": "记住", "注": "记住"}.get(match[0][1], "记一"), folded)
    shape = pattern("override").sub(_hidden, _HIDDEN.sub(_hidden, folded))
    if names:
        shape = _called(names).sub(lambda match: CALLED * len(match[0]), shape)
    stops = _ITEM_STOP if _LISTED.search(shape) else _FULL_STOP
    return _SOFT_STOP.sub(lambda match: "," * len(match[0]), stops.sub("。", shape))


def place_at(shape: str, start: int, floor: int) -> WishPlace:
    """The place whose clause starts at `start`; the last command ended at `floor`."""
    lead = pattern("lead").match(shape, start)
    return WishPlace(shape, start, lead.end() if lead else start, floor)


def beginning(shape: str) -> WishPlace:
    """The place where a message begins, after those that it mentions (@nuan)."""
    mentioned = _MENTIONED.match(shape)
    return place_at(shape, mentioned.end() if mentioned else 0, 0)


def speaks(shape: str, at: int) -> bool:
    """Whether the line that holds this place begins with somebody's name and a colon: it was pasted from a talk."""
    said = pattern("speaker").match(shape, shape.rfind("\n", 0, at) + 1)
    return said is not None and said.end() <= at


def may_ask(shape: str, clause: re.Match[str], found: re.Match[str], named: bool) -> bool:
    """Whether the words `found` in a clause may be said to nuan: neither told of somebody nor asked about."""
    before = shape[clause.start() : found.start()]
    if pattern("cue_before").search(before) or (not named and pattern("cue_before_mine").search(before)):
        return False
    asks = shape.startswith("?", clause.end()) or pattern("cue_question").search(clause[0])
    if asks and not pattern("cue_polite").search(clause[0]):
        return False
    told = pattern("reported").search(shape, max(0, clause.start() - 12), clause.start())
    return not told and not speaks(shape, found.start())


def _hidden(match: re.Match[str]) -> str:
    return QUOTED * len(match[0])


@cache
def _called(names: tuple[str, ...]) -> re.Pattern[str]:
    spelled = "|".join(sorted((re.escape(fold(name)) for name in names if fold(name)), key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{spelled or '(?!)'})(?![a-z0-9])")
