"""What servers outside of nuan offer (MCP), as values: tools, where a server stands, what an owner is asked about it."""

from dataclasses import dataclass
from typing import Literal, Protocol

OfferKind = Literal["tool", "resource", "prompt"]

ServerStanding = Literal["approved", "new", "changed"]
"""What an owner approved; what nobody has approved yet; what offers something else than was approved."""

GrantState = Literal["given", "asked", "refused"]
"""What a person said to the question whether a tool may change something: yes, nothing yet, no."""


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
    """What a call came to: text as the server wrote it; `wrong`: the server says that it failed."""

    text: str
    wrong: bool = False


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
