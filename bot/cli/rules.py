"""The shipped rules about model servers."""

from functools import cache

from bot.config.capabilities import CapabilityRule, read_rules
from bot.resources import resource_dir


@cache
def shipped_rules() -> tuple[CapabilityRule, ...]:
    """The rules of data/providers.toml; ConfigError when the file is broken."""
    return read_rules(resource_dir("data/providers.toml").read_text("utf-8"))
