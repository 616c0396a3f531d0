"""What commands print: text for people, one JSON document for programs, bars for who waits. It knows no command.

With --json standard output holds one JSON document and nothing else; what went wrong is told by lines on standard
error and by the exit code. `nuan logs --json` alone prints JSON Lines, for it may not end.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bot.cli.guarding import guard

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Tell = Callable[[int, int], None]
"""How much is left, and how much there is in all."""


def document(value: object) -> str:
    """The one form of JSON: readable, in UTF-8, strict (no NaN)."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def show(text: str | bytes) -> None:
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
def bars(*, quiet: bool) -> Iterator["Bars"]:
    """Bars on standard error while something long is done; none where that is no terminal, or when `quiet`."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    quiet = quiet or sys.stderr is None or not sys.stderr.isatty()
    with Bars(console=Console(file=sys.stderr), transient=True, disable=quiet) as shown:
        yield shown


@contextmanager
def bar(title: str, *, quiet: bool) -> Iterator[Tell]:
    """One bar for what is counted down."""
    with bars(quiet=quiet) as shown:
        task = shown.add_task(title, total=None)
        yield lambda left, of: shown.update(task, total=of, completed=of - left)
