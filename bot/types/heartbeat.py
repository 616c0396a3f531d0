"""Writing first: what is known of a chat that is silent. It decides nothing."""

from dataclasses import dataclass

HEARTBEAT = "heartbeat"
"""Why a turn is taken though nobody wrote; also what its event, its calls and their limit are named."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A DM in which nuan may write first, as far as access goes; all times in ms.

    `last_at` is when either side last said something there, `tried_at` when nuan was last asked to write first (0:
    never). `said` are the times of her last first messages; `ignored` of them came after the person's last message, at
    `heard_at`, as did the `skips`, where she was asked and had nothing to say. `matters` are moments from then on that
    something is dated to, `yearly` such of any year whose day comes back.
    """

    last_at: int
    tried_at: int
    said: tuple[int, ...]
    ignored: int
    person_id: int
    script: str = ""
    timezone: str = ""
    heard_at: int = 0
    skips: int = 0
    matters: tuple[int, ...] = ()
    yearly: tuple[int, ...] = ()
