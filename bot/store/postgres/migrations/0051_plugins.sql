-- What a plugin keeps of a chat, and who had it kept.

CREATE TABLE plugin_value (
    plugin words NOT NULL, chat_id bigint NOT NULL, key words NOT NULL, value words NOT NULL, person_id bigint NOT NULL,
    PRIMARY KEY (plugin, chat_id, key));
CREATE INDEX plugin_value_chat ON plugin_value (chat_id);
CREATE INDEX plugin_value_person ON plugin_value (person_id);
