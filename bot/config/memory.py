"""What nuan remembers, and how it comes back: the keys of [memory]."""

from typing import Literal

from pydantic import Field, field_validator

from bot.config.embedding import EmbeddingServer
from bot.config.life import LifeRules
from bot.config.section import Section
from bot.types.recall import Mode, Profile

ALIASES: dict[str, Mode] = {"legacy": "keyword", "multi": "v2", "multisignal": "v2", "rrf": "hybrid"}
"""Other names of the modes (seed Recall)."""

_PROFILE = "none: as the profile has it"

Inject = Literal["off", "tool", "auto", "both"]
"""How what is remembered reaches a prompt besides its opening: not at all, when the model asks, by itself, or both."""


class MemoryLimits(Section):
    """What nuan remembers."""

    undo_days: int = Field(
        default=7, ge=0, le=3_650, description="How long something forgotten can be taken back, in days."
    )
    max: int = Field(default=6, ge=1, le=20, description="Findings that one recall brings back, 1 to 20.")
    mode: Mode = Field(
        default="v2",
        description="How a recall orders what it finds: keyword (shared words), v2 (words, age and importance) or "
        "hybrid (these and likeness).",
    )
    profile: Profile = Field(
        default="default",
        description="The numbers of v2: default (age orders, but hides nothing) or seed (the reference's, to compare).",
    )
    min_score: float | None = Field(
        default=None, ge=0, le=1, description=f"What scores less is not brought, 0 to 1; {_PROFILE} (0, seed .30)."
    )
    min_relevance: float | None = Field(
        default=None, ge=0, le=1, description=f"What fits less is not brought, 0 to 1; {_PROFILE} (.06, seed .06)."
    )
    half_life_days: float | None = Field(
        default=None, gt=0, le=36_500, description=f"Age at which newness is one half, in days; {_PROFILE} (14)."
    )
    weight_relevance: float | None = Field(
        default=None, ge=0, le=10, description=f"Weight of how well it fits; {_PROFILE} (.6)."
    )
    weight_recency: float | None = Field(
        default=None, ge=0, le=10, description=f"Weight of how new it is; {_PROFILE} (.3, seed .2)."
    )
    weight_importance: float | None = Field(
        default=None, ge=0, le=10, description=f"Weight of how often it was told; {_PROFILE} (.2)."
    )
    importance_count_saturation: float | None = Field(
        default=None, gt=0, le=1_000_000, description=f"Times told at which importance is full; {_PROFILE} (20)."
    )
    saturation: float | None = Field(
        default=None, gt=0, le=10_000, description=f"Words' figure at which relevance is .63; {_PROFILE} (6, seed 18)."
    )
    confirm_seconds: int = Field(
        default=300,
        ge=10,
        le=86_400,
        description="How long an answer to a question about memories is waited for, in "
        "seconds: which of several to forget, what to remember.",
    )
    keep_minute: int | None = Field(
        default=30,
        ge=1,
        le=10_000,
        description="New memories that one person may ask for within 60 seconds; none means no limit, as for owners.",
    )
    keep_most: int | None = Field(
        default=1_000,
        ge=1,
        le=1_000_000,
        description="Memories that one person may have asked for in all, after which no new one is taken; what was "
        "kept stays. None means no limit, as for owners.",
    )
    rewrite: bool = Field(
        default=False,
        description="Whether a small model call turns what people ask to keep into a clean statement; their own words "
        "are kept beside it.",
    )
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
    embedding: EmbeddingServer = EmbeddingServer()
    inject: Inject = Field(
        default="both",
        description="How memories reach a prompt besides its opening: off, tool (the model asks), auto (what a message "
        "calls for is appended, at most max, each once in a log) or both.",
    )
    inject_tokens: int = Field(
        default=200, ge=40, le=2_000, description="Most that is appended by itself to one message, in tokens."
    )
    raw_dialogues: int = Field(
        default=60,
        ge=1,
        le=10_000,
        description="Most summaries of single talks in a chat; older ones are rolled up before their hour is over.",
    )
    commitment_days: int = Field(
        default=30,
        ge=1,
        le=3_650,
        description="After how many days a promise that is due, or has no day, and that nobody spoke of since "
        "counts as broken; and how long one that ended is kept.",
    )
    life: LifeRules = LifeRules()

    @field_validator("mode", mode="before")
    @classmethod
    def _alias(cls, value: object) -> object:
        return ALIASES.get(value, value) if isinstance(value, str) else value
