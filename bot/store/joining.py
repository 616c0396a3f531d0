"""The rows of two persons who become one, and of one who becomes two again: whose account told it decides."""

import json
from dataclasses import dataclass

from bot.core.memories import Memory
from bot.store.commitments import join_promises
from bot.store.index import index_digest, index_lines, index_memory, index_section, reindex_speaker, rescope
from bot.store.notes import delete_note, unindex_note
from bot.store.schema import GREATEST, LEAST, SELECT_MEMORY, placeholders
from bot.store.sessions import end_direct_logs
from bot.store.supersession import bring_back, end_memory, one_current, undo_merge
from bot.store.transactions import Tx

REPOINTED = (
    "account SET person_id",
    "event SET person_id",
    "turn SET person_id",
    "call SET person_id",
    "digest SET owner_id",
    "code SET person_id",
    "link SET person_id",
    "memory SET owner_id",
    "doc SET person_id",
    "commitment SET owner_id",
    "reminder SET person_id",
    "section_round SET person_id",
    "setting SET person_id",
    "recount SET person_id",
    "trace SET person_id",
    "plugin_value SET person_id",
)
"""Columns that only have to name the other person."""

SET_KEYS = {
    "feedback": ("turn_id", "sign"),
    "participant": ("session_id",),
    "question": ("chat_id",),
    "talker": ("digest_id",),
    "reminder_question": ("chat_id",),
}
"""Tables with one row of a person for each of these; a row that the other person has already stays theirs."""

OWNERS = {"memory": "owner_id", "commitment": "owner_id", "reminder": "person_id"}
"""Rows of which a link notes what was whose before, with the column that says whose they are."""

OF_DIRECT_CHATS = ("turn SET person_id", "call SET person_id", "digest SET owner_id", "section_round SET person_id")
"""Of these a person gets back what is of their own direct chats."""


def join_persons(tx: Tx, one: int, other: int, at: int) -> int:
    """Join two persons into the older one; its number. The logs of their DMs are stale."""
    keep, gone = tx.ids("SELECT id FROM person WHERE id IN (?, ?) ORDER BY created_at, id", one, other)
    link = _note_link(tx, keep, gone, at)
    tx.run("DELETE FROM outside_grant WHERE person_id IN (?, ?)", keep, gone)  # asked anew of who is both
    tx.run(
        "UPDATE person SET script = coalesce(nullif(person.script, ''), young.script), "
        "timezone = coalesce(nullif(person.timezone, ''), young.timezone), "
        "access = CASE 'allowed' WHEN young.access THEN 'allowed' ELSE person.access END "
        "FROM (SELECT script, timezone, access FROM person WHERE id = ?) AS young WHERE person.id = ?",
        gone,
        keep,
    )
    _join_memories(tx, keep, gone, link, at)
    for column in REPOINTED:
        tx.run(f"UPDATE {column} = ? WHERE {column.split()[-1]} = ?", keep, gone)
    reindex_speaker(tx, keep)
    one_current(tx, keep)
    join_promises(tx, keep)
    _join_sets(tx, keep, gone)
    _join_notes(tx, keep, gone)
    _forget_asked(tx, keep)
    end_direct_logs(tx, keep)
    tx.run("DELETE FROM person WHERE id = ?", gone)
    return keep


def _note_link(tx: Tx, keep: int, gone: int, at: int) -> int:
    """What tells the two apart again: which accounts say what, what is theirs so far, and how each of them stood."""
    for person_id in (keep, gone):
        for platform, external_id in tx.all(
            "SELECT platform, external_id FROM account WHERE person_id = ? ORDER BY created_at", person_id
        ):
            tx.run(
                "UPDATE event SET account = ? WHERE person_id = ? AND account = '' AND chat_id IN "
                "(SELECT chat_id FROM place WHERE platform = ?)",
                external_id,
                person_id,
                platform,
            )
    accounts = [list(row) for row in tx.all("SELECT platform, external_id FROM account WHERE person_id = ?", gone)]
    stood = "SELECT name, script, timezone, access FROM person WHERE id = ?"
    was, had = (json.dumps(tx.row(stood, person_id)) for person_id in (gone, keep))
    upto = json.dumps({kind: tx.number(f"SELECT max(id) FROM {kind}") for kind in OWNERS})
    link = tx.insert("link", person_id=keep, at=at, accounts=json.dumps(accounts), was=was, had=had, upto=upto)
    for kind, column in OWNERS.items():
        for number in tx.ids(f"SELECT id FROM {kind} WHERE {column} = ?", gone):
            tx.insert("linked", link_id=link, kind=kind, ref=number)
    return link


def _forget_asked(tx: Tx, person_id: int) -> None:
    """Codes for a person who is another now count no more: what they agreed to is not what it would do."""
    tx.run("DELETE FROM code WHERE kind IN ('pair', 'link', 'told', 'erase') AND person_id = ?", person_id)


def _join_sets(tx: Tx, keep: int, gone: int) -> None:
    """Where both have a row, the one that lasts longer stays, or that of whoever is left."""
    for table, value in (("member", "seen_at"), ("conversation_window", "until")):
        tx.run(
            f"INSERT INTO {table} (chat_id, person_id, {value}) SELECT chat_id, ?, {value} FROM {table} "
            f"WHERE person_id = ? ON CONFLICT (chat_id, person_id) DO UPDATE SET {value} = "
            f"{GREATEST}({table}.{value}, excluded.{value})",
            keep,
            gone,
        )
        tx.run(f"DELETE FROM {table} WHERE person_id = ?", gone)
    for table, keys in SET_KEYS.items():
        same = " AND ".join(f"own.{key} = {table}.{key}" for key in keys)
        taken = f"EXISTS (SELECT 1 FROM {table} AS own WHERE own.person_id = ? AND {same})"
        tx.run(f"DELETE FROM {table} WHERE person_id = ? AND {taken}", gone, keep)
        tx.run(f"UPDATE {table} SET person_id = ? WHERE person_id = ?", keep, gone)
    tx.run("DELETE FROM told WHERE person_id = ?", gone)


def _join_notes(tx: Tx, keep: int, gone: int) -> None:
    """A note kept by hand is there once for each owner: of two copies one stays."""
    for number, path in tx.all("SELECT id, path FROM note WHERE owner_id = ?", gone):
        if tx.has("SELECT 1 FROM note WHERE owner_id = ? AND path = ?", keep, path):
            delete_note(tx, number)
        else:
            tx.run("UPDATE note SET owner_id = ?, stamp = '' WHERE id = ?", keep, number)


def _join_memories(tx: Tx, keep: int, gone: int, link: int, at: int) -> None:
    """The full-text rows change their owner; of two that say the same, and of two names to use, the newer stays."""
    for seen in ("p", "o"):
        rescope(tx, f"{seen}{gone}", f"{seen}{keep}")
    twins = tx.all(
        "SELECT new.id, old.id, new.folded = old.folded FROM memory AS new JOIN memory AS old "
        "ON new.visibility = old.visibility AND (new.visibility <> 'chat' OR new.chat_id = old.chat_id) "
        "AND ((new.folded = old.folded AND "
        "((new.slot IN ('address', 'no_address')) = (old.slot IN ('address', 'no_address')))) "
        "OR (new.slot = 'address' AND old.slot = 'address')) "
        "AND (new.updated_at, new.id) > (old.updated_at, old.id) WHERE new.disabled_at IS NULL "
        "AND old.disabled_at IS NULL AND ((new.owner_id = ? AND old.owner_id = ?) "
        "OR (new.owner_id = ? AND old.owner_id = ?)) ORDER BY new.updated_at, new.id",
        keep,
        gone,
        gone,
        keep,
    )
    for new, old, same in twins:
        if same:
            tx.run(
                f"UPDATE memory SET importance = {LEAST}(100, memory.importance + twin.importance), asked = "
                f"{GREATEST}(memory.asked, twin.asked), protected = {GREATEST}(memory.protected, twin.protected), helpful = "
                "memory.helpful + twin.helpful, unhelpful = memory.unhelpful + twin.unhelpful "
                "FROM memory AS twin WHERE memory.id = ? AND twin.id = ?",
                new,
                old,
            )
            index_section(tx, new)
            tx.link("memory", new, tx.sources("memory", old))
            tx.put("linked", "link_id, kind, ref", link_id=link, kind="ended", ref=old, twin=new)
        end_memory(tx, old, "replaced", at)


def split_person(tx: Tx, link: int, at: int) -> tuple[int, int]:
    """Take a link back: what its accounts told is theirs again; the person that was left, and the one that is anew.

    Nobody gets what the other was, may or told; who was denied meanwhile is denied on both sides.
    """
    keep, accounts, was, had, upto = tx.row("SELECT person_id, accounts, was, had, upto FROM link WHERE id = ?", link)
    name, script, timezone, before = json.loads(was)
    access = tx.value("SELECT access FROM person WHERE id = ?", keep)
    new = tx.insert(
        "person",
        name=name,
        script=script,
        timezone=timezone,
        access="denied" if access == "denied" else before,
        created_at=at,
    )
    _restore_standing(tx, keep, json.loads(had), json.loads(was))
    for platform, external_id in json.loads(accounts):
        mine = "platform = ? AND external_id = ? AND person_id = ?"
        tx.run(f"UPDATE account SET person_id = ? WHERE {mine}", new, platform, external_id, keep)
        tx.run(
            "UPDATE event SET person_id = ? WHERE person_id = ? AND account = ? AND chat_id IN "
            "(SELECT chat_id FROM place WHERE platform = ?)",
            new,
            keep,
            external_id,
            platform,
        )
    moved = {tuple(account) for account in json.loads(accounts)}
    for earlier, theirs in tx.all("SELECT id, accounts FROM link WHERE person_id = ? AND id < ?", keep, link):
        if {tuple(account) for account in json.loads(theirs)} <= moved:
            tx.run("UPDATE link SET person_id = ? WHERE id = ?", new, earlier)
    tx.run("DELETE FROM trace WHERE person_id = ?", keep)  # it tells of others, so its owner asks again
    dms = _members(tx, keep, new)
    _Split(tx, link, json.loads(upto), keep, new, dms, at).carry_out()
    tx.run("DELETE FROM linked WHERE link_id = ?", link)
    tx.run("DELETE FROM link WHERE id = ?", link)
    return keep, new


def drop_old_links(tx: Tx, before: int) -> None:
    """What was linked before that moment, ms, stays so."""
    tx.run("DELETE FROM linked WHERE link_id IN (SELECT id FROM link WHERE at <= ?)", before)
    tx.run("DELETE FROM link WHERE at <= ?", before)


def _restore_standing(tx: Tx, keep: int, had: list[str], was: list[str]) -> None:
    """What the person who is left took over from the other they have no more; an owner's new word stays."""
    for column, own, others in zip(("script", "timezone", "access"), had[1:], was[1:], strict=True):
        if own != others:
            tx.run(f"UPDATE person SET {column} = ? WHERE id = ? AND {column} = ?", own, keep, others)


def _members(tx: Tx, keep: int, new: int) -> tuple[int, ...]:
    """Who wrote in a chat belongs to it; the direct chats of the new person."""
    tx.run(
        "INSERT INTO member (chat_id, person_id, seen_at) SELECT chat_id, person_id, max(at) FROM event "
        "WHERE person_id = ? GROUP BY chat_id ON CONFLICT DO NOTHING",
        new,
    )
    tx.run(
        "DELETE FROM member WHERE person_id = ? AND chat_id IN (SELECT chat_id FROM member WHERE person_id = ?) "
        "AND NOT EXISTS (SELECT 1 FROM event WHERE event.chat_id = member.chat_id AND event.person_id = ?)",
        keep,
        new,
        keep,
    )
    return tx.ids("SELECT chat.id FROM chat JOIN member ON chat_id = chat.id WHERE kind = 'dm' AND person_id = ?", new)


def _copy_row(tx: Tx, table: str, number: int, **changed: object) -> int:
    """A copy of a row with these values in place of its own; its number."""
    names = [name for name, *_ in tx.columns(table) if name != "id"]
    row = zip(names, tx.row(f"SELECT {', '.join(names)} FROM {table} WHERE id = ?", number), strict=True)
    return tx.insert(table, **{**dict(row), **changed})


@dataclass(frozen=True, slots=True)
class _Split:
    """What `keep` and `new` told goes to each, when their accounts and events are told apart already.

    `upto` are the newest numbers of each kind before the link, `dms` the direct chats of `new`.
    """

    tx: Tx
    link: int
    upto: dict[str, int]
    keep: int
    new: int
    dms: tuple[int, ...]
    at: int

    def carry_out(self) -> None:
        """Every row gets the person whose account told it."""
        for column in OF_DIRECT_CHATS:
            self._repoint(column)
        self._lists()
        self._memories()
        self._promises()
        self._notes()
        self._index()
        for person_id in (self.keep, self.new):
            one_current(self.tx, person_id)
            reindex_speaker(self.tx, person_id)
            _forget_asked(self.tx, person_id)
            end_direct_logs(self.tx, person_id)

    def _repoint(self, column: str) -> None:
        name = column.rsplit(maxsplit=1)[-1]
        here = f"{name} = ? AND chat_id IN ({placeholders(self.dms)})"
        self.tx.run(f"UPDATE {column} = ? WHERE {here}", self.new, self.keep, *self.dms)

    def _lists(self) -> None:
        """Who took part in what; open questions and windows are nobody's any more."""
        tx = self.tx
        here = f"chat_id IN ({placeholders(self.dms)})"
        of_direct = {
            "participant": f"session_id IN (SELECT id FROM session WHERE {here})",
            "feedback": f"turn_id IN (SELECT id FROM turn WHERE {here})",
            "talker": f"digest_id IN (SELECT id FROM digest WHERE {here})",
        }
        for table, theirs in of_direct.items():
            tx.run(f"UPDATE {table} SET person_id = ? WHERE person_id = ? AND {theirs}", self.new, self.keep, *self.dms)
        own = (
            "SELECT 1 FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'digest' AND derived_id = digest_id"
        )
        tx.run(
            f"INSERT INTO talker (digest_id, person_id) SELECT digest_id, ? FROM talker WHERE person_id = ? "
            f"AND EXISTS ({own} AND event.person_id = ?) ON CONFLICT DO NOTHING",
            self.new,
            self.keep,
            self.new,
        )
        tx.run(
            "DELETE FROM talker WHERE person_id = ? AND digest_id IN (SELECT digest_id FROM talker WHERE person_id = ?) "
            f"AND NOT EXISTS ({own} AND event.person_id = ?)",
            self.keep,
            self.new,
            self.keep,
        )
        for table in ("conversation_window", "question", "reminder_question", "told"):
            tx.run(f"DELETE FROM {table} WHERE person_id IN (?, ?)", self.keep, self.new)

    def _whose(self, kind: str, number: int, chat_id: int) -> int:
        """Whose account told it: what was there before the link is whose it was, the rest is of its first line."""
        if self.tx.has("SELECT 1 FROM linked WHERE link_id = ? AND kind = ? AND ref = ?", self.link, kind, number):
            return self.new
        if number <= self.upto[kind]:
            return self.keep
        told = self.tx.value(
            "SELECT person_id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = ? AND derived_id = ? "
            "AND person_id IN (?, ?) ORDER BY event_id LIMIT 1",
            kind,
            number,
            self.keep,
            self.new,
        )
        return int(told or (self.new if chat_id in self.dms else self.keep))

    def _foreign(self, kind: str, number: int, owner: int) -> tuple[int, ...]:
        """The lines of the other one that a row comes from."""
        sql = (
            "SELECT event_id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = ? AND derived_id = ? "
            "AND person_id = ? ORDER BY event_id"
        )
        return self.tx.ids(sql, kind, number, self._other(owner))

    def _other(self, owner: int) -> int:
        return self.keep if owner == self.new else self.new

    def _share(self, kind: str, number: int, owner: int) -> int | None:
        """What both told is there once more, for the other one and with their lines; its number, None where one told it."""
        tx, other = self.tx, self._other(owner)
        foreign = self._foreign(kind, number, owner)
        if not foreign:
            return None
        told_in = tx.number("SELECT chat_id FROM event WHERE id = ?", foreign[0])
        copy = _copy_row(tx, kind, number, **{OWNERS[kind]: other, "chat_id": told_in})
        self._move_lines(kind, number, copy, foreign)
        return copy

    def _move_lines(self, kind: str, number: int, to: int, lines: tuple[int, ...]) -> None:
        self.tx.link(kind, to, lines)
        for line in lines:
            self.tx.unlink(kind, number, line)

    def _memories(self) -> None:
        """Statements that were written into one stand for themselves again; what went for the other's comes back."""
        tx = self.tx
        theirs = "SELECT id, chat_id FROM memory WHERE owner_id = ?"
        for number, chat_id in tx.all(theirs, self.keep):
            owner = self._whose("memory", number, chat_id)
            newest = "SELECT id FROM merged WHERE memory_id = ? AND undone_at IS NULL ORDER BY id DESC"
            while any(self._foreign("merge", merge, owner) for merge in tx.ids(newest, number)):
                undo_merge(tx, tx.all(f"{SELECT_MEMORY}WHERE id = ?", number, to=Memory)[0], self.at)
        for number, chat_id in tx.all(theirs, self.keep):
            owner = self._whose("memory", number, chat_id)
            if owner == self.new:
                tx.run("UPDATE memory SET owner_id = ? WHERE id = ?", owner, number)
                index_memory(tx, number)
            if (twin := self._twin(number)) is not None:
                self._move_lines("memory", number, twin, self._foreign("memory", number, owner))
                stands = "disabled_at, disabled_reason, purge_at, former_at, replaced_by"
                as_twin = f"UPDATE memory SET ({stands}) = (SELECT {stands} FROM memory WHERE id = ?) WHERE id = ?"
                tx.run(as_twin, number, twin)
            else:
                twin = self._share("memory", number, owner)
            if twin is not None:
                index_memory(tx, twin)
        for person_id in (self.keep, self.new):
            self._restore_names(person_id)
        tx.run(
            "UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE owner_id IN (?, ?) AND replaced_by IN "
            "(SELECT id FROM memory AS newer WHERE newer.owner_id IN (?, ?) AND newer.owner_id <> memory.owner_id)",
            *(self.keep, self.new) * 2,
        )

    def _twin(self, number: int) -> int | None:
        """What the other one told in the same words before the link, and has stood aside since."""
        twin: int | None = self.tx.value(
            "SELECT ref FROM linked JOIN memory ON memory.id = ref AND disabled_reason = 'replaced' "
            "WHERE link_id = ? AND linked.kind = 'ended' AND twin = ?",
            self.link,
            number,
        )
        return twin

    def _restore_names(self, person_id: int) -> None:
        """The name that somebody told last holds again where the link, or the other one since, put another in its place."""
        tx = self.tx
        place = "visibility, CASE visibility WHEN 'chat' THEN chat_id END"
        for number in tx.ids(
            "SELECT id FROM (SELECT id, disabled_at, disabled_reason, row_number() OVER "
            f"(PARTITION BY {place} ORDER BY updated_at DESC, id DESC) AS place FROM memory "
            "WHERE owner_id = ? AND slot = 'address') AS named WHERE place = 1 AND disabled_reason = 'replaced' "
            "AND disabled_at >= (SELECT at FROM link WHERE id = ?)",
            person_id,
            self.link,
        ):
            bring_back(tx, number)

    def _promises(self) -> None:
        """Promises and reminders; a promise that both made is there for each of them."""
        tx = self.tx
        for number, chat_id in tx.all("SELECT id, chat_id FROM commitment WHERE owner_id = ?", self.keep):
            owner = self._whose("commitment", number, chat_id)
            tx.run("UPDATE commitment SET owner_id = ? WHERE id = ?", owner, number)
            tx.run("UPDATE reminder SET person_id = ? WHERE commitment_id = ?", owner, number)
            copy = self._share("commitment", number, owner)
            if copy is None:
                continue
            # Each is reminded where they made it.
            at_home = "SELECT chat_id FROM commitment WHERE id = ?"
            told_in = tx.value(at_home, copy)
            for nudge in tx.ids("SELECT id FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", number):
                _copy_row(tx, "reminder", nudge, person_id=self._other(owner), commitment_id=copy, chat_id=told_in)
                tx.run(f"UPDATE reminder SET chat_id = ({at_home}) WHERE id = ?", number, nudge)
        for number, chat_id in tx.all(
            "SELECT id, chat_id FROM reminder WHERE person_id = ? AND commitment_id IS NULL", self.keep
        ):
            owner = self._whose("reminder", number, chat_id)
            tx.run("UPDATE reminder SET person_id = ? WHERE id = ?", owner, number)
            self._share("reminder", number, owner)

    def _notes(self) -> None:
        """Notes are read anew, for whoever they are of now."""
        self._repoint("note SET owner_id")
        for number in self.tx.ids("SELECT id FROM note WHERE owner_id IN (?, ?)", self.keep, self.new):
            unindex_note(self.tx, number)

    def _index(self) -> None:
        """The index tells lines and summaries as those of whose they are now."""
        tx = self.tx
        index_lines(
            tx,
            tx.ids(
                "SELECT ref FROM doc JOIN event ON event.id = ref WHERE doc.kind = 'line' AND doc.person_id = ? "
                "AND event.person_id = ?",
                self.keep,
                self.new,
            ),
        )
        for number in tx.ids("SELECT id FROM digest WHERE owner_id = ?", self.new):
            index_digest(tx, number)
