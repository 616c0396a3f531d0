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
        self._path = folder / "tombstones.jsonl"
        self._key_path = folder / "tombstones.key"
        self._macs: set[str] = set()
        if self._path.exists():
            for line in self._path.read_text("utf-8").splitlines():
                row = json.loads(line)
                (self._macs.discard if row.get("lifted") else self._macs.add)(row["mac"])

    def bury(self, memory_id: int, text: str, at: int) -> None:
        """Write down that this text was forgotten; durable when it returns. StoreError when the disk refuses."""
        mac = self._mac(text)
        self._macs.add(mac)
        self._append({"id": memory_id, "mac": mac, "at": at})

    def lift(self, text: str, at: int) -> None:
        """It was said anew on purpose: no longer forgotten."""
        mac = self._mac(text)
        if mac in self._macs:
            self._macs.discard(mac)
            self._append({"mac": mac, "lifted": True, "at": at})

    def covers(self, text: str) -> bool:
        """True when exactly this text (folded) was forgotten and not told anew."""
        return self._mac(text) in self._macs

    def _mac(self, text: str) -> str:
        return hmac.new(_key(self._key_path), fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, row: dict[str, object]) -> None:
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, (json.dumps(row) + "\n").encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"tombstones.jsonl cannot be written ({error}): nothing was forgotten") from error


def _key(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path.name} cannot be written ({error})") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(key := secrets.token_bytes(32))
    return key
