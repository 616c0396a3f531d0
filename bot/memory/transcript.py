"""The lines of a talk as digests and notes read them, whose words they are, and the newest by their numbers. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from bot.core.events import ChatKind
from bot.core.memories import NudgeRules
from bot.language.pasted import own_part
from bot.language.statements import is_injection
from bot.language.wishes.patterns import speaks
from bot.language.wishes.reader import understand
from bot.text.catalogue import patterns_in, read_table
from bot.text.clean import clean, clean_name, escaped, one_row
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import echoes

MESSAGE_CHARS = 4_000
"""How much of one message is read."""

PLAY_LINES = 12
"""So many lines a play goes on when nobody says that it ends."""

_SAYS = patterns_in(read_table("bot.memory", "transcript"))
_UNMEANT_CHARS = 120
"""A line that hands over or takes back is short."""
_NAME_REACH = 48
"""Characters within which a name and its colon stand."""
COMMAND = re.compile(r"\s*[./!\\。][^\s./!。]")
"""How a command begins."""


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
class TalkScope:
    """Whose session it was; `owner_id` is the person of a DM, `tz` the zone in which the days they name are meant.

    In promises days are meant in the `zones` of their persons, where these set one; `nudging` is how they are reminded.
    `names` are those of the chat. Not `screened`, nothing is left out for sounding like an order to a program: who said
    it decides alone.
    """

    chat_id: int
    kind: ChatKind
    bot_name: str
    owner_id: int | None
    tz: tzinfo = UTC
    zones: Mapping[int, tzinfo] = field(default_factory=dict)
    nudging: NudgeRules | None = None
    screened: bool = True
    names: Mapping[int, str] = field(default_factory=dict)


LineWords = tuple[tuple[DigestLine, str], ...]
"""Lines, each with some of its words."""


def numbered_lines(lines: tuple[DigestLine, ...], rows: int, chars: int, most: int) -> str:
    """The newest lines as `1. name: text`, so many rows of so many characters each, and `most` in all; no text can close
    or forge a tag.

    The bot's own lines are there for context, marked `name (bot)`.
    """
    shown: list[str] = []
    left = most
    for line in reversed(lines[-rows:]):
        name = clean_name(line.name) + (" (bot)" if line.is_bot else "")
        said = clip(one_row(f"{line.text} {line.marks}".strip()), chars)
        row = f"{line.number}. {escaped(name)}: {escaped(said)}"
        left -= len(row) + 1
        if left < 0:
            break
        shown.append(row)
    return "\n".join(reversed(shown))


def words_of(lines: tuple[DigestLine, ...], bot_name: str, screened: bool = True) -> LineWords:
    """Every line of a person with their own words; none where they only play."""
    play = played(lines) | _unmeant(lines)
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (
            line,
            ""
            if line.number in play
            else own_words(line.text, (bot_name,), forwarded=line.forwarded, screened=screened),
        )
        for line in people
    )


def own_words(text: str, names: tuple[str, ...], *, forwarded: bool = False, screened: bool = True) -> str:
    """What a line says in its writer's own words, beside commands and the name it calls, which is one of `names`.

    "" for a command, for what is forwarded, and, `screened`, for a message that is made to work on a program; what
    looks pasted, and rows that somebody else said (阿明：…), are left out.
    """
    text = clean(text[:MESSAGE_CHARS])
    if forwarded or COMMAND.match(text) or (screened and is_injection(text)):
        return ""
    rest = understand(own_part(text, names), names).rest
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    called = re.match(rf"\s*@?(?:{known})[\s,，:：!！。~～]*", rest, re.IGNORECASE) if known else None
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
        if left and _SAYS["play_over"].search(folded):
            left = 0
        elif not line.is_bot and _SAYS["play"].search(folded):
            left = PLAY_LINES
        if left:
            found.add(line.number)
            left -= 1
    return frozenset(found)


def _unmeant(lines: tuple[DigestLine, ...]) -> frozenset[int]:
    """The numbers of lines that bring a text to work on, or that their speaker takes back in their next one."""
    found: set[int] = set()
    last: dict[int | None, tuple[int, str]] = {}
    for line in lines:
        if line.is_bot:
            continue
        folded = fold(line.text[:_UNMEANT_CHARS]).strip()
        number, before = last.get(line.person_id, (0, ""))
        if before and _SAYS["handed"].fullmatch(before):
            found.add(line.number)
        if number and _SAYS["taken_back"].match(folded):
            found.add(number)
        last[line.person_id] = (line.number, folded)
    return frozenset(found)


def forgets(lines: tuple[DigestLine, ...]) -> LineWords:
    """The lines that ask to forget something, with what."""
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (line, command.content)
        for line in people
        for command in understand(clean(line.text[:MESSAGE_CHARS])).commands
        if command.verb == "forget" and command.content
    )


def was_forgotten(text: str, line: DigestLine, wanted: LineWords) -> bool:
    """Whether the speaker of `line` asked later in the talk to forget what `text` says."""
    return any(
        asked.number > line.number and asked.person_id == line.person_id and (echoes(what, text) or echoes(text, what))
        for asked, what in wanted
    )
