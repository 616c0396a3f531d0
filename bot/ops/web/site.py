"""The web page as one ASGI application: routes, the gate before them, and the headers of every answer."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.errors import NuanError
from bot.ops.web.chat import DEEDS as CHAT_ACTIONS
from bot.ops.web.chat import PAGES as CHAT_PAGES
from bot.ops.web.gate import Gate, Refused, is_from
from bot.ops.web.house import LANGUAGE, MOST_BYTES, MOST_LOGIN_BYTES, Ask, House, form_of, language_of
from bot.ops.web.keepsakes import DEEDS as MEMORY_ACTIONS
from bot.ops.web.keepsakes import PAGES as MEMORY_PAGES
from bot.ops.web.knobs import PAGES as SETTINGS_PAGES
from bot.ops.web.people import PAGES as PEOPLE_PAGES
from bot.ops.web.rendering import STATIC, page
from bot.ops.web.turns import PAGES as TURN_PAGES
from bot.ops.web.usage import PAGES as USAGE_PAGES
from bot.types.log import Log

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

Handler = Callable[[Ask], Awaitable[Response]]


class Site:
    """Answers by the house as it is at each request; `hosts` are the names it answers to (none: any)."""

    def __init__(
        self, house: Callable[[], House], gate: Gate, log: Log, hosts: frozenset[str] = frozenset()
    ) -> None:  # fmt: skip
        self._house = house
        self._gate = gate
        self._log = log
        self._hosts = hosts

    def app(self) -> ASGIApp:
        """What a server runs."""
        routes: list[BaseRoute] = [
            Route("/", lambda _: RedirectResponse("/live", 303)),
            Route("/login", self._open(self._show_login), methods=["GET"]),
            Route("/login", self._open(self._log_in), methods=["POST"]),
            Route("/logout", self._guarded(self._log_out), methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        shown = {**TURN_PAGES, **USAGE_PAGES, **MEMORY_PAGES, **PEOPLE_PAGES, **SETTINGS_PAGES, **CHAT_PAGES}
        routes += [Route(path, self._guarded(handler), methods=["GET"]) for path, handler in shown.items()]
        deeds = {**MEMORY_ACTIONS, **CHAT_ACTIONS}
        routes += [Route(path, self._guarded(handler), methods=["POST"]) for path, handler in deeds.items()]
        handlers = {HTTPException: self._failed}
        inner = Starlette(routes=routes, exception_handlers=handlers)
        return _Shell(inner, self._hosts)

    def _open(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await self._answer(request, handler)

        return endpoint

    def _guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Only for whoever is logged in; what changes something must come from a page made for that login."""

        async def endpoint(request: Request) -> Response:
            if self._gate.login(request.cookies.get(cookie_of(request), "")) is not None:
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
        form = await form_of(request, most) if request.method == "POST" else {}
        ask = self._ask(request, form)
        changes = request.method == "POST" and not entering
        if changes and (ask.login is None or not is_from(ask.login, form.get("csrf", ""))):
            raise HTTPException(403)
        try:
            response = await handler(ask)
        except HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails, a browser gets a line and the log its cause
            response = await self._failed(request, error)
        if "lang" in request.query_params:
            response.set_cookie(LANGUAGE, ask.script, max_age=YEAR_S, httponly=True, samesite="strict")
        return response

    def _ask(self, request: Request, form: dict[str, str]) -> Ask:
        house = self._house()
        cookie = request.cookies.get(cookie_of(request), "")

        def holds() -> bool:
            return self._gate.login(cookie) is not None

        script = language_of(request, house.settings.bot.language)
        return Ask(request, house, self._gate.login(cookie), script, form, holds)

    async def _show_login(self, ask: Ask) -> Response:
        return page(ask, "login.html", {"problem": ""})

    async def _log_in(self, ask: Ask) -> Response:
        request = ask.request
        if _is_foreign(request):  # else any page in the same browser could use up the tries of whoever sits here
            raise HTTPException(403)
        address = request.client.host if request.client else ""
        found = self._gate.log_in(ask.form.get("token", ""), address, ask.house.settings.web.session_hours)
        if isinstance(found, Refused):
            self._log.warning("web_login_refused", address=address, limited=found.wait_ms > 0)
            if not found.wait_ms:
                return page(ask, "login.html", {"problem": ask.t("login_wrong")}, 401)
            seconds = -(-found.wait_ms // 1000)
            response: Response = page(ask, "login.html", {"problem": ask.t("login_wait", seconds=seconds)}, 429)
            response.headers["retry-after"] = str(seconds)
            return response
        self._log.info("web_login", address=address)
        response = RedirectResponse("/live", 303)
        secure = request.url.scheme == "https"
        response.set_cookie(cookie_of(request), found, httponly=True, samesite="strict", secure=secure)
        return response

    async def _log_out(self, ask: Ask) -> Response:
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
            return page(ask, "error.html", {"text": text if text != key else ask.t("error_503"), "detail": detail},
                        status)  # fmt: skip
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


class _Shell:
    """Around everything: only the names it answers to, and its headers on every answer."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

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

        if self._hosts and Request(scope).url.hostname not in self._hosts:
            await PlainTextResponse("another host name was asked for", 421)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)
