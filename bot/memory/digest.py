"""What a closed session leaves: the rule that digests it without a model, and the excerpt a model is shown.

It calls no model and stores nothing.
"""

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, tzinfo

from bot.memory import statements as s
from bot.memory.telling import ADDRESSED, SENTENCE, Statement, clauses_of, one_row, statements_in
from bot.memory.understand import understand
from bot.text.clean import clean, clean_name
from bot.text.clip import ELLIPSIS, clip
from bot.text.echo import echoes
from bot.text.fold import fold
from bot.text.happened import event_moment
from bot.text.script import Script, script_of
from bot.text.tokens import STOP, index_terms
from bot.types.digest import Digest
from bot.types.event import ChatKind
from bot.types.memory import MemoryKind, NewMemory, Visibility

SUMMARY_CHARS = 40
"""Longest summary (C35: 40 字)."""
MEMORIES = 8
"""Most memories of one digest."""
EXCERPT_LINES, LINE_CHARS, EXCERPT_CHARS = 48, 100, 3_200
"""What a model is shown (SEED_SYSTEMS 1.7)."""
FEW_LINES, FEW_CHARS, SHORT_CHARS, SHORT_SHARE, REPEAT_SHARE = 4, 240, 8, 0.7, 0.4
"""Talk that is not worth a model call (SEED_SYSTEMS 1.7)."""

_MESSAGE_CHARS = 4_000
"""How much of one message the rule reads."""
_NAME_CHARS, _ITEM_CHARS, _ITEMS, _TELLING = 8, 32, 4, 3
"""In the summary: a name, what one line may take of it, how many lines, how many telling words make one."""
_RANK: dict[MemoryKind, int] = {"identity": 0, "knowledge": 1, "event": 2, "emotion": 3, "experience": 4}
_COMMAND = re.compile(r"\s*[./!\\。][^\s./!。]")


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of a session's talk; `number` counts from 1, `at` is ms since 1970 UTC.

    `marks` tells what is known of pictures, voice and files sent along: what was spoken is only there. What is
    `forwarded` is somebody else's.
    """

    number: int
    event_id: int
    person_id: int | None
    name: str
    text: str
    at: int
    is_bot: bool
    marks: str = ""
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose session it was; `owner_id` is the person of a DM, `tz` the zone in which the days they name are meant."""

    chat_id: int
    kind: ChatKind
    bot_name: str
    owner_id: int | None
    tz: tzinfo = UTC


Told = tuple[tuple[DigestLine, str], ...]
"""Lines, each with some of its words."""


def rule_digest(lines: tuple[DigestLine, ...], scope: Scope) -> Digest:
    """The digest without a model: the same for the same lines; only what people plainly said, never the bot's words."""
    told = tuple((line, own_words(line, scope.bot_name)) for line in lines if not line.is_bot)
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
    return Digest(_summary(told, gone, events), tuple(kept), "rule")


def needs_model(lines: tuple[DigestLine, ...]) -> bool:
    """Whether the talk is worth a model call: not when it is short, or mostly tiny or repeated lines."""
    said = [fold(line.text or line.marks).strip() for line in lines if not line.is_bot]
    if not said or (len(said) <= FEW_LINES and sum(map(len, said)) <= FEW_CHARS):
        return False
    short = sum(len(text) <= SHORT_CHARS for text in said)
    repeats = len(said) - len(set(said))
    return short < SHORT_SHARE * len(said) and repeats < REPEAT_SHARE * len(said)


def excerpt(
    lines: tuple[DigestLine, ...], rows: int = EXCERPT_LINES, chars: int = LINE_CHARS, most: int = EXCERPT_CHARS
) -> str:
    """The newest lines as `1. name: text`, one row each, at most `most` characters; no text can close or forge a tag.

    The bot's own lines are there for context, marked `name (bot)`.
    """
    shown: list[str] = []
    left = most
    for line in reversed(lines[-rows:]):
        name = clean_name(line.name) + (" (bot)" if line.is_bot else "")
        said = clip(one_row(f"{line.text} {line.marks}".strip()), chars)
        row = f"{line.number}. {_escape(name)}: {_escape(said)}"
        left -= len(row) + 1
        if left < 0:
            break
        shown.append(row)
    return "\n".join(reversed(shown))


def own_words(line: DigestLine, bot_name: str) -> str:
    """What a line says beside commands and the name it calls; "" for a line that is a command."""
    text = clean(line.text[:_MESSAGE_CHARS])
    if _COMMAND.match(text):
        return ""
    rest = understand(text, (bot_name,)).rest
    called = re.match(rf"\s*@?{re.escape(bot_name)}[\s,，:：!！。~～]*", rest, re.IGNORECASE) if bot_name else None
    return rest[called.end() :] if called else rest


def new_memory(statement: Statement, cited: tuple[DigestLine, ...], scope: Scope) -> NewMemory | None:
    """The statement as a memory of the one person who said it; None when nobody or more than one did."""
    speakers = {line.person_id for line in cited}
    owner = next(iter(speakers)) if len(speakers) == 1 else None
    if owner is None or any(line.is_bot for line in cited):
        return None
    visibility: Visibility = "private" if scope.kind == "dm" else "chat"
    events = tuple(dict.fromkeys(line.event_id for line in cited))
    at = event_moment(statement.text, cited[0].at, scope.tz)
    return NewMemory(
        owner, scope.chat_id, visibility, statement.kind, statement.text, at, "digest", events,
        emotion=statement.emotion, emotion_value=statement.value,
    )  # fmt: skip


def forgets(lines: tuple[DigestLine, ...]) -> Told:
    """The lines that ask to forget something, with what."""
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (line, command.content)
        for line in people
        for command in understand(clean(line.text[:_MESSAGE_CHARS])).commands
        if command.verb == "forget" and command.content
    )


def was_forgotten(text: str, line: DigestLine, wanted: Told) -> bool:
    """Whether the speaker of `line` asked later in the talk to forget what `text` says."""
    return any(
        asked.number > line.number and asked.person_id == line.person_id and (echoes(what, text) or echoes(text, what))
        for asked, what in wanted
    )


def _summary(told: Told, gone: Told, memorable: set[int]) -> str:
    """The most telling lines, in the order they were said, as many as fit."""
    ranked: dict[tuple[int | None, str], tuple[int, DigestLine, str]] = {}
    for line, words in told:
        item = _item(words)
        if item and not was_forgotten(item, line, gone):
            asks = bool(s.QUESTION.search(fold(words).strip())) + bool(s.RECALLING.search(fold(words)))
            cut = item.endswith(ELLIPSIS)
            score = 100 * (line.event_id in memorable) + min(_weight(item), 10) - 5 * asks - 3 * cut
            ranked.setdefault((line.person_id, fold(item)), (score, line, item))
    best = sorted(ranked.values(), key=lambda entry: (-entry[0], -entry[1].number))
    if not best:
        return ""
    script = _script(told)
    chosen: list[tuple[DigestLine, str]] = []
    for _, line, item in best:
        wider = sorted([*chosen, (line, item)], key=lambda entry: entry[0].number)
        if not chosen or (len(chosen) < _ITEMS and len(_written(wider, script)) <= SUMMARY_CHARS):
            chosen = wider
    return clip(_written(chosen, script), SUMMARY_CHARS)


def _item(words: str) -> str:
    """The sentence of a message that tells most, short, without marks, links and orders to a model; or ""."""
    items: list[str] = []
    for row in s.LINK.sub(" ", words).split("\n"):
        addressed = ADDRESSED.match(row)
        for match in SENTENCE.finditer(row, addressed.end() if addressed else 0):
            plain = one_row(re.sub(r"<[^<>]*>|[<>]", " ", match[1])).strip(" ,，、:：-")
            folded = fold(plain)
            if folded and not s.SMALL_TALK.match(folded) and not s.INSTRUCTION.search(folded):
                items.append(clip(_short(plain), _ITEM_CHARS))
    telling = (item for item in items if _weight(item) >= _TELLING)
    return next(telling, items[0] if items else "")


def _short(plain: str) -> str:
    """A sentence's first clause when that tells something by itself, else the whole of it."""
    first = clauses_of(plain)[0].strip()
    return first if _weight(first) >= _TELLING and not s.SMALL_TALK.match(fold(first)) else plain


def _weight(text: str) -> int:
    """How many telling words or pairs of characters a text has."""
    return len({term for term in index_terms(text) if len(term) > 1 and term not in STOP})


def _written(chosen: list[tuple[DigestLine, str]], script: Script) -> str:
    colon, comma = (": ", "; ") if script == "en" else ("：", "；")
    parts: list[str] = []
    speaker: int | None = None
    for line, item in chosen:
        named = not parts or line.person_id != speaker
        name = clip(one_row(re.sub("[<>]", "", clean_name(line.name))), _NAME_CHARS)
        parts.append(f"{name}{colon}{item}" if named else item)
        speaker = line.person_id
    return comma.join(parts)


def _script(told: Told) -> Script:
    """The script in which most was said."""
    counted: Counter[Script] = Counter()
    for _, words in told:
        counted[script_of(words, "zh-Hans")] += len(words)
    return counted.most_common(1)[0][0]


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
