"""The options that commands share, and commands whose options are the fields of a dataclass. It runs nothing."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from bot.cli import completing

T = TypeVar("T")


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
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ChatOption = Annotated[
    str,
    typer.Option(
        "--chat", help="Chat by number or title; the private one unless given.", autocompletion=completing.chats
    ),
]
OwnChatOption = Annotated[
    str,
    typer.Option(
        "--chat",
        help="Chat by number or title; the person's own private one unless given.",
        autocompletion=completing.chats,
    ),
]
PersonOption = Annotated[
    str,
    typer.Option(
        "--person",
        "--player",
        help="Person by number or name; the owner unless given.",
        autocompletion=completing.people,
    ),
]
WhoseOption = Annotated[
    str,
    typer.Option(
        "--person",
        help="Only of this person: number, name that only one has, or platform:id.",
        autocompletion=completing.people,
    ),
]
WhoArgument = Annotated[
    str,
    typer.Argument(help="Person: number, name that only one has, or platform:id.", autocompletion=completing.people),
]
DATA = Path("data")


@dataclass(frozen=True, slots=True)
class CtxOptions:
    """The options of `nuan ctx`, in the order its help lists them."""

    query: Annotated[str, typer.Option("--query", help="What the person would say.")] = ""
    compare: Annotated[
        bool, typer.Option("--compare", help="Show what each mode of recall brings, side by side; needs --query.")
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Show search terms, scores, thresholds, what was left out; needs --query.")
    ] = False
    limit: Annotated[
        int | None,
        typer.Option("--memory-limit", min=1, max=20, help="Show so many memories; memory.max unless given."),
    ] = None
    as_json: JsonOption = False
    raw: Annotated[bool, typer.Option("--raw", help="Print the very body that would be sent, nothing else.")] = False
    chat: ChatOption = ""
    person: PersonOption = ""
    config: ConfigOption = None
    data: DataOption = DATA


def takes(options: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """A command with these fields as its options: more than a function should have parameters."""

    def wrap(work: Callable[[T], None]) -> Callable[..., None]:
        def command(**given: object) -> None:
            work(options(**given))

        command.__doc__ = work.__doc__
        command.__name__ = work.__name__
        command.__signature__ = inspect.signature(options)  # type: ignore[attr-defined]
        return command

    return wrap
