"""What an operator's instruments show: one model call as it was paid, and how long a platform has been silent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Part = Literal["platform", "model", "store"]


@dataclass(frozen=True, slots=True)
class Paid:
    """One call of the ledger; `ms` is how long it took from its reservation, None while it runs."""

    id: int
    cause: str
    model: str
    state: str
    ms: int | None
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Ailment:
    """Something that does not work: of which part, which one of it, and why; no person's words."""

    part: Part
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What stands just now. Ages are in ms, None where a platform is not connected."""

    ailments: tuple[Ailment, ...] = ()
    silent: Mapping[str, int | None] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)
    deliveries: Mapping[str, int] = field(default_factory=dict)
