"""The real program as a process, on a pseudo-terminal or on pipes. It knows nothing of what nuan should answer."""

import asyncio
import json
import os
import pty
import re
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

from tests.fakes.openai_rules import mapping
from tests.fakes.openai_server import FakeOpenAI
from tests.fork_server import Child, Order, fork_server
from tests.sizes import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
KEY = "sk-canary-7f3a9b2c51d8e604"
"""The key of the tests' server; it must turn up nowhere."""

PROGRAM = (sys.executable, "-m", "bot")
Process = asyncio.subprocess.Process | Child

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-Z\\-_]|\x1b\][^\x07]*\x07")
_REPLY = re.compile(r"小暖 › ([^\r\n]*)\r?\n")
_ASKS_WHERE = b"\x1b[6n"


@dataclass
class Home:
    """A folder of its own with the environment of a person who set nothing but what is given."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    data: str = "data"

    @property
    def data_folder(self) -> Path:
        """Where database and logs are."""
        return self.folder / self.data

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """The command line of one nuan command on this folder."""
        return (*PROGRAM, command, "--data", self.data, *more)

    async def start(self, command: tuple[str, ...], streams: tuple[int, int, int]) -> Process:
        """Run a command with these descriptors as its streams; with options of its own the interpreter starts anew."""
        line = self.command(*command)
        if line[: len(PROGRAM)] == PROGRAM:
            words = line[len(PROGRAM) :]
            return fork_server().start(Order("bot", words, str(self.folder), self.environment()), streams)
        stdin, stdout, stderr = streams
        return await asyncio.create_subprocess_exec(
            *line,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=self.folder,
            env=self.environment(),
            start_new_session=True,
        )

    def environment(self) -> dict[str, str]:
        """Of the machine's variables only what Python needs."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        fixed = {"TERM": "xterm", "LANG": "C.UTF-8", "TZ": "Asia/Shanghai", "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
        fixed["NUAN_MEMORY__MODE"] = "v2"  # no process of a test starts the local encoder, unless its settings say so
        return {**kept, **fixed, **{f"NUAN_{name}": value for name, value in self.settings.items()}}

    def log(self, event: str = "") -> list[Mapping[str, object]]:
        """The lines of the log, all or those of one event."""
        path = self.data_folder / "logs" / "nuan.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [line for line in map(mapping, map(json.loads, lines)) if not event or line["event"] == event]

    def files(self) -> list[str]:
        """The files under this folder, but what was printed on standard error."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if not path.name.startswith("stderr"))

    def written(self) -> bytes:
        """Every byte of every file under this folder."""
        return b"\n".join(path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file())


def with_server(server: FakeOpenAI, **more: str) -> dict[str, str]:
    """The settings that make this server answer."""
    return {"MODEL__BASE_URL": server.base_url, "MODEL__NAME": "fake", "MODEL__API_KEY": KEY, **more}


class Nuan:
    """A running nuan: say a line, wait for what it prints, end it."""

    def __init__(self, process: Process, speak: int, listen: int, errors: Path) -> None:
        self.process = process
        self._speak = speak
        self._listen = listen
        self._errors = errors
        self._lines = ""
        self._unfinished = b""
        self._news = asyncio.Event()
        self._heard = 0
        self.is_terminal = speak == listen
        asyncio.get_running_loop().add_reader(listen, self._read)

    @property
    def output(self) -> str:
        """What was printed so far, without cursor movements."""
        return self._lines + _plain(self._unfinished)

    @property
    def errors(self) -> str:
        """What was printed on standard error."""
        return self._errors.read_text("utf-8", "replace")

    @property
    def replies(self) -> list[str]:
        """The first line of everything nuan said."""
        return _REPLY.findall(self.output)

    async def until(self, holds: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
        """Wait for output until something holds; fails with the output when it never does."""
        try:
            async with asyncio.timeout(seconds):
                while not holds():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"waited in vain, the output ends: {self.output[-600:]!r} {self.errors!r}") from None

    async def ready(self) -> None:
        """Wait for the prompt, on a terminal."""
        await self.until(lambda: not self.is_terminal or "›" in self.output)

    async def say(self, text: str | bytes) -> None:
        """Type a line."""
        line = (text.encode() if isinstance(text, str) else text) + (b"\r" if self.is_terminal else b"\n")
        await asyncio.to_thread(_write_all, self._speak, line)

    async def reply(self) -> str:
        """The next thing nuan says: its first line."""
        await self.until(lambda: _REPLY.search(self._lines, self._heard) is not None)
        found = _REPLY.search(self._lines, self._heard)
        assert found is not None
        self._heard = found.end()
        return found[1]

    async def ask(self, text: str) -> str:
        """Say something and wait for the answer."""
        await self.say(text)
        return await self.reply()

    async def end_input(self) -> None:
        """Ctrl-D, or the end of the pipe."""
        if self.is_terminal:
            await asyncio.to_thread(_write_all, self._speak, b"\x04")
        else:
            os.close(self._speak)
            self._speak = -1

    def send(self, number: signal.Signals) -> None:
        """Send a signal to this one process."""
        self.process.send_signal(number)

    async def ended(self, seconds: float = PATIENCE_S) -> int:
        """The exit code, once it has ended and everything it printed is read."""
        async with asyncio.timeout(seconds):
            code = await self.process.wait()
            while self._listen >= 0 and not self.is_terminal:
                self._news.clear()
                await self._news.wait()
        return code

    async def close(self) -> None:
        """End it by its own number if it still runs; free the descriptors."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        self._stop_reading()
        for descriptor in {self._speak, self._listen} - {-1}:
            os.close(descriptor)

    def _read(self) -> None:
        try:
            chunk = os.read(self._listen, 65_536)
        except OSError:  # the other end of a pseudo-terminal is gone
            chunk = b""
        whole, line_end, rest = (self._unfinished + chunk).rpartition(b"\n")
        self._lines += _plain(whole + line_end)
        self._unfinished = rest
        if _ASKS_WHERE in chunk:
            os.write(self._speak, b"\x1b[1;1R")
        if not chunk:
            self._stop_reading()
            if not self.is_terminal:
                os.close(self._listen)
                self._listen = -1
        self._news.set()

    def _stop_reading(self) -> None:
        if self._listen >= 0:
            asyncio.get_running_loop().remove_reader(self._listen)


@asynccontextmanager
async def running(home: Home, *command: str, tty: bool = False) -> AsyncIterator[Nuan]:
    """Start a nuan in its folder; it is ended whatever happens."""
    errors = home.folder / f"stderr-{home.data}.txt"
    if tty:
        speak, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        listen, their_in, their_out = speak, theirs, theirs
    else:
        their_in, speak = os.pipe()
        listen, their_out = os.pipe()
    try:
        with errors.open("ab") as stderr:
            process = await home.start(command or ("chat",), (their_in, their_out, stderr.fileno()))
    finally:
        for descriptor in {their_in, their_out}:
            os.close(descriptor)
    nuan = Nuan(process, speak, listen, errors)
    try:
        await nuan.ready()
        yield nuan
    finally:
        await nuan.close()


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """What it printed."""
        return self.out.decode("utf-8", "replace")


async def run(home: Home, *command: str, stdin: bytes = b"", seconds: float = PATIENCE_S) -> Ran:
    """Run a command to its end with this input."""
    (their_in, into), (out_of, their_out), (wrong, their_wrong) = os.pipe(), os.pipe(), os.pipe()
    process = await home.start(command, (their_in, their_out, their_wrong))
    for theirs in (their_in, their_out, their_wrong):
        os.close(theirs)
    try:
        async with asyncio.timeout(seconds):
            _, out, err = await asyncio.gather(
                asyncio.to_thread(_feed, into, stdin),
                asyncio.to_thread(_drain, out_of),
                asyncio.to_thread(_drain, wrong),
            )
            code = await process.wait()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return Ran(code, out, err.decode("utf-8", "replace"))


def raw_items(body: bytes) -> list[bytes]:
    """Tools and messages of a request, each exactly as it was sent: what a provider's cache compares."""
    text = body.decode()
    return [item.encode() for key in ("tools", "messages") for item in _slices(text, f'"{key}":[')]


def _slices(text: str, start: str) -> Iterator[str]:
    at = text.find(start) + len(start)
    if at < len(start):
        return
    decoder = json.JSONDecoder()
    while text[at] != "]":
        end = decoder.raw_decode(text, at)[1]
        yield text[at:end]
        at = end + (text[end] == ",")


def _plain(printed: bytes) -> str:
    return _ANSI.sub("", printed.decode("utf-8", "replace"))


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _feed(descriptor: int, data: bytes) -> None:
    with suppress(BrokenPipeError):
        _write_all(descriptor, data)
    os.close(descriptor)


def _drain(descriptor: int) -> bytes:
    with open(descriptor, "rb") as stream:
        return stream.read()
