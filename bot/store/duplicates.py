"""Duplicates: messages that copy or echo another, and lines that bots answer each other without end."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from zlib import crc32

from bot.core.events import Incoming
from bot.store.transactions import Tx
from bot.text.fold import fold

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
class LinePrint:
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


def print_of(incoming: Incoming, person_id: int | None, at: int) -> LinePrint | None:
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
    return LinePrint(
        0, person_id if is_message else None, _sum(text), _sum(bare), _sum(named), incoming.at, at, incoming.target
    )


def copied_from(new: LinePrint, lately: Iterable[LinePrint]) -> int | None:
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


def _apart(one: int, other: int) -> int:
    """How far apart two times are at least, ms: a clock of whole seconds cannot tell less than one."""
    if not one or not other:
        return 0
    whole = one % _SECOND_MS == 0 and other % _SECOND_MS == 0
    return max(abs(one - other) - (_SECOND_MS - 1 if whole else 0), 0)


def _sum(text: str) -> int:
    return crc32(text.encode(errors="surrogatepass")) if text else 0


MOST_EXCHANGES = 20
EXCHANGE_WINDOW_MS = 60_000
BOT_SILENCE_MS = 60_000
"""So many exchanges within a minute, then a minute of silence towards all bots of the chat (FAULTS D20)."""

MOST_IN_A_ROW = 60
"""Exchanges without a line of a human, after which nuan waits for one: two slow bots never make 20 in a minute."""


def bots_are_quiet(tx: Tx, chat_id: int, at: int) -> bool:
    """Whether bots get no answer in that chat now."""
    rows = tx.all(
        "SELECT id, at FROM event WHERE chat_id = ? AND why = 'bot' ORDER BY id DESC LIMIT ?", chat_id, MOST_IN_A_ROW
    )
    # abs: after the clock was set back the newest lie ahead, and nobody is to wait until it has caught up.
    if (
        len(rows) >= MOST_EXCHANGES
        and abs(rows[0][1] - rows[MOST_EXCHANGES - 1][1]) < EXCHANGE_WINDOW_MS
        and abs(at - rows[0][1]) < BOT_SILENCE_MS
    ):
        return True
    return len(rows) == MOST_IN_A_ROW and not tx.has(
        "SELECT 1 FROM event JOIN person ON person.id = person_id WHERE chat_id = ? AND event.id > ? "
        "AND kind = 'message' AND is_bot = 0 LIMIT 1",
        chat_id,
        rows[-1][0],
    )


def find_copy(tx: Tx, chat_id: int, new: LinePrint | None) -> int | None:
    """The number of the message of this chat that a line copies or echoes."""
    if new is None:
        return None
    tx.run("DELETE FROM lately WHERE chat_id = ? AND abs(arrived_at - ?) > ?", chat_id, new.arrived_at, ECHO_MS)
    sql = (
        "SELECT original, person_id, said, bare, named, at, arrived_at, target FROM lately WHERE chat_id = ? "
        "ORDER BY event_id DESC"
    )
    lately = tx.all(sql, chat_id, to=LinePrint)
    return copied_from(new, lately)


def note_print(tx: Tx, chat_id: int, number: int, new: LinePrint | None, copy_of: int | None) -> None:
    """Event `number` was heard just now, as a message of its own or as a copy."""
    if copy_of is not None:
        tx.run("UPDATE event SET same_as = ? WHERE id = ?", copy_of, number)
    if new is not None and new.person_id is not None:
        seen = asdict(new) | {"original": copy_of or number}
        tx.insert("lately", chat_id=chat_id, event_id=number, **seen)


def retargeted(tx: Tx, chat_id: int, incoming: Incoming) -> Incoming:
    """A reply or reaction to a copy is one to the message itself."""
    if not incoming.target or (incoming.kind != "message" and incoming.label != "reaction"):
        return incoming
    sql = (
        "SELECT first.external_id FROM event AS copy JOIN event AS first ON first.id = copy.same_as "
        "WHERE copy.chat_id = ? AND copy.external_id = ? AND copy.hidden = 'copy' AND first.external_id <> ''"
    )
    first: str | None = tx.value(sql, chat_id, incoming.target)
    return incoming if first is None else replace(incoming, target=first)


def separate_copy(tx: Tx, chat_id: int, person_id: int | None, target: str, text: str) -> None:
    """A copy that its sender edits says something of its own."""
    sql = (
        "UPDATE event SET hidden = '', same_as = NULL WHERE chat_id = ? AND external_id = ? AND external_id <> '' "
        "AND hidden = 'copy' AND person_id = ? AND (SELECT first.text FROM event AS first "
        "WHERE first.id = event.same_as) <> ?"
    )
    tx.run(sql, chat_id, target, person_id, text)


def pass_to_copy(tx: Tx, chat_id: int, target: str) -> bool:
    """Of two copies the first was deleted, so the other stands for what was said, unless it was edited; False without one."""
    sql = (
        "SELECT first.id, copy.id, copy.external_id FROM event AS first JOIN event AS copy ON copy.same_as = first.id "
        "AND copy.hidden = 'copy' AND copy.external_id <> '' WHERE first.chat_id = ? AND first.external_id = ? "
        "AND first.external_id <> '' AND first.kind = 'message' AND first.hidden NOT IN ('forgotten', 'deleted') "
        "AND NOT EXISTS (SELECT 1 FROM event AS edit WHERE edit.chat_id = first.chat_id AND edit.label = 'edit' "
        "AND edit.target = first.external_id) ORDER BY copy.id LIMIT 1"
    )
    row = tx.one(sql, chat_id, target)
    if row is None:
        return False
    first, copy, external_id = row
    tx.run("UPDATE event SET external_id = ? WHERE id = ?", external_id, first)
    tx.run("UPDATE event SET external_id = ?, hidden = 'deleted' WHERE id = ?", target, copy)
    replies = "UPDATE event SET target = ? WHERE chat_id = ? AND target = ? AND kind = 'message'"
    tx.run(replies, external_id, chat_id, target)
    return True
