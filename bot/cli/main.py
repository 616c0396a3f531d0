"""The `nuan` command line. Every error is one clear line and an exit code; 0 good, 1 failed, 2 configuration."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from bot import __version__
from bot.cli import data as belongings
from bot.cli import memory
from bot.cli.guarding import find_place, guard, run_guarded
from bot.cli.options import DATA, ChatOption, ConfigOption, CtxOptions, DataOption, OwnChatOption, PersonOption, takes

app = typer.Typer(
    name="nuan", no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False,
)  # fmt: skip
app.add_typer(memory.app, name="memory")
for command in (belongings.backup, belongings.restore, belongings.export, belongings.erase):
    app.command()(command)


def _tell(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def options(
    shown: Annotated[bool, typer.Option("--version", callback=_tell, is_eager=True, help="Print the version.")] = False,
) -> None:
    """nuan 暖: a companion that wakes up warm. Begin with `nuan chat`."""


@app.command()
def chat(
    group: Annotated[str, typer.Option("--group", help="Play a group of this name: each line is `who: text`.")] = "",
    name: Annotated[str, typer.Option("--name", help="Your name; your login name unless given.")] = "",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show log lines on standard error.")] = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Talk in this terminal. Example: nuan chat --group 家"""
    from bot.cli.chat import chat as talk  # the terminal's libraries load only for a talk
    from bot.cli.source import Source

    if sys.stdin is None or sys.stdout is None:
        raise SystemExit("nuan: a talk needs an open standard input and output")
    source = Source(config, data, os.environ)
    run_guarded(talk(source, guard(source.read), group, name, verbose))


@app.command()
def run(config: ConfigOption = None, data: DataOption = DATA) -> None:
    """Talk on every platform that has a token. Example: nuan run --data /srv/nuan"""
    # Loading takes a second or more in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the files are about to be read
    from bot.cli.run import run as serve  # the platforms' libraries load only for this
    from bot.cli.source import Source

    source = Source(config, data, os.environ)
    run_guarded(serve(source, guard(source.read)))


@app.command()
def web(
    host: Annotated[str, typer.Option("--host", help="Address to listen at; web.host unless given.")] = "",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="Port, 0 for a free one; web.port unless given.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Serve the web page, with a chat box, on this machine. Example: nuan web --port 8400"""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.source import Source
    from bot.cli.web import web as serve  # the server's libraries load only for this

    given = {"NUAN_WEB__HOST": host, "NUAN_WEB__PORT": "" if port is None else str(port)}
    source = Source(config, data, {**os.environ, **{name: value for name, value in given.items() if value}})
    run_guarded(serve(source, guard(source.read)))


@app.command()
@takes(CtxOptions)
def ctx(options: CtxOptions) -> None:
    """Show what the next call would send, its cache and memories. Example: nuan ctx --query 猫 --compare --debug"""
    from bot.cli.look import Look, View, show_ctx

    look = guard(
        lambda: Look(options.query, options.raw, options.as_json, options.compare, options.debug, options.limit)
    )
    view = View(options.chat, options.person)
    sys.stdout.buffer.write(run_guarded(show_ctx(find_place(options.config, options.data), view, look)))
    sys.stdout.buffer.flush()


@app.command()
def boot(
    chat: ChatOption = "",
    person: PersonOption = "",
    form: Annotated[str, typer.Option("--format", help="narrative (to the letter) or json.")] = "narrative",
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show the block that the next conversation would open with. Example: nuan boot --person 小王 --format json"""
    from bot.cli.boot import format_of, show_boot
    from bot.cli.look import View

    wanted = guard(lambda: format_of(form))
    print(run_guarded(show_boot(find_place(config, data), View(chat, person), wanted)))


@app.command()
def mcp(
    person: PersonOption = "", chat: OwnChatOption = "", config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """Let another agent use this memory, over MCP on standard input and output. Example: nuan mcp --person 小王

    Reads beside a running nuan, which then carries out what the agent changes; alone it does so itself. A group's agent
    sees what that group may see.
    """
    # Loading takes a second in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.mcp import serve

    run_guarded(serve(find_place(config, data), person, chat))


@app.command()
def usage(
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many local days, today included.")] = 7,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what the model calls used per day, chat and cause. Example: nuan usage --days 30"""
    from bot.cli.look import show_usage

    print(run_guarded(show_usage(find_place(config, data), days)))


@app.command()
def sections(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write index_state.json and MEMORY_TOPIC.md into this folder.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show which sections of memory talks stay with, and which are never hit. Example: nuan sections --export states"""
    from bot.cli.sections import show_sections

    print(run_guarded(show_sections(find_place(config, data), export, as_json=as_json)))


@app.command()
def init(config: ConfigOption = None) -> None:
    """Write nuan.toml: look for a local model server, otherwise ask. The key goes to .env."""
    from bot.cli.init import init as write

    guard(lambda: write(config or Path("nuan.toml")))


@app.command()
def doctor(
    no_call: Annotated[bool, typer.Option("--no-call", help="Leave out the one tiny call of the model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Check configuration, model, platforms, data and machine. Example: nuan doctor --no-call

    ✓ is well, ! works but wants something done, ✗ does not work; each line says what to do. Exit code 0: nothing is ✗;
    1: something is; 2: the configuration cannot be read. The call is paid for like every other.
    """
    from bot.cli.doctor import examine, report

    found = run_guarded(examine(find_place(config, data), call=not no_call))
    print(report(found, as_json=as_json))
    raise SystemExit(not all(finding.good for finding in found))


@app.command()
def logs(
    chat: Annotated[str, typer.Option("--chat", help="Only this chat: number, title, or who talks there.")] = "",
    turn: Annotated[int | None, typer.Option("--turn", min=1, help="Only turns of this number.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the lines as they are.")] = False,
    data: DataOption = DATA,
) -> None:
    """Show the log of a nuan that runs or ran, rotated files first. Example: nuan logs --chat 家 --follow"""
    from bot.cli.logs import show_logs, viewed

    run_guarded(show_logs(data, guard(lambda: viewed(data, chat, turn, follow=follow, as_json=as_json))))


@app.command()
def version() -> None:
    """Print the version."""
    print(f"nuan {__version__}")


def main() -> None:
    """The entry point."""
    app()
