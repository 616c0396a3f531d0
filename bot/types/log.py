"""What every room may say to the operator's log. Where it goes is decided in bot/ops/logs.py."""

from typing import Protocol


class Log(Protocol):
    """One line per event: a short name in snake_case and fields that hold ids and numbers, never people's text."""

    def debug(self, event: str, **fields: object) -> None:
        """Something that only a closer look needs."""
        ...

    def info(self, event: str, **fields: object) -> None:
        """Something that belongs to normal work."""
        ...

    def warning(self, event: str, **fields: object) -> None:
        """Something that nuan could help itself with."""
        ...

    def error(self, event: str, **fields: object) -> None:
        """Something an operator should look at; `exc_info=error` adds where it came from."""
        ...
