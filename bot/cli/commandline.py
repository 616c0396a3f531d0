"""How command lines are declared: shared options, shell completion, examples in help, wrong words told in one line."""

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bot.cli.terminal import ExitCode, describe_defect, install_error_hooks, print_error
from bot.core.errors import NuanError

if TYPE_CHECKING:
    from bot.store.store import Store

Suggestion = tuple[str, str]
"""A value, and what is said of it where the shell shows that."""

BARE_WORD = re.compile(r"[\w.@+-]{1,40}")
"""A word that every shell takes without quotes."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

DATA_FOLDER = Path("data")

EXAMPLES_HEAD = "Examples:"

BEGIN, TALK, LOOK, KEEP = PANELS = "Begin", "Talk", "Look", "Keep"
"""The parts of the list of commands, in their order."""

COMPLETION_SECONDS = 1.5
"""How long somebody who pressed Tab waits for a server."""

WORDS = {
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
}
"""Our words for pydantic's error types; the others are told in pydantic's."""


def complete_chats(ctx: typer.Context, incomplete: str) -> list[Suggestion]:
    """The chats of the data folder that is meant, by title, or by number where the title is no bare word."""

    async def ask(store: "Store") -> list[tuple[int, str, str]]:
        return [(each.id, each.title, f"{each.platform} {each.kind}") for each in await store.people.chats()]

    return _from_store(ctx, incomplete, ask)


def complete_people(ctx: typer.Context, incomplete: str) -> list[Suggestion]:
    """The people of that folder by number, as anybody may take a name; whoever was seen last first."""

    async def ask(store: "Store") -> list[tuple[int, str, str]]:
        people = await store.inspector.people()
        return [(each.person.id, "", " ".join((each.person.name, *each.accounts))) for each in people]

    return _from_store(ctx, incomplete, ask)


def complete_backups(ctx: typer.Context) -> list[Suggestion]:
    """The names in the folder of backups inside that folder, the newest first."""
    from bot.store.backups import backups_in, folder_of

    try:
        kept = backups_in(folder_of(_data_folder(ctx), ""))
    except (NuanError, OSError):
        return []
    return [(each.path.name, f"{each.size / 1_000_000:.1f} MB") for each in reversed(kept)]


def _data_folder(ctx: typer.Context) -> Path:
    return Path(str(ctx.params.get("data") or "data"))


def _from_store(
    ctx: typer.Context, incomplete: str, ask: Callable[["Store"], Awaitable[list[tuple[int, str, str]]]]
) -> list[Suggestion]:
    """Each by its name while only one has it, else by number, as all are for who begins with a digit; nothing where
    there is no database that can be read, or none that answers at once."""
    import asyncio

    from bot.cli.lookup import store_url
    from bot.store.store import open_store

    url = store_url(ctx.params.get("config"), os.environ)

    async def work() -> list[tuple[int, str, str]]:
        async with await open_store(_data_folder(ctx), read_only=True, url=url) as store:
            return await ask(store)

    if url:
        # Whoever waits for a server, in whatever thread, ends with the process: the shell waits for it.
        signal.signal(signal.SIGALRM, lambda *_: os._exit(ExitCode.DONE))
        signal.setitimer(signal.ITIMER_REAL, COMPLETION_SECONDS)
    try:
        every = asyncio.run(work())
    except (NuanError, OSError):
        return []
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    often = Counter(name for _, name, _ in every)

    def named(name: str) -> bool:
        bare = bool(BARE_WORD.fullmatch(name)) and not name.isdecimal() and often[name] == 1
        return bare and not incomplete.isdecimal()

    return [(name if named(name) else str(number), f"#{number} {name} {more}".strip()) for number, name, more in every]


def path_of(text: str) -> Path:
    """A path; an empty one, as an unset variable of a script leaves it, is not taken for this folder."""
    if not str(text).strip():
        raise typer.BadParameter("must not be empty")
    return Path(text)


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Configuration file; nuan.toml in this folder unless given.",
        parser=path_of,
        metavar="<path>",
    ),
]
DataOption = Annotated[
    Path, typer.Option("--data", help="Folder of database and logs.", parser=path_of, metavar="<path>")
]
ChatOption = Annotated[
    str,
    typer.Option(
        "--chat", help="Chat: number or platform:id; the private one unless given.", autocompletion=complete_chats
    ),
]
OwnChatOption = Annotated[
    str,
    typer.Option(
        "--chat",
        help="Chat: number or platform:id; the person's own private one unless given.",
        autocompletion=complete_chats,
    ),
]
PersonOption = Annotated[
    str,
    typer.Option(
        "--person",
        "--player",
        help="Person: number or platform:id; the owner unless given.",
        autocompletion=complete_people,
    ),
]
OnlyPersonOption = Annotated[
    str,
    typer.Option(
        "--person",
        help="Only of this person: number or platform:id.",
        autocompletion=complete_people,
    ),
]
PersonArgument = Annotated[
    str,
    typer.Argument(help="Person: number or platform:id.", autocompletion=complete_people),
]


def examples(*lines: str) -> str:
    """The end of a command's help: command lines to copy, each on a line of its own."""
    return "\n".join((EXAMPLES_HEAD, *(f"  {line}" for line in lines)))


class CommandGroup(TyperGroup):
    """The commands; a wrong option, argument or command is one line on standard error, and nothing was begun."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Part by part."""
        names = super().list_commands(ctx)
        panels = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(names, key=lambda name: PANELS.index(panels[name]) if panels[name] in PANELS else len(PANELS))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one and exit; in a standalone_mode of False as typer does."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        words = sys.argv[1:] if args is None else args
        if any("\ud800" <= char <= "\udfff" for word in words for char in word):
            print_error("the command line holds bytes that are no text here: nothing was done; is LANG one of UTF-8?")
            sys.exit(ExitCode.WRONG)
        try:
            code = run()
        except typer.TyperException as error:
            if line := usage_error(error):
                print_error(line)
            sys.exit(error.exit_code)
        except typer.Abort:
            print_error("nobody is there to answer: nothing was changed")
            sys.exit(ExitCode.FAILED)
        sys.exit(code or ExitCode.DONE)


def usage_error(error: typer.TyperException) -> str:
    """What is wrong with a command line, with the nearest that there is, and where to read on; "" when help said it."""
    text = error.format_message().strip()
    if not text:
        return ""
    if error.__cause__ is not None:
        text = _in_our_words(text, error.__cause__)
    for theirs, ours in ((". Did you mean", "; did you mean"), (" (Possible options: ", "; did you mean ")):
        if theirs in text:
            text = f"{text.replace(theirs, ours).rstrip('?)')}?"
    text = " ".join(text.split()).rstrip(".")
    context = getattr(error, "ctx", None)
    more = f"`{context.command_path} --help` says more" if context is not None else ""
    return text[:1].lower() + text[1:] + (f"{'' if text.endswith('?') else ';'} {more}" if more else "")


def _in_our_words(text: str, cause: BaseException) -> str:
    """The text with what pydantic says of a value as nuan says it."""
    from pydantic import ValidationError

    if not isinstance(cause, ValidationError):
        return text
    first = cause.errors(include_url=False, include_context=False, include_input=False)[0]
    ours = first["msg"].removeprefix("Value error, ").replace("Input should", "must", 1)
    return text.replace(first["msg"], WORDS.get(first["type"], ours))


def run_program(work: Callable[[], object]) -> None:
    """The program, from its entry to its end: even a defect is one line, with the places in our code but no value."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")
    install_error_hooks()
    try:
        work()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except OSError as error:
        print_error(error.strerror or type(error).__name__)  # standard output cannot be written to
        sys.exit(ExitCode.FAILED)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - nobody else would tell of it in one line, not of a cancelled task
        print_error(describe_defect(error))
        sys.exit(ExitCode.DEFECT)
