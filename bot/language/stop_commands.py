"""Whether a message is a command to stop or to be quiet, and nothing else."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Literal

from bot.core.speaking import Stop
from bot.text.catalogue import read_table
from bot.text.fold import fold

LONGEST_COMMAND = 40
"""Characters; whoever wants silence says so briefly, and what is longer is talk about it."""

WordKind = Literal["stop", "quiet", "fill", "tail", "lead", "polite", "ask"]

_LAUGHS = frozenset("😂🤣😆😹😄😁😅😊🥰😘😜")
"""With these 别说了 is a joke."""
_QUOTES = frozenset('"“”「」『』《》`>')
_JOINERS = frozenset("'-_./@#")
"""Between letters they make one word: non-stop, stop.sh, don't."""

_DATA: dict[str, dict[str, str | list[str]]] = read_table("bot.language", "stop_commands")


def _listed(table: str, name: str) -> list[str]:
    found = _DATA[table][name]
    return found.split() if isinstance(found, str) else found


_ELSE = frozenset(_listed("else", "words"))


@dataclass(frozen=True, slots=True)
class _Word:
    """One word of the language of commands; with `last` nothing may follow it but a sign."""

    text: str
    kind: WordKind
    last: bool = False


@dataclass(frozen=True, slots=True)
class _Read:
    """What one reading of the beginning of a message holds so far."""

    stop: Stop = ""
    led: bool = False
    polite: bool = False
    asks: bool = False


def stop_command(text: str, names: tuple[str, ...] = ()) -> Stop:
    """Whether `text` is nothing but a command to stop, or to be quiet. Never raises; time is linear in the text.

    Script, case and width do not matter. `names` are the names the bot is called by.
    """
    if len(text) > 2 * LONGEST_COMMAND or not _LAUGHS.isdisjoint(text):
        return ""
    folded = fold(text)
    if not _QUOTES.isdisjoint(folded):
        return ""
    said = _spaced(folded)
    if not said or len(said) > LONGEST_COMMAND or said in _ELSE:
        return ""
    asked = "?" in folded
    readings = (read for read in _read(said, _index(names)) if read.stop and _fits(read, asked))
    return max((read.stop for read in readings), key=("", "stop", "quiet").index, default="")


def _fits(read: _Read, asked: bool) -> bool:
    """A question is a command only in the form of a request: 能安静点吗, can you stop."""
    return not (asked or read.asks) or read.led or read.polite


def _read(said: str, words: dict[str, tuple[_Word, ...]]) -> set[_Read]:
    """Every way in which the whole text is made of known words."""
    reached: list[set[_Read]] = [set() for _ in range(len(said) + 1)]
    reached[0].add(_Read())
    for at, char in enumerate(said):
        if not reached[at]:
            continue
        if char == " ":
            reached[at + 1] |= reached[at]
            continue
        for word in words.get(char, ()):
            if said.startswith(word.text, at) and _bounded(said, at, word):
                reached[at + len(word.text)] |= {after for read in reached[at] for after in _after(read, word)}
    return reached[-1]


def _after(read: _Read, word: _Word) -> Iterator[_Read]:
    """The reading with one more word; none where that word has no place."""
    match word.kind:
        case "fill":
            yield read
        case "stop" | "quiet":
            yield replace(read, stop="quiet" if "quiet" in (word.kind, read.stop) else "stop")
        case "lead":
            if not read.stop:
                yield replace(read, led=True)
        case _ if not read.stop:
            return
        case "tail":
            yield read
        case "polite":
            yield replace(read, polite=True)
        case "ask":
            yield replace(read, asks=True)


def _bounded(said: str, at: int, word: _Word) -> bool:
    end = at + len(word.text)
    if word.last and said[end : end + 1] not in ("", " "):
        return False
    return not (_joined(said, at) or _joined(said, end))


def _joined(said: str, at: int) -> bool:
    """Whether a Latin word goes on across this place."""
    return 0 < at < len(said) and _latin(said[at - 1]) and _latin(said[at])


def _latin(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) in {"Ll", "Lu", "Nd", "Pc"}


def _spaced(folded: str) -> str:
    """The text with every sign as a space, but for those within a word, and without mentions by @."""
    plain = folded.replace("’", "'")
    chars = [
        char if unicodedata.category(char)[0] in "LN" or _within(plain, at) else " " for at, char in enumerate(plain)
    ]
    return " ".join(word for word in "".join(chars).split() if not word.startswith("@"))


def _within(text: str, at: int) -> bool:
    """Whether the sign at this place belongs to a word: don't, non-stop, @nuan_bot; those of stop... do not."""
    if text[at] not in _JOINERS or not _letter(text[at + 1 : at + 2]):
        return False
    return text[at] == "@" or _letter(text[max(at - 1, 0) : at])


def _letter(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in {"Ll", "Lu", "Nd"}


@lru_cache(maxsize=8)
def _index(names: tuple[str, ...]) -> dict[str, tuple[_Word, ...]]:
    """The known words by their first character."""
    called = (_Word(spaced, "fill") for name in names if (spaced := _spaced(fold(name))))
    index: dict[str, list[_Word]] = {}
    for word in dict.fromkeys((*_known(), *called)):
        index.setdefault(word.text[0], []).append(word)
    return {char: tuple(words) for char, words in index.items()}


def _known() -> Iterator[_Word]:
    kinds: tuple[WordKind, ...] = ("stop", "quiet", "fill")
    yield from (_Word(text, kind) for kind in kinds for name in ("zh", "en") for text in _listed(kind, name))
    around: tuple[WordKind, ...] = ("tail", "lead", "polite")
    yield from (_Word(text, kind) for kind in around for text in _listed("around", kind))
    yield _Word("吗", "ask")
    negated = (
        *product(_listed("no", "words"), _listed("no", "verbs")),
        *product(_listed("no", "before_says"), _listed("no", "says")),
    )
    for no, verb in negated:
        yield _Word(no + verb, "stop", last=True)
        yield from (_Word(no + verb + end, "stop") for end in _listed("no", "ended"))
        yield from (_Word(no + "继续" + verb + end, "stop") for end in ("", "了", "下去", "下去了"))
