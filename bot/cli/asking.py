"""A question to whoever sits at the terminal, before something cannot be taken back."""

import sys
from collections.abc import Callable

from bot.errors import NuanError

YES = ("y", "yes", "是", "好")


def asker(*, aside: bool, advice: str = "--yes") -> Callable[[str], bool]:
    """Asks on standard output, or `aside` on standard error where the other is for a JSON document alone.

    Yes only for a yes that somebody typed; NuanError when nobody can.
    """

    def ask(question: str) -> bool:
        if sys.stdin is None or not sys.stdin.isatty():
            raise NuanError(f"nobody is there to answer: nothing was changed; give {advice}")
        print(f"{question} [y/N] ", end="", file=sys.stderr if aside else sys.stdout, flush=True)
        try:
            return input().strip().lower() in YES
        except EOFError:
            raise NuanError("nothing was changed") from None

    return ask
