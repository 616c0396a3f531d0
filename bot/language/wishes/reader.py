"""Reads what a message asks of memory: remember, forget, undo, how to address; and what is left to answer. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.memories import MemoryCommand, ParsedCommands
from bot.language.wishes.forget import forget_wish
from bot.language.wishes.keep import opens, remember_wish, says_nothing
from bot.language.wishes.names import name_wish
from bot.language.wishes.patterns import SEVERAL, FoundWish, WishPlace, listed, pattern, place_at, shaped, speaks
from bot.text.fold import fold, fold_mapped, unfold

ORDERS = ("/remember", "/forget")
"""How they are written; nothing that people say begins so by chance."""

_NUMBER = re.compile(r"#\s*([0-9]{1,9})")
_SEVERAL = re.compile(SEVERAL)

_START = re.compile(
    r"(?:^|[,。?\n][,。?\n ]*)(?=.)|(?P<loose>(?<=[一-鿿]) +(?=\S)|(?<=[a-z0-9]) +(?=[一-鿿]))", re.DOTALL
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
_CLAUSE = re.compile(r"[^,。?\n]+")
_BLANK = " \n,，。.!！?？、:：;；~～"

CueVerb = Literal["remember", "forget", "nick_set", "nick_revoke"]
_CUES: tuple[CueVerb, ...] = ("nick_revoke", "nick_set", "forget", "remember")


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
    if not found:
        return ParsedCommands((), text)
    commands = tuple(
        MemoryCommand(
            each.verb, _verbatim(text, origin, each.content), each.number, each.forever,
            scope=each.scope, chosen=each.chosen,
        )
        for each in found
    )  # fmt: skip
    return ParsedCommands(commands, _rest(text, shape, origin, found))


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
    for clause in _CLAUSE.finditer(shape):
        for verb in _CUES:
            found = pattern(f"cue_{verb}").search(shape, *clause.span())
            if found and long and found.start() > CUE_LEAD:
                return None  # a document; what begins with the wish is kept shortened
            if found and _may_ask(shape, clause, found, verb.startswith("nick")):
                about = _about(text, shape, origin, found, clause.end())
                empty = verb == "remember" and says_nothing(about)  # 好的，记住了
                return None if empty or understand(text, names).commands else WishCue(verb, about)
    return None


def has_wish_word(text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a message that is neither a wish nor a cue holds a word of one: a model is told so, nobody is asked."""
    return len(text) <= CUE_CHARS and pattern("cue_hint").search(shaped(fold(text), names)) is not None


def _may_ask(shape: str, clause: re.Match[str], found: re.Match[str], named: bool) -> bool:
    before = shape[clause.start() : found.start()]
    if pattern("cue_before").search(before) or (not named and pattern("cue_before_mine").search(before)):
        return False
    asks = shape.startswith("?", clause.end()) or pattern("cue_question").search(clause[0])
    if asks and not pattern("cue_polite").search(clause[0]):
        return False
    told = pattern("reported").search(shape, max(0, clause.start() - 12), clause.start())
    return not told and not speaks(shape, found.start())


def _about(text: str, shape: str, origin: tuple[int, ...], found: re.Match[str], end: int) -> str:
    """The words after the cue and to the end of its sentence, else those before it."""
    stop = re.compile(r"[。?\n]|$").search(shape, end)
    after = pattern("cue_object").match(shape, found.end())
    said = unfold(text, origin, after.end() if after else end, stop.start() if stop else end).strip(_BLANK)
    if len(said) < 2:
        line = shape.rfind("\n", 0, found.start()) + 1
        said = unfold(text, origin, line, found.start()).strip(_BLANK)
    return said[:ABOUT_CHARS]


def _read(shape: str) -> list[FoundWish]:
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
            place = _joined(place_at(shape, start, floor)) if found else place_at(shape, start, floor)
            if pattern("reported").search(shape, max(floor, start - 12), match.start()):
                break
            hits = _commands(place, loose=match["loose"] is not None)
            tries += bool(hits) or opens(place)
            if not hits or any(_pasted(shape, each) for each in hits):
                break
            found.extend(hits)
            floor = start = hits[0].end
    return found


def _joined(place: WishPlace) -> WishPlace:
    """The place after 然后 or and, where it goes on right after the wish before."""
    then = place.matches("then") if place.start - place.floor <= len(", ") else None
    return replace(place, at=place_at(place.shape, then.end(), place.floor).at) if then else place


def _pasted(shape: str, each: FoundWish) -> bool:
    """Whether the order is in somebody else's line that was pasted (阿明：记住我周五到).

    In 阿明：周五到，记住哦 it is the writer's own: what stands before it, 阿明's line, is what they want kept.
    """
    keeps_before = each.content is not None and each.content[0] <= each.start
    return not keeps_before and speaks(shape, each.start)


def _commands(place: WishPlace, loose: bool) -> tuple[FoundWish, ...]:
    one = name_wish(place) or forget_wish(place)
    hits = (one,) if one else remember_wish(place)
    if hits and loose and not pattern("mine").search(place.shape, hits[0].start, hits[0].end):
        return ()
    return hits


def _verbatim(text: str, origin: tuple[int, ...], span: tuple[int, int] | None) -> str | None:
    if span is None:
        return None
    content = unfold(text, origin, *span).strip().rstrip("~～！!。，,、")
    if len(content) > 2 and content[0] + content[-1] in _PAIRS:
        content = content[1:-1].strip()
    return content or None


def _rest(text: str, shape: str, origin: tuple[int, ...], found: list[FoundWish]) -> str:
    """What the commands leave: pieces of the text, without those that need no answer."""
    pieces, at = [], 0
    for each in [*found, FoundWish("undo", len(shape), len(shape))]:
        piece = shape[at : each.start]
        if not pattern("nothing_left").fullmatch(piece):
            skipped = len(piece) - len(piece.lstrip(" ,。\n"))
            pieces.append(unfold(text, origin, at + skipped, each.start))
        at = each.end
    return "".join(pieces).strip().rstrip(",，")
