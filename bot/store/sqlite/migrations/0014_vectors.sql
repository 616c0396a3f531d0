CREATE TABLE vector (
    doc_id INTEGER PRIMARY KEY REFERENCES doc(id) ON DELETE CASCADE, model TEXT NOT NULL,
    dimensions INTEGER NOT NULL, fingerprint BLOB NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vector_space ON vector (doc_id, model, dimensions);
