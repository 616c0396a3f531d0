"""A World with its web page: a visitor asks the ASGI application directly, on the World's simulated clock."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from starlette.types import ASGIApp, Message, Scope

from adapters.web import WebAdapter
from bot.config.sources import ShownSetting
from bot.core.files import PromptFiles
from bot.text.catalogue import catalogue
from bot.web.requests import Logins, SiteData
from bot.web.server import Site
from tests.fakes.clock import let_others_run
from tests.world import World

TOKEN = "a-token-that-only-the-test-knows"
HOST = "127.0.0.1:8390"
LISTS = (
    "/overview",
    "/live",
    "/live/rows",
    "/turns",
    "/usage",
    "/usage.json",
    "/memories",
    "/memories?state=all",
    "/people",
    "/promises",
    "/dialogue",
    "/chat",
    "/chat/lines",
    "/persona",
    "/settings",
)
"""Every page that needs no number."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str
    cookies: tuple[str, ...] = ()

    @property
    def plain(self) -> str:
        """The text as a reader sees it: without tags, entities as what they stand for."""
        return html.unescape(re.sub(r"<[^>]*>", "", self.text))


@dataclass
class Visitor:
    """A browser without a screen; it keeps its cookies."""

    app: ASGIApp
    address: str = "10.0.0.1"
    host: str = HOST
    ends: bool = True
    cookies: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **headers: str) -> Answer:
        """Ask for a page."""
        return await self.ask("GET", path, b"", headers)

    async def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
        """Send a form."""
        return await self.ask("POST", path, urlencode(form or {}).encode(), headers)

    async def send(self, path: str, **fields: str) -> Answer:
        """Send a form of a page that was made for this login."""
        page = await self.get("/live")
        found = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert found is not None, "nobody is logged in"
        return await self.post(path, {"csrf": found[1], **fields})

    async def log_in(self, token: str = TOKEN) -> Answer:
        """Bring a token."""
        return await self.post("/login", {"token": token})

    async def ask(self, method: str, path: str, body: bytes, more: dict[str, str]) -> Answer:
        """One request, answered to its end."""
        parts = urlsplit(path)
        headers = {"host": self.host, **{name.replace("_", "-"): value for name, value in more.items()}}
        if self.cookies:
            headers["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": quote(parts.query, "=&%+").encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": (self.address, 50_000),
            "server": ("127.0.0.1", 8390),
        }
        got: list[Message] = []
        brought = False

        async def receive() -> Message:
            nonlocal brought
            if brought:
                await asyncio.Event().wait()
            brought = True
            return {"type": "http.request", "body": body, "more_body": not self.ends}

        async def send(message: Message) -> None:
            got.append(message)

        await self.app(scope, receive, send)
        return self._answer(got)

    def _answer(self, got: list[Message]) -> Answer:
        pairs = [(name.decode(), value.decode()) for name, value in got[0].get("headers", [])]
        cookies = tuple(value for name, value in pairs if name == "set-cookie")
        for cookie in cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        text = b"".join(message.get("body", b"") for message in got[1:]).decode()
        return Answer(got[0]["status"], dict(pairs), text, cookies)


class Webbed:
    """A World's page: `visitor` is logged in, `stranger` is not."""

    def __init__(self, world: World, *, reads: bool = False) -> None:
        self.world = world
        self.shown: tuple[ShownSetting, ...] = ()
        self.box = None if reads else WebAdapter("小王", world.clock)
        prompts = PromptFiles(Path(world.settings.prompts_dir) if world.settings.prompts_dir else None)
        site_data = SiteData(
            world.store,
            world.clock,
            world.settings,
            world.parts.current.words,
            catalogue(prompts.path, "web"),
            prompts.path,
            world.parts.current.value.texts.folders,
            lambda: self.shown,
            self.box,
        )
        hosts = frozenset(("127.0.0.1", "localhost"))
        self.site = Site(lambda: site_data, Logins(TOKEN, world.clock), world.log, hosts)
        self.app = self.site.app()
        self.visitor, self.stranger = Visitor(self.app), Visitor(self.app, "10.0.0.2")
        self._running: asyncio.Task[None] | None = None

    async def open(self) -> "Webbed":
        """The chat box is a platform of the installation, and the visitor logs in."""
        if self.box is not None:
            self.world.app._sender.connect(self.box)
            self._running = asyncio.create_task(self.box.run(self.world.app.ingest))
            await let_others_run()
        await self.visitor.log_in()
        return self

    async def close(self) -> None:
        """Nobody runs the box any more."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))

    async def every_page(self, lang: str = "zh-Hans") -> dict[str, Answer]:
        """All pages there are, with that of each turn and memory."""
        found = {path: await self.visitor.get(path) for path in LISTS}
        for table, where in (("turn", "/turns"), ("memory", "/memories")):
            for (number,) in self.world.rows(f"SELECT id FROM {table}"):
                found[f"{where}/{number}"] = await self.visitor.get(f"{where}/{number}?lang={lang}")
        return found


@asynccontextmanager
async def webbed(world: World, *, reads: bool = False) -> AsyncIterator[Webbed]:
    """The page of a World while it lasts."""
    page = await Webbed(world, reads=reads).open()
    try:
        yield page
    finally:
        await page.close()
