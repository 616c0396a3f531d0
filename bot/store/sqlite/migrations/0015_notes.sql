CREATE TABLE note (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, chat_id INTEGER NOT NULL, owner_id INTEGER,
    visibility TEXT NOT NULL, made INTEGER NOT NULL DEFAULT 0, stamp TEXT NOT NULL DEFAULT '',
    hash TEXT NOT NULL DEFAULT '', cut TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX note_path ON note (path, coalesce(owner_id, 0));
CREATE INDEX note_chat ON note (chat_id);
CREATE TABLE note_chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL REFERENCES note(id),
    first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX note_chunk_note ON note_chunk (note_id);
CREATE TABLE note_line (
    id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL REFERENCES note(id), mark TEXT NOT NULL);
CREATE INDEX note_line_note ON note_line (note_id);
ALTER TABLE epoch ADD COLUMN flushed_upto INTEGER;
