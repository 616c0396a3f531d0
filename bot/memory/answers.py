"""Reads the answer to a question about memories: yes, 1 and 3, all, never mind, or the words that were missing.

Only the next thing the person says can be one; what is none is ordinary talk.
"""

import re

from bot.memory.facts import thin
from bot.memory.numbers import listed, numbered
from bot.memory.shape import shaped
from bot.memory.wish_patterns import CALLED, pattern
from bot.text.fold import fold, fold_mapped, unfold
from bot.types.memory import MemoryCommand, Question, Scope

MOST_CHARS = 60
"""An answer that chooses is short."""

NAME_CHARS = 24
"""Longest name that is taken as one."""

_NOT_YET = re.compile("(?:还没|没有?|都没)(?:[有呢做完好呀啊]|都)*|(?:no,? )?not (?:yet|done)|not really")
_NUMBER = re.compile("(?P<known>#?)(?P<n>[0-9]{1,9})")
_ORDINAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}


def answer_to(question: Question, text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """What an answer asks to be done; None when the text answers nothing. `names` call the bot."""
    said = _uncalled(text.strip(), names)
    shape = shaped(fold(said), names).replace(CALLED, " ").strip(" ,")
    if not shape or question.kind == "clarify":  # whether the line answers that, the model that asked decides
        return None
    if question.kind == "done":
        return _ended(question, shape) if len(shape) <= MOST_CHARS else None
    if len(shape) <= MOST_CHARS and pattern("answer_no").fullmatch(shape):
        return MemoryCommand("let_be", None)
    if pattern("answer_later").fullmatch(shape):
        return None
    if question.kind == "which":
        return _chosen(question, shape) if len(shape) <= MOST_CHARS else None
    if question.kind in ("cue", "about"):
        agrees = len(shape) <= MOST_CHARS and any(pattern(f"answer_{yes}").fullmatch(shape) for yes in ("all", "fine"))
        if not agrees:
            return None
        scope: Scope = "about" if question.kind == "about" else ""
        return MemoryCommand("agree", None, forever=question.forever, scope=scope, chosen=question.memories)
    if "?" in shape or pattern("question").search(shape) or thin(said):
        return None
    if question.kind == "name":
        name = _bare(said)
        return MemoryCommand("nick_revoke", name) if 0 < len(name) <= NAME_CHARS else None
    if question.kind == "drop":
        return _named(question, said, shape)
    if pattern("answer_before").fullmatch(shape):
        return MemoryCommand("remember", None)
    return None if pattern("no_fact").match(said) else MemoryCommand("remember", said)


def takes_back(command: MemoryCommand, question: Question) -> bool:
    """Whether 撤销 is said to a question: what was asked for is not to be done, and nothing before it is meant."""
    return (
        command.verb == "undo"
        and command.number is None
        and question.kind in ("what", "which", "drop", "cue", "about", "done")
    )


def waits(question: Question, text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a text that answers nothing leaves the question open: 等一下, let me think, 嗯, a smile."""
    shape = shaped(fold(text.strip()), names).replace(CALLED, " ").strip(" ,")
    if len(shape) > MOST_CHARS or "?" in shape:
        return False
    return pattern("answer_later").fullmatch(shape) is not None or (
        question.kind not in ("which", "cue", "clarify", "about", "done") and thin(text)
    )


def _named(question: Question, said: str, shape: str) -> MemoryCommand | None:
    """What is to be forgotten: numbers, everything, or words, which are a wish when something fits them."""
    if pattern("answer_all").fullmatch(shape):
        return MemoryCommand("forget", None, forever=question.forever, scope="all")
    several = pattern("answer_several").fullmatch(shape)
    one = pattern("answer_chosen").fullmatch(shape)
    if numbers := listed(several["numbers"]) if several else ():
        return MemoryCommand("forget", None, forever=question.forever, chosen=numbers)
    if one and (number := _NUMBER.search(one["list"])):
        return MemoryCommand("forget", None, int(number["n"]), question.forever)
    if one and (counted := numbered(one["list"])):
        return MemoryCommand("forget", None, counted, question.forever, scope="unsure")
    return MemoryCommand("forget", _bare(said), forever=question.forever, scope="unsure")


def _chosen(question: Question, shape: str) -> MemoryCommand | None:
    offered = question.memories
    if pattern("answer_all").fullmatch(shape) or (len(offered) == 1 and pattern("answer_fine").fullmatch(shape)):
        return MemoryCommand("forget", None, forever=question.forever, chosen=offered)
    match = pattern("answer_chosen").fullmatch(shape)
    if match is None:
        return None
    found: list[int] = []
    listed = match["list"]
    if not any(char.isdigit() for char in listed):
        places = [(False, _ORDINAL[char]) for char in listed if char in _ORDINAL]
    else:
        places = [(bool(each["known"]), int(each["n"])) for each in _NUMBER.finditer(listed)]
    for by_number, number in places:
        if not by_number and 1 <= number <= len(offered):
            found.append(offered[number - 1])
        elif number in offered:
            found.append(number)
        else:
            return None
    return MemoryCommand("forget", None, forever=question.forever, chosen=tuple(dict.fromkeys(found)))


def _ended(question: Question, shape: str) -> MemoryCommand | None:
    """Which of the promises that were shown are done: of none nothing is changed."""
    if pattern("answer_no").fullmatch(shape) or _NOT_YET.fullmatch(shape):
        return MemoryCommand("done", None)
    chosen = _chosen(question, shape)
    return MemoryCommand("done", None, chosen=chosen.chosen) if chosen is not None else None


def _uncalled(said: str, names: tuple[str, ...]) -> str:
    """The text without the bot's name before it."""
    folded, origin = fold_mapped(said)
    shape = shaped(folded, names)
    called = pattern("answer_called").match(shape)
    return unfold(said, origin, called.end(), len(shape)).strip() if called and called.end() else said


def _bare(said: str) -> str:
    """A name without the signs around it."""
    return said.strip(" ,，。.!！~～\"'“”「」")
