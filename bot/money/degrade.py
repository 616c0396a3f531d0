"""What nuan does without as a limit comes nearer: the large model, then tools and memories, then the answer. Pure."""

from typing import Literal

Step = Literal["full", "small", "light", "over"]
"""As always; the smaller model; new logs on the light bootstrap as well; one polite line, then silence."""


def step_of(share: float, small_at: float, light_at: float, *, has_small: bool) -> Step:
    """The step that belongs to a limit of which `share` is used; without a smaller model its step is left out."""
    if share >= 1.0:
        return "over"
    if share >= light_at:
        return "light"
    return "small" if share >= small_at and has_small else "full"
