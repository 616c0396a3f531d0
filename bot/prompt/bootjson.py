"""What an opening tells, as one JSON object with English keys, for programs: `nuan boot` and other agents. Pure."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

from bot.text.estimate import estimate_tokens
from bot.types.opening import Line, Opened, SectionName
from bot.types.people import Chat, Person


def boot_json(opened: Opened, chat: Chat, person: Person, now: int) -> str:
    """Who it is for, what each section tells with its instant, the text to the letter, and its estimated tokens."""
    kinds: dict[SectionName, list[dict[str, object]]] = {
        section.name: [_line(line) for line in section.lines] for section in opened.sections
    }
    told = {
        "chat": {"id": chat.id, "platform": chat.platform, "kind": chat.kind, "title": chat.title},
        "person": {"id": person.id, "name": person.name},
        "at": _instant(now),
        "since": opened.since,
        "tokens": estimate_tokens(opened.text),
        "sections": kinds,
        "text": opened.text,
    }
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)


def _line(line: Line) -> dict[str, object]:
    """What there is of a line, with its instant; what it is not made from is left out."""
    known = {key: value for key, value in asdict(line).items() if value and key not in ("weight", "id")}
    return known | ({"at": _instant(line.at)} if line.at else {})


def _instant(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
