"""An export as Markdown that people read: by person and kind, one line a memory. Reading it is done in reading.py."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import groupby
from typing import get_args

from bot.memory.carrying.lines import bullet, comment, ranges
from bot.memory.carrying.values import VERSION, time_text, to_json
from bot.types.carried import Carried, CarriedChat, CarriedMemory, CarriedNote, CarriedPerson, CarriedSummary
from bot.types.memory import STABILITY_DAYS, MemoryKind

TITLE = "# nuan memories"
CONVERSATIONS = "## Conversations"
NOTES = "## Notes"
END = "<!-- end -->"
STRUCK = "~~"
"""Around what was so before and is no more."""
HELP = """
Each line is one memory: its number, the day it is of, its text, and a comment that keeps the rest. Change a text or a
day, delete a line, or add one (`- text`) under a person and a kind; then `nuan memory import` shows what would change
and asks. `\\n` is a line break, what is ~~struck through~~ was so before. Conversations are only shown, and a note
that was changed is taken in beside the one that is there. Keep the last line: it says that nothing was cut off.
"""
KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)

_ORDER = {kind: number for number, kind in enumerate(KINDS)}
_DEFAULTS = {field.name: field.default for field in fields(CarriedMemory)}


def write_markdown(carried: Carried) -> Iterator[str]:
    """The file in pieces."""
    people = {person.accounts[0]: person for person in carried.people}
    chats = {chat.places[0]: chat for chat in carried.chats}
    yield f"{TITLE}\n\n"
    yield comment({
        "nuan": "memories", "version": VERSION, "house": carried.house, "exported_at": time_text(carried.exported_at),
        "memories": len(carried.memories), "numbers": ranges(memory.id for memory in carried.memories),
        "people": [to_json(person) for person in carried.people], "chats": [to_json(chat) for chat in carried.chats],
    }) + "\n"  # fmt: skip
    yield HELP
    ordered = sorted(carried.memories, key=_place)
    for (owner, chat), memories in groupby(ordered, key=lambda memory: _place(memory)[:2]):
        if owner:
            yield _heading(people[owner].name, people[owner].accounts, {"owner": owner})
        else:
            yield _heading(chats[chat].title, chats[chat].places, {"chat": chat})
        yield from _memories(memories)
    yield from _summaries(carried.summaries, people, chats)
    yield from _notes(carried.notes)
    yield f"\n{END}\n"


def _place(memory: CarriedMemory) -> tuple[str, str, int, int]:
    """Where a memory stands: by owner, or by chat when it has none, then by kind and number."""
    return memory.owner, "" if memory.owner else memory.chat, _ORDER[memory.kind], memory.id


def _heading(name: str, ids: tuple[str, ...], refers: dict[str, object], level: int = 2) -> str:
    shown = " ".join(name.replace("<", "‹").split()) or "?"
    return f"\n{'#' * level} {shown} ({', '.join(ids)}) {comment(refers)}\n"


def _memories(memories: Iterable[CarriedMemory]) -> Iterator[str]:
    for kind, found in groupby(memories, key=lambda memory: memory.kind):
        yield f"\n### {kind}\n\n"
        for memory in found:
            text = f"{STRUCK}{memory.text}{STRUCK}" if is_former(dict(memory.more)) else memory.text
            yield bullet(memory.id, memory.observed_at, text, rest_of(memory))


def is_former(more: Mapping[str, object]) -> bool:
    """Whether something else holds in the place of a memory now."""
    return bool(more.get("former_at"))


def rest_of(memory: CarriedMemory) -> dict[str, object]:
    """What the line itself does not tell and what is not as it mostly is (`usual`)."""
    values = to_json(memory)
    told = {"id", "owner", "kind", "text", *({} if memory.owner else {"chat"})}
    usual: dict[str, object] = {
        **_DEFAULTS,
        "more": {},
        "merges": [],
        "archived_at": "",
        "stability_days": float(STABILITY_DAYS[memory.kind]),
    }
    usual |= dict.fromkeys(("observed_at", "accessed_at", "updated_at"), values["created_at"])
    return {name: value for name, value in values.items() if name not in told and usual.get(name) != value}


def _summaries(
    summaries: tuple[CarriedSummary, ...], people: dict[str, CarriedPerson], chats: dict[str, CarriedChat]
) -> Iterator[str]:  # fmt: skip
    if summaries:
        yield f"\n{CONVERSATIONS}\n"
    for chat, found in groupby(sorted(summaries, key=lambda each: (each.chat, each.id)), key=lambda each: each.chat):
        yield _heading(chats[chat].title, chats[chat].places, {"chat": chat}, 3) + "\n"
        for each in found:
            told = {"id", "chat", "summary"}
            more = {name: value for name, value in to_json(each).items() if name not in told}
            yield bullet(each.id, each.ended_at, each.summary, more)


def _notes(notes: tuple[CarriedNote, ...]) -> Iterator[str]:
    """Each note as a quotation, so that no line of it reads as one of ours."""
    if notes:
        yield f"\n{NOTES}\n"
    for note in notes:
        shown = note.path.replace("<", "‹")
        yield f"\n### {shown} {comment({name: each for name, each in to_json(note).items() if name != 'text'})}\n\n"
        yield "".join(f"> {line}\n" if line else ">\n" for line in note.text.split("\n"))
