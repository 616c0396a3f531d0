"""The one table of commands: name, arguments, who may, who may read the answer. It carries nothing out."""

from dataclasses import dataclass
from typing import Literal

from bot.memory.ordering import ORDERS
from bot.text.script import Script
from bot.types.command import Shape
from bot.types.event import Event
from bot.types.people import Chat, Person

Who = Literal["anyone", "own", "owner"]


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
    """One command. Its help text is `help_NAME` in the message catalogue, or `help_ABOUT`.

    `who`: anyone; own, in a DM everyone, in a group the owner; or the owner alone. The answer of a `private` one
    is for the person who asked, also in a group. One that is not `listed` stands in no help and no menu.
    """

    name: str
    arguments: str
    who: Who
    private: bool = False
    shape: Shape = "none"
    listed: bool = True
    about: str = ""

    @property
    def help(self) -> str:
        """The key of its help text."""
        return f"help_{self.about or self.name}"

    def allows(self, asked: Asked) -> bool:
        """Whether this person may use it here."""
        return self.who == "anyone" or asked.person.is_owner or (self.who == "own" and asked.chat.kind == "dm")


TABLE = (
    Command("start", "[code]", "anyone", private=True, shape="words", listed=False),
    Command("help", "", "anyone"),
    Command("new", "", "anyone"),
    Command("clear", "", "own"),
    Command("ctx", "[person] [query]", "own", private=True, shape="words"),
    Command("context", "[show | recent N | window SEC | recentmax N | reset]", "own", shape="words"),
    Command("mode", "[window | called | join | reset]", "own", shape="words"),
    Command("why", "", "anyone"),
    Command(
        "mem",
        "[words | #N | stats | archived | protect #N | unprotect #N | fade #N | archive #N | restore #N | unmerge #N | "
        "share #N | unshare #N]",
        "anyone",
        private=True,
        shape="words",
    ),
    Command("promise", "[all | done N | doing N | fail N | open N | drop N]", "anyone", private=True, shape="words"),
    Command("remind", "[when what | list | cancel N | cancel all]", "anyone", private=True, shape="words"),
    Command("tz", "[city or zone | reset]", "anyone", shape="words"),
    Command("persona", "[NAME | reset]", "own", shape="words"),
    Command("dialog", "[full | clear | NAME]", "anyone", private=True, shape="words"),
    Command("export", "me", "anyone", private=True, shape="words"),
    Command("forget", "me [number]", "anyone", private=True, shape="words", about="forget_me"),
    Command("budget", "show", "own", private=True),
    Command("calls", "[background on|off]", "owner", private=True, shape="words"),
    Command(
        "limit",
        "[off | reset | usermin N | userday N | globalmin N | globalday N | cooldown SEC | notify on|off]",
        "owner",
        private=True,
        shape="words",
    ),
    Command("reload", "", "owner", private=True),
    Command("on", "", "own"),
    Command("off", "", "own"),
    Command("link", "[code]", "anyone", private=True, shape="words"),
    Command("approve", "CODE", "owner", private=True, shape="text"),
    Command("allow", "[id]", "owner", shape="words"),
    Command("deny", "[CODE | id]", "owner", shape="words"),
)


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name and its words: `.ai ctx me 你好` is ("ctx", ("me", "你好")); `/new` is ("new", ())."""
    parts = text.strip().split()
    head = parts[0].lower()
    if head in HEADS:
        return (parts[1].lower() if len(parts) > 1 else "help"), tuple(parts[2:])
    return head[1:], tuple(parts[1:])


HEADS = (".ai", "。ai", "．ai", "/ai")
"""How a command begins; the full-width forms are what a Chinese keyboard gives."""

SHORT = ("/new", "/start", "/help")
"""Commands that work without `.ai`."""


def is_command(text: str) -> bool:
    """Whether a message is a command; the rest of the sentence never is (`.aim high` is none)."""
    parts = text.strip().split(maxsplit=1)
    return bool(parts) and parts[0].lower() in (*HEADS, *SHORT, *ORDERS)
