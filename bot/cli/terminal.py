"""How commands speak and end: results, one line for every error, exit codes, questions, progress, private files."""

import contextlib
import gc
import json
import logging
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.core.errors import ConfigError, NuanError
from bot.core.files import write_file
from bot.ops.log_files import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from bot.cli.installation import Installation

T = TypeVar("T")

TellProgress = Callable[[int, int], None]
"""How much is left, and how much there is in all."""

YES_WORDS = ("y", "yes", "是", "好", "对", "對")

M_ARENA_MAX = -8
"""Of malloc.h of glibc: how many heaps there are for all threads (mallopt(3))."""

MOST_BYTES = 256_000_000
"""Of a file that is read."""


class ExitCode(IntEnum):
    """An exit code, and in `meaning` what a script may conclude from it."""

    DONE = 0
    FAILED = 1
    WRONG = 2
    DEFECT = 70
    """EX_SOFTWARE of sysexits.h."""
    INTERRUPTED = 130
    """128 and SIGINT, as every shell tells it."""

    @property
    def meaning(self) -> str:
        """One cell of a table."""
        return MEANINGS[self]


MEANINGS = {
    ExitCode.DONE: "done; `nuan run` and `nuan web` were stopped by a signal",
    ExitCode.FAILED: (
        "failed or not wanted, and nothing half done: data folder, backup, person, chat, model, platform, "
        "another nuan, a finding of `nuan doctor`"
    ),
    ExitCode.WRONG: "the command line or the configuration is wrong, each problem in a line, and nothing was changed",
    ExitCode.DEFECT: "a defect of nuan; the line says where",
    ExitCode.INTERRUPTED: "Ctrl-C during a command that does not end well by it",
}


def read_installation(config: Path | None, data: Path) -> "Installation":
    """The installation of a command: its settings, checked, and its folder."""
    from bot.cli.installation import ConfigSource  # the configuration loads only where it is read

    return guard(ConfigSource(config, data, os.environ).read)


def run_guarded(work: Coroutine[object, object, T], *, loads: bool = False) -> T:
    """Run a command's work on a loop of its own. One that still `loads` says itself when that is done."""
    if not loads:
        resume_collector()
    import asyncio

    return guard(lambda: asyncio.run(work))


def resume_collector() -> None:
    """What is loaded by now is never looked through for garbage, from here on everything else is.

    A look through all that an installation loads held every thread up for 30 to 120 ms (measured during recalls), the
    looks of a start took .2 s and that of the end .3 s.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def use_one_heap() -> None:
    """Threads that begin from now on share the heap of the main one: each with its own kept what it had freed."""
    if sys.platform == "linux":
        import ctypes  # only what stays has threads

        with contextlib.suppress(AttributeError):  # a C library that has but one
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def guard(work: Callable[[], T]) -> T:
    """Turn every expected error into clear lines on standard error and an exit code."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on there is something to end well
    try:
        return work()
    except ConfigError as error:
        for problem in error.problems:
            print_error(problem)
        raise SystemExit(ExitCode.WRONG) from None
    except NuanError as error:
        print_error(str(error))
        raise SystemExit(ExitCode.FAILED) from None
    except OSError as error:
        print_error(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
        raise SystemExit(ExitCode.FAILED) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitCode.INTERRUPTED) from None


def system_language(env: Mapping[str, str]) -> str:
    """The script that this environment asks for; English where it says none of ours."""
    locale = (env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "").lower()
    chinese = "zh-Hant" if re.match("zh[_-](tw|hk|mo|hant)", locale) else "zh-Hans"
    return chinese if locale.startswith("zh") else "en"


def print_error(text: str) -> None:
    """One line on standard error, whatever is in it."""
    print(f"nuan: {one_line(text)}", file=sys.stderr)


def install_error_hooks() -> None:
    """From now on an error that nobody can catch is one line without its text: in a thread, in a destructor, in a
    library that writes before or after the log is open. The text may quote a key or what people wrote.
    """
    threading.excepthook = lambda args: print_error(describe_defect(args.exc_value or args.exc_type()))
    sys.unraisablehook = lambda args: print_error(describe_defect(args.exc_value or args.exc_type()))
    logging.lastResort = _LastResort(logging.WARNING)


def describe_defect(error: BaseException) -> str:
    """What is said of an error that nobody expected: its kind and its places in our code."""
    ours = Path(__file__).resolve().parents[2]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ours)]
    where = " < ".join(f"{Path(frame.filename).relative_to(ours)}:{frame.lineno}" for frame in reversed(frames[-6:]))
    return f"this is a defect of nuan: {type(error).__name__} at {where or 'an unknown place'}; please report it"


class _LastResort(logging.Handler):
    """Where nothing else takes a library's warning: who warns, and of what kind of error."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        print_error(describe_defect(error) if error is not None else f"{record.levelname.lower()} of {record.name}")


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """SIGTERM ends what is inside as the end of input does: nothing is lost."""
    import asyncio

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


def json_document(value: object) -> str:
    """The one form of JSON: readable, in UTF-8, strict (no NaN)."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def print_result(text: str | bytes) -> None:
    """Print what was asked for, bytes as they are; one clear line and an exit code when that cannot be done.

    Who stops reading has had enough: that is no error.
    """
    guard(lambda: _write(text))


def _write(text: str | bytes) -> None:
    if sys.stdout is None:
        return
    try:
        if isinstance(text, bytes):
            sys.stdout.buffer.write(text)
            sys.stdout.flush()
        else:
            print(text, flush=True)
    except BrokenPipeError:
        _drop_the_rest()
    except OSError:
        _drop_the_rest()
        raise


def _drop_the_rest() -> None:
    """What is buffered would fail again when the program ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator["Bars"]:
    """Bars on standard error while something long is done; none where that is no terminal, or when `quiet`."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    quiet = quiet or sys.stderr is None or not sys.stderr.isatty()
    with Bars(console=Console(file=sys.stderr), transient=True, disable=quiet) as shown:
        yield shown


@contextmanager
def progress_bar(title: str, *, quiet: bool) -> Iterator[TellProgress]:
    """One bar for what is counted down; what follows then, like a check of what was written, tells no share."""
    with progress_bars(quiet=quiet) as shown:
        task = shown.add_task(title, total=None)

        def tell(left: int, of: int) -> None:
            if left:
                shown.update(task, total=of, completed=of - left)
            elif shown.tasks[0].visible:
                shown.update(task, visible=False)
                shown.add_task(f"{title}: nearly done", total=None)

        yield tell


def confirmation(*, to_stderr: bool) -> Callable[[str], bool]:
    """Asks on standard output, or, `to_stderr`, on standard error where the other is for a JSON document alone.

    Yes only for a yes that somebody typed; NuanError when nobody can.
    """

    def ask(question: str) -> bool:
        if sys.stdin is None or not sys.stdin.isatty():
            raise NuanError("nobody is there to answer: nothing was changed; give --yes")
        print(f"{question} [y/N] ", end="", file=sys.stderr if to_stderr else sys.stdout, flush=True)
        try:
            return input().strip().lower() in YES_WORDS
        except EOFError:
            raise NuanError("nothing was changed") from None

    return ask


def write_private(path: Path, content: bytes | Iterable[str], *, force: bool) -> None:
    """Write a file of mode 0600 that appears whole; NuanError when there is one and `force` is not given."""
    if not path.name:
        raise NuanError(f"{path} is no name of a file: give another")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pieces = content if isinstance(content, bytes) else (piece.encode("utf-8", "replace") for piece in content)
    try:
        write_file(path, pieces, force=force)
    except FileExistsError:
        raise _taken(path) from None


def refuse_existing(path: Path) -> None:
    """NuanError when something is there."""
    if path.exists():
        raise _taken(path)


def _taken(path: Path) -> NuanError:
    return NuanError(f"{path} is there already: give another name, or --force to replace it")


def read_text_file(path: Path) -> str:
    """A file in UTF-8; NuanError, naming it, when it is none or longer than MOST_BYTES."""
    if not path.is_file():
        raise NuanError(f"{path} is no file")
    if path.stat().st_size > MOST_BYTES:
        raise NuanError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB: divide it")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NuanError(f"{path} is not in UTF-8 (byte {error.start})") from None
