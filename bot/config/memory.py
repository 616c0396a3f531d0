"""What nuan remembers, and for how long: the keys of [memory]."""

from pydantic import Field

from bot.config.section import Section
from bot.types.memory import Ranking


class MemoryLimits(Section):
    """What nuan remembers."""

    undo_days: int = Field(
        default=7, ge=0, le=3_650, description="How long something forgotten can be taken back, in days."
    )
    confirm_seconds: int = Field(
        default=300,
        ge=10,
        le=86_400,
        description="How long an answer to a question about memories is waited for, in "
        "seconds: which of several to forget, what to remember.",
    )
    rewrite: bool = Field(
        default=False,
        description="Whether a small model call turns what people ask to keep into a clean statement; their own words "
        "are kept beside it.",
    )
    max_results: int = Field(default=6, ge=1, le=20, description="Memories that one recall brings back, 1 to 20.")
    ranking: Ranking = Field(
        default="keyword",
        description="How a recall orders them: keyword (shared words), v2 (words, age and how often it was told) or "
        "hybrid (these and likeness).",
    )
