-- A prefix that no log stands on is found without reading all of them.

CREATE INDEX epoch_prefix ON epoch (signature);
