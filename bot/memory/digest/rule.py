"""The digest of a closed session without a model, and the plans that later lines overtook. By rule. Pure."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from bot.core.clock import DAY_MS
from bot.core.memories import Commitment, Memory, NewCommitment, NewMemory, SettledCommitment, Visibility
from bot.core.people import MemoryKind, Script
from bot.core.sessions import Digest
from bot.language.feedback import AT_ONCE, AT_ONCE_MS, redates, with_correction
from bot.language.statements import (
    DATA,
    QUESTION,
    PlainStatement,
    idle,
    is_injection,
    patterns_of,
    sentences,
    statements_in,
    tasks_in,
    wants_reminding,
)
from bot.language.time.dates import date_in, due_in, nudge_for
from bot.language.wishes.forget import features_of
from bot.language.wishes.names import introduced_name, only_names
from bot.language.wishes.reader import understand
from bot.memory.promises import promise_endings
from bot.memory.transcript import MESSAGE_CHARS, DigestLine, LineWords, TalkScope, forgets, was_forgotten, words_of
from bot.text.clean import clean, clean_name, one_row
from bot.text.dates import local_day
from bot.text.fold import fold, script_of
from bot.text.length import clauses_of, clip, estimate_tokens
from bot.text.similarity import FORM_WORDS, content_words
from bot.text.terms import informative_count

DAYS = 14
"""A change is of something that was said no longer ago."""

_MOVED, _OFF, _UNSURE = (patterns_of("change", name) for name in ("moved", "off", "unsure"))
_SAME = {word: group[0] for group in DATA["change"]["same"] for word in group}
_DAYS = re.compile(r"[0-9]+|[一二三四五六七八九十]+(?=[点号月日])|上午|下午|早上|晚上|改期|时间|已经|今年")

MEMORIES, COMMITMENTS = 8, 8
"""Most memories and most promises of one digest."""

SUMMARY_TOKENS = 60
"""Longest summary."""

_RANK: dict[MemoryKind, int] = {
    "identity": 0,
    "anniversary": 0,
    "knowledge": 1,
    "event": 2,
    "emotion": 3,
    "experience": 4,
}
_NAME_CHARS, _TELLING, _MOST_WEIGHT = 8, 3, 10
"""In the summary: a name, how many telling words make a sentence worth it, and how many of them count."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A sentence of a line that names a day, today or later when it was said, and what it is about."""

    line: DigestLine
    text: str
    day: date
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Change:
    """A line that changes something: its words for that, and the days that it names; `text` says what is when now."""

    line: DigestLine
    words: frozenset[str]
    days: frozenset[date]
    text: str


@dataclass(frozen=True, slots=True)
class OvertakenPlans:
    """Sentences (folded) of lines by the number of their events, the corrections right behind a line, and what lines
    say of a new day."""

    sentences: dict[int, frozenset[str]]
    corrected: dict[int, DigestLine]
    moved: dict[int, str]

    def without(self, told: LineWords) -> LineWords:
        """The lines without these sentences; a correction stands with the line that it corrects."""
        behind = {one.event_id for one in self.corrected.values()}
        return tuple((line, "" if line.event_id in behind else self._left(line, words)) for line, words in told)

    def _left(self, line: DigestLine, words: str) -> str:
        gone = self.sentences.get(line.event_id, frozenset())
        for one in sentences(words) if gone else ():
            if one.folded in gone:
                words = words.replace(one.text, " ")
        return words


def overtaken_plans(told: LineWords, scope: TalkScope) -> OvertakenPlans:
    """What later lines of these overtook, each line with its speaker's own words."""
    plans, changes = _plans(told, scope), list[_Change]()
    corrected = _corrected(told, plans, scope)
    behind = {one.event_id for one in corrected.values()}
    changes = [
        change
        for line, words in told
        if line.event_id not in behind
        for change in _changes(line, words or _kept(line), scope)
    ]
    found: dict[int, set[str]] = {}
    moved = {change.line.event_id: change.text for change in changes if change.text}
    for change in changes:
        for plan in _meant(change, plans, scope):
            found.setdefault(plan.line.event_id, set()).add(fold(plan.text))
    return OvertakenPlans({event: frozenset(texts) for event, texts in found.items()}, corrected, moved)


def _kept(line: DigestLine) -> str:
    """What a line asks to keep (记一下，爬山改到周日): it changes plans like any line."""
    found = () if line.forwarded else understand(clean(line.text[:MESSAGE_CHARS])).commands
    return "\n".join(one.content for one in found if one.verb == "remember" and one.content)


def _plans(told: LineWords, scope: TalkScope) -> list[_Plan]:
    found: list[_Plan] = []
    for line, words in told:
        tz = scope.zones.get(line.person_id or 0, scope.tz)
        for one in sentences(words or _kept(line)):
            when = date_in(one.text, line.at, tz)
            if when is not None and local_day(when.at, tz) >= local_day(line.at, tz) and not one.asks:
                found.append(_Plan(line, one.text, local_day(when.at, tz), _matter(one.text)))
    return found


def _corrected(told: LineWords, plans: list[_Plan], scope: TalkScope) -> dict[int, DigestLine]:
    """Lines whose day or hour their speaker corrects right behind them, by event: that next line."""
    planned = {plan.line.event_id for plan in plans}
    found: dict[int, DigestLine] = {}
    for place, (line, words) in enumerate(told):
        if not redates(words):
            continue
        before = [one for one, _ in told[max(0, place - AT_ONCE) : place] if one.person_id == line.person_id]
        last = next((one for one in reversed(before) if one.event_id in planned), None)
        if last is not None and line.at - last.at <= AT_ONCE_MS:
            found[last.event_id] = line
    return found


def _changes(line: DigestLine, words: str, scope: TalkScope) -> Iterable[_Change]:
    tz = scope.zones.get(line.person_id or 0, scope.tz)
    before, named = frozenset[str](), ""
    for one in sentences(words):
        heard = frozenset[str]()
        for clause in clauses_of(one.text):
            folded = fold(clause)
            moved, off = _MOVED.search(folded), _OFF.search(folded)
            cue = moved or off
            if cue is None or one.asks or _UNSURE.search(folded):
                heard = _matter(clause) or heard
                continue
            after = "" if moved and not folded.isascii() else folded[cue.end() :]
            own = _matter(f"{folded[: cue.start()]} {after}") if not (off and not moved) else _matter(folded)
            when = date_in(clause, line.at, tz)
            days = frozenset((local_day(when.at, tz),)) if when is not None else frozenset[date]()
            text = one.text if own or heard else f"{named}，{one.text}" if before else ""
            heard = own or heard or before
            yield _Change(line, heard, days, text if moved and when is not None and when.at > line.at else "")
        before, named = heard or before, one.text


def _meant(change: _Change, plans: list[_Plan], scope: TalkScope) -> list[_Plan]:
    """The plans that a change is of: those that share most words with it; without a word those of the only day, or the
    last of the same talk."""
    line, today = change.line, local_day(change.line.at, scope.tz)
    before = [
        plan
        for plan in plans
        if (plan.line.event_id < line.event_id or (plan.line.event_id == line.event_id and plan.text not in line.text))
        and plan.line.at >= line.at - DAYS * DAY_MS
        and plan.day >= today - timedelta(days=1)
        and (plan.line.person_id == line.person_id or scope.kind == "group")
    ]
    shared = {id(plan): len(change.words & plan.words) for plan in before}
    most = max(shared.values(), default=0)
    if most:
        return [plan for plan in before if shared[id(plan)] == most]
    mine = [plan for plan in before if plan.line.person_id == line.person_id]
    if not change.words and mine:
        last, one_day = mine[-1], len({plan.day for plan in mine}) == 1
        return mine if one_day else [last] if line.at - last.line.at <= AT_ONCE_MS else []
    return []


def _matter(text: str) -> frozenset[str]:
    """What a text is about, without days, hours and words of change."""
    folded = _DAYS.sub(" ", FORM_WORDS.sub(" ", fold(text)))
    for pattern in (_MOVED, _OFF):
        folded = pattern.sub(" ", folded)
    found = {word for word in content_words(folded) if word.isascii()}
    found |= {word for word in features_of(folded) if not word.isascii()}
    return frozenset(_SAME.get(word, word) for word in found)


def rule_digest(
    lines: tuple[DigestLine, ...],
    scope: TalkScope,
    around: tuple[DigestLine, ...] = (),
    open_: tuple[Commitment, ...] = (),
    known: tuple[Memory, ...] = (),
) -> Digest:
    """The digest without a model: the same for the same lines; only what people plainly said, never the bot's words.

    `around` are the lines of that chat before and after these and these: what a later one overtook is not told, and of
    the tasks that are `open_` it is settled, of the plans that are `known` it is former.
    """
    heard = words_of(around or lines, scope.bot_name, scope.screened)
    past, here = overtaken_plans(heard, scope), {line.event_id for line in lines}
    told = past.without(words_of(lines, scope.bot_name, scope.screened))
    gone = forgets(lines)
    tasks = _tasks(told, gone, scope, past.corrected)
    due = {(task.owner_id, fold(task.text)) for task in tasks}
    found: dict[tuple[int | None, str], NewMemory] = {}
    for line, words in told:
        behind = past.corrected.get(line.event_id)
        for statement in statements_in(words, alone=scope.kind == "dm"):
            memory = _memory(statement, line, scope, behind)
            key = (line.person_id, fold(statement.text))
            if memory and not was_forgotten(statement.text, line, gone) and not (memory.kind == "event" and key in due):
                found.setdefault(key, memory)
        if line.event_id in past.moved and not any(line.event_id in one.event_ids for one in found.values()):
            memory = _memory(PlainStatement("event", past.moved[line.event_id]), line, scope)
            if memory is not None and memory.dated and not was_forgotten(memory.text, line, gone):
                found[(line.person_id, fold(memory.text))] = memory
    kept = sorted(found.values(), key=lambda memory: (_RANK[memory.kind], -memory.observed_at))[:MEMORIES]
    kept.sort(key=lambda memory: memory.event_ids)
    events = {event for memory in kept for event in memory.event_ids}
    events |= {event for task in tasks for event in task.event_ids}
    plans = {one for event, texts in past.sentences.items() if event < min(here, default=0) for one in texts}
    over = tuple(SettledCommitment(task.id, "failed") for task in open_ if any(fold(task.text) in one for one in plans))
    moved = tuple(one.id for one in known if one.dated and any(fold(one.text) in each for each in plans))
    mended = tuple(
        (line, with_correction(words, past.corrected[line.event_id].text) if line.event_id in past.corrected else words)
        for line, words in told
        if not _asked(words)
    )
    return Digest(
        rule_summary(mended, gone, events),
        tuple(kept),
        "rule",
        tasks,
        over,
        overtook=tuple(sorted(set(past.sentences) - here)),
        former=moved,
    )


def _asked(words: str) -> bool:
    """Whether a line asks to keep something: its memory tells that, as long as it holds."""
    return any(each.verb == "remember" for each in understand(words).commands)


def _memory(
    statement: PlainStatement, line: DigestLine, scope: TalkScope, behind: DigestLine | None = None
) -> NewMemory | None:
    """The statement as a memory of who said the line; with their correction of its day from `behind` it, if any."""
    owner = line.person_id
    if owner is None:
        return None
    tz = scope.zones.get(owner, scope.tz)
    # One feels so when one says it.
    when = None if statement.kind == "emotion" else date_in(statement.text, line.at, tz)
    text, dated = statement.text, when.precision if when else ""
    events: tuple[int, ...] = (line.event_id,)
    if behind is not None and when is not None:
        text, events = with_correction(text, behind.text), (line.event_id, behind.event_id)
        other = date_in(behind.text, behind.at, tz)
        when, dated = (other, other.precision) if other else (when, "day" if dated == "time" else dated)
    return NewMemory(
        owner,
        scope.chat_id,
        _seen(scope),
        statement.kind,
        text,
        when.at if when else line.at,
        "digest",
        events,
        slot=statement.slot,
        emotion=statement.emotion,
        emotion_value=statement.value,
        subject=statement.subject,
        lasting=statement.lasting,
        said_at=line.at,
        dated=dated,
    )


def _commitment(text: str, line: DigestLine, scope: TalkScope) -> NewCommitment | None:
    """The task as one of who said the line."""
    owner = line.person_id
    if owner is None:
        return None
    tz = scope.zones.get(owner, scope.tz)
    due = due_in(text, line.at, tz)
    return NewCommitment(
        owner,
        scope.chat_id,
        _seen(scope),
        text,
        line.at,
        "digest",
        (line.event_id,),
        due.at if due else None,
        nudge_for(due, line.at, scope.nudging, tz),
    )


def _seen(scope: TalkScope) -> Visibility:
    return "private" if scope.kind == "dm" else "chat"


def _tasks(told: LineWords, gone: LineWords, scope: TalkScope, corrected: Container[int]) -> tuple[NewCommitment, ...]:
    """What people said they have still to do and did not do before the talk ended, the newest of it."""
    found: dict[tuple[int, str], NewCommitment] = {}
    for line, words in told:
        mine = [key for key in found if key[0] == line.person_id]
        for over in promise_endings(words, enumerate(found[key].text for key in mine)).ended:
            del found[mine[over.number]]
        for text in () if line.event_id in corrected else tasks_in(words):
            task = _commitment(text, line, scope)
            if task and not was_forgotten(text, line, gone):
                found.setdefault((task.owner_id, fold(text)), task)
    return tuple(found.values())[-COMMITMENTS:]


def rule_summary(told: LineWords, gone: LineWords, memorable: set[int]) -> str:
    """The most telling of people's own sentences, whole and in the order they were said, as many as fit; one always."""
    ranked: dict[tuple[int | None, str], tuple[int, DigestLine, str]] = {}
    for line, words in told:
        sentence = _telling(words)
        if sentence and not was_forgotten(sentence, line, gone):
            asks = QUESTION.search(fold(sentence)) is not None
            score = 100 * (line.event_id in memorable) + min(informative_count(sentence), _MOST_WEIGHT) - 5 * asks
            ranked.setdefault((line.person_id, fold(sentence)), (score, line, sentence))
    said = [entry for entry in ranked.values() if not wants_reminding(entry[2])] or list(ranked.values())
    script = script_of("\n".join(words for _, words in told), "zh-Hans")
    chosen: list[tuple[DigestLine, str]] = []
    for _, line, sentence in sorted(said, key=lambda entry: (-entry[0], -entry[1].number)):
        wider = sorted([*chosen, (line, sentence)], key=lambda entry: entry[0].number)
        if not chosen or estimate_tokens(_written(wider, script)) <= SUMMARY_TOKENS:
            chosen = wider
    return _written(chosen, script)


def _telling(words: str) -> str:
    """The sentence of a message that tells most, without orders to a model or a mere name, which its memory tells as
    long as it holds; or ""."""
    asked = ("？" if not words.isascii() else "?", "")
    items = [
        one.text + asked["?" not in fold(one.end)]
        for one in sentences(words)
        if not idle(one.folded) and not only_names(one.text, introduced_name(one.text) or "")
    ]
    return max(
        items,
        key=lambda item: (min(informative_count(item), _MOST_WEIGHT) >= _TELLING, informative_count(item)),
        default="",
    )


def _written(chosen: list[tuple[DigestLine, str]], script: Script) -> str:
    colon, comma = (": ", "; ") if script == "en" else ("：", "；")
    parts: list[str] = []
    speaking: int | None = None
    for line, item in chosen:
        named = not parts or line.person_id != speaking
        name = clip(one_row(re.sub("[<>]", "", clean_name(line.name))), _NAME_CHARS)
        start = f"{name}{colon}"
        parts.append(f"{start}{item}" if named and not is_injection(f"{line.name}\n{start}") else item)
        speaking = line.person_id
    return comma.join(parts)
