-- Of how many calls a row is the sum.

ALTER TABLE call ADD COLUMN calls INTEGER NOT NULL DEFAULT 1;
