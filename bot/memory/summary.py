"""Where the length of a model's summary stands until its reader is moved."""

SUMMARY_CHARS = 40
