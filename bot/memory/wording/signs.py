"""The signs of shaped text (bot/memory/reading.py) that patterns speak of."""

NAME = "\ue001"
QUOTED = "\ue000"
STOP = r",。?\n"
EDGE = rf"[{STOP}]|$"
END = f"(?={EDGE})"
