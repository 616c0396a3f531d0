-- What a command was answered belongs to its chat: who forgets something there looks through that chat's alone.

ALTER TABLE effect ADD COLUMN chat_id INTEGER;
UPDATE effect SET chat_id = (SELECT chat_id FROM event WHERE event.id = CAST(substr(key, 7) AS INTEGER))
    WHERE key LIKE 'event:%' AND result NOT IN ('', 'done');
CREATE INDEX effect_chat ON effect (chat_id) WHERE chat_id IS NOT NULL;
