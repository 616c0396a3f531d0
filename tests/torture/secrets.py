"""What must be nowhere after a process ran: its secrets in anything it wrote or sent, and signs of a program unwell."""

import json
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.e2e import KEY

CANARIES = (KEY, "7700000001:AAmadeup", "AAmadeupmadeupmadeup", "made-up.discord", "made-up.deadline")
"""Every secret that the torture gives to the program begins with, or holds, one of these."""
GIVEN = (".env", "nuan.toml")
"""Files that somebody wrote the secrets into for the program to read."""
UNWELL = (
    "Traceback (most recent call last)",
    "never retrieved",
    "Task was destroyed",
    "was never awaited",
    "Exception ignored in",
)
"""What Python says of an error that nobody handled, and of a task or a coroutine that nobody kept."""


def spilled(folder: Path, bodies: Iterable[bytes] = (), secrets: Iterable[str] = CANARIES) -> tuple[str, ...]:
    """Every finding: a secret in a file under the folder (database, WAL, logs, output, what is packed in an archive) or
    in a request's body, an unwell word on standard error, a line of asyncio in the log."""
    wanted = tuple(secret.encode() for secret in secrets)
    found = [f"secret in request {number}" for number, body in enumerate(bodies) if _holds(body, wanted)]
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name in GIVEN:
            continue
        content = path.read_bytes()
        name = str(path.relative_to(folder))
        if _holds(content, wanted) or any(_holds(packed, wanted) for packed in unpacked(path)):
            found.append(f"secret in {name}")
        if path.name.startswith("stderr"):
            found += [f"{word!r} in {name}" for word in UNWELL if word.encode() in content]
        if path.name.startswith("nuan.jsonl"):
            found += [f"asyncio in {name}: {said}" for said in _of_asyncio(content)]
    return tuple(found)


def unpacked(path: Path) -> tuple[bytes, ...]:
    """What an archive holds, names and contents; nothing of any other file, or of one that is not whole."""
    if not zipfile.is_zipfile(path):
        return ()
    with zipfile.ZipFile(path) as archive:
        return tuple(part for name in archive.namelist() for part in (name.encode(), archive.read(name)))


def packed(folder: Path) -> int:
    """How many archives lie there that hold something."""
    return sum(1 for path in folder.rglob("*.zip") if unpacked(path))


def _holds(content: bytes, wanted: Iterable[bytes]) -> bool:
    return any(secret in content for secret in wanted)


def _of_asyncio(content: bytes) -> list[str]:
    """Lines that asyncio had written; a slow callback is only the machine's slowness and debug's own."""
    told: list[str] = []
    for line in content.splitlines():
        if b'"asyncio"' not in line:
            continue
        with suppress(ValueError):
            said = json.loads(line)
            if said.get("logger") == "asyncio" and said.get("level") in ("warning", "error"):
                message = str(said.get("message", ""))
                if not message.startswith("Executing "):
                    told.append(message[:120])
    return told
