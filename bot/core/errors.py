"""Every error that crosses a package's border.

NuanError
├── ConfigError       the configuration has problems (all of them, with dotted paths)
├── StoreError        the database cannot be used; says what to do
│   ├── FolderLockedError     another nuan answers from this data folder
│   │   └── DatabaseHeldError another nuan answers from this database of a server
│   ├── LeaseLostError        another nuan took over the database
│   ├── ChatLeaseLostError    another process works in this chat now
│   ├── StatementError    the database is well, but cannot do this one thing
│   ├── LogForgottenError  what a turn would send was forgotten meanwhile
│   └── JoinedError       what a turn would answer is answered later, with what came meanwhile
├── ModelError        a model call gave nothing usable
├── SendError         a platform did not take a message; says what became of it
├── PlatformError     a platform cannot be talked to (token, second poller, intents); says what to do
├── OutsideError      a server outside of nuan (MCP) gave nothing usable
├── OverBudget        a reservation would pass a limit
└── OverLimit         somebody, or all together, were answered as often as they may be
"""

import math
from typing import Literal

SendFate = Literal["wait", "later", "unknown", "never", "shut", "gone", "muted"]
ModelFault = Literal["unreachable", "refused", "busy", "timeout", "invalid", "cut", "filtered", "overflow", "late"]

OutsideFault = Literal["absent", "away", "timeout", "lost", "flood", "unreadable", "refused", "changed"]

LONGEST_WAIT_MS = 86_400_000
"""The longest that a platform is believed when it names a wait: a senseless number must not silence a chat for good."""


class NuanError(Exception):
    """The root of all errors of our own."""


class ConfigError(NuanError):
    """The configuration cannot be used; `problems` holds one line each, beginning with the dotted path."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class StoreError(NuanError):
    """The database cannot be used; the text says why and what to do."""


class StatementError(StoreError):
    """The database is well, but cannot store or read what this one step is about; nothing was stored."""


class LogForgottenError(StoreError):
    """What a running turn was about to send again was forgotten meanwhile; nothing was stored."""


class JoinedError(StoreError):
    """What a turn would answer got a later deadline while it was composed: a line that belongs to it came meanwhile."""


class FolderLockedError(StoreError):
    """Another nuan that answers holds this data folder."""


class DatabaseHeldError(FolderLockedError):
    """Another nuan has the lease of this database; it may be free later."""


class DatabaseSharedError(DatabaseHeldError):
    """Processes with roles share this database and one without would be alone there, or the other way round."""


class LeaseLostError(StoreError):
    """Another nuan took over the database, as this one had not been heard of for too long; nothing was stored."""


class ChatLeaseLostError(StoreError):
    """What a process wrote in a chat as the one that works there, which it was no longer; nothing was stored."""


class ModelError(NuanError):
    """A model call gave nothing usable; `detail` is for the log, never for the person.

    `said` are the server's own words where they may quote what people wrote: for the log only with `log.text`.
    `limited`: only the rate limit was reached, the server is well; `wait_s` is how long it asks to wait. `final`:
    the same question would end the same way with any model. A `late` one was not asked: no slot came free in time.
    """

    def __init__(
        self,
        fault: ModelFault,
        detail: str,
        said: str = "",
        *,
        limited: bool = False,
        wait_s: float | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail
        self.said = said
        self.limited = limited
        self.wait_s = wait_s
        self.final = final or fault == "filtered"

    @property
    def billed(self) -> bool:
        """Whether the server may have worked, so that the reservation is charged; the others never began."""
        return self.fault not in ("unreachable", "refused", "busy", "overflow", "late")


def bounded_wait_ms(seconds: float) -> int:
    """A wait that a platform named, as ms; 0 for a time that is over, a day for any longer one. ValueError for NaN."""
    return math.ceil(min(max(seconds, 0.0), LONGEST_WAIT_MS / 1000) * 1000)


class SendError(NuanError):
    """A platform did not take a message. `fate` says what may be done with it, `wait_ms` when, where it is known.

    wait: its turn has not come, by the platform's limits; later: it certainly was not sent, send it again;
    unknown: it may have been sent; never: it can never be sent; shut: the one person it is for
    cannot be written to in private; gone: nothing can be sent to this chat any more
    (blocked, removed, deleted); muted: nothing can be sent to it for now, though it can be read.
    """

    def __init__(self, fate: SendFate, detail: str, wait_ms: int | None = None) -> None:
        super().__init__(f"{fate}: {detail}")
        self.fate = fate
        self.detail = detail
        self.wait_ms = wait_ms


class PlatformError(NuanError):
    """A platform cannot be talked to; the text says why and what to do. With `final` trying again is of no use."""

    def __init__(self, text: str, *, final: bool) -> None:
        super().__init__(text)
        self.final = final


class OutsideError(NuanError):
    """A server outside of nuan gave nothing usable; `detail` is for the log, `said` only with `log.text`.

    absent: it cannot be started or reached; away: it could not a moment ago; timeout; lost: the connection broke under
    the call; flood: it sent too much; unreadable: its answer is none; refused: it answered with an error; changed: it offers
    that otherwise now.
    """

    def __init__(self, fault: OutsideFault, detail: str = "", said: str = "") -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail
        self.said = said


class OverBudget(NuanError):
    """A reservation would pass a limit; `limit` names it: day, month, total, chat, person or heartbeat, then its unit.

    The unit is _money or _tokens. Parts of the limit: `used` by calls that ended, `held` by those under way, `needed`
    by the one that is refused; `most` is the limit itself.
    """

    def __init__(
        self, limit: str, used: float = 1.0, held: float = 0.0, needed: float = 0.0, most: float = 0.0
    ) -> None:
        super().__init__(limit)
        self.limit = limit
        self.used = used
        self.held = held
        self.needed = needed
        self.most = most


class OverLimit(NuanError):
    """An answer would pass a limit: cooldown, person_minute, person_day, global_minute or global_day.

    In `wait_ms` there is room again.
    """

    def __init__(self, limit: str, wait_ms: int) -> None:
        super().__init__(limit)
        self.limit = limit
        self.wait_ms = wait_ms
