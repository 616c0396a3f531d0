"""What a short message says of a reminder that is set or asked about: a time, another time, that it is called off."""

import re
from dataclasses import dataclass
from typing import Literal

from bot.language.reminders.requests import NO_TIME, hinted, unaddressed
from bot.language.reminders.wording import ANY, ASKS_ZH, ENDED, KEPT, time_words, without_times
from bot.language.time.moments import parts_folded, squeezed
from bot.language.time.parts import EN_HOUR, TAKEN, TimeParts
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold, fold_mapped
from bot.text.length import clauses_of

CORRECTING = ANY["correcting"]
ANSWER_CHARS = 60
"""A longer message is no answer to a question for a time."""
_DISMISS = LazyPattern(rf"\s*(?:{ANY['dismiss']})(?:吧|啦|谢谢|[。.!！~\s])*")
_WHENEVER = LazyPattern(rf"\s*(?:{ANY['whenever']})(?:吧|啦|[。.!！~\s])*")
_AGREE = LazyPattern(rf"(?:{ANY['agree']})(?:[的呀啊哦呢吧啦好要对行嗯]|谢谢|please|thanks|thx|do|[,，。.!！~\s])*")
_CORRECTS = LazyPattern(CORRECTING)
_FIRST = LazyPattern(rf"^(?:[\s,，.。]*(?:{CORRECTING}))+")
_HOUR = LazyPattern(rf"(?:{EN_HOUR}|1?\d|2[0-4])(?: (?:please|pls|instead))?")
_ANOTHER = LazyPattern("make|change|[改换]")
_RETIMES = LazyPattern(ANY["retimes"])
Change = Literal["sooner", "later", "off", "back"]
_CHANGES: dict[Change, LazyPattern] = {
    "sooner": LazyPattern(ANY["puts_forward"]),
    "later": LazyPattern(ANY["puts_off"]),
    "off": LazyPattern(ANY["calls_off"]),
    "back": LazyPattern(ANY["takes_back"]),
}
_MOVED_BY = LazyPattern(ANY["moved_by"])
_SET = LazyPattern(ANY["set"])
_FILL_ANSWER = LazyPattern(f"{CORRECTING}|{ANY['fill_answer']}")


@dataclass(frozen=True, slots=True)
class TimeReply:
    """What an answer to a question says: `parts` of a time, that any will do, or that it is not wanted any more.

    `bare`: nothing but a number. `corrects` what was said before; `agreed`: nothing but a yes.
    """

    parts: TimeParts = NO_TIME
    whenever: bool = False
    dismissed: bool = False
    said: str = ""
    bare: bool = False
    corrects: bool = False
    agreed: bool = False


def time_reply(text: str, names: tuple[str, ...] = ()) -> TimeReply | None:
    """What a message says to the question for a time; None when it speaks of something else."""
    if not text.strip() or len(text) > ANSWER_CHARS:
        return None
    folded, origin = squeezed(*fold_mapped(text))
    for name in (fold(name) for name in names if name):
        folded = folded.replace(name, " " * len(name))
    if _DISMISS.fullmatch(folded.strip(" ,，")):
        return TimeReply(dismissed=True)
    if _WHENEVER.fullmatch(folded.strip(" ,，")):
        return TimeReply(whenever=True)
    if _AGREE.fullmatch(folded.strip(" ,，")):
        return TimeReply(agreed=True)
    bare = folded.strip(" 。.!！~吧")
    if re.fullmatch(r"\d{1,2}", bare):
        return TimeReply(parts_folded(f"{bare}点"), said=f"{bare}点", bare=True)
    corrects = _CORRECTS.search(folded) is not None
    first = _FIRST.match(folded)
    folded = " " * first.end() + folded[first.end() :] if first else folded
    parts = parts_folded(folded)
    if first and _ANOTHER.search(first[0]) and not parts.spans and _HOUR.fullmatch(folded.strip(" .!~")):
        folded = f"at {folded.strip(' .!~')}"  # make it nine
        parts, origin, text = parts_folded(folded), tuple(range(len(folded))), folded
    if not parts.spans and re.search(r"\d|[一二三四五六七八九十两半]|minute|hour|an? ", bare):
        later = parts_folded(f"{bare}后") if not bare.isascii() else parts_folded(f"in {bare}")
        if later.delay is not None and _plain(f"{bare}后" if not bare.isascii() else f"in {bare}", later):
            return TimeReply(later, said=f"{bare}后" if not bare.isascii() else f"in {bare}")
    counted = corrects and parts.delay is not None and folded.rstrip(" .!~").endswith("later")
    if parts.empty or counted or not _plain(folded, parts):  # make it an hour later: than it was set for
        return None
    return TimeReply(parts, said=time_words(text, folded, origin, parts), corrects=corrects)


def retime_wish(text: str, names: tuple[str, ...] = ()) -> tuple[str, TimeReply] | None:
    """What a message wants at another time, "" for what was set just before, and when; None for anything else."""
    reply = time_reply(text, names)
    if reply is not None:
        return ("", reply) if reply.corrects else None
    found = _RETIMES.fullmatch(fold(unaddressed(text, names)).strip(" 。.!！~")) if len(text) <= ANSWER_CHARS else None
    if found is None:
        return None
    what, when = (one for one in found.groups() if one is not None)
    then = time_reply(when)
    return (what.strip(), then) if then is not None else None


def change_wish(text: str, names: tuple[str, ...] = ()) -> tuple[Change, str, str] | None:
    """What a short message wants of a reminder that is set, how it names it, and by how long: sooner or later, without a
    moment; off; or `back`, that which was set just before. None for anything else."""
    said = fold(unaddressed(text, names)).strip(" 。.!！~") if len(text) <= ANSWER_CHARS else ""
    for change, pattern in _CHANGES.items():
        if found := pattern.fullmatch(said):
            length = _MOVED_BY.search(said)
            return change, next((one for one in found.groups() if one), "").strip(), length[0] if length else ""
    return None


def unread_change(text: str) -> Change | None:
    """What a short message may want of reminders in words that nothing here reads: one off, or later."""
    folded = fold(text)
    if len(text) > ANSWER_CHARS or "?" in folded or ASKS_ZH.search(folded):
        return None
    parts = [part for part in clauses_of(folded) if _SET.search(part)]
    if any(map(ENDED.search, parts)) and not KEPT.search(folded):
        return "off"
    return "later" if any(map(hinted, parts)) else None


def _plain(folded: str, parts: TimeParts) -> bool:
    """Whether a text is nothing but a time, and courtesy."""
    left = _FILL_ANSWER.sub("", without_times(folded, parts).replace(TAKEN, " "))
    return not left.strip()
