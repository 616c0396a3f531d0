"""The `nuan` command line. Every error is one clear line and an exit code; 0 good, 1 failed, 2 configuration."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bot import __version__
from bot.cli.options import DATA, ChatOption, ConfigOption, CtxOptions, DataOption, PersonOption, takes
from bot.errors import ConfigError, NuanError

if TYPE_CHECKING:
    from bot.cli.house import Place

T = TypeVar("T")

app = typer.Typer(
    name="nuan", no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False,
    help="nuan 暖: a companion that wakes up warm. Begin with `nuan chat`.",
)  # fmt: skip


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
    _run(talk(source, _guard(source.read), group, name, verbose))


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
    _run(serve(source, _guard(source.read)))


@app.command()
@takes(CtxOptions)
def ctx(options: CtxOptions) -> None:
    """Show what the next call would send, its cache and memories. Example: nuan ctx --query 猫 --compare --debug"""
    from bot.cli.look import Look, View, show_ctx

    look = _guard(
        lambda: Look(options.query, options.raw, options.as_json, options.compare, options.debug, options.limit)
    )
    view = View(options.chat, options.person)
    sys.stdout.buffer.write(_run(show_ctx(_place(options.config, options.data), view, look)))
    sys.stdout.buffer.flush()


@app.command()
def boot(
    chat: ChatOption = "", person: PersonOption = "", config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """Show the warm boot that the next conversation would open with. Example: nuan boot"""
    from bot.cli.look import View, show_boot

    print(_run(show_boot(_place(config, data), View(chat, person))))


@app.command()
def usage(
    days: Annotated[int, typer.Option("--days", min=1, max=366, help="How many local days, today included.")] = 7,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what the model calls used per day, chat and cause. Example: nuan usage --days 30"""
    from bot.cli.look import show_usage

    print(_run(show_usage(_place(config, data), days)))


@app.command()
def init(config: ConfigOption = None) -> None:
    """Write nuan.toml: look for a local model server, otherwise ask. The key goes to .env."""
    from bot.cli.init import init as write

    _guard(lambda: write(config or Path("nuan.toml")))


@app.command()
def doctor(config: ConfigOption = None, data: DataOption = DATA) -> None:
    """Check tokens, intents, proxies and the data folder; exit code 1 when something is wrong. Example: nuan doctor"""
    from bot.cli.doctor import examine

    found = _run(examine(_place(config, data)))
    for finding in found:
        print(f"{'✓' if finding.good else '✗'} {finding.about}: {finding.text}")
    raise SystemExit(not all(finding.good for finding in found))


@app.command()
def version() -> None:
    """Print the version."""
    print(f"nuan {__version__}")


def main() -> None:
    """The entry point."""
    app()


def _place(config: Path | None, data: Path) -> "Place":
    from bot.cli.source import Source

    return _guard(Source(config, data, os.environ).read)


def _run(work: Coroutine[object, object, T]) -> T:
    return _guard(lambda: asyncio.run(work))


def _guard(work: Callable[[], T]) -> T:
    """Turn every expected error into one clear line and an exit code."""
    try:
        return work()
    except ConfigError as error:
        for problem in error.problems:
            print(f"nuan: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    except (NuanError, OSError) as error:
        print(f"nuan: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
