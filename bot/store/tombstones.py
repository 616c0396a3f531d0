"""What was forgotten, as HMACs in a file outside the database: an import or a digest must not bring it back."""

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path

from bot.errors import StoreError
from bot.text.fold import fold


class Tombstones:
    """A set of forgotten texts that cannot be read back. A fresh 记住 lifts one."""

    def __init__(self, folder: Path) -> None:
        """Read what was buried; StoreError when the file or its key cannot be read."""
        self._path = folder / "tombstones.jsonl"
        self._key_path = folder / "tombstones.key"
        self._key = b""
        try:
            lines = self._path.read_bytes().splitlines() if self._path.exists() else []
            if self._key_path.exists():
                self._key = self._key_path.read_bytes()
        except OSError as error:
            raise StoreError(f"the tombstones cannot be read ({error}): check the data folder's rights") from error
        self._macs: set[str] = set()
        self._numbers: dict[int, str] = {}
        for line in lines:
            self._read(line)
        if self._macs and not self._key:
            raise StoreError("tombstones.key is gone: put it back from a backup, or what was forgotten may return")

    def bury(self, memory_id: int, text: str, at: int) -> None:
        """Write down that this text was forgotten; durable when it returns. StoreError when the disk refuses."""
        if not self._key:
            self._key = _new_key(self._key_path)
        mac = self._mac(text)
        self._append({"id": memory_id, "mac": mac, "at": at})
        self._macs.add(mac)
        self._numbers[memory_id] = mac

    def lift(self, text: str, at: int) -> None:
        """It was said anew on purpose: no longer forgotten. StoreError when the disk refuses."""
        if self.covers(text):
            mac = self._mac(text)
            self._append({"mac": mac, "lifted": True, "at": at})
            self._macs.discard(mac)

    def covers(self, text: str) -> bool:
        """True when exactly this text (folded) was forgotten and not told anew."""
        return bool(self._macs) and self._mac(text) in self._macs

    def covers_number(self, memory_id: int) -> bool:
        """True when the memory of that number was forgotten and its text not told anew."""
        return self._numbers.get(memory_id) in self._macs

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
        except (ValueError, KeyError, AttributeError):
            pass  # half a line, from a power cut: its command was never confirmed

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, row: dict[str, object]) -> None:
        line = ("\n" + json.dumps(row) + "\n").encode()  # the first line end closes half a line before it
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if os.write(descriptor, line) < len(line):
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
