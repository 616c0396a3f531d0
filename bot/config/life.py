"""What becomes of memories in the course of time: the keys of [memory.life]."""

from pydantic import Field

from bot.config.section import Section


class LifeRules(Section):
    """How memories grow stronger and weaker, and how many there may be. What somebody asked to keep always stays."""

    interval_hours: int = Field(
        default=24,
        ge=1,
        le=8_760,
        description="A memory is strengthened at most once in this time, and loses at most one step in it, in hours.",
    )
    archive_days: int = Field(
        default=90,
        ge=1,
        le=3_650,
        description="How long archived memories, and what was merged or replaced, can be brought back, in days.",
    )
    max_emotion: int = Field(default=50, ge=1, le=100_000, description="Most emotions of one person.")
    max_knowledge: int = Field(default=250, ge=1, le=100_000, description="Most facts of one person.")
    max_event: int = Field(default=50, ge=1, le=100_000, description="Most events of one person.")
    max_experience: int = Field(
        default=50, ge=1, le=100_000, description="Most experiences that nuan saved with one person, or in one group."
    )
    max_total: int = Field(
        default=350, ge=1, le=100_000, description="Most of these four together, besides what lasts."
    )
    max_lasting: int = Field(
        default=300,
        ge=1,
        le=100_000,
        description="Most of what lasts of one person: who they are, health, home, family.",
    )
