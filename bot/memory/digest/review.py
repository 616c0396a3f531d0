"""Reviews a model's digest beside its talk: what is kept, what is refused and why, and the resulting digest. Pure."""

import re
from calendar import month_name
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo
from itertools import takewhile
from operator import itemgetter

from bot.core.clock import DAY_MS, DatedMoment, Instant
from bot.core.memories import Dated, NewCommitment, NewMemory, SettledCommitment, Visibility
from bot.core.people import MemoryKind, Script
from bot.core.sessions import ChangedReminder, Digest, DigestCounts
from bot.language.assertions import LINK, VOCABULARY, Clause, folded_plain, terms
from bot.language.sections import is_lasting, is_single_valued, slot_of
from bot.language.statements import feeling, is_injection
from bot.language.time.dates import named_times, nudge_for
from bot.language.time.moments import unspaced
from bot.memory.digest.answer import (
    SUMMARY,
    BrokenAnswer,
    DigestAnswer,
    DigestChange,
    DigestItem,
    ItemCorrection,
    check_rows,
    first_change,
    lines_around,
    read_answer,
)
from bot.memory.digest.changes import ChangedPlans, tells_an_end
from bot.memory.digest.request import NOTHING, KnownFacts, clip_tokens
from bot.memory.digest.rule import rule_digest
from bot.memory.grounding import check_item
from bot.memory.screening import MARKUP, harmless
from bot.memory.supersession import with_replaced
from bot.memory.talk import GroundedItem, Refusal, TalkEvidence
from bot.memory.transcript import DigestLine, TalkScope, forgets
from bot.text.catalogue import LazyPattern
from bot.text.clean import named_once, one_row
from bot.text.dates import local, local_day, month_start, ms_of
from bot.text.fold import fold, fold_mapped, script_of, unfold
from bot.text.length import estimate_tokens
from bot.text.similarity import echoes

SUMMARY_TOKENS, STATEMENT_TOKENS = 90, 80
"""Longest summary, half as much again as a model is asked for, and longest statement or title."""
TAG_CHARS, SLOT_WORDS = 12, 3
"""Longest word for a feeling, and most words of a slot's name."""
WEEK_DAYS = 7
LONGEST_MONTH_MS = 32 * DAY_MS
"""From the first moment of a month into the next one, whatever the clocks do."""

_OFF, _DENIED, _NO_DENIAL = (VOCABULARY.patterns[name] for name in ("failed", "denial", "no_denial"))
_CHANGED, _ONE_MORE = (VOCABULARY.patterns[name] for name in ("changed", "one_more"))
_CUT = LazyPattern(
    r"((?<!\d)[,，](?!\d)|[、;；。]|(?<=[a-z])\.(?=\s)"
    r"|(?= (?:and|but|because|while)\b| so (?:that|I|he|she|it|we|they|you|there)\b))"
)
_JOINING = LazyPattern(r" (?:and|but|because|so|while)")
_END = LazyPattern(r"[.。!！]$")
_KANA = LazyPattern("[\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3]{2}")
_PIECE = LazyPattern(r"(?:[^;；。.!?！？]|\.(?! |$))+(?:[;；。.!?！？]+\s*|$)")
_RELATIVE = LazyPattern(
    r"[今明昨后前]|下|上|这|本|周|星期|礼拜|\b(?:today|tonight|tomorrow|yesterday|next|last|this|coming)\b|day\b"
)
_LAST_OF = LazyPattern(r"\b(?:my|our|your|his|her|their|its|the) $")
"""Before "last night": the last one of several, not yesterday's."""
_ON = LazyPattern(r"\b(?:on|by|until|till|before|after|since|from|for|of)(?: the)? $")


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that does not stand, with the reason."""

    item: DigestItem
    refusal: Refusal

    @property
    def why(self) -> str:
        """The reason with the words that are meant, for whoever is to mend it."""
        return f"{self.refusal.reason} ({self.refusal.words})" if self.refusal.words else self.refusal.reason


@dataclass(frozen=True, slots=True)
class Review:
    """A digest as far as it stands, and what of the answer does not."""

    answer: DigestAnswer
    kept: tuple[tuple[DigestItem, GroundedItem], ...]
    refused: tuple[RefusedItem, ...] = ()
    mended: frozenset[int] = field(default_factory=frozenset)
    doubts: Mapping[int, str] = field(default_factory=dict)
    """What of the summary, and of what is told to have changed, stands nowhere."""
    confirmed: bool = False
    """Whether a second look saw the summary beside its whole talk, and left it or put it right."""

    def second_look(
        self, lines: tuple[DigestLine, ...], known: KnownFacts = NOTHING
    ) -> tuple[tuple[DigestLine, ...], str]:
        """What a second look is shown of it: the lines around those that it cites, and its rows."""
        shown = lines_around(self.answer, lines)
        doubts = {one.item.number: one.why for one in self.refused} | dict(self.doubts)
        return shown, check_rows(self.answer, doubts, known, whole=len(shown) == len(lines))


def review(
    answer: str, lines: tuple[DigestLine, ...], scope: TalkScope, known: KnownFacts = NOTHING
) -> Review | BrokenAnswer:
    """What of a model's answer stands; Broken when it is no digest, or none in a language of the talk."""
    found = read_answer(answer)
    if isinstance(found, BrokenAnswer):
        return found
    if not _same_language(found, lines):
        return BrokenAnswer("language")
    grounds = _grounds(lines, scope, known)
    return replace(_reviewed(found, grounds), doubts=_doubts(found, grounds, scope, known))


def checked(
    first: Review,
    wrong: Mapping[int, ItemCorrection],
    lines: tuple[DigestLine, ...],
    scope: TalkScope,
    known: KnownFacts = NOTHING,
) -> Review:
    """The review after a second look: what that called wrong is out, or as it says; the rest stands.

    What the rules refuse then is cut to its clauses that stand, else it is out.
    """
    grounds = _grounds(lines, scope, known)
    kept, left, again = list[tuple[DigestItem, GroundedItem]](), list[RefusedItem](), set[int]()
    for item in first.answer.items:
        change = wrong.get(item.number)
        if change is not None and not change.text:
            left.append(RefusedItem(item, Refusal("checked")))
            continue
        told = (
            item
            if change is None
            else replace(
                item,
                text=change.text,
                when=item.when if change.when is None else change.when,
                cited=change.cited or item.cited,
            )
        )
        judged = _judged(told, grounds)
        if told != item:
            again.add(item.number)
        if isinstance(judged, GroundedItem):
            kept.append((told, judged))
        else:
            left.append(RefusedItem(told, judged))
    for refused in [one for one in left if one.refusal.reason != "checked"]:
        short = _clipped(refused.item, grounds)
        if short is not None and not _told_again(short[0], kept):
            kept.append(short)
            left.remove(refused)
        elif _told_again(refused.item, kept):
            left.remove(refused)
    again &= {item.number for item, _ in kept}
    whole = len(lines_around(first.answer, lines)) == len(lines)
    return Review(_corrected(first.answer, wrong), tuple(kept), tuple(left), frozenset(again), confirmed=whole)


def _corrected(found: DigestAnswer, wrong: Mapping[int, ItemCorrection]) -> DigestAnswer:
    """The answer with the summary and what became of open things as a second look left them."""
    summary = wrong[SUMMARY].text if SUMMARY in wrong else found.summary
    changes = list[DigestChange]()
    for number, one in enumerate(found.changes, first_change(found)):
        right = wrong.get(number)
        if right is None:
            changes.append(one)
        elif right.text and one.state == "changed":
            changes.append(replace(one, text=right.text, when=right.when or one.when, cited=right.cited or one.cited))
    return replace(found, summary=summary, changes=tuple(changes))


def digest_of(found: Review, lines: tuple[DigestLine, ...], scope: TalkScope, known: KnownFacts = NOTHING) -> Digest:
    """The digest that a review leaves; a summary that cannot be used is the rule's."""
    grounds = _grounds(lines, scope, known)
    memories: dict[tuple[int | None, str], NewMemory] = {}
    tasks: dict[tuple[int, str], NewCommitment] = {}
    for item, grounded in found.kept:
        if item.section in ("tasks", "promises"):
            task = _task(item, grounded, scope)
            tasks.setdefault((task.owner_id, fold(task.text)), task)
        else:
            memory = _memory(item, grounded, scope, known)
            memories.setdefault((memory.owner_id, fold(memory.text)), memory)
    # Several values of a slot in one answer: it holds no single one.
    several = Counter((one.owner_id, one.subject, one.slot) for one in memories.values())
    memories = {
        key: one
        if is_single_valued(one.slot) or several[one.owner_id, one.subject, one.slot] == 1
        else replace(one, slot="")
        for key, one in memories.items()
    }
    summary = _summary(found, lines, scope, grounds) or rule_digest(lines, scope).summary
    kept = len(memories) + len(tasks)
    reasons = Counter(one.refusal.reason for one in found.refused)
    counts = DigestCounts(
        len(found.answer.items),
        kept,
        len(found.mended),
        len(found.refused),
        tuple(sorted(reasons.items())),
        found.answer.left_out,
    )
    settled, ended = _settled(found.answer.changes, known, grounds, scope)
    moved = ChangedPlans(found.answer.changes, known, grounds, scope)
    replaced = {number for memory in memories.values() for number in memory.replaces}
    done = moved.over("done")
    return Digest(
        summary,
        (*memories.values(), *moved.plans(replaced)),
        "model",
        (*tasks.values(), *moved.tasks()),
        settled,
        counts,
        reminders=(*moved.reminders(), *(ChangedReminder(number) for number in ended)),
        former=(*moved.over("off"), *done),
        done=done,
    )


def _grounds(lines: tuple[DigestLine, ...], scope: TalkScope, known: KnownFacts) -> TalkEvidence:
    facts: dict[int, tuple[tuple[str, int], ...]] = {}
    told = [
        (one.owner_id, f"{one.text} {one.subject}", one.said_at or one.created_at)
        for one in (*known.memories, *known.called)
    ]
    told += [(one.owner_id, f"{one.text} {one.toward}", one.made_at) for one in known.commitments]
    for owner, text, at in told:
        if owner is not None:
            facts[owner] = (*facts.get(owner, ()), (text, at))
    return TalkEvidence(lines, scope, facts)


def _reviewed(found: DigestAnswer, grounds: TalkEvidence) -> Review:
    kept: list[tuple[DigestItem, GroundedItem]] = []
    refused: list[RefusedItem] = []
    for item in found.items:
        judged = _judged(item, grounds)
        if isinstance(judged, Refusal):
            refused.append(RefusedItem(item, judged))
        else:
            kept.append((item, judged))
    return Review(found, tuple(kept), tuple(refused))


def _doubts(found: DigestAnswer, grounds: TalkEvidence, scope: TalkScope, known: KnownFacts) -> dict[int, str]:
    """Why the summary, and each change that would not be made, may be wrong."""
    missing = next(filter(None, map(grounds.missing, _PIECE.findall(found.summary))), None)
    doubts = {SUMMARY: f"{missing[0]} ({missing[1]})"} if missing else {}
    for number, one in enumerate(found.changes, first_change(found)):
        plan = ChangedPlans((one,), known, grounds, scope)
        if one.state == "changed" and not any((*plan.tasks(), *plan.plans(()), *plan.reminders())):
            doubts[number] = f"day ({one.when})" if one.when else "words"
    return doubts


def _judged(item: DigestItem, grounds: TalkEvidence) -> GroundedItem | Refusal:
    if estimate_tokens(item.text) > STATEMENT_TOKENS:
        return Refusal("empty", "too long")
    return check_item(grounds, item)


def _clipped(item: DigestItem, grounds: TalkEvidence) -> tuple[DigestItem, GroundedItem] | None:
    """The item with only those of its clauses that stand, the first one among them; None when that is nothing less."""
    first, *rest = _CUT.split(item.text)
    kept, seen = "", set[str]()
    for mark, piece in zip(("", *rest[::2]), (first, *rest[1::2]), strict=True):
        if not piece.strip() or piece in seen or _JOINING.fullmatch(piece):
            continue
        seen.add(piece)
        text = f"{kept}{mark}{piece}" if kept else piece
        if isinstance(_judged(replace(item, text=text.strip()), grounds), GroundedItem):
            kept = text
        elif not kept:
            return None
    text, end = kept.strip(" ,，"), _END.search(item.text)
    short = replace(item, text=text + end[0] if end and not _END.search(text) else text)
    judged = _judged(short, grounds)
    return None if isinstance(judged, Refusal) or short.text == item.text else (short, judged)


def _told_again(item: DigestItem, kept: list[tuple[DigestItem, GroundedItem]]) -> bool:
    """Whether something that is kept says most of what an item says."""
    return any(one.section == item.section and echoes(one.text, item.text) for one, _ in kept)


def _same_language(found: DigestAnswer, lines: tuple[DigestLine, ...]) -> bool:
    """Whether an answer is in a language in which somebody spoke."""
    told = " ".join(item.text for item in found.items)
    if not told:
        return True
    if _KANA.search(told) and not any(_KANA.search(line.text) for line in lines):
        return False
    english = script_of(told, "zh-Hans") == "en"
    return any((script_of(line.text, "zh-Hans") == "en") == english for line in lines if line.text.strip())


def _memory(item: DigestItem, grounded: GroundedItem, scope: TalkScope, known: KnownFacts) -> NewMemory:
    owner, cited, when = grounded.owner, grounded.cited, grounded.when
    said_at = cited[-1].at
    visibility: Visibility = "private" if scope.kind == "dm" else "chat"
    mood = item.section == "moods"
    kind: MemoryKind = "emotion" if mood else "anniversary" if when is not None and when.yearly else item.kind
    text = _plainly(item, cited, scope.tz)
    tag = one_row(item.tag)[:TAG_CHARS] if mood and harmless(item.tag, scope.screened) else ""
    # What passes holds no slot: an interview is no job, but a new job that begins on a day is one, and so is a move.
    new = item.slot.removeprefix("new ").removeprefix("新")
    moved = kind == "event" and (when is None or when.at <= said_at) and _CHANGED.search(folded_plain(item.text))
    begins = is_single_valued(slot_of(new)) and (new != item.slot or bool(moved))
    passes = mood or (kind == "event" and not item.lasting and not begins)
    # What is so of health, home, relations and the like lasts whatever the model says, but not what is yet to happen.
    ahead = kind == "event" and when is not None and when.at > said_at
    lasting = not mood and (item.lasting or (is_lasting(item.slot) and not ahead))
    item = replace(item, slot=slot_of(new)) if begins else item
    held = _is_slot(item.slot, scope.screened) and not passes
    slot = item.slot if held and (is_single_valued(item.slot) or not _ONE_MORE.search(folded_plain(text))) else ""
    dated: Dated = when.precision if when is not None and not mood else ""
    memory = NewMemory(
        owner,
        scope.chat_id,
        visibility,
        kind,
        text,
        said_at if mood else _observed(when, said_at),
        "digest",
        tuple(dict.fromkeys(line.event_id for line in cited)),
        slot,
        emotion=tag,
        emotion_value=feeling(tag, text) if mood else 0.0,
        subject=grounded.subject,
        lasting=lasting,
        said_at=said_at,
        dated=dated,
    )
    return with_replaced(memory, item.replaces, cited, known.memories)


def _plainly(item: DigestItem, cited: tuple[DigestLine, ...], tz: tzinfo) -> str:
    """Its words on one row, with days as dates and without a label of whose they are."""
    return named_once(cited[-1].name, one_row(undated(item.text, cited[-1].at, tz)))[1]


def _observed(when: DatedMoment | None, said_at: int) -> int:
    """When it happens or happened: of a day its noon, so that no zone makes another day of it."""
    if when is None:
        return said_at
    return when.at if when.precision == "time" else when.at + DAY_MS // 2


def _is_slot(slot: str, screened: bool) -> bool:
    return (
        bool(slot)
        and harmless(slot, screened)
        and slot not in ("address", "no_address", "name")
        and (len(slot.split()) <= SLOT_WORDS)
    )


def _task(item: DigestItem, grounded: GroundedItem, scope: TalkScope) -> NewCommitment:
    cited, when = grounded.cited, grounded.when
    tz = scope.zones.get(grounded.owner, scope.tz)
    said_at = cited[-1].at
    due: Instant | None = None
    if when is not None and when.precision != "year":
        end = _due_end(when, cited, tz)
        due = Instant(end, when.precision == "time") if end > said_at else None
    # Of a month no day is the one to be reminded on.
    reminded = None if when is not None and when.precision == "month" else due
    nudge = nudge_for(reminded, said_at, scope.nudging, tz, [(line.text, line.at) for line in cited])
    visibility: Visibility = "private" if scope.kind == "dm" else "chat"
    toward = item.toward if harmless(item.toward, scope.screened) else ""
    return NewCommitment(
        grounded.owner,
        scope.chat_id,
        visibility,
        _plainly(item, cited, tz),
        said_at,
        "digest",
        tuple(dict.fromkeys(line.event_id for line in cited)),
        due.at if due else None,
        nudge,
        toward,
        when.precision if due and when else "",
    )


def _due_end(when: DatedMoment, cited: tuple[DigestLine, ...], tz: tzinfo) -> int:
    """The last moment, ms, at which it is not overdue."""
    match when.precision:
        case "time":
            return when.at
        case "month":
            return month_start(month_start(when.at, tz) + LONGEST_MONTH_MS, tz) - 1
        case _:
            return _day_end(_last_day(when.at, cited, tz), tz)


def _last_day(at: int, cited: tuple[DigestLine, ...], tz: tzinfo) -> int:
    """The day by which it is due, ms: where the lines name a weekend or a week with that day in it, its last one."""
    day = local_day(at, tz)
    spans = [
        days
        for line in cited
        for one in named_times(unspaced(fold(line.text)), local_day(line.at, tz))
        for days in one.choices
        if days.first <= day <= days.last
    ]
    if not spans or any(days.first == days.last for days in spans):
        return at
    last = min(days.last for days in spans)
    return at + (last - day).days * DAY_MS if (last - day).days < WEEK_DAYS else at


def _day_end(at: int, tz: tzinfo) -> int:
    """The last millisecond of the local day."""
    after = (local(at, tz) + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return ms_of(after) - 1


def _settled(
    changes: tuple[DigestChange, ...], known: KnownFacts, grounds: TalkEvidence, scope: TalkScope
) -> tuple[tuple[SettledCommitment, ...], tuple[int, ...]]:
    """The open tasks that the model names as over, by lines in which their owner denies nothing of it; and
    the reminders that are called off so. Whom it is for, may say that it is off.

    Whoever says later in the talk that it is not done after all, still has it to do.
    """
    shown: dict[tuple[str, int], tuple[int, int, str, str]] = {
        ("T", task.id): (task.owner_id, task.made_at, task.text, task.toward) for task in known.commitments
    }
    shown |= {("R", one.id): (one.person_id, one.made_at, one.text, "") for one in known.reminders}
    found, ended = dict[int, SettledCommitment](), list[int]()
    for one in changes:
        owner, made_at, text, toward = shown.get((one.mark, one.number), (0, 0, "", ""))
        cited = grounds.cited(one.cited)
        if one.state == "changed" or not owner or not cited:
            continue
        wanted = terms(folded_plain(text))
        off = one.state == "off"
        named = fold(f"{text} {toward}") if off and one.mark == "T" else ""
        own = [
            line
            for line in cited
            if line.at > made_at and (line.person_id == owner or (line.name and fold(line.name) in named))
        ]
        parts = [part for line in own for part in grounds.parts((line,)) if not _to_come(part, line.at, scope.tz)]
        later = [part for part in grounds.after(owner, own[-1].number) if wanted & part.terms] if own else []
        if off and not tells_an_end(grounds, text, cited):
            continue
        if later and _still_open(later[-1], off=off):
            continue
        told = [part for part in parts if wanted & part.terms] or parts
        if not told or _still_open(told[-1], off=off):
            continue
        if one.mark == "R":
            ended.append(one.number)
        else:
            off = off or any(_OFF.search(part.folded) for part in told)
            found[one.number] = SettledCommitment(one.number, "failed" if off else "done")
    return tuple(found.values()), tuple(ended)


def _still_open(part: Clause, *, off: bool) -> bool:
    """Whether a clause says of a task that it is not done, or perhaps, or only to be; what is off may be denied."""
    said = _OFF.sub(" ", part.folded)
    return part.hedged or (not off and (part.planned or bool(_DENIED.search(_NO_DENIAL.sub(" ", said)))))


def _to_come(part: Clause, said_at: int, tz: tzinfo) -> bool:
    """Whether a clause names a day that lies ahead, and nothing that has been done."""
    today = local_day(said_at, tz)
    days = [days for one in named_times(part.folded, today) for days in one.choices]
    return bool(days) and all(one.first > today for one in days) and not VOCABULARY.patterns["over"].search(part.folded)


def _summary(found: Review, lines: tuple[DigestLine, ...], scope: TalkScope, grounds: TalkEvidence) -> str:
    """The summary on one line without links and markup; "" when it is not of what people said.

    One that a second look left stands as it is, but for what is nobody's own; of another, and of one that is far too
    long, the end is cut.
    """
    pieces = _PIECE.findall(one_row(MARKUP.sub("", LINK.sub("", found.answer.summary))))
    if found.confirmed:
        pieces = [piece for piece in pieces if not grounds.is_borrowed(piece)]
    else:
        stands = [grounds.missing(piece) is None for piece in pieces]
        first = stands.index(True) if True in stands else len(stands)
        pieces = [piece for piece, _ in takewhile(itemgetter(1), zip(pieces[first:], stands[first:], strict=True))]
    while len(pieces) > 1 and estimate_tokens("".join(pieces)) > SUMMARY_TOKENS:
        pieces.pop()
    plain = clip_tokens("".join(pieces), SUMMARY_TOKENS).rstrip("；;，,、 ")
    if not harmless(plain, scope.screened) or is_injection(plain):
        return ""
    gone = forgets(lines)
    if any(echoes(what, plain) or echoes(plain, what) for _, what in gone):
        return ""
    return plain


def undated(text: str, said_at: int, tz: tzinfo) -> str:
    """The text with each day that is named from the day it was said (明天, next Friday) told as a date.

    What names no single day stays as it is.
    """
    folded, origin = fold_mapped(text)
    today = local_day(said_at, tz)
    script = script_of(text, "zh-Hans")
    out, cut = "", 0
    for one in named_times(folded, today):
        said = folded[one.start : one.end]
        days = next((days for days in one.choices if days.last >= today), one.choices[-1])
        if (
            one.left
            or not _RELATIVE.search(said)
            or days.first != days.last
            or re.search(r"\d{1,2}\s*[月日号/-]", said)
            or (said == "last night" and _LAST_OF.search(folded[: one.start]))
        ):
            continue
        before = unfold(text, origin, cut, one.start)
        out += before + _date(days.first.year, days.first.month, days.first.day, today.year, script, before)
        cut = one.end
        if days.hours != (0, 24):
            half = re.search("早上|上午|中午|下午|傍晚|晚上|凌晨|早|晚|夜里", said)
            out += half[0] if half else " night" if "night" in said else ""
    return out + unfold(text, origin, cut, len(folded)) if cut else text


def _date(year: int, month: int, day: int, this: int, script: Script, before: str) -> str:
    if script == "en":
        lead = "" if _ON.search(before.lower()) or not before.strip() else "on "
        return f"{lead}{month_name[month]} {day}" + (f", {year}" if year != this else "")
    return (f"{year}年" if year != this else "") + f"{month}月{day}日"
