DROP INDEX doc_few;
CREATE INDEX doc_talk ON doc (scope, kind, chat_id, talk, at, length, ref);
