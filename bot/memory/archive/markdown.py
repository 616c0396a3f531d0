"""An export as Markdown, for reading only: an import takes JSON Lines."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import get_args

from bot.core.archive import ExportContents, ExportedChat, ExportedMemory, ExportedNote, ExportedSummary
from bot.core.memories import MemoryKind
from bot.memory.archive.records import time_text
from bot.text.clean import clean_line

TITLE = "# nuan memories"
STRUCK = "~~"
"""Around what was so before and is no more."""

HELP = """
For reading only: `nuan memory import` takes memories.jsonl. Each line is one memory: its number, the day it is of
(UTC) and its text; what is ~~struck through~~ was so before.
"""

_ORDER: dict[str, int] = {kind: number for number, kind in enumerate(get_args(MemoryKind))}


def is_export(text: str) -> bool:
    """Whether a Markdown file was written by an export of ours, of this version or an earlier one."""
    return text.removeprefix("\ufeff").lstrip().startswith(TITLE)


def write_markdown(carried: ExportContents) -> Iterator[str]:
    """The file in pieces: memories by person, or by chat without one, then by kind; conversations; notes."""
    people = {person.accounts[0]: person for person in carried.people}
    chats = {chat.places[0]: chat for chat in carried.chats}
    yield f"{TITLE}\n{HELP}"
    ordered = sorted(carried.memories, key=_sort_key)
    for (owner, chat), memories in groupby(ordered, key=lambda memory: _sort_key(memory)[:2]):
        if owner:
            yield _heading("##", people[owner].name, people[owner].accounts)
        else:
            yield _heading("##", chats[chat].title, chats[chat].places)
        yield from _memories(memories)
    yield from _summaries(carried.summaries, chats)
    yield from _notes(carried.notes)


def _sort_key(memory: ExportedMemory) -> tuple[str, str, int, int]:
    """Where a memory stands: by owner, or by chat when it has none, then by kind and number."""
    return memory.owner, "" if memory.owner else memory.chat, _ORDER[memory.kind], memory.id


def _heading(level: str, name: str, ids: tuple[str, ...]) -> str:
    return f"\n{level} {_visible(name) or '?'} ({', '.join(ids)})\n"


def _visible(text: str) -> str:
    """A text on one line, of which nothing reads as a comment or a tag."""
    return clean_line(text).replace("<", "\\<")


def _memories(memories: Iterable[ExportedMemory]) -> Iterator[str]:
    for kind, found in groupby(memories, key=lambda memory: memory.kind):
        yield f"\n### {kind}\n\n"
        for memory in found:
            former = STRUCK if dict(memory.more).get("former_at") else ""
            yield _bullet(memory.id, memory.observed_at, f"{former}{_visible(memory.text)}{former}")


def _bullet(number: int, at: int, text: str) -> str:
    return f"- #{number} {time_text(at)[:10]} {text}\n"


def _summaries(summaries: tuple[ExportedSummary, ...], chats: dict[str, ExportedChat]) -> Iterator[str]:
    if summaries:
        yield "\n## Conversations\n"
    for chat, found in groupby(sorted(summaries, key=lambda each: (each.chat, each.id)), key=lambda each: each.chat):
        yield _heading("###", chats[chat].title, chats[chat].places) + "\n"
        for each in found:
            yield _bullet(each.id, each.ended_at, _visible(each.summary))


def _notes(notes: tuple[ExportedNote, ...]) -> Iterator[str]:
    """Each note as a quotation, so that no line of it reads as one of ours."""
    if notes:
        yield "\n## Notes\n"
    for note in notes:
        yield f"\n### {_visible(note.path)}\n\n"
        yield "".join(f"> {line}\n" if line else ">\n" for line in note.text.split("\n"))
