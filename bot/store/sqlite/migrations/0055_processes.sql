-- Which processes work on a database of a server, and in which chats (store/postgres). A file is of who has its folder:
-- nothing stands here, and a call knows by its boot whose it was.

CREATE TABLE process (
    id INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL UNIQUE, name TEXT NOT NULL, roles TEXT NOT NULL,
    started_at INTEGER NOT NULL, until INTEGER NOT NULL);
CREATE TABLE chat_lease (
    chat_id INTEGER PRIMARY KEY, owner INTEGER REFERENCES process(id) ON DELETE SET NULL,
    term INTEGER NOT NULL);
CREATE INDEX chat_lease_owner ON chat_lease (owner) WHERE owner IS NOT NULL;
CREATE TABLE lease (
    name TEXT PRIMARY KEY, owner INTEGER REFERENCES process(id) ON DELETE CASCADE, until INTEGER NOT NULL);
ALTER TABLE call ADD COLUMN boot TEXT NOT NULL DEFAULT '';
