"""nuan 暖: a companion chat bot that wakes up warm."""

__version__ = "0.1.0"
