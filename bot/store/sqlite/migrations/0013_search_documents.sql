CREATE TABLE doc (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ref INTEGER NOT NULL, scope TEXT NOT NULL,
    chat_id INTEGER NOT NULL, person_id INTEGER, at INTEGER NOT NULL, talk INTEGER NOT NULL DEFAULT 0,
    place INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL, UNIQUE (kind, ref));
CREATE INDEX doc_scope ON doc (scope, at, length);
CREATE INDEX doc_place ON doc (chat_id, place) WHERE kind = 'line';
CREATE VIRTUAL TABLE doc_text USING fts5 (scope, terms, tokenize = "ascii", detail = "column");
DROP TABLE memory_text;
