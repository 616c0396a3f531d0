-- Of one owner, subject and slot one memory is current; `former_at` is when another, `replaced_by`, took its place.
-- A session whose digest another one makes with its own names it in `digested_in`, and that one reads events from after
-- `digest_from` on (NULL: its own first). A digest by rule that a model should have made is to `remake`.

ALTER TABLE memory ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN lasting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN said_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN dated TEXT NOT NULL DEFAULT '';
ALTER TABLE memory ADD COLUMN former_at INTEGER;
ALTER TABLE memory ADD COLUMN replaced_by INTEGER;
UPDATE memory SET said_at = coalesce((SELECT min(event.at) FROM edge JOIN event ON event.id = event_id
    WHERE edge.kind = 'memory' AND derived_id = memory.id AND event.kind = 'message'), created_at);
UPDATE memory SET dated = 'day' WHERE kind = 'event' AND abs(observed_at - said_at) >= 86400000;
DROP INDEX memory_layer;
DROP INDEX memory_here;
DROP INDEX memory_living;
DROP INDEX memory_living_here;
CREATE INDEX memory_layer ON memory (owner_id, visibility, (CASE WHEN slot IN ('address', 'no_address') THEN 'name'
    WHEN asked OR protected THEN 'kept' WHEN lasting THEN 'lasting' ELSE kind END), observed_at)
    WHERE disabled_at IS NULL AND former_at IS NULL;
CREATE INDEX memory_here ON memory (chat_id, (CASE WHEN slot IN ('address', 'no_address') THEN 'name'
    WHEN asked OR protected THEN 'kept' WHEN lasting THEN 'lasting' ELSE kind END), observed_at)
    WHERE disabled_at IS NULL AND former_at IS NULL AND visibility = 'chat';
-- All that tells how alive a fact is stands in the index: no row of the others is read.
CREATE INDEX memory_living ON memory (owner_id, visibility, accessed_at, stability_days, faded, kind, slot, asked,
    protected, lasting, disabled_at, former_at)
    WHERE disabled_at IS NULL AND former_at IS NULL AND kind IN ('knowledge', 'experience');
CREATE INDEX memory_living_here ON memory (chat_id, visibility, accessed_at, stability_days, faded, kind, slot,
    asked, protected, lasting, disabled_at, former_at)
    WHERE disabled_at IS NULL AND former_at IS NULL AND visibility = 'chat' AND kind IN ('knowledge', 'experience');
CREATE INDEX memory_ahead ON memory (owner_id, visibility, observed_at)
    WHERE disabled_at IS NULL AND former_at IS NULL AND dated <> '';
CREATE INDEX memory_ahead_here ON memory (chat_id, observed_at)
    WHERE disabled_at IS NULL AND former_at IS NULL AND dated <> '' AND visibility = 'chat';
CREATE INDEX memory_slot ON memory (owner_id, subject, slot)
    WHERE disabled_at IS NULL AND former_at IS NULL AND slot <> '';
DROP TRIGGER memory_section;
CREATE TRIGGER memory_section AFTER UPDATE OF section, asked, protected, slot ON memory BEGIN
    UPDATE doc SET section = (SELECT CASE WHEN asked = 1 OR protected = 1 OR slot IN ('address', 'no_address')
        THEN '' ELSE section END FROM memory WHERE id = new.id) WHERE kind = 'memory' AND ref = new.id;
END;
ALTER TABLE commitment ADD COLUMN toward TEXT NOT NULL DEFAULT '';
ALTER TABLE commitment ADD COLUMN dated TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN digest_from INTEGER;
ALTER TABLE digest ADD COLUMN remake INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN digested_in INTEGER REFERENCES session(id);
