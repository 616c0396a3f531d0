"""Who works on the database and what each does, as operators see it: `nuan workers`, the doctor, and for how long work waits."""

import asyncio
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.doctor import store_findings
from bot.cli.installation import ConfigSource
from bot.cli.workers import process_findings
from bot.core.clock import HOUR_MS, SystemClock
from bot.core.inspection import CheckResult
from bot.core.ports import ROLES, Clock
from bot.store.engine import WRITERS
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import READERS, connections_of
from bot.store.store import open_store
from tests import servers, storing
from tests.belonging import nuan, nuan_in_thread
from tests.fakes.clock import SimClock
from tests.storing import NOW
from tests.world import World


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database, in the place of a folder's file."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


async def findings(folder: Path, url: str, clock: Clock | None = None) -> list[CheckResult]:
    """What the doctor says of the processes, on a machine with that clock."""
    place = ConfigSource(None, folder, {"NUAN_STORE__URL": url} if url else {}).read()
    return await process_findings(place, clock or SystemClock())


async def test_a_reminder_that_nobody_says_is_told_as_late(world: World) -> None:
    await world.say(".ai remind 1小时后 喝水")
    now = world.clock.now()
    [due] = [each for each in await store_findings(world.folder, now) if each.about == "reminders"]
    [late] = [each for each in await store_findings(world.folder, now + 2 * HOUR_MS) if each.about == "reminders"]
    assert (due.warn, due.text) == (False, "1 wait, none of them is late")
    assert (late.warn, late.text[:45]) == (True, "1 wait, 1 of them should have been said more ")
    assert "the oldest reminder that is to be said has been due" in (await nuan_in_thread(world, "workers")).out


async def test_of_a_file_there_is_one_process_which_does_everything(world: World) -> None:
    await world.say("在吗")
    said = await nuan_in_thread(world, "workers")
    assert (said.code, "does everything" in said.out) == (0, True)
    told = json.loads((await nuan_in_thread(world, "workers", "--json")).out)
    assert "none is registered" in said.out
    assert told == {
        "shared": False,
        "registered": False,
        "processes": [],
        "lag_ms": {"event": 0, "outbox": 0, "reminder": 0},
    }
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
        first, second, missing, late = _lines(said.out)
        assert late == ["nothing is late"]
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
    assert "none works" in (await asyncio.to_thread(nuan, tmp_path, "workers", NUAN_STORE__URL=url)).out
    async with await open_store(tmp_path / "data", url=url):
        (found,) = await findings(tmp_path / "data", url)
    assert (found.warn, "does everything" in found.text) == (False, True)


@pytest.mark.postgres
async def test_a_machine_whose_clock_is_not_the_server_s_is_told(tmp_path: Path, url: str) -> None:
    async def told(ahead_ms: int) -> list[str]:
        clock = SimClock(SystemClock().now() + ahead_ms)
        return [each.text for each in await findings(tmp_path, url, clock) if each.warn and each.about == "clock"]

    [ahead], [behind] = await told(HOUR_MS), await told(-HOUR_MS)
    assert re.match(
        r"this machine's is (3600|35\d\d) s ahead of that of the server of store\.url: .* come that much later", ahead
    )
    assert re.match(r"this machine's is 36\d\d s behind that", behind)
    assert [each.warn for each in await findings(tmp_path, url)] == [False]


@pytest.mark.postgres
async def test_shards_that_nobody_has_or_two_have_are_told(tmp_path: Path, url: str) -> None:
    async def told(*leases: str) -> list[str]:
        for lease in leases:
            await gateway.leases.take(lease)
        return [each.text for each in await findings(tmp_path / "data", url) if "shards" in each.text and each.warn]

    async with await storing.join(tmp_path / "data", url, *ROLES) as gateway:
        assert await told("telegram", "janitor") == []
        [missing] = await told("discord 0-3/16", "discord 9/16")
        assert "discord's shards 4-8, 10-15 of 16, so nobody" in missing
        assert await told("discord 4-15/16") == [
            "several gateways have discord's shards 9 of 16: give each of them its own"
        ]
        said = await asyncio.to_thread(nuan, tmp_path / "data", "workers", NUAN_STORE__URL=url)
        assert "several gateways have discord's shards 9 of 16" in said.out
        [mixed] = await told("discord")
        assert "different numbers of discord's shards (1, 16)" in mixed


@pytest.mark.postgres
async def test_what_has_been_due_for_long_is_told(tmp_path: Path, url: str) -> None:
    async with await open_store(tmp_path / "data", url=url) as store:
        await storing.say(store, "在吗", at=SystemClock().now() - 75_500)
        said = await asyncio.to_thread(nuan, tmp_path / "data", "workers", NUAN_STORE__URL=url)
        found = await findings(tmp_path / "data", url)
    assert "waits for an answer has been due for 7" in said.out
    assert (found[-1].warn, "waits for an answer has been due for 7" in found[-1].text) == (True, True)


@pytest.mark.postgres
async def test_no_process_keeps_more_connections_than_the_guide_says_and_too_many_processes_are_told(
    tmp_path: Path, url: str
) -> None:
    """14 of one with roles, 11 of one that is alone: docs/guide/en/several.md."""
    assert (connections_of(WRITERS, shared=True), connections_of(WRITERS, shared=False)) == (14, 11)
    together = threading.Barrier(READERS)
    for roles, most in ((ROLES, 14), ((), 11)):
        async with await open_store(tmp_path / "data", url=url, roles=roles) as store:
            await storing.say(store, "在吗")
            await asyncio.gather(*(store._database.read(lambda tx: together.wait(9)) for _ in range(READERS)))
            with closing(PostgresTx(url)) as tx:
                seen = tx.number(BY_NAME, f"nuan {store.boot}")
            of_notes, of_wakeups = 1, 2  # which begin when they can
            assert most - of_notes - of_wakeups <= seen <= most
    assert not [each for each in await findings(tmp_path / "data", url) if "connections" in each.text]
    for number in range(15):
        _leave(url, until=1 << 50, boot=str(number), roles="")
    assert [each for each in await findings(tmp_path / "data", url) if "15 keep up to 165 connections" in each.text]


BY_NAME = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = ?"


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_how_long_the_oldest_message_has_waited_is_told(tmp_path: Path, engine: str) -> None:
    address = servers.lend(tmp_path) if engine == "postgres" else ""
    async with await open_store(tmp_path, url=address) as store:
        assert await store.processes.lags(NOW) == {"event": 0, "outbox": 0, "reminder": 0}
        await storing.say(store, "在吗", at=NOW)
        await storing.say(store, "还在吗", at=NOW + 3_000)
        assert await store.processes.lags(NOW + 5_000) == {"event": 5_000, "outbox": 0, "reminder": 0}
        assert (await store.processes.lags(NOW - 5_000))["event"] == 0
    servers.take_back()


def _lines(out: str) -> list[list[str]]:
    """The cells of each line."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.splitlines()]


def _leave(url: str, until: int = 2, boot: str = "x", roles: str = "janitor") -> None:
    """A process that died, or does not renew that it is there until then; nobody has taken it off yet."""
    tx = PostgresTx(url)
    tx.insert("process", boot=boot, name="gone:1", roles=roles, started_at=1, until=until)
    tx.close()
