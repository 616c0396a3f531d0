"""Who works on the database and what each does, as operators see it: `nuan workers`, the doctor, and for how long work waits."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.installation import ConfigSource
from bot.cli.workers import process_findings
from bot.core.inspection import CheckResult
from bot.store.postgres.connection import PostgresTx
from bot.store.store import open_store
from tests import servers, storing
from tests.belonging import nuan, nuan_in_thread
from tests.storing import NOW
from tests.world import World


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database, in the place of a folder's file."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


async def findings(folder: Path, url: str) -> list[CheckResult]:
    """What the doctor says of the processes."""
    place = ConfigSource(None, folder, {"NUAN_STORE__URL": url} if url else {}).read()
    return await process_findings(place)


async def test_of_a_file_there_is_one_process_which_does_everything(world: World) -> None:
    await world.say("在吗")
    said = await nuan_in_thread(world, "workers")
    assert (said.code, "does everything" in said.out) == (0, True)
    told = json.loads((await nuan_in_thread(world, "workers", "--json")).out)
    assert told == {"shared": False, "processes": []}
    assert await findings(world.folder, "") == []


def test_a_folder_without_a_database_is_told_in_one_line(tmp_path: Path) -> None:
    said = nuan(tmp_path, "workers")
    assert (said.code, "there is no database" in said.err) == (1, True)


@pytest.mark.postgres
async def test_several_processes_are_told_with_what_each_has_and_what_nobody_does(tmp_path: Path, url: str) -> None:
    settings = {"NUAN_STORE__URL": url}
    gateway = await storing.join(tmp_path / "data", url, "gateway")
    worker = await storing.join(tmp_path / "two", url, "worker")
    async with gateway, worker:
        await gateway.leases.take("telegram")
        _, chat, _ = await storing.ids(gateway)
        async with worker.leases.working(chat) as works:
            assert works
            said = await asyncio.to_thread(nuan, tmp_path / "data", "workers", **settings)
            told = json.loads((await asyncio.to_thread(nuan, tmp_path / "data", "workers", "--json", **settings)).out)
            found = await findings(tmp_path / "data", url)
        first, second, missing = _lines(said.out)
        assert (first[0], first[1], first[-1]) == (f"{socket.gethostname()}:{os.getpid()}", "gateway", "telegram")
        assert (second[1], second[-1]) == ("worker", "1 chat")
        assert missing == ["nobody tidies, reminds and backs up: start `nuan run --role janitor`"]
        assert [(each["roles"], each["chats"], each["leases"]) for each in told["processes"]] == [
            (["gateway"], 0, ["telegram"]),
            (["worker"], 1, []),
        ]
        assert [each.warn for each in found] == [False, True]
        assert "is gateway, holds telegram" in found[0].text
        assert "is worker, 1 chat" in found[0].text
        await asyncio.to_thread(_leave, url)
        told_late = await findings(tmp_path / "data", url)
    assert ["was last heard of" in each.text for each in told_late] == [False, True, False]
    assert "gone:1" in told_late[1].text
    assert "nobody tidies" in told_late[2].text, "who is late does nothing"


@pytest.mark.postgres
async def test_one_that_is_alone_on_a_server_does_everything(tmp_path: Path, url: str) -> None:
    assert "no process works" in (await asyncio.to_thread(nuan, tmp_path, "workers", NUAN_STORE__URL=url)).out
    async with await open_store(tmp_path / "data", url=url):
        (found,) = await findings(tmp_path / "data", url)
    assert (found.warn, "does everything" in found.text) == (False, True)


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_how_long_the_oldest_message_has_waited_is_told(tmp_path: Path, engine: str) -> None:
    address = servers.lend(tmp_path) if engine == "postgres" else ""
    async with await open_store(tmp_path, url=address) as store:
        assert await store.processes.lags(NOW) == {"event": 0, "outbox": 0}
        await storing.say(store, "在吗", at=NOW)
        await storing.say(store, "还在吗", at=NOW + 3_000)
        assert await store.processes.lags(NOW + 5_000) == {"event": 5_000, "outbox": 0}
        assert (await store.processes.lags(NOW - 5_000))["event"] == 0
    servers.take_back()


def _lines(out: str) -> list[list[str]]:
    """The cells of each line."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.splitlines()]


def _leave(url: str) -> None:
    """A janitor that died, and that nobody has taken off yet."""
    tx = PostgresTx(url)
    tx.insert("process", boot="x", name="gone:1", roles="janitor", started_at=1, until=2)
    tx.close()
