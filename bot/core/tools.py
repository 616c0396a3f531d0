"""A tool as a value: its schema for the model, its arguments, and what running it does; and what servers outside of nuan
offer (MCP): their tools, where a server stands, what an owner is asked about it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.clock import DAY_MS
from bot.core.memories import Memory, MergeRule, NewCommitment, NewMemory, NewReminder, SettledCommitment, no_merge
from bot.core.models import ToolSpec
from bot.core.parts import Media
from bot.core.people import Audience

TOOL_S = 30.0
"""How long one tool may take, in seconds, unless it says otherwise; looking at a picture has a deadline of its own within
it."""

OfferKind = Literal["tool", "resource", "prompt"]

ServerStanding = Literal["approved", "new", "changed"]
"""What an owner approved; what nobody has approved yet; what offers something else than was approved."""

GrantState = Literal["given", "asked", "refused"]
"""What a person said to the question whether a tool may change something: yes, nothing yet, no."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """On whose behalf a tool runs. It comes from the turn, never from the model."""

    audience: Audience
    person_id: int
    session_id: int
    event_ids: tuple[int, ...]
    script: str
    now: int
    call: str = ""
    """What names the call, in all turns: one that is resumed makes it again."""


@dataclass(frozen=True, slots=True)
class UnlearnRequest:
    """What a person asks to forget in a message, and what is left of that message to answer ("" for nothing).

    `forever` asks for it to be gone at once, without the days for undo. `lines` (id: text) are what they said of a
    matter of which no memory tells, and `wish` those in which it was asked before: the memories are what both say, each
    without a number.
    """

    memories: tuple[Memory, ...]
    event_id: int
    rest: str
    forever: bool = False
    lines: tuple[tuple[int, str], ...] = ()
    wish: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What the model is told; `memory` or `commitment` is stored in the same commit, its number replaces {id} there.

    `settled` is what became of one, `aside` are the lines that are to be kept nowhere, and `receipt` is what the person
    is told of it with the reply.

    `told` are the memories that the text tells: when one is forgotten, the log that holds this goes with it, as with
    the `lines` of a transcript, the `digests` of talks and the `commitments` (their numbers). `quiet` ends the turn and
    every talk of its chat: nobody is in conversation any more until somebody calls. `forget` is carried out in place of
    a text: its receipt is said at once, and the turn begins anew on a log without it. `remind` is set in the same
    commit, its number replaces {id}, and the `unremind` reminders end in it; with both that one is changed. `parts` are
    sent after the words of the reply.
    """

    text: str
    memory: NewMemory | None = None
    told: tuple[int, ...] = ()
    quiet: bool = False
    forget: UnlearnRequest | None = None
    lines: tuple[int, ...] = ()
    digests: tuple[int, ...] = ()
    commitments: tuple[int, ...] = ()
    commitment: NewCommitment | None = None
    settled: SettledCommitment | None = None
    receipt: str = ""
    remind: NewReminder | None = None
    unremind: tuple[int, ...] = ()
    aside: tuple[int, ...] = ()
    parts: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The answer to one call of the tool `name`, and how many tokens its text has.

    `key` names the call within its turn: models may use one call id twice. What is told is strengthened at most once in
    `rest_ms`. What the answer forgets is no part of its commit: it has its own, which ends the turn.
    """

    key: str
    call_id: str
    answer: ToolAnswer
    tokens: int
    name: str = ""
    rest_ms: int = DAY_MS
    merging: MergeRule = no_merge


class ToolRefused(Exception):
    """The call cannot be carried out: `key` names the text the model gets, `problem` what was wrong."""

    def __init__(self, key: str, problem: str = "") -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` gets the model's arguments as JSON text and raises ToolRefused when they do not fit.

    One that only `reads` may run beside others; what changes something runs alone, after what was asked before it. It
    may take so many `seconds`.
    """

    spec: ToolSpec
    run: Callable[[ToolContext, str], Awaitable[ToolAnswer]]
    reads: bool = False
    seconds: float = TOOL_S


class ToolArguments(BaseModel):
    """What a tool takes. The class names its `tool`, whose JSON schema follows from its fields."""

    model_config = ConfigDict(extra="forbid", strict=True)
    tool: ClassVar[str] = ""

    def __init_subclass__(cls, *, tool: str = "") -> None:
        cls.tool = tool

    @classmethod
    def schema_told(cls, about: Mapping[str, str]) -> dict[str, object]:
        """The schema as short as models need it: kinds and choices, without limits; `about` tells of a field by name.

        Fields of SkipJsonSchema are taken, and not told of.
        """
        found = _full_schema(cls)
        properties = {name: _property(field, about.get(name, "")) for name, field in found["properties"].items()}
        required = {"required": found["required"]} if "required" in found else {}
        return {"type": "object", "properties": properties, **required}


@cache
def _full_schema(arguments: type[ToolArguments]) -> Mapping[str, Any]:
    """All that pydantic says of the arguments; making it anew would be half of a start's time."""
    return arguments.model_json_schema()


def _property(field: Mapping[str, Any], about: str) -> dict[str, object]:
    """A field as one kind; what may be a number or a text is asked for as a text."""
    kinds = [kind for kind in field.get("anyOf", [field]) if kind["type"] != "null"]
    choices = [choice for kind in kinds for choice in kind.get("enum", ()) if choice]
    types = [kind["type"] for kind in kinds]
    shown = {"enum": choices} if choices else {"type": "string" if "string" in types else types[0]}
    return shown | ({"description": about} if about else {})


Arguments = TypeVar("Arguments", bound=ToolArguments)


def read_arguments(shape: type[Arguments], arguments: str) -> Arguments:
    """A model's arguments, JSON text, as a value; ToolRefused says what is wrong first, without repeating them."""
    try:
        return shape.model_validate_json(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = f"{'.'.join(str(part) for part in first['loc']) or 'arguments'}: {first['msg']}"
        raise ToolRefused("tool_bad_arguments", problem) from error


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that a server offers, cleaned: a tool, a resource to read, a prompt to fill in.

    `address` is what the server knows it by, `parameters` the JSON schema of its arguments, `reads` whether it says
    that it changes nothing. `digest` names all that the server said of it, also what is not told.
    """

    server: str
    name: str
    kind: OfferKind
    address: str
    about: str
    parameters: str
    reads: bool
    digest: str

    @property
    def full_name(self) -> str:
        """The name by which a model calls it."""
        return f"{self.server}__{self.name}"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call came to: text as the server wrote it, and pictures; `wrong`: the server says that it failed."""

    text: str
    wrong: bool = False
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerState:
    """Where a configured server stands; `problem` says why it could not be reached when that was last tried."""

    name: str
    standing: ServerStanding
    offers: int
    calls_today: int
    day_calls: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ServerReview:
    """What an owner is shown of a server: what was approved and what it offers now, which `code` approves."""

    name: str
    before: tuple[Offer, ...]
    after: tuple[Offer, ...]
    code: str
    problem: str = ""


class OutsideServers(Protocol):
    """The configured servers, for commands."""

    async def states(self) -> tuple[ServerState, ...]:
        """Where each of them stands; none is started for it."""
        ...

    async def review(self, name: str) -> ServerReview | None:
        """What that server offers now, asked of it anew; None where none has that name."""
        ...

    async def approve(self, name: str, code: str) -> bool:
        """Take what was shown with that code as approved; False when it offers something else by now."""
        ...

    async def revoke(self, name: str) -> bool:
        """Approve nothing of that server any more; False where nothing was."""
        ...
