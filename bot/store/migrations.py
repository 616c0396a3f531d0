"""The SQL of the migrations before those of schema.py, in the order in which they came."""

FIRST_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE person (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, script TEXT NOT NULL DEFAULT '',
            timezone TEXT NOT NULL DEFAULT '', is_bot INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL)""",
        """CREATE TABLE account (
            platform TEXT NOT NULL, external_id TEXT NOT NULL, person_id INTEGER NOT NULL REFERENCES person(id),
            name TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (platform, external_id)) WITHOUT ROWID""",
        "CREATE INDEX account_person ON account (person_id)",
        """CREATE TABLE chat (
            id INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL DEFAULT '',
            enabled INTEGER NOT NULL DEFAULT 1, scene TEXT NOT NULL DEFAULT '',
            cleared_upto INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL)""",
        """CREATE TABLE place (
            platform TEXT NOT NULL, external_id TEXT NOT NULL, chat_id INTEGER NOT NULL REFERENCES chat(id),
            current INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (platform, external_id)) WITHOUT ROWID""",
        "CREATE INDEX place_chat ON place (chat_id)",
        """CREATE TABLE event (
            id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id INTEGER NOT NULL REFERENCES chat(id), at INTEGER NOT NULL,
            kind TEXT NOT NULL, person_id INTEGER REFERENCES person(id), name TEXT NOT NULL DEFAULT '',
            text TEXT NOT NULL DEFAULT '', label TEXT NOT NULL DEFAULT '', delivery_key TEXT,
            external_id TEXT NOT NULL DEFAULT '', forwarded INTEGER NOT NULL DEFAULT 0,
            state TEXT NOT NULL, why TEXT NOT NULL DEFAULT '', due_at INTEGER, outcome TEXT NOT NULL DEFAULT '',
            turn_id INTEGER, hidden TEXT NOT NULL DEFAULT '')""",
        "CREATE UNIQUE INDEX event_delivery ON event (delivery_key) WHERE delivery_key IS NOT NULL",
        "CREATE INDEX event_chat ON event (chat_id, id)",
        "CREATE INDEX event_queue ON event (chat_id, due_at) WHERE state = 'queued'",
        "CREATE INDEX event_turn ON event (turn_id) WHERE turn_id IS NOT NULL",
        """CREATE TABLE member (
            chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
            seen_at INTEGER NOT NULL, PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID""",
        "CREATE INDEX member_person ON member (person_id)",
        """CREATE TABLE window (
            chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
            until INTEGER NOT NULL, PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID""",
        "CREATE INDEX window_until ON window (until)",
        """CREATE TABLE session (
            id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL REFERENCES chat(id), number INTEGER NOT NULL,
            state TEXT NOT NULL, opened_at INTEGER NOT NULL, last_at INTEGER NOT NULL, close_at INTEGER NOT NULL,
            close_reason TEXT NOT NULL DEFAULT '', closed_at INTEGER, from_event INTEGER NOT NULL,
            upto_event INTEGER NOT NULL, digest_due_at INTEGER, digest_attempts INTEGER NOT NULL DEFAULT 0,
            UNIQUE (chat_id, number))""",
        "CREATE UNIQUE INDEX session_open ON session (chat_id) WHERE state = 'open'",
        "CREATE INDEX session_close ON session (close_at) WHERE state = 'open'",
        "CREATE INDEX session_digest ON session (digest_due_at) WHERE digest_due_at IS NOT NULL",
        "CREATE TABLE prefix (signature TEXT PRIMARY KEY, message TEXT NOT NULL, tools TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE epoch (
            id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL REFERENCES session(id), number INTEGER NOT NULL,
            opened_at INTEGER NOT NULL, reason TEXT NOT NULL, mode TEXT NOT NULL,
            signature TEXT NOT NULL REFERENCES prefix(signature), logged_upto INTEGER NOT NULL DEFAULT 0,
            stale TEXT NOT NULL DEFAULT '', prompt_tokens INTEGER NOT NULL DEFAULT 0,
            prompt_entries INTEGER NOT NULL DEFAULT 0, UNIQUE (session_id, number))""",
        """CREATE TABLE turn (
            id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL REFERENCES chat(id),
            session_id INTEGER NOT NULL REFERENCES session(id), epoch_id INTEGER NOT NULL REFERENCES epoch(id),
            number INTEGER NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, person_id INTEGER NOT NULL,
            asked_at INTEGER NOT NULL, said_at INTEGER, logged_before INTEGER NOT NULL,
            receipts TEXT NOT NULL DEFAULT '[]', error TEXT NOT NULL DEFAULT '', UNIQUE (session_id, number))""",
        "CREATE INDEX turn_running ON turn (id) WHERE state IN ('asked', 'answered')",
        """CREATE TABLE turn_event (
            turn_id INTEGER NOT NULL REFERENCES turn(id), event_id INTEGER NOT NULL REFERENCES event(id),
            PRIMARY KEY (turn_id, event_id)) WITHOUT ROWID""",
        """CREATE TABLE entry (
            id INTEGER PRIMARY KEY, epoch_id INTEGER NOT NULL REFERENCES epoch(id),
            turn_id INTEGER NOT NULL REFERENCES turn(id), position INTEGER NOT NULL, message TEXT NOT NULL,
            tokens INTEGER NOT NULL, UNIQUE (epoch_id, position))""",
        "CREATE INDEX entry_turn ON entry (turn_id)",
        """CREATE TABLE call (
            id INTEGER PRIMARY KEY, turn_id INTEGER REFERENCES turn(id), session_id INTEGER, chat_id INTEGER,
            person_id INTEGER, cause TEXT NOT NULL, model TEXT NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL,
            settled_at INTEGER, reserved_tokens INTEGER NOT NULL, reserved_cost REAL NOT NULL,
            prompt_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
            counted TEXT NOT NULL DEFAULT '')""",
        "CREATE INDEX call_at ON call (at)",
        "CREATE INDEX call_turn ON call (turn_id)",
        "CREATE TABLE effect (key TEXT PRIMARY KEY, result TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE outbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id INTEGER NOT NULL REFERENCES chat(id), turn_id INTEGER,
            event_id INTEGER, part INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL, text TEXT NOT NULL,
            state TEXT NOT NULL, boot TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0,
            due_at INTEGER NOT NULL, sent_at INTEGER, external_ids TEXT NOT NULL DEFAULT '[]',
            error TEXT NOT NULL DEFAULT '')""",
        "CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'pending'",
        "CREATE INDEX outbox_pending ON outbox (chat_id, id) WHERE state IN ('pending', 'sending')",
        """CREATE TABLE memory (
            id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER REFERENCES person(id),
            chat_id INTEGER NOT NULL REFERENCES chat(id), visibility TEXT NOT NULL, kind TEXT NOT NULL,
            slot TEXT NOT NULL DEFAULT '', section TEXT NOT NULL DEFAULT '', text TEXT NOT NULL, folded TEXT NOT NULL,
            asked INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL, importance INTEGER NOT NULL DEFAULT 1,
            emotion TEXT NOT NULL DEFAULT '', emotion_value REAL NOT NULL DEFAULT 0,
            stability_days REAL NOT NULL, accessed_at INTEGER NOT NULL, access_count INTEGER NOT NULL DEFAULT 0,
            observed_at INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
            protected INTEGER NOT NULL DEFAULT 0, disabled_at INTEGER, disabled_reason TEXT NOT NULL DEFAULT '',
            purge_at INTEGER)""",
        "CREATE INDEX memory_owner ON memory (owner_id, kind, observed_at) WHERE disabled_at IS NULL",
        "CREATE INDEX memory_chat ON memory (chat_id, kind, observed_at) WHERE disabled_at IS NULL",
        "CREATE INDEX memory_folded ON memory (owner_id, folded)",
        "CREATE INDEX memory_purge ON memory (purge_at) WHERE purge_at IS NOT NULL",
        'CREATE VIRTUAL TABLE memory_text USING fts5 (owner, terms, tokenize = "ascii")',
        "INSERT INTO memory_text (memory_text, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
        """CREATE TABLE digest (
            id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL UNIQUE REFERENCES session(id),
            chat_id INTEGER NOT NULL REFERENCES chat(id), owner_id INTEGER, summary TEXT NOT NULL,
            tier TEXT NOT NULL DEFAULT 'raw', made_by TEXT NOT NULL, names TEXT NOT NULL, started_at INTEGER NOT NULL,
            ended_at INTEGER NOT NULL, created_at INTEGER NOT NULL)""",
        "CREATE INDEX digest_chat ON digest (chat_id, ended_at)",
        "CREATE INDEX digest_owner ON digest (owner_id, ended_at)",
        """CREATE TABLE edge (
            kind TEXT NOT NULL, derived_id INTEGER NOT NULL, event_id INTEGER NOT NULL,
            PRIMARY KEY (kind, derived_id, event_id)) WITHOUT ROWID""",
        "CREATE INDEX edge_event ON edge (event_id)",
    ),
)
"""Migration 0."""


TALK_MIGRATIONS: tuple[tuple[str, ...], ...] = (
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


MEMORY_MIGRATIONS: tuple[tuple[str, ...], ...] = (
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


PEOPLE: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE commitment (
            id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL REFERENCES person(id),
            chat_id INTEGER NOT NULL REFERENCES chat(id), visibility TEXT NOT NULL, text TEXT NOT NULL,
            folded TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending', due_at INTEGER, source TEXT NOT NULL,
            made_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER)""",
        "CREATE INDEX commitment_open ON commitment (owner_id, made_at) WHERE ended_at IS NULL",
    ),
)
"""What people promised, and what is still open, as tables."""

PERSONA: tuple[tuple[str, ...], ...] = (("ALTER TABLE chat ADD COLUMN persona TEXT NOT NULL DEFAULT ''",),)
"""Which persona a chat talks with, as a column."""

AGENTS: tuple[tuple[str, ...], ...] = (("ALTER TABLE memory ADD COLUMN agent TEXT NOT NULL DEFAULT ''",),)
"""What other agents keep, as a column: the name of the one that did."""

DIALOGUE: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE digest RENAME TO digest_before",
        """CREATE TABLE digest (
            id INTEGER PRIMARY KEY AUTOINCREMENT, session_id INTEGER UNIQUE REFERENCES session(id),
            chat_id INTEGER NOT NULL REFERENCES chat(id), owner_id INTEGER, summary TEXT NOT NULL,
            tier TEXT NOT NULL DEFAULT 'raw', until INTEGER NOT NULL DEFAULT 0, into_id INTEGER,
            talks INTEGER NOT NULL DEFAULT 1, roll_at INTEGER DEFAULT 0, made_by TEXT NOT NULL, names TEXT NOT NULL,
            started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, created_at INTEGER NOT NULL)""",
        "INSERT INTO digest (id, session_id, chat_id, owner_id, summary, tier, made_by, names, started_at, ended_at, "
        "created_at) SELECT id, session_id, chat_id, owner_id, summary, 'raw', made_by, names, started_at, ended_at, "
        "created_at FROM digest_before",
        "DROP TABLE digest_before",
        "CREATE INDEX digest_chat ON digest (chat_id, ended_at)",
        "CREATE INDEX digest_owner ON digest (owner_id, ended_at)",
        "CREATE INDEX digest_into ON digest (into_id) WHERE into_id IS NOT NULL",
        "CREATE INDEX digest_roll ON digest (roll_at, chat_id) WHERE roll_at IS NOT NULL",
        """CREATE TABLE talker (
            digest_id INTEGER NOT NULL REFERENCES digest(id), person_id INTEGER NOT NULL REFERENCES person(id),
            PRIMARY KEY (digest_id, person_id)) WITHOUT ROWID""",
        "INSERT INTO talker (digest_id, person_id) SELECT DISTINCT derived_id, person_id FROM edge JOIN event "
        "ON event.id = event_id JOIN digest ON digest.id = derived_id WHERE edge.kind = 'digest' "
        "AND event.kind = 'message' AND person_id IS NOT NULL",
        "ALTER TABLE chat ADD COLUMN talks_cleared INTEGER NOT NULL DEFAULT 0",
    ),
)
"""A row with a session is one talk; one without is rolled up of those whose `into_id` it is, until that instant.

What is told of a talk is its row while `into_id` is NULL, then the other's. `roll_at` is when to look at it again.
"""

_LAYER = "(CASE WHEN slot <> '' THEN 'slot' WHEN asked OR protected THEN 'kept' ELSE kind END)"
"""Which layer of a warm boot a memory belongs to; the queries say it in the same words, or no index serves them."""

_LIFE = "accessed_at, stability_days, faded, kind, slot, asked, protected, disabled_at"

OPENING: tuple[tuple[str, ...], ...] = (
    (
        f"CREATE INDEX memory_layer ON memory (owner_id, visibility, {_LAYER}, observed_at) WHERE disabled_at IS NULL",
        f"CREATE INDEX memory_here ON memory (chat_id, {_LAYER}, observed_at) "
        "WHERE disabled_at IS NULL AND visibility = 'chat'",
        # All that tells how alive a fact is stands in the index: no row of the others is read.
        f"CREATE INDEX memory_living ON memory (owner_id, visibility, {_LIFE}) "
        "WHERE disabled_at IS NULL AND kind IN ('knowledge', 'experience')",
        f"CREATE INDEX memory_living_here ON memory (chat_id, visibility, {_LIFE}) "
        "WHERE disabled_at IS NULL AND visibility = 'chat' AND kind IN ('knowledge', 'experience')",
    ),
)
"""What finding the memories of an opening needs, as tables."""

REMINDERS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE reminder (
            id INTEGER PRIMARY KEY AUTOINCREMENT, person_id INTEGER NOT NULL REFERENCES person(id),
            chat_id INTEGER NOT NULL REFERENCES chat(id), text TEXT NOT NULL, due_at INTEGER NOT NULL,
            rule TEXT NOT NULL DEFAULT '', made_at INTEGER NOT NULL, said_at INTEGER, ended_at INTEGER,
            outcome TEXT NOT NULL DEFAULT '')""",
        "CREATE INDEX reminder_due ON reminder (due_at) WHERE ended_at IS NULL",
        "CREATE INDEX reminder_person ON reminder (person_id) WHERE ended_at IS NULL",
        """CREATE TABLE reminder_question (
            chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
            text TEXT NOT NULL, said TEXT NOT NULL, wakes INTEGER NOT NULL, plain INTEGER NOT NULL,
            asked_at INTEGER NOT NULL, event_id INTEGER NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID""",
    ),
)
"""What somebody wants to be reminded of, as tables."""

_KEPT = "asked = 1 OR protected = 1 OR slot <> ''"
"""What somebody asked to keep is searched always, as what belongs to no section is."""

SECTIONS: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE doc ADD COLUMN section TEXT NOT NULL DEFAULT ''",
        # Many transactions change what these say: one place sees them all.
        f"""CREATE TRIGGER memory_section AFTER UPDATE OF section, asked, protected, slot ON memory BEGIN
            UPDATE doc SET section = (SELECT CASE WHEN {_KEPT} THEN '' ELSE section END FROM memory WHERE id = new.id)
            WHERE kind = 'memory' AND ref = new.id; END""",
        """CREATE TABLE section_round (
            turn_id INTEGER PRIMARY KEY REFERENCES turn(id), chat_id INTEGER NOT NULL, person_id INTEGER NOT NULL,
            at INTEGER NOT NULL, hits TEXT NOT NULL, searched TEXT NOT NULL, held INTEGER NOT NULL)""",
        "CREATE INDEX section_round_whose ON section_round (chat_id, person_id, turn_id)",
    ),
)
"""Which section each memory belongs to, and what turns found in which, as tables."""

NUDGES: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE reminder ADD COLUMN commitment_id INTEGER",
        "CREATE INDEX reminder_commitment ON reminder (commitment_id) WHERE commitment_id IS NOT NULL",
        """CREATE TRIGGER promise_ended AFTER UPDATE OF ended_at ON commitment
            WHEN new.ended_at IS NOT NULL AND old.ended_at IS NULL BEGIN
            UPDATE reminder SET ended_at = new.ended_at, outcome = 'settled'
            WHERE commitment_id = new.id AND ended_at IS NULL; END""",
        """CREATE TRIGGER promise_reopened AFTER UPDATE OF ended_at ON commitment
            WHEN new.ended_at IS NULL AND old.ended_at IS NOT NULL BEGIN
            UPDATE reminder SET ended_at = NULL, outcome = ''
            WHERE commitment_id = new.id AND outcome = 'settled' AND due_at > new.updated_at; END""",
        """CREATE TRIGGER promise_gone AFTER DELETE ON commitment BEGIN
            DELETE FROM reminder WHERE commitment_id = old.id AND ended_at IS NULL;
            UPDATE reminder SET commitment_id = NULL WHERE commitment_id = old.id; END""",
    ),
)
"""Reminders of promises: they begin with the promise and end with it, whoever ends it, and hold none of its words."""

SETTINGS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE setting (
            key TEXT PRIMARY KEY, value TEXT NOT NULL, person_id INTEGER REFERENCES person(id),
            at INTEGER NOT NULL) WITHOUT ROWID""",
        """INSERT INTO setting (key, value, at) SELECT 'limits.' || said.key, said.value, 0
            FROM meta, json_each(meta.value) AS said WHERE meta.key = 'limits'""",
        "DELETE FROM meta WHERE key = 'limits'",
        "ALTER TABLE call ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0",
        """CREATE TABLE recount (
            period TEXT PRIMARY KEY, person_id INTEGER REFERENCES person(id), at INTEGER NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE trace (
            chat_id INTEGER PRIMARY KEY REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
            at INTEGER NOT NULL) WITHOUT ROWID""",
    ),
)
"""What is set in a chat beside the configuration, which calls a budget counts no more, and who is told of turns."""

QUEUE: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE event ADD COLUMN tries INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE event ADD COLUMN error TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX event_dead ON event (id) WHERE state = 'dead'",
    ),
)
"""How often the handling of an event failed, and of what it failed last: the name of an error, nobody's words."""

COUNTS: tuple[tuple[str, ...], ...] = (("ALTER TABLE call ADD COLUMN calls INTEGER NOT NULL DEFAULT 1",),)
"""Of how many calls a row is the sum."""

OUTBOX: tuple[tuple[str, ...], ...] = (("ALTER TABLE outbox ADD COLUMN tried_at INTEGER NOT NULL DEFAULT 0",),)
"""When a message was first tried: how long ago tells whether a platform still knows its key."""

REWRITE_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE rewriting ADD COLUMN asked_id INTEGER",
        "ALTER TABLE rewriting ADD COLUMN answer_id INTEGER",
    ),
)
"""After those of truth. The line in which a person was asked what a sentence means, and what they said next."""

REQUEST_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE reminder ADD COLUMN script TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE reminder ADD COLUMN shared INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE reminder ADD COLUMN wall INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE reminder_question ADD COLUMN shared INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE reminder_question ADD COLUMN numbers TEXT NOT NULL DEFAULT '[]'",
    ),
)
"""After those of truth. In which script a reminder was asked for, whether it is for all of its chat, and whether it
moves with its person's clock; which reminders the answer to a question may move.
"""

MOVE_MIGRATIONS: tuple[tuple[str, ...], ...] = (
    ("ALTER TABLE commitment ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0",),
)
"""After those of own groups. When an open task got another day, ms: what was told before tells the old one."""

LATER_MIGRATIONS = (
    *PEOPLE, *PERSONA, *AGENTS, *DIALOGUE, *OPENING, *REMINDERS,
    *SECTIONS, *NUDGES, *SETTINGS, *QUEUE, *COUNTS, *OUTBOX,
)  # fmt: skip
