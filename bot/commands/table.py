"""The one table of commands: name, arguments, who may, who may read the answer. It carries nothing out."""

from dataclasses import dataclass
from typing import Literal

from bot.memory.ordering import ORDERS
from bot.text.fold import fold
from bot.text.script import Script
from bot.text.secrecy import HEADS, KEY_NAMES
from bot.types.command import Shape
from bot.types.event import Event
from bot.types.people import Chat, Person

Who = Literal["anyone", "own", "admins", "owner"]

Topic = Literal["chat", "memory", "you", "inside", "house"]
"""What a command is about, in the order of help: this chat, what is remembered, the person, what goes on inside, the
house itself."""

TOPICS: tuple[Topic, ...] = ("chat", "memory", "you", "inside", "house")

BRIEF: tuple[Topic, ...] = ("inside", "house")
"""Topics of which `.ai help` tells the names alone: all lines of all commands are more than a phone shows at once."""


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

    `arguments`: alternatives between " | ", words that are said as they stand in small letters, the others in capitals.
    `who`: anyone; own, in a DM everyone, in a group the owner; admins, there also those who look after the group, which
    is asked when the command is carried out; or the owner alone. The answer of a `private` one
    is for the person who asked, also in a group. One that is not `listed` stands in no help and no menu. `example` is
    what one might say after the name, `aliases` are other names that it goes by.
    """

    name: str
    arguments: str
    who: Who
    topic: Topic
    private: bool = False
    shape: Shape = "none"
    listed: bool = True
    about: str = ""
    example: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """The key of its help text."""
        return f"help_{self.about or self.name}"

    def allows(self, asked: Asked) -> bool:
        """Whether this person may use it here."""
        return (
            self.who in ("anyone", "admins") or asked.person.is_owner or (self.who == "own" and asked.chat.kind == "dm")
        )


TABLE = (
    Command("start", "[CODE]", "anyone", "chat", private=True, shape="words", listed=False),
    Command("help", "[COMMAND]", "anyone", "chat", shape="words", example="remind"),
    Command("info", "", "anyone", "chat"),
    Command("new", "", "anyone", "chat"),
    Command("clear", "", "own", "chat"),
    Command("on", "[all]", "admins", "chat", shape="words", example="all"),
    Command("off", "[all]", "admins", "chat", shape="words", example="all"),
    Command(
        "mode", "[window | called | join | reset]", "own", "chat", shape="words", example="called",
    ),
    Command("why", "", "anyone", "chat"),
    Command("persona", "[NAME | reset]", "own", "chat", shape="words", example="terse"),
    Command(
        "context", "[show | recent N | window SEC | recentmax N | reset]", "own", "chat", shape="words",
        example="recent 20",
    ),
    Command(
        "mem",
        "[WORDS | #N | recent | stats | archived | protect #N | unprotect #N | fade #N | archive #N | restore #N | "
        "unmerge #N | share #N | unshare #N]",
        "anyone", "memory", private=True, shape="words", example="#12", aliases=("memory",),
    ),
    Command("memstats", "", "anyone", "memory", private=True),
    Command("dialog", "[full | clear | NAME]", "anyone", "memory", private=True, shape="words", example="full"),
    Command(
        "promise", "[all | done N | doing N | fail N | open N | drop N]", "anyone", "memory", private=True,
        shape="words", example="done 3",
    ),
    Command(
        "remind", "[WHEN WHAT | list | cancel N | cancel all]", "anyone", "memory", private=True, shape="words",
        example="list",
    ),
    Command("feedback", "[stats | recent]", "anyone", "memory", private=True, shape="words", example="recent"),
    Command("refs", "[recent | stats]", "anyone", "memory", private=True, shape="words", example="stats"),
    Command("tz", "[CITY | ZONE | reset]", "anyone", "you", private=True, shape="words", example="Asia/Tokyo"),
    Command("link", "[CODE]", "anyone", "you", private=True, shape="words"),
    Command("export", "me", "anyone", "you", private=True, shape="words", example="me"),
    Command("forget", "me [NUMBER]", "anyone", "you", private=True, shape="words", about="forget_me", example="me"),
    Command("ctx", "[PERSON] [QUERY]", "own", "inside", private=True, shape="words"),
    Command(
        "calls", "[recent N | background on|off]", "owner", "inside", private=True, shape="words",
        example="background off",
    ),
    Command("tools", "[on | off | reset]", "anyone", "inside", shape="words", example="off"),
    Command("trace", "[on | off]", "own", "inside", private=True, shape="words", example="on"),
    Command("introspect", "", "own", "inside", private=True),
    Command("personality", "", "own", "inside", private=True),
    Command(
        "budget",
        "[show | currency CODE | pricein N | priceout N | day N | month N | total N | maxtokens N | notify on|off | "
        "resetday | resetmonth | resettotal | reset]",
        "own", "house", private=True, shape="words", example="day 5",
    ),
    Command("model", "[NAME | reset]", "owner", "house", private=True, shape="words", example="small"),
    Command("base", "", "owner", "house", private=True, shape="words"),
    Command("max", "[N | reset]", "owner", "house", private=True, shape="words", example="800"),
    Command("reply", "[show | maxlen N | reset]", "owner", "house", private=True, shape="words", example="maxlen 200"),
    Command("key", "", "anyone", "house", private=True, shape="words", listed=False, aliases=KEY_NAMES[1:]),
    Command(
        "limit",
        "[off | reset | usermin N | userday N | globalmin N | globalday N | cooldown SEC | notify on|off]",
        "owner", "house", private=True, shape="words", example="userday 50",
    ),
    Command("reload", "", "owner", "house", private=True),
    Command("approve", "CODE", "owner", "house", private=True, shape="text", example="AB12CD"),
    Command("allow", "[ID]", "owner", "house", shape="words", example="telegram:123"),
    Command("deny", "[CODE | ID]", "owner", "house", shape="words", example="telegram:123"),
)  # fmt: skip


def named(name: str) -> Command | None:
    """The command that goes by this name; None when none does."""
    return next((command for command in TABLE if name == command.name or name in command.aliases), None)


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name and its words: `.ai ctx me 你好` is ("ctx", ("me", "你好")); `.ai` alone asks for info."""
    parts = text.strip().split()
    head = parts[0].lower()
    if head in HEADS:
        return (fold(parts[1]) if len(parts) > 1 else "info"), tuple(parts[2:])
    return head[1:], tuple(parts[1:])


SHORT = ("/new", "/start", "/help")
"""Commands that work without `.ai`."""


def is_command(text: str) -> bool:
    """Whether a message is a command; the rest of the sentence never is (`.aim high` is none)."""
    parts = text.strip().split(maxsplit=1)
    return bool(parts) and parts[0].lower() in (*HEADS, *SHORT, *ORDERS)
