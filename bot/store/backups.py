"""Backups: made, kept, restored; what was forgotten or done since is so in the restored copy too."""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from bot.config.settings import BackupRules
from bot.core.clock import DAY_MS
from bot.core.errors import StoreError
from bot.core.files import create_file, disk_errors, lock_file, sync_to_disk
from bot.core.memories import Memory
from bot.store.commitments import delete_commitments, settle_nudges, withdraw_promises
from bot.store.digests import summary_changed
from bot.store.engine import Database, postgres_part
from bot.store.files import DataFiles, Tombstones
from bot.store.index import drop_documents, index_lines
from bot.store.personal_data import erase_again
from bot.store.reminders import end_reminders
from bot.store.removal import Forgetting, disable_memories, empty_digests, hide_lines, logs_of, purge_rows
from bot.store.schema import GREATEST, SCHEMA_VERSION, SELECT_MEMORY
from bot.store.sessions import drop_log
from bot.store.sqlite.connection import open_existing
from bot.store.sqlite.copies import PAGES, CopyProgress, copy_database, no_progress, verify_copy
from bot.store.sqlite.opening import bring_forward, open_database
from bot.store.store import DATABASE, ROLLBACK, lock_folder, remove_rollback_files
from bot.store.supersession import bring_back
from bot.store.transactions import Row, Tx
from bot.store.turns import running_turns, void_turn
from bot.store.windows import requeue_events
from bot.text.dates import stamp, stamp_in

NUMBERED = ("memory", "event", "outbox", "digest", "commitment", "reminder", "note_chunk")
"""Tables whose numbers are never given twice, not by a way back either."""

BACKUPS_FOLDER = "backups"
"""Where they are in the data folder, unless the configuration names another place."""

DUMP = ".dump"
"""How a backup ends that pg_dump made."""

LEFTOVER_PATTERNS = (
    "nuan*.before-*.db*",
    f"nuan*.before-*{DUMP}",
    ".nuan*.before-*.db.new*",
    f"{BACKUPS_FOLDER}/.nuan-*.db.new*",
)
"""What migrations and restores leave beside the database, and what a crash left of such a copy or of a backup."""


@dataclass(frozen=True, slots=True)
class DoneSince:
    """What the present database has left: promises, empty rows of dropped ones, open reminders, what waits to be
    answered or sent.

    `off_record` are the lines that are to be kept nowhere, `cleared` how far each chat was cleared (lines, talks),
    `turns` those that run, `calls` what was spent or reserved, as rows of the columns of `call`: all but the turn and the
    session, which a copy may not have.
    """

    promises: frozenset[int]
    dropped: frozenset[int]
    reminders: frozenset[int]
    queued: frozenset[int]
    pending: frozenset[int]
    off_record: frozenset[int]
    cleared: tuple[tuple[int, int, int], ...]
    turns: frozenset[int]
    call: tuple[str, ...]
    calls: tuple[Row, ...]

    @staticmethod
    def of(tx: Tx) -> "DoneSince | None":
        """Read it; None where the file is of a schema before these tables."""
        call = tuple(name for name, _, _ in tx.columns("call") if name not in ("turn_id", "session_id"))
        try:
            return DoneSince(
                _numbers(tx, "commitment WHERE text <> ''"),
                _numbers(tx, "commitment WHERE text = ''"),
                _numbers(tx, "reminder WHERE ended_at IS NULL"),
                _numbers(tx, "event WHERE state = 'queued'"),
                _numbers(tx, "outbox WHERE state IN ('pending', 'preview')"),
                _numbers(tx, "event WHERE off_record > 0"),
                tx.all("SELECT id, cleared_upto, talks_cleared FROM chat"),
                _numbers(tx, "turn WHERE state IN ('asked', 'answered')"),
                call,
                tx.all(f"SELECT {', '.join(call)} FROM call"),
            )
        except sqlite3.Error:
            return None


@dataclass(frozen=True, slots=True)
class PresentState:
    """What the present database no longer tells: lines, memories and summaries that are left, and the last numbers."""

    installation: str
    hidden: frozenset[int]
    memories: frozenset[int]
    active: frozenset[int]
    digests: frozenset[int]
    last: dict[str, int]
    done: DoneSince | None = None

    @staticmethod
    def of(tx: Tx) -> "PresentState":
        """Read it; sqlite3.Error when the file cannot be read."""
        return PresentState(
            tx.meta("house") or "",
            _numbers(tx, "event WHERE hidden IN ('forgotten', 'deleted')"),
            # A name that was replaced was not forgotten, and what was archived is only put away.
            _numbers(tx, "memory WHERE disabled_at IS NULL OR disabled_reason IN ('replaced', 'archived')"),
            _numbers(tx, "memory WHERE disabled_at IS NULL"),
            _numbers(tx, "digest WHERE session_id IS NOT NULL AND summary <> ''"),
            tx.last_numbers(),
            DoneSince.of(tx),
        )

    def gone(self, tx: Tx, table: str, where: str, left: frozenset[int]) -> tuple[int, ...]:
        """The rows of the copy that the present database had as well and has not `left`."""
        last = self.last.get(table, 0)
        found = tx.ids(f"SELECT id FROM {table} WHERE {where} ORDER BY id")
        return tuple(number for number in found if number <= last and number not in left)


def _numbers(tx: Tx, where: str) -> frozenset[int]:
    return frozenset(tx.ids(f"SELECT id FROM {where}"))


def forget_again(tx: Tx, since: PresentState | None, at: int) -> int:
    """Forget by tombstone (number or text) and by what the present database no longer tells; how many memories.

    StoreError when the copy is of another installation.
    """
    tombstones, installation = tx.files.tombstones, tx.meta("house")
    if since is not None and since.installation and installation not in (None, since.installation):
        raise StoreError("the backup is of another installation: nothing was changed")
    last = since.last if since is not None else {}
    if since is not None:
        _hide(tx, since, at)
        # What was forgotten when the copy was made and taken back since is not purged with its time.
        for number in _numbers(tx, "memory WHERE disabled_reason IN ('asked', 'derived')") & since.active:
            bring_back(tx, number)
        # Talks of which the present database tells nothing: forgotten ones are emptied, cleared and old ones with them.
        for number in since.gone(tx, "digest", "session_id IS NOT NULL AND summary <> ''", since.digests):
            tx.run("UPDATE digest SET summary = '' WHERE id = ?", number)
            summary_changed(tx, number)
        if since.done is not None:
            apply_done_since(tx, since, since.done, at)
    drop_forgotten_plans(tx, tombstones, at)
    gone: dict[tuple[int, int], list[Memory]] = {}
    newest = max(last.get("memory", 0), tombstones.last)
    for memory in tx.all(f"{SELECT_MEMORY}WHERE disabled_at IS NULL ORDER BY memory.id", to=Memory):
        ended = since is not None and memory.id <= newest and memory.id not in since.memories
        tombstoned = tombstones.covers_number(memory.id) or any(map(tombstones.covers, memory.wordings))
        # Of what two people said alike one may have forgotten theirs: the other's is still there today.
        if ended or (tombstoned and (since is None or memory.id not in since.active)):
            gone.setdefault((memory.owner_id or 0, memory.chat_id), []).append(memory)
    for (owner, chat_id), memories in gone.items():  # together: what was said there is read once for all of them
        disable_memories(tx, Forgetting(tuple(memories), owner, None), chat_id, at)
    # Nothing that was forgotten before the copy was made is kept for undo any longer than its time.
    purge_rows(tx, at)
    for name in NUMBERED:
        tx.raise_last_number(name, max(last.get(name, 0), tombstones.last if name == "memory" else 0))
    return sum(map(len, gone.values()))


def _hide(tx: Tx, since: PresentState, at: int) -> None:
    """Lines that were forgotten or deleted, with the logs and summaries that tell of them."""
    told = set(_numbers(tx, "event WHERE hidden = ''") & since.hidden)
    for epoch_id in logs_of(tx, told):
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", epoch_id)
        drop_log(tx, epoch_id)
    empty_digests(tx, told, at)
    hide_lines(tx, told, "forgotten")


def apply_done_since(tx: Tx, since: PresentState, done: DoneSince, at: int) -> None:
    """What was ended, said, answered or set aside since is so in the copy, too; nothing happens twice."""
    gone = since.gone(tx, "commitment", "text <> ''", done.promises)
    delete_commitments(tx, [number for number in gone if number not in done.dropped])
    for number in gone:  # an empty row, which is left of a dropped one, keeps a digest from bringing it back
        if tx.run(
            "UPDATE commitment SET text = '', folded = '', state = 'failed', ended_at = coalesce(ended_at, ?) "
            "WHERE id = ?",
            at,
            number,
        ):
            settle_nudges(tx, number)
    end_reminders(tx, since.gone(tx, "reminder", "ended_at IS NULL", done.reminders), "cancelled", at)
    for number in since.gone(tx, "event", "state = 'queued'", done.queued):
        tx.run("UPDATE event SET state = 'done', outcome = 'restored', due_at = NULL WHERE id = ?", number)
    for number in since.gone(tx, "outbox", "state IN ('pending', 'sending', 'preview')", done.pending):
        tx.run(
            "UPDATE outbox SET state = 'cancelled', text = '', payload = '', error = 'restored' WHERE id = ?", number
        )
    # What was spent since stays spent: a way back gives nobody their money's worth anew. What was under way at the end
    # is charged at the next start.
    newest, reserved = tx.number("SELECT max(id) FROM call"), _numbers(tx, "call WHERE state = 'reserved'")
    for values in done.calls:
        call = dict(zip(done.call, values, strict=True))
        if call["id"] > newest:
            tx.insert("call", **call)
        elif call["id"] in reserved:
            tx.run(f"UPDATE call SET {', '.join(f'{name} = ?' for name in call)} WHERE id = ?", *values, call["id"])
    tx.raise_last_number("call", tx.number("SELECT max(id) FROM call"))
    for turn in running_turns(tx):
        if turn.id not in done.turns:
            # What was on the screen then may be the reply by now: it is not taken away.
            tx.run("UPDATE outbox SET preview_id = '' WHERE turn_id = ? AND state = 'cancelled'", turn.id)
            void_turn(tx, turn, "restored", at)
            requeue_events(tx, turn.event_ids, at)  # those that wait to this day
            tx.run("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", turn.id)
    set_aside = set(_numbers(tx, "event WHERE off_record = 0 AND hidden = ''") & done.off_record)
    for number in set_aside:
        tx.run("UPDATE event SET off_record = 1 WHERE id = ?", number)
    if set_aside:
        index_lines(tx, set_aside)
        empty_digests(tx, set_aside, at)
        withdraw_promises(tx, set_aside)
    for chat_id, lines, talks in done.cleared:
        sql = (
            f"UPDATE chat SET cleared_upto = {GREATEST}(cleared_upto, ?), talks_cleared = {GREATEST}(talks_cleared, ?) "
            "WHERE id = ?"
        )
        tx.run(sql, lines, talks, chat_id)


def drop_forgotten_plans(tx: Tx, tombstones: Tombstones, at: int) -> None:
    """Promises, reminders and summaries whose very text was forgotten are gone."""

    def covered(sql: str) -> list[int]:
        return [number for number, text in tx.all(sql) if text and tombstones.covers(text)]

    delete_commitments(tx, covered("SELECT id, text FROM commitment"))
    end_reminders(tx, covered("SELECT id, text FROM reminder WHERE ended_at IS NULL"), "forgotten", at)
    for number in covered("SELECT id, summary FROM digest"):
        tx.run("UPDATE digest SET summary = '' WHERE id = ?", number)
        drop_documents(tx, "digest", (number,))


def copy_path(folder: Path, label: str, stamp: str) -> Path:
    """Where a copy of that name and time stands, beside the database."""
    return (folder / DATABASE).with_name(f"nuan.before-{label}-{stamp}.db")


def backup(folder: Path, label: str, stamp: str, url: str = "", tell: CopyProgress = no_progress) -> Path:
    """As `copy_to`, beside the database and named after what it was made before."""
    path = copy_path(folder, label, stamp)
    return copy_to(folder, path.with_suffix(DUMP) if url else path, tell, url)


def copy_to(folder: Path, path: Path, tell: CopyProgress = no_progress, url: str = "") -> Path:
    """Copy the database of a data folder as `copy_database`, with an `url` as pg_dump does; where it is."""
    if path.name in ("", ".."):
        raise StoreError(f"{path} is no name of a file: give another")
    if url:
        server_backups().dump(url, path)
    else:
        copy_database(folder / DATABASE, path, tell)
    return path


def server_backups() -> ModuleType:
    """What copies a database of a server; StoreError when its driver is not installed."""
    return postgres_part("backups")


def verify_forward(path: Path, wrong: int | None = None) -> int:
    """As `verify_copy`; one of an earlier schema is also brought to this one, in a copy that is thrown away."""
    version = verify_copy(path, wrong)
    if version < SCHEMA_VERSION:
        with tempfile.TemporaryDirectory(prefix="nuan-check-") as folder:
            copy = Path(folder, DATABASE)
            _copy(path, copy, no_progress)
            try:
                bring_forward(copy)
            except StoreError as error:
                raise _not_ours(path) from error
    return version


def _not_ours(path: Path) -> StoreError:
    return StoreError(f"{path.name} cannot be brought to schema {SCHEMA_VERSION}: it is damaged; nothing was changed")


def newest_copy(folder: Path, label: str) -> Path | None:
    """The newest copy of that label."""
    return max((*folder.glob(f"nuan.before-{label}-*.db"), *folder.glob(f"nuan.before-{label}-*{DUMP}")), default=None)


def count_newer(folder: Path, copy: Path) -> tuple[int, int] | None:
    """How many lines and memories the present database has that came after that copy; None when nobody can tell."""
    try:
        with contextlib.closing(open_existing(copy)) as tx:
            last = tx.last_numbers()
        with contextlib.closing(open_existing(folder / DATABASE)) as tx:
            lines = "SELECT count(*) FROM event WHERE kind = 'message' AND id > ?"
            memories = "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND id > ?"
            return tx.value(lines, last.get("event", 0)), tx.value(memories, last.get("memory", 0))
    except sqlite3.Error:
        return None


async def roll_back(
    folder: Path, copy: Path, stamp: str, at: int, *, label: str = "rollback", tell: CopyProgress = no_progress
) -> tuple[Path | None, int]:
    """Put a copy in the database's place; where the present file went, and how many memories were forgotten again.

    None when there was no file. The copy stays as it is. FolderLockedError when a nuan runs here, StoreError when the
    copy is not whole or of another installation.
    A crash leaves the present database or the restored one.
    """
    new = folder / f"{ROLLBACK}db"
    await asyncio.to_thread(_refuse_left, folder, copy)
    lock = await asyncio.to_thread(lock_folder, folder)
    try:
        await asyncio.to_thread(verify_copy, copy)
        await asyncio.to_thread(_copy, copy, new, tell)
        since = await asyncio.to_thread(_since, folder / DATABASE)
        try:
            database = await open_database(new)
        except StoreError as error:
            raise _not_ours(copy) from error
        try:
            count = await cleanse(database, since, DataFiles(folder), at)
        finally:
            await database.close()
        await asyncio.to_thread(verify_copy, new)
        previous = copy_path(folder, label, stamp)
        kept = await asyncio.to_thread(_swap, folder / DATABASE, new, previous)
        return previous if kept else None, count
    finally:
        await asyncio.to_thread(remove_rollback_files, folder)
        os.close(lock)


def _refuse_left(folder: Path, copy: Path) -> None:
    """StoreError for what an unfinished restore left: it would be written over by itself."""
    there = copy.resolve()
    if there.parent == folder.resolve() and there.name.startswith(ROLLBACK):
        raise StoreError(f"{copy.name} is what an unfinished restore left, no backup: nothing was changed")


async def cleanse(database: Database, since: PresentState | None, files: DataFiles, at: int) -> int:
    """In a copy that is about to be the database: what was forgotten or done since is so, too; how many memories."""
    database.share(files)

    def transaction(tx: Tx) -> int:
        count = forget_again(tx, since, at)
        erase_again(tx, at)
        return count

    count = await database.write(transaction)
    await database.truncate()
    return count


def _since(path: Path) -> PresentState | None:
    """What was forgotten until now, by the present database; None when it cannot be read."""
    try:
        with contextlib.closing(open_existing(path)) as present:
            return PresentState.of(present)
    except sqlite3.Error:
        return None


def _swap(present: Path, new: Path, previous: Path) -> bool:
    """The present file keeps its content under another name, if there is one; its place is never empty."""
    wal = present.with_name(f"{present.name}-wal")
    with contextlib.suppress(sqlite3.Error), contextlib.closing(open_existing(present)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    there = present.exists()
    if there:
        try:
            previous.hardlink_to(present)
        except FileExistsError:
            raise StoreError(f"{previous.name} is there already: nothing was changed") from None
        except OSError:
            shutil.copy2(present, previous)
        if wal.exists() and wal.stat().st_size:  # it could not be emptied: the file is damaged, keep both
            shutil.copy2(wal, previous.with_name(f"{previous.name}-wal"))
        sync_to_disk(previous)
    for part in ("-wal", "-shm"):
        present.with_name(present.name + part).unlink(missing_ok=True)
    sync_to_disk(new)
    new.replace(present)
    sync_to_disk(present.parent)
    return there


def _copy(source: Path, target: Path, tell: CopyProgress) -> None:
    create_file(target)
    with (
        disk_errors(f"{source.name} cannot be copied", ": nothing was changed", sqlite3.Error),
        contextlib.closing(open_existing(source)) as copy,
        contextlib.closing(sqlite3.connect(target)) as db,
    ):
        copy.backup(db, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """One backup: its file, when it was made (a stamp) and its size in bytes."""

    path: Path
    made: str
    size: int


def folder_of(data: Path, named: str) -> Path:
    """Where backups are kept: the named folder, or the one in the data folder."""
    return Path(named).expanduser() if named else data / BACKUPS_FOLDER


def backups_in(folder: Path) -> tuple[KeptBackup, ...]:
    """The backups in a folder, oldest first; StoreError when it cannot be read. Other files are none of ours."""
    with disk_errors("the backups cannot be read"):
        names = [*folder.glob("nuan-*.db"), *folder.glob(f"nuan-*{DUMP}")]
        found = [path for path in names if path.stem == f"nuan-{stamp_in(path.name)}"]
        return tuple(
            KeptBackup(path, stamp_in(path.name), path.stat().st_size)
            for path in sorted(found, key=lambda path: path.name)
        )


def expired_backups(kept: tuple[KeptBackup, ...], most: int, before: int) -> tuple[KeptBackup, ...]:
    """Which have had their time: all but the `most` newest, and those made before that instant, ms.

    The newest stays whatever its age.
    """
    old = {each.path for each in (*kept[:-most], *(each for each in kept if each.made < stamp(before)))}
    return tuple(each for each in kept[:-1] if each.path in old)


def tidy_beside(data: Path, before: int) -> int:
    """Copies beside the database that were made before that instant, ms, go; how many. StoreError when one cannot."""
    gone = 0
    with disk_errors("an old copy of the database cannot be removed"):
        for path in {path for pattern in LEFTOVER_PATTERNS for path in data.glob(pattern)}:
            found = path.stat()
            # A restore only gives the old file another name, which its last change does not tell.
            if max(found.st_mtime, found.st_ctime) * 1000 < before:
                path.unlink(missing_ok=True)
                gone += 1
    return gone


def write_backup(
    data: Path, folder: Path, at: int, rules: BackupRules, tell: CopyProgress = no_progress, url: str = ""
) -> tuple[Path, int]:
    """Make a backup of this instant (ms), looked over, and remove those that have had their time; how many went.

    Works beside a running nuan. StoreError when it fails, another one is under way or its name is taken.
    """
    with disk_errors("the backups cannot be written"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = lock_file(folder / ".lock")
        if lock is None:
            raise StoreError("another backup is being made: wait for it")
        try:
            for half in (
                *folder.glob(".nuan-*.db.new*"),
                *folder.glob(f".nuan-*{DUMP}.new"),
            ):  # of a backup that a crash cut off
                half.unlink()
            path = copy_to(data, folder / f"nuan-{stamp(at)}{DUMP if url else '.db'}", tell, url)
            gone = expired_backups(backups_in(folder), rules.keep, at - rules.days * DAY_MS)
            for each in gone:
                each.path.unlink(missing_ok=True)
            return path, len(gone)
        finally:
            os.close(lock)
