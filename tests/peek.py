"""What a store holds, for tests: rows of one kind by the values of their fields. No other file of a World's tests needs
to know tables or SQL; what is about the file itself (kills, migrations, damage) reads it by itself.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.servers import read


@dataclass(frozen=True, slots=True)
class Other:
    """Any value but this one; a field without a value is none of these."""

    value: object


@dataclass(frozen=True, slots=True)
class Like:
    """A text of this form: % stands for any characters, _ for one."""

    form: str


@dataclass(frozen=True, slots=True)
class In:
    """One of these values."""

    values: tuple[object, ...]

    def __init__(self, *values: object) -> None:
        object.__setattr__(self, "values", values)


SOME = Like("%")
"""Any value at all."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one kind in the order they came: `peek.memories("text", disabled_at=None)`.

    `where` names fields and what they have: a value, None for no value, Other, Like, In or SOME.
    """

    database: Path
    table: str
    order: str = "id"

    def __call__(self, *fields: str, **where: object) -> list[tuple[object, ...]]:
        """These fields of every row of which all of `where` holds."""
        return self._read(f"SELECT {', '.join(fields)}", where, f" ORDER BY {self.order}")

    def values(self, field: str, **where: object) -> list[object]:
        """That field of every such row."""
        return [value for (value,) in self(field, **where)]

    def count(self, **where: object) -> int:
        """How many such rows there are."""
        ((count,),) = self._read("SELECT count(*)", where)
        return int(str(count))

    def _read(self, select: str, where: dict[str, object], order: str = "") -> list[tuple[object, ...]]:
        conditions = [_condition(field, wanted) for field, wanted in where.items()]
        told = f" WHERE {' AND '.join(text for text, _ in conditions)}" if conditions else ""
        bound = [value for _, values in conditions for value in values]
        return read(self.database, f"{select} FROM {self.table}{told}{order}", bound)


def _condition(field: str, wanted: object) -> tuple[str, tuple[object, ...]]:
    match wanted:
        case None:
            return f"{field} IS NULL", ()
        case Other(value):
            return f"{field} <> ?", (value,)
        case Like("%"):
            return f"{field} IS NOT NULL", ()
        case Like(form):
            return f"{field} LIKE ?", (form,)
        case In():
            return f"{field} IN ({', '.join('?' * len(wanted.values))})", wanted.values
        case _:
            return f"{field} = ?", (wanted,)


class Peek:
    """All kinds of rows of one database, which may be in use."""

    def __init__(self, database: Path) -> None:
        def rows(table: str, order: str = "id") -> Rows:
            return Rows(database, table, order)

        self.accounts = rows("account", "platform")
        self.attachments = rows("attachment", "event_id")
        self.calls = rows("call")
        self.chat_contexts = rows("chat_context", "chat_id")
        self.chats = rows("chat")
        self.codes = rows("code", "code")
        self.commitments = rows("commitment")
        self.countings = rows("counting", "model")
        self.digests = rows("digest")
        self.document_texts = rows("doc_text", "scope")
        self.documents = rows("doc")
        self.edges = rows("edge", "kind")
        self.effects = rows("effect", "key")
        self.entries = rows("entry")
        self.epochs = rows("epoch")
        self.events = rows("event")
        self.facts = rows("meta", "key")
        self.feedback = rows("feedback", "turn_id")
        self.heartbeats = rows("heartbeat", "chat_id")
        self.joinings = rows("joining", "chat_id")
        self.lately = rows("lately", "chat_id")
        self.members = rows("member", "chat_id")
        self.memories = rows("memory")
        self.merged = rows("merged")
        self.note_chunks = rows("note_chunk")
        self.note_lines = rows("note_line")
        self.notes = rows("note")
        self.outbox = rows("outbox")
        self.people = rows("person")
        self.places = rows("place", "platform")
        self.prefixes = rows("prefix", "signature")
        self.recounts = rows("recount", "period")
        self.reminder_questions = rows("reminder_question", "chat_id")
        self.reminders = rows("reminder")
        self.rewritings = rows("rewriting", "memory_id")
        self.section_rounds = rows("section_round", "turn_id")
        self.sent = rows("sent", "chat_id")
        self.sessions = rows("session")
        self.settings = rows("setting", "key")
        self.talkers = rows("talker", "digest_id")
        self.told_events = rows("turn_event", "turn_id")
        self.traces = rows("trace", "chat_id")
        self.turns = rows("turn")
        self.vectors = rows("vector", "doc_id")
        self.windows = rows("conversation_window", "chat_id")
