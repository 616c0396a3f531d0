"""What is written into notes: the lines of a talk, a name for them, and what a model found worth keeping. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from bot.core.archive import NoteLine
from bot.language.wishes.reader import menu_command, understand
from bot.memory.screening import carried, harmless
from bot.memory.transcript import DigestLine
from bot.text.clean import clean, clean_name, one_row
from bot.text.fold import fold
from bot.text.length import clip

MESSAGES = 15
"""The newest messages of a session that `/new` writes down (M15)."""
SLUG_CHARS = 30
"""Longest slug (M15: 30)."""
READ_CHARS = 8_000
"""Characters in which a wish is looked for, as when it arrived."""
LINE_CHARS = 1_000
"""Characters of one message in a note."""
KEPT_LINES, KEPT_CHARS = 8, 200
"""Most and longest lines that a flush may keep."""

_TELLING = 4
"""Characters from which on a first message names a talk."""
_APART = re.compile(r"[^\w]+|_+")
_KEPT = re.compile(r"[-*] +(.+?) *\[([0-9]{1,6}(?: *, *[0-9]{1,6})*)\]")


def note_name(texts: Sequence[str], names: Sequence[str]) -> tuple[str, int]:
    """A name for a talk by its first telling message, without the bot's own names, and which message that is.

    Letters, figures and "-" only, at most SLUG_CHARS characters, whole words where there are any; "" when no message
    has a letter.
    """
    made = [(found, number) for number, found in enumerate(_slug(text, names) for text in texts) if found]
    return next((one for one in made if len(one[0]) >= _TELLING), made[0] if made else ("", 0))


def _slug(text: str, names: Sequence[str]) -> str:
    plain = unicodedata.normalize("NFKC", one_row(text[:LINE_CHARS])).lower()
    for name in names:
        plain = plain.removeprefix("@").removeprefix(unicodedata.normalize("NFKC", name).lower()).strip()
    words = _APART.sub("-", plain).strip("-")
    if len(words) <= SLUG_CHARS:
        return words
    head, _, cut = words[: SLUG_CHARS + 1].rpartition("-")
    whole = head and cut.isascii() and len(head) >= _TELLING
    return (head if whole else words[:SLUG_CHARS]).strip("-")


def unwished(lines: Sequence[DigestLine], names: tuple[str, ...]) -> tuple[DigestLine, ...]:
    """The newest MESSAGES lines of a talk; of a wish to remember or forget only what else its message says, if that."""
    found: list[DigestLine] = []
    for line in reversed(lines):
        if len(found) == MESSAGES:
            break
        text = line.text[:READ_CHARS]
        if line.is_bot or (
            not (wish := menu_command(text) is not None) and not (read := understand(text, names)).commands
        ):
            found.append(line)
        elif not wish and (read.rest.strip() or line.marks):
            found.append(replace(line, text=read.rest))
    return tuple(reversed(found))


def talk_lines(lines: Sequence[DigestLine], times: Sequence[str]) -> tuple[NoteLine, ...]:
    """Each message as `- 09:00 name: text`, on one line whatever it holds; `times` are their local times."""
    return tuple(
        NoteLine(f"- {time} {clean_name(line.name)}: {clip(told, LINE_CHARS)}", (line.event_id,))
        for line, time in zip(lines, times, strict=True)
        if (told := one_row(f"{line.text} {line.marks}".strip()))
    )


def kept_lines(answer: str, lines: Sequence[DigestLine]) -> tuple[NoteLine, ...]:
    """What a model keeps of a talk: its lines of the form `- text [3, 5]`; whatever else it says is left out.

    So is a line that cites none of a person, is not grounded in what it cites, or speaks to a model.
    """
    known = {line.number: line for line in lines}
    found: dict[str, NoteLine] = {}
    for row in clean(answer).splitlines():
        read = _KEPT.fullmatch(row.strip())
        cited = [known.get(int(number)) for number in read[2].split(",")] if read is not None else []
        told = [line for line in cited if line is not None]
        if read is None or len(told) < len(cited) or all(line.is_bot for line in told):
            continue
        text = clip(one_row(read[1]), KEPT_CHARS)
        if harmless(text) and carried(text, tuple(line for line in told if not line.is_bot)):
            found.setdefault(fold(text), NoteLine(f"- {text}", tuple(sorted({line.event_id for line in told}))))
    return tuple(found.values())[:KEPT_LINES]
