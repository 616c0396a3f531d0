"""Servers outside of nuan: what an owner approved of them, who may have them change something, how often they are called,
as plugins are, too; and what plugins keep."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.core.clock import DAY_MS, MINUTE_MS
from bot.core.events import Draft
from bot.core.tools import GrantState
from bot.store.engine import Repository, reads, writes
from bot.store.outbox import enqueue
from bot.store.people import owner_chats
from bot.store.transactions import Tx

ASK_AGAIN_MS = 10 * MINUTE_MS
"""A question that nobody answered is put once more after that."""

ANSWER_MS = DAY_MS
"""How long a question can be answered, and a no counts."""

KEY_CHARS, VALUE_CHARS, MOST_KEYS = 64, 4_000, 100
"""Of what a plugin keeps of one chat."""

BeginOutcome = Literal["begun", "again", "spent"]
"""It may be called now; it was begun before a crash; no call is left today."""


@dataclass(frozen=True, slots=True)
class StoredServer:
    """What a server was last known to offer, as JSON: approved by an owner ("" for nothing), and waiting for that."""

    name: str
    approved: str
    waiting: str


class OutsideAccess(Repository):
    """Approvals of servers, grants to people, calls of a day."""

    @reads
    def servers(self, tx: Tx) -> Mapping[str, StoredServer]:
        """Every server that was ever reached, by name."""
        found = tx.all("SELECT name, approved, waiting FROM outside_server", to=StoredServer)
        return {each.name: each for each in found}

    @writes
    def keep_waiting(self, tx: Tx, name: str, waiting: str) -> None:
        """Remember what a server offers that is not approved; "" when it offers what is."""
        tx.run("INSERT INTO outside_server (name) VALUES (?) ON CONFLICT DO NOTHING", name)
        tx.run("UPDATE outside_server SET waiting = ? WHERE name = ?", waiting, name)

    @writes
    def approve(self, tx: Tx, name: str, waiting: str) -> bool:
        """Take what waits as approved, if it is still this; who may have that server change something is asked anew."""
        sql = "UPDATE outside_server SET approved = waiting, waiting = '' WHERE name = ? AND waiting = ?"
        done = bool(waiting) and tx.run(sql, name, waiting) > 0
        if done:
            _drop_grants(tx, name)
        return done

    @writes
    def revoke(self, tx: Tx, name: str) -> bool:
        """Approve nothing of that server any more; what it offered waits."""
        sql = (
            "UPDATE outside_server SET waiting = CASE waiting WHEN '' THEN approved ELSE waiting END, approved = '' "
            "WHERE name = ? AND approved <> ''"
        )
        _drop_grants(tx, name)
        return tx.run(sql, name) > 0

    @writes
    def tell_owners(
        self, tx: Tx, name: str, told: str, platform: str, notice: Callable[[str, str], Draft], at: int
    ) -> None:
        """Tell every owner once that what is named by `told` waits; `notice` gets their script and account."""
        if not tx.run("UPDATE outside_server SET told = ? WHERE name = ? AND told <> ?", told, name, told):
            return
        for chat_id, script, account in owner_chats(tx, platform):
            enqueue(tx, chat_id, notice(script, account), at)

    @writes
    def ask(
        self, tx: Tx, chat_id: int, person_id: int, tool: str, question: Callable[[int], Draft], at: int
    ) -> GrantState:
        """Whether that person agreed there to what `tool` names; if they were not asked lately they are now, by its number."""
        tx.run("DELETE FROM outside_grant WHERE state <> 'given' AND at < ?", at - ANSWER_MS)
        sql = "SELECT id, state, at FROM outside_grant WHERE chat_id = ? AND person_id = ? AND tool = ?"
        number, state, since = tx.one(sql, chat_id, person_id, tool) or (0, "", 0)
        if state in ("given", "refused") or (number and at - since < ASK_AGAIN_MS):
            found: GrantState = state
            return found
        if number:
            tx.run("UPDATE outside_grant SET at = ? WHERE id = ?", at, number)
        else:
            number = tx.insert("outside_grant", chat_id=chat_id, person_id=person_id, tool=tool, state="asked", at=at)
        enqueue(tx, chat_id, question(number), at)
        return "asked"

    @writes
    def answer(self, tx: Tx, number: int, chat_id: int, person_id: int, agrees: bool, at: int) -> str | None:
        """The answer to that question; what it was about. None when it was put to somebody else, elsewhere, or too long
        ago."""
        sql = "SELECT tool FROM outside_grant WHERE id = ? AND chat_id = ? AND person_id = ? AND (state = 'given' OR at >= ?)"
        tool: str | None = tx.value(sql, number, chat_id, person_id, at - ANSWER_MS)
        if tool is not None:
            state = "given" if agrees else "refused"
            tx.run("UPDATE outside_grant SET state = ?, at = ? WHERE id = ?", state, at, number)
        return tool

    @writes
    def begin_call(
        self,
        tx: Tx,
        server: str,
        day: int,
        most: int,
        at: int,
        *,
        once: str = "",
        used_up: tuple[int, int, str] | None = None,
    ) -> BeginOutcome:
        """Count a call before it is made. `once` is the key of one that may not be made twice.

        `used_up` is the grant (chat, person, tool) that holds for this call alone.
        """
        if once and tx.has("SELECT 1 FROM effect WHERE key = ?", once):
            return "again"
        tx.run("DELETE FROM outside_day WHERE day < ?", day)
        tx.run("INSERT INTO outside_day (server, day, calls) VALUES (?, ?, 0) ON CONFLICT DO NOTHING", server, day)
        sql = "UPDATE outside_day SET calls = calls + 1 WHERE server = ? AND day = ? AND calls < ?"
        if not tx.run(sql, server, day, most):
            return "spent"
        if once:
            tx.insert("effect", key=once, result="begun", at=at)
        if used_up is not None:
            tx.run("DELETE FROM outside_grant WHERE chat_id = ? AND person_id = ? AND tool = ?", *used_up)
        return "begun"

    @reads
    def calls(self, tx: Tx, day: int) -> Mapping[str, int]:
        """How often each server was called on that day."""
        return dict(tx.all("SELECT server, calls FROM outside_day WHERE day = ?", day))

    @reads
    def plugin_value(self, tx: Tx, plugin: str, chat_id: int, key: str) -> str:
        """What that plugin keeps of the chat under this key, "" for nothing."""
        sql = "SELECT value FROM plugin_value WHERE plugin = ? AND chat_id = ? AND key = ?"
        found: str | None = tx.value(sql, plugin, chat_id, key)
        return found or ""

    @writes
    def put_plugin_value(self, tx: Tx, plugin: str, chat_id: int, key: str, value: str, person_id: int) -> None:
        """Keep it for as long as that person and the chat are there, or no more when it is ""; ValueError past a limit."""
        if not 0 < len(key) <= KEY_CHARS or len(value) > VALUE_CHARS:
            raise ValueError(f"a key has 1 to {KEY_CHARS} characters, a value at most {VALUE_CHARS}")
        tx.run("DELETE FROM plugin_value WHERE plugin = ? AND chat_id = ? AND key = ?", plugin, chat_id, key)
        if not value:
            return
        if tx.value("SELECT count(*) FROM plugin_value WHERE plugin = ? AND chat_id = ?", plugin, chat_id) >= MOST_KEYS:
            raise ValueError(f"a plugin keeps at most {MOST_KEYS} keys of a chat")
        tx.insert("plugin_value", plugin=plugin, chat_id=chat_id, key=key, value=value, person_id=person_id)


def _drop_grants(tx: Tx, name: str) -> None:
    tx.run("DELETE FROM outside_grant WHERE substr(tool, 1, ?) = ?", len(name) + 2, f"{name}__")
