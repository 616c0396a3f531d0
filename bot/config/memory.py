"""What nuan remembers, and for how long: the keys of [memory]."""

from typing import Literal

from pydantic import Field

from bot.config.embedding import EmbeddingServer
from bot.config.life import LifeRules
from bot.config.section import Section
from bot.types.memory import Ranking

Inject = Literal["off", "tool", "auto", "both"]
"""How what is remembered reaches a prompt besides its opening: not at all, when the model asks, by itself, or both."""


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
    flush: bool = Field(
        default=False,
        description="Whether the model may write what is worth keeping into the day's note before a log closes because "
        "it is full; one call of a model more for each such log.",
    )
    flush_at: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="From which part of session.log_tokens on a log gets that call, above 0 to 1.",
    )
    flush_least: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="What people said must be at least this part of session.log_tokens to be worth it, 0 to 1.",
    )
    ranking: Ranking = Field(
        default="keyword",
        description="How a recall orders them: keyword (shared words), v2 (words, age and how often it was told) or "
        "hybrid (these and likeness).",
    )
    embedding: EmbeddingServer = EmbeddingServer()
    inject: Inject = Field(
        default="both",
        description="How memories reach a prompt besides its opening: off, tool (the model asks), auto (what a message "
        "calls for is appended, at most max_results, each once in a log) or both.",
    )
    inject_tokens: int = Field(
        default=200, ge=40, le=2_000, description="Most that is appended by itself to one message, in tokens."
    )
    life: LifeRules = LifeRules()
