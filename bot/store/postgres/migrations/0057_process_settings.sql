-- What each process works by, signed key by key, so that one with other settings is noticed.
ALTER TABLE process ADD COLUMN settings words NOT NULL DEFAULT '';
