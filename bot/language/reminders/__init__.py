"""Requests for reminders as people write them, and answers to the question when to remind."""
