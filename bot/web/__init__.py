"""The operator's web page: live events, turns, usage, memories, people, settings, a chat box. Loopback by default."""
