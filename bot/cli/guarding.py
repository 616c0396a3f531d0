"""How a command ends: every error is one clear line and an exit code. It knows no command."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.errors import ConfigError, NuanError

if TYPE_CHECKING:
    from bot.cli.house import Place

T = TypeVar("T")


def find_place(config: Path | None, data: Path) -> "Place":
    """The house of a command: its settings, checked, and its folder."""
    from bot.cli.source import Source  # the configuration loads only where it is read

    return guard(Source(config, data, os.environ).read)


def run_guarded(work: Coroutine[object, object, T]) -> T:
    """Run a command's work on a loop of its own."""
    return guard(lambda: asyncio.run(work))


def guard(work: Callable[[], T]) -> T:
    """Turn every expected error into one clear line and an exit code: 1 failed, 2 configuration."""
    try:
        return work()
    except ConfigError as error:
        for problem in error.problems:
            print(f"nuan: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    except (NuanError, OSError) as error:
        print(f"nuan: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def unexpected(program: Callable[[], object]) -> None:
    """Run the program; an error that nobody expected is one line, too: its kind and its place, and exit code 1.

    The text of such an error may quote a key or what people wrote, so it is never shown, wherever the error came up:
    in a thread, where nobody could catch it, or in a library that writes before or after the log is open.
    """
    threading.excepthook = lambda args: _tell(args.exc_value or args.exc_type())
    sys.unraisablehook = lambda args: _tell(args.exc_value or args.exc_type())
    logging.lastResort = _Bare(logging.WARNING)
    try:
        program()
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, its text stays inside
        _tell(error)
        raise SystemExit(1) from None


class _Bare(logging.Handler):
    """Where nothing else takes a library's warning: who warns, and of what kind of error."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            _tell(error)
        else:
            print(f"nuan: {record.levelname.lower()} of {record.name}", file=sys.stderr)


def _tell(error: BaseException) -> None:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    print(f"nuan: unexpected {type(error).__name__} ({where}); please report it", file=sys.stderr)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM ends what is inside as the end of input does: nothing is lost."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        if task is not None:
            task.cancel()

    loop.add_signal_handler(signal.SIGTERM, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
