"""Lengths of time in milliseconds."""

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
