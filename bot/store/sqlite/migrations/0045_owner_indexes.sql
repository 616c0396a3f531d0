-- What is listed by its end or its owner, and what an operator's pages show newest first, is found by an index.

CREATE INDEX account_owner ON account (person_id) WHERE owner = 1;
CREATE INDEX commitment_ended ON commitment (ended_at);
CREATE INDEX reminder_ended ON reminder (ended_at);
CREATE INDEX digest_ended ON digest (ended_at);
CREATE INDEX memory_of_owner ON memory (owner_id);
CREATE INDEX memory_ended ON memory (disabled_reason, disabled_at) WHERE disabled_at IS NOT NULL;
CREATE INDEX merged_at ON merged (at);
CREATE INDEX session_closed ON session (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX outbox_over ON outbox (state) WHERE state NOT IN ('pending', 'sending', 'sent');
CREATE INDEX effect_at ON effect (at);
