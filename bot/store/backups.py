"""Backups: made, kept, restored; what was forgotten or done since is so in the restored copy too."""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.core.errors import StoreError
from bot.core.files import create_file, lock_file, sync_to_disk
from bot.store.commitments import delete_commitments as drop_promises
from bot.store.commitments import withdraw_promises
from bot.store.digests import summary_changed
from bot.store.engine import Database, bring_forward, open_database
from bot.store.forget import Forgetting, disable_memories, empty_digests, hide_lines, logs_of, purge_rows
from bot.store.index import drop_documents, index_lines, index_memory
from bot.store.note_rows import NoteFiles
from bot.store.notes import NoteStorage
from bot.store.reminders import end_reminders
from bot.store.schema import (
    PAGES,
    SCHEMA_VERSION,
    SELECT_MEMORY,
    CopyProgress,
    copy_database,
    memory_of,
    no_progress,
    open_existing,
    verify_copy,
)
from bot.store.sessions import drop_log
from bot.store.store import DATABASE, ROLLBACK, lock_folder, remove_rollback_files
from bot.store.tombstones import ErasureFile, Tombstones, erase_again
from bot.store.transactions import Tx
from bot.text.dates import stamp, stamp_in

CALL_COLUMNS = (
    "id, chat_id, person_id, cause, model, state, at, settled_at, reserved_tokens, reserved_cost, prompt_tokens, "
    "cached_tokens, output_tokens, cost, counted, written_tokens, reasoning_tokens, estimated_tokens"
)
"""What of a call counts against budgets: all but the turn and the session, which a copy may not have."""


@dataclass(frozen=True, slots=True)
class DoneSince:
    """What the present database has left: promises, empty rows of dropped ones, open reminders, what waits to be
    answered or sent.

    `off_record` are the lines that are to be kept nowhere, `cleared` how far each chat was cleared (lines, talks),
    `turns` those that run, `calls` what was spent, as rows of CALL.
    """

    promises: frozenset[int]
    dropped: frozenset[int]
    reminders: frozenset[int]
    queued: frozenset[int]
    pending: frozenset[int]
    off_record: frozenset[int]
    cleared: tuple[tuple[int, int, int], ...]
    turns: frozenset[int] = frozenset()
    calls: tuple[tuple[object, ...], ...] = ()

    @staticmethod
    def of(db: Tx) -> "DoneSince":
        """Read it; sqlite3.Error when the file cannot be read, or is of a schema that has none of it."""

        def numbers(sql: str) -> frozenset[int]:
            return frozenset(cast("int", row[0]) for row in db.execute(sql))

        return DoneSince(
            numbers("SELECT id FROM commitment WHERE text <> ''"),
            numbers("SELECT id FROM commitment WHERE text = ''"),
            numbers("SELECT id FROM reminder WHERE ended_at IS NULL"),
            numbers("SELECT id FROM event WHERE state = 'queued'"),
            numbers("SELECT id FROM outbox WHERE state IN ('pending', 'preview')"),
            numbers("SELECT id FROM event WHERE off_record = 1"),
            tuple(db.execute("SELECT id, cleared_upto, talks_cleared FROM chat")),
            numbers("SELECT id FROM turn WHERE state IN ('asked', 'answered')"),
            tuple(db.execute(f"SELECT {CALL_COLUMNS} FROM call WHERE state <> 'reserved'")),
        )


def apply_done_since(db: Tx, since: DoneSince, last: dict[str, int], at: int) -> None:
    """Within a transaction: what was ended, said, answered or set aside since is so in the copy, too; nothing happens
    twice.

    `last` are the last numbers that the present database gave.
    """
    promises = db.execute("SELECT id FROM commitment WHERE text <> ''").fetchall()
    gone = [number for (number,) in promises if _ended(number, since.promises, last, "commitment")]
    drop_promises(db, [number for number in gone if number not in since.dropped])
    # An empty row keeps a digest from bringing it back.
    emptied = [(at, number) for number in gone if number in since.dropped]
    db.executemany(
        "UPDATE commitment SET text = '', folded = '', state = 'failed', ended_at = coalesce(ended_at, ?) WHERE id = ?",
        emptied,
    )
    reminders = db.execute("SELECT id FROM reminder WHERE ended_at IS NULL").fetchall()
    over = [number for (number,) in reminders if _ended(number, since.reminders, last, "reminder")]
    end_reminders(db, over, "cancelled", at)
    for (number,) in db.execute("SELECT id FROM event WHERE state = 'queued'").fetchall():
        if _ended(number, since.queued, last, "event"):
            db.execute("UPDATE event SET state = 'done', outcome = 'restored', due_at = NULL WHERE id = ?", (number,))
    for (number,) in db.execute("SELECT id FROM outbox WHERE state IN ('pending', 'sending', 'preview')").fetchall():
        if _ended(number, since.pending, last, "outbox"):
            db.execute("UPDATE outbox SET state = 'cancelled', text = '', error = 'restored' WHERE id = ?", (number,))
    for (number,) in db.execute("SELECT id FROM turn WHERE state IN ('asked', 'answered')").fetchall():
        if number not in since.turns:
            db.execute("UPDATE turn SET state = 'void', receipts = '[]' WHERE id = ?", (number,))
            db.execute("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", (number,))
    _pay(db, since.calls)
    _set_aside(db, since.off_record, at)
    for chat, lines, talks in since.cleared:
        db.execute(
            "UPDATE chat SET cleared_upto = max(cleared_upto, ?), talks_cleared = max(talks_cleared, ?) WHERE id = ?",
            (lines, talks, chat),
        )


def drop_forgotten_plans(db: Tx, tombstones: Tombstones, at: int) -> None:
    """Within a transaction: promises, reminders and summaries whose very text was forgotten are gone."""
    rows = db.execute("SELECT id, text FROM commitment WHERE text <> ''").fetchall()
    drop_promises(db, [cast("int", number) for number, text in rows if tombstones.covers(text)])
    rows = db.execute("SELECT id, text FROM reminder WHERE ended_at IS NULL").fetchall()
    end_reminders(db, [number for number, text in rows if tombstones.covers(text)], "forgotten", at)
    for number, text in db.execute("SELECT id, summary FROM digest WHERE summary <> ''").fetchall():
        if tombstones.covers(text):
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            drop_documents(db, "digest", (number,))


def _ended(number: int, left: frozenset[int], last: dict[str, int], table: str) -> bool:
    return number <= last.get(table, 0) and number not in left


def _pay(db: Tx, calls: tuple[tuple[object, ...], ...]) -> None:
    """What was spent since stays spent: a way back gives nobody their money's worth anew."""
    (most,) = db.execute("SELECT coalesce(max(id), 0) FROM call").fetchone()
    rows = [row for row in calls if cast("int", row[0]) > most]
    db.executemany(f"INSERT INTO call ({CALL_COLUMNS}) VALUES ({', '.join('?' * len(CALL_COLUMNS.split(', ')))})", rows)


def _set_aside(db: Tx, off_record: frozenset[int], at: int) -> None:
    rows = db.execute("SELECT id FROM event WHERE off_record = 0 AND hidden = ''").fetchall()
    marked = {cast("int", row[0]) for row in rows} & off_record
    db.executemany("UPDATE event SET off_record = 1 WHERE id = ?", [(number,) for number in marked])
    if marked:
        index_lines(db, marked)
        empty_digests(db, marked, at)
        withdraw_promises(db, marked)


_COUNTED = ("memory", "event", "outbox", "digest", "commitment", "reminder", "note_chunk")
"""Tables whose numbers are never given twice, not by a way back either."""


@dataclass(frozen=True, slots=True)
class PresentState:
    """What the present database no longer tells: lines, memories and summaries that are left, and the last numbers."""

    installation: str
    hidden: frozenset[int]
    memories: frozenset[int]
    active: frozenset[int]
    digests: frozenset[int]
    last: tuple[tuple[str, int], ...]
    overtaken: DoneSince | None = None

    @staticmethod
    def of(db: Tx) -> "PresentState":
        """Read it; sqlite3.Error when the file cannot be read."""

        def numbers(sql: str) -> frozenset[int]:
            return frozenset(cast("int", row[0]) for row in db.execute(sql))

        installation = db.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()
        return PresentState(
            str(installation[0]) if installation else "",
            numbers("SELECT id FROM event WHERE hidden IN ('forgotten', 'deleted')"),
            # A name that was replaced was not forgotten, and what was archived is only put away.
            numbers("SELECT id FROM memory WHERE disabled_at IS NULL OR disabled_reason IN ('replaced', 'archived')"),
            numbers("SELECT id FROM memory WHERE disabled_at IS NULL"),
            numbers("SELECT id FROM digest WHERE session_id IS NOT NULL AND summary <> ''"),
            tuple((str(name), cast("int", seq)) for name, seq in db.execute("SELECT name, seq FROM sqlite_sequence")),
            _overtaken(db),
        )


def _overtaken(db: Tx) -> DoneSince | None:
    try:
        return DoneSince.of(db)
    except sqlite3.Error:  # of a schema before these tables
        return None


def forget_again(
    db: Tx, since: PresentState | None, tombstones: Tombstones, at: int, note_storage: NoteStorage
) -> int:  # fmt: skip
    """One transaction: forget by tombstone (number or text) and by what the present database no longer tells; how many
    memories.

    StoreError when the copy is of another installation.
    """
    if since is not None:
        _same_installation(db, since)
        _hide(db, since, at)
        _undone(db, since)
        _talks(db, since)
    gone = 0
    seqs = dict(since.last) if since is not None else {}
    if since is not None and since.overtaken is not None:
        apply_done_since(db, since.overtaken, seqs, at)
    drop_forgotten_plans(db, tombstones, at)
    last = max(seqs.get("memory", 0), tombstones.last)
    for row in db.execute(f"{SELECT_MEMORY}WHERE disabled_at IS NULL ORDER BY memory.id").fetchall():
        memory = memory_of(tuple(row))
        ended = since is not None and memory.id <= last and memory.id not in since.memories
        tombstoned = tombstones.covers_number(memory.id) or any(map(tombstones.covers, memory.wordings))
        # Of what two people said alike one may have forgotten theirs: the other's is still there today.
        if ended or (tombstoned and (since is None or memory.id not in since.active)):
            disable_memories(db, Forgetting((memory,), memory.owner_id or 0, None), memory.chat_id, at, note_storage)
            gone += 1
    # Nothing that was forgotten before the copy was made is kept for undo any longer than its time.
    purge_rows(db, at)
    for name in _COUNTED:
        most = max(seqs.get(name, 0), tombstones.last if name == "memory" else 0)
        db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (most, name))
    return gone


def _talks(db: Tx, since: PresentState) -> None:
    """Talks of which the present database tells nothing: forgotten ones are emptied, cleared and old ones with them."""
    last = dict(since.last).get("digest", 0)
    for (number,) in db.execute("SELECT id FROM digest WHERE session_id IS NOT NULL AND summary <> ''").fetchall():
        if number <= last and number not in since.digests:
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            summary_changed(db, number)


def _undone(db: Tx, since: PresentState) -> None:
    """What was forgotten when the copy was made and taken back since is not purged with its time."""
    rows = db.execute("SELECT id FROM memory WHERE disabled_reason IN ('asked', 'derived')").fetchall()
    for number in {cast("int", row[0]) for row in rows} & since.active:
        db.execute(
            "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL WHERE id = ?", (number,)
        )
        index_memory(db, number)


def _same_installation(db: Tx, since: PresentState) -> None:
    row = db.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()
    if since.installation and row is not None and row[0] != since.installation:
        raise StoreError("the backup is of another house: nothing was changed")


def _hide(db: Tx, since: PresentState, at: int) -> None:
    """Lines that were forgotten or deleted, with the logs and summaries that tell of them."""
    told = {cast("int", row[0]) for row in db.execute("SELECT id FROM event WHERE hidden = ''")} & since.hidden
    for epoch_id in logs_of(db, told):
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (epoch_id,))
        drop_log(db, epoch_id)
    empty_digests(db, told, at)
    hide_lines(db, told, "forgotten")


def copy_path(folder: Path, label: str, stamp: str) -> Path:
    """Where a copy of that name and time stands, beside the database."""
    return (folder / DATABASE).with_name(f"nuan.before-{label}-{stamp}.db")


def backup(folder: Path, label: str, stamp: str, tell: CopyProgress = no_progress) -> Path:
    """As `copy_to`, beside the database and named after what it was made before."""
    return copy_to(folder, copy_path(folder, label, stamp), tell)


def copy_to(folder: Path, path: Path, tell: CopyProgress = no_progress) -> Path:
    """Copy the database of a data folder as `copy_database`; where it is."""
    if path.name in ("", ".."):
        raise StoreError(f"{path} is no name of a file: give another")
    copy_database(folder / DATABASE, path, tell)
    return path


def verify_forward(path: Path, wrong: int | None = None) -> int:
    """As `verify`; one of an earlier schema is also brought to this one, in a copy that is thrown away."""
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
    return max(folder.glob(f"nuan.before-{label}-*.db"), default=None)


def count_newer(folder: Path, copy: Path) -> tuple[int, int] | None:
    """How many lines and memories the present database has that came after that copy; None when nobody can tell."""
    try:
        with contextlib.closing(open_existing(copy)) as db:
            last = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        with contextlib.closing(open_existing(folder / DATABASE)) as db:
            (lines,) = db.execute(
                "SELECT count(*) FROM event WHERE kind = 'message' AND id > ?", (last.get("event", 0),)
            ).fetchone()
            (memories,) = db.execute(
                "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND id > ?", (last.get("memory", 0),)
            ).fetchone()
    except sqlite3.Error:
        return None
    return int(lines), int(memories)


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
            count = await _cleanse(database, since, folder, at)
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


async def _cleanse(database: Database, since: PresentState | None, folder: Path, at: int) -> int:
    tombstones = Tombstones(folder)
    note_storage = NoteStorage(NoteFiles(folder), tombstones.add_tombstone)
    erasures = ErasureFile(folder, tombstones)

    def transaction(db: Tx) -> int:
        count = forget_again(db, since, tombstones, at, note_storage)
        erase_again(db, erasures, note_storage, at)
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
    try:
        with contextlib.closing(open_existing(source)) as copy, contextlib.closing(sqlite3.connect(target)) as db:
            copy.backup(db, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{source.name} cannot be copied ({error}): nothing was changed") from error


BACKUPS_FOLDER = "backups"
"""Where they are in the data folder, unless the configuration names another place."""

LEFTOVER_PATTERNS = ("nuan*.before-*.db*", ".nuan*.before-*.db.new*", f"{BACKUPS_FOLDER}/.nuan-*.db.new*")
"""What migrations and restores leave beside the database, and what a crash left of such a copy or of a backup."""


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """One backup: its file, when it was made (a stamp) and its size in bytes."""

    path: Path
    made: str
    size: int


@dataclass(frozen=True, slots=True)
class BackupRetention:
    """How many of the newest are kept, and how old one may become, ms."""

    most: int
    age_ms: int


def folder_of(data: Path, named: str) -> Path:
    """Where backups are kept: the named folder, or the one in the data folder."""
    return Path(named).expanduser() if named else data / BACKUPS_FOLDER


def name_at(at: int) -> str:
    """The name of a backup made at that instant, ms."""
    return f"nuan-{stamp(at)}.db"


def backups_in(folder: Path) -> tuple[KeptBackup, ...]:
    """The backups in a folder, oldest first; StoreError when it cannot be read. Other files are none of ours."""
    try:
        found = [path for path in folder.glob("nuan-*.db") if path.name == f"nuan-{stamp_in(path.name)}.db"]
        return tuple(
            KeptBackup(path, stamp_in(path.name), path.stat().st_size)
            for path in sorted(found, key=lambda path: path.name)
        )
    except OSError as error:
        raise StoreError(f"the backups cannot be read ({error})") from error


def expired_backups(kept: tuple[KeptBackup, ...], most: int, before: int) -> tuple[KeptBackup, ...]:
    """Which have had their time: all but the `most` newest, and those made before that instant, ms.

    The newest stays whatever its age.
    """
    old = {each.path for each in (*kept[:-most], *(each for each in kept if each.made < stamp(before)))}
    return tuple(each for each in kept[:-1] if each.path in old)


def tidy_beside(data: Path, before: int) -> int:
    """Copies beside the database that were made before that instant, ms, go; how many. StoreError when one cannot."""
    gone = 0
    try:
        for path in {path for pattern in LEFTOVER_PATTERNS for path in data.glob(pattern)}:
            found = path.stat()
            # A restore only gives the old file another name, which its last change does not tell.
            if max(found.st_mtime, found.st_ctime) * 1000 < before:
                path.unlink(missing_ok=True)
                gone += 1
    except OSError as error:
        raise StoreError(f"an old copy of the database cannot be removed ({error})") from error
    return gone


def write_backup(
    data: Path, folder: Path, at: int, rules: BackupRetention, tell: CopyProgress = no_progress
) -> tuple[Path, int]:
    """Make a backup of this instant (ms), looked over, and remove those that have had their time; how many went.

    Works beside a running nuan. StoreError when it fails, another one is under way or its name is taken.
    """
    lock = _lock(folder)
    try:
        for half in folder.glob(".nuan-*.db.new*"):  # of a backup that a crash cut off
            half.unlink()
        path = copy_to(data, folder / name_at(at), tell)
        gone = expired_backups(backups_in(folder), rules.most, at - rules.age_ms)
        for each in gone:
            each.path.unlink(missing_ok=True)
        return path, len(gone)
    except OSError as error:
        raise StoreError(f"the backups cannot be written ({error})") from error
    finally:
        os.close(lock)


def _lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = lock_file(folder / ".lock")
    except OSError as error:
        raise StoreError(f"the backups cannot be written ({error})") from error
    if lock is None:
        raise StoreError("another backup is being made: wait for it")
    return lock
