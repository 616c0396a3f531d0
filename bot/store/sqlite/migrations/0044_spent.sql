-- What calls came to by quarters of an hour, so that no limit reads all calls of its day or month (bot/store/ledger.py).

CREATE TABLE spent (
    slot INTEGER NOT NULL, cause TEXT NOT NULL, uncounted INTEGER NOT NULL, calls INTEGER NOT NULL, cost REAL NOT NULL,
    tokens INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
    PRIMARY KEY (slot, cause, uncounted)) WITHOUT ROWID;
INSERT INTO meta (key, value)
    SELECT 'spent_upto', coalesce((SELECT min(id) - 1 FROM call WHERE state = 'reserved'), max(id)) FROM call
    HAVING max(id) IS NOT NULL;
INSERT INTO spent (slot, cause, uncounted, calls, cost, tokens, prompt_tokens, cached_tokens)
    SELECT at / 900000, cause, uncounted, sum(CASE state WHEN 'released' THEN 0 ELSE calls END), sum(cost),
    sum(prompt_tokens + output_tokens), sum(prompt_tokens), sum(cached_tokens) FROM call
    WHERE id <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'spent_upto')
    GROUP BY at / 900000, cause, uncounted;
