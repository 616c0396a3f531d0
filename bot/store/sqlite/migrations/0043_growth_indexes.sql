-- Whatever is asked for by a person, a chat, a turn or an instant is found by an index: what it costs does not grow with
-- what everybody else said.

UPDATE outbox SET buttons = '[]' WHERE state = 'sent' AND buttons <> '[]';
CREATE INDEX outbox_turn ON outbox (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX outbox_event ON outbox (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX outbox_chat ON outbox (chat_id);
CREATE INDEX outbox_only_for ON outbox (only_for) WHERE only_for <> '';
CREATE INDEX outbox_buttons ON outbox (id) WHERE buttons <> '[]';
CREATE INDEX event_person ON event (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX event_quote ON event (chat_id, target) WHERE quote <> '' AND target <> '';
CREATE INDEX turn_event_event ON turn_event (event_id);
CREATE INDEX turn_epoch ON turn (epoch_id);
CREATE INDEX turn_person ON turn (person_id);
CREATE INDEX turn_chat ON turn (chat_id);
CREATE INDEX call_chat ON call (chat_id, at);
CREATE INDEX call_reserved ON call (turn_id) WHERE state = 'reserved';
DROP INDEX call_person;
CREATE INDEX call_person ON call (person_id, at) WHERE person_id IS NOT NULL;
CREATE INDEX doc_person ON doc (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX doc_chat ON doc (chat_id) WHERE kind <> 'line';
CREATE INDEX memory_replaced ON memory (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX memory_of_chat ON memory (chat_id);
CREATE INDEX commitment_owner ON commitment (owner_id);
CREATE INDEX commitment_chat ON commitment (chat_id);
DROP INDEX reminder_person;
CREATE INDEX reminder_person ON reminder (person_id);
CREATE INDEX reminder_chat ON reminder (chat_id);
CREATE INDEX participant_person ON participant (person_id);
CREATE INDEX talker_person ON talker (person_id);
CREATE INDEX feedback_person ON feedback (person_id);
DROP INDEX section_round_whose;
CREATE INDEX section_round_whose ON section_round (person_id, chat_id, turn_id);
CREATE INDEX note_owner ON note (owner_id) WHERE owner_id IS NOT NULL;
CREATE INDEX person_name ON person (name);
CREATE INDEX heartbeat_due ON heartbeat (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX heartbeat_tried ON heartbeat (tried_at) WHERE tried_at IS NOT NULL;
CREATE INDEX joining_due ON joining (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX rewriting_due ON rewriting (due_at) WHERE due_at IS NOT NULL;
