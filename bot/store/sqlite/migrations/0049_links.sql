-- Which account said a line; what a link of two accounts joined, so that it can be taken back.

ALTER TABLE event ADD COLUMN account TEXT NOT NULL DEFAULT '';
CREATE TABLE linking (
    code TEXT PRIMARY KEY, giver INTEGER NOT NULL, taker INTEGER, agreed INTEGER) WITHOUT ROWID;
CREATE TABLE link (
    id INTEGER PRIMARY KEY AUTOINCREMENT, person_id INTEGER NOT NULL, at INTEGER NOT NULL, accounts TEXT NOT NULL,
    was TEXT NOT NULL, had TEXT NOT NULL, upto TEXT NOT NULL);
CREATE INDEX link_person ON link (person_id);
CREATE TABLE linked (
    link_id INTEGER NOT NULL, kind TEXT NOT NULL, ref INTEGER NOT NULL, twin INTEGER,
    PRIMARY KEY (link_id, kind, ref)) WITHOUT ROWID;
