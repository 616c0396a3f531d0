"""What a message says in its writer's own words, clause by clause: without quotes, code and pasted lines. Pure."""

import re
from dataclasses import dataclass

from bot.text.fold import fold, fold_mapped, unfold

READ_CHARS = 800
"""A longer message is read up to here: a promise is a short thing, and a pasted article none."""

SENTENCE_CHARS = 240
"""A longer sentence is left out: a hostile one of 2,000 characters held the loop for 120 ms (measured)."""

_HIDDEN = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*`|「[^「」\n]*」|『[^『』\n]*』|“[^“”\n]*”|‘[^‘’\n]*’|《[^《》\n]*》"
    r"|\"[^\"\n]*\"|^>.*$|https?://\S+"
    r"|^[ ]*(?!我|咱|承诺|待办|放心|说好|约好|(?:todo|ps|btw|note|ok|promise|i)\b)[^\n,.!?:;。]{1,16}:(?!//).*$",
    re.MULTILINE,
)
"""Quotes, code, addresses, and lines that begin with a name and a colon: somebody else said them."""

HIDDEN = "\ue000"

_END = re.compile(r"[。!\n]|\.(?![a-z0-9])|(?P<asks>\?)")
_SOFT = re.compile(r"[,;、~:]+|(?<=[a-z]) (?:and|but|so) (?=i\b)")
_ASKS = re.compile(r"(?:吗|么|嘛|呢)[ ]*$")
_EDGES = " ,，。.!！~～;；、…:："


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of a sentence, folded, with its place in the folded message; `sentence` is the whole sentence.

    `asks`: the sentence is a question.
    """

    text: str
    start: int
    end: int
    sentence: str
    asks: bool


@dataclass(frozen=True, slots=True)
class Words:
    """A message's clauses in order, and how to get back to what was written."""

    clauses: tuple[Clause, ...]
    text: str
    origin: tuple[int, ...]
    folded: str

    def written(self, start: int, end: int) -> str:
        """These folded characters as their writer wrote them."""
        return unfold(self.text, self.origin, start, end).strip(_EDGES)


def read(text: str, names: tuple[str, ...]) -> Words:
    """The clauses of a message; `names` are those the bot is called by, which say nothing. Linear in the text."""
    text = text[:READ_CHARS]
    folded, origin = fold_mapped(text)
    shape = _HIDDEN.sub(lambda found: HIDDEN * len(found[0]), folded).replace("’", "'")
    for name in sorted({fold(name) for name in names if fold(name)}, key=lambda name: -len(name)):
        pattern = rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" if name.isascii() else re.escape(name)
        shape = re.sub(rf"@?{pattern}[ ,:]*", lambda found: " " * len(found[0]), shape)
    clauses: list[Clause] = []
    start = 0
    while start < len(shape):
        found = _END.search(shape, start)
        end, after = (found.start(), found.end()) if found else (len(shape), len(shape))
        asks = bool(found and found["asks"]) or _ASKS.search(shape[start:end]) is not None
        if end - start <= SENTENCE_CHARS:
            clauses += _clauses(shape, start, end, asks)
        start = after
    return Words(tuple(clauses), text, origin, shape)


def _clauses(shape: str, start: int, end: int, asks: bool) -> list[Clause]:
    sentence, at = shape[start:end], start
    found: list[Clause] = []
    for stop in (*_SOFT.finditer(sentence), None):
        last = start + stop.start() if stop else end
        part = shape[at:last]
        said, lead = part.strip(), len(part) - len(part.lstrip())
        if said and HIDDEN not in said:
            found.append(Clause(said, at + lead, at + lead + len(said), sentence, asks))
        at = start + stop.end() if stop else end
    return found
