"""The store as the rest of the house sees it: one object a noun, opened and closed together."""

import asyncio
import fcntl
import os
import secrets
from functools import partial
from pathlib import Path
from types import TracebackType

from bot.errors import HeldError, StoreError
from bot.store.access import Admission, Lists
from bot.store.agents import AgentRows
from bot.store.asked import Asked
from bot.store.attachments import Attachments
from bot.store.brought import BroughtRows
from bot.store.browsing import Browsing
from bot.store.bursts import Bursts
from bot.store.carrying import Carrying
from bot.store.changes import Changes
from bot.store.codes import Codes
from bot.store.commitments import Commitments
from bot.store.database import Database, open_database
from bot.store.deadlines import Deadlines
from bot.store.digests import Digests
from bot.store.erased import Erasing
from bot.store.events import Events
from bot.store.exporting import Exporting
from bot.store.feedback import remark
from bot.store.finding import Findings
from bot.store.flushes import Flushes
from bot.store.forgetting import Forget
from bot.store.handling import Handling
from bot.store.heartbeats import Heartbeats
from bot.store.insight import Insight
from bot.store.interrupting import halt_or_interrupt
from bot.store.joins import Joins
from bot.store.ledger import Ledger
from bot.store.lives import Lives
from bot.store.lookup import Lookup
from bot.store.memories import Memories
from bot.store.mending import Mending
from bot.store.merges import Merges
from bot.store.notefiles import NoteFiles
from bot.store.notes import Notes
from bot.store.offrecord import OffRecord
from bot.store.openings import Openings
from bot.store.outbox import Outbox
from bot.store.people import People
from bot.store.promising import note_promises
from bot.store.questions import Questions
from bot.store.reasons import Reasons
from bot.store.recounts import Recounts
from bot.store.refusals import Refusals
from bot.store.reminders import Reminders
from bot.store.residents import Residents
from bot.store.rewrites import Rewrites
from bot.store.rollups import Rollups
from bot.store.sections import SectionRounds
from bot.store.sessions import Sessions
from bot.store.settings import SettingRows
from bot.store.sharing import Sharing
from bot.store.switches import Switches
from bot.store.tombstones import Tombstones
from bot.store.traces import Traces
from bot.store.turns import Saying, Turns
from bot.store.undoing import Undoing
from bot.store.unnoting import Shelf
from bot.store.unsaying import Unsay
from bot.store.vectors import Vectors
from bot.store.views import Views
from bot.store.vitals import Vitals
from bot.store.watching import Watching
from bot.store.windows import Windows
from bot.types.heartbeat import HEARTBEAT
from bot.types.joining import JOIN
from bot.types.outgoing import Outgoing

DATABASE, LOCK = "nuan.db", "nuan.lock"


class Store:
    """All nouns over one database. `boot` names this process in rows, `folder` is the data folder."""

    def __init__(self, database: Database, folder: Path, lists: Lists, lock: int | None) -> None:
        self.folder = folder
        self.boot = secrets.token_hex(8)
        self.tombstones = Tombstones(folder)
        shelf = Shelf(NoteFiles(folder), self.tombstones.bury)
        self.changes = Changes(database, shelf)
        self.events = Events(
            database, lists, self.changes.apply, partial(halt_or_interrupt, lists=lists), remark,
            partial(note_promises, covers=self.tombstones.covers),
        )  # fmt: skip
        self.attachments = Attachments(database)
        self.sessions = Sessions(database)
        self.turns = Turns(database, self.boot)
        self.outbox = Outbox(database, self.boot)
        self.ledger = Ledger(database)
        self.traces = Traces(database)
        self.recounts = Recounts(database)
        self.refusals = Refusals(database)
        self.switches = Switches(database)
        self.settings = SettingRows(database)
        self.people = People(database, lists)
        self.access = Admission(database, lists)
        self.codes = Codes(database, lists, folder)
        self.views = Views(database, self.sessions, lists)
        self.deadlines = Deadlines(database)
        self.windows = Windows(database)
        self.bursts = Bursts(database)
        self.heartbeats = Heartbeats(database, lists, self.boot)
        self.joins = Joins(database, lists, self.boot)
        self.reasons = Reasons(database)
        self.browsing = Browsing(database)
        self.handling = Handling(database, self.tombstones, shelf)
        self.watching = Watching(database)
        self.insight = Insight(database)
        self.residents = Residents(database, lists)
        self.erasing = Erasing(database, self.tombstones, shelf, folder)
        self.exporting = Exporting(database, folder)
        self._database = database
        self._lists = lists
        self._lock = lock
        self._remember(database, shelf)

    def _remember(self, database: Database, shelf: Shelf) -> None:
        """The nouns of what lasts."""
        self.memories = Memories(database)
        self.finding = Findings(database)
        self.vectors = Vectors(database)
        self.lives = Lives(database)
        self.sharing = Sharing(database, shelf)
        self.merges = Merges(database)
        self.asked = Asked(database, shelf)
        self.brought = BroughtRows(database)
        self.lookup = Lookup(database)
        self.forgetting = Forget(database, shelf)
        self.agents = AgentRows(database, shelf)
        self.unsaying = Unsay(database, shelf)
        self.notes = Notes(database, self._lists, shelf)
        self.flushes = Flushes(database, shelf.files)
        self.off_record = OffRecord(database, shelf)
        self.questions = Questions(database)
        self.undoing = Undoing(database)
        self.rewrites = Rewrites(database)
        self.digests = Digests(database, self.tombstones.covers)
        self.rollups = Rollups(database)
        self.commitments = Commitments(database)
        self.reminders = Reminders(database, self._lists)
        self.carrying = Carrying(database, self.tombstones, shelf, self._lists)
        self.mending = Mending(database)
        self.openings = Openings(database, self._lists)
        self.sections = SectionRounds(database)
        self.vitals = Vitals(database)

    def admit_by(self, owners: frozenset[str], allow: frozenset[str]) -> None:
        """From now on these are the owners' accounts, and the ids that need no approval."""
        self._lists.owners, self._lists.allow = owners, allow

    async def say(self, why: str, saying: Saying, at: int) -> Outgoing | None:
        """The last commit of a turn that was taken for that reason; what to send first."""
        last = {HEARTBEAT: self.heartbeats.say, JOIN: self.joins.say}
        return await last.get(why, self.turns.say)(saying, at)

    async def close(self) -> None:
        """Finish the writes that wait, free the connections and the folder."""
        await self._database.close()
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
    folder: Path, owners: frozenset[str] = frozenset(), allow: frozenset[str] = frozenset(), *, read_only: bool = False
) -> Store:
    """Open the data folder. HeldError when another nuan answers from it; StoreError when it cannot be used.

    `owners` are the accounts with the owner's rights, `allow` the ids that need no approval, each "platform:id".
    """
    lock = None if read_only else await asyncio.to_thread(hold, folder)
    try:
        database = await open_database(folder / DATABASE, read_only=read_only)
        try:
            store = Store(database, folder, Lists(owners, allow), lock)
            if not read_only:
                await store.codes.take_owner_code()
                await store.erasing.resume()
            return store
        except BaseException:
            await database.close()
            raise
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise


def hold(folder: Path) -> int:
    """Keep every other nuan that writes out of the folder, until the descriptor is closed; HeldError when one is in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"the data folder cannot be used ({error}): choose another with --data DIR") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise HeldError("another nuan is answering from this data folder: stop it, or give --data DIR") from error
    return descriptor
