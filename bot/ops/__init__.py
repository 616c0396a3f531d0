"""Who watches: logs, metrics, health, supervision, and the socket over which other commands ask the running nuan."""
