"""`nuan memory list` and `show`: what is remembered, for the operator's eyes, beside a running nuan."""

import re
from dataclasses import asdict
from typing import get_args

from bot.cli.carry import find_person
from bot.cli.house import Place
from bot.cli.printing import document
from bot.errors import ConfigError, NuanError
from bot.memory.carrying.values import time_text, to_json
from bot.store.carrying import Whole
from bot.store.store import open_store
from bot.text.clean import clean
from bot.types.carried import CarriedMemory
from bot.types.memory import MemoryKind

_NUMBER = re.compile(r"#?(\d{1,15})")


async def list_memories(place: Place, person: str, kind: str, *, as_json: bool) -> str:
    """One line a memory, or a JSON array."""
    if kind and kind not in get_args(MemoryKind):
        raise ConfigError((f"--kind: there is no {kind!r}; use one of {', '.join(get_args(MemoryKind))}",))
    async with await open_store(place.data, read_only=True) as store:
        number = await find_person(store, person) if person else None
        carried = (await store.carrying.export(number)).here.carried
    found = [memory for memory in carried.memories if kind in ("", memory.kind)]
    if as_json:
        return document([to_json(memory) for memory in found])
    names = {person.accounts[0]: person.name for person in carried.people}
    return "\n".join(_line(memory, names.get(memory.owner, "")) for memory in found) or "nothing is remembered yet"


def _line(memory: CarriedMemory, name: str) -> str:
    marks = [memory.visibility, *(["asked"] if memory.asked else []), *([memory.slot] if memory.slot else [])]
    whose = f"{memory.owner} {name}" if memory.owner else memory.chat
    text = " ".join(clean(memory.text).split())
    return f"#{memory.id} {time_text(memory.observed_at)[:10]} {memory.kind} ({', '.join(marks)}) {whose}: {text}"


async def show_memory(place: Place, wanted: str, *, as_json: bool) -> str:
    """Everything of one memory; NuanError when there is none. What was forgotten is told without its text."""
    match = _NUMBER.fullmatch(wanted.strip())
    if match is None:
        raise ConfigError((f"there is no memory {wanted!r}: give its number",))
    async with await open_store(place.data, read_only=True) as store:
        whole = await store.carrying.whole(int(match[1]))
    if whole is None:
        raise NuanError(f"there is no memory #{match[1]}")
    return _json(whole) if as_json else "\n".join(_lines(whole))


def _json(whole: Whole) -> str:
    told: dict[str, object] = {
        "number": whole.number,
        "memory": to_json(whole.memory) if whole.memory else None,
        "ended": whole.ended,
    }
    times = {"ended_at": whole.ended_at, "undo_until": whole.undo_until}
    told |= {name: time_text(at) if at is not None else None for name, at in times.items()}
    told["sources"] = [{**asdict(source), "at": time_text(source.at)} for source in whole.sources]
    return document(told)


def _lines(whole: Whole) -> list[str]:
    if whole.ended_at is not None:
        until = f", can be taken back until {time_text(whole.undo_until)}" if whole.undo_until else ""
        return [f"#{whole.number} was {whole.ended} at {time_text(whole.ended_at)}{until}"]
    if whole.memory is None:
        return [f"#{whole.number} belongs to nobody known: `nuan memory backfill` says more"]
    values = to_json(whole.memory)
    lines = [f"#{whole.number} {clean(str(values.pop('text')))}"]
    lines += [
        f"  {name}: {value}"
        for name, value in values.items()
        if name not in ("id", "merges") and value not in ("", None, {})
    ]
    lines += [f"  merged: {time_text(each.at)} {each.how}: {_flat(each.said)}" for each in whole.memory.merges]
    lines += [
        f"  from: {time_text(source.at)} {source.chat} {clean(source.who)}: {_flat(source.text) or '(not kept)'}"
        for source in whole.sources
    ]
    return lines if whole.sources else [*lines, "  from: nothing that is still known"]


def _flat(text: str) -> str:
    return " ".join(clean(text).split())
