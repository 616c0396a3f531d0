"""Times ahead as people name them, in three scripts. Pure; past times are in bot/text/spans.py."""
