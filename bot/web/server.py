"""Serves the web page: routes, the login before them, the headers of every answer, on a socket bound at start."""

import asyncio
import contextlib
import itertools
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.config.base import LOCAL_NAMES, is_loopback_host
from bot.config.settings import WebPage
from bot.core.errors import ConfigError, NuanError
from bot.core.ports import Log
from bot.web.pages import ACTIONS, PAGES
from bot.web.requests import (
    LANGUAGE_COOKIE,
    MOST_BYTES,
    MOST_LOGIN_BYTES,
    STATIC,
    TOKEN_FILE,
    LoginRefused,
    Logins,
    PageRequest,
    SiteData,
    form_of,
    has_token_of,
    language_of,
    open_token,
    render,
)

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""What a browser may do with any answer: ask nobody but this server, run and load nothing from elsewhere."""

YEAR_S = 365 * 86_400

Handler = Callable[[PageRequest], Awaitable[Response]]

CLOSE_S = 2
"""How long open connections are waited for when the page ends, seconds."""

MOST_CONNECTIONS, MOST_OF_ADDRESS, BACKLOG = 256, 160, 64
"""Connections at once, so that no visitor can use up what the installation has of them; of one address, of those that
brought no login; and that are taken in together: so few that the first of them are read before others take their place."""

BODY_S = 10.0
"""Within so many seconds all of a form must be there."""


class Site:
    """Answers by the bot as it is at each request; `hosts` are the names it answers to (none: any)."""

    def __init__(
        self,
        site_data: Callable[[], SiteData],
        gate: Logins,
        log: Log,
        hosts: frozenset[str] = frozenset(),
        body_s: float = BODY_S,
    ) -> None:
        self._site_data = site_data
        self._body_s = body_s
        self._gate = gate
        self._log = log
        self._hosts = hosts

    def app(self) -> ASGIApp:
        """What a server runs."""
        routes: list[BaseRoute] = [
            Route("/", lambda _: RedirectResponse("/overview", 303)),
            Route("/login", self._open(self._show_login), methods=["GET"]),
            Route("/login", self._open(self._log_in), methods=["POST"]),
            Route("/logout", self._guarded(self._log_out), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        for method, handlers in (("GET", PAGES), ("POST", ACTIONS)):
            routes += [Route(path, self._guarded(handler), methods=[method]) for path, handler in handlers.items()]
        app = Starlette(routes=routes, exception_handlers={HTTPException: self._failed})
        return _WithHeaders(app, self._hosts, self._is_logged_in)

    def _is_logged_in(self, request: Request) -> bool:
        return self._gate.login(request.cookies.get(cookie_of(request), "")) is not None

    def _open(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await self._answer(request, handler)

        return endpoint

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Only for whoever is logged in; what changes something must come from a page made for that login."""

        async def endpoint(request: Request) -> Response:
            if self._is_logged_in(request):
                return await self._answer(request, handler)
            if request.method != "GET":
                raise HTTPException(403)
            if "hx-request" in request.headers or "/stream" in request.url.path:
                return Response(status_code=401, headers={"HX-Redirect": "/login"})
            return RedirectResponse("/login", 303)

        return endpoint

    async def _answer(self, request: Request, handler: Handler) -> Response:
        entering = request.url.path == "/login"
        most = MOST_LOGIN_BYTES if entering else MOST_BYTES
        form = await form_of(request, most, self._body_s) if request.method == "POST" else {}
        ask = self._ask(request, form)
        changes = request.method == "POST" and not entering
        if changes and (ask.login is None or not has_token_of(ask.login, form.get("csrf", ""))):
            raise HTTPException(403)
        try:
            response = await handler(ask)
        except HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails, a browser gets a line and the log its cause
            response = await self._failed(request, error)
        if "lang" in request.query_params:
            response.set_cookie(LANGUAGE_COOKIE, ask.script, max_age=YEAR_S, httponly=True, samesite="strict")
        return response

    def _ask(self, request: Request, form: dict[str, str]) -> PageRequest:
        site_data = self._site_data()
        cookie = request.cookies.get(cookie_of(request), "")

        def holds() -> bool:
            return self._gate.login(cookie) is not None

        script = language_of(request, site_data.settings.bot.language)
        return PageRequest(request, site_data, self._gate.login(cookie), script, form, holds)

    async def _show_login(self, ask: PageRequest) -> Response:
        return render(ask, "login.html", {"problem": ""})

    async def _log_in(self, ask: PageRequest) -> Response:
        request = ask.request
        if _is_foreign(request):  # else any page in the same browser could use up the tries of whoever sits here
            raise HTTPException(403)
        address = request.client.host if request.client else ""
        found = self._gate.log_in(ask.form.get("token", ""), address, ask.site.settings.web.session_hours)
        if isinstance(found, LoginRefused):
            self._log.warning("web_login_refused", address=address, limited=found.wait_ms > 0)
            if not found.wait_ms:
                return render(ask, "login.html", {"problem": ask.t("login_wrong")}, 401)
            seconds = -(-found.wait_ms // 1000)
            response: Response = render(ask, "login.html", {"problem": ask.t("login_wait", seconds=seconds)}, 429)
            response.headers["retry-after"] = str(seconds)
            return response
        self._log.info("web_login", address=address)
        _tell_connection(request, True)
        response = RedirectResponse("/overview", 303)
        secure = request.url.scheme == "https"
        response.set_cookie(cookie_of(request), found, httponly=True, samesite="strict", secure=secure)
        return response

    async def _log_out(self, ask: PageRequest) -> Response:
        self._gate.log_out(ask.request.cookies.get(cookie_of(ask.request), ""))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(cookie_of(ask.request), httponly=True, samesite="strict")
        return response

    async def _failed(self, request: Request, error: Exception) -> Response:
        """A clear line instead of the page; the cause is for the log."""
        status = error.status_code if isinstance(error, HTTPException) else 503
        if status == 503:
            self._log.error("web_failed", path=request.scope["path"], exc_info=error)
        try:
            ask = self._ask(request, {})
            key = f"error_{status}"
            text = ask.t(key)
            detail = str(error) if isinstance(error, NuanError) else ""
            return render(
                ask, "error.html", {"text": text if text != key else ask.t("error_503"), "detail": detail}, status
            )
        except Exception as second:  # noqa: BLE001 - a page about an error must not be one
            self._log.error("web_failed", path=request.scope["path"], exc_info=second)
            return PlainTextResponse(str(status), status)


def cookie_of(request: Request) -> str:
    """The name of the login's cookie: browsers keep those of all ports of a machine together."""
    return f"nuan_{request.url.port or 80}"


def _is_foreign(request: Request) -> bool:
    """Whether a page of another server had the browser send this; what is no browser says nothing of it."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


class _WithHeaders:
    """Around everything: only the names it answers to, its headers on every answer, whether a connection is logged in."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], is_logged_in: Callable[[Request], bool]) -> None:
        self._app = app
        self._hosts = hosts
        self._is_logged_in = is_logged_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers[name] = value
                if scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-cache"  # asked for again, so that an update is seen
            await send(message)

        request = Request(scope)
        if self._hosts and request.url.hostname not in self._hosts:
            await PlainTextResponse("another host name was asked for", 421)(scope, receive, with_headers)
            return
        _tell_connection(request, self._is_logged_in(request))
        await self._app(scope, receive, with_headers)


class _Server(uvicorn.Server):
    """Signals belong to the program that serves the page."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class _Connection(H11Protocol):
    """One of so many: the oldest that brought no login makes room for the next, first of those of the same address, and
    of those that wait for no answer."""

    numbers = itertools.count()
    logged_in = False
    """Whether its last request brought a login, whatever it asked for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it in; it goes itself when all the others are logged in."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "connection": self}
        self.number = next(self.numbers)
        others = [each for each in self.connections if isinstance(each, _Connection) and each is not self]
        open_to_all = [each for each in others if not (each.logged_in or each.transport.is_closing())]
        here = [each for each in open_to_all if each.address == self.address]
        if len(here) >= MOST_OF_ADDRESS:
            _oldest(here).transport.abort()  # to close it would wait for one who reads nothing
        elif len(self.connections) > MOST_CONNECTIONS:
            _oldest(open_to_all or [self]).transport.abort()

    @property
    def address(self) -> str:
        """Where it comes from."""
        return self.client[0] if self.client else ""

    @property
    def is_being_answered(self) -> bool:
        """Whether all of a request is there and its answer is not yet."""
        return self.cycle is not None and not (self.cycle.more_body or self.cycle.response_complete)


def _tell_connection(request: Request, logged_in: bool) -> None:
    """Whether the one who asks there is logged in; a test asks without a connection."""
    if isinstance(connection := request.scope.get("state", {}).get("connection"), _Connection):
        connection.logged_in = logged_in


def _oldest(connections: list[_Connection]) -> _Connection:
    return min(connections, key=lambda each: (each.is_being_answered, each.number))


class WebServer:
    """The page on its socket: bound, not served yet."""

    def __init__(self, listener: socket.socket, token: tuple[str, bool], settings: WebPage) -> None:
        """With the token, and whether it is new."""
        self._listener = listener
        self.token, self.fresh = token
        host, port = listener.getsockname()[:2]
        self.local = is_loopback_host(settings.host)
        name = f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{port}/"

    def greeting(self, terminal: bool) -> str:
        """Where the page is; the token once, when it is new and a person reads this in a `terminal`, not a journal."""
        where = f"nuan: the web page is at {self.address}"
        if not self.local:
            where += "\nnuan: others on the network can reach that address, and what is shown travels unencrypted"
        if self.fresh and terminal:
            return f"{where}\nnuan: its token is {self.token} (kept in {TOKEN_FILE} in the data folder)"
        return f"{where} (its token: {TOKEN_FILE} in the data folder)"

    @contextlib.asynccontextmanager
    async def served(self, site_data: Callable[[], SiteData], log: Log) -> AsyncIterator[None]:
        """While it lasts the page is answered."""
        hosts = LOCAL_NAMES if self.local else frozenset[str]()
        site = Site(site_data, Logins(self.token, site_data().clock), log, hosts)
        config = uvicorn.Config(
            site.app(),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws="none",
            log_level="critical",
            timeout_graceful_shutdown=CLOSE_S,
            backlog=BACKLOG,
            http=_Connection,
            h11_max_incomplete_event_size=32_000,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]), name="web")
        log.info("web_page", address=self.address, local=self.local)
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.wait((serving,))
            if (error := serving.exception()) is not None:
                log.error("web_failed", exc_info=error)


@contextlib.contextmanager
def open_server(settings: WebPage, folder: Path, url: str = "", *, new_token: bool = False) -> Iterator[WebServer]:
    """The page's socket, open while it lasts; the token is made or read as `open_token` says.

    NuanError says when the port is taken or the address is not ours.
    """
    with contextlib.closing(_bind(settings.host, settings.port)) as listener:
        yield WebServer(listener, open_token(folder, url, anew=new_token), settings)


def _bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise ConfigError((f"web.host: {host} cannot be found ({error.strerror})",)) from error
    listener = socket.socket(found[0], socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(found[4])
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise NuanError(
            f"the web page cannot listen at {host}:{port} ({error.strerror}): stop what uses it, "
            "or set web.port (--port) to another"
        ) from error
    return listener
