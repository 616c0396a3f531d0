"""What became of a reload."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The keys and files that changed, those of them that only a restart takes, and why nothing was taken, if so."""

    changed: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


Reload = Callable[[], Awaitable[Reloaded]]
"""Reads configuration and texts anew, as an owner asked for it; never raises for what is wrong with them."""
