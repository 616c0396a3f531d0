"""How many tokens a text will be, without a tokenizer. The server's own count corrects it elsewhere."""

import re
import string
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of ASCII characters: hundredths of a token for each run, and for each character past the first `free`."""

    keep: bytes
    run: int
    char: int
    free: int


def _only(chars: str) -> bytes:
    """A table for bytes.translate that leaves these characters and turns all others into spaces."""
    kept = chars.encode()
    return bytes(byte if byte in kept else 0x20 for byte in range(256))


_ASCII = (
    _Runs(_only(string.ascii_letters), run=83, char=14, free=6),
    _Runs(_only(string.punctuation), run=108, char=27, free=6),
    _Runs(_only(string.digits), run=108, char=36, free=3),
)
_NEWLINES = 193
_WIDE = (
    (re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+"), 73),
    (re.compile("[\u2010-\u2027\u3000-\u303f\uff01-\uffee]+"), 85),
    (re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]+"), 210),
)
_OTHER = 100
"""Hundredths of an o200k token: a Latin word and each letter past six, a run of ASCII marks, of figures, of line
breaks; a Chinese character, a Chinese mark, an emoji. Source: the linear fit of reference/PROMPT_ECONOMICS.md,
section 6; from 100 tokens on the mean error is 3.5-5 %, 12-14 % at p95. Not fitted but kept high, so that a reservation
is not too small: marks past six, figures past three (o200k cuts them in threes), any other character."""

_NEWLINE_RUN = re.compile("[\r\n]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Estimated o200k tokens, rounded up; 0 for "". A longer text never counts less than its beginning."""
    total = 0
    if not text.isascii():
        wide = "".join(_NOT_ASCII.findall(text))
        text = _NOT_ASCII.sub(" ", text)
        for chars, weight in _WIDE:
            rest = chars.sub("", wide)
            total += weight * (len(wide) - len(rest))
            wide = rest
        total += _OTHER * len(wide)
    plain = text.encode()
    for kind in _ASCII:
        sizes = list(map(len, plain.translate(kind.keep).split()))
        total += kind.run * len(sizes) + kind.char * sum([size - kind.free for size in sizes if size > kind.free])
    total += _NEWLINES * len(_NEWLINE_RUN.findall(text))
    return -(-total // 100)
