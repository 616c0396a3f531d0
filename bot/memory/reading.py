"""What every reader of commands shares: the shaped text, a place in it where a command may begin, what was found.

In the shape `,` is any soft break, `。` a full stop, `?` a question's end, NAME a call name, QUOTED a quotation.
"""

import re
from dataclasses import dataclass
from functools import cache

from bot.memory import patterns as p
from bot.memory.pasted import OVERRIDE
from bot.memory.wording.signs import NAME, QUOTED
from bot.text.fold import fold
from bot.types.memory import Scope, Verb

_HIDDEN = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|‘[^‘’\n]*’|《[^《》\n]*》"
    rf"|{OVERRIDE}"
    r"|\"[^\"\n]*\"|^(?:>|[\[【](?:(?:转发|转自|通知|公告|fwd|forwarded|聊天记录))).*$",
    re.MULTILINE,
)
_FULL_STOP = re.compile(
    r"[。!]|(?<!\d)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)\.(?![a-z0-9忘记])"
    r"|\.(?=\.)|(?<=\d)\.(?=$|\n)|(?:(?<=[a-z] \d)|(?<=[a-z] \d\d)|(?<=\d{3}))\.(?= )"
)
_LISTED = re.compile(r"(?:^|[\s:,])1[.)] ?[^\d]")
_ITEM_STOP = re.compile(
    r"[。!]|(?<!\d)(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)\.(?![a-z0-9忘记])|\.(?=\.)|(?<=\d)\.(?=$|\n)"
)
"""In an enumeration the dot after a number ends nothing."""
_SOFT_STOP = re.compile(
    r"[;☀-➿\U0001F000-\U0001FAFF]|[~—–](?!(?:(?<=#\d.)|(?<=#\d\d.)|(?<=#\d{3}.)|(?<=#\d{4}.))#?\d)"
    r"|(?<!\d),|,(?!\d{3})|(?<= )-(?= )|、(?=[。,\n]|$)|(?<= )(?:but|so"
    "|and)(?= (?:can you |could you |please |pls |just |you can )*(?:call me|keep (?:that|it) in mind"
    "|remember (?:that|it)(?= ?[,.!?]|$)))"
)

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
        return p.ASKED.search(self.lead) is not None


def shaped(folded: str, names: tuple[str, ...]) -> str:
    """The folded text with the same length, where quotes, names and stops are each one known sign."""
    shape = _HIDDEN.sub(lambda match: QUOTED * len(match[0]), folded)
    if names:
        shape = _called(names).sub(lambda match: NAME * len(match[0]), shape)
    return _SOFT_STOP.sub(
        lambda match: "," * len(match[0]), (_ITEM_STOP if _LISTED.search(shape) else _FULL_STOP).sub("。", shape)
    )


@cache
def _called(names: tuple[str, ...]) -> re.Pattern[str]:
    spelled = "|".join(sorted((re.escape(fold(name)) for name in names if fold(name)), key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{spelled or '(?!)'})(?![a-z0-9])")


def place_at(shape: str, start: int, floor: int) -> Place:
    """The place whose clause starts at `start`; the last command ended at `floor`."""
    lead = p.LEAD.match(shape, start)
    return Place(shape, start, lead.end() if lead else start, floor)


def beginning(shape: str) -> Place:
    """The place where a message begins, after those that it mentions (@nuan)."""
    mentioned = _MENTIONED.match(shape)
    return place_at(shape, mentioned.end() if mentioned else 0, 0)
