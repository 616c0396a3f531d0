"""What lasts: which sentences ask to keep, drop or undo a memory. It stores nothing and calls no model."""
