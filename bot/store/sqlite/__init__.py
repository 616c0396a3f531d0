"""The engine of one file: its connections, opening and migrating it, and copies of it."""
