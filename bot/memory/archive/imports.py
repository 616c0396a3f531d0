"""What an import would change, memory by memory and note by note, and how the operator is shown it; Markdown of other
agents (MEMORY.md) as memories of one person. It does nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from bot.core.archive import (
    CURATED_NOTE,
    NOTES_FOLDER,
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedNote,
    ExportedPerson,
    ExportedSummary,
    ImportBase,
    ImportFate,
    ImportItem,
    ImportNote,
    ImportPlan,
    ImportProblem,
    NoteRefused,
    ParsedExport,
)
from bot.core.memories import STABILITY_DAYS, name_slot
from bot.core.people import MemoryKind
from bot.memory.archive.records import BadValue, text_of, time_of
from bot.text.catalogue import read_table
from bot.text.files import read_front
from bot.text.fold import fold

MOST_NUMBERS = 1_000
"""Names that are tried for one note."""

Resolve = Callable[[ExportedMemory], tuple[ExportedMemory, str]]
Forgotten = Callable[[str], bool]

_DATED = re.compile(rf"{NOTES_FOLDER}/(\d{{4}}-\d\d-\d\d)-.+\.md")
_SPOKEN = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\d\d:\d\d [^:]{1,64}: )?(.*)", re.DOTALL)

COMPARED = (
    "text",
    "kind",
    "visibility",
    "chat",
    "section",
    "slot",
    "asked",
    "emotion",
    "emotion_value",
    "observed_at",
    "protected",
)
"""What a file may change of a memory. How often and when it was told and recalled is never set back."""

Key = tuple[object, ...]

_TWO = "\0two"

SHOWN = 20
"""Most lines of one kind of change; the rest is counted."""

_CHARS = 60


_HEADINGS: dict[MemoryKind, list[str]] = read_table("bot.memory.archive", "imports")["headings"]
_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_BULLET = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def plan_notes(
    file: ExportContents, here: ImportBase, resolve: Resolve, forgotten: Forgotten
) -> tuple[ImportNote, ...]:
    """Each note: new, the same (all its lines stand in a note for the same readers), or refused. None is overwritten.

    `resolve` says who and where somebody is in this installation.
    """
    taken = {note.path: note for note in here.carried.notes}
    names = set(here.files)
    items: list[ImportNote] = []
    for note in file.notes:
        kept = [line for line in note.text.split("\n") if not _gone(line, forgotten)]
        lost = len(kept) < note.text.count("\n") + 1
        mapped, why = _readers(file, here, note, resolve)
        if not why and not any(line.strip() and not line.lstrip().startswith("#") for line in kept):
            why = "was forgotten" if lost else "says nothing"
        if why:
            items.append(ImportNote("refused", note.path, note, why))
            continue
        at_home = bool(file.installation) and file.installation == here.carried.installation
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


def _readers(file: ExportContents, here: ImportBase, note: ExportedNote, resolve: Resolve) -> tuple[ExportedNote, str]:
    """The note in this installation's terms, and why nobody may have it here ("" when somebody may)."""
    if not note.chat:
        return note, _by_hand(file, here, note)
    owner = note.owners[0] if note.owners else ""
    if (note.visibility == "chat") != (not note.owners) or len(note.owners) > 1:
        return note, "its readers are not told"
    blank = ExportedMemory(0, owner, note.chat, note.visibility, "event", "", 0, 0, "digest", 0, 0, 0)
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


def _by_hand(file: ExportContents, here: ImportBase, note: ExportedNote) -> str:
    """A note kept by hand is for all owners: so each of them must have been one where it comes from."""
    try:
        if note.path != CURATED_NOTE and read_front(note.text.split("\n"))[0] is not None:
            return "it names its readers itself"
    except NoteRefused:
        return "it names its readers itself"
    theirs = set(note.owners)
    for person in file.people:
        if not theirs.isdisjoint(person.accounts):
            theirs.update(person.accounts)
    if not here.owners or any(theirs.isdisjoint(group) for group in here.owners):
        return f"it is for {', '.join(note.owners) or 'nobody'}, not for every owner of this nuan"
    return ""


def _named(note: ExportedNote, lost: bool, taken: dict[str, ExportedNote], names: set[str]) -> ImportNote:
    """The note under the first name that is free, unless one for the same readers says all of it already.

    The name of a note that lost a line may tell what was in that: it becomes a plain one.
    """
    plain = _DATED.fullmatch(note.path) if lost and note.chat else None
    if plain is not None and _same(note, taken.get(note.path)):
        return ImportNote("same", note.path, note)
    for name in _names(note.path, plain[1] if plain is not None else ""):
        if _same(note, taken.get(name)):
            return ImportNote("same", note.path, note)
        if name not in names:
            return ImportNote("new", note.path, replace(note, path=name))
    return ImportNote("refused", note.path, note, "there are too many notes of that name")


def _names(path: str, day: str) -> Iterator[str]:
    if day:
        yield from (f"{NOTES_FOLDER}/{day}-talk-{number}.md" for number in range(1, MOST_NUMBERS))
        return
    yield path
    if path == CURATED_NOTE:
        yield (path := f"{NOTES_FOLDER}/{CURATED_NOTE}")
    yield from (f"{path.removesuffix('.md')}-{number}.md" for number in range(2, MOST_NUMBERS))


def _same(note: ExportedNote, other: ExportedNote | None) -> bool:
    """Whether a note has the same readers and, in their order, all lines of this one."""
    if other is None or other.chat != note.chat or (note.chat and other.owners != note.owners):
        return False
    if other.visibility != note.visibility:
        return False
    left = iter(line for line in other.text.split("\n") if line.strip())
    return all(line in left for line in note.text.split("\n") if line.strip())


class _Refs:
    """The people and chats of a file as this installation knows them; names decide nothing."""

    def __init__(self, file: ExportContents, here: ImportBase) -> None:
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

    def resolve(self, memory: ExportedMemory) -> tuple[ExportedMemory, str]:
        """The memory in this installation's terms, and why it cannot be taken ("" when it can)."""
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


def _firsts(people: Iterable[ExportedPerson]) -> dict[str, str]:
    return {account: person.accounts[0] for person in people for account in person.accounts}


def _places(chats: Iterable[ExportedChat]) -> dict[str, str]:
    return {place: chat.places[0] for chat in chats for place in chat.places}


def make_plan(parsed: ParsedExport, here: ImportBase, forgotten: Callable[[str], bool]) -> ImportPlan:
    """Compare a file with this installation. `forgotten` tells whether exactly this text was forgotten and not told anew.

    Where it came from a memory is itself by its number and the time it was made; anywhere else it is the same
    when owner, place, slot and folded text are.
    """
    file = parsed.carried
    refs = _Refs(file, here)
    at_home = bool(file.installation) and file.installation == here.carried.installation
    by_number = {memory.id: memory for memory in here.carried.memories}
    said = {_statement(memory): memory for memory in here.carried.memories}
    slots = {_slot(memory): memory for memory in here.carried.memories if memory.slot == "address"}
    seen: set[Key] = set()
    items: list[ImportItem] = []
    pairs = zip(file.memories, parsed.lines, strict=True)
    for memory, where in sorted(pairs, key=lambda pair: (not pair[0].id, pair[0].id)):
        mapped, why = refs.resolve(memory)
        itself = by_number.get(memory.id) if at_home and memory.id else None
        if why:
            items.append(ImportItem("refused", where, memory, why=why))
        elif itself is not None and itself.created_at == memory.created_at:
            items.append(_compared(ImportItem("same", where, mapped, itself), said, forgotten))
        elif forgotten(mapped.text):
            items.append(ImportItem("refused", where, mapped, why="was forgotten"))
        elif at_home and 0 < memory.id <= here.last and (itself is None):
            items.append(ImportItem("refused", where, mapped, why="was forgotten or replaced here since"))
        else:
            items.append(_brought(ImportItem("new", where, _told(mapped, forgotten)), said, slots, seen))
        if items[-1].fate in ("new", "changed"):
            seen.add(_statement(items[-1].memory))
    summaries = _summaries(file, here, refs, forgotten)
    notes = plan_notes(file, here, refs.resolve, forgotten)
    return ImportPlan(*_needed(refs, items, summaries, notes), tuple(items), summaries, notes)


def _told(memory: ExportedMemory, forgotten: Callable[[str], bool]) -> ExportedMemory:
    """A memory without what it was made of, as far as that was forgotten."""
    merges = tuple(merge for merge in memory.merges if not forgotten(merge.before) and not forgotten(merge.said))
    return replace(memory, merges=merges, original="" if forgotten(memory.original) else memory.original)


def _statement(memory: ExportedMemory) -> Key:
    """What makes two memories the same (bot/store/memories.py)."""
    place = memory.chat if memory.visibility == "chat" else ""
    return memory.owner, memory.visibility, name_slot(memory.slot), place, fold(memory.text)


def _slot(memory: ExportedMemory) -> Key:
    return _statement(memory)[:4]


def _compared(item: ImportItem, said: dict[Key, ExportedMemory], forgotten: Callable[[str], bool]) -> ImportItem:
    """A memory of this installation: what the file says otherwise."""
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
    item: ImportItem, said: dict[Key, ExportedMemory], slots: dict[Key, ExportedMemory], seen: set[Key]
) -> ImportItem:
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


def _summaries(
    file: ExportContents, here: ImportBase, refs: _Refs, forgotten: Callable[[str], bool]
) -> tuple[ExportedSummary, ...]:
    """The conversations that this installation does not know; one that it knows stays as it is here."""
    known = {(each.chat, each.started_at, each.ended_at) for each in here.carried.summaries}
    found: list[ExportedSummary] = []
    for each in file.summaries:
        blank = ExportedMemory(0, each.owner, each.chat, "public", "event", "", 0, 0, "digest", 0, 0, 0)
        mapped, why = refs.resolve(blank)
        if why or forgotten(each.summary) or (mapped.chat, each.started_at, each.ended_at) in known:
            continue
        known.add((mapped.chat, each.started_at, each.ended_at))
        found.append(replace(each, owner=mapped.owner, chat=mapped.chat))
    return tuple(found)


def _needed(
    refs: _Refs, items: list[ImportItem], summaries: tuple[ExportedSummary, ...], notes: tuple[ImportNote, ...]
) -> tuple[tuple[ExportedPerson, ...], tuple[ExportedChat, ...]]:
    """The people and chats that have to be made for what is brought, and no others."""
    fates: tuple[ImportFate, ...] = ("new", "changed")
    brought = [(item.memory.owner, item.memory.chat) for item in items if item.fate in fates]
    brought += [(each.owner, each.chat) for each in summaries]
    brought += [("".join(each.note.owners), each.note.chat) for each in notes if each.fate == "new" and each.note.chat]
    owners, chats = {owner for owner, _ in brought}, {chat for _, chat in brought}
    return (
        tuple(person for account, person in sorted(refs.new_people.items()) if account in owners),
        tuple(chat for place, chat in sorted(refs.new_chats.items()) if place in chats),
    )


def plan_text(plan: ImportPlan) -> str:
    """Counts first, then each change with its place in the file, at most SHOWN of a kind."""
    counts = {fate: len(plan.of(fate)) for fate in ("new", "same", "changed", "refused")}
    lines = [
        f"{counts['new']} new, {counts['changed']} changed, {counts['same']} the same, {counts['refused']} refused, "
        f"{len(plan.summaries)} conversations new, {len(plan.new_notes)} notes new"
    ]
    lines += [f"new person: {', '.join(person.accounts)} {person.name}" for person in plan.people[:SHOWN]]
    lines += [f"new chat: {', '.join(chat.places)} {chat.title}" for chat in plan.chats[:SHOWN]]
    lines += _some([_new(item) for item in plan.of("new")])
    lines += _some([line for item in plan.of("changed") for line in _changed(item)])
    lines += _some([f"refused {item.where}: {item.why}" for item in plan.of("refused")])
    lines += _some([_noted(item) for item in plan.notes if item.fate != "same"])
    return "\n".join(lines)


def plan_json(plan: ImportPlan) -> dict[str, object]:
    """The same for programs, whole: every change but what stays the same."""
    fates: tuple[ImportFate, ...] = ("new", "changed", "same", "refused")
    return {
        "counts": {fate: len(plan.of(fate)) for fate in fates},
        "people": [{"accounts": list(person.accounts), "name": person.name} for person in plan.people],
        "chats": [{"places": list(chat.places), "title": chat.title} for chat in plan.chats],
        "memories": [_item(item) for item in plan.items if item.fate != "same"],
        "conversations": len(plan.summaries),
        "notes": [
            {"fate": item.fate, "path": item.note.path, "from": item.path, "why": item.why}
            for item in plan.notes
            if item.fate != "same"
        ],
    }


def _item(item: ImportItem) -> dict[str, object]:
    memory = item.memory
    return {
        "fate": item.fate,
        "from": item.where,
        "id": item.before.id if item.before else None,
        "owner": memory.owner,
        "chat": memory.chat,
        "kind": memory.kind,
        "text": memory.text,
        "fields": list(item.fields),
        "why": item.why,
    }


def _some(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"… and {len(lines) - SHOWN} more"]


def _new(item: ImportItem) -> str:
    return f"new {item.where}: {item.memory.kind} of {item.memory.owner or item.memory.chat}: {_short(item.memory)}"


def _noted(item: ImportNote) -> str:
    if item.fate == "refused":
        return f"refused {item.path}: {item.why}"
    whose = f"of {item.note.chat}" if item.note.chat else "for the owners"
    beside = "" if item.note.path == item.path else f", in the file {item.path}"
    return f"new note: {item.note.path} {whose}{beside}"


def _changed(item: ImportItem) -> Iterator[str]:
    assert item.before is not None
    number = item.before.id
    for name in item.fields:
        before, after = (str(getattr(memory, name)) for memory in (item.before, item.memory))
        yield f"changed {item.where}: #{number} {name}: {_cut(before)} → {_cut(after)}"


def _short(memory: ExportedMemory) -> str:
    return _cut(memory.text)


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _CHARS else f"{flat[: _CHARS - 1]}…"


@dataclass(frozen=True, slots=True)
class ForeignOwner:
    """How foreign lines are taken: whose they are, from which chat (his own), and the time of import, ms."""

    owner: str
    chat: str
    now: int


def kind_of(heading: str) -> MemoryKind | None:
    """The kind that a heading names, None when it names none."""
    said = fold(heading)
    words = set(re.findall(r"[a-z]+", said))
    for kind, names in _HEADINGS.items():
        if any(name in said if not name.isascii() else name in words or f"{name}s" in words for name in names):
            return kind
    return None


def parse_foreign(text: str, name: str, how: ForeignOwner) -> ParsedExport:
    """A memory for each bullet, its continued lines with it; without bullets for each paragraph. Never raises.

    Kinds go by the nearest heading that names one, else knowledge; a day in a heading, or in the file's name, is when
    it happened.
    """
    cleared = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text.removeprefix("\ufeff"))
    dated = _DAY.search(name)
    rows = _rows(cleared, dated[0] if dated else "")
    memories, lines, problems = list[ExportedMemory](), list[str](), list[ImportProblem]()
    for number, said, kind, day in rows:
        where = f"{name}:{number}"
        try:
            told = text_of(said)
            at = time_of(f"{day}T12:00:00Z") if day else how.now
        except BadValue as error:
            problems.append(ImportProblem(where, str(error)))
            continue
        memories.append(
            ExportedMemory(
                0,
                how.owner,
                how.chat,
                "private",
                kind,
                told,
                at,
                how.now,
                "command",
                float(STABILITY_DAYS[kind]),
                how.now,
                how.now,
                asked=True,
            )
        )
        lines.append(where)
    return ParsedExport(ExportContents(memories=tuple(memories)), tuple(lines), tuple(problems))


def _rows(text: str, day: str) -> list[tuple[int, str, MemoryKind, str]]:
    """Line, text, kind and day of each statement."""
    found: list[tuple[int, str, MemoryKind, str]] = []
    levels: dict[int, MemoryKind] = {}
    fenced = open_item = False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if _FENCE.match(line):
            fenced, open_item = not fenced, False
        elif fenced:
            continue
        elif heading := _HEADING.fullmatch(line):
            level = len(line) - len(line.lstrip("#"))
            levels = {depth: kind for depth, kind in levels.items() if depth < level}
            if (kind := kind_of(heading[1])) is not None:
                levels[level] = kind
            day, open_item = (match[0] if (match := _DAY.search(heading[1])) else day), False
        elif not line.strip() or set(line.strip()) <= set("-=_*|: "):
            open_item = False
        elif (bullet := _BULLET.fullmatch(line)) is not None:
            found.append((number, bullet[2].strip(), _nearest(levels), day))
            open_item = True
        elif open_item:
            before = found[-1]
            found[-1] = (before[0], f"{before[1]} {line.strip()}", before[2], before[3])
        else:
            found.append((number, line.strip(), _nearest(levels), day))
            open_item = True
    return [row for row in found if row[1]]


def _nearest(levels: dict[int, MemoryKind]) -> MemoryKind:
    return levels[max(levels)] if levels else "knowledge"
