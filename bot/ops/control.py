"""The control socket: how other commands ask the running nuan for a change or a reload, one line of JSON each way; and
who waits at a socket of ours."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from bot.core.errors import NuanError, StoreError
from bot.core.people import AgentReply, AgentRequest
from bot.core.ports import Log, Reload, ReloadResult

SOCKET = "agents.sock"

MOST_BYTES = 65_536
"""Of a line: the longest wish has a sixth of it."""

LONGEST_PATH = 100
"""Bytes of a socket's path that every system takes (Linux 107, others 103)."""

RELOAD_S = 120.0
"""Seconds to wait for a reload: texts are read and a library may be loaded, turns are not waited for."""

MOST_WAITING, BACKLOG, PATIENCE_S = 256, 64, 5.0
"""Connections whose request is not there yet; that are taken in together, so few that the first of them are read before
others take their place; seconds that each has for it."""

ApplyChange = Callable[[AgentRequest], Awaitable[AgentReply]]


@dataclass(frozen=True, slots=True)
class _ReloadRequest:
    verb: Literal["reload"]


_REQUEST: TypeAdapter[AgentRequest | _ReloadRequest] = TypeAdapter(AgentRequest | _ReloadRequest)
_CHANGED, _RELOADED = TypeAdapter(AgentReply), TypeAdapter(ReloadResult)


class WaitingConnections:
    """At most so many: the oldest makes room for the next, so that none who says nothing keeps others out."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.StreamWriter, None] = {}

    @contextlib.asynccontextmanager
    async def waited_for(self, writer: asyncio.StreamWriter) -> AsyncIterator[None]:
        """While inside it is one of them. TimeoutError when its time is over; one that made room reads its end."""
        if len(self._waiting) >= MOST_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()  # to close it would wait for one who reads nothing
        self._waiting[writer] = None
        try:
            async with asyncio.timeout(PATIENCE_S):
                yield
        finally:
            self._waiting.pop(writer, None)

    def close(self) -> None:
        """Wait for nobody any more."""
        for writer in self._waiting:
            writer.close()


@contextlib.asynccontextmanager
async def control_socket(
    folder: Path, carry_out: ApplyChange, log: Log, reload: Reload | None = None
) -> AsyncIterator[None]:
    """While inside, changes that agents ask for are carried out here; only who holds the folder's lock may open it.

    With `reload` it is also asked to reload. Where no socket can be, agents are told that the folder is in use: no
    reason not to answer people.
    """
    path, control = folder / SOCKET, _ControlServer(carry_out, log, reload)
    server = await _listen(path, control.serve, log)
    try:
        yield
    finally:
        if server is not None:
            server.close()
            await asyncio.to_thread(path.unlink, missing_ok=True)
        await control.close()


class _ControlServer:
    """The connections under way; what they ask is carried out whole or not at all."""

    def __init__(self, carry_out: ApplyChange, log: Log, reload: Reload | None) -> None:
        self._carry_out = carry_out
        self._reload = reload
        self._log = log
        self._waiting = WaitingConnections()
        self._busy: set[asyncio.Task[object]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One wish and its answer; nothing that goes wrong here reaches the event loop."""
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            await self._serve(reader, writer)
        except (ValueError, OSError) as error:
            self._log.warning("agent_unreadable", cause=type(error).__name__)
        except NuanError as error:
            self._log.warning("agent_failed", exc_info=error)
        except Exception as error:  # noqa: BLE001 - a defect here must not end the bot
            self._log.error("agent_failed", exc_info=error)
        finally:
            self._busy.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._waiting.waited_for(writer):
            line = await reader.readline()
        if not line:
            return
        asked = _REQUEST.validate_json(line, strict=True, extra="forbid")
        answer = await (self._carried_out(asked) if isinstance(asked, AgentRequest) else self._reloaded())
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()

    async def _reloaded(self) -> dict[str, object]:
        unable = ReloadResult(problems=("this nuan cannot reload",))
        return asdict(await self._reload() if self._reload is not None else unable)

    async def _carried_out(self, wish: AgentRequest) -> dict[str, object]:
        reply = await self._carry_out(wish)
        principal = wish.principal
        self._log.info(
            "agent_served",
            verb=wish.verb,
            person=principal.person_id,
            chat=principal.chat_id,
            wrong=reply.wrong,
            memories=list(reply.ids),
        )
        return asdict(reply)

    async def close(self) -> None:
        """Hear no more wishes; return when those that were heard are done."""
        self._waiting.close()
        while self._busy:
            await asyncio.wait(self._busy.copy())


async def _listen(
    path: Path, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], log: Log
) -> asyncio.Server | None:
    if len(os.fsencode(path)) > LONGEST_PATH:
        log.warning("agents_not_served", cause="path", bytes=len(os.fsencode(path)))
        return None
    await asyncio.to_thread(path.unlink, missing_ok=True)  # of a nuan that was killed: we hold the folder
    mask = os.umask(0o177)
    try:
        return await asyncio.start_unix_server(serve, path, limit=MOST_BYTES)
    except OSError as error:
        log.warning("agents_not_served", cause=type(error).__name__, exc_info=error)
        return None
    finally:
        os.umask(mask)


async def request_change(folder: Path, wish: AgentRequest) -> AgentReply | None:
    """What the nuan that answers from this folder says to that; None when none listens.

    StoreError when it ends before it has answered: the change may be done or not.
    """
    try:
        answer = await _ask(folder, wish)
        return None if answer is None else _CHANGED.validate_json(answer)
    except (OSError, ValueError) as error:
        raise StoreError("nuan did not say whether it was done: look before you ask again") from error


async def request_reload(folder: Path) -> ReloadResult | None:
    """What became of the reload that the nuan that answers from this folder was asked for; None when none listens.

    StoreError when it says nothing: it ends, hangs, or is of a version that knows no such question.
    """
    try:
        async with asyncio.timeout(RELOAD_S):
            answer = await _ask(folder, _ReloadRequest("reload"))
        return None if answer is None else _RELOADED.validate_json(answer)
    except (OSError, ValueError) as error:
        raise StoreError("the nuan that runs did not say what became of it: `nuan logs` does, or restart it") from error


async def _ask(folder: Path, asked: AgentRequest | _ReloadRequest) -> bytes | None:
    """The answer, b"" when it ended without one; None when none listens."""
    path = folder / SOCKET
    if len(os.fsencode(path)) > LONGEST_PATH:
        return None
    try:
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
    except OSError:
        return None
    try:
        writer.write(_REQUEST.dump_json(asked) + b"\n")
        return await reader.readline()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
