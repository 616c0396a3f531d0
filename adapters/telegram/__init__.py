"""Telegram: what it tells becomes Incoming, what is stored goes out through its Bot API. It decides no answer."""
