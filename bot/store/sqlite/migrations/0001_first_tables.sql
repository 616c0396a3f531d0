CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE person (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, script TEXT NOT NULL DEFAULT '',
    timezone TEXT NOT NULL DEFAULT '', is_bot INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL);
CREATE TABLE account (
    platform TEXT NOT NULL, external_id TEXT NOT NULL, person_id INTEGER NOT NULL REFERENCES person(id),
    name TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (platform, external_id)) WITHOUT ROWID;
CREATE INDEX account_person ON account (person_id);
CREATE TABLE chat (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL DEFAULT '',
    enabled INTEGER NOT NULL DEFAULT 1, scene TEXT NOT NULL DEFAULT '',
    cleared_upto INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL);
CREATE TABLE place (
    platform TEXT NOT NULL, external_id TEXT NOT NULL, chat_id INTEGER NOT NULL REFERENCES chat(id),
    current INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (platform, external_id)) WITHOUT ROWID;
CREATE INDEX place_chat ON place (chat_id);
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id INTEGER NOT NULL REFERENCES chat(id), at INTEGER NOT NULL,
    kind TEXT NOT NULL, person_id INTEGER REFERENCES person(id), name TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT '', label TEXT NOT NULL DEFAULT '', delivery_key TEXT,
    external_id TEXT NOT NULL DEFAULT '', forwarded INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL, why TEXT NOT NULL DEFAULT '', due_at INTEGER, outcome TEXT NOT NULL DEFAULT '',
    turn_id INTEGER, hidden TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX event_delivery ON event (delivery_key) WHERE delivery_key IS NOT NULL;
CREATE INDEX event_chat ON event (chat_id, id);
CREATE INDEX event_queue ON event (chat_id, due_at) WHERE state = 'queued';
CREATE INDEX event_turn ON event (turn_id) WHERE turn_id IS NOT NULL;
CREATE TABLE member (
    chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
    seen_at INTEGER NOT NULL, PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID;
CREATE INDEX member_person ON member (person_id);
CREATE TABLE window (
    chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
    until INTEGER NOT NULL, PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID;
CREATE INDEX window_until ON window (until);
CREATE TABLE session (
    id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL REFERENCES chat(id), number INTEGER NOT NULL,
    state TEXT NOT NULL, opened_at INTEGER NOT NULL, last_at INTEGER NOT NULL, close_at INTEGER NOT NULL,
    close_reason TEXT NOT NULL DEFAULT '', closed_at INTEGER, from_event INTEGER NOT NULL,
    upto_event INTEGER NOT NULL, digest_due_at INTEGER, digest_attempts INTEGER NOT NULL DEFAULT 0,
    UNIQUE (chat_id, number));
CREATE UNIQUE INDEX session_open ON session (chat_id) WHERE state = 'open';
CREATE INDEX session_close ON session (close_at) WHERE state = 'open';
CREATE INDEX session_digest ON session (digest_due_at) WHERE digest_due_at IS NOT NULL;
CREATE TABLE prefix (signature TEXT PRIMARY KEY, message TEXT NOT NULL, tools TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE epoch (
    id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES session(id), number INTEGER NOT NULL,
    opened_at INTEGER NOT NULL, reason TEXT NOT NULL, mode TEXT NOT NULL,
    signature TEXT NOT NULL REFERENCES prefix(signature), logged_upto INTEGER NOT NULL DEFAULT 0,
    stale TEXT NOT NULL DEFAULT '', prompt_tokens INTEGER NOT NULL DEFAULT 0,
    prompt_entries INTEGER NOT NULL DEFAULT 0, UNIQUE (session_id, number));
CREATE TABLE turn (
    id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL REFERENCES chat(id),
    session_id INTEGER NOT NULL REFERENCES session(id), epoch_id INTEGER NOT NULL REFERENCES epoch(id),
    number INTEGER NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, person_id INTEGER NOT NULL,
    asked_at INTEGER NOT NULL, said_at INTEGER, logged_before INTEGER NOT NULL,
    receipts TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '', UNIQUE (session_id, number));
CREATE INDEX turn_running ON turn (id) WHERE state IN ('asked', 'answered');
CREATE TABLE turn_event (
    turn_id INTEGER NOT NULL REFERENCES turn(id), event_id INTEGER NOT NULL REFERENCES event(id),
    PRIMARY KEY (turn_id, event_id)) WITHOUT ROWID;
CREATE TABLE entry (
    id INTEGER PRIMARY KEY, epoch_id INTEGER NOT NULL REFERENCES epoch(id),
    turn_id INTEGER NOT NULL REFERENCES turn(id), position INTEGER NOT NULL, message TEXT NOT NULL,
    tokens INTEGER NOT NULL, UNIQUE (epoch_id, position));
CREATE INDEX entry_turn ON entry (turn_id);
CREATE TABLE call (
    id INTEGER PRIMARY KEY, turn_id INTEGER REFERENCES turn(id), session_id INTEGER, chat_id INTEGER,
    person_id INTEGER, cause TEXT NOT NULL, model TEXT NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL,
    settled_at INTEGER, reserved_tokens INTEGER NOT NULL, reserved_cost REAL NOT NULL,
    prompt_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
    counted TEXT NOT NULL DEFAULT '');
CREATE INDEX call_at ON call (at);
CREATE INDEX call_turn ON call (turn_id);
CREATE TABLE effect (key TEXT PRIMARY KEY, result TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id INTEGER NOT NULL REFERENCES chat(id), turn_id INTEGER,
    event_id INTEGER, part INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL, text TEXT NOT NULL,
    state TEXT NOT NULL, boot TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL, sent_at INTEGER, external_ids TEXT NOT NULL DEFAULT '[]',
    error TEXT NOT NULL DEFAULT '');
CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'pending';
CREATE INDEX outbox_pending ON outbox (chat_id, id) WHERE state IN ('pending', 'sending');
CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER REFERENCES person(id),
    chat_id INTEGER NOT NULL REFERENCES chat(id), visibility TEXT NOT NULL, kind TEXT NOT NULL,
    slot TEXT NOT NULL DEFAULT '', section TEXT NOT NULL DEFAULT '', text TEXT NOT NULL, folded TEXT NOT NULL,
    asked INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL, importance INTEGER NOT NULL DEFAULT 1,
    emotion TEXT NOT NULL DEFAULT '', emotion_value REAL NOT NULL DEFAULT 0,
    stability_days REAL NOT NULL, accessed_at INTEGER NOT NULL, access_count INTEGER NOT NULL DEFAULT 0,
    observed_at INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    protected INTEGER NOT NULL DEFAULT 0, disabled_at INTEGER, disabled_reason TEXT NOT NULL DEFAULT '',
    purge_at INTEGER);
CREATE INDEX memory_owner ON memory (owner_id, kind, observed_at) WHERE disabled_at IS NULL;
CREATE INDEX memory_chat ON memory (chat_id, kind, observed_at) WHERE disabled_at IS NULL;
CREATE INDEX memory_folded ON memory (owner_id, folded);
CREATE INDEX memory_purge ON memory (purge_at) WHERE purge_at IS NOT NULL;
CREATE VIRTUAL TABLE memory_text USING fts5 (owner, terms, tokenize = "ascii");
INSERT INTO memory_text (memory_text, rank) VALUES ('rank', 'bm25(0.0, 1.0)');
CREATE TABLE digest (
    id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL UNIQUE REFERENCES session(id),
    chat_id INTEGER NOT NULL REFERENCES chat(id), owner_id INTEGER, summary TEXT NOT NULL,
    tier TEXT NOT NULL DEFAULT 'raw', made_by TEXT NOT NULL, names TEXT NOT NULL, started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE INDEX digest_chat ON digest (chat_id, ended_at);
CREATE INDEX digest_owner ON digest (owner_id, ended_at);
CREATE TABLE edge (
    kind TEXT NOT NULL, derived_id INTEGER NOT NULL, event_id INTEGER NOT NULL,
    PRIMARY KEY (kind, derived_id, event_id)) WITHOUT ROWID;
CREATE INDEX edge_event ON edge (event_id);
