"""Every error that crosses a room's border.

NuanError
├── ConfigError       the configuration has problems (all of them, with dotted paths)
├── StoreError        the database cannot be used; says what to do
│   └── HeldError     another nuan answers from this data folder
├── ModelError        a model call gave nothing usable
└── OverBudget        a reservation would pass a limit
"""

from typing import Literal

ModelFault = Literal["unreachable", "refused", "busy", "timeout", "invalid", "cut", "filtered", "overflow"]


class NuanError(Exception):
    """The root of all errors of our own."""


class ConfigError(NuanError):
    """The configuration cannot be used; `problems` holds one line each, beginning with the dotted path."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class StoreError(NuanError):
    """The database cannot be used; the text says why and what to do."""


class HeldError(StoreError):
    """Another nuan that answers holds this data folder."""


class ModelError(NuanError):
    """A model call gave nothing usable; `detail` is for the log, never for the person.

    `said` are the server's own words where they may quote what people wrote: for the log only with `log.text`.
    """

    def __init__(self, fault: ModelFault, detail: str, said: str = "") -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail
        self.said = said


class OverBudget(NuanError):
    """A reservation would pass a limit; `limit` names it (day_money, month_money, day_tokens, month_tokens)."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit
