"""Rows of what comes, or is sent, more than once."""

import asyncio
import os
import random
import re
from collections import Counter
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.e2e import Home
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.openai_server import FakeOpenAI
    from tests.fakes.telegram_server import FakeTelegram

OWN = 5_000_001
COPIES = 3
QUIET_S = 1.5
"""Longer than anything takes that would still be said."""


def _telegram(folder: Path, server: "FakeTelegram", model: "FakeOpenAI") -> "Home":
    from tests.e2e import Home
    from tests.torture.grounds import common

    return Home(folder, common(model) | {
        "TELEGRAM__TOKEN": server.token, "TELEGRAM__BASE_URL": server.url, "TELEGRAM__ALLOW": str(OWN),
    })  # fmt: skip


def _messages(home: "Home") -> int:
    from tests.torture.kills import some

    return len(some(home, "SELECT 1 FROM event WHERE kind = 'message'"))


def _said(number: int) -> str:
    """Words, a memory command or a dot-command, each with a number of its own."""
    return (f"第{number}句", f"记住第{number}件事是zq{number:05}号", f".ai mem zq{number:05}")[number % 3]


async def copies(folder: Path, size: Size) -> Found:
    """Every update three times more: in order, shuffled, after a restart; memory and dot-commands among them."""
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import WAITING, end, some, start, until
    from tests.torture.secrets import spilled

    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, SlowOpenAI(0, size.seed) as model:
        home = _telegram(folder, server, model)

        async def rest() -> None:
            await until(lambda: not server.world.updates.pending)
            await asyncio.sleep(QUIET_S)
            await until(lambda: not some(home, WAITING))

        async def once_more(ids: list[int]) -> None:
            server.world.updates.redeliver(*ids)
            await rest()

        process = await start(home)
        try:
            await until(lambda: bool(server.calls("getUpdates")))
            for number in range(size.units):
                server.people.say(OWN, Person(OWN, "阿明"), _said(number))
            await rest()
            before = [shown.text for shown in server.sent(OWN)]
            events, asked = len(some(home, "SELECT 1 FROM event")), len(model.requests)
            ids = list(server.world.updates.history)
            await once_more(ids)
            await once_more(random.Random(size.seed).sample(ids, len(ids)))
            await end(process, SIGKILL)
            process = await start(home)
            await until(lambda: bool(server.calls("getUpdates")))
            await once_more(ids)
        finally:
            await end(process, SIGTERM)
        after = [shown.text for shown in server.sent(OWN)]
        kept = Counter(re.findall(r"zq\d{5}", str(some(home, "SELECT text FROM memory"))))
        return Found({
            "updates": size.units, "copies": COPIES * size.units, "said again": len(after) - len(before),
            "stored again": len(some(home, "SELECT 1 FROM event")) - events, "asked again": len(model.requests) - asked,
            "kept": len(kept), "kept twice": sum(times > 1 for times in kept.values()),
            "unhandled": len(some(home, WAITING)), "spilled": len(spilled(folder, model.bodies)),
        })  # fmt: skip


async def late(folder: Path, size: Size) -> Found:
    """Updates 10, 12 and, after a restart, 11: as many times."""
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import end, some, start, until

    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, SlowOpenAI(0, size.seed) as model:
        home = _telegram(folder, server, model)
        process = await start(home)
        handled = 0
        try:
            await until(lambda: bool(server.calls("getUpdates")))
            for round_ in range(size.units):
                server.world.updates.hold()
                for number in range(3):
                    server.people.say(OWN, Person(OWN, "阿明"), f"第{round_ * 3 + number}句")
                first, middle, last = server.world.updates.pending[-3:]
                server.world.updates.release((first, last))
                await until(lambda: not server.world.updates.pending)
                await end(process, SIGTERM)
                process = await start(home)
                server.world.updates.redeliver(middle)
                wanted = 3 * (round_ + 1)
                await until(lambda wanted=wanted: _messages(home) >= wanted)
                handled = _messages(home)
        finally:
            await end(process, SIGTERM)
        return Found({"rounds": size.units, "handled": handled})


class Talk:
    """A Discord with one channel and one person, and the program that talks there."""

    def __init__(self, folder: Path, server: "FakeDiscord", model: "FakeOpenAI", token: str) -> None:
        from tests.e2e import Home
        from tests.torture.grounds import common

        self.server, self.model = server, model
        self.person = server.world.add_user("阿明")
        guild = server.world.add_guild("家", self.person)
        self.room = server.world.add_channel(guild, "c")
        self.home = Home(folder, common(model) | {
            "DISCORD__TOKEN": token, "DISCORD__API_URL": server.api_url, "DISCORD__GATEWAY_URL": server.gateway_url,
            "DISCORD__ALLOW": str(guild.id),
        })  # fmt: skip

    @property
    def sends(self) -> int:
        """How often something was to be sent."""
        return sum(each.method == "POST" and each.path.endswith("/messages") for each in self.server.requests)

    def ask(self, number: int) -> None:
        """The person says a sentence of this number."""
        self.server.people.say(self.room, self.person, f"<@{self.server.world.bot.id}> 第{number}句")

    def told(self) -> Counter[int]:
        """How many messages that stand there answer each sentence first."""
        from tests.torture.kills import WORD

        return Counter(int(WORD.findall(text)[-1]) for text in self.server.texts(self.room) if WORD.search(text))


async def between(folder: Path, size: Size) -> Found:
    """The answer is stored and its sending begins, then the kill comes; Discord has not taken it."""
    from tests.fakes.discord_server import FakeDiscord
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import end, start, until
    from tests.torture.secrets import spilled

    token = f"made-up.discord.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, SlowOpenAI(0, size.seed) as model:
        talk = Talk(folder, server, model, token)
        process = await start(talk.home)
        try:
            for number in range(size.units):
                await until(lambda: server.gateway.connected > 0)
                server.misbehave("stall")
                before = talk.sends
                talk.ask(number)
                await until(lambda before=before: talk.sends > before)
                await end(process, SIGKILL)
                process = await start(talk.home)
                await until(lambda number=number: number in talk.told())
        finally:
            await end(process, SIGTERM)
        return Found({
            "kills": size.units, "said once": sum(times == 1 for times in talk.told().values()),
            "asked more than once": len(model.requests) - size.units, "rules broken": len(server.violations),
            "spilled": len(spilled(folder, model.bodies)),
        })  # fmt: skip


async def cut(folder: Path, size: Size) -> Found:
    """Discord's answers fail in all ways, before and after it has taken the message, while a person goes on."""
    from tests.fakes.discord_server import FakeDiscord
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import WAITING, end, some, start, until
    from tests.torture.secrets import spilled

    chance = random.Random(size.seed)
    token = f"made-up.discord.{os.getpid()}"
    async with FakeDiscord(token, limit=0) as server, SlowOpenAI(0, size.seed) as model:
        talk = Talk(folder, server, model, token)
        process = await start(talk.home)
        try:
            await until(lambda: server.gateway.connected > 0)
            for number in range(size.units):
                for _ in range(chance.randrange(1, 3)):
                    server.misbehave(chance.choice(("reset", "reset_after", "503", "502")))
                talk.ask(number)
                await until(lambda number=number: number in talk.told())
                server.front.faults.clear()
            await until(lambda: not some(talk.home, WAITING))
        finally:
            await end(process, SIGTERM)
        told = talk.told()
        unsure = len(some(talk.home, "SELECT 1 FROM outbox WHERE state = 'unknown'"))
        return Found({
            "sends": size.units, "said once": sum(told[number] == 1 for number in range(size.units)),
            "requests": talk.sends, "unknown": unsure, "rules broken": len(server.violations),
            "spilled": len(spilled(folder, model.bodies)),
        })  # fmt: skip


async def parting(folder: Path, size: Size) -> Found:
    """It stops, and the poll that should tell Telegram what it has read fails; so all comes again."""
    from tests.fakes.telegram_faults import Fault
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import WAITING, end, some, start, until
    from tests.torture.secrets import spilled

    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, SlowOpenAI(0, size.seed) as model:
        home = _telegram(folder, server, model)
        slowest, strange = 0.0, 0
        process = await start(home)
        try:
            for number in range(size.units):
                server.people.say(OWN, Person(OWN, "阿明"), _said(number))
                await until(lambda number=number: _messages(home) > number)
                server.faults.add("getUpdates", Fault(("silent", "drop_before")[number % 2]), times=3)
                slowest = max(slowest, await end(process, SIGTERM))
                strange += process.returncode != 0
                server.faults.clear()
                server.world.updates.redeliver(*server.world.updates.history)
                process = await start(home)
                await until(lambda: not server.world.updates.pending and not some(home, WAITING))
            await asyncio.sleep(QUIET_S)
        finally:
            await end(process, SIGTERM)
        kept = Counter(re.findall(r"zq\d{5}", str(some(home, "SELECT text FROM memory"))))
        return Found({
            "stops": size.units, "said": len(server.sent(OWN)),
            "events again": _messages(home) - size.units,
            "said too often": max(0, len(server.sent(OWN)) - size.units),
            "kept twice": sum(times > 1 for times in kept.values()), "strange ends": strange,
            "spilled": len(spilled(folder, model.bodies)),
        }, {"slowest end s": round(slowest, 1)})  # fmt: skip


NO_MORE = tuple(
    Bound(name, "==", 0) for name in ("said again", "stored again", "asked again", "kept twice", "unhandled", "spilled")
)

ROWS: tuple[Row, ...] = (
    Row(
        "D2", "The same update comes again", "every update 3 times more, one reply and one memory each",
        "updates", 120, 0, 120, 900.0, (*NO_MORE, Bound("kept", ">=", 40)), copies,
        ("test_store_intake.py::test_a_second_delivery_changes_nothing",
         "test_store_intake.py::test_a_delivery_is_remembered_over_a_restart_until_its_number_is_too_old"),
    ),
    Row(
        "D3", "An update comes after newer ones", "10, 12 and after a restart 11: all three handled", "rounds", 10, 0, 10,
        600.0, (Bound("handled", "==", 3, per="rounds"),), late,
        ("test_store_intake.py::test_a_second_delivery_changes_nothing",),
        "over Telegram; Discord's gateway keeps the order of a channel, and what was missed is read after the newest",
    ),
    Row(
        "D7", "Killed between the model's answer and its sending", "said once after the restart, asked once",
        "kills", 50, 0, 25, 900.0,
        (Bound("said once", "==", 1, per="kills"), Bound("asked more than once", "==", 0), Bound("spilled", "==", 0)),
        between,
        ("test_budget.py::test_what_was_not_sent_is_sent_after_a_crash",
         "test_store_turns.py::test_an_answer_that_is_stored_twice_is_in_the_log_and_paid_once"),
    ),
    Row(
        "D11", "Discord breaks off or answers 502 and 503", "200 sends, one copy of each", "sends", 200, 0, 100, 1_200.0,
        (Bound("said once", "==", 1, per="sends"), Bound("rules broken", "==", 0), Bound("unknown", "==", 0),
         Bound("spilled", "==", 0)), cut,
        ("test_discord_adapter.py::test_the_same_row_sent_again_stands_there_once",),
    ),
    Row(
        "D24", "The last poll of a stop fails", "all comes again and is carried out once", "stops", 20, 0, 20, 900.0,
        (*(Bound(name, "==", 0) for name in ("events again", "said too often", "kept twice", "strange ends", "spilled")),
         Bound("slowest end s", "<=", 10)), parting,
        ("test_copies.py::test_a_command_is_carried_out_once_even_when_it_empties_itself",),
        "there is no .ai restart; memory and dot-commands stand for it",
    ),
)  # fmt: skip
