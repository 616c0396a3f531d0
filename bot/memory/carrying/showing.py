"""What an import would do, in lines for the operator. It decides nothing."""

from collections.abc import Iterator

from bot.types.carried import CarriedMemory, Fate, Item, NoteItem, Plan

SHOWN = 20
"""Most lines of one kind of change; the rest is counted."""

_CHARS = 60


def plan_text(plan: Plan) -> str:
    """Counts first, then each change with its place in the file, at most SHOWN of a kind."""
    counts = {fate: len(plan.of(fate)) for fate in ("new", "same", "changed", "refused")}
    lines = [
        f"{counts['new']} new, {counts['changed']} changed, {counts['same']} the same, {counts['refused']} refused, "
        f"{len(plan.forget)} not in the file any more, {len(plan.summaries)} conversations new, "
        f"{len(plan.new_notes)} notes new"
    ]
    lines += [f"new person: {', '.join(person.accounts)} {person.name}" for person in plan.people[:SHOWN]]
    lines += [f"new chat: {', '.join(chat.places)} {chat.title}" for chat in plan.chats[:SHOWN]]
    lines += _some([_new(item) for item in plan.of("new")])
    lines += _some([line for item in plan.of("changed") for line in _changed(item)])
    lines += _some([f"refused {item.where}: {item.why}" for item in plan.of("refused")])
    lines += _some([_noted(item) for item in plan.notes if item.fate != "same"])
    lines += _some([f"not in the file: #{memory.id} {_short(memory)}" for memory in plan.forget])
    return "\n".join(lines)


def plan_told(plan: Plan) -> dict[str, object]:
    """The same for programs, whole: every change but what stays the same."""
    fates: tuple[Fate, ...] = ("new", "changed", "same", "refused")
    return {
        "counts": {fate: len(plan.of(fate)) for fate in fates},
        "people": [{"accounts": list(person.accounts), "name": person.name} for person in plan.people],
        "chats": [{"places": list(chat.places), "title": chat.title} for chat in plan.chats],
        "memories": [_item(item) for item in plan.items if item.fate != "same"],
        "conversations": len(plan.summaries),
        "notes": [
            {"fate": item.fate, "path": item.note.path, "from": item.path, "why": item.why}
            for item in plan.notes if item.fate != "same"
        ],
        "not_in_file": [{"id": memory.id, "text": memory.text} for memory in plan.forget],
    }  # fmt: skip


def _item(item: Item) -> dict[str, object]:
    memory = item.memory
    return {
        "fate": item.fate, "from": item.where, "id": item.before.id if item.before else None, "owner": memory.owner,
        "chat": memory.chat, "kind": memory.kind, "text": memory.text, "fields": list(item.fields), "why": item.why,
    }  # fmt: skip


def _some(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"… and {len(lines) - SHOWN} more"]


def _new(item: Item) -> str:
    return f"new {item.where}: {item.memory.kind} of {item.memory.owner or item.memory.chat}: {_short(item.memory)}"


def _noted(item: NoteItem) -> str:
    if item.fate == "refused":
        return f"refused {item.path}: {item.why}"
    whose = f"of {item.note.chat}" if item.note.chat else "for the owners"
    beside = "" if item.note.path == item.path else f", in the file {item.path}"
    return f"new note: {item.note.path} {whose}{beside}"


def _changed(item: Item) -> Iterator[str]:
    assert item.before is not None
    number = item.before.id
    for name in item.fields:
        before, after = (str(getattr(memory, name)) for memory in (item.before, item.memory))
        yield f"changed {item.where}: #{number} {name}: {_cut(before)} → {_cut(after)}"


def _short(memory: CarriedMemory) -> str:
    return _cut(memory.text)


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _CHARS else f"{flat[: _CHARS - 1]}…"
