"""What a closed session leaves when no model digests it: the rule. It calls no model and stores nothing.

Whole sentences of people's own, and only what they plainly say: what it cannot be sure of it leaves out.
"""

import re
from collections import Counter
from collections.abc import Container
from dataclasses import replace
from datetime import tzinfo

from bot.memory.forging import LINK, forged
from bot.memory.minutes import DigestLine, Scope, Told, forgets, was_forgotten, words_of
from bot.memory.overtaken import joined, overtaken
from bot.memory.plain import QUESTION, Statement, idle, outcomes_in, statements_in, tasks_in, wants_reminding
from bot.memory.understand import understand
from bot.text.alike import meant
from bot.text.clauses import SENTENCE, clauses_of, one_row
from bot.text.clean import clean_name
from bot.text.clip import clip
from bot.text.dated import due_in, nudged, when_in
from bot.text.estimate import estimate_tokens
from bot.text.fold import fold
from bot.text.script import Script, script_of
from bot.text.tokens import weight_of
from bot.types.commitment import Commitment, NewCommitment, Settled
from bot.types.digest import Digest
from bot.types.memory import Dated, MemoryKind, NewMemory, Visibility

MEMORIES, COMMITMENTS = 8, 8
"""Most memories and most promises of one digest."""

SUMMARY_TOKENS = 60
"""Longest summary."""

_RANK: dict[MemoryKind, int] = {
    "identity": 0, "anniversary": 0, "knowledge": 1, "event": 2, "emotion": 3, "experience": 4,
}  # fmt: skip
_NAME_CHARS, _TELLING, _MOST_WEIGHT = 8, 3, 10
"""In the summary: a name, how many telling words make a sentence worth it, and how many of them count."""

_QUOTED = re.compile('["“”„«»「」『』《》`]')
_SET_APART = re.compile(r"\s*[>#|]")
"""A row of somebody else's words."""


def rule_digest(
    lines: tuple[DigestLine, ...], scope: Scope, around: tuple[DigestLine, ...] = (), open_: tuple[Commitment, ...] = ()
) -> Digest:  # fmt: skip
    """The digest without a model: the same for the same lines; only what people plainly said, never the bot's words.

    `around` are the lines of that chat before and after these and these: what a later one overtook is not told, and of
    the tasks that are `open_` it is settled.
    """
    heard = words_of(around or lines, scope.bot_name, scope.screened)
    past, here = overtaken(heard, scope), {line.event_id for line in lines}
    told = past.without(words_of(lines, scope.bot_name, scope.screened))
    gone = forgets(lines)
    tasks = _tasks(told, gone, scope, past.corrected)
    due = {(task.owner_id, fold(task.text)) for task in tasks}
    found: dict[tuple[int | None, str], NewMemory] = {}
    for line, words in told:
        behind = past.corrected.get(line.event_id)
        for statement in statements_in(words, alone=scope.kind == "dm"):
            memory = new_memory(statement, (line,), scope)
            if memory is not None and memory.dated and behind is not None:
                memory = _mended(memory, behind, scope)
            key = (line.person_id, fold(statement.text))
            if memory and not was_forgotten(statement.text, line, gone) and not (memory.kind == "event" and key in due):
                found.setdefault(key, memory)
        if line.event_id in past.moved and not any(line.event_id in one.event_ids for one in found.values()):
            memory = new_memory(Statement("event", past.moved[line.event_id]), (line,), scope)
            if memory is not None and memory.dated and not was_forgotten(memory.text, line, gone):
                found[(line.person_id, fold(memory.text))] = memory
    kept = sorted(found.values(), key=lambda memory: (_RANK[memory.kind], -memory.observed_at))[:MEMORIES]
    kept.sort(key=lambda memory: memory.event_ids)
    events = {event for memory in kept for event in memory.event_ids}
    events |= {event for task in tasks for event in task.event_ids}
    plans = {one for event, texts in past.sentences.items() if event < min(here, default=0) for one in texts}
    over = tuple(Settled(task.id, "failed") for task in open_ if any(fold(task.text) in one for one in plans))
    mended = tuple(
        (line, joined(words, past.corrected[line.event_id].text) if line.event_id in past.corrected else words)
        for line, words in told
        if not _asked(words)
    )
    return Digest(
        rule_summary(mended, gone, events), tuple(kept), "rule", tasks, over,
        overtook=tuple(sorted(set(past.sentences) - here)),
    )  # fmt: skip


def _asked(words: str) -> bool:
    """Whether a line asks to keep something: its memory tells that, as long as it holds."""
    return any(each.verb == "remember" for each in understand(words).commands)


def _mended(memory: NewMemory, behind: DigestLine, scope: Scope) -> NewMemory:
    """A memory whose day or hour its speaker corrected in the next line: both lines, and the day of the second."""
    when = when_in(behind.text, behind.at, scope.zones.get(memory.owner_id or 0, scope.tz))
    text, events = joined(memory.text, behind.text), (*memory.event_ids, behind.event_id)
    if when is None:  # only the hour is another one
        return replace(memory, text=text, event_ids=events, dated="day" if memory.dated == "time" else memory.dated)
    return replace(memory, text=text, event_ids=events, observed_at=when.at, dated=when.precision)


def new_memory(
    statement: Statement, cited: tuple[DigestLine, ...], scope: Scope, happened: str = ""
) -> NewMemory | None:  # fmt: skip
    """The statement as a memory of the one person who said it; None when nobody or more than one did.

    `happened` is what tells its day; else the statement itself does.
    """
    owner = speaker(cited)
    if owner is None:
        return None
    events = tuple(dict.fromkeys(line.event_id for line in cited))
    said = cited[0].at
    at, dated = day_of(happened or statement.text, said, scope.zones.get(owner, scope.tz))
    if statement.kind == "emotion":
        at, dated = said, ""  # somebody feels so when they say it, whatever it is about
    return NewMemory(
        owner, scope.chat_id, _seen(scope), statement.kind, statement.text, at, "digest", events, slot=statement.slot,
        emotion=statement.emotion, emotion_value=statement.value, subject=statement.subject, lasting=statement.lasting,
        said_at=said, dated=dated,
    )  # fmt: skip


def new_commitment(text: str, cited: tuple[DigestLine, ...], scope: Scope, day: str = "") -> NewCommitment | None:
    """The promise or task as one of the person who said it; None when nobody or more than one did.

    `day` names the day it is due where the text names none.
    """
    owner = speaker(cited)
    if owner is None:
        return None
    events = tuple(dict.fromkeys(line.event_id for line in cited))
    at = cited[0].at
    tz = scope.zones.get(owner, scope.tz)
    due = due_in(text, at, tz) or (due_in(day, at, tz) if day else None)
    nudge = nudged(due, scope.nudging, tz)
    return NewCommitment(
        owner, scope.chat_id, _seen(scope), text, at, "digest", events, due.at if due else None, nudge
    )  # fmt: skip


def day_of(text: str, at: int, tz: tzinfo) -> tuple[int, Dated]:
    """When what a text tells happened or will happen, ms, and how exactly it names that; else `at`, and ""."""
    when = when_in(text, at, tz)
    return (at, "") if when is None else (when.at, when.precision)


def speaker(cited: tuple[DigestLine, ...]) -> int | None:
    """Who said all of these lines; None for the bot, for nobody known, and for several people."""
    speakers = {line.person_id for line in cited}
    if len(speakers) != 1 or any(line.is_bot for line in cited):
        return None
    return next(iter(speakers))


def _seen(scope: Scope) -> Visibility:
    return "private" if scope.kind == "dm" else "chat"


def _tasks(told: Told, gone: Told, scope: Scope, corrected: Container[int]) -> tuple[NewCommitment, ...]:
    """What people said they have still to do and did not do before the talk ended, the newest of it."""
    found: dict[tuple[int, str], NewCommitment] = {}
    for line, words in told:
        for outcome in outcomes_in(words):
            mine = [key for key in found if key[0] == line.person_id]
            ended = meant(outcome.about, enumerate(key[1] for key in mine)) if outcome.about else len(mine) - 1
            if ended is not None and mine:
                del found[mine[ended]]
        for text in () if line.event_id in corrected else tasks_in(words):
            task = new_commitment(text, (line,), scope)
            if task and not was_forgotten(text, line, gone):
                found.setdefault((task.owner_id, fold(text)), task)
    return tuple(found.values())[-COMMITMENTS:]


def rule_summary(told: Told, gone: Told, memorable: set[int]) -> str:
    """The most telling of people's own sentences, whole and in the order they were said, as many as fit."""
    ranked: dict[tuple[int | None, str], tuple[int, DigestLine, str]] = {}
    for line, words in told:
        sentence = _telling(words)
        if sentence and not was_forgotten(sentence, line, gone):
            asks = QUESTION.search(fold(sentence)) is not None
            score = 100 * (line.event_id in memorable) + min(weight_of(sentence), _MOST_WEIGHT) - 5 * asks
            ranked.setdefault((line.person_id, fold(sentence)), (score, line, sentence))
    said = [entry for entry in ranked.values() if not wants_reminding(entry[2])] or list(ranked.values())
    best = sorted(said, key=lambda entry: (-entry[0], -entry[1].number))
    script = _script(told)
    chosen: list[tuple[DigestLine, str]] = []
    for _, line, sentence in best:
        wider = sorted([*chosen, (line, sentence)], key=lambda entry: entry[0].number)
        if estimate_tokens(_written(wider, script)) <= SUMMARY_TOKENS:
            chosen = wider
    if not chosen and best:
        chosen = [(best[0][1], _fitting(best[0][1], best[0][2], script))]
    return _written(chosen, script) if chosen else ""


def _telling(words: str) -> str:
    """The sentence of a message that tells most, without marks, links and orders to a model; or ""."""
    items: list[str] = []
    for row in LINK.sub(" ", words).split("\n"):
        if _SET_APART.match(row):
            continue
        for match in SENTENCE.finditer(row):
            plain = one_row(re.sub(r"<[^<>]*>|[<>]", " ", match[1])).strip(" ,，、:：-")
            folded = fold(plain)
            asked = "?" if "?" in fold(match[2]) else ""
            if folded and not idle(folded) and not _QUOTED.search(plain):
                items.append(plain + ("？" if asked and not plain.isascii() else asked))
    return max(items, key=lambda item: (min(weight_of(item), _MOST_WEIGHT) >= _TELLING, weight_of(item)), default="")


def _fitting(line: DigestLine, sentence: str, script: Script) -> str:
    """The first clauses of a sentence that is too long alone, or its beginning."""
    cut = ""
    for clause in clauses_of(sentence):
        if estimate_tokens(_written([(line, cut + clause + "…")], script)) > SUMMARY_TOKENS:
            break
        cut += clause
    most = len(sentence)
    while not cut and most > 1 and estimate_tokens(_written([(line, clip(sentence, most))], script)) > SUMMARY_TOKENS:
        most = most * 3 // 4
    return f"{cut.rstrip(' ,，')}…" if cut else clip(sentence, most)


def _written(chosen: list[tuple[DigestLine, str]], script: Script) -> str:
    colon, comma = (": ", "; ") if script == "en" else ("：", "；")
    parts: list[str] = []
    speaking: int | None = None
    for line, item in chosen:
        named = not parts or line.person_id != speaking
        name = clip(one_row(re.sub("[<>]", "", clean_name(line.name))), _NAME_CHARS)
        start = f"{name}{colon}"
        parts.append(f"{start}{item}" if named and not forged(f"{line.name}\n{start}") else item)
        speaking = line.person_id
    return comma.join(parts)


def _script(told: Told) -> Script:
    """The script in which most was said."""
    counted: Counter[Script] = Counter({"zh-Hans": 0})
    for _, words in told:
        counted[script_of(words, "zh-Hans")] += len(words)
    return counted.most_common(1)[0][0]
