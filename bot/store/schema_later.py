"""The tables and columns that came after those of memories, in the order in which they came."""

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
        # Many verbs change what these say: one place sees them all.
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

REWRITES: tuple[tuple[str, ...], ...] = (
    (
        "ALTER TABLE rewriting ADD COLUMN asked_id INTEGER",
        "ALTER TABLE rewriting ADD COLUMN answer_id INTEGER",
    ),
)
"""After those of truth. The line in which a person was asked what a sentence means, and what they said next."""

REQUESTS: tuple[tuple[str, ...], ...] = (
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

MOVES: tuple[tuple[str, ...], ...] = (("ALTER TABLE commitment ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0",),)
"""After those of own groups. When an open task got another day, ms: what was told before tells the old one."""

LATER = (
    *PEOPLE, *PERSONA, *AGENTS, *DIALOGUE, *OPENING, *REMINDERS,
    *SECTIONS, *NUDGES, *SETTINGS, *QUEUE, *COUNTS, *OUTBOX,
)  # fmt: skip
