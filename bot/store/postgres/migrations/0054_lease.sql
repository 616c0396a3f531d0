-- Which nuan may write to the database, and until when by the server's clock (ms); each holder has a higher term.

CREATE TABLE lease (name words PRIMARY KEY, owner words NOT NULL, term bigint NOT NULL, until bigint NOT NULL);
