"""Who watches: logs now, later backup, doctor and metrics. Decides nothing about conversations."""
