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


def last_words() -> None:
    """From now on an error that nobody can catch is one line without its text: in a thread, in a destructor, in a
    library that writes before or after the log is open. The text may quote a key or what people wrote.
    """
    threading.excepthook = lambda args: complain(defect(args.exc_value or args.exc_type()))
    sys.unraisablehook = lambda args: complain(defect(args.exc_value or args.exc_type()))
    logging.lastResort = _Bare(logging.WARNING)


def defect(error: BaseException) -> str:
    """What is said of an error that nobody expected: its kind and its places in our code."""
    ours = Path(__file__).resolve().parents[2]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ours)]
    where = " < ".join(f"{Path(frame.filename).relative_to(ours)}:{frame.lineno}" for frame in reversed(frames[-6:]))
    return f"this is a defect of nuan: {type(error).__name__} at {where or 'an unknown place'}; please report it"


class _Bare(logging.Handler):
    """Where nothing else takes a library's warning: who warns, and of what kind of error."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        complain(defect(error) if error is not None else f"{record.levelname.lower()} of {record.name}")


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
