INSERT OR IGNORE INTO meta (key, value) VALUES ('house', lower(hex(randomblob(8))));
