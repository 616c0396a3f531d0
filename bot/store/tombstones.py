"""HMACs of what was forgotten and who was erased, in files outside the database, and erasing by them."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.core.errors import StoreError
from bot.core.files import append_to_file, write_file
from bot.core.people import ErasedPerson
from bot.store.codes import drop_expired_codes, put_code
from bot.store.engine import Database, Repository, reads, writes
from bot.store.erase import count_of_person, drop_left_addresses, erase_person
from bot.store.notes import NoteStorage
from bot.store.transactions import Tx
from bot.text.fold import fold

TOMBSTONES_FILE, KEY_FILE, ERASURES_FILE = "tombstones.jsonl", "tombstones.key", "erased.jsonl"

ERASED_KEY = "erased:"
"""The key in meta of an erasure that this database has seen begins with it."""

UNFINISHED_KEY = "unfinished:"
"""The key in meta of whoever may still be in files begins with it; ';' is the character after ':'."""

ASK_MS = 600_000
"""How long the number counts that somebody is to repeat."""

SELECT_ACCOUNTS = "SELECT person_id, platform || ':' || external_id FROM account"


class Tombstones:
    """A set of forgotten texts that cannot be read back. A fresh 记住 lifts one."""

    def __init__(self, folder: Path) -> None:
        """Read the tombstones; StoreError when the file or its key cannot be read."""
        self._path = folder / TOMBSTONES_FILE
        self._key_path = folder / KEY_FILE
        self._key = b""
        try:
            if self._key_path.exists():
                self._key = self._key_path.read_bytes()
        except OSError as error:
            raise StoreError(f"the tombstones cannot be read ({error}): check the data folder's rights") from error
        self._macs: set[str] = set()
        self._numbers: dict[int, str] = {}
        self.added_at = 0
        """When this process last added a tombstone, ms; 0 for never."""
        for row in _rows(self._path, "the tombstones"):
            if not isinstance(mac := row.get("mac"), str):
                continue
            (self._macs.discard if row.get("lifted") else self._macs.add)(mac)
            if isinstance(row.get("id"), int):
                self._numbers[row["id"]] = mac
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

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, rows: list[dict[str, object]]) -> None:
        _append(self._path, rows, "forgotten")


def _rows(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """The objects in a file of JSON Lines; StoreError with that name when it cannot be read."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{name} cannot be read ({error}): check the data folder's rights") from error
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # half a line, from a power cut: its command was never confirmed
        if isinstance(row, dict):
            yield row


def _append(path: Path, rows: list[dict[str, object]], done: str) -> None:
    """Add these lines; StoreError when the disk refuses."""
    # The first line end closes half a line before it.
    lines = "".join(("\n", *(f"{json.dumps(row)}\n" for row in rows)))
    try:
        append_to_file(path, lines.encode())
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written ({error}): nothing was {done}") from error


def _new_key(path: Path) -> bytes:
    """A fresh key, whole on disk before anything is signed with it."""
    key = secrets.token_bytes(32)
    try:
        write_file(path, key)
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written ({error}): nothing was forgotten") from error
    return key


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
        _append(self._path, [{"erasure": name, "at": at, "accounts": known}], "erased")
        return name

    def give_up(self, name: str) -> None:
        """The database refused: nothing of it was done, nor will be."""
        _append(self._path, [{"erasure": name, "void": True}], "erased")

    def all(self) -> tuple[Erasure, ...]:
        """Every erasure, oldest first; StoreError when the file cannot be read."""
        found: dict[str, Erasure] = {}
        for row in _rows(self._path, ERASURES_FILE):
            name, accounts = row.get("erasure"), row.get("accounts")
            if row.get("void"):
                found.pop(str(name), None)
            elif isinstance(name, str) and isinstance(accounts, list):
                found[name] = Erasure(name, frozenset(map(str, accounts)))
        return tuple(found.values())

    def due(self, tx: Tx) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Which erasures this database has not seen, each with the numbers of the people it means."""
        due = [each for each in self.all() if tx.meta(f"{ERASED_KEY}{each.name}") is None]
        if not due:
            return ()
        if not self._path.with_name(KEY_FILE).exists():
            raise StoreError(f"{KEY_FILE} is gone: put it back from a backup, or who was erased may return")
        known = [(person, self._sign(account)) for person, account in tx.all(SELECT_ACCOUNTS)]
        return tuple(
            (each.name, tuple(sorted({person for person, mac in known if mac in each.accounts}))) for each in due
        )

    def _sign(self, account: str) -> str:
        return self._tombstones.sign(f"account {account}")


def erase_again(tx: Tx, erasures: ErasureFile, note_storage: NoteStorage, at: int) -> tuple[ErasedPerson, ...]:
    """Do what this database has not seen yet; who went."""
    gone: list[ErasedPerson] = []
    for name, people in erasures.due(tx):
        gone += [erase_person(tx, person_id, note_storage, at) for person_id in people]
        tx.set_meta(f"{ERASED_KEY}{name}", str(at))
    return tuple(gone)


class PersonErasure(Repository):
    """Erases people."""

    def __init__(self, database: Database, tombstones: Tombstones, note_storage: NoteStorage, folder: Path) -> None:
        super().__init__(database)
        self._note_storage = note_storage
        self._erasures = ErasureFile(folder, tombstones)

    @reads
    def counts(self, tx: Tx, person_id: int) -> dict[str, int]:
        """How much there is of a person, by kind."""
        return count_of_person(tx, person_id)

    @reads
    def known(self, tx: Tx, person_id: int) -> bool:
        """Whether the person has an account: without one they were erased."""
        return tx.has("SELECT 1 FROM account WHERE person_id = ?", person_id)

    @writes
    def ask(self, tx: Tx, person_id: int, chat_id: int, at: int) -> str:
        """A new number of four digits for that person to repeat in that chat; the one before is void."""
        number = f"{secrets.randbelow(9_000) + 1_000}"
        drop_expired_codes(tx, at)
        tx.run("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", person_id)
        put_code(tx, f"erase {person_id} {chat_id} {number}", "erase", at, ASK_MS, person_id, chat_id)
        return number

    @writes
    def agreed(self, tx: Tx, person_id: int, chat_id: int, number: str, at: int) -> bool:
        """Whether this is the number; a wrong one makes it void."""
        code = f"erase {person_id} {chat_id} {number}"
        found = tx.has("SELECT 1 FROM code WHERE code = ? AND kind = 'erase' AND expires_at > ?", code, at)
        if not found:
            tx.run("DELETE FROM code WHERE kind = 'erase' AND person_id = ?", person_id)
        return found

    async def erase(self, person_id: int, at: int, last: int | None = None) -> ErasedPerson:
        """Nothing of the person is left but counts, in one commit; who it was, for the files, until `finish`.

        `last` is the event whose answer is still to be sent there. StoreError: nothing was erased.
        """
        where = "WHERE person_id = ?"
        rows = await self._database.read(lambda tx: tx.all(f"{SELECT_ACCOUNTS} {where}", person_id))
        name = self._erasures.begin((account for _, account in rows), at)
        try:
            return await self._erase(name, person_id, at, last)
        except Exception:  # whatever refused; one that is only cancelled may have been committed
            self._erasures.give_up(name)
            raise

    @writes
    def _erase(self, tx: Tx, name: str, person_id: int, at: int, last: int | None) -> ErasedPerson:
        erased = erase_person(tx, person_id, self._note_storage, at, last)
        tx.set_meta(f"{ERASED_KEY}{name}", str(at))
        _note_unfinished(tx, erased)
        return erased

    async def resume(self) -> int:
        """Do what a crash left between the file and the commit; how many people went."""
        count = await self._erase_again() if self._erasures.all() else 0
        if count:
            await self._database.truncate()
        return count

    @writes
    def _erase_again(self, tx: Tx) -> int:
        gone = erase_again(tx, self._erasures, self._note_storage, tx.value("SELECT max(at) FROM event") or 0)
        for erased in gone:
            _note_unfinished(tx, erased)
        return len(gone)

    @reads
    def unfinished(self, tx: Tx) -> tuple[ErasedPerson, ...]:
        """Who was erased from the database, and may still be in files."""
        after = f"{UNFINISHED_KEY[:-1]};"
        rows = tx.all("SELECT key, value FROM meta WHERE key > ? AND key < ? ORDER BY key", UNFINISHED_KEY, after)
        return tuple(_unfinished(key, json.loads(value)) for key, value in rows)

    async def finish(self, gone: tuple[ErasedPerson, ...]) -> None:
        """No file tells of them, nor does the database nor its log from now on; StoreError while somebody reads."""
        await self._forget_unfinished(gone)
        await self._database.truncate()

    @writes
    def _forget_unfinished(self, tx: Tx, gone: tuple[ErasedPerson, ...]) -> None:
        for erased in gone:
            tx.set_meta(f"{UNFINISHED_KEY}{erased.person_id}", None)

    async def leave(self, now: int) -> int:
        """Where the last word has been sent, the address goes, too; how many went."""
        count = await self._database.write(lambda tx: drop_left_addresses(tx, now))
        await self._database.truncate()
        return count


def _note_unfinished(tx: Tx, erased: ErasedPerson) -> None:
    """By what the rest of them is found in files, also after a crash."""
    told = {"dms": erased.dms, "chats": erased.chats, "ids": erased.ids, "names": erased.names}
    tx.set_meta(f"{UNFINISHED_KEY}{erased.person_id}", json.dumps({name: sorted(each) for name, each in told.items()}))


def _unfinished(key: str, told: Mapping[str, Iterable[Any]]) -> ErasedPerson:
    return ErasedPerson(
        int(key.removeprefix(UNFINISHED_KEY)), **{name: frozenset(each) for name, each in told.items()}, counts={}
    )
