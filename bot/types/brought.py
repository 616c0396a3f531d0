"""What memory put into prompts, and what it weighed there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Brought:
    """Something that a turn was told from memory: which way it came, its number (#12), its estimated tokens, and why.

    `way` is opening, auto (a line that nobody asked for) or the tool's name. `ref` is "" where the tokens are those of
    a whole block or result.
    """

    way: str
    ref: str
    tokens: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """How many turns were told something one way, how many pieces, and their tokens; each counts once, where it
    entered a log: what goes on with that log sends it again."""

    way: str
    turns: int
    pieces: int
    tokens: int
