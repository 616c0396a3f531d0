"""When to speak? Decisions about one message, why a session ends, and the lanes that run one thing at a time."""
