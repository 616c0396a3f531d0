-- The name of the other agent that kept a memory.

ALTER TABLE memory ADD COLUMN agent TEXT NOT NULL DEFAULT '';
