"""Copies: a message that came twice under two ids, and a system line that repeats one (C9). It deletes nothing."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast
from zlib import crc32

from bot.text.fold import fold
from bot.types.event import Incoming

COPY_MS = 250
"""The same person and text as close as this is one message: a double click (SEED_SYSTEMS 1.2)."""

ECHO_MS = 1_200
"""A line of the system that repeats a message this close is its echo (SEED_SYSTEMS 1.2)."""

FOLDED_CHARS = 8_000
"""How much of a text is compared folded, as folding takes long; behind that it must be the same to the letter."""

_SECOND_MS = 1_000
_ECHOING = ("", "chat")
"""Labels of an event that only tells what was said; any other event happened by itself, whatever its text is."""
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Heard:
    """A line as copies and echoes are told by: checksums of folded texts, since 忘记 empties a text at once.

    `said` is its text, `bare` that without marks, `named` the sender's name before it. `at` is the platform's time,
    0 for unknown, `arrived_at` ours, ms. `original` is the event that it copies, or itself.
    """

    original: int
    person_id: int | None
    said: int
    bare: int
    named: int
    at: int
    arrived_at: int
    target: str


def heard(incoming: Incoming, person_id: int | None, at: int) -> Heard | None:
    """How a message, or a system line that may be an echo, is compared; None for what is never a copy.

    Pictures of one album and forwarded lines may share a text, and a platform waits for an answer to each command.
    """
    text = " ".join((fold(incoming.text[:FOLDED_CHARS]) + incoming.text[FOLDED_CHARS:]).split())
    bare = _MARKS.sub("", text)
    named = _MARKS.sub("", fold(incoming.sender.name)) + bare if incoming.sender else ""
    is_message = incoming.kind == "message" and person_id is not None
    is_system = incoming.kind == "server" or (incoming.kind == "event" and incoming.label in _ECHOING)
    apart = bool(incoming.attachments or incoming.forwarded or incoming.via)
    if not text or apart or not (is_message or is_system):
        return None
    return Heard(
        0, person_id if is_message else None, _sum(text), _sum(bare), _sum(named), incoming.at, at, incoming.target
    )


def copied(new: Heard, lately: Iterable[Heard]) -> int | None:
    """The number of the message that `new` copies or echoes; None when it says something of its own.

    `lately` is ordered newest first. Who wrote something else in between did not click twice.
    """
    for old in lately:
        late = abs(new.arrived_at - old.arrived_at)
        if new.person_id is None:
            found = bool(new.bare) and new.bare in (old.bare, old.named) and late <= ECHO_MS
        else:
            same = (new.person_id, new.said, new.target) == (old.person_id, old.said, old.target)
            found = same and late <= COPY_MS and _apart(new.at, old.at) <= COPY_MS
        if found:
            return old.original
        if new.person_id is not None and new.person_id == old.person_id:
            return None
    return None


def compared(db: sqlite3.Connection, chat_id: int, new: Heard | None) -> tuple[Heard | None, int | None]:
    """Verb part: the same line, with the number of the message of this chat that it copies or echoes."""
    if new is None:
        return None, None
    db.execute("DELETE FROM lately WHERE abs(arrived_at - ?) > ?", (new.arrived_at, ECHO_MS))
    rows = db.execute(
        "SELECT original, person_id, said, bare, named, at, arrived_at, target FROM lately WHERE chat_id = ? "
        "ORDER BY event_id DESC",
        (chat_id,),
    )
    return new, copied(new, (Heard(*row) for row in rows))


def note(db: sqlite3.Connection, chat_id: int, number: int, new: Heard | None, copy_of: int | None) -> None:
    """Verb part: event `number` was heard just now, as a message of its own or as a copy."""
    if copy_of is not None:
        db.execute("UPDATE event SET same_as = ? WHERE id = ?", (copy_of, number))
    if new is not None and new.person_id is not None:
        db.execute(
            "INSERT INTO lately (chat_id, event_id, original, person_id, said, bare, named, at, arrived_at, target) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chat_id, number, copy_of or number, new.person_id, new.said, new.bare, new.named, new.at,
                new.arrived_at, new.target,
            ),
        )  # fmt: skip


def aimed(db: sqlite3.Connection, chat_id: int, incoming: Incoming) -> Incoming:
    """Verb part: a reply or reaction to a copy is one to the message itself."""
    if not incoming.target or (incoming.kind != "message" and incoming.label != "reaction"):
        return incoming
    row = db.execute(
        "SELECT first.external_id FROM event AS copy JOIN event AS first ON first.id = copy.same_as "
        "WHERE copy.chat_id = ? AND copy.external_id = ? AND copy.hidden = 'copy' AND first.external_id <> ''",
        (chat_id, incoming.target),
    ).fetchone()
    return incoming if row is None else replace(incoming, target=str(row[0]))


def parted(db: sqlite3.Connection, chat_id: int, person_id: int | None, target: str, text: str) -> None:
    """Verb part: a copy that its sender edits says something of its own."""
    db.execute(
        "UPDATE event SET hidden = '', same_as = NULL WHERE chat_id = ?1 AND external_id = ?2 AND external_id <> '' "
        "AND hidden = 'copy' AND person_id = ?3 AND (SELECT first.text FROM event AS first "
        "WHERE first.id = event.same_as) <> ?4",
        (chat_id, target, person_id, text),
    )


def passed_on(db: sqlite3.Connection, chat_id: int, target: str) -> bool:
    """Verb part: of two copies the first was deleted, so the other stands for what was said; False without another.

    After an edit the two were not the same any more.
    """
    row = db.execute(
        "SELECT first.id, copy.id, copy.external_id FROM event AS first JOIN event AS copy ON copy.same_as = first.id "
        "AND copy.hidden = 'copy' AND copy.external_id <> '' WHERE first.chat_id = ?1 AND first.external_id = ?2 "
        "AND first.external_id <> '' AND first.kind = 'message' AND first.hidden NOT IN ('forgotten', 'deleted') "
        "AND NOT EXISTS (SELECT 1 FROM event AS edit WHERE edit.chat_id = ?1 AND edit.label = 'edit' "
        "AND edit.target = ?2) ORDER BY copy.id LIMIT 1",
        (chat_id, target),
    ).fetchone()
    if row is None:
        return False
    first, copy, external_id = cast("tuple[int, int, str]", row)
    db.execute("UPDATE event SET external_id = ? WHERE id = ?", (external_id, first))
    db.execute("UPDATE event SET external_id = ?, hidden = 'deleted' WHERE id = ?", (target, copy))
    db.execute(
        "UPDATE event SET target = ? WHERE chat_id = ? AND target = ? AND kind = 'message'",
        (external_id, chat_id, target),
    )
    return True


def _apart(one: int, other: int) -> int:
    """How far apart two times are at least, ms: a clock of whole seconds cannot tell less than one."""
    if not one or not other:
        return 0
    whole = one % _SECOND_MS == 0 and other % _SECOND_MS == 0
    return max(abs(one - other) - (_SECOND_MS - 1 if whole else 0), 0)


def _sum(text: str) -> int:
    return crc32(text.encode(errors="surrogatepass")) if text else 0
