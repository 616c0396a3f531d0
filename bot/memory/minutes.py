"""The minutes of a talk: its lines as digests and notes read them, whose words they are, and what a model is shown.

It calls no model and stores nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from bot.memory.forging import forged
from bot.memory.pasted import speaks
from bot.memory.telling import one_row
from bot.memory.understand import understand
from bot.text.clean import clean, clean_name
from bot.text.clip import clip
from bot.text.echo import echoes
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.commitment import Nudging
from bot.types.event import ChatKind

EXCERPT_LINES, LINE_CHARS, EXCERPT_CHARS = 48, 100, 3_200
"""What a model is shown (SEED_SYSTEMS 1.7)."""
FEW_LINES, FEW_CHARS, SHORT_CHARS, SHORT_SHARE, REPEAT_SHARE = 4, 240, 8, 0.7, 0.4
"""Talk that is not worth a model call (SEED_SYSTEMS 1.7)."""
MESSAGE_CHARS = 4_000
"""How much of one message is read."""

PLAY_LINES = 12
"""So many lines a play goes on when nobody says that it ends."""

_PLAY = LazyPattern(
    r"扮演|角色|假装(?:你|我|自己|咱)|(?:我们|咱们?|一起)来?演|来演|(?:玩|演)[^,。]{0,4}(?:游戏|戏|剧本)"
    r"|[编讲想来](?:一?[个段篇])[^,。]{0,4}故事|语c"
    r"|\b(?:pretend|role-?play\w*|act out|in character|once upon a time)\b"
    r"|\b(?:i['’]?ll|let me) tell (?:you )?an? (?:\w+ )?story\b|\blet['’]?s play\b"
)
_TOLD_TO_ME = LazyPattern("(?:给|跟|为|对)(?:我们?|咱们?|大家)(?:再)?[编讲想说][^,。]{0,8}故事")
"""Who asks for a story tells none."""
_PLAY_OVER = LazyPattern(
    r"演完|不演了|不玩了|玩够|说正经|说真的|认真的?说|言归正传|出戏|(?:结束|停止)(?:表演|扮演|游戏|故事)"
    r"|\b(?:stop (?:playing|pretending|it)|out of character|ooc|seriously|end of (?:the )?(?:scene|story|play))\b"
)
_NAME_REACH = 48
"""Characters within which a name and its colon stand."""
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
    """Whose session it was; `owner_id` is the person of a DM, `tz` the zone in which the days they name are meant.

    In promises days are meant in the `zones` of their persons, where these set one; `nudging` is how they are reminded.
    """

    chat_id: int
    kind: ChatKind
    bot_name: str
    owner_id: int | None
    tz: tzinfo = UTC
    zones: Mapping[int, tzinfo] = field(default_factory=dict)
    nudging: Nudging | None = None


Told = tuple[tuple[DigestLine, str], ...]
"""Lines, each with some of its words."""


def needs_model(lines: tuple[DigestLine, ...]) -> bool:
    """Whether the talk is worth a model call: not when it is short, or mostly tiny or repeated lines.

    Commands and what is made to work on a program count for nothing.
    """
    told = (line for line in lines if not line.is_bot and not _COMMAND.match(line.text) and not forged(line.text))
    said = [fold(line.text or line.marks).strip() for line in told]
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


def words_of(lines: tuple[DigestLine, ...], bot_name: str) -> Told:
    """Every line of a person with their own words; none where they only play."""
    play = played(lines)
    people = (line for line in lines if not line.is_bot)
    return tuple((line, "" if line.number in play else own_words(line, bot_name)) for line in people)


def own_words(line: DigestLine, bot_name: str) -> str:
    """What a line says in its speaker's own words, beside commands and the name it calls.

    "" for a command, for what is forwarded, and for a message that is made to work on a program; rows that somebody
    else said (阿明：…) are left out.
    """
    text = clean(line.text[:MESSAGE_CHARS])
    if line.forwarded or _COMMAND.match(text) or forged(text):
        return ""
    rest = understand(text, (bot_name,)).rest
    called = re.match(rf"\s*@?{re.escape(bot_name)}[\s,，:：!！。~～]*", rest, re.IGNORECASE) if bot_name else None
    rest = rest[called.end() :] if called else rest
    return "\n".join(row for row in rest.split("\n") if not _pasted(row))


def _pasted(row: str) -> bool:
    """Whether a row begins with somebody's name and a colon."""
    folded = fold(row[:_NAME_REACH])
    return speaks(folded, len(folded))


def played(lines: tuple[DigestLine, ...]) -> frozenset[int]:
    """The numbers of lines that belong to a play or a story: there nobody speaks of themselves."""
    found: set[int] = set()
    left = 0
    for line in lines:
        folded = fold(line.text[:MESSAGE_CHARS])
        if left and _PLAY_OVER.search(folded):
            left = 0
        elif not line.is_bot and _PLAY.search(folded) and not _TOLD_TO_ME.search(folded):
            left = PLAY_LINES
        if left:
            found.add(line.number)
            left -= 1
    return frozenset(found)


def forgets(lines: tuple[DigestLine, ...]) -> Told:
    """The lines that ask to forget something, with what."""
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (line, command.content)
        for line in people
        for command in understand(clean(line.text[:MESSAGE_CHARS])).commands
        if command.verb == "forget" and command.content
    )


def was_forgotten(text: str, line: DigestLine, wanted: Told) -> bool:
    """Whether the speaker of `line` asked later in the talk to forget what `text` says."""
    return any(
        asked.number > line.number and asked.person_id == line.person_id and (echoes(what, text) or echoes(text, what))
        for asked, what in wanted
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
