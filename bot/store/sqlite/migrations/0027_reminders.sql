-- What somebody wants to be reminded of.

CREATE TABLE reminder (
    id INTEGER PRIMARY KEY AUTOINCREMENT, person_id INTEGER NOT NULL REFERENCES person(id),
    chat_id INTEGER NOT NULL REFERENCES chat(id), text TEXT NOT NULL, due_at INTEGER NOT NULL,
    rule TEXT NOT NULL DEFAULT '', made_at INTEGER NOT NULL, said_at INTEGER, ended_at INTEGER,
    outcome TEXT NOT NULL DEFAULT '');
CREATE INDEX reminder_due ON reminder (due_at) WHERE ended_at IS NULL;
CREATE INDEX reminder_person ON reminder (person_id) WHERE ended_at IS NULL;
CREATE TABLE reminder_question (
    chat_id INTEGER NOT NULL REFERENCES chat(id), person_id INTEGER NOT NULL REFERENCES person(id),
    text TEXT NOT NULL, said TEXT NOT NULL, wakes INTEGER NOT NULL, plain INTEGER NOT NULL,
    asked_at INTEGER NOT NULL, event_id INTEGER NOT NULL, until INTEGER NOT NULL,
    PRIMARY KEY (chat_id, person_id)) WITHOUT ROWID;
