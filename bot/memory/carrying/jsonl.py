"""An export as JSON Lines: a header, then one record a line, complete. It asks nothing and compares nothing."""

import json
from collections.abc import Iterator

from bot.memory.carrying.values import (
    KINDS,
    VERSION,
    BadValue,
    count_of,
    from_json,
    header_of,
    object_of,
    time_text,
    to_json,
)
from bot.types.carried import (
    Carried,
    CarriedChat,
    CarriedMemory,
    CarriedNote,
    CarriedPerson,
    CarriedSummary,
    Parsed,
    Problem,
)


def write_jsonl(carried: Carried) -> Iterator[str]:
    """The lines, each with its line end: header, people, chats, memories and summaries by number, notes."""
    yield _line({
        "nuan": "memories", "version": VERSION, "house": carried.house, "exported_at": time_text(carried.exported_at),
        "people": len(carried.people), "chats": len(carried.chats), "memories": len(carried.memories),
        "summaries": len(carried.summaries), "notes": len(carried.notes),
    })  # fmt: skip
    names = {person.accounts[0]: person.name for person in carried.people}
    for person in carried.people:
        yield _line({"type": "person", **to_json(person)})
    for chat in carried.chats:
        yield _line({"type": "chat", **to_json(chat)})
    for memory in carried.memories:
        yield _line({"type": "memory", **to_json(memory), "owner_name": names.get(memory.owner, "")})
    for summary in carried.summaries:
        yield _line({"type": "summary", **to_json(summary), "owner_name": names.get(summary.owner, "")})
    for note in carried.notes:
        yield _line({"type": "note", **to_json(note)})


def _line(values: dict[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


def parse_jsonl(text: str, name: str) -> Parsed:
    """What such a file says; lines that cannot be read are problems by `name`:line. Never raises."""
    found: dict[str, list[tuple[object, str]]] = {kind: [] for kind in KINDS}
    problems: list[Problem] = []
    house, exported_at, count, notes, begun = "", 0, 0, 0, False
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        where = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            values = object_of(line)
            if not begun:
                house, exported_at, count = header_of(values)
                notes, begun = count_of(values, "notes"), True
                continue
            kind = values.pop("type", "")
            values.pop("owner_name", "")
            if not isinstance(kind, str) or kind not in KINDS:
                raise BadValue(f"type should be one of {', '.join(KINDS)}")
            found[kind].append((from_json(kind, values), where))
        except BadValue as error:
            problems.append(Problem(where, str(error)))
            if not begun:
                return Parsed(Carried(), (), tuple(problems))
    if not begun:
        return Parsed(Carried(), (), (Problem(f"{name}:1", "is empty: there is no header"),))
    memories = [(record, where) for record, where in found["memory"] if isinstance(record, CarriedMemory)]
    if len(memories) != count and not problems:
        problems.append(Problem(f"{name}:1", f"tells of {count} memories, {len(memories)} are there: was it cut off?"))
    if len(found["note"]) != notes and not problems:
        problems.append(
            Problem(f"{name}:1", f"tells of {notes} notes, {len(found['note'])} are there: was it cut off?")
        )
    return Parsed(
        Carried(
            house, exported_at,
            tuple(record for record, _ in found["person"] if isinstance(record, CarriedPerson)),
            tuple(record for record, _ in found["chat"] if isinstance(record, CarriedChat)),
            tuple(memory for memory, _ in memories),
            tuple(record for record, _ in found["summary"] if isinstance(record, CarriedSummary)),
            tuple(record for record, _ in found["note"] if isinstance(record, CarriedNote)),
        ),
        tuple(where for _, where in memories), tuple(problems),
    )  # fmt: skip
