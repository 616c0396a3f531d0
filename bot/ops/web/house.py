"""What the pages see of the house, and one request with it. It answers none."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.config.places import Setting
from bot.config.settings import Settings
from bot.flow.words import Words
from bot.ops.web.gate import Login
from bot.ports import Clock
from bot.store.store import Store
from bot.text.catalogue import Catalogue
from bot.text.script import SCRIPTS, Script

MOST_BYTES, MOST_LOGIN_BYTES = 1_000_000, 4_000
"""Largest form, in bytes: the longest message that can be configured has nine bytes a character; and of a stranger."""

LANGUAGE = "nuan_lang"


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
class House:
    """What the pages are made of; `personas` are folders by name, the configured one first.

    Without a `box` another nuan answers from this folder: there is only reading.
    """

    store: Store
    clock: Clock
    settings: Settings
    words: Words
    pages: Catalogue
    find: Callable[[str], Path]
    personas: Mapping[str, Path]
    shown: Callable[[], tuple[Setting, ...]]
    box: ChatBox | None

    @property
    def tz(self) -> tzinfo:
        """The house's zone: times are shown in it."""
        return self.words.tz(self.words.zone)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: of whom (None: nobody who is logged in), in which language, and what its form says.

    `holds` tells whether the login still does.
    """

    request: Request
    house: House
    login: Login | None
    script: Script
    form: dict[str, str]
    holds: Callable[[], bool]

    def t(self, key: str, **values: object) -> str:
        """A text of the page."""
        return self.house.pages.text(key, self.script, **values)

    def say(self, key: str, **values: object) -> str:
        """A sentence of nuan's own; "" where there is none of that name."""
        found = self.house.words.messages.text(key, self.script, **values)
        return "" if found == key else found

    def named(self, kind: str, value: str) -> str:
        """A word of the store as people say it (<kind>_is_<value> is its text); as it stands where there is none."""
        key = f"{kind}_is_{value}"
        found = self.t(key)
        return value if found == key else found

    def when(self, ms: int | None) -> str:
        """A moment in the house's zone; "" for none."""
        return f"{datetime.fromtimestamp(ms / 1000, self.house.tz):%Y-%m-%d %H:%M:%S}" if ms else ""

    def number(self, name: str, default: int = 0, most: int = 2**53) -> int:
        """A whole number of the query, `default` when it is none or out of range."""
        text = self.request.query_params.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 17 and int(text) <= most else default

    def word(self, name: str, most: int = 200) -> str:
        """A text of the query, cut."""
        return self.request.query_params.get(name, "")[:most]

    def path_number(self, name: str = "number") -> int:
        """The number in the address; HTTPException 404 when it can be none."""
        text = str(self.request.path_params[name])
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise HTTPException(404)
        return int(text)


def language_of(request: Request, default: Script) -> Script:
    """The language asked for, else the one chosen before, else the house's."""
    wanted = (request.query_params.get("lang"), request.cookies.get(LANGUAGE))
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
