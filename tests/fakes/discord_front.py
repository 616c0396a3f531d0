"""What every request of the fake Discord passes: record, token, ordered faults, rate limits, errors as JSON."""

import asyncio
import json
import math
import re
import socket
import struct
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from tests.fakes.discord_world import Attachment, Json

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Kind = Literal["reset", "reset_after", "502", "503", "stall", "stall_after", "429", "429_global", "banned"]
"""*_after does the work first; "banned" is the 429 without Via that Cloudflare sends."""
SEND, EDIT = re.compile(r"/channels/(\d+)/messages"), re.compile(r"/channels/(\d+)/messages/\d+")


class Refused(Exception):
    """Discord says no: HTTP status, Discord's code and words, and the fields of an Invalid Form Body."""

    def __init__(self, status: int, code: int, message: str, errors: Json | None = None) -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.body: Json = {"message": message, "code": code} | ({"errors": errors} if errors else {})


def invalid(name: str, code: str, message: str) -> Refused:
    """Invalid Form Body with one wrong field."""
    return Refused(400, 50035, "Invalid Form Body", {name: {"_errors": [{"code": code, "message": message}]}})


@dataclass(slots=True, eq=False)
class Asked:
    """One request: path below /api/v10, body, loop time, and the status it got (0: none, it was cut or stalled)."""

    method: str
    path: str
    body: Json
    at: float
    files: list[Attachment] = field(default_factory=list)
    status: int = 0


ASKED = web.RequestKey("asked", Asked)
"""Where a handler finds the record of its request."""


@dataclass(slots=True, eq=False)
class Fault:
    """What the next `times` requests meet whose method and path (below /api/v10) match; the wait in seconds."""

    kind: Kind
    method: str = "POST"
    path: str = r"/channels/\d+/messages"
    times: int = 1
    retry_after: float = 0.2


@dataclass(slots=True)
class Bucket:
    """A window that began with its first request; `announced` is when a told wait ends."""

    until: float = 0.0
    used: int = 0
    announced: float = 0.0


def said_in(asked: Asked) -> Json:
    """The message that a request writes: its body, or what the answer to an interaction holds."""
    data = asked.body.get("data")
    return data if asked.path.startswith("/interactions/") and isinstance(data, dict) else asked.body


def speaks(asked: Asked) -> bool:
    """Whether it writes or changes a text that people read."""
    return asked.method in ("POST", "PATCH") and bool(said_in(asked).get("content"))


def guarded(asked: Asked) -> bool:
    """Whether that text can call nobody."""
    allowed = said_in(asked).get("allowed_mentions")
    return isinstance(allowed, dict) and allowed.get("parse") == [] and not allowed.get("roles")


class Front:
    """The middleware. `requests` has every API request in order, `violations` every rule the client broke.

    `pinging` are requests with text that could call everybody, a role or people (no empty `allowed_mentions.parse`).
    """

    def __init__(self, token: str, changed: Callable[[], None], *, limit: int = 5, window_s: float = 5.0) -> None:
        self.requests: list[Asked] = []
        self.violations: list[str] = []
        self.pinging: list[str] = []
        self.faults: list[Fault] = []
        self.token = token
        self.limit = limit
        self.window_s = window_s
        self.released = asyncio.Event()
        self._changed = changed
        self._buckets: dict[str, Bucket] = {}
        self._global_until = 0.0

    @web.middleware
    async def pass_through(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer one request; outside the API only the handler counts."""
        if not request.path.startswith("/api/v10"):
            return await handler(request)
        asked = Asked(request.method, request.path.removeprefix("/api/v10"), {}, asyncio.get_running_loop().time())
        asked.body, asked.files = await read(request)
        self.requests.append(asked)
        if speaks(asked) and not guarded(asked):
            self.pinging.append(f"{asked.method} {asked.path}")
        request[ASKED] = asked
        try:
            response = await self._answer(request, asked, handler)
            asked.status = response.status
            if isinstance(response, web.Response) and response.content_type == "application/json":
                response.headers["Content-Type"] = "application/json"  # as Discord writes it; clients compare it whole
            return response
        finally:
            self._changed()

    async def _answer(self, request: web.Request, asked: Asked, handler: Handler) -> web.StreamResponse:
        authorised = asked.path.startswith(("/webhooks/", "/interactions/"))
        if not authorised and request.headers.get("Authorization") != f"Bot {self.token}":
            return web.json_response({"message": "401: Unauthorized", "code": 0}, status=401)
        if (asked.method, asked.path) == ("GET", "/users/@me"):  # a new client was told of no wait yet
            for bucket in self._buckets.values():
                bucket.announced = 0.0
        fault = self._fault(asked)
        headers, refused = self._limits(asked, fault)
        if refused is not None:
            return refused
        if fault is not None and not fault.kind.endswith("_after"):
            await self._misbehave(request, fault.kind)
            status = int(fault.kind) if fault.kind.isdigit() else 503
            return web.Response(status=status, text="upstream connect error")
        try:
            response = await handler(request)
        except Refused as error:
            response = web.json_response(error.body, status=error.status)
        except web.HTTPException as error:
            self.violations.append(f"{asked.method} {asked.path}: no such route ({error.status})")
            response = web.json_response({"message": f"{error.status}: {error.reason}", "code": 0}, status=error.status)
        except Exception as error:
            self.violations.append(f"{asked.method} {asked.path}: the fake failed or was asked nonsense: {error!r}")
            raise
        if fault is not None:
            self._changed()  # the work is done, and may be seen, although no answer leaves
            await self._misbehave(request, fault.kind.removesuffix("_after"))
        response.headers.update(headers)
        return response

    async def _misbehave(self, request: web.Request, kind: str) -> None:
        if kind == "stall":
            await self.released.wait()
        if kind in ("reset", "stall") and request.transport is not None:
            raw = request.transport.get_extra_info("socket")
            if raw is not None:  # no lingering: the client reads a reset, not an end
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()

    def _fault(self, asked: Asked) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.method == asked.method and re.fullmatch(fault.path, asked.path):
                fault.times -= 1
                return fault
        return None

    def _limits(self, asked: Asked, fault: Fault | None) -> tuple[dict[str, str], web.Response | None]:
        kind = "send" if SEND.fullmatch(asked.path) else "edit" if EDIT.fullmatch(asked.path) else ""
        key = {"POSTsend": "send", "PATCHedit": "edit"}.get(asked.method + kind, "")
        forced = fault if fault is not None and fault.kind in ("429", "429_global", "banned") else None
        bucket = self._buckets.setdefault(f"{key}:{asked.path.split('/')[2]}" if key else asked.path, Bucket())
        left = max(bucket.announced, self._global_until) - asked.at
        if left > 0:
            self.violations.append(f"{asked.method} {asked.path} came {left:.3f} s inside an announced wait")
        limited = bool(key and self.limit)
        if forced is None and left <= 0 and not limited:
            return {}, None
        if asked.at >= bucket.until:
            bucket.until, bucket.used = asked.at + self.window_s, 0
        over = forced is not None or left > 0 or (limited and bucket.used >= self.limit)
        bucket.used += not over
        wait = forced.retry_after if forced else left if left > 0 else bucket.until - asked.at
        headers = self._headers(key or asked.path, 0 if over else self.limit - bucket.used, wait)
        if limited and bucket.used >= self.limit:
            bucket.announced = max(bucket.announced, bucket.until)
        if not over:
            return headers, None
        bucket.announced = max(bucket.announced, asked.at + wait)
        return {}, self._too_many(headers, wait, asked, forced)

    def _too_many(self, headers: dict[str, str], wait: float, asked: Asked, fault: Fault | None) -> web.Response:
        if fault is not None and fault.kind == "banned":
            return web.Response(status=429, text="error code: 1015", headers={"Retry-After": str(math.ceil(wait))})
        everywhere = fault is not None and fault.kind == "429_global"
        if everywhere:
            self._global_until = asked.at + wait
        retry = math.ceil(wait * 1000) / 1000
        headers |= {"Via": "1.1 google", "Retry-After": str(math.ceil(wait))}
        headers["X-RateLimit-Scope"] = "global" if everywhere else "user"
        body = {"message": "You are being rate limited.", "retry_after": retry, "global": everywhere}
        return web.json_response(body, status=429, headers=headers)

    def _headers(self, name: str, remaining: int, wait: float) -> dict[str, str]:
        rounded = math.ceil(wait * 1000) / 1000
        return {
            "X-RateLimit-Bucket": f"{zlib.crc32(name.encode()):08x}",
            "X-RateLimit-Limit": str(self.limit or 5),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": f"{time.time() + rounded:.3f}",
            "X-RateLimit-Reset-After": f"{rounded:.3f}",
        }


async def read(request: web.Request) -> tuple[Json, list[Attachment]]:
    """The JSON body, or payload_json and the files of a multipart one; a list becomes {"list": […]}."""
    files: list[Attachment] = []
    if not request.content_type.startswith("multipart/"):
        text = await request.text()
        found = json.loads(text) if text else {}
        return (found if isinstance(found, dict) else {"list": found}), files
    form = await request.post()
    body: Json = json.loads(str(form.get("payload_json", "{}")))
    for part in form.values():
        if isinstance(part, web.FileField):
            files.append(Attachment(part.filename, part.file.read(), part.content_type))
            part.file.close()
    return body, files
