-- Which persona a chat talks with.

ALTER TABLE chat ADD COLUMN persona TEXT NOT NULL DEFAULT '';
