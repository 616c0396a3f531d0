"""How often nuan answers."""

from pydantic import Field

from bot.config.section import Section

MOST = 1_000_000
DAY_S = 86_400


class TalkLimits(Section):
    """How often people are answered; owners only count for all together. `.ai limit` changes it while nuan runs."""

    cooldown_seconds: int | None = Field(
        default=None,
        ge=1,
        le=DAY_S,
        description="Pause between two answers to one person, in seconds; none means none.",
    )
    person_minute: int | None = Field(
        default=None, ge=1, le=MOST, description="Answers to one person within 60 seconds; none means no limit."
    )
    person_day: int | None = Field(
        default=None, ge=1, le=MOST, description="Answers to one person per local day; none means no limit."
    )
    global_minute: int | None = Field(
        default=None, ge=1, le=MOST, description="Answers to all together within 60 seconds; none means no limit."
    )
    global_day: int | None = Field(
        default=None, ge=1, le=MOST, description="Answers to all together per local day; none means no limit."
    )
    notify: bool = Field(
        default=True, description="Whether who meets a limit is told so, once a minute or a day; off means silence."
    )
