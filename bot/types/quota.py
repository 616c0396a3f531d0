"""How much one person may ask to have kept."""

from dataclasses import dataclass
from typing import Literal

Excess = Literal["", "often", "full"]
"""Which limit a new memory would pass: that of a minute, or of all; "" none."""


@dataclass(frozen=True, slots=True)
class Quota:
    """New memories by command within 60 s, and all that were asked for; None is no limit."""

    minute: int | None
    most: int | None
