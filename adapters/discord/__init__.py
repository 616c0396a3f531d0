"""Discord. The class is in adapter.py; nothing here is imported before a token is configured."""
