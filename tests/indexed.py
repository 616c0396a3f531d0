"""An oracle for the full-text index: what should be in it, told from the tables alone."""

import sqlite3
from collections import Counter

from bot.language.sections import SLOT_QUESTION_WORDS as SLOTS
from bot.store.postings import numbers_of, term_number
from bot.text.terms import search_terms

ACTIVE = "SELECT 'memory', id, visibility, owner_id, chat_id, text, slot FROM memory WHERE disabled_at IS NULL"
SUMMARIES = (
    "SELECT 'digest', id, 'private', owner_id, chat_id, summary, '' FROM digest WHERE summary <> '' AND into_id IS NULL"
)
LINES = """SELECT 'line', event.id, chat.kind, (SELECT person_id FROM member WHERE member.chat_id = chat.id
    ORDER BY seen_at DESC LIMIT 1), chat.id, text, '' FROM event JOIN chat ON chat.id = event.chat_id
    WHERE event.kind IN ('message', 'bot') AND label IN ('', 'cut') AND hidden = '' AND off_record = 0"""


def wrong_index(db: sqlite3.Connection) -> list[object]:
    """What the index has and should not have, or the other way round; nothing, if all is well."""
    wanted = {
        (kind, ref, _scope(seen, owner, chat), " ".join(search_terms(f"{text} {SLOTS.get(slot, '')}")))
        for sql in (ACTIVE, SUMMARIES, LINES)
        for kind, ref, seen, owner, chat, text, slot in db.execute(sql)
        if search_terms(text)
    }
    rows = "SELECT kind, ref, doc.scope, terms FROM doc_text LEFT JOIN doc ON doc.id = doc_id"
    found = set(db.execute(f"{rows} WHERE kind IS NOT 'note'"))
    scopes = db.execute(
        "SELECT doc.id FROM doc JOIN doc_text ON doc_id = doc.id WHERE doc_text.scope <> doc.scope || "
        "CASE WHEN kind IN ('line', 'memory') AND person_id IS NOT NULL AND doc.scope GLOB 'c*' "
        "THEN ' w' || person_id ELSE '' END"
    ).fetchall()
    listed = Counter(
        (scope, term, doc)
        for scope, term, first, steps in db.execute("SELECT scope, term, first, steps FROM posting")
        for doc in numbers_of(first, steps)
    )
    spelled = Counter(
        (scope, term, doc)
        for doc, scopes, terms in db.execute("SELECT doc_id, scope, terms FROM doc_text")
        for scope in scopes.split()
        for term in set(map(term_number, terms.split()))
    )
    unlike = [*(listed - spelled), *(spelled - listed)]
    rowless = db.execute("SELECT id FROM doc WHERE id NOT IN (SELECT doc_id FROM doc_text)").fetchall()
    return [*sorted(wanted ^ found), *scopes, *rowless, *unlike]


def _scope(seen: str, owner: int | None, chat: int) -> str:
    if seen in ("chat", "group") or (owner is None and seen != "public"):
        return f"c{chat}"
    if owner is None:
        return "all"
    return f"{'o' if seen == 'public' else 'p'}{owner}"
