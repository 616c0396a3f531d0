"""What may be spent."""

from pydantic import Field

from bot.config.section import Section


class Budget(Section):
    """What may be spent; a limit that is reached stops model calls; those of a day or month end with it."""

    currency: str = Field(
        default="USD", pattern="^[A-Z]{3}$", description="Three-letter currency of all prices and limits."
    )
    usd_rate: float | None = Field(
        default=None,
        gt=0,
        description="What a US dollar is worth in this currency, for the public table's prices; unless it is USD.",
    )
    small_at: float = Field(
        default=0.8, ge=0, le=1, description="Used part of any limit from which the model of [small] answers, 0 to 1."
    )
    light_at: float = Field(
        default=0.9,
        ge=0,
        le=1,
        description="Used part of any limit from which new logs begin without tools and memories, 0 to 1.",
    )
    notify: bool = Field(
        default=True, description="Whether who meets a limit is told so, once a day; off means silence."
    )
    day_money: float | None = Field(default=None, ge=0, description="Money per local day; none means no limit.")
    month_money: float | None = Field(default=None, ge=0, description="Money per calendar month; none means no limit.")
    day_tokens: int | None = Field(
        default=2_000_000, ge=0, le=10**15, description="Tokens per local day; none means no limit."
    )
    month_tokens: int | None = Field(
        default=None, ge=0, le=10**15, description="Tokens per calendar month; none means no limit."
    )
    total_money: float | None = Field(default=None, ge=0, description="Money for ever; none means no limit.")
    total_tokens: int | None = Field(default=None, ge=0, le=10**15, description="Tokens for ever; none means no limit.")
    turn_tokens: int | None = Field(
        default=60_000,
        ge=0,
        le=10**15,
        description="Tokens after which one turn gets no more tools, in all its calls; none means no limit.",
    )
    chat_day_money: float | None = Field(
        default=None, ge=0, description="Money per chat and local day; none means no limit."
    )
    chat_day_tokens: int | None = Field(
        default=None, ge=0, le=10**15, description="Tokens per chat and local day; none means no limit."
    )
    person_day_money: float | None = Field(
        default=None, ge=0, description="Money per person who is answered and local day; none means no limit."
    )
    person_day_tokens: int | None = Field(
        default=None,
        ge=0,
        le=10**15,
        description="Tokens per person who is answered and local day; none means no limit.",
    )
    chat_month_money: float | None = Field(
        default=None, ge=0, description="Money per chat and calendar month; none means no limit."
    )
    chat_month_tokens: int | None = Field(
        default=None, ge=0, le=10**15, description="Tokens per chat and calendar month; none means no limit."
    )
    person_month_money: float | None = Field(
        default=None, ge=0, description="Money per person who is answered and calendar month; none means no limit."
    )
    person_month_tokens: int | None = Field(
        default=None,
        ge=0,
        le=10**15,
        description="Tokens per person who is answered and calendar month; none means no limit.",
    )
