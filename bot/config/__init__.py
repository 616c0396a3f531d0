"""What an operator can configure, and how it is read. The environment is a parameter, never the process's own."""

from bot.config.base import is_loopback
from bot.config.keys import example_toml
from bot.config.settings import Settings
from bot.config.sources import load

__all__ = ["Settings", "example_toml", "is_loopback", "load"]
