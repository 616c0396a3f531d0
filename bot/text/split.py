"""Splits a long reply into messages at the best border and keeps code fences whole."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_OPENING = re.compile(r"^[ \t]*(`{3,})([^`\n]*)$", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*(`{3,})[ \t\r]*(?:\n|\Z)", re.MULTILINE)
_HEAD = re.compile(r"`{3,}[^`\n]*\n")
_VISIBLE = re.compile(r"\S")
_QUOTES = "[”’\"'）)」』】》]*+(?:[*_~|`]++(?=\\s))?(?![*_~|`])"
_WIDE = r"(?=\s|[^\x00-\x7f])"
_PARAGRAPH, _LINE, _SPACE = re.compile(r"\n[^\S\n]*+\n\s*+"), re.compile(r"\n\s*+"), re.compile(r"\s++")
_SENTENCE_END = re.compile(rf"(?:[。！？…；]++{_QUOTES}|[.!?]++{_QUOTES}{_WIDE})\s*+")
_COMMA = re.compile(rf"(?:[，、]|,{_WIDE})\s*+")
_PROSE = (_PARAGRAPH, _LINE, _SENTENCE_END, _COMMA, _SPACE)
_CODE = (_PARAGRAPH, _LINE, _SPACE)
_FULL = (2, 4)
"""A part is at least half full, else at least a quarter, before a worse border is taken."""
_ADDED_LINE = " "
"""Stands behind an added closing fence when the line break before it was added too."""


_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
LONGEST_CLUSTER = 256
"""No real visible character has more code points; a letter under thousands of marks is cut all the same."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A ``` block: its lines are [start:end], its content [body:close]; an unclosed one ends with the text."""

    start: int
    body: int
    close: int
    end: int
    ticks: str
    info: str

    @property
    def head(self) -> str:
        """The line that opens it again."""
        return f"{self.ticks}{self.info}\n"


def utf16_units(text: str) -> int:
    """The length of a text in UTF-16 units, in which Telegram counts; half a surrogate pair counts as one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fences(text: str) -> tuple[Fence, ...]:
    """The ``` blocks of a text, in order; the last one may be unclosed. ``` inside a line opens none."""
    found: list[Fence] = []
    at = 0
    while opening := _OPENING.search(text, at):
        ticks, body = opening[1], min(opening.end() + 1, len(text))
        closings = _CLOSING.finditer(text, body)
        closing = next((match for match in closings if len(match[1]) >= len(ticks)), None)
        close, at = closing.span() if closing else (len(text), len(text))
        found.append(Fence(opening.start(), body, close, at, ticks, opening[2].strip()))
        if body >= len(text):
            break
    return tuple(found)


def split(text: str, limit: int, size: Callable[[str], int] = len) -> tuple[str, ...]:
    """The text as messages of at most `limit` by `size`; `join` gives the text back, `"".join` too if no fence was cut.

    A cut is made at the best border that leaves the part full enough: paragraph, line, sentence, clause, space, visible
    character. White space stays in the part before. A cut ``` block is closed and opened again with the same info.
    `size` must grow with the text, by at least 1 for each character. Only a visible character larger than `limit` (or
    256 code points) is cut inside, only a code point larger than it makes a part too big. A part of white space alone
    comes from a text of white space, or from a run of it longer than half of `limit`. "" has no parts.
    """
    limit = max(limit, 1)
    if not text or size(text) <= limit:
        return (text,) if text else ()
    tail = len("\n" + _ADDED_LINE)
    known = [fence for fence in fences(text) if size(text[fence.start : fence.body] + fence.ticks) + tail <= limit // 2]
    parts = _Cutter(text, limit, size, tuple(known)).parts()
    return parts if join(parts) == text else _Cutter(text, limit, size, ()).parts()


def join(parts: Sequence[str]) -> str:
    """The text that `split` was given: the parts one after the other, without the fence lines that it added."""
    kept = list(parts)
    for index in range(1, len(parts)):
        if added := _added(parts[index - 1], parts[index]):
            tail, head = added
            kept[index - 1] = kept[index - 1][:-tail]
            kept[index] = kept[index][head:]
    return "".join(kept)


def _added(left: str, right: str) -> tuple[int, int] | None:
    """How much `split` added at the end of one part and the beginning of the next; None for a plain border."""
    if not right.startswith("```") or not left.endswith(("```", "```" + _ADDED_LINE)):
        return None
    head = _HEAD.match(right)
    closed, line, ticks = left.removesuffix(_ADDED_LINE).rpartition("\n")
    if head is None or not line or head[0] != _opened(closed + line) or not head[0].startswith(ticks):
        return None
    if head[0][len(ticks) : len(ticks) + 1] == "`":
        return None
    return len(ticks) + 2 * left.endswith(_ADDED_LINE), head.end()


def _opened(text: str) -> str:
    """The line that would open again the block that is unclosed at the end of a text, "" for none."""
    last = fences(text)[-1:]
    return last[0].head if last and last[0].close == len(text) == last[0].end else ""


def longest_prefix(text: str, most_chars: int, fits: Callable[[str], bool]) -> int:
    """How many characters of the beginning fit, 1 to `most_chars`; what is longer must not fit better."""
    low, high = 1, min(len(text), most_chars)
    if fits(text[:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text[:middle]) else (low, middle - 1)
    return low


class _Cutter:
    """One text on its way into parts; `fences` are those worth closing and opening again."""

    def __init__(self, text: str, limit: int, size: Callable[[str], int], known: tuple[Fence, ...]) -> None:
        self._text = text
        self._limit = limit
        self._size = size
        self._fences = known
        self._next = 0
        self._start = 0
        self._last = cluster_boundary(text, 0, max(len(text.rstrip()) - 1, 0))

    def parts(self) -> tuple[str, ...]:
        """All parts, from the beginning."""
        found: list[str] = []
        start, head = 0, ""
        while start < len(self._text):
            room = self._limit - self._size(head)
            end = self._fit(start, room)
            if end == len(self._text):
                found.append(head + self._text[start:])
                break
            cut, fence = self._cut(start, end, room)
            part = head + self._text[start:cut]
            if fence is None:
                cut = self._plain(start, cut, part)
                part = head + self._text[start:cut]
            found.append(part + (self._tail(part, fence) if fence else ""))
            start, head = cut, fence.head if fence else ""
        return tuple(found)

    @staticmethod
    def _tail(part: str, fence: Fence) -> str:
        return fence.ticks if part.endswith("\n") else f"\n{fence.ticks}{_ADDED_LINE}"

    def _plain(self, start: int, cut: int, part: str) -> int:
        """A cut that `join` cannot take for one inside a fence."""
        if self._text.startswith("```", cut) and _added(part, self._text[cut : cut + 2 * self._limit + len(part)]):
            return max(cut - 1, start + 1)
        return cut

    def _fit(self, start: int, room: int) -> int:
        """The last place up to which the text fits, at least one code point on."""
        rest = self._text[start : start + max(room, 1)]
        return start + longest_prefix(rest, len(rest), lambda part: self._size(part) <= room)

    def _cut(self, start: int, end: int, room: int) -> tuple[int, Fence | None]:
        """Where the part from `start` ends, at most at `end`, and the fence that is cut there."""
        self._start = start
        if start < self._last < end:
            end = self._last
        seen = _VISIBLE.search(self._text, start, end)
        first = seen.end() if seen else end
        end = cluster_boundary(self._text, start, end)
        for share in _FULL:
            if cut := self._border(_PROSE, max(first, start + (end - start) // share), end):
                return cut, None
        fence = self._around(end)
        if fence is None:
            return end, None
        inner = self._fit(start, room - self._size(f"\n{fence.ticks}{_ADDED_LINE}"))
        low = max(fence.body, start)
        seen = _VISIBLE.search(self._text, low, inner)
        high = min(inner, fence.body + len(self._text[fence.body : fence.close].rstrip()) - 1)
        if seen is None or high <= low:
            return (fence.start, None) if fence.start >= first else (end, None)
        high = cluster_boundary(self._text, low, high)
        for share in _FULL:
            if cut := self._border(_CODE, max(seen.end(), low + (high - low) // share), high, fence):
                return cut, fence
        return high, fence

    def _border(self, kinds: tuple[re.Pattern[str], ...], low: int, high: int, inside: Fence | None = None) -> int:
        """The last border of the best kind in [low:high], in no fence but `inside`; 0 for none."""
        for kind in kinds:
            ends = [match.end() for match in kind.finditer(self._text, max(low - 1, 0), min(high + 1, len(self._text)))]
            for cut in reversed(ends):
                if cut < low:
                    break
                if cut <= high and self._allowed(cut, inside):
                    return cut
        return 0

    def _allowed(self, cut: int, inside: Fence | None) -> bool:
        if in_cluster(self._text, cut, self._start):
            return False
        if inside is not None:
            return inside.body < cut < inside.close
        if self._text.startswith("```", cut) and self._text[cut - 1] != "\n":
            return self._around(cut + 1) is not None and self._around(cut) is None
        return self._around(cut) is None

    def _around(self, cut: int) -> Fence | None:
        """The fence that a cut would divide."""
        fences, at = self._fences, self._next
        while at < len(fences) and fences[at].end <= cut:
            at += 1
        while at > 0 and fences[at - 1].end > cut:
            at -= 1
        self._next = at
        return fences[at] if at < len(fences) and fences[at].start < cut else None


def cluster_boundary(text: str, low: int, at: int) -> int:
    """The last place after `low` and up to `at` where a cut divides no visible character; `at` if there is none."""
    cut, lowest = at, max(low, at - LONGEST_CLUSTER)
    while cut > lowest and in_cluster(text, cut, low):
        cut -= 1
    return cut if cut > lowest else at


def in_cluster(text: str, cut: int, low: int) -> bool:
    """Whether the characters around a cut are one for the eye, flags being counted from `low`.

    Unicode TR 29, shortened: a joiner and an Indic virama hold whatever letter follows.
    """
    if not 0 < cut < len(text):
        return False
    before, after = text[cut - 1], text[cut]
    if before in "\r\n":
        return before + after == "\r\n"
    if after < "\u0300" and before != "\u200d":
        return False
    if before == "\u200d":
        return not after.isspace()
    if _extends(after):
        return True
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flags(text, low, cut) % 2 == 1
    return _syllable(before, after) or (unicodedata.combining(before) == 9 and after.isalpha())


def _extends(char: str) -> bool:
    return (
        char in "\u200c\u200d\uff9e\uff9f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # tags of regional flags
        or unicodedata.category(char)[0] == "M"
    )


def _flags(text: str, low: int, cut: int) -> int:
    """How many regional letters stand directly before a cut; two of them make a flag."""
    before = text[low:cut]
    return len(before) - len(before.rstrip(_FLAG_LETTERS))


def _syllable(before: str, after: str) -> bool:
    """Whether Hangul letters make one syllable."""
    vowel, final = "\u1160" <= after <= "\u11a7", "\u11a8" <= after <= "\u11ff"
    block = "\uac00" <= before <= "\ud7a3"
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    if block or "\u1160" <= before <= "\u11a7":
        return final or (vowel and not (block and (ord(before) - 0xAC00) % 28))
    return "\u11a8" <= before <= "\u11ff" and final
