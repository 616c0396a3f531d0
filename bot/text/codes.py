"""Codes that people type: their alphabet, and where a message holds one. It knows nothing of what they open."""

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without 0 O 1 I L, which look alike."""

LENGTH = 8
"""31^8 is 8.5e11: with five guesses an hour nobody finds one."""

GREETINGS = ("/start", "/help")
"""What is answered to everyone."""


def code_form(text: str) -> str:
    """The code in upper case when the text is nothing else, "" otherwise.

    A code has a digit and a letter, so that a word of eight letters is none.
    """
    code = text.strip().upper()
    fits = len(code) == LENGTH and code.isascii() and all(sign in ALPHABET for sign in code)
    return code if fits and not code.isalpha() and not code.isdigit() else ""


def code_in(text: str, is_command: bool) -> str:
    """The code that a message brings, in upper case: alone, or as the last word of a short command; "" for none."""
    words = text.split(maxsplit=3)
    return code_form(words[-1]) if words and len(words) <= (3 if is_command else 1) else ""


def greets(text: str) -> bool:
    """Whether a message is one of the commands that everyone is answered."""
    words = text.split(maxsplit=1)
    return bool(words) and words[0].lower() in GREETINGS
