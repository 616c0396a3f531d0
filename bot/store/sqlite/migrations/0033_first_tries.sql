-- When a message was first tried: how long ago tells whether a platform still knows its key.

ALTER TABLE outbox ADD COLUMN tried_at INTEGER NOT NULL DEFAULT 0;
