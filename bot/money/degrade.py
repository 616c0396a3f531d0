"""What nuan does without as a limit comes nearer: the large model, then tools and memories, then the answer. Pure."""

from typing import Literal

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
