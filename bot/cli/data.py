"""What `nuan backup`, `restore`, `export`, `erase` are called and take. Their work is in copies.py and persons.py."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import completing
from bot.cli.commandline import KEEP, examples
from bot.cli.guarding import find_place, run_guarded
from bot.cli.options import DATA, ConfigOption, DataOption, JsonOption, WhoArgument, takes
from bot.cli.printing import show

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class BackupOptions:
    """The options of `nuan backup`, in the order its help lists them."""

    path: Annotated[
        Path | None, typer.Argument(help="Its file; a name with the time in the folder of backups unless given.")
    ] = None
    listed: Annotated[bool, typer.Option("--list", help="Only show the backups there are.")] = False
    as_json: JsonOption = False
    config: ConfigOption = None
    data: DataOption = DATA


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """The options of `nuan restore`, in the order its help lists them."""

    path: Annotated[
        Path,
        typer.Argument(
            help="A backup: its file, or its name in the folder of backups.", autocompletion=completing.backups
        ),
    ]
    check: Annotated[bool, typer.Option("--check", help="Only look it over, beside a running nuan, too.")] = False
    as_json: JsonOption = False
    config: ConfigOption = None
    data: DataOption = DATA


@dataclass(frozen=True, slots=True)
class TakeOptions:
    """The options of `nuan export`, in the order its help lists them."""

    person: WhoArgument
    path: Annotated[
        Path | None, typer.Argument(help="The archive; nuan-export-NUMBER-TIME.zip in this folder unless given.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False
    as_json: JsonOption = False
    config: ConfigOption = None
    data: DataOption = DATA


@dataclass(frozen=True, slots=True)
class EraseOptions:
    """The options of `nuan erase`, in the order its help lists them."""

    person: WhoArgument
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking, for scripts.")] = False
    as_json: JsonOption = False
    config: ConfigOption = None
    data: DataOption = DATA


@app.command(
    rich_help_panel=KEEP,
    epilog=examples("nuan backup", "nuan backup --list", "nuan backup --json /srv/copies/nuan-monday.db"),
)
@takes(BackupOptions)
def backup(options: BackupOptions) -> None:
    """Copy the database, beside a running nuan, too, and look the copy over.

    The file is for you alone (0600) and never replaces another. In the folder of backups (backup.folder) the newest
    backup.keep stay, for backup.days.
    """
    from bot.cli.copies import list_backups, make_backup

    place = find_place(options.config, options.data)
    if options.listed:
        show(run_guarded(list_backups(place, as_json=options.as_json)))
        return
    show(run_guarded(make_backup(place, options.path, as_json=options.as_json)))


@app.command(
    rich_help_panel=KEEP,
    epilog=examples(
        "nuan restore nuan-20260612T010000000Z.db",
        "nuan restore --check /srv/copies/nuan-monday.db",
    ),
)
@takes(RestoreOptions)
def restore(options: RestoreOptions) -> None:
    """Put a backup in the database's place.

    It is looked over first, and what was forgotten or erased since stays gone. The present database is kept beside it.
    Stop nuan first.
    """
    from bot.cli.copies import check_backup, restore_backup

    work = check_backup if options.check else restore_backup
    place = find_place(options.config, options.data)
    show(run_guarded(work(place, options.path, as_json=options.as_json)))


@app.command(rich_help_panel=KEEP, epilog=examples("nuan export telegram:123 wang.zip", "nuan export 小王 --json"))
@takes(TakeOptions)
def export(options: TakeOptions) -> None:
    """Put everything nuan keeps of a person into one archive to read.

    Markdown and JSON Lines in a zip file for you alone (0600); nothing that others said. Works beside a running nuan.
    `nuan memory export` moves memories between houses.
    """
    from bot.cli.persons import export_person

    place = find_place(options.config, options.data)
    show(run_guarded(export_person(place, options.person, options.path, force=options.force, as_json=options.as_json)))


@app.command(rich_help_panel=KEEP, epilog=examples("nuan erase telegram:123", "nuan erase 小王 --yes --json"))
@takes(EraseOptions)
def erase(options: EraseOptions) -> None:
    """Take a person out for good: memories, lines, notes, logs.

    Asks first, unless --yes. In groups their lines become empty; what was spent stays counted, for nobody. A backup
    that is restored later does not bring them back. Stop nuan first, or have them say `.ai forget me`.
    """
    from bot.cli.asking import asker
    from bot.cli.persons import erase_person

    place, ask = find_place(options.config, options.data), asker(aside=options.as_json)
    show(run_guarded(erase_person(place, options.person, ask, yes=options.yes, as_json=options.as_json)))
