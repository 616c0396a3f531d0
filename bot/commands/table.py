"""The one table of commands: name, arguments, who may, what it does. Answers go back to the chat they were asked in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from bot.text.script import Script
from bot.types.event import Event
from bot.types.people import Chat, Person

Who = Literal["anyone", "owner"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as it was given: by whom, where, with which words after its name."""

    event: Event
    chat: Chat
    person: Person
    script: Script
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. Its help text is `help_NAME` in the message catalogue.

    `who` may use it in a group; in a DM everyone may.
    """

    name: str
    arguments: str
    who: Who
    run: Callable[[Asked], Awaitable[str]]

    def allows(self, asked: Asked) -> bool:
        """Whether this person may use it here."""
        return self.who == "anyone" or asked.person.is_owner or asked.chat.kind == "dm"


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name and its words: `.ai ctx me 你好` is ("ctx", ("me", "你好")); `/new` is ("new", ())."""
    parts = text.strip().split()
    head = parts[0].lower()
    if head in HEADS:
        return (parts[1].lower() if len(parts) > 1 else "help"), tuple(parts[2:])
    return head[1:], tuple(parts[1:])


HEADS = (".ai", "。ai", "．ai", "/ai")
"""How a command begins; the full-width forms are what a Chinese keyboard gives."""

SHORT = ("/new",)
"""Commands that work without `.ai`."""


def is_command(text: str) -> bool:
    """Whether a message is a command; the rest of the sentence never is (`.aim high` is none)."""
    parts = text.strip().split(maxsplit=1)
    return bool(parts) and parts[0].lower() in (*HEADS, *SHORT)
