-- The answers to an interaction, which any process may send.
CREATE INDEX outbox_via ON outbox (via) WHERE via <> '';
