"""What an import would do with notes: who may read them here, which lines come, under which name. It opens no file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from bot.text.frontmatter import read_front
from bot.types.carried import Carried, CarriedMemory, CarriedNote, Here, NoteItem
from bot.types.note import CURATED, FOLDER, NoteRefused

MOST_NUMBERS = 1_000
"""Names that are tried for one note."""

Resolve = Callable[[CarriedMemory], tuple[CarriedMemory, str]]
Forgotten = Callable[[str], bool]

_DATED = re.compile(rf"{FOLDER}/(\d{{4}}-\d\d-\d\d)-.+\.md")
_SPOKEN = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\d\d:\d\d [^:]{1,64}: )?(.*)", re.DOTALL)


def plan_notes(file: Carried, here: Here, resolve: Resolve, forgotten: Forgotten) -> tuple[NoteItem, ...]:
    """Each note: new, the same (all its lines stand in a note for the same readers), or refused. None is overwritten.

    `resolve` says who and where somebody is in this house.
    """
    taken = {note.path: note for note in here.carried.notes}
    names = set(here.files)
    items: list[NoteItem] = []
    for note in file.notes:
        kept = [line for line in note.text.split("\n") if not _gone(line, forgotten)]
        lost = len(kept) < note.text.count("\n") + 1
        mapped, why = _readers(file, here, note, resolve)
        if not why and not any(line.strip() and not line.lstrip().startswith("#") for line in kept):
            why = "was forgotten" if lost else "says nothing"
        if why:
            items.append(NoteItem("refused", note.path, note, why))
            continue
        at_home = bool(file.house) and file.house == here.carried.house
        mapped = replace(mapped, text="\n".join(kept), events=note.events if at_home else ())
        item = _named(mapped, lost, taken, names)
        if item.fate == "new":
            taken[item.note.path] = item.note
            names.add(item.note.path)
        items.append(item)
    return tuple(items)


def _gone(line: str, forgotten: Forgotten) -> bool:
    """Whether a line, or what somebody says in it, was forgotten."""
    said = _SPOKEN.fullmatch(line)
    return bool(line.strip()) and (forgotten(line) or (said is not None and bool(said[1]) and forgotten(said[1])))


def _readers(file: Carried, here: Here, note: CarriedNote, resolve: Resolve) -> tuple[CarriedNote, str]:
    """The note in this house's terms, and why nobody may have it here ("" when somebody may)."""
    if not note.chat:
        return note, _by_hand(file, here, note)
    owner = note.owners[0] if note.owners else ""
    if (note.visibility == "chat") != (not note.owners) or len(note.owners) > 1:
        return note, "its readers are not told"
    blank = CarriedMemory(0, owner, note.chat, note.visibility, "event", "", 0, 0, "digest", 0, 0, 0)
    mapped, why = resolve(blank)
    if why:
        return note, why
    if owner:
        kinds = {chat.places[0]: chat.kind for chat in (*file.chats, *here.carried.chats)}
        if kinds.get(mapped.chat) != "dm":
            return note, f"{note.chat} is no direct chat"
        if dict(here.whose).get(mapped.chat, mapped.owner) != mapped.owner:
            return note, f"{note.chat} is somebody else's direct chat here"
    return replace(note, owners=(mapped.owner,) if owner else (), chat=mapped.chat), ""


def _by_hand(file: Carried, here: Here, note: CarriedNote) -> str:
    """A note kept by hand is for all owners: so each of them must have been one where it comes from."""
    try:
        if note.path != CURATED and read_front(note.text.split("\n"))[0] is not None:
            return "it names its readers itself"
    except NoteRefused:
        return "it names its readers itself"
    theirs = set(note.owners)
    for person in file.people:
        if not theirs.isdisjoint(person.accounts):
            theirs.update(person.accounts)
    if not here.owners or any(theirs.isdisjoint(group) for group in here.owners):
        return f"it is for {', '.join(note.owners) or 'nobody'}, not for every owner of this house"
    return ""


def _named(note: CarriedNote, lost: bool, taken: dict[str, CarriedNote], names: set[str]) -> NoteItem:
    """The note under the first name that is free, unless one for the same readers says all of it already.

    The name of a note that lost a line may tell what was in that: it becomes a plain one.
    """
    plain = _DATED.fullmatch(note.path) if lost and note.chat else None
    if plain is not None and _same(note, taken.get(note.path)):
        return NoteItem("same", note.path, note)
    for name in _names(note.path, plain[1] if plain is not None else ""):
        if _same(note, taken.get(name)):
            return NoteItem("same", note.path, note)
        if name not in names:
            return NoteItem("new", note.path, replace(note, path=name))
    return NoteItem("refused", note.path, note, "there are too many notes of that name")


def _names(path: str, day: str) -> Iterator[str]:
    if day:
        yield from (f"{FOLDER}/{day}-talk-{number}.md" for number in range(1, MOST_NUMBERS))
        return
    yield path
    if path == CURATED:
        yield (path := f"{FOLDER}/{CURATED}")
    yield from (f"{path.removesuffix('.md')}-{number}.md" for number in range(2, MOST_NUMBERS))


def _same(note: CarriedNote, other: CarriedNote | None) -> bool:
    """Whether a note has the same readers and, in their order, all lines of this one."""
    if other is None or other.chat != note.chat or (note.chat and other.owners != note.owners):
        return False
    if other.visibility != note.visibility:
        return False
    left = iter(line for line in other.text.split("\n") if line.strip())
    return all(line in left for line in note.text.split("\n") if line.strip())
