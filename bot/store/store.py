"""All repositories over one database, opened and closed together."""

import asyncio
import os
import secrets
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from bot.core.errors import FolderLockedError, StoreError
from bot.core.events import Outgoing
from bot.core.files import disk_errors, lock_file, make_private_folder
from bot.core.ports import Role, Wakeups
from bot.core.speaking import UNASKED
from bot.store.agent_writes import AgentWrites
from bot.store.archive import MemoryArchive
from bot.store.changes import ChangedMessages
from bot.store.commitments import Commitments
from bot.store.deadlines import Deadlines
from bot.store.digests import Digests
from bot.store.engine import LEASE_SECONDS, WRITERS, Database, PooledUrl, postgres_part
from bot.store.events import EventLog
from bot.store.files import DataFiles
from bot.store.forget import MemoryForgetting
from bot.store.inspector import InstallationReads
from bot.store.intake import Intake
from bot.store.ledger import Ledger
from bot.store.lifecycle import MemoryLifecycle
from bot.store.linking import Links
from bot.store.memories import KeptMemories
from bot.store.notes import Notes
from bot.store.outbox import Outbox
from bot.store.outside import OutsideAccess
from bot.store.people import KnownPeople
from bot.store.personal_data import PersonalData
from bot.store.proactive import ProactiveTurns
from bot.store.processes import Processes
from bot.store.reminders import Reminders
from bot.store.search import Search
from bot.store.sessions import Sessions
from bot.store.settings import StoredSettings
from bot.store.sqlite.opening import open_database
from bot.store.told import OpeningReads, ReplyReads
from bot.store.transactions import AccessLists
from bot.store.turns import TurnCommits, TurnToSay
from bot.store.vectors import Vectors

DATABASE, LOCK = "nuan.db", "nuan.lock"

ROLLBACK = "nuan-rollback."
"""How every file begins that a restore makes before it has the database's place."""


class Events(EventLog, Intake, ChangedMessages):
    """What happened in each chat: taken in with the decision about it, changed, and read back."""


class People(KnownPeople, Links, PersonalData):
    """Who takes part and who may talk; links of accounts; what one person may take along, and erasing them."""


class Turns(TurnCommits, ProactiveTurns):
    """Turns from asked to said, also those that nobody asked for."""


class Memories(KeptMemories, MemoryForgetting, MemoryLifecycle, AgentWrites, MemoryArchive, OpeningReads):
    """What lasts: kept, forgotten and taken back, tidied, written by agents, exported, told by an opening."""


class Inspector(InstallationReads, ReplyReads):
    """What the operator may see of everything, and a chat of its own replies."""


class Store:
    """All nouns over one database. `boot` names this process in rows, `folder` is the data folder, `url` where its rows
    lie, "" for its own file."""

    def __init__(
        self, database: Database, folder: Path, lists: AccessLists, lock: int | None, url: str = "", boot: str = ""
    ) -> None:
        self._database = database
        self._lists = lists
        self._lock = lock
        self.folder = folder
        self.url = url
        self.boot = boot
        self.leases = database.leases
        self.wakeups: Wakeups | None = None
        """How other processes are told to look at once; without it each looks every second."""
        self.files: DataFiles = (
            postgres_part("notes").files_on_server(folder, url, "" if lock is None else boot)
            if url
            else DataFiles(folder)
        )
        self.tombstones = self.files.tombstones
        database.share(self.files, lists, self.boot)
        self.events = Events(database)
        self.people = People(database)
        self.sessions = Sessions(database)
        self.turns = Turns(database)
        self.outbox = Outbox(database)
        self.ledger = Ledger(database)
        self.settings = StoredSettings(database)
        self.memories = Memories(database)
        self.digests = Digests(database)
        self.commitments = Commitments(database)
        self.reminders = Reminders(database)
        self.notes = Notes(database)
        self.search = Search(database)
        self.vectors = Vectors(database)
        self.deadlines = Deadlines(database)
        self.inspector = Inspector(database)
        self.outside = OutsideAccess(database)
        self.processes = Processes(database)

    def admit_by(self, owners: frozenset[str], allow: frozenset[str]) -> None:
        """From now on these are the owners' accounts, and the ids that need no approval."""
        self._lists.owners, self._lists.allow = owners, allow

    async def say(self, why: str, saying: TurnToSay, at: int) -> Outgoing | None:
        """The last commit of a turn that was taken for that reason; what to send first."""
        return await (self.turns.say_unasked if why in UNASKED else self.turns.say)(saying, at)

    @property
    def lost(self) -> asyncio.Event:
        """Set when another nuan took over the database and nothing can be stored any more."""
        return self._database.lost

    @property
    def unheard(self) -> asyncio.Event:
        """Set while this process cannot say that it is there, so that another may take over: what it takes in now may not
        be stored."""
        return self._database.unheard

    async def close(self) -> None:
        """Finish the writes that wait, free the connections and the folder."""
        await self._database.close()
        if self.wakeups is not None:
            await self.wakeups.close()
        self.files.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_store(
    folder: Path,
    owners: frozenset[str] = frozenset(),
    allow: frozenset[str] = frozenset(),
    *,
    read_only: bool = False,
    url: str = "",
    writers: int = WRITERS,
    lease_seconds: float = LEASE_SECONDS,
    copied: bool = True,
    roles: Collection[Role] = (),
    wakes: bool = True,
) -> Store:
    """Open the data folder. FolderLockedError when another nuan answers from it; StoreError when it cannot be used.

    `owners` are the accounts with the owner's rights, `allow` the ids that need no approval, each "platform:id". With
    an `url` its rows lie in that database of a PostgreSQL server, to which `writers` connections write at once; another
    nuan may take it over `lease_seconds` after this one died (DatabaseHeldError while it lives). It is `copied` before
    its schema changes. With `roles` processes share it, each of which does some of what there is to do; without any one
    does all of it alone. Only a server's database can be shared (StoreError). They are told of each other at once, or
    where nothing `wakes` them, and behind a pooler, see it within a second.
    """
    if roles and not url:
        raise StoreError("a file is for one process: to share the work, give store.url")
    boot = secrets.token_hex(8)
    lock = None if read_only else await asyncio.to_thread(lock_folder, folder)
    try:
        if lock is not None:
            await asyncio.to_thread(remove_rollback_files, folder)
        if url:
            if lock is not None and copied:
                await asyncio.to_thread(postgres_part("backups").copy_before_update, url, folder)
            opening = postgres_part("opening")
            database: Database = await opening.open_database(
                url, boot=boot, read_only=read_only, writers=writers, lease_seconds=lease_seconds, roles=roles
            )
        else:
            database = await open_database(folder / DATABASE, read_only=read_only)
        try:
            if url and not read_only:
                await asyncio.to_thread(postgres_part("kept").take_in, url, folder)
            store = Store(database, folder, AccessLists(owners, allow), lock, url, boot)
            if not read_only:
                await _begin(store, alone=not roles)
            if roles and wakes and not isinstance(url, PooledUrl):
                store.wakeups = postgres_part("wakeups").ServerWakeups(url, boot)
            return store
        except BaseException:
            await database.close()
            raise
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise


async def _begin(store: Store, *, alone: bool) -> None:
    """Take in what the data folder has, and what a crash left of erasures."""
    try:
        if alone and store.url:  # what is forgotten at once is in the folder by then, wherever it was written
            await asyncio.to_thread(store.files.notes.watched)
        await store.people.take_owner_code()
        await store.people.resume_erasures()
    except BaseException:
        store.files.close()
        raise


def lock_folder(folder: Path) -> int:
    """Keep every other nuan that writes out of the folder, until the descriptor is closed; FolderLockedError when one
    is in."""
    with disk_errors("the data folder cannot be used", ": choose another with --data DIR"):
        make_private_folder(folder)
        lock = lock_file(folder / LOCK)
    if lock is None:
        raise FolderLockedError("another nuan is answering from this data folder: stop it, or give --data DIR")
    return lock


def remove_rollback_files(folder: Path) -> None:
    """Take away what a restore that was cut off left: it may hold what was forgotten. For who holds the folder."""
    with disk_errors("the data folder cannot be used", ": choose another with --data DIR"):
        for left in folder.glob(f"{ROLLBACK}*"):
            left.unlink()
