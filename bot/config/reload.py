"""When a running nuan reads its files anew."""

from pydantic import Field

from bot.config.section import Section


class ReloadRules(Section):
    """Taking changed files while nuan runs; SIGHUP and `.ai reload` do it, too."""

    watch_seconds: float = Field(
        default=2.0,
        ge=0,
        le=3_600,
        description="How often configuration, persona, prompts and notes are looked at, in seconds; 0 never looks.",
    )
