-- In which script a reminder was asked for, whether it is for all of its chat, and whether it moves with its
-- person's clock; which reminders the answer to a question may move.

ALTER TABLE reminder ADD COLUMN script TEXT NOT NULL DEFAULT '';
ALTER TABLE reminder ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminder ADD COLUMN wall INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminder_question ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reminder_question ADD COLUMN numbers TEXT NOT NULL DEFAULT '[]';
