CREATE TABLE heartbeat (
    chat_id INTEGER PRIMARY KEY REFERENCES chat(id), due_at INTEGER, tried_at INTEGER);
CREATE INDEX turn_first ON turn (chat_id, said_at) WHERE why = 'heartbeat' AND state = 'said';
