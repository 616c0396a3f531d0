"""Reads wishes that name little or nothing: 记住, 帮我记一下, forget; 忘记年糕, forget Oslo; as a reply 把这条忘掉.

The whole message must be that wish. Whether it is a reply, and what is known of what it names, is not known here.
"""

import re
from dataclasses import dataclass

from bot.memory.forget_wish import forget_wish
from bot.memory.match import match, perhaps, tells
from bot.memory.shape import Place, beginning, shaped
from bot.memory.wish_patterns import pattern
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.signs import number_of
from bot.types.memory import Memory, MemoryCommand, Verb

MOST_BARE, MOST_POINTING, MOST_NAMED = 60, 100, 80
"""Characters: such a wish is short; names and courtesies around it as well."""


def bare(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command of a message that is only a wish to keep or to forget; `names` call the bot. Never raises."""
    place = _place(text, names, MOST_BARE)
    if place is None:
        return None
    wishes: tuple[tuple[Verb, str], ...] = (("remember", "bare_keep"), ("forget", "bare_forget"))
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


def pointing(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
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
class Alone:
    """An object that somebody might want forgotten, verbatim; `soft`: it might as well be meant for themselves."""

    content: str
    soft: bool
    forever: bool


def alone(text: str, names: tuple[str, ...] = ()) -> Alone | None:
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
    return Alone(content, soft, _forever(shape)) if content else None


def wish(said: Alone, known: tuple[Memory, ...], plans: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The wish that it is, given what is known of its writer; None when nothing fits, so that it is talk.

    One memory that holds these very words is meant beyond doubt; of anything else it is asked which. Where no memory
    fits, their promises and reminders (`plans`) may, unless it might as well be meant for themselves.
    """
    found = match(said.content, known)
    literal = len(found) == 1 and fold(said.content) in fold(found[0].text)
    chosen = tuple(memory.id for memory in found or perhaps(said.content, known))
    if not chosen:
        planned = not said.soft and any(tells(said.content, plan) for plan in plans)
        return MemoryCommand("forget", said.content, forever=said.forever) if planned else None
    return MemoryCommand(
        "forget", said.content, forever=said.forever, scope="" if literal and not said.soft else "unsure",
        chosen=chosen,
    )  # fmt: skip


def _tells(place: Place) -> re.Match[str] | None:
    return pattern("bare_tells").search(place.lead.strip(" ,"))


def _forever(shape: str) -> bool:
    return pattern("forever").search(shape) is not None


def _place(text: str, names: tuple[str, ...], most: int) -> Place | None:
    """Where such a wish would begin in a text; None where it is too long or has no word of one."""
    folded = fold(text) if len(text) <= most else ""
    return beginning(shaped(folded, names)) if pattern("hint").search(folded) else None
