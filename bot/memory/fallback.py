"""What a closed session leaves when no model digests it: the rule. It calls no model and stores nothing.

Whole sentences of people's own, and only what they plainly say: what it cannot be sure of it leaves out.
"""

import re
from collections.abc import Container

from bot.memory.closings import closings
from bot.memory.correcting import joined
from bot.memory.forging import LINK, forged
from bot.memory.minutes import DigestLine, Scope, Told, forgets, was_forgotten, words_of
from bot.memory.overtaken import overtaken
from bot.memory.plain import QUESTION, Statement, idle, statements_in, tasks_in, wants_reminding
from bot.memory.wish_reader import understand
from bot.text.clauses import SENTENCE, one_row
from bot.text.clean import clean_name
from bot.text.clip import clip
from bot.text.dated import due_in, nudged, when_in
from bot.text.estimate import estimate_tokens
from bot.text.fold import fold
from bot.text.script import Script, script_of
from bot.text.tokens import weight_of
from bot.types.commitment import Commitment, NewCommitment, Settled
from bot.types.digest import Digest
from bot.types.memory import Memory, MemoryKind, NewMemory, Visibility

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
    lines: tuple[DigestLine, ...], scope: Scope, around: tuple[DigestLine, ...] = (),
    open_: tuple[Commitment, ...] = (), known: tuple[Memory, ...] = (),
) -> Digest:  # fmt: skip
    """The digest without a model: the same for the same lines; only what people plainly said, never the bot's words.

    `around` are the lines of that chat before and after these and these: what a later one overtook is not told, and of
    the tasks that are `open_` it is settled, of the plans that are `known` it is former.
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
            memory = _memory(statement, line, scope, behind)
            key = (line.person_id, fold(statement.text))
            if memory and not was_forgotten(statement.text, line, gone) and not (memory.kind == "event" and key in due):
                found.setdefault(key, memory)
        if line.event_id in past.moved and not any(line.event_id in one.event_ids for one in found.values()):
            memory = _memory(Statement("event", past.moved[line.event_id]), line, scope)
            if memory is not None and memory.dated and not was_forgotten(memory.text, line, gone):
                found[(line.person_id, fold(memory.text))] = memory
    kept = sorted(found.values(), key=lambda memory: (_RANK[memory.kind], -memory.observed_at))[:MEMORIES]
    kept.sort(key=lambda memory: memory.event_ids)
    events = {event for memory in kept for event in memory.event_ids}
    events |= {event for task in tasks for event in task.event_ids}
    plans = {one for event, texts in past.sentences.items() if event < min(here, default=0) for one in texts}
    over = tuple(Settled(task.id, "failed") for task in open_ if any(fold(task.text) in one for one in plans))
    moved = tuple(one.id for one in known if one.dated and any(fold(one.text) in each for each in plans))
    mended = tuple(
        (line, joined(words, past.corrected[line.event_id].text) if line.event_id in past.corrected else words)
        for line, words in told
        if not _asked(words)
    )
    return Digest(
        rule_summary(mended, gone, events), tuple(kept), "rule", tasks, over,
        overtook=tuple(sorted(set(past.sentences) - here)), former=moved,
    )  # fmt: skip


def _asked(words: str) -> bool:
    """Whether a line asks to keep something: its memory tells that, as long as it holds."""
    return any(each.verb == "remember" for each in understand(words).commands)


def _memory(statement: Statement, line: DigestLine, scope: Scope, behind: DigestLine | None = None) -> NewMemory | None:
    """The statement as a memory of who said the line; with their correction of its day from `behind` it, if any."""
    owner = line.person_id
    if owner is None:
        return None
    tz = scope.zones.get(owner, scope.tz)
    # One feels so when one says it.
    when = None if statement.kind == "emotion" else when_in(statement.text, line.at, tz)
    text, dated = statement.text, when.precision if when else ""
    events: tuple[int, ...] = (line.event_id,)
    if behind is not None and when is not None:
        text, events = joined(text, behind.text), (line.event_id, behind.event_id)
        other = when_in(behind.text, behind.at, tz)
        when, dated = (other, other.precision) if other else (when, "day" if dated == "time" else dated)
    return NewMemory(
        owner, scope.chat_id, _seen(scope), statement.kind, text, when.at if when else line.at, "digest", events,
        slot=statement.slot, emotion=statement.emotion, emotion_value=statement.value, subject=statement.subject,
        lasting=statement.lasting, said_at=line.at, dated=dated,
    )  # fmt: skip


def _commitment(text: str, line: DigestLine, scope: Scope) -> NewCommitment | None:
    """The task as one of who said the line."""
    owner = line.person_id
    if owner is None:
        return None
    tz = scope.zones.get(owner, scope.tz)
    due = due_in(text, line.at, tz)
    return NewCommitment(
        owner, scope.chat_id, _seen(scope), text, line.at, "digest", (line.event_id,), due.at if due else None,
        nudged(due, scope.nudging, tz),
    )  # fmt: skip


def _seen(scope: Scope) -> Visibility:
    return "private" if scope.kind == "dm" else "chat"


def _tasks(told: Told, gone: Told, scope: Scope, corrected: Container[int]) -> tuple[NewCommitment, ...]:
    """What people said they have still to do and did not do before the talk ended, the newest of it."""
    found: dict[tuple[int, str], NewCommitment] = {}
    for line, words in told:
        mine = [key for key in found if key[0] == line.person_id]
        for over in closings(words, enumerate(found[key].text for key in mine)).ended:
            del found[mine[over.number]]
        for text in () if line.event_id in corrected else tasks_in(words):
            task = _commitment(text, line, scope)
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
    script = script_of("\n".join(words for _, words in told), "zh-Hans")
    chosen: list[tuple[DigestLine, str]] = []
    for _, line, sentence in best:
        wider = sorted([*chosen, (line, sentence)], key=lambda entry: entry[0].number)
        if estimate_tokens(_written(wider, script)) <= SUMMARY_TOKENS:
            chosen = wider
    if not chosen and best:  # the beginning of one that is too long alone
        chosen, most = [best[0][1:]], SUMMARY_TOKENS * 4
        while most > 1 and estimate_tokens(_written(chosen, script)) > SUMMARY_TOKENS:
            most = most * 3 // 4
            chosen = [(best[0][1], clip(best[0][2], most))]
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
