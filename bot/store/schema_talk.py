"""What platforms, turns, limits and group manners added to the tables."""

TALK: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE person ADD COLUMN access TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE chat ADD COLUMN access TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE chat ADD COLUMN gone INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE place ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE account ADD COLUMN owner INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE event ADD COLUMN target TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE event ADD COLUMN via TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX event_external ON event (chat_id, external_id) WHERE external_id <> ''",
        "ALTER TABLE outbox ADD COLUMN preview_id TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE outbox ADD COLUMN via TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE outbox ADD COLUMN only_for TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE outbox ADD COLUMN buttons TEXT NOT NULL DEFAULT '[]'",
        """CREATE TABLE sent (
            chat_id INTEGER NOT NULL REFERENCES chat(id), external_id TEXT NOT NULL, turn_id INTEGER,
            PRIMARY KEY (chat_id, external_id)) WITHOUT ROWID""",
        """CREATE TABLE attachment (
            event_id INTEGER NOT NULL REFERENCES event(id), position INTEGER NOT NULL, kind TEXT NOT NULL,
            handle TEXT NOT NULL, name TEXT NOT NULL, mime TEXT NOT NULL, size INTEGER NOT NULL,
            state TEXT NOT NULL DEFAULT 'new', text TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (event_id, position)) WITHOUT ROWID""",
        """CREATE TABLE code (
            code TEXT PRIMARY KEY, kind TEXT NOT NULL, person_id INTEGER, chat_id INTEGER, made_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE turn_memory (
            turn_id INTEGER NOT NULL REFERENCES turn(id), memory_id INTEGER NOT NULL,
            PRIMARY KEY (turn_id, memory_id)) WITHOUT ROWID""",
        """CREATE TABLE feedback (
            turn_id INTEGER NOT NULL REFERENCES turn(id), person_id INTEGER NOT NULL REFERENCES person(id),
            emoji TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (turn_id, person_id, emoji)) WITHOUT ROWID""",
    ),
    ("ALTER TABLE event ADD COLUMN quote TEXT NOT NULL DEFAULT ''",),
    ("ALTER TABLE turn ADD COLUMN mode_why TEXT NOT NULL DEFAULT ''",),
    (
        "ALTER TABLE call ADD COLUMN written_tokens INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE call ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE call ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0",
        "CREATE TABLE counting (model TEXT PRIMARY KEY, ratio REAL NOT NULL) WITHOUT ROWID",
    ),
    (
        """CREATE TABLE heartbeat (
            chat_id INTEGER PRIMARY KEY REFERENCES chat(id), due_at INTEGER, tried_at INTEGER)""",
        "CREATE INDEX turn_first ON turn (chat_id, said_at) WHERE why = 'heartbeat' AND state = 'said'",
    ),
    (
        "ALTER TABLE call ADD COLUMN occasion INTEGER",
        "CREATE INDEX call_occasion ON call (occasion) WHERE occasion IS NOT NULL",
        "CREATE INDEX call_person ON call (person_id, at) WHERE occasion IS NOT NULL",
        """CREATE TABLE told (
            person_id INTEGER NOT NULL REFERENCES person(id), window TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (person_id, window)) WITHOUT ROWID""",
        "CREATE INDEX event_bot ON event (chat_id, id) WHERE why = 'bot'",
    ),
    (
        "ALTER TABLE event ADD COLUMN same_as INTEGER",
        "CREATE INDEX event_copy ON event (same_as) WHERE same_as IS NOT NULL",
        """CREATE TABLE lately (
            chat_id INTEGER NOT NULL, event_id INTEGER NOT NULL, original INTEGER NOT NULL, person_id INTEGER NOT NULL,
            said INTEGER NOT NULL, bare INTEGER NOT NULL, named INTEGER NOT NULL, at INTEGER NOT NULL,
            arrived_at INTEGER NOT NULL, target TEXT NOT NULL, PRIMARY KEY (chat_id, event_id)) WITHOUT ROWID""",
        """CREATE TABLE chat_context (
            chat_id INTEGER PRIMARY KEY REFERENCES chat(id), recent INTEGER, window_seconds INTEGER,
            recent_max INTEGER)""",
    ),
    (
        "ALTER TABLE outbox ADD COLUMN wait_ms INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE outbox ADD COLUMN typed_ms INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE session ADD COLUMN open_reason TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE participant (
            session_id INTEGER NOT NULL REFERENCES session(id), person_id INTEGER NOT NULL REFERENCES person(id),
            PRIMARY KEY (session_id, person_id)) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE rush (
            chat_id INTEGER PRIMARY KEY REFERENCES chat(id), last INTEGER NOT NULL, before INTEGER NOT NULL,
            since INTEGER NOT NULL, until INTEGER NOT NULL)""",
    ),
    (
        "ALTER TABLE chat ADD COLUMN mode TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE joining (
            chat_id INTEGER PRIMARY KEY REFERENCES chat(id), due_at INTEGER, hushed INTEGER NOT NULL DEFAULT 0,
            why TEXT NOT NULL DEFAULT '', until INTEGER NOT NULL DEFAULT 0, score REAL NOT NULL DEFAULT 0,
            event_id INTEGER NOT NULL DEFAULT 0, looked_at INTEGER NOT NULL DEFAULT 0)""",
        "CREATE INDEX event_join ON event (chat_id, id) WHERE why = 'join'",
    ),
    (
        "UPDATE session SET open_reason = coalesce((SELECT why FROM turn WHERE session_id = session.id ORDER BY number "
        "LIMIT 1), '') WHERE open_reason = ''",
        "INSERT OR IGNORE INTO participant (session_id, person_id) SELECT session_id, event.person_id FROM turn "
        "JOIN turn_event ON turn_event.turn_id = turn.id JOIN event ON event.id = event_id "
        "WHERE event.person_id IS NOT NULL",
    ),
)
"""After the first."""
