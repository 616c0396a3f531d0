"""The `nuan memory` commands through their real entry, on real files, and installations to try them on. It checks
nothing.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from bot.cli.main import app
from bot.core.archive import FrontMatter, NewNote, NoteLine
from bot.core.memories import NewMemory
from bot.core.people import MemoryKind
from bot.store.store import Store
from tests.blank import open_laid
from tests.storing import NOW, Where, ids, keep, talk

ANN, BOB = Where(), Where("bob", "dm-bob")
GROUP = Where("bob", "g", "group")
OWNERS = {"NUAN_BOT__OWNERS": '["test:ann", "console:local"]'}


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def nuan(folder: Path, *words: str, **settings: str) -> Said:
    """Run `nuan memory …` on that data folder, with nobody there to answer."""
    environment = {"NUAN_MEMORY__MODE": "v2", **settings}  # no local encoder, unless the settings say so
    result = CliRunner().invoke(app, ["memory", *words, "--data", str(folder)], env=environment)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def in_installation(folder: Path, work: Callable[[Store], Awaitable[object]]) -> None:
    """Do something in the installation while no command runs."""

    async def inside() -> None:
        async with await open_laid(folder) as store:
            await work(store)

    asyncio.run(inside())


def note(text: str, person: int, chat: int, kind: MemoryKind, at: int = NOW) -> NewMemory:
    """A memory with a mood that a digest made."""
    return NewMemory(person, chat, "private", kind, text, at, "digest", (), emotion="开心", emotion_value=0.5)


async def fill(store: Store) -> None:
    """Two people in their own chats and a group, with a talk that was closed."""
    await keep(store, "我对花生过敏\n真的 <!-- x --> \\n")
    await keep(store, "小安", slot="address")
    await keep(store, "我喜歡爬山", BOB)
    await keep(store, "周五聚餐", GROUP)
    await keep(store, "到處說也可以", BOB, "public")
    await talk(store, "今天很累", "早点休息")


def same(text: str) -> str:
    """An export without what must differ between installations: their name, the time and the numbers of their
    events.
    """
    return re.sub(r'"(house|exported_at|events)": "[^"]*"', r'"\1": ""', text)


async def with_notes(store: Store) -> None:
    """A note of Ann's own chat, one of the group and one that the owners keep by hand."""
    _, chat, event = await ids(store)
    _, group, _ = await ids(store, GROUP)
    for front, line in (
        (FrontMatter(chat, "private"), "Ann: 晚安"),
        (FrontMatter(group, "chat"), "Bob: > ok <!-- -->"),
    ):
        lines = (NoteLine(f"- 09:00 {line}", (event,) if front.chat_id == chat else ()), NoteLine("", ()))
        made = NewNote(front, f"2026-06-12-{front.visibility}", "# 09:00", (*lines, NoteLine("- 10:00 nuan: 好", ())))
        assert await store.notes.write(made, 9999)
    assert store.files.notes.create("MEMORY.md", "## Coffee\n\n手冲咖啡\n".encode())


async def number_of(store: Store, where: Where) -> int:
    """The number of a person."""
    return (await ids(store, where))[0]
