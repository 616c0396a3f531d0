"""What happened and what each turn was sent, for the operator. What was forgotten is not told here either."""

import json
from dataclasses import dataclass
from typing import cast

from bot.store.browsing import CHAT_LABEL
from bot.store.database import Repository
from bot.store.reader import Row
from bot.store.views import UNSEEN
from bot.types.brought import Brought
from bot.types.prompt import Message, ToolSpec

TEXT = "CASE WHEN hidden = '' AND off_record = 0 THEN event.text ELSE '' END"

_HAPPENED = f"""SELECT event.id, event.chat_id, {CHAT_LABEL}, at, event.kind,
    coalesce(nullif(event.name, ''), person.name, ''), {TEXT}, label, state, why, outcome, hidden, turn_id
    FROM event JOIN chat ON chat.id = event.chat_id LEFT JOIN person ON person.id = event.person_id """

_TAKEN = f"""SELECT turn.id, turn.chat_id, {CHAT_LABEL}, session.number, epoch.number, turn.number, turn.state,
    turn.why, turn.mode_why, epoch.mode, epoch.reason, asked_at, said_at, coalesce(person.name, ''), turn.error,
    (SELECT count(*) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(prompt_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(cached_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(output_tokens), 0) FROM call WHERE turn_id = turn.id),
    (SELECT coalesce(sum(cost), 0) FROM call WHERE turn_id = turn.id)
    FROM turn JOIN chat ON chat.id = turn.chat_id JOIN session ON session.id = turn.session_id
    JOIN epoch ON epoch.id = turn.epoch_id LEFT JOIN person ON person.id = turn.person_id """


@dataclass(frozen=True, slots=True)
class Happened:
    """One event; its text is "" when it is not told any more (`hidden`), `turn_id` is the turn it belongs to."""

    id: int
    chat_id: int
    chat: str
    at: int
    kind: str
    who: str
    text: str
    label: str
    state: str
    why: str
    outcome: str
    hidden: str
    turn_id: int | None


@dataclass(frozen=True, slots=True)
class Taken:
    """One turn in a list: its numbers in the chat, why it was taken, in which mode, and what its calls used.

    `epoch_reason` is why its log began; times are ms.
    """

    id: int
    chat_id: int
    chat: str
    session: int
    epoch: int
    number: int
    state: str
    why: str
    mode_why: str
    mode: str
    epoch_reason: str
    asked_at: int
    said_at: int | None
    who: str
    error: str
    calls: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Logged:
    """One item of a log: the number of the turn that appended it, the message, and its estimated tokens."""

    turn: int
    own: bool
    message: Message
    tokens: int


@dataclass(frozen=True, slots=True)
class Charged:
    """One call of a turn: why, which model, how it ended, tokens, money, and how long it took, ms."""

    cause: str
    model: str
    state: str
    counted: str
    prompt_tokens: int
    cached_tokens: int
    written_tokens: int
    output_tokens: int
    cost: float
    ms: int


@dataclass(frozen=True, slots=True)
class Sent:
    """What a turn was sent: prefix, tools and log, its calls, what memory brought, what it answered, what it said.

    `kept` is False when the log is not kept any more: by its age, or because something in it was forgotten. Of a turn
    that failed or was stopped the log is that before it: what it added is taken out again.
    """

    turn: Taken
    prefix: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    log: tuple[Logged, ...]
    kept: bool
    calls: tuple[Charged, ...]
    brought: tuple[Brought, ...]
    answered: tuple[Happened, ...]
    said: tuple[Happened, ...]


class Watching(Repository):
    """Events and turns of all chats."""

    async def happened(self, after: int, limit: int, chat_id: int | None = None) -> tuple[Happened, ...]:
        """The newest events with a higher number, newest first."""
        here = "" if chat_id is None else "AND event.chat_id = ?3 "
        params = (after, limit) if chat_id is None else (after, limit, chat_id)
        rows = await self._database.rows(
            f"{_HAPPENED}WHERE event.id > ?1 {here}ORDER BY event.id DESC LIMIT ?2", params
        )
        return tuple(Happened(*row) for row in rows)

    async def taken(self, below: int, limit: int, chat_id: int | None = None) -> tuple[Taken, ...]:
        """The newest turns with a number below that (0: all), newest first."""
        here = "" if chat_id is None else "AND turn.chat_id = ?3 "
        params = (below, limit) if chat_id is None else (below, limit, chat_id)
        rows = await self._database.rows(
            f"{_TAKEN}WHERE (?1 = 0 OR turn.id < ?1) {here}ORDER BY turn.id DESC LIMIT ?2", params
        )
        return tuple(Taken(*row) for row in rows)

    async def sent(self, turn_id: int) -> Sent | None:
        """What the turn of that number was sent, all of one moment; None when there is no such turn."""
        given = (turn_id,)
        epoch = "(SELECT epoch_id FROM turn WHERE id = ?1)"
        turns, prefixes, entries, calls, brought, answered, said = await self._database.snapshot(
            (f"{_TAKEN}WHERE turn.id = ?1", given),
            (f"SELECT message, tools, signature, stale FROM epoch JOIN prefix USING (signature) WHERE id = {epoch}",
             given),
            ("SELECT turn.number, turn.id = ?1, message, tokens FROM entry JOIN turn ON turn.id = entry.turn_id "
             f"WHERE entry.epoch_id = {epoch} AND turn.id <= ?1 AND (EXISTS (SELECT 1 FROM entry WHERE turn_id = ?1) "
             "OR (SELECT state FROM turn WHERE id = ?1) IN ('failed', 'void')) ORDER BY position", given),
            ("SELECT cause, model, state, counted, prompt_tokens, cached_tokens, written_tokens, output_tokens, cost, "
             "coalesce(settled_at, at) - at FROM call WHERE turn_id = ?1 ORDER BY id", given),
            ("SELECT way, ref, tokens, why FROM brought WHERE turn_id = ?1 ORDER BY rowid", given),
            (f"{_HAPPENED}WHERE event.id IN (SELECT event_id FROM turn_event WHERE turn_id = ?1) ORDER BY event.id",
             given),
            (f"{_HAPPENED}WHERE turn_id = ?1 AND event.kind = 'bot' ORDER BY event.id", given),
        )  # fmt: skip
        if not turns:
            return None
        message, tools, signature, stale = prefixes[0]
        log = () if stale in UNSEEN else tuple(_logged(row) for row in entries)
        return Sent(
            Taken(*turns[0]), Message.parse(str(message)),
            tuple(ToolSpec(*tool) for tool in json.loads(str(tools))), str(signature), log, bool(log),
            tuple(Charged(*row) for row in calls), tuple(Brought(*row) for row in brought),
            tuple(Happened(*row) for row in answered), tuple(Happened(*row) for row in said),
        )  # fmt: skip


def _logged(row: Row) -> Logged:
    number, own, message, tokens = row
    return Logged(cast("int", number), bool(own), Message.parse(str(message)), cast("int", tokens))
