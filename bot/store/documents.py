"""The one full-text index: whatever can come back, each row with who may see it. What is put in is chosen elsewhere.

The audience is a column of the index itself, so that a search visits nothing that its asker may not see.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from bot.store.levels import merge_terms
from bot.text.terms import search_terms
from bot.types.memory import Visibility
from bot.types.people import Audience
from bot.types.recall import FindingKind

TALK_MS = 1_800_000
"""A silence this long between two lines of a chat begins another talk (the idle time of a session, 1,800 s)."""

EVERYBODY = "all"


@dataclass(frozen=True, slots=True)
class Doc:
    """Something that can come back: its number `ref` among those of its kind, and its text as it is searched.

    `scope` is who may see it (`scope_of`), `person_id` whose words or whose memory it is (None: nuan's), `at` when it
    happened, ms. Of a line, `talk` is the number of the first one of the same talk, and `place` counts the lines of
    its chat. `section` is where a memory belongs, "" for what is searched always.
    """

    kind: FindingKind
    ref: int
    scope: str
    chat_id: int
    person_id: int | None
    at: int
    text: str
    talk: int = 0
    place: int = 0
    section: str = ""


def scope_of(visibility: Visibility, owner_id: int | None, chat_id: int) -> str:
    """Who may see it, as one word of the index: p7 person 7 alone in a DM, c3 chat 3, o7 wherever 7 speaks, or all."""
    if visibility == "chat" or (visibility == "private" and owner_id is None):
        return f"c{chat_id}"
    if owner_id is None:
        return EVERYBODY
    return f"p{owner_id}" if visibility == "private" else f"o{owner_id}"


def scopes_of(audience: Audience) -> tuple[str, ...]:
    """All that this audience may see (ARCHITECTURE §7): private only in the owner's own DM, a chat's only there."""
    people = audience.person_ids
    own = (f"p{audience.alone}",) if audience.alone is not None else ()
    return (*own, f"c{audience.chat_id}", *(f"o{number}" for number in people), EVERYBODY)


def words_of(scope: str, kind: str, person_id: int | None) -> str:
    """The scopes as the index of words holds them: what person 7 said in a group, a line or what was kept of it, is w7
    too, found in their own DM."""
    own = person_id is not None and kind in ("line", "memory") and scope.startswith("c")
    return f"{scope} w{person_id}" if own else scope


def put(db: sqlite3.Connection, doc: Doc) -> None:
    """Verb part: write the row of a document, in place of the one it had. Its terms need no dictionary."""
    drop(db, doc.kind, (doc.ref,))
    terms = search_terms(doc.text)
    if not terms:
        return
    number = db.execute(
        "INSERT INTO doc (kind, ref, scope, chat_id, person_id, at, talk, place, length, section) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            doc.kind,
            doc.ref,
            doc.scope,
            doc.chat_id,
            doc.person_id,
            doc.at,
            doc.talk,
            doc.place,
            len(terms),
            doc.section,
        ),
    ).lastrowid
    scope = words_of(doc.scope, doc.kind, doc.person_id)
    db.execute("INSERT INTO doc_text (rowid, scope, terms) VALUES (?, ?, ?)", (number, scope, " ".join(terms)))


def drop(db: sqlite3.Connection, kind: FindingKind, refs: Iterable[int]) -> None:
    """Verb part: these come back no more. Their terms stay in the file until `forget_terms`."""
    for ref in refs:
        row = db.execute("SELECT id FROM doc WHERE kind = ? AND ref = ?", (kind, ref)).fetchone()
        if row is not None:
            db.execute("DELETE FROM doc_text WHERE rowid = ?", row)
            db.execute("DELETE FROM doc WHERE id = ?", row)


def forget_terms(db: sqlite3.Connection) -> None:
    """Verb part: nothing of what was dropped or written anew is left: the index keeps terms until its parts merge."""
    merge_terms(db, "doc_text")


def rescope(db: sqlite3.Connection, old: str, new: str) -> None:
    """Verb part: what those of one scope could see, those of the other see from now on."""
    rows = db.execute("SELECT id FROM doc WHERE scope = ?", (old,)).fetchall()
    db.execute("UPDATE doc SET scope = ? WHERE scope = ?", (new, old))
    _rewrite(db, (number for (number,) in rows))


def respeak(db: sqlite3.Connection, person_id: int) -> None:
    """Verb part: what this person said in groups is found in their own DM, also what another account of theirs said."""
    rows = db.execute("SELECT id FROM doc WHERE person_id = ? AND kind = 'line'", (person_id,)).fetchall()
    _rewrite(db, (number for (number,) in rows))


def _rewrite(db: sqlite3.Connection, docs: Iterable[int]) -> None:
    for number in docs:
        scope, kind, person = db.execute("SELECT scope, kind, person_id FROM doc WHERE id = ?", (number,)).fetchone()
        db.execute("UPDATE doc_text SET scope = ? WHERE rowid = ?", (words_of(scope, kind, person), number))
