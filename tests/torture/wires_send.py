"""Rows of the table of faults about sending: what times out, is limited, could ping, or is pressed by another.

They run the whole bot in this process, in real time, with the real libraries against the strict fake servers.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tests.torture.live import live, until
from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.fakes.telegram_faults import Violation
    from tests.fakes.telegram_server import FakeTelegram

PLACES = 20
WAIT_S, ON_ITS_WAY_S = 2, 0.25
"""How long nothing may be sent after a 429, and how long that may take to be known."""
PARTS = tuple(f"第{part}段" for part in range(5))
PINGS = "@everyone @here <@&100000000000000050> <@100000000000000001>"


def telegram(server: FakeTelegram, *, placeholder: bool = False, **pacing: Any) -> Any:
    """How an adapter for that server is made."""
    from adapters.telegram import TelegramSettings
    from adapters.telegram.adapter import TelegramAdapter
    from adapters.telegram.sending import RateLimits

    limits = RateLimits(**{"private_ms": 1, "answer_s": 1.0, **pacing})
    settings = TelegramSettings(
        token=SecretStr(server.token), base_url=server.url, delivery="placeholder" if placeholder else "send"
    )
    return lambda clock, log: TelegramAdapter(settings, (), clock, log, limits=limits)


def rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'nuan.db'}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


async def timeouts(folder: Path, size: Size) -> Found:
    """D9: a reply whose answer stalls, one whose server refuses the connection, and the third of five that stalls.

    The last unit of four is placeholder mode, where the answer to the sign stalls.
    """
    sums = {"replies": 0, "copies wrong": 0, "retried": 0, "parts missing": 0, "unknown": 0}
    kinds = itertools.cycle(("stall", "refused", "parts", "sign"))
    for number, kind in zip(range(size.units), kinds, strict=False):
        data = folder / str(number)
        shown = await _sent(data, kind)
        counts = [sum(word in one for one in shown) for word in (PARTS if kind == "parts" else ("答复",))]
        sums["replies"] += 1
        sums["copies wrong"] += sum(count > 1 for count in counts)
        sums["parts missing"] += sum(count < 1 for count in counts)
        sums["retried"] += kind in ("refused", "sign") and bool(rows(data, "SELECT 1 FROM outbox WHERE attempts > 1"))
        sums["unknown"] += len(rows(data, "SELECT 1 FROM outbox WHERE state = 'unknown'"))
    return Found(sums)


async def _sent(data: Path, kind: str) -> list[str]:
    """What Ann sees in the end of a reply on whose way that goes wrong."""
    from tests.fakes.telegram_faults import UNLIMITED, Fault
    from tests.fakes.telegram_server import FakeTelegram
    from tests.telegram_stage import ANN

    text = "\n\n".join(part + "好" * 3_900 for part in PARTS) if kind == "parts" else "答复"
    server = FakeTelegram(limits=UNLIMITED)
    await server.__aenter__()
    async with live(data, telegram(server, placeholder=kind == "sign"), telegram={"allow": [str(ANN.id)]}) as world:
        await until(lambda: bool(server.calls("getUpdates")))
        world.model.script = lambda request: text
        if kind == "refused":
            world.shut()
        else:
            server.faults.add("sendMessage", Fault("stall"), after=2 if kind == "parts" else 0)
        server.people.say(ANN.id, ANN, "在吗")
        if kind == "refused":
            await until(lambda: world.model.held > 0)
            await server.__aexit__(None, None, None)
            await asyncio.sleep(1)  # what is sent on a connection that is just being closed may have arrived
            gate, world.model.gate = world.model.gate, None
            if gate is not None:
                gate.set()
            refused = "SELECT 1 FROM outbox WHERE attempts > 0 AND state = 'pending'"
            await until(lambda: bool(rows(data, refused)))
            await server.__aenter__()
        over = "SELECT 1 FROM outbox WHERE state IN ('preview', 'pending', 'sending')"
        await until(lambda: bool(rows(data, "SELECT 1 FROM outbox")) and not rows(data, over))
        shown = [one.text for one in server.sent(ANN.id)]
    await server.__aexit__(None, None, None)
    return shown


def _knowing(broken: Violation) -> bool:
    """Whether that was sent into a wait for all when its 429 had come: not what was on its way already."""
    return broken.chat is None and broken.at - (broken.until - WAIT_S) > ON_ITS_WAY_S


async def limited(folder: Path, size: Size) -> Found:
    """D15: replies to ten groups and ten private chats at Telegram's limits: 1/s, 20/min in a group, 30/s.

    By itself nuan stays below them; so every tenth is refused with a wait, half of these for all chats.
    """
    from tests.fakes.telegram_faults import Fault, Limits
    from tests.fakes.telegram_server import FakeTelegram
    from tests.fakes.telegram_shapes import Person

    async with FakeTelegram(limits=Limits()) as server:
        people = [Person(5_000_001 + number, f"人{number}") for number in range(PLACES)]
        chats = [
            server.chats.group(f"群{number}", people[number]) if number % 2 else people[number].id
            for number in range(PLACES)
        ]
        allow = [*(str(person.id) for person in people), *(f"group:{chat}" for chat in chats[1::2])]
        make = telegram(server, private_ms=1_000, answer_s=20.0)
        async with live(folder / "data", make, telegram={"allow": allow}) as world:
            await until(lambda: bool(server.calls("getUpdates")))
            for chat, person in zip(chats, people, strict=True):
                server.people.say(chat, person, "/new@nuan_fake_bot")
            counted = "SELECT count(DISTINCT chat_id) FROM outbox"
            await until(lambda: rows(world.folder, counted)[0][0] == PLACES)
            await until(lambda: not rows(world.folder, "SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')"))
            before = {chat: len(server.sent(chat)) for chat in chats}
            numbers = [row[0] for row in rows(world.folder, "SELECT chat_id FROM place ORDER BY chat_id")]
            from bot.core.events import Draft

            ordered = size.units // 10
            for each in range(ordered):
                flood = Fault("flood", retry_after=WAIT_S, everywhere=each % 2 == 0)
                server.faults.add("sendMessage", flood, after=10 * each)
            for each in range(size.units):
                await world.store.outbox.answer(
                    numbers[each % PLACES], (), (Draft(f"第{each:04}句", "notice"),), world.clock.now()
                )
                world.app.look()
            waits = "SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')"
            await until(lambda: not rows(world.folder, waits), 400)
        seen = {chat: [one.text for one in server.sent(chat)][before[chat] :] for chat in chats}
        sends = [method for method in server.requests if method.method == "sendMessage"]
        delivered = sum(map(len, seen.values()))
        disordered = sum(texts != sorted(texts) for texts in seen.values())
        return Found(
            {
                "replies": size.units,
                "delivered": delivered,
                "out of order": disordered,
                "inside a wait": len([one for one in server.violations if one.chat is not None]),
                "others inside a wait for all": sum(_knowing(one) for one in server.violations),
                "requests": len(sends),
                "waits": len(server.faults.met),
                "refused beside": len(sends)
                - delivered
                - sum(before.values())
                - len(server.faults.met)
                - len(server.violations),
            }
        )


async def pings(folder: Path, size: Size) -> Found:
    """X15: texts that would ping, as replies, edits, answers to slash commands, and their follow-ups."""
    from adapters.discord import DiscordSettings
    from adapters.discord.adapter import DiscordAdapter
    from tests.discord_support import COMMANDS
    from tests.fakes.discord_front import speaks
    from tests.fakes.discord_server import FakeDiscord
    from tests.fakes.discord_world import SUPPRESS_EMBEDS

    token = "made-up.discord.token"
    async with FakeDiscord(token, limit=0) as server:
        lin = server.world.add_user("林")
        guild = server.world.add_guild("茶馆", lin)
        hall = server.world.add_channel(guild, "hall")

        def make(clock: Any, log: Any) -> Any:
            settings = DiscordSettings(token=SecretStr(token), api_url=server.api_url, gateway_url=server.gateway_url)
            return DiscordAdapter(settings, COMMANDS, clock, log)

        async with live(folder / "data", make, discord={"allow": [str(guild.id)]}) as world:
            world.model.script = lambda request: PINGS
            await until(
                lambda: server.gateway.connected > 0 and "discord_connected" in {one[1] for one in world.log.lines}
            )
            from bot.core.events import Outgoing

            async def round_of(each: int) -> None:
                server.people.say(hall, lin, f"<@{server.world.bot.id}> 第{each}句")
                await until(lambda: len(server.sent(hall)) > 2 * each)
                shown = await world.talk.show(  # type: ignore[attr-defined]
                    Outgoing(10_000 + each, 1, "discord", str(hall.id), PINGS, "reply")
                )
                again = Outgoing(10_000 + each, 1, "discord", str(hall.id), f"{PINGS}！", "reply", preview_id=shown)
                await world.talk.send(again)
                server.people.slash(hall, lin, "remember", text=f"{PINGS} {each}")
                await until(lambda: len(server.ephemeral(lin)) > each)

            for number in range(size.units):
                await round_of(number)
        spoken = sum(map(speaks, server.requests))
        return Found(
            {
                "rounds": size.units,
                "texts": spoken,
                "could ping": len(server.front.pinging),
                "previews": sum(not one.flags & SUPPRESS_EMBEDS for one in server.sent(hall)),
                "pinged": sum(one.everyone or bool(one.mentions) for one in server.sent(hall)),
            }
        )


def forged() -> Iterator[str]:
    """What somebody may write into the data of a button."""
    for owner in ("501", "0501", " 501", "501 ", "-501", "", "0", "502|501"):
        for says in (".ai forget me", ".ai approve ABCDEFGH", "确定", "忘记#1", "|", "|.ai off", ""):
            yield f"{owner}|{says}"


async def buttons(folder: Path, size: Size) -> Found:
    """X28: Bo presses what was made for Ann, and data that Bo made up; nothing may be said in Ann's name."""
    from tests.telegram_payloads import BO
    from tests.test_telegram_events import pressed

    del folder
    as_ann = as_bo = pressings = 0
    data = list(forged())
    while pressings < size.units:
        for each in data:
            for told in pressed(each, BO):
                as_ann += told.sender is not None and told.sender.external_id != str(BO["id"])
                as_bo += 1
            pressings += 1
    return Found({"pressings": pressings, "in another's name": as_ann, "in their own name": as_bo})


SEND = (
    Row(
        "D9",
        "a send that times out",
        "one copy; refused connections are tried again; the parts behind go out",
        "replies",
        8,
        0,
        8,
        300,
        (Bound("copies wrong", "==", 0), Bound("parts missing", "==", 0), Bound("retried", ">=", 0.5, "replies")),
        timeouts,
        (
            "test_telegram_sending.py::test_what_became_of_a_message_is_told_truly",
            "test_telegram_sending.py::test_a_server_that_is_gone_took_nothing_and_does_not_hold_up_the_end",
            "test_sending.py::test_of_five_parts_the_one_of_unknown_fate_is_sent_once_and_the_others_all_arrive",
            "test_sending.py::test_a_placeholder_of_which_nobody_knows_whether_it_went_out_loses_no_reply",
        ),
    ),
    Row(
        "D15",
        "limits of the platform",
        "300 replies to 20 chats and 30 waits: all, in order, none inside a wait, at most one 429 after each",
        "replies",
        300,
        0,
        300,
        600,
        (
            Bound("delivered", "==", 1, "replies"),
            Bound("out of order", "==", 0),
            Bound("inside a wait", "==", 0),
            Bound("waits", ">=", 0.1, "replies"),
            Bound("others inside a wait for all", "<=", 1, "waits"),
        ),
        limited,
        ("test_telegram_pace.py",),
        differs="Telegram does not say whether a wait is a chat's or meant for all: one other chat may run into it "
        "once; on Discord its library keeps to the limits (test_discord_adapter.py)",
    ),
    Row(
        "X15",
        "a model that writes @everyone",
        "every text has empty allowed_mentions, and nobody is pinged",
        "rounds",
        50,
        0,
        50,
        300,
        (
            Bound("texts", ">=", 3, "rounds"),
            Bound("could ping", "==", 0),
            Bound("pinged", "==", 0),
            Bound("previews", "==", 0),
        ),
        pings,
        ("test_discord_adapter.py", "test_discord_extras.py"),
    ),
    Row(
        "X28",
        "a button pressed by another",
        "nothing in another's name",
        "pressings",
        5_600,
        56,
        5_600,
        60,
        (Bound("in another's name", "==", 0),),
        buttons,
        (
            "test_telegram_sending.py::test_a_pressed_button_speaks_for_the_one_it_was_made_for_only",
            "test_discord_extras.py::test_a_button_works_for_one_person_also_after_a_restart",
        ),
        differs="bound to the account; a press says its text in the presser's own name and with their rights only, so "
        "neither chat nor expiry is signed: codes and questions behind it end after 5 min to 1 h",
    ),
)
