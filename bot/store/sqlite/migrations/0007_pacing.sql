ALTER TABLE call ADD COLUMN occasion INTEGER;
CREATE INDEX call_occasion ON call (occasion) WHERE occasion IS NOT NULL;
CREATE INDEX call_person ON call (person_id, at) WHERE occasion IS NOT NULL;
CREATE TABLE told (
    person_id INTEGER NOT NULL REFERENCES person(id), window TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (person_id, window)) WITHOUT ROWID;
CREATE INDEX event_bot ON event (chat_id, id) WHERE why = 'bot';
