"""`nuan logs`: the log for people to read, from every file that is kept, and on while it is written."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from rich.console import Console
from rich.text import Text
from tzlocal import get_localzone

from bot.core.clock import SystemClock
from bot.core.errors import NuanError
from bot.core.ports import Clock, pause
from bot.ops.log_files import LogFilter, LogReader, Record, log_files, one_line

FOLLOW_MS = 300
"""How often a log that is followed is looked at."""

NUMBER_DIGITS = 15
"""Of a chat's number; what is longer can only be a name."""

STYLES = {"debug": "dim", "info": "", "warning": "yellow", "error": "bold red"}
FIRST = ("timestamp", "level", "event")
SHORT = {
    "gen_ai.usage.input_tokens": "in",
    "gen_ai.usage.cache_read.input_tokens": "cached",
    "gen_ai.usage.output_tokens": "out",
    "gen_ai.request.model": "model",
    "gen_ai.provider.name": "provider",
    "gen_ai.operation.name": "op",
}
"""How fields with long names are shown; --json shows them as they are."""


@dataclass(frozen=True, slots=True)
class LogView:
    """What is shown of the log: which lines, in which form, and whether it goes on."""

    wanted: LogFilter
    follow: bool = False
    as_json: bool = False


def log_view(
    data: Path, chat: str, turn: int | None, config: Path | None = None, *, follow: bool, as_json: bool
) -> LogView:
    """The view of a chat by its number, title, or who alone talks there; StoreError when there is none or several."""
    number = int(chat) if chat.isdecimal() and len(chat) <= NUMBER_DIGITS else None
    if chat and number is None:
        from bot.cli.lookup import find_chat, given_url  # the store loads only for a name

        number = asyncio.run(find_chat(data, chat, given_url(config, os.environ)))
    return LogView(LogFilter(number, turn), follow, as_json)


async def show_logs(data: Path, view: LogView, clock: Clock | None = None) -> None:
    """Print the log, and what comes while it is followed, until Ctrl-C; NuanError when there is none."""
    folder = data / "logs"
    if not view.follow and not log_files(folder):
        raise NuanError(f"there is no log in {folder} yet: start nuan once, or give --data DIR")
    screen, reader = _Screen(view), LogReader(folder)
    try:
        screen.show(reader.all())
        while view.follow:
            await pause(clock or SystemClock(), FOLLOW_MS)
            screen.show(reader.more())
        screen.show(reader.finish())
        if not screen.shown and view.wanted != LogFilter():
            raise NuanError("no line of the log is of that chat or turn")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read it has had enough
    except asyncio.CancelledError:
        screen.show(reader.finish())
        raise
    finally:
        if reader.damaged:
            lines = "1 line is" if reader.damaged == 1 else f"{reader.damaged} lines are"
            print(f"nuan: {lines} damaged and left out", file=sys.stderr)


class _Screen:
    def __init__(self, view: LogView) -> None:
        self._view = view
        self._console = Console(soft_wrap=True, highlight=False)
        self._tz = get_localzone()
        self.shown = False

    def show(self, records: Iterable[Record]) -> None:
        for record in records:
            if not self._view.wanted.takes(record):
                continue
            self.shown = True
            if self._view.as_json:
                print(one_line(json.dumps(record, ensure_ascii=False, separators=(",", ":"))))
            else:
                with self._console.capture() as line:  # rich would end the program when a pipe is closed
                    self._console.print(pretty(record, self._tz))
                print(line.get(), end="")
        if sys.stdout is not None:
            sys.stdout.flush()


def pretty(record: Record, tz: tzinfo) -> Text:
    """One line: local time, level, event, then its fields; nothing in it can move the cursor."""
    level = str(record.get("level", ""))
    line = Text()
    line.append(local_time(record.get("timestamp"), tz), "dim")
    line.append(f" {one_line(level):<7} ", STYLES.get(level, ""))
    line.append(one_line(str(record["event"])), "bold")
    for name, value in record.items():
        if name not in FIRST and value not in ("", None):
            line.append(f" {one_line(SHORT.get(name, name))}", "cyan")
            line.append(f"={_value(value)}")
    return line


def _value(value: object) -> str:
    if isinstance(value, str):
        return one_line(value if value and not set(value) & set(' ="') else json.dumps(value, ensure_ascii=False))
    return one_line(json.dumps(value, ensure_ascii=False))


def local_time(stamp: object, tz: tzinfo) -> str:
    """A time stamp on the wall clock here; as it stands when it is none."""
    try:
        at = datetime.fromisoformat(str(stamp)).astimezone(tz)
        return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d}"
    except (ValueError, OverflowError, OSError):
        return one_line(str(stamp))
