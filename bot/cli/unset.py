"""What `nuan unset` is called and takes. Its work is in said.py."""

from typing import Annotated

import typer

from bot.cli.guarding import run_guarded
from bot.cli.options import DATA, DataOption, JsonOption
from bot.cli.printing import show


def unset(
    keys: Annotated[
        list[str] | None, typer.Argument(help="Keys to take back, like budget.day_money; none only shows.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Take back all of them.")] = False,
    as_json: JsonOption = False,
    data: DataOption = DATA,
) -> None:
    """Show or take back what owners set in chats, while no nuan runs."""
    from bot.cli.said import unset as take_back

    show(run_guarded(take_back(data, keys or (), everything=everything, as_json=as_json)))
