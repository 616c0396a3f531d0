-- What follows a memory or a promise is written by whoever changes it, in the same transaction.

DROP TRIGGER memory_section;
DROP TRIGGER promise_ended;
DROP TRIGGER promise_reopened;
DROP TRIGGER promise_gone;
