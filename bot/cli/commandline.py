"""What makes a typer app nuan's: examples in its help, wrong words told in one line, and no traceback on a screen."""

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from bot.cli.exits import Exit
from bot.cli.guarding import complain

HEAD = "Examples:"

BEGIN, TALK, LOOK, KEEP = PANELS = "Begin", "Talk", "Look", "Keep"
"""The parts of the list of commands, in their order."""

WORDS = {
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
}
"""Our words for pydantic's error types; the others are told in pydantic's."""


def examples(*lines: str) -> str:
    """The end of a command's help: command lines to copy, each on a line of its own."""
    return "\n".join((HEAD, *(f"  {line}" for line in lines)))


def examples_of(epilog: str | None) -> tuple[str, ...]:
    """The command lines of such an end."""
    return tuple(line.strip() for line in (epilog or "").splitlines() if line.strip() and line != HEAD)


class Commands(TyperGroup):
    """The commands; a wrong option, argument or command is one line on standard error, and nothing was begun."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Part by part."""
        names = super().list_commands(ctx)
        panels = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(names, key=lambda name: PANELS.index(panels[name]) if panels[name] in PANELS else len(PANELS))

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, complete_var: str | None = None,
        standalone_mode: bool = True, windows_expand_args: bool = True, **extra: Any,
    ) -> Any:  # fmt: skip
        """Run one and exit; in a standalone_mode of False as typer does."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        words = sys.argv[1:] if args is None else args
        if any("\ud800" <= char <= "\udfff" for word in words for char in word):
            complain("the command line holds bytes that are no text here: nothing was done; is LANG one of UTF-8?")
            sys.exit(Exit.WRONG)
        try:
            code = run()
        except typer.TyperException as error:
            if line := wrong(error):
                complain(line)
            sys.exit(error.exit_code)
        except typer.Abort:
            complain("nobody is there to answer: nothing was changed")
            sys.exit(Exit.FAILED)
        sys.exit(code or Exit.DONE)


def wrong(error: typer.TyperException) -> str:
    """What is wrong with a command line, with the nearest that there is, and where to read on; "" when help said it."""
    text = error.format_message().strip()
    if not text:
        return ""
    if isinstance(error.__cause__, ValidationError):
        first = error.__cause__.errors(include_url=False, include_context=False, include_input=False)[0]
        text = text.replace(first["msg"], WORDS.get(first["type"], first["msg"].replace("Input should", "must", 1)))
    for theirs, ours in ((". Did you mean", "; did you mean"), (" (Possible options: ", "; did you mean ")):
        if theirs in text:
            text = f"{text.replace(theirs, ours).rstrip('?)')}?"
    text = " ".join(text.split()).rstrip(".")
    context = getattr(error, "ctx", None)
    more = f"`{context.command_path} --help` says more" if context is not None else ""
    return text[:1].lower() + text[1:] + (f"{'' if text.endswith('?') else ';'} {more}" if more else "")


def defended(work: Callable[[], object]) -> None:
    """The program, from its entry to its end: even a defect is one line, with the places in our code but no value."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")
    try:
        work()
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except OSError as error:
        complain(error.strerror or type(error).__name__)  # standard output cannot be written to
        sys.exit(Exit.FAILED)
    except Exception as error:  # noqa: BLE001 - nobody else would tell of it in one line
        _defect(error)


def _defect(error: Exception) -> NoReturn:
    ours = Path(__file__).resolve().parents[2]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(ours)]
    where = " < ".join(f"{Path(frame.filename).relative_to(ours)}:{frame.lineno}" for frame in reversed(frames[-6:]))
    complain(f"this is a defect of nuan: {type(error).__name__} at {where or 'an unknown place'}; please report it")
    sys.exit(Exit.DEFECT)
