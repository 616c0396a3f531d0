"""The keys for reminders: how many, when nuan keeps quiet, and what a time means that nobody named."""

from pydantic import Field

from bot.config.section import Section


class RemindRules(Section):
    """What people ask to be reminded of."""

    most_open: int = Field(default=50, ge=1, le=10_000, description="Open reminders that one person may have.")
    ask_seconds: int = Field(
        default=600,
        ge=1,
        le=86_400,
        description="How long nuan waits for the answer when it asked back for a time, in seconds.",
    )
    late_minutes: int = Field(
        default=5, ge=1, le=10_080, description="A reminder that is said later than this, in minutes, says so."
    )
    hour: int = Field(
        default=9,
        ge=0,
        le=23,
        description="Local hour of the person at which nuan reminds of a day without a time, or where they leave it, "
        "0 to 23.",
    )
    quiet_from: int = Field(
        default=22,
        ge=0,
        le=23,
        description="Local hour at which the quiet hours begin, 0 to 23: a reminder without a time of day (in three "
        "days) waits for their end; one with a time is said then.",
    )
    quiet_until: int = Field(
        default=8,
        ge=0,
        le=23,
        description="Local hour at which they end, 0 to 23; the same as remind.quiet_from means no quiet hours.",
    )
    commitments: bool = Field(
        default=True,
        description="Whether nuan reminds people of what they promised, or have still to do, on its day.",
    )
    commitment_hour: int = Field(
        default=9,
        ge=0,
        le=23,
        description="Local hour of the person at which nuan reminds of a promise that names a day and no time, 0 to "
        "23; in the quiet hours it waits for their end.",
    )
