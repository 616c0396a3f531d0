"""What a chat asked to be told of what happened in it. It decides nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextWish:
    """A chat's own numbers; None leaves one to the configuration.

    `recent` is the newest lines that open a session, `window_seconds` how old they may be, `recent_max` how many
    events an opening looks at and a digest reads.
    """

    recent: int | None = None
    window_seconds: int | None = None
    recent_max: int | None = None
