"""Whether a file is text, in which encoding, and its beginning. Also what kind of picture some bytes are."""

import codecs
import re

from bot.text.clean import clean
from bot.text.clip import clip

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


def _decoded(data: bytes, encoding: str, most: int) -> str | None:
    head = data[: (most + 1) * LONGEST_CHAR]
    try:
        text = codecs.getincrementaldecoder(encoding)("strict").decode(head, final=len(head) == len(data))
    except UnicodeDecodeError:
        return None
    if "\0" in text or len(_CONTROLS.findall(text)) > len(text) * MOST_CONTROLS:
        return None
    return clip(clean(text), most)


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
