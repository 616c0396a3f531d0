-- What a plugin keeps of a chat, and who had it kept.

CREATE TABLE plugin_value (
    plugin TEXT NOT NULL, chat_id INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, person_id INTEGER NOT NULL,
    PRIMARY KEY (plugin, chat_id, key)) WITHOUT ROWID;
CREATE INDEX plugin_value_chat ON plugin_value (chat_id);
CREATE INDEX plugin_value_person ON plugin_value (person_id);
