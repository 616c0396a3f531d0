"""A real pseudo-terminal: no key is lost while something is printed or between two prompts."""

import asyncio
import io
import os
import pty

from prompt_toolkit.application import create_app_session
from prompt_toolkit.output import DummyOutput

from adapters.console import open_terminal
from tests.sizes import PATIENCE_S


class Screen(io.StringIO):
    """A screen on whose every printing something is typed."""

    def __init__(self, keyboard: int, keys: bytes) -> None:
        super().__init__()
        self.keyboard = keyboard
        self.keys = keys

    def write(self, text: str) -> int:
        os.write(self.keyboard, self.keys)
        return super().write(text)

    def isatty(self) -> bool:
        return True


async def test_an_end_of_input_typed_while_a_reply_is_printed_ends_the_talk() -> None:
    main, side = pty.openpty()
    with os.fdopen(main, "rb", buffering=0), os.fdopen(side, "r") as stdin:
        screen = Screen(main, b"\x04")
        with create_app_session(output=DummyOutput()) as session:
            terminal = open_terminal(stdin, screen)

            async def talk() -> list[str]:
                return [line async for line in terminal.lines()]

            talking = asyncio.create_task(talk())
            os.write(main, b"hello\r")
            while session.app is None or not session.app.is_running:
                await asyncio.wait((talking,), timeout=0.01)
            await terminal.show("reply\n")
            async with asyncio.timeout(PATIENCE_S):
                assert await talking == ["hello"]
    assert screen.getvalue() == "reply\n"


async def test_what_is_typed_between_two_prompts_is_not_lost() -> None:
    main, side = pty.openpty()
    files = os.fdopen(main, "rb", buffering=0), os.fdopen(side, "r")
    with files[0], files[1] as stdin, create_app_session(output=DummyOutput()):
        os.write(main, b"hello\r")
        heard = []
        async with asyncio.timeout(PATIENCE_S):
            async for line in open_terminal(stdin, Screen(main, b"")).lines():
                heard.append(line)
                os.write(main, b"again\r" if len(heard) == 1 else b"\x04")
    assert heard == ["hello", "again"]


async def test_a_pasted_colour_code_is_no_error_of_the_terminal() -> None:
    main, side = pty.openpty()
    files = os.fdopen(main, "rb", buffering=0), os.fdopen(side, "r")
    with files[0], files[1] as stdin, create_app_session(output=DummyOutput()):
        os.write(main, b"\x1b[31mred\r")
        async with asyncio.timeout(PATIENCE_S):
            async for line in open_terminal(stdin, Screen(main, b"")).lines():
                assert line == "red"
                os.write(main, b"\x04")
