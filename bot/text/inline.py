"""Marks inside a paragraph of model markdown: emphasis and code. Knows no blocks and no platform."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

Kind = Literal["bold", "italic", "strikethrough", "code", "pre", "blockquote", "spoiler"]

_TOKEN = re.compile(r"(?<!¯)\\([*_~`|#>])|\\.|https?://[^\s<>*`|~]*[^\s<>*`|~_]|`+|\*+|_+|~+|\|+")
_TICKS = re.compile(r"`+")
_UNITS: dict[str, dict[int, tuple[int, ...]]] = {
    "*": {1: (1,), 2: (2,), 3: (1, 2)},
    "_": {1: (1,)},
    "~": {2: (2,)},
    "|": {2: (2,)},
}
"""The marks a run of characters can be; __ stays as it is (__init__), and so does any longer run."""
_KINDS: dict[tuple[str, int], Kind] = {
    ("*", 1): "italic",
    ("*", 2): "bold",
    ("_", 1): "italic",
    ("~", 2): "strikethrough",
    ("|", 2): "spoiler",
}
_STYLES: tuple[Kind, ...] = ("bold", "italic", "strikethrough", "spoiler")
_ORDER: tuple[Kind, ...] = ("blockquote", *_STYLES, "code", "pre")


@dataclass(frozen=True, slots=True)
class Style:
    """A kind of text at [start:end], in code points."""

    kind: Kind
    start: int
    end: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class Inline:
    """A paragraph without its marks; `missing` would close those that are still open at its end."""

    text: str
    styles: tuple[Style, ...]
    missing: str


@dataclass(slots=True, eq=False)
class _Open:
    """A mark that may still be closed: its node, and what it can become."""

    char: str
    node: int
    units: set[int]


@dataclass(slots=True)
class _Reader:
    """Nodes are the pieces of the plain text; a mark that finds its other half becomes an empty one."""

    source: str
    nodes: list[str] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    waiting: Counter[tuple[str, int]] = field(default_factory=Counter)

    def read(self) -> str:
        """Fills nodes and styles (counted in nodes); returns the ticks of code that is still open."""
        source, at, ticks = self.source, 0, _tick_runs(self.source)
        unclosed, depth = "", 0
        while token := _TOKEN.search(source, at):
            self.nodes.append(source[at : token.start()])
            run, at = token[0], token.end()
            if token[1] or run[0] not in "`*_~|":
                self.nodes.append(token[1] or run)
            elif run[0] == "`":
                close = _next(ticks.get(len(run), []), at)
                if close is None and not unclosed and len(run) < 3:
                    unclosed, depth = run, len(self.stack)
                at = self._code(run, at, close)
            else:
                self._marks(run, source[max(token.start() - 1, 0) : token.start()], source[at : at + 1])
        self.nodes.append(source[at:])
        if unclosed:
            del self.stack[depth:]
        return unclosed

    def _code(self, run: str, at: int, close: int | None) -> int:
        inner = self.source[at:close] if close is not None else ""
        if close is None or not inner.strip():
            self.nodes.append(run)
            return at
        if inner[0] == inner[-1] == " ":
            inner = inner[1:-1]
        self.styles.append(Style("code", len(self.nodes), len(self.nodes) + 1))
        self.nodes.append(inner)
        return close + len(run)

    def _marks(self, run: str, before: str, after: str) -> None:
        char, left = run[0], set(_UNITS[run[0]].get(len(run), ()))
        opens, closes = _flanks(run, before, after)
        while closes and left and (opened := self._opened(char, left)):
            unit = max(opened.units & left)
            self.styles.append(Style(_KINDS[char, unit], opened.node + 1, len(self.nodes)))
            left.remove(unit)
            opened.units.remove(unit)
            self.waiting[char, unit] -= 1
            self.nodes[opened.node] = char * sum(opened.units)
            if not opened.units:
                self.stack.pop()
            run = char * sum(left)
        if opens and left:
            self._push(_Open(char, len(self.nodes), left))
        self.nodes.append(run)

    def _opened(self, char: str, units: set[int]) -> _Open | None:
        """The nearest mark that one of these units closes; what was opened after it stays plain."""
        if not any(self.waiting[char, unit] for unit in units):
            return None
        while not (self.stack[-1].char == char and self.stack[-1].units & units):
            self._drop(self.stack.pop())
        return self.stack[-1]

    def _push(self, opened: _Open) -> None:
        self.stack.append(opened)
        for unit in opened.units:
            self.waiting[opened.char, unit] += 1

    def _drop(self, opened: _Open) -> None:
        for unit in opened.units:
            self.waiting[opened.char, unit] -= 1
        opened.units = set()


def inline(source: str) -> Inline:
    """Reads a paragraph; what is not a pair of marks stays as it is. Never raises, linear in its length."""
    reader = _Reader(source)
    missing = reader.read()
    for opened in reversed(reader.stack):
        missing += "".join(opened.char * unit for unit in sorted(opened.units) if unit)
    starts = [0, *accumulate(map(len, reader.nodes))]
    styles = [Style(style.kind, starts[style.start], starts[style.end]) for style in reader.styles]
    return Inline("".join(reader.nodes), tuple(styles), missing)


def arrange(text: str, styles: Sequence[Style]) -> tuple[Style, ...]:
    """The styles so that any two are nested or apart: none inside its own kind, none around or inside code (except a
    quote around it), none that begins or ends with white space."""
    ends: Counter[str] = Counter()
    kept: list[Style] = []
    for style in sorted(styles, key=_outer_first):
        if style.end > ends[style.kind]:
            ends[style.kind] = style.end
            kept.append(style)
    codes = [style for style in kept if style.kind in ("code", "pre")]
    begins = [code.start for code in codes]
    found: list[Style] = []
    for style in kept:
        if style.kind in _STYLES:
            first, last = bisect_left(begins, style.start), bisect_left(begins, style.end)
            found.extend(_trimmed(text, piece) for piece in _around(style, codes[first:last]))
        else:
            found.append(style if style.kind == "pre" else _trimmed(text, style))
    whole = (style for style in found if style.end > style.start)
    return tuple(sorted(whole, key=_outer_first))


def _outer_first(style: Style) -> tuple[int, int, int]:
    return style.start, -style.end, _ORDER.index(style.kind)


def _around(style: Style, codes: Sequence[Style]) -> Iterator[Style]:
    start = style.start
    for code in codes:
        yield replace(style, start=start, end=code.start)
        start = code.end
    yield replace(style, start=start)


def _trimmed(text: str, style: Style) -> Style:
    inside = text[style.start : style.end]
    if inside and not inside[0].isspace() and not inside[-1].isspace():
        return style
    start = style.end - len(inside.lstrip())
    return replace(style, start=start, end=max(start, style.start + len(inside.rstrip())))


def _tick_runs(source: str) -> dict[int, list[int]]:
    """Where runs of each number of ticks begin, the last one first."""
    runs: dict[int, list[int]] = {}
    for match in reversed(list(_TICKS.finditer(source))):
        runs.setdefault(len(match[0]), []).append(match.start())
    return runs


def _next(places: list[int], at: int) -> int | None:
    while places and places[-1] < at:
        places.pop()
    return places[-1] if places else None


@lru_cache(maxsize=4096)
def _flanks(run: str, before: str, after: str) -> tuple[bool, bool]:
    """Whether a run can open and close. Easier than CommonMark beside Chinese marks, harder in sums and faces (^_^)."""
    opens, closes = bool(after.strip()), bool(before.strip())
    left, right = before.isascii() and before.isalnum(), after.isascii() and after.isalnum()
    if run == "_":
        return opens and not left and not _odd(after), closes and not right and not _odd(before)
    if left and right and (run != "**" or (before.isdigit() and after.isdigit())):
        return False, False
    if run == "*":
        return opens and not _odd(after), closes and not _odd(before)
    return opens, closes


def _odd(char: str) -> bool:
    return unicodedata.category(char) in ("Sk", "Sm") and char not in "~|" if char else False
