-- The line in which a person was asked what a sentence means, and what they said next.

ALTER TABLE rewriting ADD COLUMN asked_id INTEGER;
ALTER TABLE rewriting ADD COLUMN answer_id INTEGER;
