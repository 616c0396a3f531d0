"""Whether a statement that a model found in a talk, or made of a kept sentence, may stand: guards by rule. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from bot.core.clock import DatedMoment
from bot.language import assertions
from bot.language.assertions import VOCABULARY, Clause, folded_plain, kin, novelty, numbers, terms
from bot.language.time.dates import date_in
from bot.memory.digest.answer import DigestItem, ItemSection
from bot.memory.screening import harmless
from bot.memory.talk import GroundedItem, Refusal, TalkEvidence, TalkText, day_of, first_missing, times
from bot.memory.transcript import DigestLine, TalkScope, was_forgotten
from bot.text.clean import one_row
from bot.text.dates import local_day
from bot.text.fold import fold

TEXT_CHARS = 300
"""Longest statement; a longer answer is no clean one."""

QUESTION_CHARS = 120
"""Longest question to the person."""

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def check_item(grounds: TalkEvidence, item: DigestItem) -> GroundedItem | Refusal:
    """Whether an item stands, in whatever words, in the lines that it cites, what their speaker said before and what
    they were asked. What it means, a second look judges.
    """
    cited = tuple(grounds.by_number[number] for number in item.cited if number in grounds.by_number)
    if not cited or len(cited) < len(item.cited):
        return Refusal("lines")
    owner = grounds.owner(item, cited)
    if owner is None:
        return Refusal("owner")
    if not harmless(item.text, grounds.scope.screened):
        return Refusal("harm")
    if any(was_forgotten(item.text, line, grounds.gone) for line in cited):
        return Refusal("forgotten")
    own = tuple(line for line in cited if line.person_id == owner and line.number in grounds.own)
    task = item.section in ("tasks", "promises")
    here, at = grounds.parts(own), own[-1].at if own else 0
    if not here:
        return Refusal("words")
    if item.about.strip() and not harmless(item.about):
        return Refusal("about", item.about)
    talk = grounds.talk(owner, cited, grounds.zone(owner, task=task))
    if gone := first_missing(item, talk, here, at):
        return Refusal(gone[0], gone[1])
    when = (day_of(item, talk, at) if item.when else None) or _day(item, talk, here, at)
    themselves = folded_plain(item.about).strip() in VOCABULARY.who["speaker"] | {fold(line.name) for line in own}
    return GroundedItem(owner, own, "" if task or themselves else item.about.strip(), when)


def stands(
    text: str,
    said: Sequence[tuple[str, int]],
    scope: TalkScope,
    known: str = "",
    section: ItemSection = "statements",
    name: str = "",
) -> int | str:
    """The place of the line, of these that one person of that `name` wrote (with their time, ms), that a text rests on:
    its numbers, days, names and denials stand in them, with what is `known` already; something of it is new. Else the
    words of it that stand nowhere, "" where nothing is new. What turns the known into its contrary is of the very thing
    that the lines speak of.
    """
    person = scope.owner_id or 0
    lines = tuple(DigestLine(n, n, person, name, words, at, False) for n, (words, at) in enumerate(said, 1))
    whole = (DigestLine(0, 0, person, name, known, lines[0].at, False), *lines) if known and lines else lines
    if other := _of_another(text, "\n".join(words for words, _ in said), known, name):
        return other
    missing = ""
    new = assertions.terms(folded_plain(text)) - assertions.terms(folded_plain(known))
    for tried in (lines, whole):
        item = DigestItem(section, 1, text, tuple(line.number for line in tried))
        checked = check_item(TalkEvidence(tried, scope, {}), item) if tried else Refusal("lines")
        if isinstance(checked, Refusal):
            missing = checked.words
            continue
        carrying = [line.number for line in lines if new & assertions.terms(folded_plain(line.text))]
        if not carrying and folded_plain(text) != folded_plain(known):  # only a number or a day is another one
            fresh = numbers(folded_plain(text), all_of_them=True) - numbers(folded_plain(known), all_of_them=True)
            carrying = [
                line.number
                for line in lines
                if fresh & numbers(folded_plain(line.text), all_of_them=True)
                or (not new and times(line.text, line.at, scope.tz))
            ]
        if carrying:
            return carrying[-1] - 1
    return missing


def _of_another(text: str, said: str, known: str, name: str) -> str:
    """What a text makes the contrary of what is known where the lines speak of something else: 不养猫了 of 不养鱼了."""
    heard, person = (assertions.subject_characters(folded_plain(each)) for each in (said, name))
    fresh = heard - assertions.subject_characters(folded_plain(f"{text}\n{known}"))
    for part in assertions.parts_of(0, text) if fresh else ():
        for old in assertions.parts_of(0, known):
            same = assertions.subject_characters(part.folded) & assertions.subject_characters(old.folded)
            if part.denied != old.denied and (strange := same - heard - person - assertions.LIGHT_VERBS):
                return " ".join(sorted(strange))
    return ""


def _day(item: DigestItem, talk: TalkText, here: Iterable[Clause], at: int) -> DatedMoment | None:
    """The day that a statement's own words name, where the model names none; a month where the lines tell it as to come."""
    found = date_in(item.text, at, talk.tz) if times(item.text, at, talk.tz) else None
    there = tuple(date_in(part.folded, at, talk.tz) for part in here) if found else ()
    if found is not None and found.precision not in ("day", "time"):
        return found if found.precision == "month" and found.at > at and found in there else None
    # 搬来的: which year it was the line's words tell.
    return next(
        (
            one
            for one in there
            if one
            and found
            and one.precision == found.precision
            and one.at != found.at
            and _month_day(one, talk.tz) == _month_day(found, talk.tz)
        ),
        found,
    )


def _month_day(when: DatedMoment, tz: tzinfo) -> str:
    return local_day(when.at, tz).isoformat()[4:]


@dataclass(frozen=True, slots=True)
class RewriteVerdict:
    """ok with the statement, clarify with the question to the person, reject without either."""

    kind: Literal["ok", "reject", "clarify"]
    text: str = ""


def parse_verdict(answer: str) -> RewriteVerdict | None:
    """The verdict of an answer that is one JSON object, alone or in a code block; None for every other text."""
    found = _OBJECT.search(answer)
    try:
        said = json.loads(found[0]) if found else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    match said.get("status"), said.get("text"):
        case "reject", _:
            return RewriteVerdict("reject")
        case "ok", str() as text if 0 < len(row := one_row(text)) <= TEXT_CHARS:
            return RewriteVerdict("ok", row)
        case "clarify", str() as text if 0 < len(row := one_row(text)) <= QUESTION_CHARS:
            return RewriteVerdict("clarify", row)
        case _:
            return None


def grounded(text: str, said: Sequence[tuple[str, int]], scope: TalkScope) -> bool:
    """Whether a statement stands in what its owner said (with the time, ms), in the last line and in the first, with
    no word and nobody of its own."""
    telling, heard = terms(folded_plain(text)), folded_plain("\n".join(words for words, _ in said))
    own = not novelty(folded_plain(text), heard)[0] and kin(folded_plain(text)) <= kin(heard)
    return own and stands(text, said, scope) == len(said) - 1 and bool(telling & terms(folded_plain(said[0][0])))
