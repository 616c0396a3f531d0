"""Protocols of what the bot needs from outside: time, a model, platforms, the log, settings set in chats."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

from bot.core.events import Attachment, Incoming, Outgoing, Place
from bot.core.inspection import CheckResult
from bot.core.models import Completion, Embeddings, ModelRequest
from bot.core.parts import PartKind

T = TypeVar("T")

_ABOUT: ContextVar[Mapping[str, int]] = ContextVar("about", default=MappingProxyType({}))

SettingChanges = Mapping[str, str | None]
"""Dotted keys of the configuration with their new values; None takes back what was said of that key."""

Role = Literal["gateway", "worker", "janitor"]
"""What a process does of several on one database: keep the platforms' connections and send, answer in chats, look after
what is there."""

ROLES: tuple[Role, ...] = ("gateway", "worker", "janitor")
"""All of them: what one process does that answers alone."""

WakeKind = Literal["chat", "outbox", "halt", "settings"]
"""What another process may have to look at: a chat with something due, one with something to send, one in which a turn
was stopped, the settings of all."""

ApplySettings = Callable[[SettingChanges, int], Awaitable[tuple[str, ...]]]
"""Checks what a person (by number) sets, stores it and has nuan work by it; with problems nothing has changed."""


def implements(one: object, protocol: Callable[..., T]) -> TypeGuard[T]:
    """isinstance(one, protocol) for a runtime protocol that extends no other.

    Python 3.11 lists the members of a protocol anew at every question, which cost more than all else in taking a
    message in; here it is done once.
    """
    values, methods = _members(protocol)
    return all(hasattr(one, name) for name in values) and all(getattr(one, name, None) is not None for name in methods)


@cache
def _members(protocol: Callable[..., object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a protocol's values, and those of its methods."""
    own = {name: member for name, member in vars(protocol).items() if not name.startswith("_")}
    methods = tuple(name for name, member in own.items() if callable(member))
    values = {**protocol.__annotations__, **own}
    return tuple(name for name in values if name not in methods), methods


class Alarm(Protocol):
    """A pending call; cancelling twice, or after it fired, does nothing."""

    def cancel(self) -> None:
        """Keep it from firing."""
        ...


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        ...

    def at(self, when: int, call: Callable[[], None]) -> Alarm:
        """Call `call` on the event loop when `now()` has reached `when` (at once if it has)."""
        ...


class ChatLeases(Protocol):
    """Which of several processes on one database answers in a chat, and does what only one may do.

    A process that nobody heard of for as long as a lease lasts loses all of it; then it can store nothing any more. One
    that is alone on its database has everything, for nothing.
    """

    @property
    def shared(self) -> bool:
        """Whether there may be other processes."""
        ...

    def working(self, chat_id: int) -> AbstractAsyncContextManager[bool]:
        """Whether this process is the one that works in that chat; a chat that nobody has is claimed.

        What is written inside is stored only as long as it is, else ChatLeaseLostError and nothing of it. A chat that
        was not worked in for as long as a lease lasts is given back. StoreError when the database cannot be asked.
        """
        ...

    async def claim(self, chat_ids: Iterable[int]) -> frozenset[int]:
        """Those of these chats that this process works in, after it has claimed those that nobody has, in one step."""
        ...

    def hand_over(self) -> None:
        """From now on claim no chat, and give each back in which no work is under way, or once it is done."""
        ...

    def on_claimed(self, call: Callable[[int], None]) -> None:
        """From now on call it on the loop with each chat that was claimed, before anything is done there: what another
        process left in it is to be taken up."""
        ...

    async def take(self, name: str) -> bool:
        """Whether this process does what is named so ("janitor", "telegram"): until it ends or leaves it, once it has
        taken it."""
        ...

    async def leave(self, name: str) -> None:
        """What is named so another process may take."""
        ...

    async def take_for(self, name: str, ms: int) -> bool:
        """Whether what is named so may be done now; for so long after a True no process is told that it may."""
        ...

    def on_gone(self, call: Callable[[], None]) -> None:
        """From now on call it on the loop each time another process was taken off: what it left is to be taken up."""
        ...


class Wakeups(Protocol):
    """Hints to other processes on the same database. They may be lost: rows say what there is to do."""

    def tell(self, kind: WakeKind, key: int) -> None:
        """Have the others look; `key` is the chat, 0 for settings."""
        ...

    def on_heard(self, call: Callable[[WakeKind, int], None]) -> None:
        """From now on call it on the loop with what another process told."""
        ...

    async def close(self) -> None:
        """Tell and hear nothing more."""
        ...


@runtime_checkable
class JumpingClock(Protocol):
    """A clock that notices when the machine's was set forward, and goes on evenly until it is told to follow."""

    @property
    def jump(self) -> int:
        """By how many ms it was set forward, 0: by none."""
        ...

    def on_jump(self, call: Callable[[], None]) -> None:
        """Call it while there is a jump."""
        ...

    def follow(self) -> None:
        """Be at the machine's time from now on."""
        ...


class Model(Protocol):
    """Whoever answers. One request, one completion or a ModelError; never a partial answer.

    `dialect` enters the prefix signature; `digests` says whether it can summarise a session.
    """

    name: str
    dialect: str
    digests: bool

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer, or raise ModelError; cancelling it aborts the call."""
        ...

    def body(self, request: ModelRequest) -> Awaitable[bytes]:
        """The exact bytes that `complete` would send for this."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


@runtime_checkable
class Streams(Protocol):
    """A model whose answer can be read while it is written."""

    async def stream(self, request: ModelRequest, hear: Callable[[Callable[[], str]], None]) -> Completion:
        """As `complete`; `hear` is called with a function for the text so far, each time there is more of it."""
        ...


@runtime_checkable
class PerceptionModel(Protocol):
    """A server with models that see pictures and hear voice; `model` is the name of one of them."""

    async def see(
        self, model: str, picture: bytes, mime: str, question: str, max_tokens: int, deadline_s: float
    ) -> Completion:
        """What the model answers to a question about a picture, cut at `max_tokens`; raises ModelError."""
        ...

    async def listen(self, model: str, sound: bytes, name: str, deadline_s: float) -> str:
        """What is said in a recording, "" when nothing is; the ending of `name` tells its format. Raises ModelError."""
        ...


class Speaker(Protocol):
    """Whoever speaks texts."""

    name: str

    async def speak(self, text: str, deadline_s: float) -> bytes:
        """The recording, or ModelError; cancelling it aborts the call."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


class Painter(Protocol):
    """Whoever draws pictures."""

    name: str

    async def draw(self, prompt: str, deadline_s: float) -> bytes:
        """The picture of a description, or ModelError; cancelling it aborts the call."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


class Embedder(Protocol):
    """Whoever makes vectors. Those of one `name` can be compared; `calls` says that a server is asked, and paid; `means`
    that texts of one meaning are alike, whatever their words. Below `least_cosine` two texts have nothing in common,
    unless the settings say another figure."""

    name: str
    calls: bool
    means: bool
    least_cosine: float

    async def load(self, wait_s: float, *, anew: bool = False) -> bool:
        """Whether it can be asked now; else it begins to load, which is waited for at most so many seconds.

        ModelError says why it could not be loaded; with `anew` that is tried again first.
        """
        ...

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embeddings:
        """A vector for each text, in order, or ModelError; cancelling it aborts the call."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


async def pause(clock: Clock, ms: int) -> None:
    """Return when that much time has passed."""
    woken = asyncio.Event()
    alarm = clock.at(clock.now() + ms, woken.set)
    try:
        await woken.wait()
    finally:
        alarm.cancel()


class EventSink(Protocol):
    """Where adapters bring what they saw."""

    async def accept(self, incoming: Incoming) -> bool:
        """Commit it; True when it is stored (also if it was stored before). Only then tell the platform."""
        ...

    async def newest(self, place: Place) -> str:
        """The platform's id of the newest message of that place that is stored, "" when none is."""
        ...

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        """The platform's ids of the newest visible messages of people of that place, newest first."""
        ...

    async def places(self, platform: str) -> tuple[Place, ...]:
        """Every place of that platform that is stored."""
        ...

    def typing(self, place: Place, account: str) -> None:
        """The account of that platform is typing there; nothing of it is stored."""
        ...


class Adapter(Protocol):
    """One platform: brings events to a sink, sends messages out.

    `resends` says that sending the same outbox row again makes no second copy, so that after a crash it may.
    """

    platform: str
    resends: bool

    async def run(self, sink: EventSink) -> None:
        """Work until the platform ends (end of input) or the task is cancelled.

        PlatformError when it cannot go on; OSError and TimeoutError when another try may help.
        """
        ...

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Send one message; the platform's ids of what was sent. SendError says what became of one that was not."""
        ...


@runtime_checkable
class Splits(Protocol):
    """An adapter whose messages have a size."""

    def parts(self, text: str) -> tuple[str, ...]:
        """The text as messages that its platform takes."""
        ...


@runtime_checkable
class SendsParts(Protocol):
    """An adapter that sends more than text: the kinds of parts its platform takes, with the most bytes of each (0: it
    has none). `send` gets no others."""

    sends: Mapping[PartKind, int]


def takes_part(adapter: object, kind: PartKind, size: int = 0) -> bool:
    """Whether an adapter sends a part of that kind, of so many bytes."""
    return implements(adapter, SendsParts) and size <= adapter.sends.get(kind, -1)


@runtime_checkable
class Edits(Protocol):
    """An adapter that can show a message and change it while it grows.

    With `placeholder` every message is first shown as … and then edited: nothing is lost or sent twice.
    """

    edit_interval_ms: int
    placeholder: bool

    async def show(self, outgoing: Outgoing) -> str:
        """Send `outgoing.text`, or put it into the message `preview_id`; the id of that message.

        SendError as for `send`; what is shown is a preview, and `send` with that id ends it.
        """
        ...

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take the message `preview_id` away, if it is still there, or without one the sign that `via` is being answered;
        SendError as for `send`."""
        ...


@runtime_checkable
class Drafts(Protocol):
    """An adapter that can show what is being written without sending it."""

    draft_interval_ms: int

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show `outgoing.text` as being written, where this chat can; False where it cannot."""
        ...


@runtime_checkable
class Debounces(Protocol):
    """An adapter whose people write a thought in several messages.

    `debounce_ms` is how long nuan waits for the next one, unless it is configured.
    """

    debounce_ms: int


@runtime_checkable
class AwaitsAnswers(Protocol):
    """An adapter that may bring each message only after the one before it is answered, as piped input does.

    While `awaits` is true, messages come as fast as nuan answers, and are no flood.
    """

    awaits: bool


@runtime_checkable
class Files(Protocol):
    """An adapter whose attachments can be read."""

    async def fetch(self, attachment: Attachment, most: int) -> bytes:
        """Its content; SendError("never") when it is gone or larger than `most` bytes, OSError to try again."""
        ...


TakeFor = Callable[[str, int], Awaitable[bool]]
"""Takes what has that name for so many ms; False while it is taken, by this process or another one."""


@runtime_checkable
class Shared(Protocol):
    """An adapter that has one of several connections of its bot, the others being other processes'.

    `lease` names what it has: two processes with the same one take turns, and the former one may talk to the platform for
    a moment longer.
    """

    lease: str

    def share(self, take_for: TakeFor) -> None:
        """Begin connections by turns with them; said before `run`."""
        ...


@runtime_checkable
class Reaches(Protocol):
    """An adapter that needs no connection to ask its platform and to show something there."""

    async def reach(self, sink: EventSink) -> None:
        """As `run`, but without hearing anything, beside the process that does: until cancelled its files can be read, its
        admins asked for, and it shows typing and previews.
        """
        ...


@runtime_checkable
class Liveness(Protocol):
    """An adapter that knows when its platform last answered."""

    def silent_ms(self) -> int | None:
        """How long ago that was, ms; None while it is not connected."""
        ...


@runtime_checkable
class Checks(Protocol):
    """An adapter that can ask its platform whether it will work, without connecting: `nuan doctor`."""

    async def check(self) -> tuple[CheckResult, ...]:
        """What was found; never raises for what a token, a proxy or a server can do."""
        ...


@runtime_checkable
class Admins(Protocol):
    """An adapter whose platform knows who looks after a group."""

    async def is_admin(self, external_chat_id: str, account: str) -> bool:
        """Whether that account does there; OSError when the platform cannot be asked."""
        ...


@runtime_checkable
class Typing(Protocol):
    """An adapter that can show that nuan is thinking."""

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide it."""
        ...


class SceneSource(Protocol):
    """A plug-in that describes a place: a game host its snapshot, a server its topic."""

    def scene(self, place: Place) -> str | None:
        """One short text, or None when it knows nothing of that place."""
        ...


@contextmanager
def log_context(numbers: Mapping[str, int]) -> Iterator[None]:
    """While inside, every line of this task, and of tasks begun in it, says these, too: which turn it belongs to."""
    token = _ABOUT.set({**_ABOUT.get(), **numbers})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def log_numbers() -> Mapping[str, int]:
    """What the lines of this task say besides their own fields."""
    return _ABOUT.get()


def model_fields(
    operation: Literal["chat", "embeddings", "speech", "image"], model: str, provider: str = ""
) -> dict[str, str]:
    """Who was asked for what, named after the OpenTelemetry conventions for generative AI."""
    named = {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    return {name: value for name, value in named.items() if value}


class Log(Protocol):
    """One line per event: a short name in snake_case and fields that hold ids and numbers, never people's text."""

    def debug(self, event: str, **fields: object) -> None:
        """Something that only a closer look needs."""
        ...

    def info(self, event: str, **fields: object) -> None:
        """Something that belongs to normal work."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """Something that nuan could help itself with."""
        ...

    def error(self, event: str, **fields: object) -> None:
        """Something an operator should look at; `exc_info=error` adds where it came from."""
        ...


@dataclass(frozen=True, slots=True)
class ReloadResult:
    """The keys and files that changed, those of them that only a restart takes, and why nothing was taken, if so."""

    changed: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


Reload = Callable[[], Awaitable[ReloadResult]]
"""Reads configuration and texts anew, as an owner asked for it; never raises for what is wrong with them."""


@dataclass(frozen=True, slots=True)
class ChatSetting:
    """One key with its value as a variable would hold it, who set it (None: nobody knows any more) and when, ms."""

    key: str
    value: str
    person_id: int | None = None
    name: str = ""
    at: int = 0
