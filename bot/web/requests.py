"""One request of the web page: who may make it (whoever brings the token), its form and language, its template."""

import asyncio
import hashlib
import hmac
import secrets
from collections import OrderedDict
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
from bot.core.clock import MINUTE_MS
from bot.core.errors import StoreError
from bot.core.files import write_file
from bot.core.people import SCRIPTS, Script
from bot.core.ports import Clock
from bot.pipeline.texts import Texts
from bot.store.engine import postgres_part
from bot.store.files import KeptBeside
from bot.store.store import Store
from bot.text.catalogue import Catalogue
from bot.text.clean import shown
from bot.text.dates import local

MOST_BYTES, MOST_LOGIN_BYTES = 1_000_000, 4_000
"""Largest form, in bytes: the longest message that can be configured has nine bytes a character; and of a stranger."""

LANGUAGE_COOKIE = "nuan_lang"

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"

NAV = (
    "overview",
    "chat",
    "people",
    "memories",
    "promises",
    "dialogue",
    "usage",
    "turns",
    "live",
    "persona",
    "settings",
)
"""The pages, in the order of their links."""

LANGUAGE_NAMES = {"zh-Hans": "简体", "zh-Hant": "繁體", "en": "English"}

TEMPLATES = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=lambda value: shown(value) if type(value) is str else value,  # nothing turns or hides what is read
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)

TOKEN_FILE = "web.token"  # noqa: S105 - the name of a file
WRONG_TRIES, WRONG_TRIES_MS = 5, 5 * MINUTE_MS
"""Wrong tokens of one address within that time, ms, after which no token of it is looked at until that is over."""

MOST_ADDRESSES, MOST_LOGINS = 1_000, 32
"""Addresses that are watched, and logins that hold, at once; the oldest makes room."""


@dataclass(frozen=True, slots=True)
class Login:
    """One login: `csrf` must come with everything that changes something; it holds until `until`, ms."""

    csrf: str
    until: int


@dataclass(frozen=True, slots=True)
class LoginRefused:
    """No login: the token is wrong, or (`wait_ms` > 0) too many were."""

    wait_ms: int = 0


class Logins:
    """Logins, held in memory: a restart ends them all. Neither tokens nor cookies are kept in plain."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._token = _hash(token)
        self._clock = clock
        self._logins: OrderedDict[bytes, Login] = OrderedDict()
        self._wrong: OrderedDict[str, list[int]] = OrderedDict()

    def log_in(self, token: str, address: str, hours: int) -> str | LoginRefused:
        """The cookie of a new login for the right token; compared in constant time, wrong ones are counted."""
        now = self._clock.now()
        wrong = [at for at in self._wrong.get(address, ()) if at > now - WRONG_TRIES_MS]
        if len(wrong) >= WRONG_TRIES:
            return LoginRefused(wrong[0] + WRONG_TRIES_MS - now)
        if not hmac.compare_digest(_hash(token.strip()), self._token):
            self._wrong[address] = [*wrong, now]
            self._wrong.move_to_end(address)
            _shrink(self._wrong, MOST_ADDRESSES)
            return LoginRefused()
        self._wrong.pop(address, None)
        cookie = secrets.token_urlsafe(32)
        self._logins[_hash(cookie)] = Login(secrets.token_urlsafe(32), now + hours * 60 * MINUTE_MS)
        _shrink(self._logins, MOST_LOGINS)
        return cookie

    def login(self, cookie: str) -> Login | None:
        """The login of that cookie while it holds."""
        found = self._logins.get(_hash(cookie)) if cookie else None
        if found is not None and found.until <= self._clock.now():
            self.log_out(cookie)
            return None
        return found

    def log_out(self, cookie: str) -> None:
        """It holds no more."""
        self._logins.pop(_hash(cookie), None)


def has_token_of(login: Login, csrf: str) -> bool:
    """Whether a form was made for that login."""
    return hmac.compare_digest(_hash(csrf), _hash(login.csrf))


def open_token(folder: Path, url: str = "", *, anew: bool = False) -> tuple[str, bool]:
    """The page's token, and whether it was made just now, as it is with `anew`; a file of the data folder (0600) has it.

    With an `url` all pages of nuan on that database have the same. StoreError when it cannot be read or written, or is
    too short to be one.
    """
    path, made = folder / TOKEN_FILE, f"{secrets.token_urlsafe(32)}\n".encode()
    try:
        here = made if anew or not path.exists() else path.read_bytes()  # an operator may have written it
        found = _shared(url, here, anew=anew) if url else here
        token = found.decode().strip()
        if len(token) < 16:
            raise StoreError(f"{TOKEN_FILE} is too short: delete it, a new one is made")
        write_file(path, found)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{TOKEN_FILE} cannot be used ({error})") from error
    return token, found == made


def _shared(url: str, here: bytes, *, anew: bool) -> bytes:
    """The token of all pages, which is this one unless there is one already, or all get it `anew`."""
    kept: KeptBeside = postgres_part("kept").KeptOnServer(url)
    if anew:
        kept.put(TOKEN_FILE, here)
    return kept.settle(TOKEN_FILE, here)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _shrink(one: "OrderedDict[str, list[int]] | OrderedDict[bytes, Login]", most: int) -> None:
    while len(one) > most:
        one.popitem(last=False)


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

    def opening(self, key: str) -> str:
        """A word of the opening of conversations, as the model reads it."""
        return self.site.words.openings.text(key, self.script)

    def named(self, kind: str, value: str) -> str:
        """A word of the store as people say it (<kind>_is_<value> is its text); as it stands where there is none."""
        key = f"{kind}_is_{value}"
        found = self.t(key)
        return value if found == key else found

    def when(self, ms: int | None) -> str:
        """A moment in the installation's zone; "" for none."""
        return f"{local(ms, self.site.tz):%Y-%m-%d %H:%M}" if ms else ""

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


async def form_of(request: Request, most: int, within_s: float) -> dict[str, str]:
    """The fields of a form; HTTPException 413 when it has more than `most` bytes, 400 when it is none, 408 when it is
    not there in time."""
    body = b""
    try:
        async with asyncio.timeout(within_s):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise HTTPException(413)
    except TimeoutError as error:
        raise HTTPException(408) from error
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
        "t": ask.t,
        "named": ask.named,
        "when": ask.when,
        "lang": ask.script,
        "languages": LANGUAGE_NAMES,
        "here": here,
        "nav": NAV if ask.login is not None else (),
        "zone": ask.site.words.zone,
        "csrf": ask.login.csrf if ask.login else "",
        "writes": ask.site.box is not None,
        "bot": ask.site.settings.bot.names[0],
        "done": ask.word("done", 32),
    }
    return HTMLResponse(TEMPLATES.get_template(template).render({**common, **(values or {})}), status)
