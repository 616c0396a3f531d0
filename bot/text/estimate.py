"""How many tokens a text will be, without a tokenizer. The server's own count corrects it elsewhere."""

import re
import string
from dataclasses import dataclass
from typing import Literal


def _only(chars: str) -> bytes:
    """A table for bytes.translate that leaves these characters and turns all others into spaces."""
    kept = chars.encode()
    return bytes(byte if byte in kept else 0x20 for byte in range(256))


@dataclass(frozen=True, slots=True)
class _Weights:
    """Hundredths of a token: what a vocabulary makes of each kind of text."""

    han: int
    han_mark: int
    word: int
    letter: int
    figures: int
    marks: int
    newlines: int
    emoji: int


Vocabulary = Literal["o200k", "deepseek", "qwen", "cl100k"]

_WEIGHTS: dict[Vocabulary, _Weights] = {
    "o200k": _Weights(73, 85, 83, 14, 108, 108, 193, 210),
    "deepseek": _Weights(48, 118, 92, 20, 90, 95, 190, 220),
    "qwen": _Weights(52, 121, 90, 5, 196, 108, 211, 310),
    "cl100k": _Weights(122, 125, 96, 6, 196, 75, 181, 190),
}
"""A Chinese character, a Chinese mark, a Latin word and each letter past six, a run of figures, of ASCII marks, of line
breaks, an emoji. Source: the linear fit of reference/PROMPT_ECONOMICS.md, section 6. Four of
deepseek's were fitted anew to lines as <ctx> shows them, where the reference's gave 10 % too many."""

_FREE_LETTERS, _FREE_FIGURES, _FREE_MARKS = 6, 3, 6
_FIGURE, _MARK, _OTHER = 36, 27, 100
"""Not fitted but kept high, so that a reservation is not too small: figures past three (o200k cuts them in threes),
marks past six, any other character."""

_LETTERS, _MARKS, _FIGURES = (_only(chars) for chars in (string.ascii_letters, string.punctuation, string.digits))
_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_HAN_MARK = re.compile("[\u2010-\u2027\u3000-\u303f\uff01-\uffee]+")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]+")

_NAMES: tuple[tuple[str, Vocabulary], ...] = (
    ("deepseek", "deepseek"), ("qwen", "qwen"), ("qwq", "qwen"), ("gpt-4o", "o200k"), ("gpt-4.", "o200k"),
    ("gpt-4", "cl100k"), ("gpt-3.5", "cl100k"),
)  # fmt: skip
"""Part of a model's name and the vocabulary it means, the first that fits."""

_NEWLINE_RUN = re.compile("[\r\n]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")


def vocabulary_of(model: str) -> Vocabulary:
    """The vocabulary of a model by its name; o200k where nothing is known."""
    name = model.lower()
    return next((found for mark, found in _NAMES if mark in name), "o200k")


def estimate_tokens(text: str, vocabulary: Vocabulary = "o200k") -> int:
    """Estimated tokens, rounded up; 0 for "". A longer text never counts less than its beginning."""
    weights = _WEIGHTS[vocabulary]
    total = 0
    if not text.isascii():
        wide = "".join(_NOT_ASCII.findall(text))
        text = _NOT_ASCII.sub(" ", text)
        for chars, weight in ((_HAN, weights.han), (_HAN_MARK, weights.han_mark), (_EMOJI, weights.emoji)):
            rest = chars.sub("", wide)
            total += weight * (len(wide) - len(rest))
            wide = rest
        total += _OTHER * len(wide)
    plain = text.encode()
    for keep, run, more, free in (
        (_LETTERS, weights.word, weights.letter, _FREE_LETTERS),
        (_MARKS, weights.marks, _MARK, _FREE_MARKS),
        (_FIGURES, weights.figures, _FIGURE, _FREE_FIGURES),
    ):
        sizes = list(map(len, plain.translate(keep).split()))
        total += run * len(sizes) + more * sum([size - free for size in sizes if size > free])
    total += weights.newlines * len(_NEWLINE_RUN.findall(text))
    return -(-total // 100)
