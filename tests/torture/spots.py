"""Who tells secrets where, and what is counted of them."""

from collections import Counter
from dataclasses import dataclass, field

KINDS = {
    "l": "line",
    "m": "memory",
    "d": "digest",
    "n": "note",
    "r": "reminder",
    "p": "promise",
    "o": "operator",
}
OWNERS = ("console", "local")
"""The owner's own chat, at the terminal."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Somebody in a chat."""

    who: str
    platform: str
    group: str

    @property
    def chat(self) -> tuple[str, str]:
        """What tells the chat from others."""
        return self.platform, self.group or f"dm {self.who}"

    @property
    def own(self) -> tuple[str, str]:
        """Their private chat on that platform."""
        return self.platform, f"dm {self.who}"


@dataclass
class Count:
    """How often each way was asked, what came at home and by which way, uncalled, and where it was not told."""

    asked: Counter[str] = field(default_factory=Counter)
    home: Counter[str] = field(default_factory=Counter)
    brought: Counter[str] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)
    foreign: list[str] = field(default_factory=list)

    @property
    def recalls(self) -> int:
        """All askings."""
        return sum(self.asked.values())

    @property
    def missing(self) -> list[str]:
        """Kinds of secrets that never came where they were told."""
        return [kind for letter, kind in KINDS.items() if letter != "o" and not self.home[kind]]

    def line(self) -> str:
        """One line to print."""
        ways = " ".join(f"{way} {times}" for way, times in sorted(self.asked.items()))
        home = " ".join(f"{kind} {times}" for kind, times in sorted(self.home.items()))
        return f"recalls {self.recalls} ({ways}), own {home}, foreign {len(self.foreign)} {self.foreign[:5]}"
