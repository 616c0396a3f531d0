"""What an operator can configure, and how it is read. The environment comes as a parameter, never from the process."""

from bot.config.example import example_toml
from bot.config.kinds import is_loopback
from bot.config.load import load
from bot.config.settings import Settings

__all__ = ["Settings", "example_toml", "is_loopback", "load"]
