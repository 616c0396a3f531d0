"""`nuan move`: all rows into a database of a server, or back into the file of the data folder."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from bot.cli.installation import Installation, require_database
from bot.cli.terminal import json_document, progress_bar, resume_collector
from bot.core.clock import SystemClock
from bot.core.errors import NuanError
from bot.store.engine import postgres_part
from bot.store.store import DATABASE, lock_folder

SERVER, FILE = ("postgresql://", "postgres://"), "sqlite:"
"""How the two places begin that rows may be moved to."""


def move(place: Installation, to: str, *, as_json: bool) -> str:
    """Do it; what is the same in both places. NuanError with what to do, and the source as it was."""
    engine, file = postgres_part("move"), place.data / DATABASE
    source: Path | str = place.url or file
    if to.startswith(SERVER):
        target: Path | str = to
    elif to == FILE:
        target = file
    else:
        raise NuanError("--to must be postgresql://user@host/name or sqlite:")
    if source == target or (isinstance(source, str) and isinstance(target, str) and engine.same_database(source, to)):
        raise NuanError("everything is there already: store.url says the same as --to")
    require_database(place)
    resume_collector()
    with _held(place.data), progress_bar("moving", quiet=as_json) as tell:
        moved = engine.move(source, target, place.data, tell, SystemClock().now())
    if as_json:
        return json_document(asdict(moved) | {"from": _named(place, source), "to": _named(place, target)})
    width = max(len(each.table) for each in moved.tables)
    lines = [f"{each.table:<{width}}  {each.rows:>11,}  {each.sum}" for each in moved.tables if each.rows]
    if moved.anew:
        lines.append("what an earlier move had copied was no longer what the source says: it was copied anew")
    advice = "take store.url out of" if isinstance(target, Path) else "set store.url to it in"
    return "\n".join(
        (
            *lines,
            f"{_named(place, target)} has the same rows, and {moved.questions} questions find the same in it; "
            f"{moved.kept} lines of tombstones and erasures, and {moved.notes} notes went along",
            f"{advice} nuan.toml, then start nuan; {_named(place, source)} is as it was: delete it when you need it no more",
        )
    )


def _named(place: Installation, where: Path | str) -> str:
    """How people are told of a place."""
    if isinstance(where, Path):
        return str(where)
    named: str = postgres_part("move").named(where)
    return named


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """No nuan answers from the folder meanwhile."""
    lock = lock_folder(folder)
    try:
        yield
    finally:
        os.close(lock)
