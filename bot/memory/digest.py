"""What a closed session leaves when no model digests it: the rule. It calls no model and stores nothing."""

from bot.memory.minutes import DigestLine, Scope, Told, forgets, was_forgotten, words_of
from bot.memory.promises import promises
from bot.memory.summary import rule_summary
from bot.memory.telling import Statement, statements_in
from bot.text.dated import event_moment
from bot.text.due import due_in, nudged
from bot.text.fold import fold
from bot.types.commitment import NewCommitment
from bot.types.digest import Digest
from bot.types.memory import MemoryKind, NewMemory, Visibility

MEMORIES, COMMITMENTS = 8, 8
"""Most memories and most promises of one digest."""

_RANK: dict[MemoryKind, int] = {"identity": 0, "knowledge": 1, "event": 2, "emotion": 3, "experience": 4}


def rule_digest(lines: tuple[DigestLine, ...], scope: Scope) -> Digest:
    """The digest without a model: the same for the same lines; only what people plainly said, never the bot's words."""
    told = words_of(lines, scope.bot_name, scope.screened)
    gone = forgets(lines)
    found: dict[tuple[int | None, str], NewMemory] = {}
    for line, words in told:
        for statement in statements_in(words):
            memory = new_memory(statement, (line,), scope)
            if memory and not was_forgotten(statement.text, line, gone):
                found.setdefault((memory.owner_id, fold(statement.text)), memory)
    kept = sorted(found.values(), key=lambda memory: (_RANK[memory.kind], -memory.observed_at))[:MEMORIES]
    kept.sort(key=lambda memory: memory.event_ids)
    events = {event for memory in kept for event in memory.event_ids}
    return Digest(rule_summary(told, gone, events), tuple(kept), "rule", _commitments(told, gone, scope))


def _commitments(told: Told, gone: Told, scope: Scope) -> tuple[NewCommitment, ...]:
    """What people said they have still to do and did not do before the talk ended, the newest of it."""
    found: dict[tuple[int, str], NewCommitment] = {}
    for line, text in promises(told):
        task = new_commitment(text, (line,), scope)
        if task and not was_forgotten(text, line, gone):
            found.setdefault((task.owner_id, fold(text)), task)
    return tuple(found.values())[-COMMITMENTS:]


def new_commitment(text: str, cited: tuple[DigestLine, ...], scope: Scope, day: str = "") -> NewCommitment | None:
    """The promise or task as one of the person who said it; None when nobody or more than one did.

    `day` names the day it is due where the text names none.
    """
    owner = speaker(cited)
    if owner is None:
        return None
    visibility: Visibility = "private" if scope.kind == "dm" else "chat"
    events = tuple(dict.fromkeys(line.event_id for line in cited))
    at = cited[0].at
    tz = scope.zones.get(owner, scope.tz)
    due = due_in(text, at, tz) or (due_in(day, at, tz) if day else None)
    nudge = nudged(due, scope.nudging, tz)
    return NewCommitment(
        owner, scope.chat_id, visibility, text, at, "digest", events, due.at if due else None, nudge
    )  # fmt: skip


def speaker(cited: tuple[DigestLine, ...]) -> int | None:
    """Who said all of these lines; None for the bot, for nobody known, and for several people."""
    speakers = {line.person_id for line in cited}
    if len(speakers) != 1 or any(line.is_bot for line in cited):
        return None
    return next(iter(speakers))


def new_memory(
    statement: Statement, cited: tuple[DigestLine, ...], scope: Scope, happened: str = ""
) -> NewMemory | None:  # fmt: skip
    """The statement as a memory of the one person who said it; None when nobody or more than one did.

    `happened` is what tells its day; else the statement itself does.
    """
    owner = speaker(cited)
    if owner is None:
        return None
    visibility: Visibility = "private" if scope.kind == "dm" else "chat"
    events = tuple(dict.fromkeys(line.event_id for line in cited))
    at = event_moment(happened or statement.text, cited[0].at, scope.tz)
    return NewMemory(
        owner, scope.chat_id, visibility, statement.kind, statement.text, at, "digest", events,
        emotion=statement.emotion, emotion_value=statement.value,
    )  # fmt: skip
