"""Reads wishes of a few words, and the answers to questions about memories. Pure."""

import re
from dataclasses import dataclass

from bot.core.memories import Memory, MemoryCommand, MemoryQuestion, MemoryVerb, WishScope
from bot.language.wishes.forget import forget_wish, matching, names_plan, perhaps_matching
from bot.language.wishes.keep import says_nothing
from bot.language.wishes.patterns import CALLED, WishPlace, beginning, listed, numbered, pattern, shaped
from bot.text.codes import number_of
from bot.text.fold import fold, fold_mapped, unfold

MOST_BARE, MOST_POINTING, MOST_NAMED = 60, 100, 80
"""Characters: such a wish is short; names and courtesies around it as well."""

MOST_CHARS = 60
"""An answer that chooses is short."""

NAME_CHARS = 24
"""Longest name that is taken as one."""

_NOT_YET = re.compile("(?:还没|没有?|都没)(?:[有呢做完好呀啊]|都)*|(?:no,? )?not (?:yet|done)|not really")
_NUMBER = re.compile("(?P<known>#?)(?P<n>[0-9]{1,9})")
_ORDINAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}


def bare_wish(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command of a message that is only a wish to keep or to forget; `names` call the bot. Never raises."""
    place = _place(text, names, MOST_BARE)
    if place is None:
        return None
    wishes: tuple[tuple[MemoryVerb, str], ...] = (("remember", "bare_keep"), ("forget", "bare_forget"))
    for verb, name in wishes:
        wish = place.matches(name)
        closing = pattern("bare_closing").fullmatch(place.shape, wish.end()) if wish else None
        if closing is None or (closing["asked"] and not place.asked):
            continue
        told = _tells(place)
        if told and not place.asked and not (verb == "remember" and told[0] == "你"):
            continue
        return MemoryCommand(verb, None, forever=_forever(place.shape), scope="bare")
    return None


def plan_named(text: str) -> MemoryCommand | None:
    """The command of a message that only names a reminder or a promise by its sign: 忘记 ⏰3, undo ✓4. Never raises."""
    found = pattern("signed").fullmatch(fold(text).strip()) if len(text) <= MOST_BARE else None
    named = number_of(found["number"]) if found is not None else None
    if found is None or named is None or named[0] not in ("reminder", "promise"):
        return None
    return MemoryCommand("forget" if found["forget"] else "undo", None, named[1], of=named[0])


def reply_wish(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command to forget what is replied to, when the whole text is that wish; `names` call the bot."""
    place = _place(text, names, MOST_POINTING)
    if place is None or (_tells(place) and not place.asked):
        return None
    found, wish = forget_wish(place), place.matches("pointing_wish")
    end = found.end if found and not (found.content or found.scope) else wish.end() if wish else -1
    if (
        end < 0
        or (found and (found.number or found.verb == "undo"))
        or not pattern("politely").fullmatch(place.shape, end)
    ):
        return None
    polite = place.asked or place.shape[:end].rstrip(" ,。").endswith(("好吗", "可以吗", "好不好", "行吗"))
    if "?" in place.shape and not polite:  # 忘记这条? asks about one
        return None
    return MemoryCommand("forget", None, forever=_forever(place.shape), replied=True)


@dataclass(frozen=True, slots=True)
class BareObject:
    """An object that somebody might want forgotten, verbatim; `soft`: it might as well be meant for themselves."""

    content: str
    soft: bool
    forever: bool


def bare_object(text: str, names: tuple[str, ...] = ()) -> BareObject | None:
    """The object of a message that is nothing else than 忘记 X; whether it is a wish is told by `wish`. Never raises."""
    if len(text) > MOST_NAMED or not pattern("hint").search(fold(text)):
        return None
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    place = beginning(shape)
    sure = pattern("alone_sure").fullmatch(shape, place.at)
    found = sure or pattern("alone_soft").fullmatch(shape, place.at)
    if found is None or "?" in shape or pattern("alone_tells").search(place.lead):
        return None
    a, b = found.span(found.lastgroup or 0)
    said = shape[a:b].strip()
    single = len(said) < 2
    if (single and pattern("no_character").match(said)) or pattern("no_object").match(said):
        return None
    if pattern("pointing").fullmatch(said):
        return None
    content = unfold(text, origin, a, b).strip().strip("“”\"'「」『』").strip()
    doubt = pattern("alone_doubt")
    soft = sure is None or single or doubt.search(shape[b:]) is not None or doubt.search(said) is not None
    return BareObject(content, soft, _forever(shape)) if content else None


def object_wish(said: BareObject, known: tuple[Memory, ...], plans: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The wish that it is, given what is known of its writer; None when nothing fits, so that it is talk.

    One memory that holds these very words is meant beyond doubt; of anything else it is asked which. Where no memory
    fits, their promises and reminders (`plans`) may, unless it might as well be meant for themselves.
    """
    found = matching(said.content, known)
    literal = len(found) == 1 and fold(said.content) in fold(found[0].text)
    chosen = tuple(memory.id for memory in found or perhaps_matching(said.content, known))
    if not chosen:
        planned = not said.soft and any(names_plan(said.content, plan) for plan in plans)
        return MemoryCommand("forget", said.content, forever=said.forever) if planned else None
    return MemoryCommand(
        "forget", said.content, forever=said.forever, scope="" if literal and not said.soft else "unsure",
        chosen=chosen,
    )  # fmt: skip


def _tells(place: WishPlace) -> re.Match[str] | None:
    return pattern("bare_tells").search(place.lead.strip(" ,"))


def _forever(shape: str) -> bool:
    return pattern("forever").search(shape) is not None


def _place(text: str, names: tuple[str, ...], most: int) -> WishPlace | None:
    """Where such a wish would begin in a text; None where it is too long or has no word of one."""
    folded = fold(text) if len(text) <= most else ""
    return beginning(shaped(folded, names)) if pattern("hint").search(folded) else None


def answer_to(question: MemoryQuestion, text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
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
        scope: WishScope = "about" if question.kind == "about" else ""
        return MemoryCommand("agree", None, forever=question.forever, scope=scope, chosen=question.memories)
    if "?" in shape or pattern("question").search(shape) or says_nothing(said):
        return None
    if question.kind == "name":
        name = _bare(said)
        return MemoryCommand("nick_revoke", name) if 0 < len(name) <= NAME_CHARS else None
    if question.kind == "drop":
        return _named(question, said, shape)
    if pattern("answer_before").fullmatch(shape):
        return MemoryCommand("remember", None)
    return None if pattern("no_fact").match(said) else MemoryCommand("remember", said)


def takes_back(command: MemoryCommand, question: MemoryQuestion) -> bool:
    """Whether 撤销 is said to a question: what was asked for is not to be done, and nothing before it is meant."""
    return (
        command.verb == "undo"
        and command.number is None
        and question.kind in ("what", "which", "drop", "cue", "about", "done")
    )


def keeps_waiting(question: MemoryQuestion, text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a text that answers nothing leaves the question open: 等一下, let me think, 嗯, a smile."""
    shape = shaped(fold(text.strip()), names).replace(CALLED, " ").strip(" ,")
    if len(shape) > MOST_CHARS or "?" in shape:
        return False
    return pattern("answer_later").fullmatch(shape) is not None or (
        question.kind not in ("which", "cue", "clarify", "about", "done") and says_nothing(text)
    )


def _named(question: MemoryQuestion, said: str, shape: str) -> MemoryCommand | None:
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


def _chosen(question: MemoryQuestion, shape: str) -> MemoryCommand | None:
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


def _ended(question: MemoryQuestion, shape: str) -> MemoryCommand | None:
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
