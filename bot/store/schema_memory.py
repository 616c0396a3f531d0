"""What recall, notes and the life of memories added to the tables."""

MEMORY: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE doc (
            id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ref INTEGER NOT NULL, scope TEXT NOT NULL,
            chat_id INTEGER NOT NULL, person_id INTEGER, at INTEGER NOT NULL, talk INTEGER NOT NULL DEFAULT 0,
            place INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL, UNIQUE (kind, ref))""",
        "CREATE INDEX doc_scope ON doc (scope, at, length)",
        "CREATE INDEX doc_place ON doc (chat_id, place) WHERE kind = 'line'",
        'CREATE VIRTUAL TABLE doc_text USING fts5 (scope, terms, tokenize = "ascii", detail = "column")',
        "DROP TABLE memory_text",
    ),
    (
        """CREATE TABLE vector (
            doc_id INTEGER PRIMARY KEY REFERENCES doc(id) ON DELETE CASCADE, model TEXT NOT NULL,
            dimensions INTEGER NOT NULL, fingerprint BLOB NOT NULL, vector BLOB NOT NULL)""",
        "CREATE INDEX vector_space ON vector (doc_id, model, dimensions)",
    ),
    (
        """CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, chat_id INTEGER NOT NULL, owner_id INTEGER,
            visibility TEXT NOT NULL, made INTEGER NOT NULL DEFAULT 0, stamp TEXT NOT NULL DEFAULT '',
            hash TEXT NOT NULL DEFAULT '', cut TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0)""",
        "CREATE UNIQUE INDEX note_path ON note (path, coalesce(owner_id, 0))",
        "CREATE INDEX note_chat ON note (chat_id)",
        """CREATE TABLE note_chunk (
            id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL REFERENCES note(id),
            first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL)""",
        "CREATE INDEX note_chunk_note ON note_chunk (note_id)",
        """CREATE TABLE note_line (
            id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL REFERENCES note(id), mark TEXT NOT NULL)""",
        "CREATE INDEX note_line_note ON note_line (note_id)",
        "ALTER TABLE epoch ADD COLUMN flushed_upto INTEGER",
    ),
    (
        """CREATE TABLE brought (
            turn_id INTEGER NOT NULL REFERENCES turn(id), way TEXT NOT NULL, ref TEXT NOT NULL,
            tokens INTEGER NOT NULL, why TEXT NOT NULL DEFAULT '')""",
        "CREATE INDEX brought_turn ON brought (turn_id)",
    ),
    ("INSERT OR IGNORE INTO meta (key, value) VALUES ('house', lower(hex(randomblob(8))))",),
    (
        "ALTER TABLE memory ADD COLUMN faded REAL NOT NULL DEFAULT 1",
        "ALTER TABLE memory ADD COLUMN recalled_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN booted_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN decayed_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN helpful INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN unhelpful INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN praised_at INTEGER NOT NULL DEFAULT 0",
        """CREATE TABLE merged (
            id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id INTEGER NOT NULL REFERENCES memory(id), at INTEGER NOT NULL,
            how TEXT NOT NULL, before TEXT NOT NULL, before_observed_at INTEGER NOT NULL, said TEXT NOT NULL,
            kind TEXT NOT NULL, source TEXT NOT NULL, observed_at INTEGER NOT NULL, absorbed INTEGER,
            undone_at INTEGER)""",
        "CREATE INDEX merged_memory ON merged (memory_id)",
        "ALTER TABLE feedback RENAME COLUMN emoji TO sign",
        "ALTER TABLE turn_memory ADD COLUMN boot INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX turn_memory_memory ON turn_memory (memory_id)",
    ),
    (
        "ALTER TABLE event ADD COLUMN off_record INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE memory ADD COLUMN original TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE question (
            chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
            kind TEXT NOT NULL, memories TEXT NOT NULL, forever INTEGER NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID""",
        """CREATE TABLE rewriting (
            memory_id INTEGER PRIMARY KEY, due_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0)""",
    ),
    ("CREATE INDEX doc_few ON doc (scope, kind) WHERE kind <> 'line'",),
    ("DROP INDEX doc_few", "CREATE INDEX doc_talk ON doc (scope, kind, chat_id, talk, at, length, ref)"),
)
"""After those of talk."""
