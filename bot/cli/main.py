"""The `nuan` command line. Every error is one clear line and an exit code of bot/cli/exits.py."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot import __version__
from bot.cli import completing, memory
from bot.cli.commandline import BEGIN, KEEP, LOOK, TALK, Commands, defended, examples
from bot.cli.data import app as data_app
from bot.cli.exits import Exit
from bot.cli.guarding import find_place, guard, run_guarded
from bot.cli.options import (
    DATA,
    ChatOption,
    ConfigOption,
    CtxOptions,
    DataOption,
    JsonOption,
    OwnChatOption,
    PersonOption,
    takes,
)
from bot.cli.printing import document, show
from bot.cli.unset import unset
from bot.errors import NuanError

app = typer.Typer(
    name="nuan", cls=Commands, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False,
    epilog=examples("nuan init", "nuan chat", "nuan ctx --help", "nuan --install-completion"),
)  # fmt: skip
app.add_typer(memory.app, name="memory", rich_help_panel=KEEP)
app.add_typer(data_app)
app.command(
    rich_help_panel=KEEP, epilog=examples("nuan unset", "nuan unset budget.day_money", "nuan unset --all --json")
)(unset)


def _tell(wanted: bool) -> None:
    if wanted:
        show(f"nuan {__version__}")
        raise typer.Exit


@app.callback()
def options(
    shown: Annotated[bool, typer.Option("--version", callback=_tell, is_eager=True, help="Print the version.")] = False,
) -> None:
    """nuan 暖: a companion that wakes up warm. Begin with `nuan chat`."""


@app.command(rich_help_panel=TALK, epilog=examples("nuan chat", "nuan chat --group 家", "nuan chat --name Ann -v"))
def chat(
    group: Annotated[str, typer.Option("--group", help="Play a group of this name: each line is `who: text`.")] = "",
    name: Annotated[
        str, typer.Option("--name", help="How you are called until you say so; bot.owner unless given.")
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show log lines on standard error.")] = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Talk in this terminal."""
    from bot.cli.chat import chat as talk  # the terminal's libraries load only for a talk
    from bot.cli.source import Source

    if sys.stdin is None or sys.stdout is None:
        guard(_closed)
    source = Source(config, data, os.environ)
    run_guarded(talk(source, guard(source.read), group, name, verbose))


def _closed() -> None:
    raise NuanError("a talk needs an open standard input and output")


@app.command("owner-code", rich_help_panel=TALK, epilog=examples("nuan owner-code", "nuan owner-code --data /srv/nuan"))
def owner_code(data: DataOption = DATA) -> None:
    """Print a code that makes whoever sends it to the bot its owner."""
    from bot.cli.init import owner_code as made

    show(guard(lambda: made(data, os.environ)))


@app.command(rich_help_panel=TALK, epilog=examples("nuan run", "nuan run --data /srv/nuan --config /etc/nuan.toml"))
def run(config: ConfigOption = None, data: DataOption = DATA) -> None:
    """Talk on every platform that has a token."""
    # Loading takes a second or more in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the files are about to be read
    from bot.cli.run import run as serve  # the platforms' libraries load only for this
    from bot.cli.source import Source

    source = Source(config, data, os.environ)
    run_guarded(serve(source, guard(source.read)))


@app.command(rich_help_panel=TALK, epilog=examples("nuan web", "nuan web --port 8400"))
def web(
    host: Annotated[str, typer.Option("--host", help="Address to listen at; web.host unless given.")] = "",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="Port, 0 for a free one; web.port unless given.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Serve the web page, with a chat box, on this machine."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.source import Source
    from bot.cli.web import web as serve  # the server's libraries load only for this

    given = {"NUAN_WEB__HOST": host, "NUAN_WEB__PORT": "" if port is None else str(port)}
    source = Source(config, data, {**os.environ, **{name: value for name, value in given.items() if value}})
    run_guarded(serve(source, guard(source.read)))


@app.command(
    rich_help_panel=LOOK,
    epilog=examples(
        "nuan ctx", "nuan ctx --query 猫 --compare --debug", "nuan ctx --json", "nuan ctx --query 猫 --raw"
    ),
)
@takes(CtxOptions)
def ctx(options: CtxOptions) -> None:
    """Show what the next call would send, its cache and memories."""
    from bot.cli.look import Look, View, show_ctx

    look = guard(
        lambda: Look(options.query, options.raw, options.as_json, options.compare, options.debug, options.limit)
    )
    view = View(options.chat, options.person)
    show(run_guarded(show_ctx(find_place(options.config, options.data), view, look)))


@app.command(rich_help_panel=LOOK, epilog=examples("nuan boot", "nuan boot --person 小王 --json"))
def boot(
    chat: ChatOption = "",
    person: PersonOption = "",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="narrative (to the letter) or json.",
            autocompletion=completing.one_of("narrative", "json"),
        ),
    ] = "narrative",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show the block that the next conversation would open with."""
    from bot.cli.boot import format_of, show_boot
    from bot.cli.look import View

    wanted = guard(lambda: format_of("json" if as_json else form))
    show(run_guarded(show_boot(find_place(config, data), View(chat, person), wanted)))


@app.command(rich_help_panel=TALK, epilog=examples("nuan mcp", "nuan mcp --person 小王 --chat 家"))
def mcp(
    person: PersonOption = "", chat: OwnChatOption = "", config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """Let another agent use this memory, over MCP on standard input and output.

    Reads beside a running nuan, which then carries out what the agent changes; alone it does so itself. A group's agent
    sees what that group may see.
    """
    # Loading takes a second in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.mcp import serve

    run_guarded(serve(find_place(config, data), person, chat))


@app.command(rich_help_panel=LOOK, epilog=examples("nuan usage", "nuan usage --days 30", "nuan usage --json"))
def usage(
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many local days, today included.")] = 7,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what the model calls used per day, chat and cause."""
    from bot.cli.look import show_usage

    show(run_guarded(show_usage(find_place(config, data), days, as_json=as_json)))


@app.command(
    rich_help_panel=LOOK, epilog=examples("nuan sections", "nuan sections --json", "nuan sections --export states")
)
def sections(
    as_json: JsonOption = False,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write index_state.json and MEMORY_TOPIC.md into this folder.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show which sections of memory talks stay with, and which are never hit."""
    from bot.cli.sections import show_sections

    show(run_guarded(show_sections(find_place(config, data), export, as_json=as_json)))


@app.command(rich_help_panel=BEGIN, epilog=examples("nuan init", "nuan init --config /etc/nuan.toml"))
def init(config: ConfigOption = None) -> None:
    """Write nuan.toml: look for a local model server, otherwise ask. The key goes to .env."""
    from bot.cli.init import init as write

    guard(lambda: write(config or Path("nuan.toml")))


@app.command(rich_help_panel=BEGIN, epilog=examples("nuan doctor", "nuan doctor --no-call --json"))
def doctor(
    no_call: Annotated[bool, typer.Option("--no-call", help="Leave out the one tiny call of the model.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Check configuration, model, platforms, data and machine.

    ✓ is well, ! works but wants something done, ✗ does not work; each line says what to do. The exit code is 1 when
    something is ✗. The call is paid for like every other.
    """
    from bot.cli.doctor import examine, report

    found = run_guarded(examine(find_place(config, data), call=not no_call))
    show(report(found, as_json=as_json))
    raise SystemExit(Exit.DONE if all(finding.good for finding in found) else Exit.FAILED)


@app.command(rich_help_panel=TALK, epilog=examples("nuan reload", "nuan reload --data /srv/nuan --json"))
def reload(as_json: JsonOption = False, data: DataOption = DATA) -> None:
    """Have the nuan that runs on this data folder read its configuration, persona and prompts anew.

    It says what it took and what waits for a restart; what is wrong is told line by line (exit code 2), and the running
    nuan goes on as it was.
    """
    from bot.cli.reloading import reload as ask

    text, code = run_guarded(ask(data, as_json=as_json))
    show(text)
    raise SystemExit(code)


@app.command(
    rich_help_panel=LOOK, epilog=examples("nuan logs --chat 家 --follow", "nuan logs --turn 7", "nuan logs --json")
)
def logs(
    chat: Annotated[
        str,
        typer.Option(
            "--chat", help="Only this chat: number, title, or who talks there.", autocompletion=completing.chats
        ),
    ] = "",
    turn: Annotated[int | None, typer.Option("--turn", min=1, help="Only turns of this number.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the lines as they are: JSON Lines.")] = False,
    data: DataOption = DATA,
) -> None:
    """Show the log of a nuan that runs or ran, rotated files first."""
    from bot.cli.logs import show_logs, viewed

    run_guarded(show_logs(data, guard(lambda: viewed(data, chat, turn, follow=follow, as_json=as_json))))


@app.command(rich_help_panel=BEGIN, epilog=examples("nuan version", "nuan version --json"))
def version(as_json: JsonOption = False) -> None:
    """Print the version."""
    show(document({"version": __version__}) if as_json else f"nuan {__version__}")


def main() -> None:
    """The entry point."""
    defended(lambda: app(prog_name="nuan"))
