"""Contents of text files: encoding and kind, the front matter of notes, and chunks of bounded size."""

import codecs
import re
from dataclasses import dataclass
from typing import cast

from bot.core.archive import FrontMatter, NoteChunk, NoteRefused
from bot.core.memories import Visibility
from bot.text.clean import clean, shown
from bot.text.length import clip, estimate_tokens
from bot.text.split import longest_prefix

LONGEST_CHAR = 4
"""Bytes of one character in any of the encodings tried."""

SAMPLE = 4_096
"""Bytes that decide between GB18030 and Big5."""

MOST_CONTROLS = 0.02
"""Share of control characters from which on it is no text."""

_MIMES = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|csv|sql|x-sh|x-python"
    r"|x-subrip|x-tex|x-httpd-php)"
)
_NAMES = re.compile(
    r".*\.(?:txt|text|md|markdown|rst|org|tex|bib|log|csv|tsv|json|jsonl|ndjson|xml|html?|css|scss|less|ya?ml|toml|ini"
    r"|cfg|conf|properties|env|py|pyi|ipynb|js|mjs|cjs|jsx|ts|tsx|vue|svelte|java|kt|kts|scala|groovy|gradle|c|h|cc|cpp"
    r"|cxx|hpp|m|mm|cs|fs|vb|go|rs|swift|rb|php|pl|pm|lua|r|jl|dart|ex|exs|erl|hs|ml|clj|el|lisp|sql|sh|bash|zsh|fish"
    r"|ps1|bat|cmd|diff|patch|srt|vtt|ass|lrc|ics|vcf|po|proto|graphql|tf|nix|asm|s|v|vhd)"
    r"|(?:.*/)?(?:dockerfile|makefile|readme|license|changelog)",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = re.compile("[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")

FENCE = "---"
MOST_LINES = 40
"""Lines that are searched for the end of it."""
MOST_EVENTS = 20_000
"""Events that one note may be made from."""

_KEYS = ("chat", "visibility", "events")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(.*)")
_NUMBER = re.compile(r"[1-9][0-9]{0,15}")
_RANGE = re.compile(r"([1-9][0-9]{0,15})(?:-([1-9][0-9]{0,15}))?")

CHARS_PER_TOKEN = 8
"""Characters of a line for each token of a chunk, above which it is cut: white space counts nothing."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_CODE = re.compile(r" {0,3}(`{3,}|~{3,})")
_END = re.compile(r".*[。！？!?；;.…\n ]", re.DOTALL)


def is_text_file(name: str, mime: str) -> bool:
    """Whether a file of that name and kind says that it is text; a name that says so is enough."""
    return bool(_MIMES.fullmatch(mime.partition(";")[0].strip().lower()) or _NAMES.fullmatch(name.strip()))


def read_text(data: bytes, most: int) -> str | None:
    """At most `most` characters of a text in UTF-8, UTF-16 with its mark, GB18030 or Big5; None for anything else."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, most)
    for encoding in ("utf-8", *_chinese(data[:SAMPLE])):
        text = _decoded(data, encoding, most)
        if text is not None:
            return text
    return None


def picture_mime(data: bytes) -> str:
    """What servers take: image/jpeg, image/png, image/gif or image/webp by the first bytes; "" for anything else."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def picture_ending(data: bytes) -> str:
    """How the name of a picture's file ends, .png, by its first bytes; "" where it is none of `picture_mime`."""
    return picture_mime(data).replace("image/", ".").replace("jpeg", "jpg")


def sound_ending(data: bytes) -> str:
    """How the name of a recording ends, .ogg, .mp3 or .m4a, by its first bytes; "" for anything else."""
    if data.startswith(b"OggS"):
        return ".ogg"
    if data.startswith(b"ID3") or (data[:1] == b"\xff" and data[1:2] >= b"\xe0"):
        return ".mp3"
    return ".m4a" if data[4:8] == b"ftyp" else ""


def _decoded(data: bytes, encoding: str, most: int) -> str | None:
    head = data[: (most + 1) * LONGEST_CHAR]
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(head, final=len(head) == len(data))
    except UnicodeDecodeError:
        return None
    if "\0" in text or len(_CONTROLS.findall(text)) > len(text) * MOST_CONTROLS:
        return None
    return clip(shown(clean(text)), most)


def _chinese(sample: bytes) -> tuple[str, str]:
    """GB18030 and Big5, the likelier one first: nearly every Big5 text is also a GB18030 text, of rare characters.

    Both standards keep their frequent characters together: GB 2312 level 1 and Big5 level 1.
    """
    simplified = traditional = 0
    at = 0
    while at + 1 < len(sample):
        lead, trail = sample[at], sample[at + 1]
        if lead < 0x80:
            at += 1
            continue
        simplified += trail >= 0xA1 and (0xB0 <= lead <= 0xD7 or 0xA1 <= lead <= 0xA3)
        traditional += 0xA1 <= lead <= 0xC6 and (0x40 <= trail <= 0x7E or trail >= 0xA1)
        at += 2
    return ("big5hkscs", "gb18030") if traditional > simplified else ("gb18030", "big5hkscs")


def lines_of(text: str) -> list[str]:
    """The lines of a file, which end with \\n or \\r\\n alone; what counts lines elsewhere counts as editors do."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def read_front(lines: list[str]) -> tuple[FrontMatter | None, int]:
    """What stands at the top, and how many lines it takes; None, 0 where nothing of ours does.

    NoteRefused when it names one of our keys and is not whole and right: such a note belongs to nobody.
    """
    if not lines or lines[0].rstrip() != FENCE:
        return None, 0
    end = next((number for number, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() == FENCE), None)
    fields: dict[str, str] = {}
    for line in lines[1 : end or MOST_LINES]:
        found = _FIELD.fullmatch(line)
        name = found[1].lower() if found is not None else ""
        if found is None or name not in _KEYS:
            continue
        if name in fields:
            raise NoteRefused(f"its front matter says {name} twice")
        fields[name] = found[2].strip()
    if not fields:
        return None, 0
    if end is None:
        raise NoteRefused("its front matter has no end")
    return _front(fields), end + 1


def write_front(front: FrontMatter) -> list[str]:
    """The lines of it."""
    return [
        FENCE,
        f"chat: {front.chat_id}",
        f"visibility: {front.visibility}",
        events_line(front.events),
        FENCE,
    ]


def events_line(events: tuple[int, ...]) -> str:
    """The line that names the events."""
    return f"events: {events_text(events)}"


def events_text(events: tuple[int, ...]) -> str:
    """The numbers of events, neighbours as a range: 12-15, 20."""
    runs: list[list[int]] = []
    for number in sorted(set(events)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def with_events(lines: list[str], events: tuple[int, ...]) -> list[str]:
    """The lines of a note with other events at its top; whatever else stands there stays."""
    _, end = read_front(lines)
    said = [_is_events(line) for line in lines[:end]]
    return [events_line(events) if number < end and said[number] else line for number, line in enumerate(lines)]


def _is_events(line: str) -> bool:
    found = _FIELD.fullmatch(line)
    return found is not None and found[1].lower() == "events"


def _front(fields: dict[str, str]) -> FrontMatter:
    missing = [name for name in _KEYS[:2] if name not in fields]
    if missing:
        raise NoteRefused(f"its front matter has no {missing[0]}")
    if not _NUMBER.fullmatch(fields["chat"]):
        raise NoteRefused("its front matter names no chat by number")
    if fields["visibility"] not in ("private", "chat", "public"):
        raise NoteRefused("its visibility is none of private, chat and public")
    return FrontMatter(
        int(fields["chat"]), cast("Visibility", fields["visibility"]), events_of(fields.get("events", ""))
    )


def events_of(text: str) -> tuple[int, ...]:
    """The numbers that such a text names, "" for none; NoteRefused for anything else."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        read = _RANGE.fullmatch(part)
        first, last = (int(read[1]), int(read[2] or read[1])) if read is not None else (0, -1)
        if first > last or len(found) + last - first >= MOST_EVENTS:
            raise NoteRefused("its events are no list of numbers like 12-15, 20")
        found.extend(range(first, last + 1))
    return tuple(sorted(set(found)))


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


def chunks(lines: list[str], tokens: int, overlap: int, skip: int = 0) -> tuple[NoteChunk, ...]:
    """Chunks of at most `tokens` (seed 长记忆: 400), each repeating up to `overlap` (80) of the one before it.

    A heading begins a new one, which repeats nothing. Every line that is not blank is in one, the first `skip` apart;
    a line longer than a chunk is cut at the end of a sentence, else anywhere.
    """
    found: list[NoteChunk] = []
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
        if cost <= tokens and len(line) <= tokens * CHARS_PER_TOKEN:
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
    room = longest_prefix(text, most * CHARS_PER_TOKEN, lambda part: _cost(part) <= most)
    if room == len(text):
        return text
    ended = _END.match(text[:room])
    return ended[0] if ended is not None and len(ended[0]) * 2 >= room else text[:room]


def _tail(units: list[_Unit], most: int) -> list[_Unit]:
    """The last units that fit into so many tokens."""
    kept: list[_Unit] = []
    for unit in reversed(units):
        most -= unit.tokens
        if most < 0:
            break
        kept.append(unit)
    return kept[::-1]


def _add(found: list[NoteChunk], units: list[_Unit], new: int) -> None:
    """The chunk of these units, unless all that is new in it is blank."""
    if new == 0 or all(unit.blank for unit in units[-new:]):
        return
    text = "".join(("\n" if number and unit.begins else "") + unit.text for number, unit in enumerate(units))
    found.append(NoteChunk(units[0].line, units[-1].line, text))
