"""Rows of the table of faults about what waits: tries, leases, backlogs, order.

All of them run the whole bot in this process, with simulated time and real SQLite.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.torture.row import Bound, Found, Row, Size

if TYPE_CHECKING:
    from tests.world import Talk, World

BAD = "坏消息"
GOOD = 20
TRIES = 8
HOUR_MS = 3_600_000
LINES = 40


@asynccontextmanager
async def nuan(
    folder: Path, platforms: tuple[str, ...] = (), talk: Talk | None = None, **tables: dict[str, Any]
) -> AsyncIterator[World]:
    """A World with these settings, and no limit of money; `talk` is its adapter."""
    from bot.config.settings import Settings
    from tests.world import World

    budget = {"day_tokens": None, **tables.pop("budget", {})}
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "budget": budget, **tables})
    world = World(folder / "data", settings, platforms)
    world.talk = talk or world.talk
    await world.open()
    try:
        yield world
    finally:
        await world.close()


def number(world: World, sql: str, *values: object) -> int:
    """The one number that a statement finds."""
    return int(str(world.rows(sql, *values)[0][0]))


LEFT = "SELECT count(*) FROM event WHERE state = 'queued'"
OPEN_ENDS = "SELECT count(*) FROM event WHERE kind = 'message' AND state IN ('done', 'dead') AND outcome = ''"


async def fails_once(folder: Path, size: Size) -> Found:
    """D4: every message breaks nuan the first time it is handled."""
    async with nuan(folder) as world:
        broken = set[str]()

        def script(request: Any) -> str:
            text = request.prompt.messages[-1].content.rpartition("第")[2]
            if text not in broken:
                broken.add(text)
                raise RuntimeError("boom")
            return "好的"

        world.model.script = script
        for each in range(size.units):
            await world.say(f"这是第{each}句")
            await world.wait(1)
        again = number(world, "SELECT count(*) FROM event WHERE tries = 1 AND outcome = 'answered'")
        return Found(
            {
                "messages": size.units,
                "failed first": len(broken),
                "answered then": again,
                "without outcome": number(world, OPEN_ENDS),
                "replies": world.replies.count("好的"),
            }
        )


async def always_fails(folder: Path, size: Size) -> Found:
    """D5: one message always breaks nuan (in the model, or in the database by turns), twenty good ones follow it."""
    from bot.cli.doctor import store_findings
    from tests.agenting import place_of

    async with nuan(folder) as world:
        tried = list[int]()
        state = {"by": "model"}

        def script(request: Any) -> str:
            if BAD in request.prompt.messages[-1].content and state["by"] == "model":
                tried.append(world.clock.now())
                raise RuntimeError("boom")
            return "好的"

        world.model.script = script
        answered = 0
        for each in range(size.units):
            who, before = f"人{each}", len(world.replies)
            state["by"] = "model" if each % 2 == 0 else "store"
            with closing(sqlite3.connect(world.folder / "nuan.db")) as database:
                if state["by"] == "store":
                    database.execute(
                        "CREATE TRIGGER odd BEFORE INSERT ON turn_event WHEN EXISTS (SELECT 1 FROM event WHERE "
                        "id = new.event_id AND text LIKE '坏消息%') BEGIN SELECT RAISE(ABORT, 'odd'); END"
                    )
                    database.commit()
                await world.say(f"{BAD}{each}", who)
                for good in range(GOOD):
                    await world.say(f"第{good}句", who)
                answered += world.replies[before:].count("好的")
                await world.wait(200)
                database.execute("DROP TRIGGER IF EXISTS odd")
                database.commit()
        longest = max((later - first for first, later in pairwise(tried[:TRIES])), default=0)
        dead = "FROM event WHERE state = 'dead' AND text LIKE '坏消息%'"
        found = await store_findings(place_of(world).data, world.clock.now())
        return Found(
            {
                "poisons": size.units,
                "good answered": answered,
                "attempts": number(world, f"SELECT coalesce(sum(tries), 0) {dead}"),
                "dead": number(world, f"SELECT count(*) {dead}"),
                "doctor": sum(f"{size.units} could not be handled" in one.text for one in found),
                "told": sum("出了点问题" in text for text in world.replies),
                "without outcome": number(world, OPEN_ENDS),
            },
            {"longest wait s": longest / 1000},
        )


async def long_turns(folder: Path, size: Size) -> Found:
    """D6: a model that takes 400 s of simulated time, and a death in the midst of it in the same process (same PID)."""
    async with nuan(folder, model={"deadline_seconds": 500}) as world:
        replies = crashes = 0
        for each in range(size.units):
            world.shut()
            await world.app.ingest.accept(world.message(f"第{each}句"))
            await world.held()
            await world.wait(400)
            if each % 2:
                await world.crash(shut=True)
                await world.held()
                crashes += 1
            before = len(world.replies)
            await world.let_answer()
            await world.wait(10)
            replies += len(world.replies) - before
        return Found(
            {
                "turns": size.units,
                "replies": replies,
                "deaths": crashes,
                "begun anew": number(world, "SELECT count(*) FROM turn") - size.units,
                "left": number(world, LEFT),
            }
        )


async def backlog(folder: Path, size: Size) -> Found:
    """D14: updates that are three hours old, in five chats; then somebody writes one word in each."""
    chats = [f"群{each}" for each in range(5)]
    allow = {"telegram": {"allow": [f"group:{each}" for each in chats]}}
    async with nuan(folder, ("telegram",), None, **allow) as world:
        now = world.clock.now()
        for each in range(size.units):
            at = now - 3 * HOUR_MS + each * 1000
            facts = {"at": at, "external_id": str(each), "mentions_bot": True}
            said = world.message(f"小暖，第{each}句", "阿红", chats[each % 5], "telegram", **facts)
            await world.app.ingest.accept(said)
        for chat in chats:
            now_said = world.message(
                "小暖，在吗", "阿红", chat, "telegram", external_id=f"new {chat}", mentions_bot=True
            )
            await world.app.ingest.accept(now_said)
        await world.wait(60)
        kept = number(world, "SELECT count(*) FROM event WHERE text LIKE '%第%句'")
        asked = "SELECT count(*) FROM turn_event JOIN event ON event.id = event_id WHERE text LIKE '%第%句'"
        told = [out.external_chat_id for out in world.talk.said]
        most = max((told.count(chat) for chat in set(told)), default=0)
        return Found(
            {
                "updates": size.units,
                "kept": kept,
                "old ones answered": number(world, asked),
                "chats answered": len(set(told)),
                "left": number(world, LEFT),
            },
            {"replies to a chat": most},
        )


async def order(folder: Path, size: Size) -> Found:
    """D21: forty numbered messages in each chat while the model takes a random time; simulated seconds are counted.

    The slowest chat is the one for which the model worked longest: nobody else may make it last longer.
    """
    from bot.config.settings import Settings
    from tests.torture.crowd import Crowd

    chance = random.Random(size.seed)
    tables = {
        "bot": {"timezone": "Asia/Shanghai"},
        "budget": {"day_tokens": None},
        "model": {"slots": max(size.units, 4)},
        "speak": {"busy": "queue"},
    }
    world = Crowd(folder / "data", Settings.model_validate(tables), takes_ms=lambda: chance.randint(500, 1_900))
    await world.open()
    try:
        begun = world.clock.now()
        for line in range(LINES):
            for chat in range(size.units):
                await world.app.ingest.accept(world.message(f"第{line}句", f"人{chat}"))
            await world.wait(1)
        await world.wait(120)
        wrong, ends, slowest = 0, begun, 0
        for chat in range(size.units):
            found = world.rows(
                "SELECT event.text, said_at FROM turn_event JOIN event ON event.id = event_id JOIN turn ON turn.id = "
                "turn_event.turn_id JOIN person ON person.id = event.person_id WHERE person.name = ? AND said_at > 0 "
                "ORDER BY said_at, event.id",
                f"人{chat}",
            )
            wrong += [text for text, _ in found] != [f"第{line}句" for line in range(LINES)]
            ends = max(ends, *(int(str(at)) for _, at in found))
            slowest = max(slowest, world.slow.worked_ms[f"人{chat}"])
        return Found(
            {"chats": size.units, "out of order": wrong},
            {
                "total by slowest": round((ends - begun) / max(slowest, 1), 3),
                "slowest s": slowest / 1000,
                "at once": world.slow.most,
            },
        )
    finally:
        await world.close()


QUEUE = (
    Row(
        "D4",
        "a legitimate retry is taken for a copy, or a message is closed without an outcome",
        "handled at the second try; nothing done without an outcome",
        "messages",
        200,
        3,
        100,
        300,
        (
            Bound("failed first", "==", 1, "messages"),
            Bound("answered then", "==", 1, "messages"),
            Bound("replies", "==", 1, "messages"),
            Bound("without outcome", "==", 0),
        ),
        fails_once,
    ),
    Row(
        "D5",
        "a message on which handling always fails",
        "8 tries, waits of 1 s to 3 min, then dead and seen in doctor; the 20 behind it are answered",
        "poisons",
        20,
        0,
        20,
        300,
        (
            Bound("good answered", "==", GOOD, "poisons"),
            Bound("attempts", "==", TRIES, "poisons"),
            Bound("dead", "==", 1, "poisons"),
            Bound("told", "==", 1, "poisons"),
            Bound("doctor", ">=", 1),
            Bound("longest wait s", "<=", 180),
            Bound("without outcome", "==", 0),
        ),
        always_fails,
        (
            "test_retrying.py::test_a_message_that_always_fails_is_tried_eight_times_and_twenty_others_are_answered",
            "test_telegram_adapter.py::test_whatever_breaks_the_storing_of_one_update_polling_goes_on_with_the_others",
        ),
        differs="a turn in which a tool has done something is not begun anew: its person is told at the first failure",
    ),
    Row(
        "D6",
        "a lease is held through a long turn, or its owner known by PID",
        "400 s of model: 1 reply, nothing begun anew; after a death with the same PID the work goes on",
        "turns",
        20,
        2,
        20,
        120,
        (Bound("replies", "==", 1, "turns"), Bound("begun anew", "==", 0), Bound("left", "==", 0)),
        long_turns,
        differs="with model.deadline_seconds 500; by default a turn is given up after 90 s and says so (row L1)",
    ),
    Row(
        "D14",
        "a backlog after a long absence",
        "all kept and none answered; one reply in each of five chats to what is new",
        "updates",
        500,
        0,
        500,
        120,
        (
            Bound("kept", "==", 1, "updates"),
            Bound("old ones answered", "==", 0),
            Bound("chats answered", "==", 5),
            Bound("replies to a chat", "==", 1),
            Bound("left", "==", 0),
        ),
        backlog,
        ("test_late.py::test_a_backlog_is_kept_whole_and_gets_one_reply_in_each_chat",),
    ),
    Row(
        "D21",
        "order within a chat",
        "40 numbered messages in each of 50 chats: order kept, chats side by side",
        "chats",
        50,
        0,
        50,
        600,
        (Bound("out of order", "==", 0), Bound("total by slowest", "<=", 1.2)),
        order,
        ("test_slots.py::test_never_too_many_in_order_within_a_chat_and_no_slot_is_lost",),
        differs="with model.slots as many as chats: by default 4 calls run at once for all",
    ),
)
