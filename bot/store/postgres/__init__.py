"""The engine of a PostgreSQL server: its connections, its schema and its backups."""
