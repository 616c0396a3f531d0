"""The `nuan` command line: every command with its options and help. The work of a command loads only when it runs."""

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import __version__
from bot.cli import commandline, memory_commands
from bot.cli.commandline import (
    BEGIN,
    DATA_FOLDER,
    KEEP,
    LOOK,
    TALK,
    ChatOption,
    CommandGroup,
    ConfigOption,
    DataOption,
    JsonOption,
    OwnChatOption,
    PersonArgument,
    PersonOption,
    examples,
    run_program,
)
from bot.cli.terminal import (
    ExitCode,
    guard,
    json_document,
    print_result,
    read_installation,
    run_guarded,
    system_language,
)
from bot.core.errors import NuanError

if TYPE_CHECKING:
    from bot.core.ports import Role

app = typer.Typer(
    name="nuan",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog=examples("nuan init", "nuan chat", "nuan ctx --help", "nuan --install-completion"),
)
app.add_typer(memory_commands.app, name="memory", rich_help_panel=KEEP)
mcp_app = typer.Typer(cls=CommandGroup, invoke_without_command=True)
app.add_typer(mcp_app, name="mcp", rich_help_panel=TALK)


@app.command(
    rich_help_panel=KEEP,
    epilog=examples("nuan backup", "nuan backup --list", "nuan backup --json /srv/copies/nuan-monday.db"),
)
def backup(
    path: Annotated[
        Path | None, typer.Argument(help="Its file; a name with the time in the folder of backups unless given.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only show the backups there are.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Copy the database, beside a running nuan, too, and look the copy over.

    The file is for you alone (0600) and never replaces another. In the folder of backups (backup.folder) the newest
    backup.keep stay, for backup.days.
    """
    from bot.cli.data import list_backups, make_backup

    place = read_installation(config, data)
    if listed:
        print_result(run_guarded(list_backups(place, as_json=as_json)))
        return
    print_result(run_guarded(make_backup(place, path, as_json=as_json)))


@app.command(
    rich_help_panel=KEEP,
    epilog=examples(
        "nuan restore nuan-20260612T010000000Z.db",
        "nuan restore --check /srv/copies/nuan-monday.db",
    ),
)
def restore(
    path: Annotated[
        Path,
        typer.Argument(
            help="A backup: its file, or its name in the folder of backups.",
            autocompletion=commandline.complete_backups,
        ),
    ],
    check: Annotated[bool, typer.Option("--check", help="Only look it over, beside a running nuan, too.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Put a backup in the database's place.

    It is looked over first, and what was forgotten or erased since stays gone. The present database is kept beside it.
    Stop nuan first.
    """
    from bot.cli.data import check_backup, restore_backup

    work = check_backup if check else restore_backup
    place = read_installation(config, data)
    print_result(run_guarded(work(place, path, as_json=as_json)))


@app.command(rich_help_panel=KEEP, epilog=examples("nuan export telegram:123 wang.zip", "nuan export 小王 --json"))
def export(
    person: PersonArgument,
    path: Annotated[
        Path | None, typer.Argument(help="The archive; nuan-export-NUMBER-TIME.zip in this folder unless given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Put everything nuan keeps of a person into one archive to read.

    Markdown and JSON Lines in a zip file for you alone (0600); nothing that others said. Works beside a running nuan.
    `nuan memory export` moves memories between installations.
    """
    from bot.cli.data import export_person

    place = read_installation(config, data)
    print_result(run_guarded(export_person(place, person, path, force=force, as_json=as_json)))


@app.command(rich_help_panel=KEEP, epilog=examples("nuan erase telegram:123", "nuan erase 小王 --yes --json"))
def erase(
    person: PersonArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking, for scripts.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Take a person out for good: memories, lines, notes, logs.

    Asks first, unless --yes. In groups their lines become empty; what was spent stays counted, for nobody. A backup
    that is restored later does not bring them back. Stop nuan first, or have them say `.ai forget me`.
    """
    from bot.cli.data import erase_person
    from bot.cli.terminal import confirmation

    place, ask = read_installation(config, data), confirmation(to_stderr=as_json)
    print_result(run_guarded(erase_person(place, person, ask, yes=yes, as_json=as_json)))


@app.command(
    rich_help_panel=KEEP, epilog=examples("nuan move --to postgresql://nuan@db.example/nuan", "nuan move --to sqlite:")
)
def move(
    to: Annotated[
        str,
        typer.Option("--to", help="postgresql://user@host/name, or sqlite: for the file of the data folder."),
    ],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Copy everything into a new database of a PostgreSQL server, or from there into the file.

    What is there now stays as it is. Every table is compared at the end; run it again when it was cut off, and it goes
    on. Stop nuan first, and set store.url afterwards.
    """
    from bot.cli.move import move as copy_all

    place = read_installation(config, data)
    print_result(guard(lambda: copy_all(place, to, as_json=as_json)))


@app.command(
    rich_help_panel=KEEP, epilog=examples("nuan unset", "nuan unset budget.day_money", "nuan unset --all --json")
)
def unset(
    keys: Annotated[
        list[str] | None, typer.Argument(help="Keys to take back, like budget.day_money; none only shows.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Take back all of them.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show or take back what owners set in chats, while no nuan runs."""
    from bot.cli.lookup import given_url
    from bot.cli.reload import unset as take_back

    url = guard(lambda: given_url(config, os.environ))
    print_result(run_guarded(take_back(data, keys or (), url, everything=everything, as_json=as_json)))


def _show_version(wanted: bool) -> None:
    if wanted:
        print_result(f"nuan {__version__}")
        raise typer.Exit


@app.callback()
def options(
    shown: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """nuan 暖: a companion that wakes up warm. Begin with `nuan chat`."""


@app.command(rich_help_panel=TALK, epilog=examples("nuan chat", "nuan chat --group 家", "nuan chat --name Ann -v"))
def chat(
    group: Annotated[str, typer.Option("--group", help="Play a group of this name: each line is `who: text`.")] = "",
    name: Annotated[
        str, typer.Option("--name", help="How you are called until you say so; bot.owner unless given.")
    ] = "",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what each reply cost; of a pipe, log lines on standard error.")
    ] = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Talk in this terminal."""
    from bot.cli.installation import ConfigSource
    from bot.cli.run import chat as talk  # the terminal's libraries load only for a talk

    guard(_need_streams)
    source = ConfigSource(config, data, os.environ)
    run_guarded(talk(source, guard(source.read), group, name, verbose), loads=True)


def _need_streams() -> None:
    if sys.stdin is None or sys.stdout is None:
        raise NuanError("this needs an open standard input and output")


@app.command("owner-code", rich_help_panel=TALK, epilog=examples("nuan owner-code", "nuan owner-code --data /srv/nuan"))
def owner_code(data: DataOption = DATA_FOLDER) -> None:
    """Print a code that makes whoever sends it to the bot its owner."""
    from bot.cli.init import owner_code as made

    print_result(guard(lambda: made(data, os.environ)))


@app.command(
    rich_help_panel=TALK,
    epilog=examples("nuan run", "nuan run --data /srv/nuan --config /etc/nuan.toml", "nuan run --role gateway,janitor"),
)
def run(
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            help="Of several on one PostgreSQL database, what this one does: gateway (platforms), worker (answers), "
            "janitor (upkeep), with commas between them.",
        ),
    ] = None,
    shards: Annotated[
        str, typer.Option("--shards", help="discord.shards for this process: those of its shards, like 0-3/16.")
    ] = "",
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Talk on every platform that has a token.

    Alone, or with --role as one of several processes that share a database (store.url), each with a data folder of its
    own. All roles together must be there.
    """
    # Loading takes a second or more in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the files are about to be read
    from bot.cli.installation import ConfigSource
    from bot.cli.run import run as serve  # the platforms' libraries load only for this

    said = os.environ | ({"NUAN_DISCORD__SHARDS": shards} if shards else {})
    source, roles = ConfigSource(config, data, said), _roles(role)
    run_guarded(serve(source, guard(source.read), roles=roles), loads=True)


def _roles(text: str | None) -> "tuple[Role, ...]":
    """The roles that are named with commas between them; none where nothing was said."""
    from bot.core.ports import ROLES  # asyncio loads with it, which most commands do without

    named = [name.strip() for name in text.split(",")] if text is not None else []
    if wrong := [name for name in named if name not in ROLES]:
        raise typer.BadParameter(f"{wrong[0]!r} is not one of {', '.join(ROLES)}", param_hint="'--role'")
    return tuple(role for role in ROLES if role in named)


@app.command(rich_help_panel=TALK, epilog=examples("nuan web", "nuan web --port 8400"))
def web(
    host: Annotated[str, typer.Option("--host", help="Address to listen at; web.host unless given.")] = "",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="Port, 0 for a free one; web.port unless given.")
    ] = None,
    new_token: Annotated[
        bool,
        typer.Option("--new-token", help="Make a new token; a page that runs elsewhere takes it at its next start."),
    ] = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Serve the web page, with a chat box, on this machine."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.installation import ConfigSource
    from bot.cli.run import web as serve  # the server's libraries load only for this

    given = {"NUAN_WEB__HOST": host, "NUAN_WEB__PORT": "" if port is None else str(port)}
    source = ConfigSource(config, data, {**os.environ, **{name: value for name, value in given.items() if value}})
    run_guarded(serve(source, guard(source.read), new_token=new_token), loads=True)


@app.command(
    rich_help_panel=LOOK,
    epilog=examples(
        "nuan ctx", "nuan ctx --query 猫 --compare --debug", "nuan ctx --json", "nuan ctx --query 猫 --raw"
    ),
)
def ctx(
    query: Annotated[str, typer.Option("--query", help="What the person would say.")] = "",
    compare: Annotated[
        bool, typer.Option("--compare", help="Show what each mode of recall brings, side by side; needs --query.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show search terms, scores, thresholds, what was left out; needs --query.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option("--memory-limit", min=1, max=20, help="Show so many memories; memory.max unless given."),
    ] = None,
    as_json: JsonOption = False,
    raw: Annotated[bool, typer.Option("--raw", help="Print the very body that would be sent, nothing else.")] = False,
    chat: ChatOption = "",
    person: PersonOption = "",
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show what the next call would send, its cache and memories."""
    from bot.cli.inspection import CtxRequest, show_ctx
    from bot.cli.lookup import PromptTarget

    look = guard(lambda: CtxRequest(query, raw, as_json, compare, debug, limit))
    view = PromptTarget(chat, person)
    print_result(run_guarded(show_ctx(read_installation(config, data), view, look)))


@app.command(rich_help_panel=LOOK, epilog=examples("nuan boot", "nuan boot --person telegram:123 --json"))
def boot(
    chat: ChatOption = "",
    person: PersonOption = "",
    form: Annotated[
        Literal["narrative", "json"], typer.Option("--format", help="narrative (to the letter) or json.")
    ] = "narrative",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show the block that the next conversation would open with."""
    from bot.cli.inspection import show_boot
    from bot.cli.lookup import PromptTarget

    form = "json" if as_json else form
    print_result(run_guarded(show_boot(read_installation(config, data), PromptTarget(chat, person), form)))


@mcp_app.callback(epilog=examples("nuan mcp", "nuan mcp --person telegram:123 --chat 2", "nuan mcp import --help"))
def mcp(
    context: typer.Context,
    person: PersonOption = "",
    chat: OwnChatOption = "",
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Let another agent use this memory, over MCP on standard input and output.

    Reads beside a running nuan, which then carries out what the agent changes; alone it does so itself. A group's agent
    sees what that group may see.
    """
    if context.invoked_subcommand is not None:
        return
    # Loading takes a second in which a stop must end well, too; `serve` then listens to it itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    from bot.cli.mcp import serve

    run_guarded(serve(read_installation(config, data), person, chat))


@mcp_app.command(
    "import",
    epilog=examples("nuan mcp import ~/.config/Claude/claude_desktop_config.json", "nuan mcp import .vscode/mcp.json"),
)
def import_servers(
    file: Annotated[Path, typer.Argument(help="JSON with the servers under mcpServers or servers.")],
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Take the MCP servers of another program into nuan.toml.

    Each becomes a table [mcp.servers.NAME] at the end of the file; what is there stays. Nothing is started: the owner
    approves a server in a chat before anything of it is used.
    """
    from bot.cli.installation import ConfigSource
    from bot.cli.mcp_import import import_servers

    print_result(guard(lambda: import_servers(ConfigSource(config, data, os.environ), file)))


@app.command(rich_help_panel=LOOK, epilog=examples("nuan usage", "nuan usage --days 30", "nuan usage --json"))
def usage(
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many local days, today included.")] = 7,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show what the model calls used per day, chat and cause."""
    from bot.cli.inspection import show_usage

    place, language = read_installation(config, data), system_language(os.environ)
    print_result(run_guarded(show_usage(place, days, as_json=as_json, language=language)))


@app.command(rich_help_panel=LOOK, epilog=examples("nuan workers", "nuan workers --json"))
def workers(as_json: JsonOption = False, config: ConfigOption = None, data: DataOption = DATA_FOLDER) -> None:
    """Show which processes work on the database, what each of them does, and what is late.

    A `nuan run` without --role that stands by is not there before it takes over.
    """
    from bot.cli.workers import show_workers

    print_result(run_guarded(show_workers(read_installation(config, data), as_json=as_json)))


@app.command(
    rich_help_panel=LOOK, epilog=examples("nuan sections", "nuan sections --json", "nuan sections --export states")
)
def sections(
    as_json: JsonOption = False,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write index_state.json and MEMORY_TOPIC.md into this folder.")
    ] = None,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show which sections of memory talks stay with, and which are never hit."""
    from bot.cli.inspection import show_sections

    print_result(run_guarded(show_sections(read_installation(config, data), export, as_json=as_json)))


@app.command(
    rich_help_panel=BEGIN,
    epilog=examples(
        "nuan init", "nuan init --provider ollama --model qwen3:8b --yes", "nuan init --config /etc/nuan.toml --no-try"
    ),
)
def init(
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: what no option says takes its default.")] = False,
    provider: Annotated[
        str, typer.Option("--provider", help="deepseek, openai, openrouter, qwen, moonshot, glm, gemini, … or none.")
    ] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="Address of another OpenAI-compatible server.")] = "",
    model: Annotated[str, typer.Option("--model", help="Name of the model there.")] = "",
    name: Annotated[str, typer.Option("--name", help="How nuan is called.")] = "",
    language: Annotated[str, typer.Option("--language", help="zh-Hans, zh-Hant or en.")] = "",
    persona: Annotated[str, typer.Option("--persona", help="A folder of data/persona.")] = "",
    no_try: Annotated[bool, typer.Option("--no-try", help="Call neither model nor platforms to try them.")] = False,
    config: ConfigOption = None,
) -> None:
    """Set nuan up: model, platforms, name, language, persona.

    Asks with a default for each, writes nuan.toml, tries it with one tiny call. Keys and tokens go to .env, unseen; with
    --yes set them as variables. In a file that is there only what is asked changes.
    """
    from bot.cli.init import Given
    from bot.cli.init import init as write

    guard(_need_streams)
    given = Given(yes, provider, base_url, model, name, language, persona)
    guard(lambda: write(config or Path("nuan.toml"), given, tries=not no_try))


@app.command(rich_help_panel=BEGIN, epilog=examples("nuan doctor", "nuan doctor --no-call --json"))
def doctor(
    no_call: Annotated[bool, typer.Option("--no-call", help="Leave out the one tiny call of the model.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Check configuration, model, platforms, data and machine.

    ✓ is well, ! works but wants something done, ✗ does not work; each line says what to do. The exit code is 1 when
    something is ✗. The call is paid for like every other.
    """
    from bot.cli.doctor import examine, report

    found = run_guarded(examine(read_installation(config, data), call=not no_call))
    print_result(report(found, as_json=as_json))
    raise SystemExit(ExitCode.DONE if all(finding.good for finding in found) else ExitCode.FAILED)


@app.command(rich_help_panel=TALK, epilog=examples("nuan reload", "nuan reload --data /srv/nuan --json"))
def reload(as_json: JsonOption = False, data: DataOption = DATA_FOLDER) -> None:
    """Have the nuan that runs on this data folder read its configuration, persona and prompts anew.

    It says what it took and what waits for a restart; what is wrong is told line by line (exit code 2), and the running
    nuan goes on as it was.
    """
    from bot.cli.reload import reload as ask

    text, code = run_guarded(ask(data, as_json=as_json))
    print_result(text)
    raise SystemExit(code)


@app.command(
    rich_help_panel=LOOK, epilog=examples("nuan logs --chat 家 --follow", "nuan logs --turn 7", "nuan logs --json")
)
def logs(
    chat: Annotated[
        str,
        typer.Option(
            "--chat",
            help="Only this chat: number, title, or who talks there.",
            autocompletion=commandline.complete_chats,
        ),
    ] = "",
    turn: Annotated[int | None, typer.Option("--turn", min=1, help="Only turns of this number.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the lines as they are: JSON Lines.")] = False,
    config: ConfigOption = None,
    data: DataOption = DATA_FOLDER,
) -> None:
    """Show the log of a nuan that runs or ran, rotated files first."""
    from bot.cli.logs import log_view, show_logs

    run_guarded(show_logs(data, guard(lambda: log_view(data, chat, turn, config, follow=follow, as_json=as_json))))


@app.command(rich_help_panel=BEGIN, epilog=examples("nuan version", "nuan version --json"))
def version(as_json: JsonOption = False) -> None:
    """Print the version."""
    print_result(json_document({"version": __version__}) if as_json else f"nuan {__version__}")


def main() -> None:
    """The entry point."""
    run_program(lambda: app(prog_name="nuan"))
