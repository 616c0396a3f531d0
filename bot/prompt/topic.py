"""What the last talk stayed with, as one line of an opening, and the names of sections. Pure."""

from collections.abc import Callable

from bot.text.clean import as_data
from bot.text.clip import clip
from bot.text.sectionwords import SHIPPED
from bot.types.sections import TopicLine

TEXT_CHARS = 80
"""Characters of the memory that a topic is told with; the memory itself is told elsewhere."""

_NAMED = frozenset(section.key for section in SHIPPED)


def section_name(key: str, words: Callable[..., str]) -> str:
    """What a section is called; an operator's own is called by its key."""
    return words(f"section_{key}") if key in _NAMED else as_data(key)


def topic_line(topic: TopicLine, words: Callable[..., str]) -> str:
    """The topic and what was found in it last."""
    return words("topic", name=section_name(topic.section, words), text=as_data(clip(topic.text, TEXT_CHARS)))
