"""The length of a text in characters and in estimated model tokens, and cutting it: to a length, into sentences and
clauses."""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from bot.core.models import Message, ToolSpec
from bot.text.fold import fold
from bot.text.split import LONGEST_CLUSTER, cluster_boundary, in_cluster, longest_prefix, split
from bot.text.terms import informative_count

TokenVocabulary = Literal["o200k", "deepseek", "qwen", "cl100k"]

_FREE_LETTERS, _FREE_FIGURES, _FREE_MARKS = 6, 3, 6
_FIGURE, _MARK, _OTHER = 36, 27, 100
"""Not fitted but kept high, so that a reservation is not too small: figures past three (o200k cuts them in threes),
marks past six, any other character."""

_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+")
_HAN_MARK = re.compile("[\u2010-\u2027\u3000-\u303f\uff01-\uffee]+")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]+")

_NAMES: tuple[tuple[str, TokenVocabulary], ...] = (
    ("deepseek", "deepseek"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
    ("gpt-4o", "o200k"),
    ("gpt-4.", "o200k"),
    ("gpt-4", "cl100k"),
    ("gpt-3.5", "cl100k"),
)
"""Part of a model's name and the vocabulary it means, the first that fits."""

_NEWLINE_RUN = re.compile("[\r\n]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")

ELLIPSIS = "…"

GIST_TOKENS = 60
"""Longest summary of several, as of one talk."""

PARTS = 3
"""How many of them it is made of at most."""

JOINT = " / "

_ENOUGH = 10
"""From so many telling words on the newer one is taken: a longer summary is not a weightier one."""

_LONGEST = 160
"""Characters of the only one that is taken where none has room."""

SENTENCE = re.compile(r"((?:[^。！？!?\n；;….]+|\.(?!\s|$))+)([。！？!?；;….]*)")
"""A sentence, and what ends it."""

CLAUSE_MARKS = r"[，,、。.!！?？;；:：…~～\n]+"
"""What stands between the clauses of a line of a chat."""

_CLAUSE_START = re.compile(r"(?<!\d)[,，]|[,，](?!\d)| (?=(?:and|but|so) (?:i|my)\b)", re.IGNORECASE)

CHARS_PER_TOKEN = 16
"""Characters for each token up to which a text is looked at: words are shorter."""

MOST_TOKENS = 2.2
"""Tokens of a character at most: of an emoji."""

PER_MESSAGE = 4
"""Tokens a chat message costs beside its text (role and separators, OpenAI's chat format)."""

LEAST_SHARE = 0.3
"""A part is at least so much of what there is room for, if it can end with a sentence or a clause."""

_EXCERPT_ENDS = re.compile(r"[。！？!?；;\n]+[”」』\"')）]*|\.(?=\s|$)"), re.compile(r"[，,、：:]")
"""Behind what an excerpt ends best: a sentence, else a part of one."""


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


_WEIGHTS: dict[TokenVocabulary, _Weights] = {
    "o200k": _Weights(73, 85, 83, 14, 108, 108, 193, 210),
    "deepseek": _Weights(48, 118, 92, 20, 90, 95, 190, 220),
    "qwen": _Weights(52, 121, 90, 5, 196, 108, 211, 310),
    "cl100k": _Weights(122, 125, 96, 6, 196, 75, 181, 190),
}
"""A Chinese character, a Chinese mark, a Latin word and each letter past six, a run of figures, of ASCII marks, of line
breaks, an emoji. Source: the linear fit of reference/PROMPT_ECONOMICS.md, section 6. Four of
deepseek's were fitted anew to lines as <ctx> shows them, where the reference's gave 10 % too many."""


_LETTERS, _MARKS, _FIGURES = (_only(chars) for chars in (string.ascii_letters, string.punctuation, string.digits))


def vocabulary_of(model: str) -> TokenVocabulary:
    """The vocabulary of a model by its name; o200k where nothing is known."""
    name = model.lower()
    return next((found for mark, found in _NAMES if mark in name), "o200k")


def estimate_tokens(text: str, vocabulary: TokenVocabulary = "o200k") -> int:
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


def message_tokens(message: Message, vocabulary: TokenVocabulary = "o200k") -> int:
    """Estimated tokens of one message, its tool calls included."""
    calls = sum(
        estimate_tokens(call.name, vocabulary) + estimate_tokens(call.arguments, vocabulary) + PER_MESSAGE
        for call in message.tool_calls
    )
    return PER_MESSAGE + estimate_tokens(message.content, vocabulary) + calls


def tools_tokens(tools: tuple[ToolSpec, ...], vocabulary: TokenVocabulary = "o200k") -> int:
    """Estimated tokens of the tool schemas."""
    texts = (text for tool in tools for text in (tool.name, tool.description, tool.parameters))
    return sum(estimate_tokens(text, vocabulary) for text in texts)


def clip(text: str, max_chars: int) -> str:
    """The text, or its beginning and "…", together at most `max_chars` characters."""
    if len(text) <= max_chars:
        return text
    if max_chars < 1:
        return ""
    return text[: _boundary(text, max_chars - 1)] + ELLIPSIS


def clip_whole(text: str, max_chars: int) -> tuple[str, int]:
    """The beginning of the text, at most `max_chars` characters, and how many were cut (0: nothing)."""
    if len(text) <= max_chars:
        return text, 0
    kept = text[: _boundary(text, max(max_chars, 0))]
    return kept, len(text) - len(kept)


def _boundary(text: str, at: int) -> int:
    """The last place up to `at` where a cut divides no visible character."""
    cut = cluster_boundary(text, 0, at)
    return 0 if cut < LONGEST_CLUSTER and in_cluster(text, cut, 0) else cut


def gist(told: Sequence[str]) -> str:
    """The most telling of these summaries, which are in the order of time, in about GIST_TOKENS; "" of none."""
    once = list({fold(text).strip(): text.strip() for text in told if text.strip()}.values())
    best = sorted(range(len(once)), key=lambda place: (-min(informative_count(once[place]), _ENOUGH), -place))
    chosen: list[int] = []
    for place in best:
        wider = sorted((*chosen, place))
        if len(wider) <= PARTS and estimate_tokens(JOINT.join(once[each] for each in wider)) <= GIST_TOKENS:
            chosen = wider
    if not chosen and best:
        return clip(once[best[0]], _LONGEST)
    return JOINT.join(once[each] for each in chosen)


def shorten(text: str, most: int | None) -> str:
    """The text, or its beginning up to the best border and "…", together at most `most` characters (None: any)."""
    if most is None or len(text) <= most:
        return text
    first = split(text, most - 2)[0].rstrip()
    return f"{first}\n{ELLIPSIS}" if first.endswith("```") else f"{first}{ELLIPSIS}"


def clauses_of(sentence: str) -> list[str]:
    """The parts of a sentence, each with the comma before it."""
    cuts = [0, *(match.start() for match in _CLAUSE_START.finditer(sentence) if match.start()), len(sentence)]
    return [sentence[start:stop] for start, stop in pairwise(cuts)]


def excerpt(text: str, most: int) -> str:
    """The text, or its first sentences and "…" in about `most` tokens: a part that ends in the middle may say the
    contrary."""
    if len(text) * MOST_TOKENS <= most or estimate_tokens(text) <= most:
        return text
    room = longest_prefix(text, most * CHARS_PER_TOKEN, lambda part: estimate_tokens(part) <= most)
    for ends in _EXCERPT_ENDS:
        least = room * LEAST_SHARE
        cut = max((match.end() for match in ends.finditer(text, 0, room) if match.end() >= least), default=0)
        if cut:
            return text[:cut].rstrip() + ELLIPSIS
    return clip(text, room)
