"""What is set in chats, for whoever operates: `nuan doctor` shows it, `nuan unset` takes it back."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.cli.printing import document
from bot.errors import NuanError
from bot.store.settings import HOUSE, said_in
from bot.store.store import DATABASE, open_store
from bot.types.finding import Finding
from bot.types.said import Said


def said_findings(folder: Path) -> tuple[Finding, ...]:
    """One line for each key that somebody set in a chat."""
    return tuple(Finding(True, "set in a chat", f"{_told(one)}: `nuan unset {one.key}`") for one in _said(folder))


async def unset(folder: Path, keys: Sequence[str], *, everything: bool, as_json: bool) -> str:
    """Take back what is set in chats, or show it when nothing is named; NuanError for a key that nobody set.

    HeldError while a nuan answers from the folder: it is told in a chat.
    """
    said = {one.key: one for one in _said(folder)}
    if unknown := [key for key in keys if key not in said]:
        raise NuanError(f"{unknown[0]} is not set in a chat; set there: {', '.join(said) or 'nothing'}")
    taken = tuple(said) if everything else tuple(dict.fromkeys(keys))
    if taken:
        async with await open_store(folder) as store:
            await store.settings.put(dict.fromkeys(taken), None, 0)
    shown = [said[key] for key in taken] if taken else list(said.values())
    if as_json:
        told = [{"key": one.key, "value": one.value, "by": one.name, "at": one.at} for one in shown]
        return document({"taken_back": bool(taken), "settings": told})
    if not shown:
        return "nothing is set in a chat"
    return "\n".join(f"{'taken back: ' if taken else ''}{_told(one)}" for one in shown)


def _said(folder: Path) -> tuple[Said, ...]:
    return said_in(folder / DATABASE)


def _told(one: Said) -> str:
    day = f" on {datetime.fromtimestamp(one.at / 1000, UTC):%Y-%m-%d}" if one.at else ""
    what = "everything is switched off" if one.key == HOUSE else f"{one.key} = {one.value}"
    return f"{what}, said by {one.name or 'somebody'}{day}"
