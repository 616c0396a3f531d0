"""The keys for writing first: whether nuan does, when, how often, and what it may cost."""

from pydantic import Field

from bot.config.section import Section


class HeartbeatRules(Section):
    """When nuan writes first; only in direct messages, groups are left out for now."""

    on: bool = Field(
        default=False,
        description="Whether nuan may write first, in direct messages of people who talked with it before; in groups "
        "it does not yet. A model decides each time (HEARTBEAT.md of the persona), which costs a full call.",
    )
    silence_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        description="How long nothing must have been said in a chat, in hours; each time there was nothing to say "
        "twice as long, up to a week. A day that something is dated to is not waited past.",
    )
    per_day: int = Field(
        default=1, ge=1, le=24, description="Most first messages per chat and local day; what is skipped is none."
    )
    quiet_from: int = Field(
        default=22, ge=0, le=23, description="Local hour of the person at which the quiet hours begin, 0 to 23."
    )
    quiet_until: int = Field(
        default=9,
        ge=0,
        le=23,
        description="Local hour at which they end, 0 to 23; the same as heartbeat.quiet_from means no quiet hours.",
    )
    most_ignored: int = Field(
        default=2,
        ge=1,
        le=50,
        description="First messages without an answer after which nuan waits until the person writes.",
    )
    day_tokens: int = Field(
        default=20_000,
        ge=1,
        le=1_000_000_000,
        description="Limit of all these calls per day, in tokens; the limits of budget.* hold as well.",
    )
