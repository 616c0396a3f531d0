"""The terminal: a DM with whoever sits at it, or a group played by one person (`who: text`).

Interactive through prompt_toolkit, else plain lines of a pipe or file; it answers nothing itself."""

import asyncio
import os
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TextIO

from bot.core.errors import NuanError
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.ports import EventSink
from bot.text.clean import clean_name
from bot.text.fold import fold

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

PLATFORM, USER_ID = "console", "local"
DRAFT_INTERVAL_MS = 150
LEAST_COLUMNS = 20
NOT_FIRST = frozenset("，。！？；：、…）】》」』”’,.!?;:)]}%·")
"""What begins no line."""
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
READ_AHEAD_LINES = 64
"""Lines a pipe may be ahead of the conversation: a long file is not read into memory at once."""
LEAVING = frozenset({"/quit", "/exit", "quit", "exit"})
"""Lines that end the talk at a terminal."""

_SPEAKER = re.compile(
    r"(?s)\s*(?![0-9]+[:：])(?P<who>[^\s:：/\\.@#<>\"'，。！？,!?][^\s:：/\\@<>\"'，。！？,!?]{0,31})"
    r"(?::(?![:/\\0-9])|：)\s*(?P<text>\S.*)"
)
_ADDRESSEE = re.compile(r"\A\s*@?([^\s:：,，@]{1,32})\s*[:：,，]")
_MENTION = re.compile(r"@([^\s:：,，.。!！?？@]{1,32})")
_VISIBLE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in {0x09, 0x0A}},
    0x7F: "␡",
    **dict.fromkeys(range(0x80, 0xA0), "�"),
    **dict.fromkeys((0x2028, 0x2029), "\n"),
    **dict.fromkeys((0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), None),
    **dict.fromkeys(range(0xD800, 0xE000), "�"),
}


class Terminal(Protocol):
    """Where lines come from and texts go to."""

    def lines(self) -> AsyncGenerator[str, None]:
        """What was typed, message by message, until the input ends."""
        ...

    async def show(self, text: str) -> None:
        """Print a text that ends with a line break; OSError when nobody reads any more."""
        ...

    def hint(self, on: bool) -> None:
        """Show or hide that an answer is on its way, where that can be seen."""
        ...

    async def aside(self, text: str) -> None:
        """Print a line that is no part of the talk, where only people read."""
        ...

    async def used(self) -> bool:
        """True as soon as somebody begins to type, where that can be seen, else at once; False when the input ends
        before."""
        ...


@dataclass(frozen=True, slots=True)
class PipeTerminal:
    """Plain lines from a file descriptor (pipe, file, anything), plain text to `out`."""

    fd: int
    out: TextIO

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines; bytes that are no UTF-8 become �, an unfinished last line counts."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        room = threading.Semaphore(READ_AHEAD_LINES)
        stopped = threading.Event()

        def put(line: str | None) -> bool:
            room.acquire()
            with suppress(RuntimeError):  # the loop may have closed first
                loop.call_soon_threadsafe(queue.put_nowait, line)
            return not stopped.is_set()

        # A daemon on the bare descriptor: a read that never returns must not hold up the end of the program.
        threading.Thread(target=_feed, args=(self.fd, put), name="console-input", daemon=True).start()
        try:
            while (line := await queue.get()) is not None:
                room.release()
                yield line
        finally:
            stopped.set()
            room.release()

    async def show(self, text: str) -> None:
        """Print it at once."""
        _write(self.out, text)

    def hint(self, on: bool) -> None:
        """Nothing: a pipe shows only what was said."""

    async def aside(self, text: str) -> None:
        """Nothing, as with hints."""

    async def used(self) -> bool:
        """At once: lines come whole."""
        return True


@dataclass(slots=True)
class PromptTerminal:
    """A real terminal: line editing, pasted lines as one message, texts printed above what is being typed."""

    out: TextIO
    source: "Input"
    prompt: str = "› "
    stop: str = "停"
    """What Ctrl-C says while an answer is on its way."""
    display: "Output | None" = None
    _session: "PromptSession[str] | None" = field(default=None, init=False)
    _draft: str = field(default="", init=False)
    _thinking: bool = field(default=False, init=False)
    _used: bool = field(default=False, init=False)
    _told: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def lines(self) -> AsyncGenerator[str, None]:
        """What was typed; Ctrl-D ends it. Ctrl-C clears the line, else stops the answer, else ends it, too."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.keys import Keys
        from prompt_toolkit.patch_stdout import patch_stdout

        bindings = KeyBindings()
        # A pasted colour code (ESC[31m) is taken for a mouse, and prompt_toolkit's own reader of mice fails on it.
        bindings.add(Keys.Vt100MouseEvent)(lambda event: None)
        bindings.add("c-c")(self._interrupt)
        session: PromptSession[str] = PromptSession(
            lambda: self.prompt if session.app.is_done else self._draft + self.prompt,
            input=self.source,
            output=self.display,
            rprompt=lambda: "…" if self._thinking and not session.app.is_done else "",
            key_bindings=bindings,
        )
        self._session = session
        session.default_buffer.on_text_changed += lambda _: self._use()
        # Whatever else writes meanwhile must not tear the prompt, and no key may be lost between two prompts.
        try:
            with self.source.raw_mode(), patch_stdout(raw=True), suppress(EOFError, KeyboardInterrupt):
                while True:
                    yield await session.prompt_async()
        finally:
            self._told.set()

    async def show(self, text: str) -> None:
        """Print it above the prompt, broken at words; done when it is on the screen."""
        from prompt_toolkit.application import run_in_terminal

        self._draft = ""
        await run_in_terminal(lambda: _write(self.out, wrapped(text, self._columns())))

    async def aside(self, text: str) -> None:
        """Print it dim."""
        from prompt_toolkit.application import run_in_terminal

        await run_in_terminal(lambda: _write(self.out, f"{DIM}{visible(text)}{PLAIN}\n"))

    def hint(self, on: bool) -> None:
        """A … at the right end of the prompt."""
        self._thinking = on
        if not on:
            self._draft = ""
        self._refresh()

    def draft(self, text: str) -> None:
        """What is being written stands above the prompt: its last lines, as far as there is room."""
        rows = self._session.app.output.get_size().rows if self._session is not None else 0
        lines = wrapped(text, self._columns()).split("\n")[-max(1, rows - 4) :]
        self._draft = "".join(f"{line}\n" for line in lines)
        self._refresh()

    def _columns(self) -> int:
        return self._session.app.output.get_size().columns if self._session is not None else 0

    def _refresh(self) -> None:
        if self._session is not None:
            self._session.app.invalidate()

    def _interrupt(self, event: "KeyPressEvent") -> None:
        if event.app.current_buffer.text:
            event.app.current_buffer.reset()
        elif self._thinking:
            event.app.current_buffer.text = self.stop
            event.app.current_buffer.validate_and_handle()
        else:
            event.app.exit(exception=EOFError)

    async def used(self) -> bool:
        """When the first key is typed."""
        await self._told.wait()
        return self._used

    def _use(self) -> None:
        self._used = True
        self._told.set()


def _raw_input(stdin: TextIO) -> "Input":
    """Keys as they are typed, also while a text is printed: a line-wise terminal would swallow a Ctrl-D then."""
    from prompt_toolkit.input.vt100 import Vt100Input

    class RawInput(Vt100Input):
        def cooked_mode(self) -> AbstractContextManager[None]:
            return nullcontext()

    return RawInput(stdin)


def open_terminal(stdin: TextIO, stdout: TextIO) -> Terminal:
    """An interactive terminal if both are one, else plain lines."""
    both = stdin.isatty() and stdout.isatty()
    return PromptTerminal(stdout, _raw_input(stdin)) if both else PipeTerminal(stdin.fileno(), stdout)


class ConsoleAdapter:
    """The terminal as a platform. With `group`, a line `who: text` is said by `who`, any other by `user`.

    `prefix` stands before each reply, {names} in `scene` becomes those who have spoken; "" describes nothing.
    """

    platform = PLATFORM
    resends = True
    draft_interval_ms: int
    """Only where somebody sees it: a pipe gets whole replies."""

    def __init__(
        self,
        terminal: Terminal,
        user: str,
        prefix: str,
        group: str = "",
        bot_names: tuple[str, ...] = (),
        scene: str = "",
    ) -> None:
        self._terminal = terminal
        if isinstance(terminal, PromptTerminal):
            self.draft_interval_ms = DRAFT_INTERVAL_MS
        self.awaits = isinstance(terminal, PipeTerminal)
        self._user = Sender(PLATFORM, USER_ID, clean_name(user))
        self._prefix = prefix
        self._scene = scene
        self._bot_names = frozenset(map(fold, bot_names))
        self._present: dict[str, str] = {}
        title = clean_name(group) if group else ""
        self.place = Place(PLATFORM, f"group:{title}", "group", title) if group else Place(PLATFORM, USER_ID, "dm")

    def rename(self, user: str, prefix: str, bot_names: tuple[str, ...]) -> None:
        """nuan, and who types unless a line says otherwise, have other names from now on."""
        self._user = Sender(PLATFORM, USER_ID, clean_name(user))
        self._prefix, self._bot_names = prefix, frozenset(map(fold, bot_names))

    async def run(self, sink: EventSink, answered: Callable[[], Awaitable[None]] | None = None) -> None:
        """Bring every line to the sink until the input or a line of LEAVING ends it; what goes wrong with one is shown in one line.

        `answered` is waited for before the next line is read.
        """
        async with aclosing(self._terminal.lines()) as lines:
            async for line in lines:
                if line.strip().casefold() in LEAVING:
                    break
                try:
                    if line.strip():
                        await sink.accept(self.incoming(line))
                        if answered is not None:
                            await answered()
                except NuanError as error:
                    await self._terminal.show(f"! {' '.join(visible(str(error)).split())}\n")

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Print one message, its control characters made visible; OSError when nobody reads any more."""
        await self._terminal.show(f"{self._prefix}{visible(outgoing.text)}\n")
        return (str(outgoing.outbox_id),)

    async def draft(self, outgoing: Outgoing) -> bool:
        """Show what is being written, on a terminal only."""
        if not isinstance(self._terminal, PromptTerminal):
            return False
        self._terminal.draft(f"{self._prefix}{visible(outgoing.text)}")
        return True

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide …, on a terminal only."""
        if external_chat_id == self.place.external_id:
            self._terminal.hint(on)

    def incoming(self, line: str) -> Incoming:
        """One line as what happened."""
        if self.place.kind == "dm":
            return Incoming(self.place, self._user, "message", line)
        who, text = split_speaker(line)
        if fold(who) in self._bot_names:
            who, text = "", line
        me = fold(who or self._user.name)
        sender = Sender(PLATFORM, f"{self.place.external_id}:{me}", who) if who else self._user
        self._present[me] = sender.name
        called = {fold(name) for name in _MENTION.findall(text)}
        addressed = called | {fold(name) for name in _ADDRESSEE.findall(text)}
        return Incoming(
            self.place,
            sender,
            "message",
            text,
            mentions_bot=not called.isdisjoint(self._bot_names),
            addresses_other=not (addressed - {me} - self._bot_names).isdisjoint(self._present),
            scene=self._scene.replace("{names}", "、".join(self._present.values())) or None,
        )


def split_speaker(line: str) -> tuple[str, str]:
    """`who: text` as (who, text), also with a full-width colon; ("", line) when nobody is named.

    A name has at most 32 characters without spaces and not only digits: http://x, 12:30 and C:\\x name nobody.
    """
    found = _SPEAKER.fullmatch(line)
    return (clean_name(found["who"]), found["text"].rstrip()) if found else ("", line)


def visible(text: str) -> str:
    """The text without anything that could steer a terminal: escape sequences show as ␛, line breaks stay."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def wrapped(text: str, columns: int) -> str:
    """The text in lines that a terminal of so many columns does not break: at blanks, and between Chinese characters."""
    if columns < LEAST_COLUMNS:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        rest = line
        while (cut := _fitting(rest, columns - 1)) < len(rest):
            lines.append(rest[:cut].rstrip())
            rest = rest[cut:].lstrip(" ")
        lines.append(rest)
    return "\n".join(lines)


def _fitting(line: str, columns: int) -> int:
    """How much of a line to put into so many columns."""
    from prompt_toolkit.utils import get_cwidth

    used = last = 0
    for at, char in enumerate(line):
        width = get_cwidth(char)
        if at and char not in NOT_FIRST and (width > 1 or get_cwidth(line[at - 1]) > 1 or line[at - 1] == " "):
            last = at
        used += width
        if used > columns:
            return last or at
    return len(line)


def _feed(fd: int, put: Callable[[str | None], bool]) -> None:
    with suppress(OSError):  # the other side hung up
        for line in _read_lines(fd):
            if not put(line):
                return
    put(None)


def _read_lines(fd: int) -> Iterator[str]:
    unfinished: list[bytes] = []
    while chunk := os.read(fd, 65_536):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield b"".join((*unfinished, part)).removesuffix(b"\r").decode("utf-8", "replace")
            unfinished = []
        unfinished.append(rest)
    if last := b"".join(unfinished):
        yield last.removesuffix(b"\r").decode("utf-8", "replace")


def _write(out: TextIO, text: str) -> None:
    encoding = out.encoding or "utf-8"
    out.write(text.encode(encoding, "replace").decode(encoding))
    out.flush()
