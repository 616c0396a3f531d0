"""Reads what a message asks of memory (remember, forget, undo, how to address), in a few words too, what answers a
question about memories, and what is left to answer. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

from bot.core.memories import Memory, MemoryCommand, MemoryQuestion, MemoryVerb, ParsedCommands
from bot.language.wishes.forget import forget_wish, matching, matter_in, names_plan, perhaps_matching
from bot.language.wishes.keep import has_predicate, opens, remember_wish, says_nothing
from bot.language.wishes.names import name_wish
from bot.language.wishes.patterns import (
    CALLED,
    CLAUSE,
    SEVERAL,
    FoundWish,
    WishPlace,
    beginning,
    listed,
    may_ask,
    numbered,
    pattern,
    place_at,
    shaped,
    speaks,
)
from bot.text.catalogue import LazyPattern
from bot.text.codes import number_of
from bot.text.fold import fold, fold_mapped, unfold

ORDERS = ("/remember", "/forget")
"""How they are written; nothing that people say begins so by chance."""

_NUMBER = LazyPattern(r"#\s*([0-9]{1,9})")
_SEVERAL = LazyPattern(SEVERAL)

_START = LazyPattern(
    r"(?:^|[,。?\n][,。?\n ]*)(?=.)|(?P<loose>(?<=[一-鿿]) +(?=[一-鿿])|(?<=[a-z0-9]) +(?=[一-鿿]))", re.DOTALL
)
_PAIRS = ("「」", "『』", "“”", '""', "《》", "''", "【】")
_REACH = 400
"""Characters from a clause's beginning within which its command must have begun; the contents reach 200."""
_TRIES = 40
"""Candidate commands looked at in one message; people write fewer than five, hostile text thousands."""

CUE_CHARS = 600
"""Longer messages are documents: only what is certain is done in them."""
CUE_LEAD = 20
"""Characters before the cue of a longer message."""
ABOUT_CHARS = 200
"""Characters that a question back quotes."""
_FIRST_SENTENCE = LazyPattern(r"[^。\n]+[。\n]?")
_BLANK = " \n,，。.!！?？、:：;；~～"

CueVerb = Literal["remember", "forget", "nick_set", "nick_revoke"]
_CUES: tuple[CueVerb, ...] = ("nick_revoke", "nick_set", "forget", "remember")
_HINTS: tuple[CueVerb, ...] = ("nick_set", "forget", "remember")

MOST_BARE, MOST_POINTING, MOST_NAMED = 60, 100, 80
"""Characters: such a wish is short; names and courtesies around it as well."""

AHEAD_CHARS = 60
"""我跟你说件事，别记: what announces something and asks to keep nothing of it says no more."""

ANSWER_CHARS = 60
"""An answer that chooses is short."""

NAME_CHARS = 24
"""Longest name that is taken as one."""

_YES = ("answer_all", "answer_fine")

_NOT_YET = LazyPattern("(?:还没|没有?|都没)(?:[有呢做完好呀啊]|都)*|(?:no,? )?not (?:yet|done)|not really")
_SHORT_NUMBER = LazyPattern("(?P<known>#?)(?P<n>[0-9]{1,9})")
_ORDINAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}


def menu_command(text: str) -> MemoryCommand | None:
    """The command of a message that begins with one of them; None for every other message.

    `/forget #12` names a memory, `/forget #3 #4` two, `/forget` alone none. The content of `/remember` alone is empty.
    """
    head, *rest = text.strip().split(maxsplit=1)[:2] or ("",)
    content = rest[0].strip() if rest else ""
    match head.lower():
        case "/remember":
            return MemoryCommand("remember", content)
        case "/forget":
            number = _NUMBER.fullmatch(content)
            if "#" in content and _SEVERAL.fullmatch(fold(content)) and (chosen := listed(fold(content))):
                return MemoryCommand("forget", None, chosen=chosen)
            return MemoryCommand("forget", None, int(number[1])) if number else MemoryCommand("forget", content or None)
        case _:
            return None


_ADDRESSED = LazyPattern(r"\A\S{1,20}?[,，]\s*")


def list_asked(text: str) -> str:
    """The command for what a message asks: to see all reminders, all memories or the help, or to forget all of its
    writer; "" for every other message."""
    said = fold(text).strip()
    if said.startswith((".", "/", "。")):
        return ""
    questions = (
        ("reminders_asked", ".ai remind list"),
        ("memories_asked", ".ai mem"),
        ("help_asked", ".ai help"),
        ("all_asked", ".ai forget me"),
    )
    for question, command in questions:
        if pattern(question).search(said) or pattern(question).search(_ADDRESSED.sub("", said)):
            return command
    return ""


@dataclass(frozen=True, slots=True)
class WishCue:
    """What a message may ask of memory, which is not certain; `about` is what it may be about, verbatim, or ""."""

    verb: CueVerb
    about: str


def understand(text: str, names: tuple[str, ...] = ()) -> ParsedCommands:
    """The memory commands of a message, in order, and the rest to answer; doubt means no command.

    `names` are the names the bot is called by; at the start or end of a command they are neither content nor rest.
    Contents are verbatim parts of `text`; the rest is `text` itself when there is no command. Never raises.
    """
    quick = fold(text)
    if not pattern("hint").search(quick) or pattern("about_words").search(quick):
        return ParsedCommands((), text)
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    found = _read(shape)
    if not found or pattern("mends").search(shape, found[0].start):  # 18号，哦不是，19号: which of it a model tells
        return ParsedCommands((), text)
    commands = tuple(
        MemoryCommand(
            each.verb,
            _verbatim(text, origin, each.content),
            each.number,
            each.forever,
            scope=each.scope,
            chosen=each.chosen,
        )
        for each in found
    )
    pieces = _rest(text, shape, origin, found)
    return ParsedCommands(commands, "".join(pieces).strip().rstrip(",，"), pieces[0].strip())


def wish_cue(text: str, names: tuple[str, ...] = ()) -> WishCue | None:
    """What a message may ask of memory where `understand` is not sure; None for talk, reports, questions and commands.

    `names` are the names the bot is called by. Never raises.
    """
    long = len(text) > CUE_CHARS
    text = text[:CUE_CHARS]
    quick = fold(text)
    if not quick or pattern("about_words").search(quick):
        return None
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    for clause in CLAUSE.finditer(shape):
        for verb in _CUES:
            found = pattern(f"cue_{verb}").search(shape, *clause.span())
            if found and long and found.start() > CUE_LEAD:
                return None  # a document; what begins with the wish is kept shortened
            if found and verb == "nick_set" and pattern("cue_nick_told").match(shape, *clause.span()):
                continue
            if found and may_ask(shape, clause, found, verb.startswith("nick")):
                about = (_name if verb.startswith("nick") else _about)(text, shape, origin, clause, found)
                empty = verb == "remember" and says_nothing(about)  # 好的，记住了
                return None if empty or understand(text, names).commands else WishCue(verb, about)
    return None


def wish_hint(text: str, names: tuple[str, ...] = ()) -> WishCue | None:
    """What a message that is neither a wish nor a cue may ask in words of its own: it is about the whole of it.

    Never raises.
    """
    shape = shaped(fold(text), names) if len(text) <= CUE_CHARS else ""
    for verb in _HINTS:
        for clause in CLAUSE.finditer(shape):
            found = pattern(f"hint_{verb}").search(shape, *clause.span())
            if found and may_ask(shape, clause, found, named=True):
                return WishCue(verb, "" if verb == "nick_set" else text.strip(_BLANK))
    return None


def has_wish_word(text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a message that is neither a wish nor a cue holds a word of one: a model is told so."""
    return len(text) <= CUE_CHARS and pattern("cue_hint").search(shaped(fold(text), names)) is not None


def _about(text: str, shape: str, origin: tuple[int, ...], clause: re.Match[str], found: re.Match[str]) -> str:
    """The words after the cue and to the end of its sentence, else those before it."""
    stop = re.compile(r"[。?\n]|$").search(shape, clause.end())
    a = after = _after(shape, clause, found)
    b = stop.start() if stop else clause.end()
    line = shape.rfind("\n", 0, found.start()) + 1
    lead = pattern("lead").match(shape, clause.start())
    apart = line < clause.start() and lead is not None and lead.end() >= found.start()
    own = apart and pattern("cue_own").match(shape, a) and not says_nothing(shape[a:b])  # 我明早出发。记住带身份证
    told = not own and not has_predicate(shape[a:b]) and has_predicate(shape[line : found.start()])
    if told:  # 我鞋码41，你记准了
        a, b = line, clause.start() if apart else found.start()
    elif len(shape[a:b].strip(_BLANK)) < 2:
        a, b = line, found.start()
    said = unfold(text, origin, a, b).strip(_BLANK)  # 记住喔！我周五到: else the next sentence
    return (said or unfold(text, origin, after, len(shape)).strip(_BLANK))[:ABOUT_CHARS]


def _name(text: str, shape: str, origin: tuple[int, ...], clause: re.Match[str], found: re.Match[str]) -> str:
    """The words after the cue in its clause, where they can be a name."""
    said = unfold(text, origin, _after(shape, clause, found), clause.end()).strip(_BLANK)
    return said if 1 < len(said) <= NAME_CHARS else ""


def _after(shape: str, clause: re.Match[str], found: re.Match[str]) -> int:
    after = pattern("cue_object").match(shape, found.end())
    return after.end() if after else clause.end()


def _read(shape: str) -> list[FoundWish]:
    first = _FIRST_SENTENCE.match(shape)
    ahead_end = first.end() if first else 0
    if ahead_end <= AHEAD_CHARS and pattern("ahead").fullmatch(shape, 0, ahead_end):
        return [FoundWish("forget", 0, ahead_end, scope="ahead")]  # what the message says besides goes with it
    found: list[FoundWish] = []
    floor = tries = 0
    hint = pattern("hint")
    ahead = hint.search(shape)
    for match in _START.finditer(shape):
        start = match.end()
        while floor <= start < len(shape) and tries < _TRIES:
            if ahead is not None and ahead.start() < start:
                ahead = hint.search(shape, start)
            if ahead is None or ahead.start() > start + _REACH:
                break
            place = place_at(shape, start, floor)
            if pattern("reported").search(shape, max(floor, start - 12), match.start()):
                break
            hits = _commands(place, loose=match["loose"] is not None)
            tries += bool(hits) or opens(place)
            if not hits or any(_pasted(shape, each) for each in hits):
                break
            found.extend(hits)
            floor = start = hits[0].end
    return found


def _pasted(shape: str, each: FoundWish) -> bool:
    """Whether the order is in somebody else's line that was pasted (阿明：记住我周五到).

    In 阿明：周五到，记住哦 it is the writer's own: what stands before it, 阿明's line, is what they want kept.
    """
    keeps_before = each.content is not None and each.content[0] <= each.start
    return not keeps_before and speaks(shape, each.start)


def _commands(place: WishPlace, loose: bool) -> tuple[FoundWish, ...]:
    one = name_wish(place) or forget_wish(place)
    hits = (one,) if one else remember_wish(place)
    apart = hits and (hits[0].scope == "aside" or pattern("mine").search(place.shape, hits[0].start, hits[0].end))
    return hits if apart or not loose else ()


def _verbatim(text: str, origin: tuple[int, ...], span: tuple[int, int] | None) -> str | None:
    if span is None:
        return None
    content = unfold(text, origin, *span).strip().rstrip("~～！!。，,、")
    if len(content) > 2 and content[0] + content[-1] in _PAIRS:
        content = content[1:-1].strip()
    return content or None


def _rest(text: str, shape: str, origin: tuple[int, ...], found: list[FoundWish]) -> list[str]:
    """What the commands leave: the text before, between and after them; "" for what needs no answer."""
    pieces, at = [], 0
    for each in [*found, FoundWish("undo", len(shape), len(shape))]:
        piece = shape[at : each.start]
        skipped = len(piece) - len(piece.lstrip(" ,。\n"))
        nothing = pattern("nothing_left").fullmatch(piece)
        pieces.append("" if nothing else unfold(text, origin, at + skipped, each.start))
        at = each.end
    return pieces


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


def to_be_forgotten(text: str, names: tuple[str, ...] = ()) -> str:
    """What a message that says nothing else wants forgotten; "" for every other message. Never raises."""
    if len(text) > MOST_NAMED or not pattern("hint").search(fold(text)):
        return ""
    wish = matter_in(text, names) or bare_object(text, names)
    if wish is None:
        asked = understand(text, names)
        wish = asked.commands[0] if len(asked.commands) == 1 and not asked.rest else None
        wish = wish if wish is not None and wish.verb == "forget" else None
    return (wish is not None and wish.content) or ""


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
        "forget",
        said.content,
        forever=said.forever,
        scope="" if literal and not said.soft else "unsure",
        chosen=chosen,
    )


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
        return _ended(question, shape) if len(shape) <= ANSWER_CHARS else None
    if question.kind == "about" and len(shape) <= ANSWER_CHARS and _agrees(shape, len(question.memories) == 2):
        return MemoryCommand("agree", None, forever=question.forever, scope="about", chosen=question.memories)
    if len(shape) <= ANSWER_CHARS and pattern("answer_no").fullmatch(shape):
        return MemoryCommand("let_be", None)
    if pattern("answer_later").fullmatch(shape):
        return None
    if question.kind == "which":
        return _chosen(question, shape) if len(shape) <= ANSWER_CHARS else None
    if question.kind == "about":
        return None
    if question.kind == "cue":
        agrees = len(shape) <= ANSWER_CHARS and any(pattern(each).fullmatch(shape) for each in _YES)
        return MemoryCommand("agree", None, forever=question.forever, chosen=question.memories) if agrees else None
    if "?" in shape or pattern("question").search(shape) or says_nothing(said):
        return None
    if question.kind == "name":
        name = _bare(said)
        return MemoryCommand("nick_revoke", name) if 0 < len(name) <= NAME_CHARS else None
    if question.kind == "drop":
        return _named(question, said, shape)
    if pattern("answer_before").fullmatch(shape):
        return MemoryCommand("remember", None)
    if pattern("no_fact").match(said) or pattern("own_drop").match(shape):
        return None
    return MemoryCommand("remember", said)


def _agrees(shape: str, one: bool) -> bool:
    """Whether an answer to the question whether what was shown is to be forgotten says yes, alone or before words that
    only point at it (對，就那件而已，其他照舊), or says itself to forget it; of more than `one` thing it singles out none.
    """
    if not one and pattern("answer_singles").search(shape):
        return False
    found = (pattern(each).match(shape) for each in _YES)
    ends = [each.end() for each in found if each is not None]
    if any(pattern("answer_points").fullmatch(shape, end) for end in ends):
        return True
    return pattern("answer_gone").search(shape) is not None and pattern("answer_points").fullmatch(shape) is not None


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
    if len(shape) > ANSWER_CHARS or "?" in shape:
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
    if one and (number := _SHORT_NUMBER.search(one["list"])):
        return MemoryCommand("forget", None, int(number["n"]), question.forever)
    if one and (counted := numbered(one["list"])):
        return MemoryCommand("forget", None, counted, question.forever, scope="unsure")
    return MemoryCommand("forget", _bare(said), forever=question.forever, scope="unsure")


def _chosen(question: MemoryQuestion, shape: str) -> MemoryCommand | None:
    offered = question.memories
    if pattern("answer_all").fullmatch(shape) or (len(offered) == 1 and _agrees(shape, one=True)):
        return MemoryCommand("forget", None, forever=question.forever, chosen=offered)
    match = pattern("answer_chosen").fullmatch(shape)
    if match is None:
        return None
    found: list[int] = []
    listed = match["list"]
    if not any(char.isdigit() for char in listed):
        places = [(False, _ORDINAL[char]) for char in listed if char in _ORDINAL]
    else:
        places = [(bool(each["known"]), int(each["n"])) for each in _SHORT_NUMBER.finditer(listed)]
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
