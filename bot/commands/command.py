"""What a command is, a call of one with the services that its handler works with, and which words its arguments
allow. Which commands there are, their help and their menus: `bot/commands/registry.py`."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from difflib import get_close_matches
from typing import Literal

from bot.config.settings import Settings
from bot.core.events import ArgumentShape, Button, Draft, Event
from bot.core.people import Audience, Chat, Person, Script
from bot.core.ports import Adapter, ApplySettings, Clock, Reload
from bot.core.tools import OutsideServers
from bot.pipeline.configuration import Current
from bot.pipeline.dispatch import TurnWanted
from bot.pipeline.jobs.archives import PersonData
from bot.pipeline.jobs.notes import NoteWriter
from bot.pipeline.plan import Planner
from bot.pipeline.reminders import ReminderService
from bot.pipeline.texts import Texts
from bot.pipeline.timings import TurnTimings
from bot.store.store import Store
from bot.text.clean import beside_id
from bot.text.fold import fold

Permission = Literal["anyone", "own", "admins", "owner"]

HelpTopic = Literal["chat", "memory", "you", "inside", "admin"]
"""What a command is about, in the order of help: this chat, what is remembered, the person, what goes on inside,
what holds for all of nuan."""

TOPICS: tuple[HelpTopic, ...] = ("chat", "memory", "you", "inside", "admin")

LIKENESS = 0.65
"""How alike two words are that may be meant for each other, by difflib; at .6 dance would be trace."""

SHORTEST_PREFIX = 2
"""Letters from which the beginning of a word stands for it."""

ECHOED_CHARS = 32
"""Letters of a word that are said back."""

ArgumentForm = tuple[tuple[str, ...], ...]
"""One alternative of a command's arguments: for each place the words that may stand there, none for anything."""


@dataclass(frozen=True, slots=True)
class CommandServices:
    """What handlers work with.

    `commands` are those of plugins. Without `reload` and `apply` there is nobody who could take other settings up. `adapter` finds a platform by name,
    `timings` know how long turns took.
    """

    store: Store
    planner: Planner
    clock: Clock
    current: Current
    notes: NoteWriter
    reminders: ReminderService
    personal_data: PersonData
    reload: Reload | None
    apply: ApplySettings | None
    adapter: Callable[[str], Adapter | None]
    timings: TurnTimings
    servers: OutsideServers
    commands: "tuple[Command, ...]" = ()

    @property
    def settings(self) -> Settings:
        """The settings by which nuan works."""
        return self.current.settings

    @property
    def written(self) -> Settings:
        """The settings as files and people say them, with what this command has changed."""
        return self.current.newest.written

    @property
    def texts(self) -> Texts:
        """The texts for people."""
        return self.current.words


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it was given: by whom (`account`: by which id of theirs), where, with which words after its name."""

    event: Event
    chat: Chat
    person: Person
    script: Script
    words: tuple[str, ...]
    services: CommandServices
    account: str = ""

    @property
    def store(self) -> Store:
        """The store."""
        return self.services.store

    @property
    def now(self) -> int:
        """What the clock says, in milliseconds."""
        return self.services.clock.now()

    @property
    def folded(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return tuple(fold(word) for word in self.words)

    @property
    def tz(self) -> tzinfo:
        """The zone of whoever asks."""
        texts = self.services.texts
        return texts.tz_of(self.chat, self.person)

    def text(self, key: str, **values: object) -> str:
        """A text of the catalogue in the person's script."""
        services = self.services
        return services.texts.messages.text(key, self.script, bot=services.settings.bot.names[0], **values)

    def which(self, name: str, choices: Sequence[tuple[str, str]]) -> Draft:
        """The question which of the accounts of a name is meant: each with the command that says its id, as a button, too.

        A name decides nothing, as anybody may take it.
        """
        lines = (f"{label} → {says}" for label, says in choices)
        buttons = tuple(Button(label, says, self.account) for label, says in choices)
        return Draft("\n".join((self.text("access_which", name=name), *lines)), "command", buttons=buttons)

    async def one_here(self, wanted: str, says: Callable[[str], str]) -> int | Draft | None:
        """Who of this chat has that account, or oneself by one's name; of another's name the question which account.

        `says` is the command that names an account. None where nobody here is meant.
        """
        people = self.store.people
        if wanted == self.person.name:
            return self.person.id
        here = (await people.audience(self.chat)).person_ids
        number = await people.by_account(wanted)
        if number in here:
            return number
        named = [each for each in await people.accounts_named(wanted) if await people.by_account(each[1]) in here]
        return self.which(wanted, [(f"{beside_id(name)} ({one})", says(one)) for name, one in named]) if named else None

    async def audience(self) -> Audience:
        """Who can read the answer."""
        return await self.services.planner.audience(self.chat, self.person)


Handler = Callable[[Invocation], Awaitable[str | Draft | TurnWanted]]
"""Answers a command, with a draft where its answer has buttons; an empty answer says nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. Its help text is `help_NAME` in the message catalogue, or `help_ABOUT`.

    `arguments`: alternatives between " | ", words that are said as they stand in small letters, the others in capitals.
    `who`: anyone; own, in a DM everyone, in a group the owner; admins, there also those who look after the group, which
    is asked when the command is carried out; or the owner alone. The answer of a `private` one
    is for the person who asked, also in a group. One that is not `listed` stands in no help and no menu. `example` is
    what one might say after the name, `aliases` are other names that it goes by. One that has no text in the catalogue is
    `said` what it does.
    """

    name: str
    arguments: str
    who: Permission
    topic: HelpTopic
    private: bool
    shape: ArgumentShape
    listed: bool
    about: str
    example: str
    aliases: tuple[str, ...]
    handler: Handler
    said: str = ""

    @property
    def help(self) -> str:
        """The key of its help text."""
        return f"help_{self.about or self.name}"

    def told(self, text: Callable[[str], str]) -> str:
        """What it does, by the sentences of a language."""
        return self.said or text(self.help)

    def allows(self, call: Invocation) -> bool:
        """Whether this person may use it here."""
        return (
            self.who in ("anyone", "admins") or call.person.is_owner or (self.who == "own" and call.chat.kind == "dm")
        )


def command(
    name: str,
    arguments: str = "",
    *,
    who: Permission,
    topic: HelpTopic,
    private: bool = False,
    listed: bool = True,
    shape: ArgumentShape | None = None,
    about: str = "",
    example: str = "",
    aliases: tuple[str, ...] = (),
) -> Callable[[Handler], Command]:
    """Declare the function below as the handler of a command; see `Command`. Without a `shape` arguments are words."""
    shape = shape or ("words" if arguments else "none")
    return lambda handler: Command(
        name, arguments, who, topic, private, shape, listed, about, example, aliases, handler
    )


def nearest_word(word: str, known: Iterable[str]) -> str:
    """The known word that is most like this one, or the only one it begins; "" when none is."""
    known = tuple(known)
    begun = [each for each in known if len(word) >= SHORTEST_PREFIX and each.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    return next(iter(get_close_matches(word, known, n=1, cutoff=LIKENESS)), "")


def corrected(command: Command, words: tuple[str, ...], *, loosely: bool = False) -> str:
    """The whole command with the first word that does not fit put right, ".ai mode called"; "" when all fit.

    Also "" when nothing is like that word, or when the person may say there what they like and said enough of it;
    `loosely` is for a command that could make nothing of it.
    """
    left: Sequence[ArgumentForm] = _argument_forms(command.arguments)
    for place, word in enumerate(map(fold, words)):
        here = [form for form in left if len(form) > place]
        fitting = [form for form in here if word in form[place]]
        free = [form for form in here if not form[place] and len(form) <= len(words)]
        if not fitting and (not free or loosely):
            right = nearest_word(word, sorted({each for form in here for each in form[place]}))
            return (
                " ".join((".ai", command.name, *(each[:ECHOED_CHARS] for each in words[:place]), right))
                if right
                else ""
            )
        left = [*fitting, *free]
    return ""


def hint(call: Invocation, command: Command) -> str:
    """A further line for somebody whose words came to nothing in that command: what they may have meant, or ""."""
    wanted = corrected(command, call.words, loosely=True)
    return f"\n{call.text('meant', near=wanted)}" if wanted else ""


def _argument_forms(arguments: str) -> tuple[ArgumentForm, ...]:
    """The alternatives of a command's arguments; a place in capitals or with a # takes anything."""
    plain = arguments.replace("[", "").replace("]", "")
    return tuple(
        tuple(tuple(token.split("|")) if token.islower() and token[0].isalpha() else () for token in form.split())
        for form in plain.split(" | ")
        if form
    )
