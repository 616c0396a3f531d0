"""An event on its way into the store, and what became of it. It stores nothing itself."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.types.commitment import Promise
from bot.types.event import Event, Incoming
from bot.types.feedback import Signal
from bot.types.people import Chat
from bot.types.speaking import Decision, Paced, Situation, Waiting


def _nothing(_: str) -> bool:
    return False


def _at_once(decision: Decision, waiting: Waiting) -> Paced:
    return Paced(decision)


def no_promise(zone: str) -> tuple[Promise, ...]:
    """Of a message that promises nothing, in any zone."""
    return ()


def _no_receipt(key: str, script: str) -> str:
    return key


@dataclass(frozen=True, slots=True)
class Halted:
    """What a command to stop, or a message that interrupts, ended: turns under way, and `dropped` waiting lines.

    `others`: what is going on in the chat belongs to somebody else, and goes on.
    """

    turns: tuple[int, ...]
    dropped: int
    others: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an incoming event; `event` is None for a copy of one that was there before.

    `superseded` are the turns whose replies were still being said to its sender, and end with it. `armed`: there is a
    deadline now that is nearer than the one there was.
    """

    event: Event | None
    chat: Chat
    decision: Decision | None
    halted: Halted | None = None
    superseded: tuple[int, ...] = ()
    armed: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """What intake knows of an event before it is stored: the situation (window and switch still unknown).

    `script` gives what its sender usually writes in, from what that was ("" when unknown) and the lines before it, the
    newest first. For a command to stop: `receipt` is a sentence by its key in a script, and `spared` tells the waiting
    texts that are done though nothing is answered any more. `pace` sets a decision's deadline by what waits in the
    chat; `interrupts`: the message cuts a turn short that answers its sender, and both are asked `pause_ms` later, ms.
    `remarks` are what it lets on about the last reply, `promising` what its writer promises in it, given the name of
    their zone ("": none).
    """

    incoming: Incoming
    situation: Situation
    script: Callable[[str, tuple[str, ...]], str]
    hidden: str = ""
    receipt: Callable[[str, str], str] = _no_receipt
    spared: Callable[[str], bool] = _nothing
    pace: Callable[[Decision, Waiting], Paced] = _at_once
    interrupts: bool = False
    pause_ms: int = 0
    remarks: tuple[Signal, ...] = ()
    promising: Callable[[str], tuple[Promise, ...]] = no_promise
