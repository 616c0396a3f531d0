"""A strict Bot API server on loopback for tests: HTTP, long polling and misbehaviour. The state is in telegram_world.

`async with FakeTelegram(token) as server: … Bot(token, server.base_url, server.file_url)`; as a process: `main`.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import web

from tests.fakes.telegram_chats import Chats
from tests.fakes.telegram_control import control
from tests.fakes.telegram_faults import Fault, Faults, Limits, Violation
from tests.fakes.telegram_methods import call
from tests.fakes.telegram_people import People
from tests.fakes.telegram_shapes import Draft, Json, Params, Person, Refused, Request, Shown, Upload, bad
from tests.fakes.telegram_world import Commands, World
from tests.sizes import PATIENCE_S

TOKEN = "7700000001:AAmadeupmadeupmadeupmadeupmadeup-00"
HTML502 = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"


class FakeTelegram:
    """The server. `people` and `chats` act, `faults` orders misbehaviour, `world` and `requests` are for questions."""

    def __init__(
        self, token: str = TOKEN, *, username: str = "nuan_fake_bot", limits: Limits | None = None, port: int = 0
    ) -> None:
        bot = Person(int(token.partition(":")[0]), "暖", username, is_bot=True)
        self.token = token
        self.world = World(bot, lambda: asyncio.get_running_loop().time(), limits or Limits())
        self.people = People(self.world)
        self.chats = Chats(self.world)
        self.faults = Faults()
        self.requests: list[Request] = []
        self._port = port
        self._runner: web.AppRunner | None = None
        self._open: set[asyncio.Task[object]] = set()
        self._wanted: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=60 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._serve)
        app.router.add_get("/file/bot{token}/{file_id}/{path:.+}", self._serve_file)
        app.router.add_post("/control", self._serve_control)
        # Handlers end with their client, so that a killed poller leaves no poll behind.
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        self._runner = runner
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port)
        await site.start()
        self._port = runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._open:
            task.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The root of the server, in the place of https://api.telegram.org."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What `telegram.Bot(base_url=…)` wants."""
        return f"{self.url}/bot"

    @property
    def file_url(self) -> str:
        """What `telegram.Bot(base_file_url=…)` wants."""
        return f"{self.url}/file/bot"

    @property
    def violations(self) -> list[Violation]:
        """Every call inside an announced wait."""
        return self.world.floods.violations

    @property
    def confirmed(self) -> list[int]:
        """Ids of updates that the bot confirmed, in the order in which it did."""
        return self.world.updates.confirmed

    @property
    def drafts(self) -> list[Draft]:
        """Every step of every streamed preview."""
        return self.world.drafts

    @property
    def actions(self) -> list[Draft]:
        """Every chat action; its name is in `text`."""
        return self.world.actions

    @property
    def commands(self) -> Commands:
        """The menus: (scope as JSON, language) → (name, description)."""
        return self.world.commands

    def sent(self, chat: int) -> tuple[Shown, ...]:
        """The bot's messages that people see now in a chat, in order."""
        return self.world.shown(chat)

    def calls(self, method: str) -> list[Request]:
        """Every call of one method, in order, also those that went wrong."""
        return [request for request in self.requests if request.method.lower() == method.lower()]

    async def until(self, done: Callable[[], bool], within: float = PATIENCE_S) -> None:
        """Wait until a condition holds, looked at after each call that is handled; TimeoutError after `within` s."""
        if done():
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wanted.append((done, future))
        try:
            async with asyncio.timeout(within):
                await future
        finally:
            self._wanted.remove((done, future))

    def _look(self) -> None:
        for done, future in self._wanted:
            if not future.done() and done():
                future.set_result(None)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            return await self._answer(request)
        finally:
            self._open.discard(task)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            params = await _params(request)
            self._check_token(request.match_info["token"])
            self.requests.append(Request(method, params.given, self.world.now()))
            fault = self.faults.take(method)
            self._look()
            if fault is not None:
                await self._before(fault, request, params)
            result = await self._call(method, params)
        except Refused as refused:
            self._look()
            return web.json_response(refused.json(), status=refused.code)
        except _Page:
            return web.Response(status=502, text=HTML502, content_type="text/html")
        text = json.dumps({"ok": True, "result": result}, ensure_ascii=False)
        self._look()
        if fault is not None:
            text = await self._after(fault, request, text)
        return web.Response(text=text, content_type="application/json")

    def _check_token(self, token: str) -> None:
        if ":" not in token:
            raise Refused(404, "Not Found")
        if token != self.token or self.faults.unauthorized:
            raise Refused(401, "Unauthorized")

    async def _call(self, method: str, params: Params) -> object:
        if method.lower() != "getupdates":
            return call(self.world, method, params)
        allowed = params.names("allowed_updates") if params.text("allowed_updates") else None
        limit, timeout = params.integer("limit", 100), params.integer("timeout")
        if limit < 1:
            raise bad("limit must be positive")
        return await self.world.updates.poll(params.integer("offset"), min(limit, 100), timeout, allowed)

    async def _before(self, fault: Fault, request: web.Request, params: Params) -> None:
        match fault.kind:
            case "drop_before":
                await _hang_up(request)
            case "silent":
                await asyncio.get_running_loop().create_future()
            case "html502":
                raise _Page
            case "error":
                raise Refused(fault.code, fault.description)
            case "flood":
                chat = None if fault.everywhere else params.chat or 0  # 0 is nobody's chat: only this call must wait
                raise self.world.floods.announce(chat, fault.retry_after, self.world.now())
            case "unauthorized":
                raise Refused(401, "Unauthorized")
            case "gate":
                opened = asyncio.Event()
                self.faults.on_open(opened.set)
                await opened.wait()
            case "stall" | "drop_after" | "garbage":
                pass

    async def _after(self, fault: Fault, request: web.Request, text: str) -> str:
        match fault.kind:
            case "stall":
                await asyncio.get_running_loop().create_future()
            case "drop_after":
                await _hang_up(request)
            case "garbage":
                return text[: len(text) // 2]
            case _:
                pass
        return text

    async def _serve_file(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_token(request.match_info["token"])
        except Refused as refused:
            return web.json_response(refused.json(), status=refused.code)
        path, data, _ = self.world.files.get(request.match_info["file_id"], ("", b"", 0))
        if not path or path != request.match_info["path"]:
            return web.json_response(Refused(404, "Not Found").json(), status=404)
        return web.Response(body=data, content_type="application/octet-stream")

    async def _serve_control(self, request: web.Request) -> web.StreamResponse:
        try:
            answer = control(self.world, self.people, self.chats, self.faults, await request.json())
        except Refused as refused:
            return web.json_response(refused.json(), status=refused.code)
        return web.json_response(answer)


class _Page(Exception):
    """An answer that no Bot API server would give."""


async def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
    await asyncio.get_running_loop().create_future()


async def _params(request: web.Request) -> Params:
    """The query, form, multipart fields or JSON of a call, as text, and its files."""
    given: Json = dict(request.query)
    files: dict[str, Upload] = {}
    if request.content_type == "application/json":
        try:
            body = await request.json()
        except ValueError as error:
            raise bad("can't parse JSON in request body") from error
        given |= body if isinstance(body, dict) else {}
    elif request.method == "POST":
        form = await request.post()
        given |= {name: value for name, value in form.items() if isinstance(value, str)}
        for name, value in form.items():
            if isinstance(value, web.FileField):
                with value.file as file:
                    files[name] = Upload(value.filename, file.read())
    told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
    return Params(told, files)


async def serve(token: str, port: int) -> None:
    """Serve until SIGTERM; the first line of output is the port; `POST /control`: see telegram_control."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with FakeTelegram(token, port=port) as server:
        sys.stdout.write(f"{server.url.rpartition(':')[2]}\n")
        sys.stdout.flush()
        await ended.wait()


def main() -> None:
    """`python -m tests.fakes.telegram_server --port 0 --token T`."""
    parser = argparse.ArgumentParser(prog="telegram_server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default=TOKEN)
    given = parser.parse_args()
    asyncio.run(serve(given.token, given.port))


if __name__ == "__main__":
    main()
