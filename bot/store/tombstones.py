"""HMACs of what was forgotten and who was erased, in files outside the database, and erasing by them."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.core.errors import StoreError
from bot.core.files import append_to_file, write_file
from bot.core.people import ErasedPerson
from bot.store.engine import Database
from bot.store.erase import PERSON_COUNTS, drop_left_addresses, erase_person
from bot.store.notes import NoteStorage
from bot.store.transactions import Tx
from bot.text.fold import fold

KEY_FILE = "tombstones.key"


class Tombstones:
    """A set of forgotten texts that cannot be read back. A fresh 记住 lifts one."""

    def __init__(self, folder: Path) -> None:
        """Read the tombstones; StoreError when the file or its key cannot be read."""
        self._path = folder / "tombstones.jsonl"
        self._key_path = folder / KEY_FILE
        self._key = b""
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
            if self._key_path.exists():
                self._key = self._key_path.read_bytes()
        except OSError as error:
            raise StoreError(f"the tombstones cannot be read ({error}): check the data folder's rights") from error
        self._macs: set[str] = set()
        self._numbers: dict[int, str] = {}
        self.added_at = 0
        """When this process last added a tombstone, ms; 0 for never."""
        for line in lines:
            self._read(line)
        if self._macs and not self._key:
            raise StoreError("tombstones.key is gone: put it back from a backup, or what was forgotten may return")

    def add_tombstone(self, memory_id: int, text: str, at: int) -> None:
        """Write down that this text was forgotten; durable when it returns. StoreError when the disk refuses."""
        self.add_tombstones([(memory_id, text)], at)

    def add_tombstones(self, texts: Iterable[tuple[int, str]], at: int) -> None:
        """As `add_tombstone` for each; the disk is waited for once, however many they are."""
        if not self._key:
            self._key = _new_key(self._key_path)
        macs = [(number, self._mac(text)) for number, text in texts]
        self._append([{"id": number, "mac": mac, "at": at} for number, mac in macs])
        self._macs.update(mac for _, mac in macs)
        self.added_at = max(self.added_at, at)
        self._numbers.update(macs)

    def remove_tombstone(self, text: str, at: int) -> None:
        """It was said anew on purpose: no longer forgotten. StoreError when the disk refuses."""
        self.remove_tombstones([text], at)

    def remove_tombstones(self, texts: Iterable[str], at: int) -> None:
        """As `lift`; the disk is waited for once."""
        macs = [self._mac(text) for text in texts if self.covers(text)]
        if macs:
            self._append([{"mac": mac, "lifted": True, "at": at} for mac in macs])
            self._macs.difference_update(macs)

    def covers(self, text: str) -> bool:
        """True when exactly this text (folded) was forgotten and not told anew."""
        return bool(self._macs) and self._mac(text) in self._macs

    def covers_number(self, memory_id: int) -> bool:
        """True when the memory of that number was forgotten and its text not told anew."""
        return self._numbers.get(memory_id) in self._macs

    def sign(self, text: str) -> str:
        """By what a text is known to this installation and to nobody else; StoreError when there can be no key."""
        if not self._key:
            self._key = _new_key(self._key_path)
        return self._mac(text)

    @property
    def last(self) -> int:
        """The highest number among what was forgotten, 0 for nothing."""
        return max(self._numbers, default=0)

    def _read(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            (self._macs.discard if row.get("lifted") else self._macs.add)(row["mac"])
            if isinstance(row.get("id"), int):
                self._numbers[row["id"]] = row["mac"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # half a line, from a power cut: its command was never confirmed

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, rows: list[dict[str, object]]) -> None:
        # The first line end closes half a line before it.
        lines = "".join(("\n", *(f"{json.dumps(row)}\n" for row in rows))).encode()
        try:
            append_to_file(self._path, lines)
        except OSError as error:
            raise StoreError(f"tombstones.jsonl cannot be written ({error}): nothing was forgotten") from error


def _new_key(path: Path) -> bytes:
    """A fresh key, whole on disk before anything is signed with it."""
    key = secrets.token_bytes(32)
    try:
        write_file(path, key)
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written ({error}): nothing was forgotten") from error
    return key


ERASURES_FILE = "erased.jsonl"
ERASED_KEY = "erased:"
"""The key of an erasure in the table meta begins with it."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure: its name, and by what the accounts of the person are known."""

    name: str
    accounts: frozenset[str]


class ErasureFile:
    """The file of a data folder; every method blocks."""

    def __init__(self, folder: Path, tombstones: Tombstones) -> None:
        self._path = folder / ERASURES_FILE
        self._tombstones = tombstones

    def begin(self, accounts: Iterable[str], at: int) -> str:
        """Write down that whoever has these accounts ("platform:id") is erased; its name. Durable when it returns."""
        name, known = secrets.token_hex(8), sorted(self._sign(account) for account in accounts)
        self._append({"erasure": name, "at": at, "accounts": known})
        return name

    def give_up(self, name: str) -> None:
        """The database refused: nothing of it was done, nor will be."""
        self._append({"erasure": name, "void": True})

    def all(self) -> tuple[Erasure, ...]:
        """Every erasure, oldest first; StoreError when the file cannot be read."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"{ERASURES_FILE} cannot be read ({error}): check the data folder's rights") from error
        found: dict[str, Erasure] = {}
        for line in lines:
            try:
                row = json.loads(line)
                name = str(row["erasure"])
                if row.get("void"):
                    found.pop(name, None)
                else:
                    found[name] = Erasure(name, frozenset(map(str, row["accounts"])))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # half a line, from a power cut: nothing was done yet
        return tuple(found.values())

    def due(self, db: Tx) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Within a transaction: which erasures this database has not seen, each with the numbers of the people it
        means.
        """
        due = [each for each in self.all() if not _done(db, each.name)]
        if not due:
            return ()
        if not self._path.with_name(KEY_FILE).exists():
            raise StoreError(f"{KEY_FILE} is gone: put it back from a backup, or who was erased may return")
        rows = db.execute("SELECT person_id, platform || ':' || external_id FROM account").fetchall()
        known = [(cast("int", person), self._sign(str(account))) for person, account in rows]
        return tuple(
            (each.name, tuple(sorted({person for person, mac in known if mac in each.accounts}))) for each in due
        )

    def _sign(self, account: str) -> str:
        return self._tombstones.sign(f"account {account}")

    def _append(self, row: dict[str, object]) -> None:
        try:
            # The first line end closes half a line before it.
            append_to_file(self._path, f"\n{json.dumps(row)}\n".encode())
        except OSError as error:
            raise StoreError(f"{ERASURES_FILE} cannot be written ({error}): nothing was erased") from error


def erase_again(db: Tx, erasures: ErasureFile, note_storage: NoteStorage, at: int) -> tuple[ErasedPerson, ...]:
    """Within a transaction: do what this database has not seen yet; who went."""
    gone: list[ErasedPerson] = []
    for name, people in erasures.due(db):
        gone += [erase_person(db, person_id, note_storage, at) for person_id in people]
        mark_done(db, name, at)
    return tuple(gone)


def mark_done(db: Tx, name: str, at: int) -> None:
    """Within a transaction: this database has seen that erasure."""
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (f"{ERASED_KEY}{name}", str(at)))


def _done(db: Tx, name: str) -> bool:
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (f"{ERASED_KEY}{name}",)).fetchone() is not None


UNFINISHED_KEY = "unfinished:"
"""The key in meta of whoever may still be in files begins with it; ';' is the character after ':'."""

ASK_MS = 600_000
"""How long the number counts that somebody is to repeat."""


class PersonErasure:
    """Erases people."""

    def __init__(self, database: Database, tombstones: Tombstones, note_storage: NoteStorage, folder: Path) -> None:
        self._database = database
        self._note_storage = note_storage
        self._erasures = ErasureFile(folder, tombstones)

    async def counts(self, person_id: int) -> dict[str, int]:
        """How much there is of a person, by kind."""
        found = await self._database.snapshot(*((sql, (person_id,)) for _, sql in PERSON_COUNTS))
        return {name: int(rows[0][0]) for (name, _), rows in zip(PERSON_COUNTS, found, strict=True)}

    async def known(self, person_id: int) -> bool:
        """Whether the person has an account: without one they were erased."""
        return await self._database.row("SELECT 1 FROM account WHERE person_id = ?", (person_id,)) is not None

    async def ask(self, person_id: int, chat_id: int, at: int) -> str:
        """A new number of four digits for that person to repeat in that chat; the one before is void."""
        number = f"{secrets.randbelow(9_000) + 1_000}"

        def transaction(db: Tx) -> None:
            db.execute("DELETE FROM code WHERE (kind = 'erase' AND person_id = ?) OR expires_at <= ?", (person_id, at))
            row = (f"erase {person_id} {chat_id} {number}", person_id, chat_id, at, at + ASK_MS)
            db.execute("INSERT INTO code VALUES (?, 'erase', ?, ?, ?, ?)", row)

        await self._database.write(transaction)
        return number

    async def agreed(self, person_id: int, chat_id: int, number: str, at: int) -> bool:
        """Whether this is the number; a wrong one makes it void."""

        def transaction(db: Tx) -> bool:
            found = db.execute(
                "SELECT 1 FROM code WHERE code = ? AND kind = 'erase' AND expires_at > ?",
                (f"erase {person_id} {chat_id} {number}", at),
            ).fetchone()
            if found is None:
                db.execute("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", (person_id,))
            return found is not None

        return await self._database.write(transaction)

    async def erase(self, person_id: int, at: int, last: int | None = None) -> ErasedPerson:
        """Nothing of the person is left but counts, in one commit; who it was, for the files, until `finish`.

        `last` is the event whose answer is still to be sent there. StoreError: nothing was erased.
        """
        rows = await self._database.rows(
            "SELECT platform || ':' || external_id FROM account WHERE person_id = ?", (person_id,)
        )
        name = self._erasures.begin((str(row[0]) for row in rows), at)

        def transaction(db: Tx) -> ErasedPerson:
            erased = erase_person(db, person_id, self._note_storage, at, last)
            mark_done(db, name, at)
            _note(db, erased)
            return erased

        try:
            return await self._database.write(transaction)
        except Exception:  # whatever refused; one that is only cancelled may have been committed
            self._erasures.give_up(name)
            raise

    async def resume(self) -> int:
        """Do what a crash left between the file and the commit; how many people went."""
        if not self._erasures.all():
            return 0

        def transaction(db: Tx) -> int:
            at = db.execute("SELECT coalesce(max(at), 0) FROM event").fetchone()[0]
            gone = erase_again(db, self._erasures, self._note_storage, at)
            for erased in gone:
                _note(db, erased)
            return len(gone)

        count = await self._database.write(transaction)
        if count:
            await self._database.truncate()
        return count

    async def unfinished(self) -> tuple[ErasedPerson, ...]:
        """Who was erased from the database, and may still be in files."""
        rows = await self._database.rows(
            "SELECT key, value FROM meta WHERE key > ? AND key < ? ORDER BY key",
            (UNFINISHED_KEY, f"{UNFINISHED_KEY[:-1]};"),
        )
        return tuple(_noted(str(key), json.loads(str(value))) for key, value in rows)

    async def finish(self, gone: tuple[ErasedPerson, ...]) -> None:
        """No file tells of them, nor does the database nor its log from now on; StoreError while somebody reads."""
        keys = [(f"{UNFINISHED_KEY}{erased.person_id}",) for erased in gone]
        await self._database.write(lambda db: db.executemany("DELETE FROM meta WHERE key = ?", keys).rowcount)
        await self._database.truncate()

    async def leave(self, now: int) -> int:
        """Where the last word has been sent, the address goes, too; how many went."""
        count = await self._database.write(lambda db: drop_left_addresses(db, now))
        await self._database.truncate()
        return count


def _note(db: Tx, erased: ErasedPerson) -> None:
    """Within a transaction: by what the rest of them is found in files, also after a crash."""
    told = {"dms": erased.dms, "chats": erased.chats, "ids": erased.ids, "names": erased.names}
    value = json.dumps({name: sorted(each) for name, each in told.items()})
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (f"{UNFINISHED_KEY}{erased.person_id}", value))


def _noted(key: str, told: Mapping[str, Sequence[object]]) -> ErasedPerson:
    dms, chats = (frozenset(int(str(each)) for each in told[name]) for name in ("dms", "chats"))
    ids, names = (frozenset(str(each) for each in told[name]) for name in ("ids", "names"))
    return ErasedPerson(int(key.removeprefix(UNFINISHED_KEY)), dms, chats, ids, names, {})
