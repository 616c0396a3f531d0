-- What people promised, and what is still open.

CREATE TABLE commitment (
    id INTEGER PRIMARY KEY AUTOINCREMENT, owner_id INTEGER NOT NULL REFERENCES person(id),
    chat_id INTEGER NOT NULL REFERENCES chat(id), visibility TEXT NOT NULL, text TEXT NOT NULL,
    folded TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending', due_at INTEGER, source TEXT NOT NULL,
    made_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER);
CREATE INDEX commitment_open ON commitment (owner_id, made_at) WHERE ended_at IS NULL;
