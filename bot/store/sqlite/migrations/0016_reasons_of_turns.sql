CREATE TABLE brought (
    turn_id INTEGER NOT NULL REFERENCES turn(id), way TEXT NOT NULL, ref TEXT NOT NULL,
    tokens INTEGER NOT NULL, why TEXT NOT NULL DEFAULT '');
CREATE INDEX brought_turn ON brought (turn_id);
