-- A row with a session is one talk; one without is rolled up of those whose `into_id` it is, until that instant.
-- What is told of a talk is its row while `into_id` is NULL, then the other's. `roll_at` is when to look at it again.

ALTER TABLE digest RENAME TO digest_before;
CREATE TABLE digest (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id INTEGER UNIQUE REFERENCES session(id),
    chat_id INTEGER NOT NULL REFERENCES chat(id), owner_id INTEGER, summary TEXT NOT NULL,
    tier TEXT NOT NULL DEFAULT 'raw', until INTEGER NOT NULL DEFAULT 0, into_id INTEGER,
    talks INTEGER NOT NULL DEFAULT 1, roll_at INTEGER DEFAULT 0, made_by TEXT NOT NULL, names TEXT NOT NULL,
    started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
INSERT INTO digest (id, session_id, chat_id, owner_id, summary, tier, made_by, names, started_at, ended_at,
    created_at) SELECT id, session_id, chat_id, owner_id, summary, 'raw', made_by, names, started_at, ended_at,
    created_at FROM digest_before;
DROP TABLE digest_before;
CREATE INDEX digest_chat ON digest (chat_id, ended_at);
CREATE INDEX digest_owner ON digest (owner_id, ended_at);
CREATE INDEX digest_into ON digest (into_id) WHERE into_id IS NOT NULL;
CREATE INDEX digest_roll ON digest (roll_at, chat_id) WHERE roll_at IS NOT NULL;
CREATE TABLE talker (
    digest_id INTEGER NOT NULL REFERENCES digest(id), person_id INTEGER NOT NULL REFERENCES person(id),
    PRIMARY KEY (digest_id, person_id)) WITHOUT ROWID;
INSERT INTO talker (digest_id, person_id) SELECT DISTINCT derived_id, person_id FROM edge
    JOIN event ON event.id = event_id JOIN digest ON digest.id = derived_id
    WHERE edge.kind = 'digest' AND event.kind = 'message' AND person_id IS NOT NULL;
ALTER TABLE chat ADD COLUMN talks_cleared INTEGER NOT NULL DEFAULT 0;
