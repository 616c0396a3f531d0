-- When an open task got another day, ms: what was told before tells the old one.

ALTER TABLE commitment ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0;
