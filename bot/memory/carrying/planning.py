"""What an import would change: each memory of a file compared with those of the house. It decides, it does nothing."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from bot.memory.carrying.notes import plan_notes
from bot.text.fold import fold
from bot.types.carried import (
    Carried,
    CarriedChat,
    CarriedMemory,
    CarriedPerson,
    CarriedSummary,
    Fate,
    Here,
    Item,
    NoteItem,
    Parsed,
    Plan,
)
from bot.types.memory import name_slot

COMPARED = (
    "text", "kind", "visibility", "chat", "section", "slot", "asked", "emotion", "emotion_value", "observed_at",
    "protected",
)  # fmt: skip
"""What a file may change of a memory. How often and when it was told and recalled is never set back."""

Key = tuple[object, ...]


class _Refs:
    """The people and chats of a file as this house knows them; names decide nothing."""

    def __init__(self, file: Carried, here: Here) -> None:
        people, places = _firsts(here.carried.people), _places(here.carried.chats)
        known = _known([person.accounts for person in file.people], people)
        self._people = {**people, **known}
        self.new_people = {
            person.accounts[0]: person
            for person in file.people
            if known[person.accounts[0]] == person.accounts[0] and people.keys().isdisjoint(person.accounts)
        }
        known = _known([chat.places for chat in file.chats], places)
        self._chats = {**places, **known}
        self.new_chats = {
            chat.places[0]: chat
            for chat in file.chats
            if known[chat.places[0]] == chat.places[0] and places.keys().isdisjoint(chat.places)
        }
        self._dms = dict(here.dms)

    def resolve(self, memory: CarriedMemory) -> tuple[CarriedMemory, str]:
        """The memory in this house's terms, and why it cannot be taken ("" when it can)."""
        owner = self._people.get(memory.owner, "") if memory.owner else ""
        if memory.owner and not owner:
            return memory, f"unknown owner {memory.owner}"
        if owner == _TWO:
            return memory, f"the accounts of {memory.owner} are two persons here: link them first"
        chat = self._chats.get(memory.chat, "") if memory.chat else self._dms.get(owner, "")
        if not chat:
            return memory, f"unknown chat {memory.chat}" if memory.chat else f"no direct chat with {owner} yet"
        if chat == _TWO:
            return memory, f"the places of {memory.chat} are two chats here"
        if memory.visibility == "private" and not owner:
            return memory, "private of nobody"
        return replace(memory, owner=owner, chat=chat), ""


_TWO = "\0two"


def _known(groups: Iterable[tuple[str, ...]], here: dict[str, str]) -> dict[str, str]:
    """First id of a group → the first id of the same here, itself when it is new, _TWO when it is two."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for ids in groups:
        hits = {here[each] for each in ids if each in here}
        twice = len(hits) > 1 or not taken.isdisjoint(ids)
        found[ids[0]] = _TWO if twice else hits.pop() if hits else ids[0]
        taken.update(ids)
    return found


def _firsts(people: Iterable[CarriedPerson]) -> dict[str, str]:
    return {account: person.accounts[0] for person in people for account in person.accounts}


def _places(chats: Iterable[CarriedChat]) -> dict[str, str]:
    return {place: chat.places[0] for chat in chats for place in chat.places}


def make_plan(parsed: Parsed, here: Here, forgotten: Callable[[str], bool]) -> Plan:
    """Compare a file with the house. `forgotten` tells whether exactly this text was forgotten and not told anew.

    In the house it came from a memory is itself by its number and the time it was made; anywhere else it is the same
    when owner, place, slot and folded text are.
    """
    file = parsed.carried
    refs = _Refs(file, here)
    at_home = bool(file.house) and file.house == here.carried.house
    by_number = {memory.id: memory for memory in here.carried.memories}
    said = {_statement(memory): memory for memory in here.carried.memories}
    slots = {_slot(memory): memory for memory in here.carried.memories if memory.slot == "address"}
    seen: set[Key] = set()
    items: list[Item] = []
    pairs = zip(file.memories, parsed.lines, strict=True)
    for memory, where in sorted(pairs, key=lambda pair: (not pair[0].id, pair[0].id)):
        mapped, why = refs.resolve(memory)
        itself = by_number.get(memory.id) if at_home and memory.id else None
        if why:
            items.append(Item("refused", where, memory, why=why))
        elif itself is not None and itself.created_at == memory.created_at:
            items.append(_compared(Item("same", where, mapped, itself), said, forgotten))
        elif forgotten(mapped.text):
            items.append(Item("refused", where, mapped, why="was forgotten"))
        elif at_home and 0 < memory.id <= here.last and (itself is None):
            items.append(Item("refused", where, mapped, why="was forgotten or replaced here since"))
        else:
            items.append(_brought(Item("new", where, _told(mapped, forgotten)), said, slots, seen))
        if items[-1].fate in ("new", "changed"):
            seen.add(_statement(items[-1].memory))
    summaries = _summaries(file, here, refs, forgotten)
    notes = plan_notes(file, here, refs.resolve, forgotten)
    return Plan(
        *_needed(refs, items, summaries, notes), tuple(items), summaries, _taken_out(file, here) if at_home else (),
        notes,
    )  # fmt: skip


def _told(memory: CarriedMemory, forgotten: Callable[[str], bool]) -> CarriedMemory:
    """A memory without what it was made of, as far as that was forgotten."""
    merges = tuple(merge for merge in memory.merges if not forgotten(merge.before) and not forgotten(merge.said))
    return replace(memory, merges=merges, original="" if forgotten(memory.original) else memory.original)


def _statement(memory: CarriedMemory) -> Key:
    """What makes two memories the same (bot/store/keeping.py)."""
    place = memory.chat if memory.visibility == "chat" else ""
    return memory.owner, memory.visibility, name_slot(memory.slot), place, fold(memory.text)


def _slot(memory: CarriedMemory) -> Key:
    return _statement(memory)[:4]


def _compared(item: Item, said: dict[Key, CarriedMemory], forgotten: Callable[[str], bool]) -> Item:
    """A memory of this house: what the file says otherwise."""
    before, memory = item.before, item.memory
    assert before is not None
    if memory.owner != before.owner:
        return replace(item, fate="refused", why=f"#{before.id} belongs to somebody else")
    if not memory.section:  # files of an earlier nuan hold none
        memory = replace(memory, section=before.section)
    changed = tuple(name for name in COMPARED if getattr(before, name) != getattr(memory, name))
    if not changed:
        return item
    other = said.get(_statement(memory))
    if "text" in changed and forgotten(memory.text):
        return replace(item, fate="refused", why="was forgotten")
    if other is not None and other.id != before.id:
        return replace(item, fate="refused", why=f"would say the same as #{other.id}")
    return replace(item, fate="changed", fields=changed)


def _brought(
    item: Item, said: dict[Key, CarriedMemory], slots: dict[Key, CarriedMemory], seen: set[Key]
) -> Item:  # fmt: skip
    """A memory from elsewhere, or a line that somebody wrote."""
    memory = item.memory
    before = said.get(_statement(memory))
    if before is not None:
        return replace(item, fate="same", before=before)
    if _statement(memory) in seen:
        return replace(item, fate="same", why="is twice in the file")
    holder = slots.get(_slot(memory)) if memory.slot == "address" else None
    if holder is not None and holder.observed_at >= memory.observed_at:
        return replace(item, fate="refused", why=f"#{holder.id} is a newer name")
    return item


def _taken_out(file: Carried, here: Here) -> tuple[CarriedMemory, ...]:
    """What the file held when it was written and holds no more, as far as it was not written to since."""
    if not file.whole:
        return ()
    left = {memory.id for memory in file.memories}
    return tuple(
        memory
        for memory in here.carried.memories
        if memory.id in file.numbers and memory.id not in left and memory.created_at <= file.exported_at
    )


def _summaries(
    file: Carried, here: Here, refs: _Refs, forgotten: Callable[[str], bool]
) -> tuple[CarriedSummary, ...]:  # fmt: skip
    """The conversations that this house does not know; one that it knows stays as it is here."""
    known = {(each.chat, each.started_at, each.ended_at) for each in here.carried.summaries}
    found: list[CarriedSummary] = []
    for each in file.summaries:
        blank = CarriedMemory(0, each.owner, each.chat, "public", "event", "", 0, 0, "digest", 0, 0, 0)
        mapped, why = refs.resolve(blank)
        if why or forgotten(each.summary) or (mapped.chat, each.started_at, each.ended_at) in known:
            continue
        known.add((mapped.chat, each.started_at, each.ended_at))
        found.append(replace(each, owner=mapped.owner, chat=mapped.chat))
    return tuple(found)


def _needed(
    refs: _Refs, items: list[Item], summaries: tuple[CarriedSummary, ...], notes: tuple[NoteItem, ...]
) -> tuple[tuple[CarriedPerson, ...], tuple[CarriedChat, ...]]:
    """The people and chats that have to be made for what is brought, and no others."""
    fates: tuple[Fate, ...] = ("new", "changed")
    brought = [(item.memory.owner, item.memory.chat) for item in items if item.fate in fates]
    brought += [(each.owner, each.chat) for each in summaries]
    brought += [("".join(each.note.owners), each.note.chat) for each in notes if each.fate == "new" and each.note.chat]
    owners, chats = {owner for owner, _ in brought}, {chat for _, chat in brought}
    return (
        tuple(person for account, person in sorted(refs.new_people.items()) if account in owners),
        tuple(chat for place, chat in sorted(refs.new_chats.items()) if place in chats),
    )
