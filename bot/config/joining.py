"""The keys for entering a talk: how long nuan waits, what counts for it, and how often at most."""

from pydantic import Field

from bot.config.section import Section


class JoinRules(Section):
    """When nuan enters a group's talk by itself, where speak.mode or `.ai mode` says join.

    Its score is the weighed sum of relevance, an open question and rest, less pace, each from 0 to 1.
    """

    lull_seconds: int = Field(
        default=20, ge=1, le=3_600, description="Silence after which nuan looks at what was said, in seconds."
    )
    question_seconds: int = Field(
        default=60, ge=1, le=3_600, description="After so long a question without an answer counts in full, in seconds."
    )
    stale_seconds: int = Field(
        default=300, ge=1, le=86_400, description="Older talk is let go, in seconds since its last line."
    )
    dialogue_seconds: int = Field(
        default=90,
        ge=60,
        le=3_600,
        description="How long two people who reply to each other are left alone after their last lines, in seconds.",
    )
    rest_seconds: int = Field(
        default=600,
        ge=1,
        le=86_400,
        description="After so long without a word of nuan rest counts in full, in seconds.",
    )
    fast_per_minute: int = Field(
        default=10, ge=1, le=1_000, description="So many lines within 60 seconds are the fastest pace."
    )
    weight_relevance: float = Field(
        default=0.6, ge=0, le=1, description="Weight of what the last lines share with memories and persona, 0 to 1."
    )
    weight_persona: float = Field(
        default=0.5, ge=0, le=1, description="What a word of the persona counts beside one of a memory, 0 to 1."
    )
    weight_question: float = Field(default=0.3, ge=0, le=1, description="Weight of a question nobody answered, 0 to 1.")
    weight_rest: float = Field(default=0.2, ge=0, le=1, description="Weight of the time since nuan spoke, 0 to 1.")
    weight_pace: float = Field(
        default=0.2, ge=0, le=1, description="Weight of the chat's pace, 0 to 1; it counts against entering."
    )
    threshold: float = Field(
        default=0.5, gt=0, le=2, description="Score from which nuan asks the model, which may still decline."
    )
    backoff_seconds: int = Field(
        default=15,
        ge=1,
        le=86_400,
        description="Pause after nobody answered an entry, or the model declined, in seconds; it doubles each time.",
    )
    backoff_most_seconds: int = Field(default=300, ge=1, le=86_400, description="Longest such pause, in seconds.")
    per_hour: int = Field(
        default=4,
        ge=1,
        le=60,
        description="Most entries into one chat within 60 minutes, with those that were declined.",
    )
    quiet_from: int = Field(
        default=22, ge=0, le=23, description="Local hour at which nuan enters no more, 0 to 23 (bot.timezone)."
    )
    quiet_until: int = Field(
        default=9,
        ge=0,
        le=23,
        description="Local hour at which that ends, 0 to 23; the same as speak.join.quiet_from means never quiet.",
    )
    day_tokens: int = Field(
        default=100_000,
        ge=1,
        le=1_000_000_000,
        description="Limit of all these calls per day, in tokens; the limits of budget.* hold as well.",
    )
