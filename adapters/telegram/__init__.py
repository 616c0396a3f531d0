"""Telegram: updates become events, what is stored goes out through its Bot API. It decides no answer."""
