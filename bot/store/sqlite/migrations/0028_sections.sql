-- Which section each memory belongs to, and what turns found in which.

ALTER TABLE doc ADD COLUMN section TEXT NOT NULL DEFAULT '';
-- Many transactions change what these say: one place sees them all.
CREATE TRIGGER memory_section AFTER UPDATE OF section, asked, protected, slot ON memory BEGIN
    UPDATE doc SET section = (SELECT CASE WHEN asked = 1 OR protected = 1 OR slot <> '' THEN '' ELSE section END
        FROM memory WHERE id = new.id) WHERE kind = 'memory' AND ref = new.id;
END;
CREATE TABLE section_round (
    turn_id INTEGER PRIMARY KEY REFERENCES turn(id), chat_id INTEGER NOT NULL, person_id INTEGER NOT NULL,
    at INTEGER NOT NULL, hits TEXT NOT NULL, searched TEXT NOT NULL, held INTEGER NOT NULL);
CREATE INDEX section_round_whose ON section_round (chat_id, person_id, turn_id);
