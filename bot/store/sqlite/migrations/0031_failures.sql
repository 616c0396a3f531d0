-- How often the handling of an event failed, and of what it failed last: the name of an error, nobody's words.

ALTER TABLE event ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN error TEXT NOT NULL DEFAULT '';
CREATE INDEX event_dead ON event (id) WHERE state = 'dead';
