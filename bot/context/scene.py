"""The scene: what a place looks like now, in the words of whoever knows it. It is data, never an instruction."""

from bot.text.clean import clean
from bot.text.clip import clip

SCENE_CHARS = 300
"""Code points of a scene unless the operator sets another cap: about 200 tokens of Chinese."""


def scene_text(text: str, max_chars: int = SCENE_CHARS) -> str:
    """The scene as one clean line of at most `max_chars` code points, ending in … when it was cut."""
    return clip(" ".join(clean(text).split()), max_chars)
