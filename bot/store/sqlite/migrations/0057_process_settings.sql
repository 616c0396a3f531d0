-- What each process works by, signed key by key, so that one with other settings is noticed. A file has one process.
ALTER TABLE process ADD COLUMN settings TEXT NOT NULL DEFAULT '';
