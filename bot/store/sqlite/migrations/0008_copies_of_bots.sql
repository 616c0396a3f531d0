ALTER TABLE event ADD COLUMN same_as INTEGER;
CREATE INDEX event_copy ON event (same_as) WHERE same_as IS NOT NULL;
CREATE TABLE lately (
    chat_id INTEGER NOT NULL, event_id INTEGER NOT NULL, original INTEGER NOT NULL, person_id INTEGER NOT NULL,
    said INTEGER NOT NULL, bare INTEGER NOT NULL, named INTEGER NOT NULL, at INTEGER NOT NULL,
    arrived_at INTEGER NOT NULL, target TEXT NOT NULL, PRIMARY KEY (chat_id, event_id)) WITHOUT ROWID;
CREATE TABLE chat_context (
    chat_id INTEGER PRIMARY KEY REFERENCES chat(id), recent INTEGER, window_seconds INTEGER,
    recent_max INTEGER);
