"""Rows of what comes more than once, or late."""

import asyncio
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.e2e import Home
    from tests.fakes.openai_server import FakeOpenAI
    from tests.fakes.telegram_server import FakeTelegram

OWN = 5_000_001
COPIES = 3
QUIET_S = 1.5
"""Longer than anything takes that would still be said."""


def _telegram(folder: Path, server: "FakeTelegram", model: "FakeOpenAI") -> "Home":
    from tests.e2e import Home
    from tests.torture.grounds import common

    return Home(
        folder,
        common(model)
        | {
            "TELEGRAM__TOKEN": server.token,
            "TELEGRAM__BASE_URL": server.url,
            "TELEGRAM__ALLOW": str(OWN),
            "MEMORY__KEEP_MINUTE": "1000",  # the quota would refuse most wishes of somebody who says so many at once
        },
    )


def _messages(home: "Home") -> int:
    from tests.torture.kills import some

    return len(some(home, "SELECT 1 FROM event WHERE kind = 'message'"))


def _stored(home: "Home", count: int) -> Callable[[], bool]:
    return lambda: _messages(home) >= count


def _said(number: int) -> str:
    """Words, a memory command or a dot-command, each with a number of its own."""
    return (f"第{number}句", f"记住第{number}件事是zq{number:05}号", f".ai mem zq{number:05}")[number % 3]


async def copies(folder: Path, size: Size) -> Found:
    """Every update three times more: in order, shuffled, after a restart; memory and dot-commands among them."""
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.autopsy import WAITING
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import WORD, end, some, start, until
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
            named = {number for text in before for number in WORD.findall(text)}
            answered = len(named) + sum(not WORD.search(text) for text in before)
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
        return Found(
            {
                "updates": size.units,
                "copies": COPIES * size.units,
                "answered": answered,
                "said again": len(after) - len(before),
                "stored again": len(some(home, "SELECT 1 FROM event")) - events,
                "asked again": len(model.requests) - asked,
                "kept": len(kept),
                "kept twice": sum(times > 1 for times in kept.values()),
                "unhandled": len(some(home, WAITING)),
                "spilled": len(spilled(folder, model.bodies)),
            }
        )


async def late(folder: Path, size: Size) -> Found:
    """Updates 10, 12 and, after a restart, 11: as many times. Handled is what an answer names."""
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.autopsy import WAITING
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import ANSWERED_TWICE, WORD, end, some, start, until

    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, SlowOpenAI(0, size.seed) as model:
        home = _telegram(folder, server, model)
        process = await start(home)
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
                await until(_stored(home, 3 * (round_ + 1)))
                await until(lambda: not some(home, WAITING))
        finally:
            await end(process, SIGTERM)
        named = {number for shown in server.sent(OWN) for number in WORD.findall(shown.text)}
        again = len(some(home, ANSWERED_TWICE))
        return Found({"rounds": size.units, "handled": len(named), "answered twice": again})


async def parting(folder: Path, size: Size) -> Found:
    """It stops, and the poll that should tell Telegram what it has read fails; so all comes again."""
    from tests.fakes.telegram_faults import Fault
    from tests.fakes.telegram_server import TOKEN, FakeTelegram
    from tests.fakes.telegram_shapes import Person
    from tests.torture.autopsy import WAITING
    from tests.torture.grounds import SlowOpenAI
    from tests.torture.kills import end, some, start, until
    from tests.torture.secrets import spilled

    async with FakeTelegram(f"{os.getpid()}{TOKEN[10:]}") as server, SlowOpenAI(0, size.seed) as model:
        home = _telegram(folder, server, model)
        slowest, strange = 0.0, 0
        process = await start(home)
        try:
            for number in range(size.units):
                server.people.say(OWN, Person(OWN, "阿明"), _said(number))
                await until(_stored(home, number + 1))
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
        return Found(
            {
                "stops": size.units,
                "said": len(server.sent(OWN)),
                "events again": _messages(home) - size.units,
                "kept twice": sum(times > 1 for times in kept.values()),
                "strange ends": strange,
                "spilled": len(spilled(folder, model.bodies)),
            },
            {"slowest end s": round(slowest, 1)},
        )


NO_MORE = tuple(
    Bound(name, "==", 0) for name in ("said again", "stored again", "asked again", "kept twice", "unhandled", "spilled")
)

ROWS: tuple[Row, ...] = (
    Row(
        "D2",
        "The same update comes again",
        "every update 3 times more, one reply and one memory each",
        "updates",
        120,
        0,
        120,
        900.0,
        (*NO_MORE, Bound("answered", "==", 1, per="updates"), Bound("kept", "==", 1 / 3, per="updates")),
        copies,
        (
            "test_delivered_again.py::"
            "test_what_comes_three_times_more_in_any_order_and_after_a_crash_is_answered_and_kept_once",
            "contract/test_intake.py::test_a_delivery_is_remembered_over_a_restart_until_its_number_is_too_old",
        ),
    ),
    Row(
        "D3",
        "An update comes after newer ones",
        "10, 12 and after a restart 11: all three handled",
        "rounds",
        10,
        0,
        10,
        600.0,
        (Bound("handled", "==", 3, per="rounds"), Bound("answered twice", "==", 0)),
        late,
        ("test_delivered_again.py::test_what_comes_after_newer_ones_and_a_restart_is_handled_too",),
        "over Telegram; Discord's gateway keeps the order of a channel, and what was missed is read after the newest",
    ),
    Row(
        "D24",
        "The last poll of a stop fails",
        "all comes again and is carried out once",
        "stops",
        20,
        0,
        20,
        900.0,
        (
            *(Bound(name, "==", 0) for name in ("events again", "kept twice", "strange ends", "spilled")),
            Bound("said", "==", 1, per="stops"),
            Bound("slowest end s", "<=", 10),
        ),
        parting,
        (
            "test_delivered_again.py::"
            "test_what_comes_three_times_more_in_any_order_and_after_a_crash_is_answered_and_kept_once",
            "test_copies.py::test_a_command_is_carried_out_once_even_when_it_empties_itself",
        ),
        "there is no .ai restart; memory and dot-commands stand for it",
    ),
)
