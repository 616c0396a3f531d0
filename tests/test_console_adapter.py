"""The terminal as a platform: real pipes, real files, a real pseudo-terminal's input, a sink that only listens."""

import asyncio
import io
import os
import pty
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.vt100 import Vt100_Output

from adapters.console import (
    ConsoleAdapter,
    PipeTerminal,
    PromptTerminal,
    open_terminal,
    split_speaker,
    visible,
    wrapped,
)
from bot.core.errors import StoreError
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.ports import Drafts, implements
from tests.tables import all_cases

NAMES = ("小暖", "nuan")


class RecordingSink:
    """Keeps what comes through."""

    def __init__(self, broken: bool = False) -> None:
        self.seen: list[Incoming] = []
        self.broken = broken

    async def accept(self, incoming: Incoming) -> bool:
        if self.broken:
            raise StoreError("the disk is full;\nmake room\x1b[2J")
        self.seen.append(incoming)
        return True

    async def newest(self, place: Place) -> str:
        return ""

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        return ()

    async def places(self, platform: str) -> tuple[Place, ...]:
        return ()

    def typing(self, place: Place, account: str) -> None:
        """Nobody looks."""

    @property
    def texts(self) -> list[str]:
        return [incoming.text for incoming in self.seen]


class Script:
    """A terminal that says fixed lines and keeps what is shown."""

    def __init__(self, *said: str) -> None:
        self.said = said
        self.shown: list[str] = []
        self.hints: list[bool] = []

    async def lines(self) -> AsyncGenerator[str, None]:
        for line in self.said:
            yield line

    async def show(self, text: str) -> None:
        self.shown.append(text)

    def hint(self, on: bool) -> None:
        self.hints.append(on)

    async def aside(self, text: str) -> None:
        self.shown.append(text)

    async def used(self) -> bool:
        return True


def adapter(terminal: Script | PipeTerminal | PromptTerminal, group: str = "") -> ConsoleAdapter:
    return ConsoleAdapter(terminal, "小明", "暖 › ", group, NAMES, "在场：{names}" if group else "")


def reply(text: str) -> Outgoing:
    return Outgoing(7, 1, "console", "local", text, "reply")


async def piped(data: bytes) -> RecordingSink:
    """What comes to the sink when these bytes are piped in."""
    reader, writer = os.pipe()
    feeding = threading.Thread(target=_pour, args=(writer, data))
    feeding.start()
    sink = RecordingSink()
    await adapter(PipeTerminal(reader, io.StringIO())).run(sink)
    feeding.join()
    os.close(reader)
    return sink


def _pour(fd: int, data: bytes) -> None:
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(data)


async def test_each_line_of_a_pipe_is_a_message_and_the_end_of_input_ends_it() -> None:
    sink = await piped("你好\r\n\n   \nhello there\n最后一行".encode())
    assert sink.texts == ["你好", "hello there", "最后一行"]
    assert sink.seen[0] == Incoming(
        Place("console", "local", "dm"), Sender("console", "local", "小明"), "message", "你好"
    )


async def test_bytes_that_are_no_text_and_very_long_lines_come_through() -> None:
    sink = await piped(b"a\xff\xfeb\n" + "长".encode() * 300_000 + b"\nend\n")
    assert sink.texts == ["a��b", "长" * 300_000, "end"]


async def test_more_lines_than_are_read_ahead_come_in_order() -> None:
    sink = await piped(b"".join(b"%d\n" % number for number in range(1_000)))
    assert sink.texts == [str(number) for number in range(1_000)]


async def test_a_file_works_like_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "said.txt"
    path.write_text("一\n二\n")
    out = io.StringIO()
    with path.open() as stdin:
        terminal = open_terminal(stdin, out)
        sink = RecordingSink()
        await adapter_of(terminal).run(sink)
    assert sink.texts == ["一", "二"]


def adapter_of(terminal: object) -> ConsoleAdapter:
    assert isinstance(terminal, PipeTerminal)
    return adapter(terminal)


async def test_a_cancelled_adapter_stops_while_the_pipe_stays_open() -> None:
    reader, writer = os.pipe()
    sink = RecordingSink()
    running = asyncio.create_task(adapter(PipeTerminal(reader, io.StringIO())).run(sink))
    os.write(writer, b"hi\n")
    while not sink.seen:
        await asyncio.wait((running,), timeout=0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    os.close(writer)


async def test_a_reply_is_printed_with_its_name_and_its_number_returned() -> None:
    out = io.StringIO()
    sent = await adapter(PipeTerminal(0, out)).send(reply("在呢\n怎么啦"))
    assert sent == ("7",)
    assert out.getvalue() == "暖 › 在呢\n怎么啦\n"


async def test_a_reply_cannot_steer_the_terminal() -> None:
    out = io.StringIO()
    await adapter(PipeTerminal(0, out)).send(reply("\x1b]0;owned\x07\r\x9b2J\u202egnp.exe\ud800\tok\x7f"))
    assert out.getvalue() == "暖 › ␛]0;owned␇␍�2Jgnp.exe�\tok␡\n"


async def test_a_terminal_that_knows_no_chinese_gets_question_marks() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    await PipeTerminal(0, out).show("你好 ok\n")
    assert raw.getvalue() == b"?? ok\n"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_whatever_is_shown_has_no_control_character_but_tab_and_line_break(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert all(char in "\t\n" or char.isprintable() or ord(char) > 0x9F for char in shown)


async def test_what_goes_wrong_is_shown_in_one_line_and_the_conversation_goes_on() -> None:
    terminal = Script("a", "b")
    await adapter(terminal).run(RecordingSink(broken=True))
    assert terminal.shown == ["! the disk is full; make room␛[2J\n"] * 2


async def test_typing_is_hinted_for_this_place_only() -> None:
    terminal = Script()
    console = adapter(terminal)
    console.typing("local", True)
    console.typing("elsewhere", False)
    assert terminal.hints == [True]


@all_cases(
    ("line", "who", "text"),
    [
        ("alice: hi", "alice", "hi"),
        ("小红：在吗", "小红", "在吗"),
        ("  bob:你好 ", "bob", "你好"),
        ("[gnu]|away: 12:30 works", "[gnu]|away", "12:30 works"),
        ("alice: nuan: hi", "alice", "nuan: hi"),
        ("alice: one\ntwo", "alice", "one\ntwo"),
    ],
)
def test_a_line_of_a_group_may_name_who_says_it(line: str, who: str, text: str) -> None:
    assert split_speaker(line) == (who, text)


@all_cases(
    "line",
    [
        "http://example.com",
        "https://x",
        "12:30 we meet",
        "12：30 见",
        "C:\\temp",
        "std::vector",
        "localhost:8080 is down",
        "look at this: it works",
        "alice:",
        ": hm",
        ".ai:x",
        "@bob: hi",
        f"{'x' * 33}: too long",
        "你好，小红：在吗",
        "",
    ],
)
def test_other_colons_name_nobody(line: str) -> None:
    assert split_speaker(line) == ("", line)


async def test_a_group_has_its_people_its_operator_and_a_scene() -> None:
    sink = RecordingSink()
    await adapter(Script("Alice: hi", "大家好", "ＡＬＩＣＥ: 又是我", "nuan: 在吗"), group="茶馆").run(sink)
    place = Place("console", "group:茶馆", "group", "茶馆")
    operator = Sender("console", "local", "小明")
    assert [(seen.place, seen.text) for seen in sink.seen] == [
        (place, "hi"),
        (place, "大家好"),
        (place, "又是我"),
        (place, "nuan: 在吗"),
    ]
    assert [seen.sender for seen in sink.seen] == [
        Sender("console", "group:茶馆:alice", "Alice"),
        operator,
        Sender("console", "group:茶馆:alice", "ＡＬＩＣＥ"),
        operator,
    ]
    assert [seen.scene for seen in sink.seen[:2]] == ["在场：Alice", "在场：Alice、小明"]


@pytest.mark.parametrize(
    ("line", "mentions", "other"),
    [
        ("alice: bob: are you there", False, True),
        ("alice: @bob 你呢", False, True),
        ("alice: 大家好 @小暖 怎么看", True, False),
        ("alice: 小暖，@bob 是谁", False, True),
        ("alice: alice: that is me", False, False),
        ("alice: note: nobody has this name", False, False),
        ("alice: 小暖: hi", False, False),
    ],
)
async def test_a_group_line_may_address_someone(line: str, mentions: bool, other: bool) -> None:
    sink = RecordingSink()
    await adapter(Script("bob: hi", line), group="g").run(sink)
    assert (sink.seen[1].mentions_bot, sink.seen[1].addresses_other) == (mentions, other)


@pytest.mark.parametrize("end", ["\x04", "\x03"])
async def test_a_terminal_takes_a_pasted_text_as_one_message_and_ends_politely(end: str) -> None:
    out = io.StringIO()
    sink = RecordingSink()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        terminal = PromptTerminal(out, keys, display=DummyOutput())
        console = adapter(terminal)
        keys.send_text("你好\r\x1b[200~line one\nline two\x1b[201~\r" + end)
        console.typing("local", end == "\x04")  # while an answer comes, Ctrl-C stops that
        await console.run(sink)
        await console.send(reply("再见"))
    assert sink.texts == ["你好", "line one\nline two"]
    assert out.getvalue() == "暖 › 再见\n"


@pytest.mark.parametrize("leaving", ["/quit", "exit", " /EXIT "])
async def test_a_line_that_leaves_ends_the_talk_and_is_not_said(leaving: str) -> None:
    sink = RecordingSink()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(f"你好\r{leaving}\rnot read\r")
        await adapter(PromptTerminal(io.StringIO(), keys, display=DummyOutput())).run(sink)
    assert sink.texts == ["你好"]


async def test_a_reply_is_printed_while_someone_is_typing() -> None:
    out = io.StringIO()
    sink = RecordingSink()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        console = adapter(PromptTerminal(out, keys, display=DummyOutput()))
        running = asyncio.create_task(console.run(sink))
        keys.send_text("first\rhalf a ")
        while not sink.seen:
            await asyncio.wait((running,), timeout=0.01)
        console.typing("local", True)
        await console.send(reply("在"))
        console.typing("local", False)
        keys.send_text("line\r\x04")
        await running
    assert sink.texts == ["first", "half a line"]
    assert out.getvalue() == "暖 › 在\n"


@pytest.mark.parametrize("busy", [False, True])
async def test_ctrl_c_clears_the_line_or_stops_the_answer_and_ends_only_else(busy: bool) -> None:
    sink = RecordingSink()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        terminal = PromptTerminal(io.StringIO(), keys, display=DummyOutput())
        keys.send_text("not this\x03but this\r")
        running = asyncio.create_task(adapter(terminal).run(sink))
        while not sink.seen:
            await asyncio.wait((running,), timeout=0.01)
        terminal.hint(busy)
        keys.send_text("\x03")
        if busy:
            while len(sink.seen) < 2:
                await asyncio.wait((running,), timeout=0.01)
            terminal.hint(on=False)
            keys.send_text("\x03")
        await running
    assert sink.texts == ["but this", "停"][: 1 + busy]


async def test_what_is_being_written_is_seen_as_it_grows_and_printed_once() -> None:
    out, screen = io.StringIO(), io.StringIO()
    shown = Vt100_Output(screen, lambda: Size(rows=24, columns=40), enable_cpr=False)
    with create_pipe_input() as keys, create_app_session(input=keys, output=shown):
        console = adapter(PromptTerminal(out, keys, display=shown))
        running = asyncio.create_task(console.run(RecordingSink()))
        while not running.done() and "half a sen" not in screen.getvalue():
            assert await console.draft(reply("half a sen"))
            await asyncio.wait((running,), timeout=0.01)
        await console.send(reply("half a sentence"))
        keys.send_text("\x04")
        await running
    assert out.getvalue() == "暖 › half a sentence\n"


async def test_a_pipe_gets_whole_replies() -> None:
    console = adapter(PipeTerminal(0, io.StringIO()))
    assert not implements(console, Drafts)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("one two three four five six", "one two three four\nfive six"),
        ("今天下雨，路上滑，出门带伞", "今天下雨，路上滑，\n出门带伞"),
        ("今天天气真的很好呀，出门", "今天天气真的很好\n呀，出门"),
        ("a\n\nb", "a\n\nb"),
        ("x" * 30, f"{'x' * 19}\n{'x' * 11}"),
    ],
)
def test_a_terminal_breaks_lines_at_words(text: str, told: str) -> None:
    assert wrapped(text, 20) == told


def test_two_ends_of_a_terminal_make_an_interactive_one() -> None:
    main, side = pty.openpty()
    with os.fdopen(main, "rb", buffering=0), os.fdopen(side, "r") as stdin, io.StringIO() as pipe:
        with os.fdopen(os.dup(stdin.fileno()), "w") as stdout:
            assert isinstance(open_terminal(stdin, stdout), PromptTerminal)
        assert isinstance(open_terminal(stdin, pipe), PipeTerminal)
