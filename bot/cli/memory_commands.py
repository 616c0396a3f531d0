"""The `nuan memory` commands with their options and help. Their work is in memories.py."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.commandline import (
    DATA_FOLDER,
    CommandGroup,
    ConfigOption,
    DataOption,
    JsonOption,
    OnlyPersonOption,
    examples,
)
from bot.cli.terminal import confirmation, read_installation, run_guarded
from bot.cli.terminal import print_result as print_out
from bot.core.people import ExportFormat, MemoryKind

if TYPE_CHECKING:
    from bot.core.inspection import RepairPart

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="What nuan remembers: show it, take it out, take it in, mend it.",
    epilog=examples("nuan memory list --person telegram:123", "nuan memory export backup", "nuan memory import --help"),
)


@app.command(
    "export",
    epilog=examples("nuan memory export backup --person telegram:123", "nuan memory export all.jsonl --force --json"),
)
def export(
    path: Annotated[
        Path | None,
        typer.Argument(help="Folder, or a file that ends in .md or .jsonl; nuan-memories-DAY if not given."),
    ] = None,
    person: OnlyPersonOption = "",
    form: Annotated[
        ExportFormat, typer.Option("--format", help="md (to read), jsonl (to import, for programs) or both.")
    ] = "both",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Write what is remembered to files.

    JSON Lines hold everything, with owners as platform ids, notes too; Markdown is for reading only. What was forgotten
    is left out. Works beside a running nuan. Files are for you alone (0600) and never replaced without --force.
    """
    from bot.cli.memories import export_memories

    place = read_installation(config, data)
    print_out(run_guarded(export_memories(place, path, person, form, force=force, as_json=as_json)))


@app.command(
    "import",
    epilog=examples(
        "nuan memory import backup --dry-run",
        "nuan memory import memories.jsonl --yes --json",
        "nuan memory import MEMORY.md --owner telegram:123",
    ),
)
def import_(
    path: Annotated[
        Path, typer.Argument(help="Folder or .jsonl that export wrote, or Markdown of another agent (MEMORY.md).")
    ],
    owner: Annotated[str, typer.Option("--owner", help="Whose foreign Markdown it is: platform:id.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Take it in without asking, for scripts.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out lines that cannot be read.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Take memories in: show what would change, then ask.

    All or nothing, in one commit. What was forgotten here stays forgotten. People are known by platform ids, never by
    names. A pipe needs --yes. Stop nuan first; --dry-run works beside it.
    """
    from bot.cli.memories import ImportRequest, import_memories

    taking = ImportRequest(path, owner, yes, dry_run, skip_bad)
    place, ask = read_installation(config, data), confirmation(to_stderr=as_json)
    run_guarded(import_memories(place, taking, ask, as_json=as_json))


@app.command(
    "list", epilog=examples("nuan memory list --person telegram:123 --kind identity", "nuan memory list --json")
)
def list_(
    person: OnlyPersonOption = "",
    kind: Annotated[MemoryKind | None, typer.Option("--kind", help="Only of this kind.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """List what is remembered, oldest first."""
    from bot.cli.memories import list_memories

    print_out(run_guarded(list_memories(read_installation(config, data), person, kind, as_json=as_json)))


@app.command(epilog=examples("nuan memory show 12", "nuan memory show 12 --json"))
def show(
    number: Annotated[str, typer.Argument(help="Its number, like 12 or '#12'.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show one memory with the lines it was made from."""
    from bot.cli.memories import show_memory

    print_out(run_guarded(show_memory(read_installation(config, data), number, as_json=as_json)))


@app.command(
    epilog=examples(
        "nuan memory backfill",
        "nuan memory backfill --text-index --apply",
        "nuan memory backfill --vectors --anew --apply",
    ),
)
def backfill(
    namespaces: Annotated[bool, typer.Option("--namespaces", help="Only owners, chats and visibility.")] = False,
    vectors: Annotated[bool, typer.Option("--vectors", help="Only the vectors of hybrid recall.")] = False,
    text_index: Annotated[bool, typer.Option("--text-index", help="Only the full-text index.")] = False,
    sections: Annotated[bool, typer.Option("--sections", help="Only the sections of memories.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="All vectors anew, not only those that are lacking.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Put it right, after a backup beside the database.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Find memories that do not stand as they should, and mend them with --apply.

    Everything unless parts are named. Without --apply nothing is changed, beside a running nuan, too. With it nuan must
    be stopped; a run that was cut off is ended by the next, and `nuan memory rollback` takes it back.
    """
    from bot.cli.memories import backfill as mend

    wanted: dict[RepairPart, bool] = {
        "namespaces": namespaces,
        "vectors": vectors,
        "sections": sections,
        "text-index": text_index,
    }
    parts = frozenset(part for part, chosen in wanted.items() if chosen or not any(wanted.values()))
    place = read_installation(config, data)
    print_out(run_guarded(mend(place, parts, apply=apply, as_json=as_json, anew=anew)))


@app.command(epilog=examples("nuan memory rollback", "nuan memory rollback data/nuan.before-9.db --json"))
def rollback(
    backup: Annotated[Path | None, typer.Argument(help="A backup; the newest of a backfill unless given.")] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Put a backup back in the database's place.

    The present database is kept beside it. What was forgotten since stays forgotten. Stop nuan first.
    """
    from bot.cli.memories import rollback as put_back

    print_out(run_guarded(put_back(read_installation(config, data), backup, as_json=as_json)))
