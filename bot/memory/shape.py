"""The shape in which wishes are read: folded text of the same length with one sign for each stop, name and quotation.

In the shape `,` is any soft break, `。` a full stop, `?` a question's end. Code, quotations and forwarded lines are
hidden.
"""

import re
from dataclasses import dataclass
from functools import cache

from bot.memory.wish_patterns import CALLED, QUOTED, pattern
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.memory import Scope, Verb

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
    r";|(?<!喜欢)(?<![是为叫爱吃喝])(?<!\bis )(?<!\blikes )(?<!\blike )(?<!\blove )[☀-➿\U0001F000-\U0001FAFF]"
    r"|[~—–](?!(?:(?<=#\d.)|(?<=#\d\d.)|(?<=#\d{3}.)|(?<=#\d{4}.))#?\d)"
    r"|(?<!\d),|,(?!\d{3})|(?<= )-(?= )|、(?=[。,\n]|$)|(?<= )(?:but|so"
    "|and)(?= (?:can you |could you |please |pls |just |you can )*(?:call me|keep (?:that|it) in mind"
    "|remember (?:that|it)(?= ?[,.!?]|$)))"
)
_MISSPELT = re.compile("纪住|[记纪]注(?![册释意目])|记ㄧ|计(?:一(?=下)|住)")
_MENTIONED = re.compile("[ ,]*(?:@[^ ,。?]+[ ,]+)*")


@dataclass(frozen=True, slots=True)
class Found:
    """One command in the shaped text; spans are indexes there."""

    verb: Verb
    start: int
    end: int
    content: tuple[int, int] | None = None
    number: int | None = None
    forever: bool = False
    scope: Scope = ""
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
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
    folded = _MISSPELT.sub(lambda match: "记住" if match[0][1] in "住注" else "记一", folded)
    shape = pattern("override").sub(_hidden, _HIDDEN.sub(_hidden, folded))
    if names:
        shape = _called(names).sub(lambda match: CALLED * len(match[0]), shape)
    stops = _ITEM_STOP if _LISTED.search(shape) else _FULL_STOP
    return _SOFT_STOP.sub(lambda match: "," * len(match[0]), stops.sub("。", shape))


def place_at(shape: str, start: int, floor: int) -> Place:
    """The place whose clause starts at `start`; the last command ended at `floor`."""
    lead = pattern("lead").match(shape, start)
    return Place(shape, start, lead.end() if lead else start, floor)


def beginning(shape: str) -> Place:
    """The place where a message begins, after those that it mentions (@nuan)."""
    mentioned = _MENTIONED.match(shape)
    return place_at(shape, mentioned.end() if mentioned else 0, 0)


def speaks(shape: str, at: int) -> bool:
    """Whether the line that holds this place begins with somebody's name and a colon: it was pasted from a talk."""
    said = pattern("speaker").match(shape, shape.rfind("\n", 0, at) + 1)
    return said is not None and said.end() <= at


def _hidden(match: re.Match[str]) -> str:
    return QUOTED * len(match[0])


@cache
def _called(names: tuple[str, ...]) -> re.Pattern[str]:
    spelled = "|".join(sorted((re.escape(fold(name)) for name in names if fold(name)), key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{spelled or '(?!)'})(?![a-z0-9])")
