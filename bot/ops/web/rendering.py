"""Pages from templates; whatever stands in a page is escaped. It reads no store."""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from bot.ops.web.house import Ask
from bot.text.script import SCRIPTS

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"

NAV = ("live", "turns", "usage", "memories", "people", "promises", "dialogue", "chat", "persona", "settings")
"""The pages, in the order of their links."""

NAMES = {"zh-Hans": "简体", "zh-Hant": "繁體", "en": "English"}

PAGES = Environment(
    loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True, auto_reload=False,
)  # fmt: skip


def page(ask: Ask, template: str, values: Mapping[str, object] | None = None, status: int = 200) -> HTMLResponse:
    """A template filled in, with what every page has."""
    here = ask.request.url.path.strip("/").split("/")[0]
    common: dict[str, object] = {
        "t": ask.t, "named": ask.named, "when": ask.when,
        "lang": ask.script, "languages": [(name, NAMES[name]) for name in SCRIPTS],
        "here": here, "nav": NAV if ask.login is not None else (), "csrf": ask.login.csrf if ask.login else "",
        "writes": ask.house.box is not None, "bot": ask.house.settings.bot.names[0],
        "done": ask.word("done", 32),
    }  # fmt: skip
    return HTMLResponse(PAGES.get_template(template).render({**common, **(values or {})}), status)
