"""Bad luck and ill will against what operators have: the page, backups, logs. Each of these once broke something."""

import asyncio
import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

from bot.cli.logs import log_view
from bot.config.settings import WebPage
from bot.core.errors import StoreError
from bot.ops.log_files import parse_record
from bot.web.requests import WRONG_TRIES, Logins
from bot.web.server import MOST_CONNECTIONS, MOST_OF_ADDRESS, Site, open_server
from tests.belonging import copies, nuan
from tests.blank import open_laid
from tests.carrying import fill, in_installation
from tests.sizes import PATIENCE_S
from tests.webbed import TOKEN, Visitor, Webbed, webbed
from tests.world import World


async def test_a_page_of_another_server_cannot_use_up_the_tries_of_whoever_sits_here(world: World) -> None:
    async with webbed(world) as page:
        here = Visitor(page.app, "127.0.0.1")
        for _ in range(WRONG_TRIES + 1):
            for headers in ({"sec_fetch_site": "cross-site"}, {"origin": "null"}, {"origin": "http://evil.example"}):
                assert (await here.post("/login", {"token": "guess"}, **headers)).status == 403
        for headers in (
            {"sec_fetch_site": "same-origin", "origin": "https://proxied"},
            {"origin": f"http://{here.host}"},
        ):
            assert (await here.post("/login", {"token": "a typo"}, **headers)).status == 401
        assert (await here.log_in()).status == 303


async def test_connections_that_stay_open_use_up_nothing_but_the_page(world: World, tmp_path: Path) -> None:
    page = Webbed(world)
    site_data = page.site._site_data
    with open_server(WebPage(port=0), tmp_path) as server:
        port = server._listener.getsockname()[1]
        async with server.served(site_data, world.log):
            lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS + 40)]
            ended = [asyncio.ensure_future(reader.read()) for reader, _ in lines]
            done: set[asyncio.Future[bytes]] = set()
            async with asyncio.timeout(PATIENCE_S):
                while len(done) < len(lines) - MOST_OF_ADDRESS:
                    done, _ = await asyncio.wait(ended, timeout=0.05)
            assert len(done) == len(lines) - MOST_OF_ADDRESS
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert (await reader.read()).startswith(b"HTTP/1.1 200")
            for task in ended:
                task.cancel()
            for _, each in (*lines, (reader, writer)):
                each.close()


async def test_forms_that_never_end_keep_nobody_out(world: World, tmp_path: Path) -> None:
    page = Webbed(world)
    unended = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3000\r\n\r\ntoken="
    with open_server(WebPage(port=0), tmp_path) as server:
        port = server._listener.getsockname()[1]

        async def ask(head: str, body: str = "") -> str:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            more = f"Host: 127.0.0.1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            writer.write(f"{head}\r\n{more}".encode())
            async with asyncio.timeout(PATIENCE_S):
                answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer.decode()

        async with server.served(page.site._site_data, world.log):
            lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS)]
            for _, writer in lines:
                writer.write(unended)
            answer = await ask("POST /login HTTP/1.1", f"token={server.token}")
            cookie = answer.split("set-cookie: ")[1].split(";")[0]
            lines += [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS)]
            for _, writer in lines[MOST_CONNECTIONS:]:
                writer.write(unended)
            assert (await ask(f"GET /live HTTP/1.1\r\nCookie: {cookie}")).startswith("HTTP/1.1 200")
            for _, writer in lines:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()


async def test_connections_of_strangers_close_none_of_who_is_logged_in_whatever_it_showed_last(
    world: World, tmp_path: Path
) -> None:
    page = Webbed(world)
    with open_server(WebPage(port=0), tmp_path) as server:
        port = server._listener.getsockname()[1]

        async def ask(line: tuple[asyncio.StreamReader, asyncio.StreamWriter], head: str, body: str = "") -> str:
            reader, writer = line
            writer.write(f"{head}\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            async with asyncio.timeout(PATIENCE_S):
                told = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = re.search(r"content-length: (\d+)", told)
                await reader.readexactly(int(size[1]) if size else 0)
            return told

        async with server.served(page.site._site_data, world.log):
            mine = await asyncio.open_connection("127.0.0.1", port)
            entered = await ask(mine, "POST /login HTTP/1.1", f"token={server.token}")
            cookie = re.search(r"set-cookie: ([^;]+)", entered)
            assert cookie is not None
            login = f"Cookie: {cookie[1]}"
            for path in ("/login", "/live", "/static/nuan.css", "/"):
                assert (await ask(mine, f"GET {path} HTTP/1.1\r\n{login}")).startswith("HTTP/1.1")
                lines = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS + 40)]
                assert (await ask(mine, f"GET /live HTTP/1.1\r\n{login}")).startswith("HTTP/1.1 200"), path
                for _, writer in lines:
                    writer.close()
                    with suppress(ConnectionError):
                        await writer.wait_closed()
            mine[1].close()


async def test_a_form_that_is_not_there_in_time_is_refused(world: World) -> None:
    page = Webbed(world)
    site = Site(page.site._site_data, Logins(TOKEN, world.clock), world.log, body_s=0.01)
    visitor = Visitor(site.app(), ends=False)
    assert (await visitor.post("/login", {"token": TOKEN})).status == 408


def test_what_a_restore_left_is_no_backup_and_is_gone_with_the_next_start(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    assert nuan(tmp_path, "backup").code == 0
    [copy] = copies(tmp_path)
    left, mine = tmp_path / "nuan-rollback.db", tmp_path / "nuan-rollback-mine.db"
    shutil.copy(copy, left)
    shutil.copy(copy, mine)
    before = left.read_bytes()
    said = nuan(tmp_path, "restore", str(left))
    assert (said.code, "unfinished restore" in said.err, left.read_bytes() == before) == (1, True, True)
    assert nuan(tmp_path, "restore", str(mine)).code == 0
    assert mine.exists()
    shutil.copy(copy, left)
    shutil.copy(copy, tmp_path / "nuan-rollback.before-4.db")

    async def start() -> None:
        async with await open_laid(tmp_path):
            pass

    asyncio.run(start())
    assert [path.name for path in tmp_path.glob("nuan-rollback*")] == [mine.name]
    assert nuan(tmp_path, "backup", "").code == 1


def test_a_log_of_odd_figures_is_still_json(tmp_path: Path) -> None:
    for line in (b'{"event":"a","n":NaN}', b'{"event":"a","n":-Infinity}', b'{"event":"a","n":1e999}'):
        record = parse_record(line)
        assert record is not None
        assert isinstance(record["n"], str)
        json.dumps(record, allow_nan=False)
    assert parse_record(b'{"event":"a","n":1.5}') == {"event": "a", "n": 1.5}
    in_installation(tmp_path, fill)
    try:
        log_view(tmp_path, "9" * 5_000, None, follow=False, as_json=False)
    except StoreError as error:
        assert "give one of" in str(error)  # noqa: PT017 - a ValueError would be a defect


async def test_what_commands_say_back_cannot_turn_the_line_around(world: World) -> None:
    for words in ("tz \u202eabc", "dialog \u202eabc"):
        await world.say(f".ai {words}")
        assert "abc" in world.replies[-1]
        assert "\u202e" not in world.replies[-1]


def test_an_archive_never_takes_the_place_of_the_database(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    before = (tmp_path / "nuan.db").read_bytes()
    for target in (str(tmp_path / "nuan.db"), f"{tmp_path}/logs/../nuan.db", ""):
        said = nuan(tmp_path, "export", "test:ann", target, "--force")
        assert (said.code, "give another" in said.err) == (1, True)
    assert (tmp_path / "nuan.db").read_bytes() == before
    assert nuan(tmp_path, "export", "test:ann", str(tmp_path / "ann.zip")).code == 0
