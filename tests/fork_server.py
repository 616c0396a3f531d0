"""Real processes without the seconds that importing takes: one process imports everything, and forks those that run.

`python -m tests.fork_server N` is that process, with a socket as descriptor N that listens for those who order: all
workers of one run of tests have one. It has one thread, opens nothing, and imports at the first order; what a start
reads, the shipped texts, dictionaries and expressions, it has read by then too. What it forks takes over folder,
environment and the three streams, runs its module as `python -m` would and ends as any program: it can be asked,
interrupted and killed like one, and starts in a tenth of the time.
"""

import asyncio
import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
FORKED = str(ROOT / "tests/fakes/forked.py")
PACKAGES = ("bot", "adapters")
LIBRARIES = (
    "openai.resources.chat.completions",
    "httpx",
    "telegram.ext",
    "discord",
    "prompt_toolkit.shortcuts",
    "rich.progress",
    "starlette.applications",
    "uvicorn",
    "opencc",
    "apscheduler.triggers.cron",
    "asyncio.subprocess",
    "mcp.server.stdio",
)
"""What the program, and servers of tests, import only when it is needed."""

TABLES = ROOT / ".pytest_cache" / "tables"
"""Where the tables of libraries are kept that all tests use."""

SOME_DAY = 1_781_226_000_000
"""In which year messages are read before any comes: 2026."""

ORDER_BYTES = 200_000
"""No order is longer: environment and words of a command."""


@dataclass(frozen=True, slots=True)
class Order:
    """What shall run: a module with its words, where, and with which variables of the environment."""

    module: str
    words: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]


class Child:
    """A process that was forked here, used as one of asyncio's or, with `join`, as one of subprocess."""

    def __init__(self, server: "ForkServer", pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server
        self._handle = os.pidfd_open(pid)

    async def wait(self) -> int:
        """The exit code, or minus the signal that killed it, once it has ended."""
        if self.returncode is None:
            ended, handle, loop = asyncio.Event(), os.dup(self._handle), asyncio.get_running_loop()
            loop.add_reader(handle, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(handle)
                os.close(handle)
        return self.join()

    def join(self) -> int:
        """As `wait`; nothing else happens meanwhile."""
        if self.returncode is None:
            select.select([self._handle], [], [])  # others may order meanwhile
            self.returncode = self._server.status(self.pid)
            os.close(self._handle)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to this one process; ProcessLookupError when it has ended."""
        if self.returncode is not None:
            raise ProcessLookupError
        signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        """As kill -9."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The process that forks, seen from one who orders. It ends when nobody does any more."""

    def __init__(self) -> None:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
        self.address = f"nuan-fork-{run}-{zlib.crc32(bytes(ROOT))}"
        """Of a socket without a file; another copy of the code has a server of its own."""
        while (wire := connected(self.address)) is None:
            self._begin()
        self._wire = wire
        atexit.register(wire.close)

    def _begin(self) -> None:
        """Start it, nobody's child, unless another process does at this moment."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening, suppress(OSError):
            listening.bind(f"\0{self.address}")
            listening.listen()
            subprocess.run(
                [sys.executable, "-m", "tests.fork_server", str(listening.fileno())],
                cwd=ROOT,
                pass_fds=[listening.fileno()],
                env={**os.environ, "LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
                check=True,
            )

    def start(self, order: Order, streams: tuple[int, int, int]) -> Child:
        """Run it with these descriptors as standard input, output and error; they stay open here."""
        socket.send_fds(self._wire, [json.dumps(asdict(order)).encode()], streams)
        return Child(self, int(self._wire.recv(ORDER_BYTES)))

    def status(self, pid: int) -> int:
        """Wait for the end of that child; how it ended."""
        self._wire.send(str(pid).encode())
        return int(self._wire.recv(ORDER_BYTES))

    def ended(self) -> bool:
        """Whether somebody has killed it."""
        return bool(select.select([self._wire], [], [], 0)[0])


def connected(address: str) -> socket.socket | None:
    """A connection to the fork server of that address; None where there is none."""
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        wire.connect(f"\0{address}")
    except ConnectionRefusedError:
        wire.close()
        return None
    return wire


@cache
def _started() -> list[ForkServer]:
    return []


def fork_server() -> ForkServer:
    """The one of this process, started when it is first needed, and anew when somebody has killed it."""
    started = _started()
    if not started or started[-1].ended():
        if started:
            os.write(2, b"the fork server has ended: a new one starts\n")
        started.append(ForkServer())
    return started[-1]


def command(module: str, *words: str) -> tuple[str, ...]:
    """The command line by which a program starts a module that the fork server runs in its place."""
    return (sys.executable, "-S", "-P", FORKED, fork_server().address, module, *words)


def run_module(module: str, *words: str) -> int:
    """Run a module of the project to its end, with the streams of this process; how it ended."""
    order = Order(module, words, str(ROOT), dict(os.environ))
    with Path(os.devnull).open("rb") as nothing:
        return fork_server().start(order, (nothing.fileno(), 1, 2)).join()


def _load() -> None:
    """Import all that the program might, and load what it loads as it starts."""
    importlib.import_module("bot.lazy_packages").load_parts_when_asked("openai.types")
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for found in pkgutil.walk_packages(path, f"{package}."):
            if not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    for library in LIBRARIES:
        importlib.import_module(library)
    importlib.import_module("bot.text.tables").keep_tables_in(TABLES)
    _prepare()
    gc.freeze()


def _prepare() -> None:
    """Read the shipped texts, and all that a start loads before the first message comes, with the usual settings."""
    # Not at the top: who only orders has no need of them.
    from bot.cli import installation
    from bot.config.settings import Settings
    from bot.pipeline.endpoints import make_pool

    settings, data = Settings(), ROOT / "data"
    installation.text_problems(settings, data)
    place = installation.find_installation(settings, data)
    configuration = installation.make_configuration(place, make_pool(settings, place.prompts.path))
    asyncio.run(installation.preload(configuration, SOME_DAY))


def _serve(listening: socket.socket) -> Order | None:
    """Fork for every order and tell how children ended; returns in the child with its order, here with None.

    When one who ordered is gone, those of theirs that still run are killed: none outlives its test.
    """
    running: dict[socket.socket, set[int]] = {listening.accept()[0]: set()}
    while running:
        for wire in select.select([listening, *running], [], [])[0]:
            if wire is listening:
                running[listening.accept()[0]] = set()
                continue
            told, streams, _, _ = _received(wire)
            if not told:
                wire.close()
                for pid in running.pop(wire):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            elif not streams:
                running[wire].discard(int(told))
                wire.send(str(os.waitstatus_to_exitcode(os.waitpid(int(told), 0)[1])).encode())
            elif (pid := _forked()) != 0:
                running[wire].add(pid)
                for stream in streams:
                    os.close(stream)
                wire.send(str(pid).encode())
            else:
                for each in (listening, *running):
                    each.close()
                order = Order(**json.loads(told))
                _become(order, streams)
                return order
    return None


def _received(wire: socket.socket) -> tuple[bytes, list[int], int, object]:
    try:
        return socket.recv_fds(wire, ORDER_BYTES, 3)
    except ConnectionResetError:  # who ordered was killed
        return b"", [], 0, None


@cache
def _loaded() -> None:
    """Once: import all, and keep it."""
    gc.disable()  # what is imported stays
    _load()
    gc.enable()


def _forked() -> int:
    _loaded()
    return os.fork()


def _become(order: Order, streams: list[int]) -> None:
    """Take over session, streams, folder, environment and zone."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    sys.stdin = _stream(0, "r", sys.stdin)
    sys.stdout = _stream(1, "w", sys.stdout)
    sys.stderr = _stream(2, "w", sys.stderr)


def _stream(number: int, mode: str, before: TextIO) -> io.TextIOWrapper:
    """What Python makes of that descriptor when it starts."""
    raw = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 - it is open as long as the process lives
    at_once = number == 2 or os.isatty(number)
    return io.TextIOWrapper(raw, before.encoding, before.errors, line_buffering=mode == "w" and at_once)


def _main() -> None:
    if os.fork():
        os._exit(0)  # whoever started it has no child that lasts
    order = _serve(socket.socket(fileno=int(sys.argv[1])))
    if order is not None:
        sys.argv[1:] = order.words
        _end(_run(order.module))


def _run(module: str) -> int:
    """The exit code of the module; what is no SystemExit goes the interpreter's own way."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
        return 1
    return 0


def _end(code: int) -> None:
    """End as the interpreter does, but for taking all modules apart: their pages are shared, and that takes seconds.

    Threads are waited for, what was to be done at the end is done, and what was left behind complains.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        _main()
