"""The SQLite store: one repository for each noun, opened together by store.py."""
