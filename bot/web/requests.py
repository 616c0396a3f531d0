"""One request of the web page: what it may read, its form and language, and the template that answers it."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse

from bot.config.settings import Settings
from bot.config.sources import ShownSetting
from bot.core.people import SCRIPTS, Script
from bot.core.ports import Clock
from bot.pipeline.texts import Texts
from bot.store.store import Store
from bot.text.catalogue import Catalogue
from bot.text.dates import local
from bot.web.login import Login

MOST_BYTES, MOST_LOGIN_BYTES = 1_000_000, 4_000
"""Largest form, in bytes: the longest message that can be configured has nine bytes a character; and of a stranger."""

LANGUAGE_COOKIE = "nuan_lang"

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"

NAV = ("live", "turns", "usage", "memories", "people", "promises", "dialogue", "chat", "persona", "settings")
"""The pages, in the order of their links."""

LANGUAGE_NAMES = {"zh-Hans": "简体", "zh-Hant": "繁體", "en": "English"}

TEMPLATES = Environment(
    loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True, auto_reload=False,
)  # fmt: skip


class ChatBox(Protocol):
    """The adapter behind the chat page."""

    platform: str

    async def hear(self, text: str) -> bool:
        """Bring a line to nuan; PlatformError while nobody is there to answer."""
        ...

    def asides(self) -> tuple[tuple[int, str], ...]:
        """What was said that is no line of the transcript: when (ms) and what."""
        ...

    def listen(self) -> AsyncIterator[tuple[str, str]]:
        """What there is to see from now on: kind (draft, lines, typing) and text."""
        ...


@dataclass(frozen=True, slots=True)
class SiteData:
    """What the pages are made of; `personas` are folders by name, the configured one first.

    Without a `box` another nuan answers from this folder: there is only reading.
    """

    store: Store
    clock: Clock
    settings: Settings
    words: Texts
    pages: Catalogue
    find: Callable[[str], Path]
    personas: Mapping[str, Path]
    shown: Callable[[], tuple[ShownSetting, ...]]
    box: ChatBox | None

    @property
    def tz(self) -> tzinfo:
        """The installation's zone: times are shown in it."""
        return self.words.tz(self.words.zone)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request: of whom (None: nobody who is logged in), in which language, and what its form says.

    `holds` tells whether the login still does.
    """

    request: Request
    site: SiteData
    login: Login | None
    script: Script
    form: dict[str, str]
    holds: Callable[[], bool]

    def t(self, key: str, **values: object) -> str:
        """A text of the page."""
        return self.site.pages.text(key, self.script, **values)

    def say(self, key: str, **values: object) -> str:
        """A sentence of nuan's own; "" where there is none of that name."""
        found = self.site.words.messages.text(key, self.script, **values)
        return "" if found == key else found

    def named(self, kind: str, value: str) -> str:
        """A word of the store as people say it (<kind>_is_<value> is its text); as it stands where there is none."""
        key = f"{kind}_is_{value}"
        found = self.t(key)
        return value if found == key else found

    def when(self, ms: int | None) -> str:
        """A moment in the installation's zone; "" for none."""
        return f"{local(ms, self.site.tz):%Y-%m-%d %H:%M:%S}" if ms else ""

    def number(self, name: str, default: int = 0, most: int = 2**53) -> int:
        """A whole number of the query, `default` when it is none or out of range."""
        text = self.request.query_params.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 17 and int(text) <= most else default

    def word(self, name: str, most: int = 200) -> str:
        """A text of the query, cut."""
        return self.request.query_params.get(name, "")[:most]

    def path_number(self) -> int:
        """The number in the address; HTTPException 404 when it can be none."""
        text = str(self.request.path_params["number"])
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise HTTPException(404)
        return int(text)


def language_of(request: Request, default: Script) -> Script:
    """The language asked for, else the one chosen before, else the installation's."""
    wanted = (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE))
    return next((script for name in wanted for script in SCRIPTS if script == name), default)


async def form_of(request: Request, most: int = MOST_BYTES) -> dict[str, str]:
    """The fields of a form; HTTPException 413 when it has more than `most` bytes, 400 when it is none."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise HTTPException(413)
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=50))
    except ValueError as error:
        raise HTTPException(400) from error


def render(
    ask: PageRequest, template: str, values: Mapping[str, object] | None = None, status: int = 200
) -> HTMLResponse:
    """A template filled in, with what every page has."""
    here = ask.request.url.path.strip("/").split("/")[0]
    common: dict[str, object] = {
        "t": ask.t, "named": ask.named, "when": ask.when,
        "lang": ask.script, "languages": [(name, LANGUAGE_NAMES[name]) for name in SCRIPTS],
        "here": here, "nav": NAV if ask.login is not None else (), "csrf": ask.login.csrf if ask.login else "",
        "writes": ask.site.box is not None, "bot": ask.site.settings.bot.names[0],
        "done": ask.word("done", 32),
    }  # fmt: skip
    return HTMLResponse(TEMPLATES.get_template(template).render({**common, **(values or {})}), status)
