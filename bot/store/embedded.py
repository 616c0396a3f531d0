"""What a document's vector is made of, and how vectors outlast an index that is written anew. Verb parts alone."""

import hashlib
import sqlite3

TEXTS = {
    "memory": "(SELECT text FROM memory WHERE memory.id = doc.ref)",
    "digest": "(SELECT summary FROM digest WHERE digest.id = doc.ref)",
    "note": "(SELECT text FROM note_chunk WHERE note_chunk.id = doc.ref)",
    "line": "(SELECT text || coalesce((SELECT ' ' || group_concat(attachment.text, ' ') FROM attachment "
    "WHERE event_id = event.id AND state = 'done'), '') FROM event WHERE event.id = doc.ref AND hidden = '')",
}
"""Where the text of a document lies, by its kind."""

TEXT = "coalesce(CASE kind " + " ".join(f"WHEN '{kind}' THEN {text}" for kind, text in TEXTS.items()) + " END, '')"


def fingerprint(text: str) -> bytes:
    """What tells a text from others: 8 bytes of a hash."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def set_aside(db: sqlite3.Connection) -> None:
    """Verb part: before all documents are written anew, keep the vectors under what they are of."""
    db.execute("DROP TABLE IF EXISTS temp.kept")
    db.execute(
        "CREATE TEMP TABLE kept AS SELECT kind, ref, model, dimensions, fingerprint, vector FROM vector "
        "JOIN doc ON doc.id = doc_id"
    )
    db.execute("CREATE INDEX temp.kept_of ON kept (kind, ref)")


def take_back(db: sqlite3.Connection) -> None:
    """Verb part: documents whose text is still the same have their vectors again."""
    rows = db.execute(f"SELECT doc.id, fingerprint, {TEXT}, kept.rowid FROM kept JOIN doc USING (kind, ref)").fetchall()
    for number, print_, text, row in rows:
        if fingerprint(text) == print_:
            db.execute(
                "INSERT OR REPLACE INTO vector (doc_id, model, dimensions, fingerprint, vector) "
                "SELECT ?, model, dimensions, fingerprint, vector FROM temp.kept WHERE rowid = ?",
                (number, row),
            )
    db.execute("DROP TABLE temp.kept")
