"""When to speak? Decisions about one message and the log of a session; nothing here acts."""
