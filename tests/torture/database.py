"""A PostgreSQL server of its own for what is done to the server itself: killed, stopped at once, started again.

It keeps what it said was stored, as servers do: nothing of its durability is switched off but the disk's own cache.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Self

import psycopg

from tests.servers import account, make, programs, url_of
from tests.torture.kills import PATIENCE_S
from tests.torture.processes import descendants, kill_all

SETTINGS = """listen_addresses = ''
unix_socket_permissions = 0777
fsync = off
max_connections = 200
shared_buffers = 64MB
jit = off
"""
"""What a killed process wrote is there all the same: only a machine that loses its power would tell without fsync."""

NAME = "postgres"
"""The database that every server has."""


class DatabaseServer:
    """The server, running as long as this is entered, and its only database."""

    def __init__(self, settings: str = "") -> None:
        """`settings`, in lines, hold before those of all servers."""
        root = os.environ.get("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        self.folder = Path(tempfile.mkdtemp(prefix="nuan-pg-", dir=root))
        self.socket = self.folder / ".s.PGSQL.5432"
        self.url = url_of(self.folder, NAME)
        self._settings = settings
        self._server: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Self:
        place = programs()
        if place is None:
            raise FileNotFoundError("no PostgreSQL server")
        self.folder.chmod(0o755)
        self._place = await asyncio.to_thread(make, self.folder, place, SETTINGS + self._settings)
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.kill()
        await asyncio.to_thread(shutil.rmtree, self.folder)

    async def start(self) -> None:
        """Start it; return when it answers, what an earlier life left is brought in order then."""
        self._server = server = self._begin()
        async with asyncio.timeout(PATIENCE_S):
            while not await asyncio.to_thread(self._answers):
                if server.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text("utf-8", "replace")[-600:])
                await asyncio.sleep(0.05)

    @property
    def pid(self) -> int:
        """Its first process, whose children all others are."""
        assert self._server is not None
        return self._server.pid

    def _begin(self) -> "subprocess.Popen[bytes]":
        own = account()
        user, group = own or (None, None)
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self._place / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=user,
                group=group,
                extra_groups=[] if own else None,
            )

    def kill(self) -> None:
        """SIGKILL to all of its processes, as when memory ran out."""
        if self._server is not None:
            self._server.send_signal(signal.SIGSTOP)  # it would start others meanwhile
            kill_all((self._server.pid, *descendants(self._server.pid)))
            self._server.wait()

    async def stop_at_once(self) -> None:
        """`pg_ctl stop -m immediate`: it ends without putting anything in order."""
        assert self._server is not None
        own = account()
        user, group = own or (None, None)
        ended = await asyncio.create_subprocess_exec(
            *(str(self._place / "pg_ctl"), "stop", "-m", "immediate", "-D", str(self.folder / "data")),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            user=user,
            group=group,
            extra_groups=[] if own else None,
        )
        _, code = await asyncio.gather(asyncio.to_thread(self._server.wait), ended.wait())
        if code:
            raise RuntimeError(f"pg_ctl ended with {code}")

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """What is stored, as another program sees it."""
        with psycopg.connect(self.url, autocommit=True) as other:
            return other.execute(sql.encode()).fetchall()

    def change(self, sql: str) -> None:
        """A statement of its owner that tells nothing."""
        with psycopg.connect(self.url, autocommit=True) as owner:
            owner.execute(sql.encode())

    def some(self, sql: str) -> list[tuple[object, ...]]:
        """The rows, or none while the tables are made or the server is away."""
        with contextlib.suppress(psycopg.Error):
            return self.rows(sql)
        return []

    def _answers(self) -> bool:
        return bool(self.some("SELECT 1"))
