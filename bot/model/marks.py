"""Where a prompt is worth keeping in a provider's cache. Pure; how a mark is written is decided in dialect.py."""

from dataclasses import dataclass

from bot.types.prompt import Prompt

MOST = 4
"""Marks in one request: OpenAI writes and Anthropic takes at most four (PROMPT_ECONOMICS, section 1)."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The end of one message, or with `opening` the end of the opening block that it begins with."""

    message: int
    opening: bool = False


def places(prompt: Prompt) -> tuple[Place, ...]:
    """At most four, in order: end of system, opening block, what was newest in the last request, what is newest now.

    Of the last request the newest message is the one before the last answer: reading there always hits.
    """
    messages = prompt.messages
    found = {Place(len(messages) - 1)} if messages else set()
    if messages and messages[0].role == "system":
        found.add(Place(0))
    opened = next((number for number, message in enumerate(messages) if message.opening), None)
    if opened is not None:
        found.add(Place(opened, opening=True))
    answers = [number for number, message in enumerate(messages) if message.role == "assistant"]
    if answers and answers[-1] > 1:
        found.add(Place(answers[-1] - 1))
    return tuple(sorted(found))
