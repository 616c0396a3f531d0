"""The keys for other agents that use this memory: [mcp]."""

from pydantic import Field

from bot.config.section import Section


class AgentRules(Section):
    """Other agents that use this memory: `nuan mcp`."""

    remember_per_day: int = Field(
        default=50, ge=0, le=10_000, description="Most memories that other agents may add for a person in 24 hours."
    )
    forget_per_day: int = Field(
        default=20,
        ge=0,
        le=10_000,
        description="Other agents forget nothing more for a person of whom so many memories were forgotten within "
        "24 hours.",
    )
