"""Persona and configuration, to be read only, with the place of each value. Secrets are never shown."""

import asyncio
from itertools import groupby
from pathlib import Path

from starlette.responses import Response

from bot.config.places import Setting
from bot.ops.redact import Redactor
from bot.ops.web.house import Ask
from bot.ops.web.rendering import page

MOST_CHARS = 100_000
"""Of a persona file so much is shown."""


async def persona(ask: Ask) -> Response:
    """The files of each persona with their folder, the configured one first."""
    folders = ask.house.personas.items()
    found = [(name, folder.absolute(), await asyncio.to_thread(_files, folder)) for name, folder in folders]
    return page(ask, "persona.html", {"personas": found})


async def settings(ask: Ask) -> Response:
    """Every key with its value and where that comes from."""
    shown = await asyncio.to_thread(ask.house.shown)
    redactor = Redactor()

    def table(setting: Setting) -> str:
        return setting.key.rpartition(".")[0]

    rows = [(setting, redactor.text(setting.value)) for setting in sorted(shown, key=table)]
    tables = [(name, tuple(each)) for name, each in groupby(rows, key=lambda row: table(row[0]))]
    return page(ask, "settings.html", {"tables": tables, "set": sum(each.origin != "default" for each in shown)})


def _files(folder: Path) -> list[tuple[str, str]]:
    paths = sorted(path for path in folder.rglob("*.md") if not path.name.startswith("."))
    return [
        (path.relative_to(folder).as_posix(), path.read_text("utf-8", errors="replace")[:MOST_CHARS]) for path in paths
    ]


PAGES = {"/persona": persona, "/settings": settings}
