"""An event on its way into the store, and what became of it. It stores nothing itself."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.types.event import Event, Incoming
from bot.types.people import Chat
from bot.types.speaking import Decision, Situation


def _nothing(_: str) -> bool:
    return False


def _no_receipt(key: str, script: str) -> str:
    return key


@dataclass(frozen=True, slots=True)
class Halted:
    """What a command to stop ended: turns under way, and `dropped` lines that waited for an answer.

    `others`: what is going on in the chat belongs to somebody else, and goes on.
    """

    turns: tuple[int, ...]
    dropped: int
    others: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an incoming event; `event` is None for a copy of one that was there before.

    `armed`: there is a deadline now that is nearer than the one there was.
    """

    event: Event | None
    chat: Chat
    decision: Decision | None
    halted: Halted | None = None
    armed: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """What intake knows of an event before it is stored: the situation (window and switch still unknown).

    `script` gives the script of the text from the script that its sender last wrote in ("" when unknown). For a command
    to stop: `receipt` is a sentence by its key in a script, and `spared` tells the waiting texts that are done though
    nothing is answered any more.
    """

    incoming: Incoming
    situation: Situation
    script: Callable[[str], str]
    hidden: str = ""
    receipt: Callable[[str, str], str] = _no_receipt
    spared: Callable[[str], bool] = _nothing
