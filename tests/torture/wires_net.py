"""Rows of the table of faults about connections: layers that try again, absences, silence, two programs, files.

Where a process is the thing tried it is the real program; else the real adapters in this process.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tests.torture.live import each, live, until
from tests.torture.row import Bound, Found, Row, Size
from tests.torture.wires_send import telegram

if TYPE_CHECKING:
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.discord_world import Channel, User

LATE_MS = 3 * 3_600_000
LATE_TURNS = f"""SELECT 1 FROM turn_event JOIN event ON event.id = event_id JOIN turn ON turn.id = turn_id
    WHERE at < asked_at - {LATE_MS // 2}"""


async def layers(folder: Path, size: Size) -> Found:
    """D10: how many requests one message costs while the model's server fails in each way, and a platform's as well."""
    from tests.e2e import KEY, Home, running, with_server
    from tests.fakes.openai_server import FakeOpenAI
    from tests.test_bad_input import FAULTS, moody

    faults = (*FAULTS, "500 http")
    most, asked = 0, 0
    async with FakeOpenAI(moody, key=KEY) as server:
        home = Home(folder, with_server(server, MODEL__DEADLINE_SECONDS="2"))
        async with running(home) as nuan:
            for number in range(size.units):
                before = len(server.bodies)
                await nuan.ask(f"给我来一个 {faults[number % len(faults)]}")
                asked += 1
                most = max(most, len(server.bodies) - before)
                await nuan.ask("还好吗")
            await nuan.end_input()
            await nuan.ended()
    sent, tried = await _refusals(folder / "telegram", min(size.units, 4))
    return Found({"calls": asked, "sends": sent}, {"requests of a call": most, "requests of a send": tried})


async def _refusals(folder: Path, count: int) -> tuple[int, int]:
    """Sends to a server that answers 502: how many there were, and the most requests that one of them was."""
    from bot.core.errors import SendError
    from tests.fakes.telegram_faults import UNLIMITED, Fault
    from tests.fakes.telegram_server import FakeTelegram
    from tests.telegram_stage import ANN, said, stage

    most = 0
    async with FakeTelegram(limits=UNLIMITED) as server, stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        for _ in range(count):
            server.faults.add("sendMessage", Fault("html502"), times=9)
            before = len(server.calls("sendMessage"))
            with suppress(SendError):
                await on.adapter.send(said("好"))
            most = max(most, len(server.calls("sendMessage")) - before)
            server.faults.clear()
    del folder
    return count, most


async def absence(folder: Path, size: Size) -> Found:
    """D13: messages in three channels while the program is down; before its first start there are others.

    Half of them are three hours old, and of those as many call nuan as of the new ones.
    """
    from tests.e2e import KEY, Home, with_server
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.discord_world import EPOCH, wall_clock
    from tests.fakes.openai_script import Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.torture.kills import end, some, start

    token = "made-up.discord.absence"
    async with FakeDiscord(token, limit=0) as server, FakeOpenAI(lambda asked: Reply("好的"), key=KEY) as model:
        lin = server.world.add_user("林")
        server.world.now = lambda: wall_clock() - LATE_MS
        server.world._last = (server.world.now() - EPOCH) << 22  # the bot itself came into the world just now
        guild = server.world.add_guild("家", lin)
        rooms = [server.world.add_channel(guild, f"c{number}") for number in range(3)]
        home = Home(
            folder,
            with_server(model)
            | {
                "BUDGET__DAY_TOKENS": "none",
                "DISCORD__TOKEN": token,
                "DISCORD__API_URL": server.api_url,
                "DISCORD__GATEWAY_URL": server.gateway_url,
                "DISCORD__ALLOW": str(guild.id),
            },
        )
        counted = "SELECT text FROM event WHERE kind = 'message'"
        for room in rooms:
            server.people.say(room, lin, "从前")
        process = await start(home)
        await until(lambda: server.gateway.connected > 0 and bool(home.log("discord_connected")))
        for room in rooms:
            server.people.say(room, lin, "早")
        await until(lambda: len(some(home, counted)) >= 3)
        fresh = sum("从前" in str(text) for (text,) in some(home, counted))
        await end(process, SIGTERM)
        before = sum(len(server.texts(room)) for room in rooms)
        _meanwhile(server, rooms, lin, size.units)
        process = await start(home)
        await until(lambda: len(some(home, counted)) >= size.units + 3)
        await until(lambda: sum(len(server.texts(room)) for room in rooms) >= before + 3, 20)
        await asyncio.sleep(2)
        await end(process, SIGTERM)
        texts = [str(text) for (text,) in some(home, counted)]
        kept = {number for number in range(size.units) if any(text.endswith(f"第{number}句") for text in texts)}
        return Found(
            {
                "messages": size.units,
                "kept": len(kept),
                "twice": len(texts) - 3 - fresh - size.units,
                "read at first": fresh,
                "replies": sum(len(server.texts(room)) for room in rooms) - before,
                "old ones answered": len(some(home, LATE_TURNS)),
                "rules broken": len(server.violations),
            }
        )


def _meanwhile(server: FakeDiscord, rooms: list[Channel], who: User, count: int) -> None:
    """So many messages: the first half was written long ago; the first three and the last three call nuan."""
    from tests.fakes.discord_world import wall_clock

    for number in range(count):
        if number == count // 2:
            server.world.now = wall_clock
        called = f"<@{server.world.bot.id}> " if number < 3 or number >= count - 3 else ""
        server.people.say(rooms[number % 3], who, f"{called}第{number}句")


async def twins(folder: Path, size: Size) -> Found:
    """D22: a second program beside a first, on the same data and on other data with the same token."""
    from tests.e2e import run
    from tests.fakes.telegram_shapes import Person
    from tests.platforms import Platforms, PlatformsHome
    from tests.torture.kills import end, start

    refused = clear = 0
    slowest = 0.0
    async with Platforms() as platforms:
        ann = Person(5_000_001, "Ann")
        home = platforms.home(folder, TELEGRAM__ALLOW=str(ann.id))
        process = await start(home)
        await until(lambda: bool(platforms.telegram.calls("getUpdates")))
        for number in range(size.units):
            other = {"TELEGRAM__TOKEN": "7700000043:other", "DISCORD__TOKEN": "made-up.other"}
            second = (
                PlatformsHome(folder, home.settings, "other")
                if number % 2
                else PlatformsHome(folder, {**home.settings, **other})
            )
            begun = time.monotonic()
            ran = await run(second, "run")
            slowest = max(slowest, time.monotonic() - begun)
            refused += ran.code != 0
            clear += ran.err.startswith("nuan: another nuan ") and len(ran.err.splitlines()) == 1
        await platforms.tell(ann, "第1句")
        replies = len(platforms.telegram.sent(ann.id))
        await end(process, SIGTERM)
        return Found(
            {"twins": size.units, "refused": refused, "told clearly": clear, "replies": replies}, {"slowest s": slowest}
        )


async def zombies(folder: Path, size: Size) -> Found:
    """D26: a connection that stays open and says nothing: Discord's socket by turns with Telegram's polling task."""
    from adapters.discord import DiscordSettings
    from adapters.discord.adapter import DiscordAdapter
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.telegram_faults import UNLIMITED
    from tests.fakes.telegram_server import FakeTelegram
    from tests.telegram_stage import ANN

    slowest, came = 0.0, 0
    token = "made-up.discord.zombie"
    async with FakeDiscord(token, limit=0) as discord, FakeTelegram(limits=UNLIMITED) as server:
        lin = discord.world.add_user("林")
        guild = discord.world.add_guild("家", lin)
        hall = discord.world.add_channel(guild, "hall")

        def there(clock: Any, log: Any) -> Any:
            settings = DiscordSettings(token=SecretStr(token), api_url=discord.api_url, gateway_url=discord.gateway_url)
            return DiscordAdapter(settings, (), clock, log)

        async def one(number: int) -> None:
            nonlocal slowest, came
            make = telegram(server, answer_s=20.0) if number % 2 else there
            tables = {"telegram": {"allow": [str(ANN.id)]}, "discord": {"allow": [str(guild.id)]}}
            async with _supervised(folder / str(number), make, tables) as world:
                polls = len(server.calls("getUpdates"))
                await until(
                    lambda: (
                        len(server.calls("getUpdates")) > polls
                        if number % 2
                        else any(line[1] == "discord_connected" for line in world.log.lines)
                    )
                )
                if number % 2:
                    for task in asyncio.all_tasks():
                        if task.get_name().startswith("Updater:"):
                            task.cancel()
                    server.people.say(ANN.id, ANN, "还在吗")
                else:
                    discord.gateway.fall_silent()
                    discord.people.say(hall, lin, "还在吗")
                begun = time.monotonic()
                sql = "SELECT 1 FROM event WHERE text LIKE '%还在吗'"
                came += await until(lambda: bool(world.rows(sql)), 120)
                slowest = max(slowest, time.monotonic() - begun)

        await each(one, size.units)
    return Found({"zombies": size.units, "came": came}, {"slowest s": slowest})


@asynccontextmanager
async def _supervised(folder: Path, make: Any, tables: dict[str, Any]) -> AsyncIterator[Any]:
    """A live bot whose adapter is begun again when it gives up, as the program does it."""
    from bot.ops.health import Supervisor

    async def writable() -> bool:
        return True  # it is not the disk that fails here

    def kept(clock: Any, log: Any) -> Any:
        adapter = make(clock, log)
        return _Kept(adapter, lambda sink: Supervisor(sink, clock, log, writable).keep(adapter))

    async with live(folder, kept, **tables) as world:
        yield world


class _Kept:
    """An adapter whose `run` is a supervisor's."""

    def __init__(self, adapter: Any, keep: Any) -> None:
        self._adapter = adapter
        self.run = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)


NET = (
    Row(
        "D10",
        "layers that each try again",
        "at most 3 requests for a call, 1 for a try of a send",
        "calls",
        30,
        0,
        30,
        300,
        (Bound("requests of a call", "<=", 3), Bound("requests of a send", "<=", 1)),
        layers,
        (
            "test_fallbacks.py::test_three_models_are_three_requests_and_no_more",
            "test_discord_adapter.py::test_a_server_that_fails_is_asked_once_and_the_outbox_decides_about_another_try",
        ),
    ),
    Row(
        "D13",
        "what was said while the program was down",
        "30 messages in 3 channels once each, the old ones not answered; a first start reads none",
        "messages",
        30,
        0,
        30,
        180,
        (
            Bound("kept", "==", 1, "messages"),
            Bound("twice", "==", 0),
            Bound("read at first", "==", 0),
            Bound("replies", "==", 3),
            Bound("old ones answered", "==", 0),
            Bound("rules broken", "==", 0),
        ),
        absence,
        (
            "test_discord_adapter.py::test_what_was_missed_comes_once_and_before_what_is_new",
            "test_discord_adapter.py::test_a_fresh_install_reads_no_old_messages",
        ),
    ),
    Row(
        "D22",
        "two programs with one token",
        "the second ends with a clear line within 5 s; one reply",
        "twins",
        10,
        0,
        10,
        180,
        (
            Bound("refused", "==", 1, "twins"),
            Bound("told clearly", "==", 1, "twins"),
            Bound("replies", "==", 1),
            Bound("slowest s", "<=", 5),
        ),
        twins,
        (
            "test_run.py::test_one_process_serves_both_platforms_lets_people_in_and_keeps_a_second_nuan_out",
            "test_telegram_adapter.py::test_a_second_program_with_the_same_token_must_go",
        ),
        differs="on one machine; another machine is seen on Telegram only (409)",
    ),
    Row(
        "D26",
        "a connection that is open and says nothing",
        "noticed within 90 s, mended, nothing lost",
        "zombies",
        4,
        0,
        2,
        400,
        (Bound("came", "==", 1, "zombies"), Bound("slowest s", "<=", 90)),
        zombies,
        (
            "test_telegram_adapter.py::test_polling_that_hangs_for_90_seconds_is_given_up",
            "test_telegram_adapter.py::test_polling_that_dies_is_noticed_at_once",
            "test_discord_trouble.py::test_a_connection_that_falls_silent_is_given_up_and_loses_nothing",
        ),
    ),
)
