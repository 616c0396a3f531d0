"""The store: one repository for each noun, over SQLite or PostgreSQL, opened together by store.py."""
