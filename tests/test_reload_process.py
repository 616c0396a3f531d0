"""Reloading the real program: SIGHUP, `.ai reload` and changed files, against servers on loopback."""

import asyncio
import os
import pty
import signal
from pathlib import Path

from bot.core.clock import SystemClock
from bot.core.ports import pause
from tests.e2e import Home, Nuan, running
from tests.platforms import STOPS_WITHIN_S, Platforms, PlatformsHome, keeps_secrets, stop
from tests.sizes import PATIENCE_S
from tests.test_run import ANN

STRICT = (
    "-X",
    "dev",
    "-W",
    "error",
    # As in pyproject.toml: what the platforms' libraries are warned of.
    "-W",
    "ignore:'audioop' is deprecated:DeprecationWarning",
    "-W",
    "ignore:Deprecated since version v22.2:UserWarning",
    "-W",
    "ignore:invalid escape sequence:SyntaxWarning",
    "-W",
    "ignore:invalid escape sequence:DeprecationWarning",
    "-W",
    "ignore:pkg_resources is deprecated:UserWarning",
    "-W",
    "ignore:pkg_resources is deprecated:DeprecationWarning",
)


class Strict(PlatformsHome):
    """Every warning is an error, and asyncio looks closely."""

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """As usual, with the options of the interpreter."""
        program, *rest = super().command(command, *more)
        return (program, *STRICT, *rest)


def descriptors(nuan: Nuan) -> int:
    return len(list(Path(f"/proc/{nuan.process.pid}/fd").iterdir()))


def threads(nuan: Nuan) -> int:
    return len(list(Path(f"/proc/{nuan.process.pid}/task").iterdir()))


async def logged(home: Home, event: str, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(home.log(event)) < count:
            await pause(SystemClock(), 20)


async def test_sighup_and_changed_files_reload_and_nothing_is_left(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        file = tmp_path / "nuan.toml"
        file.write_text("[reload]\nwatch_seconds = 0\n")
        made = platforms.home(tmp_path, TELEGRAM__ALLOW=str(ANN.id))
        home = Strict(made.folder, made.settings)
        async with running(home, "run") as nuan:
            assert await platforms.tell(ANN, "第1句") == "收到第1句"
            file.write_text("[reload]\nwatch_seconds = 0\n[input]\nmax_chars = 7_000\n[model]\ntries = 2\n")
            nuan.send(signal.SIGHUP)
            await logged(home, "reloaded", 1)
            assert home.log("reloaded")[0]["changed"] == [
                "model.tries",
                "input.max_chars",
            ]
            assert await platforms.tell(ANN, "第2句") == "收到第2句"
            before = descriptors(nuan), threads(nuan)
            for number in range(4):
                file.write_text(f"[reload]\nwatch_seconds = 0\n[model]\nprice_input = {number}\nprice_output = 1\n")
                nuan.send(signal.SIGHUP)
                await logged(home, "reloaded", number + 2)
                assert await platforms.tell(ANN, f"第{number + 3}句") == f"收到第{number + 3}句"
            after = descriptors(nuan), threads(nuan)
            assert after[0] <= before[0] + 1, (before, after)
            assert after[1] <= before[1] + 4, "asyncio keeps a few threads of its own for files"
            file.write_text("[reload]\nwatch_seconds = 0.1\n[input]\nmax_char = 1\n")
            nuan.send(signal.SIGHUP)
            await logged(home, "reload_refused", 1)
            file.write_text("[reload]\nwatch_seconds = 0.1\n")
            nuan.send(signal.SIGHUP)
            await logged(home, "reloaded", 6)
            file.write_text('[reload]\nwatch_seconds = 0.1\n[bot]\nowner = "安"\n')
            await logged(home, "reloaded", 7)
            assert home.log("reloaded")[-1]["why"] == "file"
            assert len(platforms.telegram.sent(ANN.id)) == 6
            nuan.send(signal.SIGHUP)
            await stop(nuan)
        assert "Warning" not in nuan.errors
        assert "Traceback" not in nuan.errors
        slow = ("library", "asyncio")  # debugging, it says of each slow step how slow it was on this machine
        wrong = [line for line in home.log() if line["level"] != "info" and (line["event"], line.get("logger")) != slow]
        assert [line["event"] for line in wrong] == ["reload_refused"]
        keeps_secrets(home, nuan.output, nuan.errors)


async def test_sigterm_during_a_reload_ends_it_well(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, DISCORD__TOKEN="none", TELEGRAM__ALLOW=str(ANN.id))
        for life in (0, 2):
            async with running(home, "run") as nuan:
                assert await platforms.tell(ANN, f"第{life}句") == f"收到第{life}句"
                (tmp_path / "nuan.toml").write_text(f"[model]\ntemperature = 0.{life}\n")
                nuan.send(signal.SIGHUP)
                await pause(SystemClock(), 10 * life)
                nuan.send(signal.SIGTERM)
                assert await nuan.ended(STOPS_WITHIN_S) == 0, nuan.errors
        assert "Traceback" not in nuan.errors
        assert [line for line in home.log() if line["level"] == "error"] == []


async def test_reload_is_a_command_of_the_terminal_too_and_a_closed_terminal_ends_it(tmp_path: Path) -> None:
    home = Home(tmp_path, {"RELOAD__WATCH_SECONDS": "0"})
    async with running(home, "chat", tty=True) as nuan:
        (tmp_path / "nuan.toml").write_text('[bot]\nnames = ["小暖", "阿福"]\n[input]\nmax_char = 3\n')
        assert await nuan.ask(".ai reload") == "有错，没有换，还用原来的："
        (tmp_path / "nuan.toml").write_text('[bot]\nnames = ["小暖", "阿福"]\n')
        assert await nuan.ask("/ai reload") == "重新读好了，改了：bot.names"
        assert await nuan.ask("。ai reload") == "没有变化"
        (tmp_path / "nuan.toml").unlink()
        assert await nuan.ask("．ai reload") == "有错，没有换，还用原来的：", "a file that is gone is no empty one"
    ended = await closed_terminal(home, "chat")
    assert ended in (0, -signal.SIGHUP), ended


async def closed_terminal(home: Home, *command: str) -> int:
    """Start it in a terminal of its own, close that terminal; how it ended."""
    pid, terminal = pty.fork()
    if not pid:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as in a terminal, whoever runs the tests had it ignored
        os.chdir(home.folder)
        line = home.command(*command)
        os.execve(line[0], line, home.environment())
    seen = b""
    while "›".encode() not in seen and b"started" not in seen:
        seen += await asyncio.to_thread(os.read, terminal, 4096)
        if b"\x1b[6n" in seen:
            os.write(terminal, b"\x1b[1;1R")
            seen = seen.replace(b"\x1b[6n", b"")
    os.close(terminal)
    async with asyncio.timeout(STOPS_WITHIN_S):
        return os.waitstatus_to_exitcode((await asyncio.to_thread(os.waitpid, pid, 0))[1])


async def test_a_closed_terminal_stops_run_as_well(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, DISCORD__TOKEN="none")
        assert await closed_terminal(home, "run") in (0, 120), "120: nobody is left to read what Python still flushes"
        assert [line["event"] for line in home.log()][-1] == "stopped"
        assert home.log("reloaded") == []
