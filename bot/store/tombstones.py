"""What was forgotten, as HMACs in a file outside the database: an import or a digest must not bring it back."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from bot.errors import StoreError
from bot.text.fold import fold

KEY = "tombstones.key"


class Tombstones:
    """A set of forgotten texts that cannot be read back. A fresh 记住 lifts one."""

    def __init__(self, folder: Path) -> None:
        """Read what was buried; StoreError when the file or its key cannot be read."""
        self._path = folder / "tombstones.jsonl"
        self._key_path = folder / KEY
        self._key = b""
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
            if self._key_path.exists():
                self._key = self._key_path.read_bytes()
        except OSError as error:
            raise StoreError(f"the tombstones cannot be read ({error}): check the data folder's rights") from error
        self._macs: set[str] = set()
        self._numbers: dict[int, str] = {}
        self.buried_at = 0
        """When this process last buried something, ms; 0 for never."""
        for line in lines:
            self._read(line)
        if self._macs and not self._key:
            raise StoreError("tombstones.key is gone: put it back from a backup, or what was forgotten may return")

    def bury(self, memory_id: int, text: str, at: int) -> None:
        """Write down that this text was forgotten; durable when it returns. StoreError when the disk refuses."""
        self.bury_all([(memory_id, text)], at)

    def bury_all(self, texts: Iterable[tuple[int, str]], at: int) -> None:
        """As `bury`, memory and text; the disk is waited for once, however many they are."""
        if not self._key:
            self._key = _new_key(self._key_path)
        macs = [(number, self._mac(text)) for number, text in texts]
        self._append([{"id": number, "mac": mac, "at": at} for number, mac in macs])
        self._macs.update(mac for _, mac in macs)
        self.buried_at = max(self.buried_at, at)
        self._numbers.update(macs)

    def lift(self, text: str, at: int) -> None:
        """It was said anew on purpose: no longer forgotten. StoreError when the disk refuses."""
        self.lift_all([text], at)

    def lift_all(self, texts: Iterable[str], at: int) -> None:
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
        """By what a text is known to this house and to nobody else; StoreError when there can be no key."""
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
        except (ValueError, KeyError, TypeError, AttributeError):
            pass  # half a line, from a power cut: its command was never confirmed

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, rows: list[dict[str, object]]) -> None:
        # The first line end closes half a line before it.
        lines = "".join(("\n", *(f"{json.dumps(row)}\n" for row in rows))).encode()
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.write(descriptor, lines) < len(lines):
                    raise OSError("the disk is full")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"tombstones.jsonl cannot be written ({error}): nothing was forgotten") from error


def _new_key(path: Path) -> bytes:
    """A fresh key, whole on disk before anything is signed with it."""
    key = secrets.token_bytes(32)
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(descriptor)
        new.rename(path)
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written ({error}): nothing was forgotten") from error
    return key
