-- The index of terms is rows like all others, as short lists of documents (bot/store/postings.py): what was deleted
-- leaves it at the cost of its own terms. The terms of each document move; the lists are filled at the start.

CREATE TABLE posting (
    scope TEXT NOT NULL, term INTEGER NOT NULL, first INTEGER NOT NULL, steps BLOB NOT NULL,
    PRIMARY KEY (scope, term, first)) WITHOUT ROWID;
CREATE TABLE doc_terms (doc_id INTEGER PRIMARY KEY, scope TEXT NOT NULL, terms TEXT NOT NULL);
INSERT INTO doc_terms SELECT id, c0, c1 FROM doc_text_content WHERE id IN (SELECT id FROM doc);
DROP TABLE doc_text;
ALTER TABLE doc_terms RENAME TO doc_text;
UPDATE meta SET value = 'unposted' WHERE key = 'terms' AND value = '2';
