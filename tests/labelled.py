"""Labelled sessions and what a digest of them is worth: how much it keeps is right, how much of the right it keeps."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bot.memory.minutes import DigestLine, Scope
from bot.memory.digest_answer import Broken
from bot.memory.digest_review import read_digest
from bot.text.fold import fold
from bot.types.digest import Digest

FOLDER = Path(__file__).parent / "sessions"
FRIDAY = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""
_LINE = re.compile(r"(?P<who>[^:]{1,20}?)(?P<passed>>>)?: (?P<said>.*)")


@dataclass(frozen=True)
class Label:
    """Words of a line that are to be kept, as a memory of that kind (a/b: of either) or a "task"; else they may be."""

    event_id: int
    kind: str
    words: str
    wanted: bool = True


@dataclass
class Session:
    """One talk with its labels."""

    name: str
    scope: Scope
    lines: list[DigestLine] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


@dataclass
class Score:
    """How much was kept, how much of it is right, how much there was to keep, and every mistake."""

    kept: int = 0
    right: int = 0
    wanted: int = 0
    found: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The part of what was kept that is right."""
        return self.right / self.kept if self.kept else 1.0

    @property
    def recall(self) -> float:
        """The part of what was to be kept that was."""
        return self.found / self.wanted if self.wanted else 1.0


def sessions() -> Iterator[Session]:
    """Every labelled session."""
    for path in sorted(FOLDER.glob("*.txt")):
        for part in re.split(r"^== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            yield _session(part.splitlines())


def _session(rows: list[str]) -> Session:
    name, kind = rows[0].split()
    people: dict[str, int] = {}
    session = Session(name, Scope(7, "dm" if kind == "dm" else "group", "小暖", 1 if kind == "dm" else None))
    for row in rows[1:]:
        last = session.lines[-1].event_id if session.lines else 0
        if row.startswith(("= ", "~ ")):
            what, _, words = row[2:].partition(": ")
            session.labels.append(Label(last, what, words, row[0] == "="))
        elif row.startswith("! "):
            session.labels.append(Label(last, "task", row[2:]))
        elif match := _LINE.fullmatch(row):
            number, is_bot = len(session.lines) + 1, match["who"] == "*"
            person = None if is_bot else people.setdefault(match["who"], len(people) + 1)
            session.lines.append(
                DigestLine(
                    number,
                    100 + number,
                    person,
                    "小暖" if is_bot else match["who"],
                    match["said"],
                    FRIDAY + number * 60_000,
                    is_bot,
                    forwarded=bool(match["passed"]),
                )
            )
    return session


def score(session: Session, digest: Digest, statements: Score, tasks: Score) -> None:
    """Add what a digest of a session is worth."""
    kept: list[tuple[Score, tuple[int, ...], str, str]] = [
        (statements, memory.event_ids, memory.kind, memory.text) for memory in digest.memories
    ]
    kept += [(tasks, task.event_ids, "task", task.text) for task in digest.commitments]
    hit: set[Label] = set()
    for tally, events, kind, text in kept:
        same = [label for label in session.labels if label.event_id in events and kind in label.kind.split("/")]
        fits = [label for label in same if _fits(label.words, text)]
        hit.update(fits)
        tally.kept += 1
        tally.right += bool(fits)
        if not fits:
            tally.wrong.append(f"{session.name} {kind}: {text}")
    for label in session.labels:
        tally = tasks if label.kind == "task" else statements
        if label.wanted:
            tally.wanted += 1
            tally.found += label in hit
            if label not in hit:
                tally.missed.append(f"{session.name} {label.kind}: {label.words}")


def _fits(wanted: str, kept: str) -> bool:
    """Whether the words wanted were kept, with what the person went on to say of it, or the larger part of them."""
    one, other = fold(wanted).strip(" 。.!！~"), fold(kept).strip(" 。.!！~")
    return bool(other) and (one in other or (other in one and 2 * len(other) >= len(one)))


def parse_digest(answer: str, lines: tuple[DigestLine, ...], scope: Scope) -> Digest | None:
    """As `read_digest`; None for what is broken."""
    found = read_digest(answer, lines, scope)
    return None if isinstance(found, Broken) else found
