"""What a shell completes beyond commands and options: people, chats, backups, kinds. Nothing here ever fails."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar, get_args

import typer

from bot.errors import NuanError
from bot.types.memory import MemoryKind

T = TypeVar("T")

Offer = tuple[str, str]
"""A value, and what is said of it where the shell shows that."""

BARE = re.compile(r"[\w.@+-]{1,40}")
"""A word that every shell takes without quotes."""


def chats(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """The chats of the data folder that is meant, by title, or by number where the title is no bare word."""

    async def ask(data: Path) -> list[tuple[int, str, str]]:
        from bot.store.store import open_store

        async with await open_store(data, read_only=True) as store:
            return [(each.id, each.title, f"{each.platform} {each.kind}") for each in await store.people.chats()]

    return list(_named(_asked(ctx, ask), by_number=incomplete.isdecimal()))


def people(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """The people of that folder, whoever was seen last first."""

    async def ask(data: Path) -> list[tuple[int, str, str]]:
        from bot.store.store import open_store

        async with await open_store(data, read_only=True) as store:
            return [(each.person.id, each.person.name, " ".join(each.accounts)) for each in await store.residents.all()]

    return list(_named(_asked(ctx, ask), by_number=incomplete.isdecimal()))


def backups(ctx: typer.Context) -> list[Offer]:
    """The names in the folder of backups inside that folder, the newest first."""
    from bot.store.keptcopies import folder_of, kept_in

    try:
        kept = kept_in(folder_of(_data(ctx), ""))
    except (NuanError, OSError):
        return []
    return [(each.path.name, f"{each.size / 1_000_000:.1f} MB") for each in reversed(kept)]


def kinds() -> list[str]:
    """The kinds of memories."""
    return list(get_args(MemoryKind))


def one_of(*values: str) -> Callable[[], list[str]]:
    """These values."""
    return lambda: list(values)


def _data(ctx: typer.Context) -> Path:
    return Path(str(ctx.params.get("data") or "data"))


def _asked(ctx: typer.Context, ask: Callable[[Path], Awaitable[list[T]]]) -> list[T]:
    """What the database says; nothing where there is none that can be read."""

    async def work() -> list[T]:
        return await ask(_data(ctx))

    try:
        return asyncio.run(work())
    except (NuanError, OSError):
        return []


def _named(found: Iterable[tuple[int, str, str]], *, by_number: bool) -> Iterator[Offer]:
    """Each by its name while only one has it, else by number; all `by_number` for who begins with a digit."""
    every = list(found)
    often = Counter(name for _, name, _ in every)
    for number, name, more in every:
        bare = bool(BARE.fullmatch(name)) and not name.isdecimal() and often[name] == 1
        yield (name if bare and not by_number else str(number), f"#{number} {name} {more}".strip())
