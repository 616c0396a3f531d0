-- What a message is besides text: its kind (reaction, sticker, image, file, voice), and the part as JSON; of a turn the
-- parts that its tools made.

ALTER TABLE outbox ADD COLUMN medium TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN payload TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN parts TEXT NOT NULL DEFAULT '[]';
