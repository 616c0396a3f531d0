-- Memories up to the number `reread` in meta were stored by other rules.

INSERT OR REPLACE INTO meta (key, value) SELECT 'reread', max(id) FROM memory HAVING max(id) > 0;
-- They were to go after seven days, whatever was said of ninety.
UPDATE memory SET purge_at = max(purge_at, disabled_at + 7776000000) WHERE disabled_reason = 'archived';
