"""Takes a person out of the files of the log. It decides nothing about who that is."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from bot.types.erased import Erased

TEXTS = ("text", "reply", "query", "name", "message", "said")
"""Fields that may hold what people wrote or are called, or a part of it."""

SHORTEST = 2
"""A name of fewer characters is no word to look for; the numbers of the person find those lines."""


def scrub_logs(folder: Path, erased: Erased) -> int:
    """Lines about that person and their direct chats go, in groups of theirs what was said; how many lines changed.

    Nobody may write into these files meanwhile. OSError when one cannot be written; it is then as it was.
    """
    keeps = _keeper(erased)
    for left in folder.glob("nuan.jsonl*.new"):  # of a scrubbing that a crash cut off, whoever that was about
        left.unlink()
    return sum(_scrub(path, keeps) for path in sorted(folder.glob("nuan.jsonl*")))


def _scrub(path: Path, keeps: Callable[[str], str]) -> int:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = [keeps(line) for line in lines]
    changed = sum(before != after for before, after in zip(lines, kept, strict=True))
    if changed:
        new = path.with_name(f"{path.name}.new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in kept if line)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    return changed


def _keeper(erased: Erased) -> Callable[[str], str]:
    words = [json.dumps(word, ensure_ascii=False)[1:-1] for word in (*erased.ids, *erased.names)]
    # An id or a name in letters stands alone; Chinese has no spaces.
    parts = [f"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in words if len(word) >= SHORTEST]
    needles = re.compile("|".join(parts)) if parts else None

    def keep(line: str) -> str:
        """The line as it stays, "" for nothing."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return ""  # half a line of a power cut
        if not isinstance(fields, dict) or not isinstance(chat := fields.get("chat"), int | str | None):
            return ""  # nor is this a line of ours
        if fields.get("person") == erased.person_id or chat in erased.dms:
            return ""
        if needles is not None and needles.search(line):
            return ""
        texts = [name for name in TEXTS if isinstance(fields.get(name), str)]
        if texts and chat in erased.chats:
            return json.dumps(fields | dict.fromkeys(texts, ""), ensure_ascii=False, separators=(",", ":"))
        return line

    return keep
