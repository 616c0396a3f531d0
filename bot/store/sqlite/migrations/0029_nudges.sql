-- Reminders of promises: they begin with the promise and end with it, whoever ends it, and hold none of its words.

ALTER TABLE reminder ADD COLUMN commitment_id INTEGER;
CREATE INDEX reminder_commitment ON reminder (commitment_id) WHERE commitment_id IS NOT NULL;
CREATE TRIGGER promise_ended AFTER UPDATE OF ended_at ON commitment
    WHEN new.ended_at IS NOT NULL AND old.ended_at IS NULL BEGIN
    UPDATE reminder SET ended_at = new.ended_at, outcome = 'settled'
        WHERE commitment_id = new.id AND ended_at IS NULL;
END;
CREATE TRIGGER promise_reopened AFTER UPDATE OF ended_at ON commitment
    WHEN new.ended_at IS NULL AND old.ended_at IS NOT NULL BEGIN
    UPDATE reminder SET ended_at = NULL, outcome = ''
        WHERE commitment_id = new.id AND outcome = 'settled' AND due_at > new.updated_at;
END;
CREATE TRIGGER promise_gone AFTER DELETE ON commitment BEGIN
    DELETE FROM reminder WHERE commitment_id = old.id AND ended_at IS NULL;
    UPDATE reminder SET commitment_id = NULL WHERE commitment_id = old.id;
END;
