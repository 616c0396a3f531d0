"""The fake Discord's gateway: sessions, heartbeats, events in order, resuming, and misbehaving on demand."""

import asyncio
import json
import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.fakes import discord_payloads as shape
from tests.fakes.discord_world import Guild, Json, World, shard_of

GUILDS, MEMBERS, PRESENCES, GUILD_MESSAGES, GUILD_REACTIONS = 1 << 0, 1 << 1, 1 << 8, 1 << 9, 1 << 10
DM_MESSAGES, DM_REACTIONS, MESSAGE_CONTENT = 1 << 12, 1 << 13, 1 << 15
GUILD_TYPING, DM_TYPING = 1 << 11, 1 << 14
PRIVILEGED = MEMBERS | PRESENCES | MESSAGE_CONTENT
KNOWN = sum(1 << bit for bit in (*range(17), 20, 21, 24, 25))
"""Every intent of API v10; another bit closes with 4013."""
KEPT_SESSIONS = 3
"""How many sessions without a line may still be resumed; a client killed 200 times leaves no more behind."""
ABORT = 0
"""In the place of a close code: cut the connection without a word."""


class Line:
    """One websocket. What is put goes out in order, compressed as the address asked (zlib-stream) or plain."""

    def __init__(self, request: web.Request, ws: web.WebSocketResponse) -> None:
        self.session: Session | None = None
        self.left = False
        self.mute = False
        self._request = request
        self._ws = ws
        self._queue: asyncio.Queue[str | int] = asyncio.Queue()
        self._deflate = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None

    def put(self, payload: Json | str) -> None:
        """Send this object, or this text as it is."""
        if self.mute:
            return
        self._queue.put_nowait(payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False))

    def close(self, code: int) -> None:
        """End it after what was put before; ABORT cuts it at once."""
        self.left = True
        if code != ABORT:
            self._queue.put_nowait(code)
        elif self._request.transport is not None:
            self._request.transport.abort()

    async def pump(self) -> None:
        """Send until closed."""
        try:
            while not isinstance(item := await self._queue.get(), int):
                if self._deflate is None:
                    await self._ws.send_str(item)
                else:
                    data = self._deflate.compress(item.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
                    await self._ws.send_bytes(data)
            await self._ws.close(code=item)
        except (ConnectionError, RuntimeError):
            self.left = True


@dataclass(slots=True, eq=False)
class Session:
    """One identified session; while nobody is on the line its events wait in `sent` for a RESUME."""

    id: str
    intents: int
    line: Line | None
    shard: tuple[int, int] = (0, 1)
    seq: int = 0
    alive: bool = True
    sent: list[tuple[int, Json]] = field(default_factory=list)

    def gets(self, guild: Guild | None) -> bool:
        """Whether the events of that guild come here, None: of a direct channel."""
        number, count = self.shard
        return number == (0 if guild is None else shard_of(guild.id, count))

    def push(self, name: str, data: Json) -> None:
        """Number an event and send it."""
        self.seq += 1
        payload: Json = {"op": 0, "t": name, "s": self.seq, "d": data}
        self.sent.append((self.seq, payload))
        if self.line is not None:
            self.line.put(payload)


class Gateway:
    """All sessions. `identified`, `resumed` and `closed` (codes we closed with) tell what clients went through.

    `shards` are those of `identified`; `at_once` is how many buckets of shards may each begin a session in five seconds.
    """

    def __init__(self, world: World, token: str, privileged: int, changed: Callable[[], None]) -> None:
        self.url = ""
        self.heartbeat_ms = 41_250
        self.answers_heartbeats = True
        self.identified: list[int] = []
        self.shards: list[tuple[int, int]] = []
        self.least_shards = 1
        self.at_once = 1
        self.resumed = 0
        self.heartbeats = 0
        self.closed: list[int] = []
        self._world = world
        self._token = token
        self._privileged = privileged
        self._changed = changed
        self._sessions: list[Session] = []
        self._lines: set[Line] = set()

    @property
    def connected(self) -> int:
        """How many sessions have a line now."""
        return sum(session.line is not None for session in self._sessions)

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one websocket until it ends."""
        ws = web.WebSocketResponse(timeout=1.0, compress=False, max_msg_size=4096 * 4)
        await ws.prepare(request)
        line = Line(request, ws)
        self._lines.add(line)
        pump = asyncio.ensure_future(line.pump())
        try:
            if (request.query.get("v"), request.query.get("encoding")) != ("10", "json"):
                self._close(line, 4012)
            else:
                line.put({"op": 10, "t": None, "s": None, "d": {"heartbeat_interval": self.heartbeat_ms, "_trace": []}})
            async for message in ws:
                if message.type is WSMsgType.TEXT and not line.left:
                    self._receive(line, message.data)
                    self._changed()
        finally:
            self._gone(line, ws.close_code)
            self._lines.discard(line)
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
            self._changed()
        return ws

    def dispatch(self, name: str, intent: int, guild: Guild | None, make: Callable[[bool], Json]) -> None:
        """Send an event of a guild, or of a direct channel, to every living session of its shard that asked for it.

        `make` is told whether it may see content.
        """
        for session in self._sessions:
            if session.alive and session.gets(guild) and (not intent or session.intents & intent):
                session.push(name, make(bool(session.intents & MESSAGE_CONTENT)))

    def malformed(self, text: str | None = None) -> None:
        """Send something broken: this text as it is, or by default a MESSAGE_CREATE without its fields."""
        for session in self._online():
            if text is None:
                session.push("MESSAGE_CREATE", {"id": str(self._world.snowflake()), "type": 0})
            elif session.line is not None:
                session.line.put(text)

    def drop(self, code: int = ABORT, *, resumable: bool = True, shard: int | None = None) -> None:
        """End every connection, or that of one shard, cut (ABORT) or with a close code; else a RESUME will be refused."""
        for session in self._online():
            if shard not in (None, session.shard[0]):
                continue
            session.alive = resumable
            if session.line is not None:
                self._close(session.line, code)

    def fall_silent(self) -> None:
        """Nothing more comes on the present connections, which stay open; events wait for a RESUME."""
        for line in self._lines:
            line.mute = True

    def reconnect(self) -> None:
        """Ask every client to connect anew (op 7)."""
        for session in self._online():
            if session.line is not None:
                session.line.put({"op": 7, "t": None, "s": None, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every client that its session is invalid (op 9), with or without leave to resume."""
        for session in self._online():
            session.alive = resumable
            if session.line is not None:
                session.line.put({"op": 9, "t": None, "s": None, "d": resumable})

    def close(self) -> None:
        """Cut everything."""
        for line in self._lines:
            line.close(ABORT)

    def _online(self) -> list[Session]:
        return [session for session in self._sessions if session.line is not None]

    def _close(self, line: Line, code: int) -> None:
        if code != ABORT:
            self.closed.append(code)
        if line.session is not None:
            line.session.line = None
        line.close(code)

    def _gone(self, line: Line, code: int | None) -> None:
        if line.session is not None and line.session.line is line:
            line.session.line = None
            if code in (1000, 1001):  # a client that says goodbye gives its session up
                line.session.alive = False

    def _receive(self, line: Line, text: str) -> None:
        try:
            payload = json.loads(text)
            op, data = payload["op"], payload.get("d")
        except (ValueError, KeyError, TypeError):
            self._close(line, 4002)
            return
        if op == 1:
            self.heartbeats += 1
            if self.answers_heartbeats:
                line.put({"op": 11, "t": None, "s": None, "d": None})
        elif op == 2:
            self._identify(line, data)
        elif op == 6:
            self._resume(line, data)
        elif line.session is None:
            self._close(line, 4003)
        elif op == 8:
            self._members(line.session, data)
        elif op not in (3, 4):
            self._close(line, 4001)

    def _identify(self, line: Line, data: Json) -> None:
        intents = int(data.get("intents", -1))
        number, count = shard = tuple(data.get("shard", (0, 1)))
        if line.session is not None:
            self._close(line, 4005)
        elif data.get("token") != self._token:
            self._close(line, 4004)
        elif not 0 <= number < count:
            self._close(line, 4010)
        elif count < self.least_shards:
            self._close(line, 4011)
        elif intents < 0 or intents & ~KNOWN:
            self._close(line, 4013)
        elif intents & PRIVILEGED & ~self._privileged:
            self._close(line, 4014)
        else:
            self.identified.append(intents)
            self.shards.append(shard)
            waiting = [one for one in self._sessions if one.line is None and one.alive][-KEPT_SESSIONS:]
            self._sessions = [one for one in self._sessions if one.line is not None or one in waiting]
            session = Session(secrets.token_hex(16), intents, line, shard)
            line.session = session
            self._sessions.append(session)
            self._welcome(session)

    def _welcome(self, session: Session) -> None:
        guilds = [guild for guild in self._world.guilds.values() if guild.has_bot and session.gets(guild)]
        session.push(
            "READY",
            {
                "v": 10,
                "user": shape.user(self._world.bot)
                | {"verified": True, "mfa_enabled": False, "email": None, "flags": 0},
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
                "private_channels": [],
                "session_id": session.id,
                "resume_gateway_url": self.url,
                "shard": [*session.shard],
                "application": {"id": str(self._world.bot.id), "flags": 0},
            },
        )
        if session.intents & GUILDS:
            for guild in guilds:
                body = shape.guild(guild, self._world, members=bool(session.intents & MEMBERS))
                session.push("GUILD_CREATE", body | {"unavailable": False})

    def _resume(self, line: Line, data: Json) -> None:
        session = next((one for one in self._sessions if one.id == data.get("session_id")), None)
        if data.get("token") != self._token:
            self._close(line, 4004)
        elif session is None or not session.alive:
            line.put({"op": 9, "t": None, "s": None, "d": False})
        elif data.get("seq") is None or data["seq"] > session.seq:
            session.alive = False
            self._close(line, 4007)
        else:
            self.resumed += 1
            session.line, line.session = line, session
            for number, payload in session.sent:
                if number > data["seq"]:
                    line.put(payload)
            session.push("RESUMED", {"_trace": []})

    def _members(self, session: Session, data: Json) -> None:
        guild = self._world.guilds[int(data["guild_id"])]
        wanted = {int(key) for key in data.get("user_ids", [])} or set(guild.members)
        query = str(data.get("query", "")).lower()
        found = [self._world.users[key] for key in guild.members if key in wanted]
        body: Json = {
            "guild_id": str(guild.id),
            "members": [shape.member(guild, one) for one in found if one.name.lower().startswith(query)],
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
        }
        session.push("GUILD_MEMBERS_CHUNK", body | ({"nonce": data["nonce"]} if data.get("nonce") else {}))
