CREATE INDEX doc_few ON doc (scope, kind) WHERE kind <> 'line';
