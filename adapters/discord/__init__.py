"""Discord. The class is in run.py; nothing here is imported before a token is configured."""
