"""Rows of the table about turns and their money: too long, running wild, too many at once, cut off, leaking."""

import asyncio
import json
from pathlib import Path

from bot.config.settings import Settings
from tests.peek import In
from tests.torture.row import Bound, Found, Row, Size

ROOM = 10
"""For so many calls there is room in the budget of L10."""

KILLED = "test_after_a_kill_at_any_moment_the_ledger_is_within_its_limits_and_nothing_stays_reserved"

STEPS = 150
"""Steps of the event loop between two moments at which a turn is stopped: twenty times that is a turn's work."""

PLACE: dict[str, dict[str, object]] = {"bot": {"timezone": "Asia/Shanghai"}}


async def overflowing(folder: Path, size: Size) -> Found:
    """A server for which everything is too long: at the first message, and in a conversation."""
    from tests.fakes.openai_script import Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.pools import tell
    from tests.test_fallbacks_wire import wired

    bad, most, lines = [False], 0, 0
    reply = Reply(fault="context_overflow")
    async with (
        FakeOpenAI(lambda _: reply if bad[0] else Reply("好的")) as server,
        wired(folder, (server.base_url, "first")) as world,
    ):
        for number in range(size.units):
            who = f"人{number}"
            for _ in range(number % 2):
                await tell(world, "早上好", who)
            calls, said = len(server.requests), len(world.replies)
            bad[0] = True
            await tell(world, "那只猫后来怎么样了", who)
            bad[0] = False
            most, lines = max(most, len(server.requests) - calls), lines + len(world.replies) - said
    return Found({"questions": size.units, "lines": lines}, {"calls": most})


async def running_wild(folder: Path, size: Size) -> Found:
    """A model that always asks for tools: one after the other, many at once, the same one again."""
    from tests.fakes.model import calls
    from tests.world import World

    world = await World(folder, Settings.model_validate(PLACE)).open()
    done: list[int] = []
    asked, found, mute = 0, 0, 0
    for number in range(size.units):
        kind, count = number % 3, iter(range(1_000))
        width = 1 if kind != 1 else 8

        def wants(_: object, kind: int = kind, count: object = count, width: int = width) -> object:
            assert isinstance(count, type(iter(range(1))))
            queries = ["蛇" if kind == 2 else f"蛇{next(count)}" for _ in range(width)]
            return calls(*(("memory_recall", json.dumps({"query": query}, ensure_ascii=False)) for query in queries))

        world.model.script = wants  # type: ignore[assignment]
        before, said = len(world.model.requests), len(world.replies)
        await world.say(f"第{number}问", f"人{number}")
        asked = max(asked, len(world.model.requests) - before)
        mute += len(world.replies) == said
        results = [one.content for one in world.model.requests[-1].prompt.messages if one.role == "tool"]
        done.append(sum("没有找到" in text for text in results))
        found = max(found, done[-1])
    again = max((count for number, count in enumerate(done) if number % 3 == 2), default=0)
    left = world.peek.calls.count(state="reserved")
    await world.close()
    return Found(
        {"turns": size.units, "unanswered": mute, "reserved": int(str(left))},
        {"calls": asked, "tools": found, "same_tool": again},
    )


async def crowded(folder: Path, size: Size) -> Found:
    """So many people at once, with room for ten calls; the server counts nothing."""
    from tests.world import World

    money: dict[str, object] = {"slots": 50, "price_input": 2.0, "price_output": 8.0}
    sections: dict[str, dict[str, object]] = {**PLACE, "model": money, "budget": {"day_money": 100.0, "light_at": 1.0}}
    world = await World(folder / "one", Settings.model_validate(sections)).open()
    await world.say("小暖，在吗", "人0")
    ((each,),) = world.peek.calls("reserved_cost")
    await world.close()
    cap = float(str(each)) * (ROOM + 0.5)
    sections["budget"] = {"day_money": cap, "day_tokens": None, "light_at": 1.0, "small_at": 1.0}
    world = await World(folder / "many", Settings.model_validate(sections)).open()
    world.shut()
    for number in range(size.units):
        await world.app.ingest.accept(world.message("小暖，在吗", f"人{number}"))
    await world.held(1)
    await world.let_answer()
    ((spent, admitted, uncounted),) = world.rows(
        "SELECT sum(cost), sum(state = 'settled'), sum(cost <> reserved_cost) FROM call"
    )
    reserved = world.peek.calls.count(state="reserved")
    told = len(world.replies)
    # What a kill leaves is charged at the next start.
    world.settings = Settings.model_validate({**sections, "budget": {"day_money": 100.0}})
    await world.restart()
    world.shut()
    await world.app.ingest.accept(world.message("还在吗", "人0"))
    await world.held(1)
    await world.crash(shut=True)
    await world.held(1)
    ((lost,),) = world.rows("SELECT count(*) FROM call WHERE state = 'lost' AND cost = reserved_cost")
    await world.let_answer()
    rest = world.peek.calls.count(state="reserved")
    await world.close()
    return Found(
        {
            "turns": size.units,
            "untold": size.units - told,
            "reserved": int(str(reserved)) + int(str(rest)),
            "uncharged": int(str(uncounted)) + 1 - int(str(lost)),
        },
        {"admitted": int(str(admitted)), "overshoot": max(float(str(spent)) - cap, 0.0) > 1e-9},
    )


async def undigested(folder: Path, size: Size) -> Found:
    """Conversations end while the model is down for an hour; then it is up again."""
    from bot.core.errors import ModelError
    from tests.test_closing import DIGEST, digesting, is_digest, talk
    from tests.world import World

    world = await World(folder, Settings.model_validate(PLACE)).open()
    digesting(world, ModelError("unreachable", "down"))
    for number in range(size.units):
        await talk(world, f"人{number}")
        await world.say("/new", f"人{number}")
    await world.wait(3_600)
    early = world.peek.digests.count()
    digesting(world, json.dumps(DIGEST, ensure_ascii=False))
    await world.wait(2 * 3_600)
    each = world.rows(
        "SELECT count(digest.session_id) FROM session LEFT JOIN digest ON digest.session_id = session.id "
        "WHERE close_reason = 'new' GROUP BY session.id"
    )
    waiting = world.peek.sessions.count(state="closing")
    asked = sum(map(is_digest, world.model.requests))
    await world.close()
    return Found(
        {
            "sessions": size.units,
            "digested": len(each),
            "not_one": sum(count != (1,) for count in each),
            "waiting": int(str(waiting)),
            "early": early,
        },
        {"asked": asked},
    )


async def leaking(folder: Path, size: Size) -> Found:
    """Forms of scaffolding through the installation; what only looks like it comes through."""
    from bot.core.models import Completion
    from bot.model.completion import CompletionBuilder
    from tests.scaffolds import LEAKED, WANTED
    from tests.world import World

    def completed(text: str) -> Completion:
        answer = CompletionBuilder(frozenset())
        answer.add({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
        made = answer.completion()
        return Completion(made.text, (), None, raw=made.raw)

    world = await World(folder, Settings.model_validate(PLACE)).open()
    forms = list(LEAKED.values())[: size.units]
    for number, text in enumerate(forms):
        world.model.script = lambda request, text=text: completed(text)  # type: ignore[misc]
        await world.say(f"第{number}问", f"人{number % 8}")
    visible = sum(reply != "你怕蛇" for reply in world.replies)
    for number, text in enumerate(WANTED):
        world.model.script = lambda request, text=text: completed(text)  # type: ignore[misc]
        # An address that its person named is no way out, so the rule for links leaves it.
        await world.say(f"第{number}问，http://example.com", f"人{number % 8}")
    harmed = sum(reply != text.strip() for reply, text in zip(world.replies[len(forms) :], WANTED, strict=True))
    await world.close()
    return Found({"forms": len(forms), "visible": visible, "harmed": harmed})


async def cancelled(folder: Path, size: Size) -> Found:
    """A stop at so many moments of a turn: while it is composed, reserved, asked, answered, sent."""
    from tests.fakes.clock import let_others_run
    from tests.world import World

    money: dict[str, object] = {"price_input": 2.0, "price_output": 8.0}
    world = await World(folder, Settings.model_validate({**PLACE, "model": money})).open()
    await world.say("早")
    before, early = len(asyncio.all_tasks()), 0
    for number in range(size.units):
        who = f"人{number}"
        held = number % 2
        if held:
            world.shut()
        await world.app.ingest.accept(world.message("讲个故事", who))
        for _ in range(number * STEPS):
            await let_others_run()
        await world.app.ingest.accept(world.message("停", who))
        await world.let_answer()
        states = world.peek.turns.count(state=In("asked", "answered"))
        early += int(str(states))
    ((reserved, wrong),) = world.rows(
        "SELECT sum(state = 'reserved'), sum(state = 'lost' AND cost <> reserved_cost) FROM call"
    )
    ((spent,),) = world.rows("SELECT sum(cost) FROM call WHERE state IN ('settled', 'lost')")
    ledger = await world.store.ledger.spend(0)
    await world.app.settled()
    tasks = len(asyncio.all_tasks()) - before
    voids = world.peek.turns.count(state="void")
    await world.close()
    return Found(
        {
            "stops": size.units,
            "under_way": early,
            "reserved": int(str(reserved)),
            "wrongly_charged": int(str(wrong)),
            "stopped_in_time": voids,
        },
        {"tasks_left": tasks, "ledger_differs": abs(ledger.money - float(str(spent))) > 1e-9},
    )


ROWS = (
    Row(
        "L8",
        "everything is too long for the model",
        "at most two calls, one line",
        "questions",
        20,
        0,
        20,
        60,
        (Bound("calls", "<=", 2), Bound("lines", "==", 1, "questions")),
        overflowing,
        existing=(
            "test_overflow.py::test_a_question_that_is_too_long_by_itself_ends_in_one_line_after_two_calls",
            "test_overflow.py::test_a_first_message_that_is_too_long_is_asked_once",
        ),
    ),
    Row(
        "L9",
        "a model that always asks for tools",
        "ends at 4 calls and 6 tools with a reply; the same call once",
        "turns",
        30,
        0,
        30,
        60,
        (
            Bound("calls", "<=", 4),
            Bound("tools", "==", 6),
            Bound("same_tool", "==", 1),
            Bound("unanswered", "==", 0),
            Bound("reserved", "==", 0),
        ),
        running_wild,
        existing=(
            "test_tools.py::test_six_tool_calls_are_done_and_the_rest_is_refused",
            "test_tools.py::test_a_model_that_only_asks_for_tools_is_stopped_after_four_calls",
            "test_tool_loop.py::test_the_same_call_is_carried_out_once_a_turn",
        ),
    ),
    Row(
        "L10",
        "fifty at once, room for ten calls, nothing counted; a kill in a call",
        "at most ten admitted, nothing beyond the limit, nothing reserved, what nobody counted costs its reservation",
        "turns",
        50,
        0,
        50,
        60,
        (
            Bound("admitted", "==", ROOM),
            Bound("overshoot", "==", 0),
            Bound("reserved", "==", 0),
            Bound("uncharged", "==", 0),
            Bound("untold", "==", 0),
        ),
        crowded,
        existing=(
            f"test_ledger_storms.py::{KILLED}",
            "test_ledger_storms.py::test_fifty_at_once_on_a_nearly_empty_budget_never_reserve_beyond_it",
            "test_budget.py::test_without_counts_what_was_reserved_is_charged",
        ),
    ),
    Row(
        "L11",
        "conversations end while the model is down for an hour",
        "later each has one summary, exactly",
        "sessions",
        40,
        1,
        40,
        120,
        (
            Bound("digested", "==", 1, "sessions"),
            Bound("not_one", "==", 0),
            Bound("waiting", "==", 0),
            Bound("asked", "<=", 10, "sessions"),
        ),
        undigested,
    ),
    Row(
        "L13",
        "scaffolding in answers",
        "nothing of it is seen; code and ordinary signs are",
        "forms",
        48,
        0,
        48,
        60,
        (Bound("visible", "==", 0), Bound("harmed", "==", 0)),
        leaking,
        existing=(
            "test_scaffold.py::test_of_leaked_scaffolding_nothing_is_seen_and_never_while_it_is_written",
            "test_scaffold.py::test_what_only_looks_like_it_comes_through_as_it_is_written",
        ),
    ),
    Row(
        "L14",
        "a turn is cancelled",
        "no task left, the ledger exact",
        "stops",
        60,
        20,
        60,
        120,
        (
            Bound("under_way", "==", 0),
            Bound("reserved", "==", 0),
            Bound("wrongly_charged", "==", 0),
            Bound("tasks_left", "<=", 0),
            Bound("ledger_differs", "==", 0),
            Bound("stopped_in_time", ">=", 3),
        ),
        cancelled,
    ),
)
