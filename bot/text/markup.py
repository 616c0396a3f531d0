"""Model markdown as Telegram's entities, as Discord shows it, and half-written. Splits and sends nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from bot.text.inline import Inline, Kind, Style, arrange, inline
from bot.text.links import unmasked
from bot.text.split import Fence, fences

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
class Span:
    """One Telegram entity, in UTF-16 units."""

    kind: Kind
    offset: int
    length: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text and its entities, the outer before the inner."""

    text: str
    spans: tuple[Span, ...]


def entities(markdown: str) -> Marked:
    """The text as Telegram shows it, never longer than the markdown; broken markdown stays as plain characters.

    Headings become bold, bullets •, tables monospace; a link's address stands beside its words. Only marks and
    languages of code are left out: a text of nothing else is shown as it is. Never raises.
    """
    page = _Page()
    _write(page, _BLANK_LINES.sub("", unmasked(markdown.replace("\r\n", "\n"))), quoted=False)
    text = "".join(page.pieces).rstrip()
    if not text.strip():
        return Marked(markdown.strip(), ())
    units = [0, *accumulate(1 + (char > "\uffff") for char in text)]
    cut = [style if style.end <= len(text) else replace(style, end=len(text)) for style in page.styles]
    spans = (
        Span(style.kind, units[style.start], units[style.end] - units[style.start], style.language)
        for style in arrange(text, cut)
    )
    return Marked(text, tuple(spans))


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
        found: Inline = inline(source.rstrip())
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
