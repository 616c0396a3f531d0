"""What a check of an installation found."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]

MARKS: dict[State, str] = {"ok": "✓", "warn": "!", "fail": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `about` is its dotted path or name, `text` what was seen or what to do.

    With `warn` it works as it is, and still something should be done.
    """

    good: bool
    about: str
    text: str
    warn: bool = False

    @property
    def state(self) -> State:
        """How it is."""
        return "fail" if not self.good else "warn" if self.warn else "ok"

    @property
    def line(self) -> str:
        """As it is printed."""
        return f"{MARKS[self.state]} {self.about}: {self.text}"
