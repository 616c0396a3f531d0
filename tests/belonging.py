"""`nuan backup`, `restore`, `export` and `erase` through their real entry. It checks nothing."""

import asyncio
from pathlib import Path

from typer.testing import CliRunner

from bot.cli.main import app
from tests.carrying import Said
from tests.world import World


def nuan(folder: Path, *words: str, **settings: str) -> Said:
    """Run `nuan …` on that data folder, with nobody there to answer."""
    result = CliRunner().invoke(app, [*words, "--data", str(folder)], env=settings)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def copies(folder: Path) -> list[Path]:
    return sorted((folder / "backups").glob("nuan-*.db"))


async def nuan_in_thread(world: World, *words: str, **settings: str) -> Said:
    """Another process would; its loop is its own."""
    return await asyncio.to_thread(lambda: nuan(world.folder, *words, **settings))
