"""`nuan web` as a process: a chat of its own, a second one that only reads, and a port that is taken."""

import asyncio
import re
import signal
import stat
from pathlib import Path

import aiohttp

from bot.config.settings import WebPage
from bot.core.clock import SystemClock
from bot.core.ports import pause
from bot.web.server import open_server
from tests.e2e import Home, Nuan, run, running
from tests.sizes import PATIENCE_S

WHERE = re.compile(r"the web page is at (http://127\.0\.0\.1:(\d+)/)")


async def address_of(nuan: Nuan) -> str:
    await nuan.until(lambda: WHERE.search(nuan.output) is not None)
    found = WHERE.search(nuan.output)
    assert found is not None
    return found[1]


async def log_in(session: aiohttp.ClientSession, address: str, token: str) -> str:
    """What the first page says."""
    async with session.post(f"{address}login", data={"token": token}) as answer:
        assert answer.status == 200
        return await answer.text()


async def shows(session: aiohttp.ClientSession, address: str, text: str) -> None:
    """Return when that text is on the page: a line is stored at once, and answered a little later."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with session.get(address) as answer:
                if text in await answer.text():
                    return
            await pause(SystemClock(), 20)


async def test_one_talks_one_reads_and_a_taken_port_is_told_in_one_line(tmp_path: Path) -> None:
    home = Home(tmp_path, {"WEB__PORT": "0", "BOT__LANGUAGE": "en"})
    async with running(home, "web") as nuan:
        address = await address_of(nuan)
        path = home.data_folder / "web.token"
        token = path.read_text("utf-8").strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            first = await log_in(session, address, token)
            (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', first))
            async with session.post(f"{address}chat", data={"csrf": csrf, "text": "记住我怕狗"}) as answer:
                assert answer.status == 200
            await shows(session, f"{address}memories", "我怕狗")
            port = address.rsplit(":", 1)[1].strip("/")
            taken = await run(home, "web", "--port", port)
            assert (taken.code, len(taken.err.splitlines())) == (1, 1)
            assert f"cannot listen at 127.0.0.1:{port}" in taken.err
            async with running(home, "web") as second:
                there = await address_of(second)
                await second.until(lambda: "so this page only reads" in second.output)
                shown = await log_in(session, there, token)
                assert "Here you can only read" in shown
                second.send(signal.SIGTERM)
                assert await second.ended() == 0
        nuan.send(signal.SIGTERM)
        assert await nuan.ended() == 0
    assert token not in nuan.output + nuan.errors, "a journal is no terminal"
    assert token not in "".join(map(str, home.log()))
    assert (len(home.log("web_login")), home.log("web_failed")) == (1, [])


def test_the_token_is_told_once_and_only_to_a_terminal(tmp_path: Path) -> None:
    with open_server(WebPage(port=0), tmp_path) as page:
        assert page.token in page.greeting(terminal=True)
        assert page.token not in page.greeting(terminal=False)
    with open_server(WebPage(port=0), tmp_path) as again:
        assert again.token == page.token
        assert again.token not in again.greeting(terminal=True)
        assert "network" not in again.greeting(terminal=True)
    with open_server(WebPage(host="0.0.0.0", port=0), tmp_path) as wide:
        assert "others on the network can reach that address" in wide.greeting(terminal=False)


async def test_an_installation_with_a_page_at_an_address_that_is_not_there_says_so_in_one_line(tmp_path: Path) -> None:
    home = Home(tmp_path, {"WEB__HOST": "no such host", "WEB__PORT": "0", "WEB__ON": "true"})
    ran = await run(home, "run")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "web.host" in ran.err
