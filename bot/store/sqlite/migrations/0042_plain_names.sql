-- No name that another engine reserves, and what a turn was told has an order of its own.

ALTER TABLE window RENAME TO conversation_window;
ALTER TABLE told RENAME COLUMN window TO period;
CREATE TABLE told_item (
    id INTEGER PRIMARY KEY, turn_id INTEGER NOT NULL REFERENCES turn(id), way TEXT NOT NULL, ref TEXT NOT NULL,
    tokens INTEGER NOT NULL, why TEXT NOT NULL DEFAULT '');
INSERT INTO told_item (id, turn_id, way, ref, tokens, why) SELECT rowid, turn_id, way, ref, tokens, why FROM brought
    WHERE turn_id IN (SELECT id FROM turn);
DROP TABLE brought;
CREATE INDEX told_item_turn ON told_item (turn_id);
