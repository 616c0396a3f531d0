"""How the contract suite opens and looks into what an engine stores. A second engine is a class like `Sqlite`."""

from contextlib import closing
from pathlib import Path
from typing import Protocol

from bot.store.engine import Database
from bot.store.index import index_faults
from bot.store.postgres import opening
from bot.store.postgres.connection import PostgresTx
from bot.store.sqlite.opening import open_database
from bot.store.store import DATABASE, Store, open_store
from tests import storing
from tests.blank import lay, open_laid
from tests.peek import Peek
from tests.servers import lend, lend_pooled


class Engine(Protocol):
    """One engine with what it stores in one folder."""

    folder: Path
    peek: Peek
    """The rows as another program sees them."""

    def __init__(self, folder: Path) -> None: ...

    async def open(self) -> Store:
        """The store of the folder, new when there is none."""

    async def open_database(self, *, read_only: bool = False) -> Database:
        """What is under the repositories of the same store; a folder has one or the other open."""

    def holding(self, word: str) -> list[str]:
        """Every table.column in which a text holds the word, those of the search included."""

    def files_with(self, word: str) -> list[str]:
        """The files whose bytes hold the word, whoever wrote them."""

    def faults(self) -> list[object]:
        """What is wrong with what is stored: nothing, if all is well."""


class Postgres:
    """The engine of bot/store/postgres: a database of a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = lend(folder)
        self.peek = Peek(folder / DATABASE)

    async def open(self) -> Store:
        return await open_store(self.folder, url=self.url)

    async def open_database(self, *, read_only: bool = False) -> Database:
        return await opening.open_database(self.url, read_only=read_only)

    def holding(self, word: str) -> list[str]:
        return storing.holding(self.folder, word)

    def files_with(self, word: str) -> list[str]:
        """Those of the data folder, and its tables: what a server's own files hold is its own matter."""
        return [*storing.in_files(self.folder, word), *self.holding(word)]

    def faults(self) -> list[object]:
        with closing(PostgresTx(self.url)) as tx:
            return [fault for fault in (index_faults(tx),) if fault]


class Pooled(Postgres):
    """The same, reached through a pooler that gives each transaction another connection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = lend_pooled(folder)
        self.peek = Peek(folder / DATABASE)


class Sqlite:
    """The engine of bot/store/sqlite: one file in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peek = Peek(folder / DATABASE)

    async def open(self) -> Store:
        return await open_laid(self.folder)

    async def open_database(self, *, read_only: bool = False) -> Database:
        lay(self.folder)
        return await open_database(self.folder / DATABASE, read_only=read_only)

    def holding(self, word: str) -> list[str]:
        return storing.holding(self.folder, word)

    def files_with(self, word: str) -> list[str]:
        return storing.in_files(self.folder, word)

    def faults(self) -> list[object]:
        return storing.sound(self.folder)
