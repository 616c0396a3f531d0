-- What was not sent in a chat is found without reading what was.

DROP INDEX outbox_over;
CREATE INDEX outbox_over ON outbox (chat_id, state) WHERE state NOT IN ('pending', 'sending', 'sent');
