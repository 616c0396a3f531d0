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

from bot.cli.exits import Exit
from bot.errors import ConfigError, NuanError
from bot.ops.redact import one_line

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
    """Turn every expected error into clear lines on standard error and an exit code."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on there is something to end well
    try:
        return work()
    except ConfigError as error:
        for problem in error.problems:
            complain(problem)
        raise SystemExit(Exit.WRONG) from None
    except NuanError as error:
        complain(str(error))
        raise SystemExit(Exit.FAILED) from None
    except OSError as error:
        complain(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        raise SystemExit(Exit.FAILED) from None
    except KeyboardInterrupt:
        raise SystemExit(Exit.INTERRUPTED) from None


def complain(text: str) -> None:
    """One line on standard error, whatever is in it."""
    print(f"nuan: {one_line(text)}", file=sys.stderr)


def hush() -> None:
    """From now on an error that nobody could catch, in a thread or when an object goes, is one line without its text.

    So is what a library warns of before or after the log is open: the text may quote a key or what people wrote.
    """
    threading.excepthook = lambda args: _tell(args.exc_value or args.exc_type())
    sys.unraisablehook = lambda args: _tell(args.exc_value or args.exc_type())
    logging.lastResort = _Bare(logging.WARNING)


class _Bare(logging.Handler):
    """Where nothing else takes a library's warning: who warns, and of what kind of error."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            _tell(error)
        else:
            complain(f"{record.levelname.lower()} of {record.name}")


def _tell(error: BaseException) -> None:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in reversed(frames))
    complain(f"unexpected {type(error).__name__} ({where}); please report it")


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
