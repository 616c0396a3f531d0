"""What nuan does without as a limit comes nearer: the large model, then tools and memories, then the answer. Pure."""

import math
from collections.abc import Callable
from typing import Literal

from bot.errors import OverBudget

Step = Literal["full", "small", "light", "over"]
"""As always; the smaller model; new logs on the light bootstrap as well; one polite line, then silence."""


STEPS: tuple[Step, ...] = ("full", "small", "light", "over")


def later(one: Step, other: Step) -> Step:
    """Of two steps the one that does without more."""
    return max(one, other, key=STEPS.index)


def cheaper(step: Step, *, has_small: bool) -> Step | None:
    """What may still be tried where a call at that step does not fit into a limit; None: nothing."""
    if step == "full" and has_small:
        return "small"
    return "light" if step in ("full", "small") else None


def step_of(share: float, small_at: float, light_at: float, *, has_small: bool) -> Step:
    """The step that belongs to a limit of which `share` is used; without a smaller model its step is left out."""
    if share >= 1.0:
        return "over"
    if share >= light_at:
        return "light"
    return "small" if share >= small_at and has_small else "full"


def shortage(error: OverBudget, text: Callable[..., str]) -> str:
    """The limit, and where it is not used up what is used, what calls under way hold and what one more would take."""
    limit = text(f"limit_{error.limit}")
    if error.used >= 1:
        return limit
    parts = {"used": error.used, "held": error.held}
    shown = {name: f"{math.floor(part * 100)}%" for name, part in parts.items()}
    return text("limit_short", limit=limit, needed=f"{math.ceil(error.needed * 100)}%", **shown)
