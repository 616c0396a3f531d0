"""Several nuan on one database of a server: one answers, the others stand by and take over."""

import asyncio
import json
import os
import random
import re
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from bot.core.errors import DatabaseHeldError, LeaseLostError
from bot.core.ports import ROLES, Role
from bot.ops.health import STORE_WAIT_MS, Supervisor
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import is_away
from bot.store.store import Store, open_store
from tests import e2e, servers, storing
from tests.e2e import running
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.openai_script import Reply
from tests.fakes.telegram_server import FakeTelegram
from tests.instrumented import free_port, get
from tests.platforms import TELEGRAM, Platforms, PlatformsHome, only_line, stop
from tests.sizes import PATIENCE_S
from tests.storing import Where
from tests.telegram_stage import ANN, Lines, RecordingSink, make, polls
from tests.world import NINE

pytestmark = pytest.mark.postgres


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


def run(url: str, sql: str, *values: object) -> int:
    """What time, or another process, does to the leases."""
    with closing(PostgresTx(url)) as tx:
        return tx.run(sql, *values)


def unheard(url: str, store: Store) -> None:
    """As if that process had not been heard of for longer than its lease lasts."""
    assert run(url, "UPDATE process SET until = 0 WHERE boot = ?", store.boot) == 1


async def test_who_was_cut_off_for_too_long_can_store_nothing_once_another_took_over(tmp_path: Path, url: str) -> None:
    ben = Where("ben", "dm-ben")
    async with await open_store(tmp_path / "data", url=url, lease_seconds=3_600) as first:
        asked = await storing.begin(first, "第一件")
        await storing.ids(first, ben)
        with pytest.raises(DatabaseHeldError, match="another nuan is answering"):
            await open_store(tmp_path / "other", url=url)
        await asyncio.to_thread(unheard, url, first)
        async with await open_store(tmp_path / "other", url=url) as second:
            with pytest.raises(LeaseLostError):
                await first.turns.say(storing.reply(asked, "好"), storing.NOW)
            with pytest.raises(LeaseLostError):
                await storing.say(first, "第二件", ben)
            with pytest.raises(LeaseLostError):
                await first.outbox.recover(frozenset())
            assert [turn.state for turn in await second.turns.running()] == ["asked"]
            assert (await storing.talk(second, "第三件", "好", ben)).turn.state == "asked"
            assert [
                row[0]
                for row in storing.look(tmp_path / "data", "SELECT text FROM event WHERE kind = 'message' ORDER BY id")
            ] == ["第一件", "嗯", "第三件"]


@pytest.mark.parametrize("seed", range(4))
async def test_taken_over_at_any_moment_the_first_commits_nothing_more(tmp_path: Path, url: str, seed: int) -> None:
    choose, places = random.Random(seed), [Where(f"p{number}", f"dm-{number}") for number in range(6)]
    stored = "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM turn), (SELECT count(*) FROM outbox)"

    async def talk_on(store: Store, where: Where, begun: asyncio.Event) -> None:
        for _ in range(100):
            await storing.talk(store, "说说大熊猫", "好", where)
            await storing.keep(store, "我爱喝茶", where)
            begun.set()

    async with await open_store(tmp_path / "data", url=url, lease_seconds=3_600) as first:
        begun = [asyncio.Event() for _ in places]
        talks = [asyncio.create_task(talk_on(first, *each)) for each in zip(places, begun, strict=True)]
        await asyncio.gather(*(each.wait() for each in begun))
        for _ in range(choose.randrange(4)):
            await storing.ids(first, Where("other", "dm-other"))
        await asyncio.to_thread(unheard, url, first)
        async with await open_store(tmp_path / "other", url=url):
            then = storing.look(tmp_path / "data", stored)
            ends = await asyncio.gather(*talks, return_exceptions=True)
            assert [type(end) for end in ends] == [LeaseLostError] * len(places)
            assert storing.look(tmp_path / "data", stored) == then


async def test_who_lost_its_lease_is_told_and_who_is_only_late_keeps_it(tmp_path: Path, url: str) -> None:
    async with await open_store(tmp_path / "data", url=url, lease_seconds=0.2) as store:
        await asyncio.to_thread(unheard, url, store)
        await storing.ids(store)
        assert not store.lost.is_set()
        await asyncio.to_thread(run, url, "DELETE FROM process")
        await asyncio.wait_for(store.lost.wait(), PATIENCE_S)
        with pytest.raises(LeaseLostError):
            await storing.ids(store)


class Told(Lines):
    """A log that says when the store failed."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = asyncio.Event()

    def error(self, event: str, **fields: object) -> None:
        super().info(event, **fields)
        if event == "store_failed":
            self.failed.set()


@pytest.mark.parametrize("roles", [(), ("gateway",)], ids=["alone", "gateway"])
async def test_who_the_database_does_not_hear_of_polls_no_more_until_it_does(
    tmp_path: Path, url: str, roles: tuple[Role, ...]
) -> None:
    clock, log = SimClock(NINE), Told()
    opening = open_store(tmp_path / "data", url=url, lease_seconds=0.4, roles=roles)
    async with FakeTelegram() as server, await opening as store:
        adapter = make(server, log)
        supervisor = Supervisor(RecordingSink(), clock, log, store.inspector.writable, store.unheard)
        keeping = asyncio.create_task(supervisor.keep(adapter))
        await server.until(lambda: polls(server) > 0)
        await asyncio.to_thread(servers.let_in, url, "false")
        await asyncio.wait_for(log.failed.wait(), PATIENCE_S)
        assert (adapter.silent_ms(), supervisor.states) == (None, {"telegram": "broken"})
        await clock.advance(3 * STORE_WAIT_MS, let_others_run)
        seen = polls(server)
        await asyncio.to_thread(servers.let_in, url, "true")
        while polls(server) == seen:
            await clock.advance(STORE_WAIT_MS, let_others_run)
            with suppress(TimeoutError):
                await server.until(lambda: polls(server) > seen, 0.2)
        keeping.cancel()
        await asyncio.wait((keeping,))


async def test_a_clean_end_hands_over_at_once(tmp_path: Path, url: str) -> None:
    for name in ("data", "other", "data"):
        async with await open_store(tmp_path / name, url=url, lease_seconds=3_600) as store:
            await storing.ids(store)


async def test_a_run_without_a_role_beside_those_with_some_ends_and_says_what_it_waits_for(
    tmp_path: Path, url: str
) -> None:
    home = PlatformsHome(tmp_path, {"STORE__URL": url, "TELEGRAM__TOKEN": TELEGRAM})
    async with await open_store(tmp_path / "other", url=url, roles=ROLES):
        said = only_line(await e2e.run(home, "run"), 1)
    assert said.startswith("nuan: processes with --role share this database (")
    assert said.endswith("starts when all of them are stopped")


async def test_a_run_with_a_role_waits_for_a_command_to_be_done_and_not_for_ever(tmp_path: Path, url: str) -> None:
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, STORE__URL=url, STORE__LEASE_SECONDS="3", TELEGRAM__ALLOW=str(ANN.id))
        async with await open_store(tmp_path / "command", url=url) as command:
            said = await e2e.run(home, "run", "--role", "worker")
            assert (said.code, "starts when it is gone" in said.err) == (1, True)
            async with running(home, "run", "--role", ",".join(ROLES)) as one:
                await one.until(lambda: "waits for a moment" in one.output)
                await command.close()
                assert await platforms.tell(ANN, "在吗")
                await stop(one)


async def test_a_run_that_starts_while_the_server_is_away_waits_for_it_and_works_by_what_was_set_in_chats(
    tmp_path: Path, url: str
) -> None:
    async with await open_store(tmp_path / "other", url=url) as store:
        await store.settings.put({"budget.day_tokens": "900000"}, None, NINE)
    sockets = tmp_path / "sockets"
    there = url.replace(str(servers.server()), str(sockets))
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, STORE__URL=there, TELEGRAM__ALLOW=str(ANN.id))
        async with running(home, "run", "--role", ",".join(ROLES)) as one:
            await one.until(lambda: "waits" in one.output)
            sockets.symlink_to(servers.server())
            assert await platforms.tell(ANN, "第1句") == "收到第1句"
            await stop(one)
    (line,) = one.output.splitlines()
    assert re.fullmatch(r"nuan: the PostgreSQL server of store\.url cannot be used \(.+\); this one waits for it", line)
    assert [line["changed"] for line in home.log("reloaded")] == [["budget.day_tokens"]]


async def test_a_run_that_the_server_refuses_ends_and_says_why(tmp_path: Path, url: str) -> None:
    absent, stranger = url.replace("@/nuan_", "@/absent_"), url.replace("nuan@", "stranger@")
    said = only_line(
        await e2e.run(PlatformsHome(tmp_path, {"STORE__URL": absent, "TELEGRAM__TOKEN": TELEGRAM}), "run"), 1
    )
    assert re.fullmatch(r"nuan: the PostgreSQL server of store\.url cannot be used \(.+ does not exist\)", said)
    asked = [url, absent, stranger, url.replace(str(servers.server()), str(tmp_path))]
    assert [await asyncio.to_thread(is_away, each) for each in asked] == [False, False, False, True]


async def test_who_has_no_token_of_a_platform_answers_there_and_tidies_as_those_do_that_have_it(
    tmp_path: Path, url: str
) -> None:
    async with Platforms(lambda asked: Reply("很久以前有座山。" * 700)) as platforms:
        settings = dict(platforms.home(tmp_path, STORE__URL=url, TELEGRAM__ALLOW=str(ANN.id)).settings)
        gateway = PlatformsHome(tmp_path, {**settings}, "gateway")
        del settings["TELEGRAM__TOKEN"]
        worker = PlatformsHome(tmp_path, {**settings}, "worker")
        del settings["DISCORD__TOKEN"]
        said = only_line(await e2e.run(PlatformsHome(tmp_path, settings), "run", "--role", "gateway,worker"), 2)
        assert "telegram.token, discord.token: none is set" in said
        async with running(gateway, "run", "--role", "gateway"), running(worker, "run", "--role", "worker,janitor"):
            await platforms.tell(ANN, "讲个很长的故事")
            await platforms.telegram.until(lambda: len(platforms.telegram.sent(ANN.id)) == 2)
        assert "".join(sent.text for sent in platforms.telegram.sent(ANN.id)) == "很久以前有座山。" * 700


async def test_a_process_that_loads_for_long_is_not_taken_for_one_that_works(tmp_path: Path, url: str) -> None:
    home = PlatformsHome(tmp_path, {"STORE__URL": url})
    folder = home.data_folder / "plugins"
    folder.mkdir(parents=True)
    (folder / "slow.py").write_text(SLOW, "utf-8")
    (folder / "slow.toml").write_text(f'until = "{tmp_path / "until"}"', "utf-8")
    os.mkfifo(tmp_path / "until")
    store = open_store(tmp_path / "other", url=url, roles=ROLES)
    async with await store as other, running(home, "run", "--role", "worker"):
        loading = await asyncio.wait_for(asyncio.to_thread(os.open, tmp_path / "until", os.O_WRONLY), PATIENCE_S)
        found = await other.processes.all()
        os.close(loading)
    assert [each.boot for each in found] == [other.boot]


SLOW = """
from bot.core.plugins import Plugin, PluginAdapter

def make(options, *_):
    with open(options["until"]) as until:
        until.read()
    raise ValueError

plugin = Plugin("slow", adapters=(PluginAdapter("slow", make),))
"""
"""A platform that takes its time to load, and then does not."""


@pytest.mark.debugged
async def test_a_second_run_stands_by_and_answers_when_the_first_stands_still_or_is_stopped(
    tmp_path: Path, url: str
) -> None:
    async with Platforms() as platforms:
        place = {"STORE__URL": url, "STORE__LEASE_SECONDS": "3", "TELEGRAM__ALLOW": str(ANN.id)}
        settings, port = dict(platforms.home(tmp_path, **place).settings), free_port()
        del settings["DISCORD__TOKEN"]
        first, third = PlatformsHome(tmp_path, settings, "first"), PlatformsHome(tmp_path, settings, "third")
        second = PlatformsHome(tmp_path, settings | {"METRICS__ON": "true", "METRICS__PORT": str(port)}, "second")
        async with running(first, "run") as one:
            assert await platforms.tell(ANN, "第1句") == "收到第1句"
            async with running(second, "run") as two:
                await two.until(lambda: "stands by" in two.output)
                code, told = await get(port, "/health")
                assert (code, json.loads(told)) == (200, {"status": "standby", "causes": []})
                one.send(signal.SIGSTOP)
                assert await platforms.tell(ANN, "第2句") == "收到第2句"
                one.send(signal.SIGCONT)
                assert await one.ended() == 1
                assert json.loads((await get(port, "/health"))[1])["status"] == "green"
                async with running(third, "run") as three:
                    await three.until(lambda: "stands by" in three.output)
                    await stop(two)
                    assert await platforms.tell(ANN, "第3句") == "收到第3句"
                    await stop(three)
        assert [sent.text for sent in platforms.telegram.sent(ANN.id)] == ["收到第1句", "收到第2句", "收到第3句"]
