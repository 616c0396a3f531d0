-- What servers outside of nuan offer: approved and waiting for it; who may have it change something; calls of a day.

CREATE TABLE outside_server (
    name TEXT PRIMARY KEY, approved TEXT NOT NULL DEFAULT '', waiting TEXT NOT NULL DEFAULT '',
    told TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE outside_grant (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id INTEGER NOT NULL, person_id INTEGER NOT NULL, tool TEXT NOT NULL,
    state TEXT NOT NULL, at INTEGER NOT NULL);
CREATE UNIQUE INDEX outside_grant_tool ON outside_grant (chat_id, person_id, tool);
CREATE INDEX outside_grant_person ON outside_grant (person_id);
CREATE TABLE outside_day (
    server TEXT NOT NULL, day INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (server, day)) WITHOUT ROWID;
