"""A Markdown text cut into pieces of bounded size that know their lines. It reads no file and ranks nothing."""

import re
from dataclasses import dataclass

from bot.text.estimate import estimate_tokens
from bot.types.note import Chunk

CHARS = 8
"""Characters of a line for each token of a chunk, above which it is cut: white space counts nothing."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_CODE = re.compile(r" {0,3}(`{3,}|~{3,})")
_END = re.compile(r".*[。！？!?；;.…\n ]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A line, or a part of one that is too long for a chunk; `begins` at the beginning of its line."""

    line: int
    text: str
    tokens: int
    begins: bool
    heading: bool

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def chunks(lines: list[str], tokens: int, overlap: int, skip: int = 0) -> tuple[Chunk, ...]:
    """Chunks of at most `tokens` (seed 长记忆: 400), each repeating up to `overlap` (80) of the one before it.

    A heading begins a new one, which repeats nothing. Every line that is not blank is in one, the first `skip` apart;
    a line longer than a chunk is cut at the end of a sentence, else anywhere.
    """
    found: list[Chunk] = []
    now: list[_Unit] = []
    size = new = 0
    for unit in _units(lines, tokens, overlap, skip):
        section = unit.heading and any(not each.heading and not each.blank for each in now)
        if now and (section or size + unit.tokens > tokens):
            _add(found, now, new)
            now = [] if section else _tail(now, min(overlap, tokens - unit.tokens))
            size, new = sum(each.tokens for each in now), 0
        now.append(unit)
        size, new = size + unit.tokens, new + 1
    _add(found, now, new)
    return tuple(found)


def _units(lines: list[str], tokens: int, overlap: int, skip: int) -> list[_Unit]:
    found: list[_Unit] = []
    code = ""
    for number, line in enumerate(lines[skip:], skip + 1):
        fence = _CODE.match(line)
        heading = not code and _HEADING.match(line) is not None
        if fence is not None and (not code or fence[1].startswith(code)):
            code = "" if code else fence[1]
        cost = _cost(line + "\n")
        if cost <= tokens and len(line) <= tokens * CHARS:
            found.append(_Unit(number, line, cost, True, heading))
            continue
        rest, begins = line, True
        while rest:
            part = _beginning(rest, max(2, min(overlap or tokens, tokens)))
            found.append(_Unit(number, part, _cost(part), begins, heading and begins))
            rest, begins = rest[len(part) :], False
    return found


def _cost(text: str) -> int:
    """What a part adds to a chunk at most: an estimate of the whole may be a token above those of its parts."""
    return estimate_tokens(text) + 1


def _beginning(text: str, most: int) -> str:
    """The longest beginning of so many tokens, or up to the end of a sentence in its second half."""
    low, high = 1, min(len(text), most * CHARS)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost(text[:middle]) <= most else (low, middle - 1)
    if low == len(text):
        return text
    ended = _END.match(text[:low])
    return ended[0] if ended is not None and len(ended[0]) * 2 >= low else text[:low]


def _tail(units: list[_Unit], most: int) -> list[_Unit]:
    """The last units that fit into so many tokens."""
    kept: list[_Unit] = []
    for unit in reversed(units):
        most -= unit.tokens
        if most < 0:
            break
        kept.append(unit)
    return kept[::-1]


def _add(found: list[Chunk], units: list[_Unit], new: int) -> None:
    """The chunk of these units, unless all that is new in it is blank."""
    if new == 0 or all(unit.blank for unit in units[-new:]):
        return
    text = "".join(
        ("\n" if number and unit.begins else "") + unit.text for number, unit in enumerate(units)
    )  # fmt: skip
    found.append(Chunk(units[0].line, units[-1].line, text))
