"""Model markdown as Telegram entities, as Discord markdown, and half-written as a preview.

Read here and by no CommonMark library: marks beside Chinese, in sums, faces and __names__ are not told apart there, and a
preview needs what is still open. All else stays as it is to the letter."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from bot.text.links import unmasked
from bot.text.split import Fence, fences

StyleKind = Literal["bold", "italic", "strikethrough", "code", "pre", "blockquote", "spoiler"]

_TOKEN = re.compile(r"(?<!¯)\\([*_~`|#>])|\\.|https?://[^\s<>*`|~]*[^\s<>*`|~_]|`+|\*+|_+|~+|\|+")
_TICKS = re.compile(r"`+")
_UNITS: dict[str, dict[int, tuple[int, ...]]] = {
    "*": {1: (1,), 2: (2,), 3: (1, 2)},
    "_": {1: (1,)},
    "~": {2: (2,)},
    "|": {2: (2,)},
}
"""The marks a run of characters can be; __ stays as it is (__init__), and so does any longer run."""
_KINDS: dict[tuple[str, int], StyleKind] = {
    ("*", 1): "italic",
    ("*", 2): "bold",
    ("_", 1): "italic",
    ("~", 2): "strikethrough",
    ("|", 2): "spoiler",
}
_STYLES: tuple[StyleKind, ...] = ("bold", "italic", "strikethrough", "spoiler")
_ORDER: tuple[StyleKind, ...] = ("blockquote", *_STYLES, "code", "pre")

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]++(.+)")
_QUOTE = re.compile(r" {0,3}>(?: >)*+(?:[ \t]|(?=\n|\Z)|(?=[\u3400-\u9fff“「『《]))")
_BULLET = re.compile(r"([ \t]*+)[-*][ \t]++(?=\S)")
_NUMBER = re.compile(r"[ \t]*+\d{1,9}[.)][ \t]++(?=\S)")
_RULE = re.compile(r"[ \t]*+([-*_])[ \t]*+(?:\1[ \t]*+){2,}\n?")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*+\n)++")
_LANGUAGE = re.compile(r"[\w+#.\-]{1,64}")
_HALF_MARKS = re.compile(r"[*_~|`\\]+\Z")
_HALF_LINK = re.compile(r"\]\([^()\s]*+\Z")


@dataclass(frozen=True, slots=True)
class Style:
    """A kind of text at [start:end], in code points."""

    kind: StyleKind
    start: int
    end: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class InlineText:
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


def inline(source: str) -> InlineText:
    """Reads a paragraph; what is not a pair of marks stays as it is. Never raises, linear in its length."""
    reader = _Reader(source)
    missing = reader.read()
    for opened in reversed(reader.stack):
        missing += "".join(opened.char * unit for unit in sorted(opened.units) if unit)
    starts = [0, *accumulate(map(len, reader.nodes))]
    styles = [Style(style.kind, starts[style.start], starts[style.end]) for style in reader.styles]
    return InlineText("".join(reader.nodes), tuple(styles), missing)


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


@dataclass(frozen=True, slots=True)
class TextEntity:
    """One Telegram entity, in UTF-16 units."""

    kind: StyleKind
    offset: int
    length: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class EntityText:
    """A text and its entities, the outer before the inner."""

    text: str
    spans: tuple[TextEntity, ...]


def entities(markdown: str) -> EntityText:
    """The text as Telegram shows it, never longer than the markdown; broken markdown stays as plain characters.

    Headings become bold, bullets •, tables monospace; a link's address stands beside its words. Only marks and
    languages of code are left out: a text of nothing else is shown as it is. Never raises.
    """
    page = _Page()
    _write(page, _BLANK_LINES.sub("", unmasked(markdown.replace("\r\n", "\n"))), quoted=False)
    text = "".join(page.pieces).rstrip()
    if not text.strip():
        return EntityText(markdown.strip(), ())
    units = [0, *accumulate(1 + (char > "\uffff") for char in text)]
    cut = [style if style.end <= len(text) else replace(style, end=len(text)) for style in page.styles]
    spans = (
        TextEntity(style.kind, units[style.start], units[style.end] - units[style.start], style.language)
        for style in arrange(text, cut)
    )
    return EntityText(text, tuple(spans))


def discord(markdown: str) -> str:
    """The same markdown with what Discord does not show changed: tables in a ``` block, headings from #### on bold.

    A link's address stands beside its words. A table makes it longer: call it before splitting. Mentions stay as they
    are (they ping nobody by themselves).
    """
    markdown = unmasked(markdown.replace("\r\n", "\n"))
    pieces: list[str] = []
    for chunk, fence in _chunks(markdown):
        pieces.extend(_discord_lines(_lines(chunk)))
        if fence:
            pieces.append(markdown[fence.start : fence.end])
    return "".join(pieces)


def preview(markdown_so_far: str) -> str:
    """A half-written text as it can be shown: what is open at its end is closed, half a mark or link is left out.

    White space at the end is gone; "" when nothing is there to be shown yet.
    """
    text = markdown_so_far.replace("\r\n", "\n").rstrip()
    last = fences(text)[-1:]
    if last and last[0].close == len(text):
        fence = last[0]
        body = text[fence.body :]
        line = body[body.rfind("\n") + 1 :]
        if line.strip(" \t") and not line.strip(" \t`"):
            body = body[: len(body) - len(line)]
        kept = body.rstrip()
        return text[: fence.body] + kept + "\n" + fence.ticks if kept else text[: fence.start].rstrip()
    start = _last_block(text)
    prefix = _prefix(text[start:])
    block = text[start + prefix :]
    if half := _HALF_LINK.search(block, max(block.rfind("]("), 0)):
        block = _without_link(block, half.start())
    found = inline(block)
    if half := _HALF_MARKS.search(found.text):
        block = _without_half(block, len(half[0]))
        found = inline(block)
    shown = block.rstrip()
    return (text[: start + prefix] + shown + (found.missing if shown else "")).rstrip()


class _Page:
    """Text and styles written so far, counted in code points."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.styles: list[Style] = []
        self.length = 0

    def add(self, text: str) -> None:
        """Plain text."""
        self.pieces.append(text)
        self.length += len(text)

    def add_inline(self, source: str, *, bold: bool = False) -> None:
        """A paragraph with its marks; the line break at its end stays outside."""
        found: InlineText = inline(source.rstrip())
        start = self.length
        self.styles.extend(Style(item.kind, item.start + start, item.end + start) for item in found.styles)
        self.add(found.text)
        if bold:
            self.styles.append(Style("bold", start, self.length))
        self.add(source[len(source.rstrip()) :])

    def add_code(self, body: str, language: str) -> None:
        """Lines in monospace, without the blank ones around them."""
        shown = _BLANK_LINES.sub("", body).rstrip()
        self.styles.append(Style("pre", self.length, self.length + len(shown), language=language))
        self.add(shown)


def _write(page: _Page, text: str, *, quoted: bool) -> None:
    for chunk, fence in _chunks(text):
        _write_lines(page, _lines(chunk), quoted=quoted)
        if fence:
            _write_fence(page, text, fence)


def _write_fence(page: _Page, text: str, fence: Fence) -> None:
    indent = len(text[fence.start : fence.body]) - len(text[fence.start : fence.body].lstrip(" \t"))
    body = re.sub(rf"(?m)^[ \t]{{1,{indent}}}", "", text[fence.body : fence.close]) if indent else None
    body = text[fence.body : fence.close] if body is None else body
    language = fence.info if _LANGUAGE.fullmatch(fence.info) else ""
    if fence.info and not language:
        body = f"{fence.info}\n{body}"
    if not body.strip():
        page.add(text[fence.start : fence.end])
        return
    page.add_code(body, language)
    if text[: fence.end].endswith("\n"):
        page.add("\n")


def _write_lines(page: _Page, lines: list[str], *, quoted: bool) -> None:
    at = 0
    while at < len(lines):
        line, first = lines[at], at
        at += 1
        if (end := _table_end(lines, first)) > first:
            page.add_code("".join(lines[first:end]), "")
            page.add("\n" if lines[end - 1].endswith("\n") else "")
            at = end
        elif not quoted and _QUOTE.match(line):
            while at < len(lines) and _QUOTE.match(lines[at]):
                at += 1
            _write_quote(page, lines[first:at])
        elif not line.strip() or _RULE.fullmatch(line):
            page.add(line)
        elif heading := _heading(line):
            page.add_inline(heading[1] + "\n" * line.endswith("\n"), bold=True)
        else:
            if bullet := _BULLET.match(line):
                page.add(bullet[1] + "• ")
                line = line[bullet.end() :]
            while at < len(lines) and not _begins(lines, at):
                at += 1
            page.add_inline(line + "".join(lines[first + 1 : at]))


def _write_quote(page: _Page, lines: list[str]) -> None:
    inner = "".join(_QUOTE.sub("", line, count=1) for line in lines)
    if not inner.strip():
        page.add("".join(lines))
        return
    start = page.length
    _write(page, inner, quoted=True)
    page.styles.append(Style("blockquote", start, page.length))


def _discord_lines(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line, end = lines[at], _table_end(lines, at)
        heading = _heading(line)
        if end > at and not any("```" in row for row in lines[at:end]):
            yield "```\n" + "".join(lines[at:end]).rstrip() + "\n```" + "\n" * lines[end - 1].endswith("\n")
            at = end
            continue
        if heading and heading[0] > 3:
            plain = heading[1].replace("**", "")
            yield (f"**{plain}**" if plain.strip() else line.rstrip("\n")) + "\n" * line.endswith("\n")
        else:
            yield line
        at += 1


def _chunks(text: str) -> Iterator[tuple[str, Fence | None]]:
    """The text outside ``` blocks, each piece with the block that follows it."""
    at = 0
    for fence in fences(text):
        yield text[at : fence.start], fence
        at = fence.end
    yield text[at:], None


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _heading(line: str) -> tuple[int, str] | None:
    match = _HEADING.match(line)
    text = match[2].strip() if match else ""
    bare = text.rstrip("#")
    text = bare.rstrip() if bare[-1:].isspace() else text
    return (len(match[1]), text) if match and text.strip("#") else None


def _begins(lines: list[str], at: int) -> bool:
    """Whether a line begins a block of its own."""
    line = lines[at]
    starts = (_HEADING, _QUOTE, _BULLET, _NUMBER)
    return (
        not line.strip()
        or any(kind.match(line) for kind in starts)
        or _RULE.fullmatch(line) is not None
        or _table_end(lines, at) > at
    )


def _table_end(lines: list[str], at: int) -> int:
    """Where the table that begins at a line ends; the line itself for none."""
    if at + 1 >= len(lines) or "|" not in lines[at] or not _is_ruler(lines[at + 1]) or _is_ruler(lines[at]):
        return at
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _is_ruler(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip("|-: \t\n")


def _last_block(text: str) -> int:
    """Where the last paragraph begins."""
    lines = _lines(text)
    at, start = len(lines), len(text)
    while at > 0 and lines[at - 1].strip():
        at -= 1
        start -= len(lines[at])
        if any(kind.match(lines[at]) for kind in (_HEADING, _QUOTE, _BULLET, _NUMBER)):
            break
    return start


def _prefix(block: str) -> int:
    match = _QUOTE.match(block) or _BULLET.match(block) or _NUMBER.match(block)
    heading = _HEADING.match(block)
    return match.end() if match else heading.start(2) if heading else 0


def _without_link(block: str, close: int) -> str:
    """A paragraph whose last link has no end yet: only its words."""
    opening = block.rfind("[", 0, close)
    return block[:opening] + block[opening + 1 : close] if opening >= 0 else block


def _without_half(block: str, marks: int) -> str:
    """A paragraph without up to so many marks at its end; whatever else they are, they are not shown yet."""
    shown = block.rstrip()
    tail = _HALF_MARKS.search(shown)
    return shown[: len(shown) - min(marks, len(tail[0]))] if tail else shown
