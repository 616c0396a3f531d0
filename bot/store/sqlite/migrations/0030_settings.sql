-- What is set in a chat beside the configuration, which calls a budget counts no more, and who is told of turns.

CREATE TABLE setting (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, person_id INTEGER REFERENCES person(id),
    at INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO setting (key, value, at) SELECT 'limits.' || said.key, said.value, 0
    FROM meta, json_each(meta.value) AS said WHERE meta.key = 'limits';
DELETE FROM meta WHERE key = 'limits';
ALTER TABLE call ADD COLUMN uncounted INTEGER NOT NULL DEFAULT 0;
CREATE TABLE recount (
    period TEXT PRIMARY KEY, person_id INTEGER REFERENCES person(id), at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE trace (
    chat_id INTEGER PRIMARY KEY REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
    at INTEGER NOT NULL) WITHOUT ROWID;
