"""Rows of the table about model servers that fail: what people get, what is asked again, what is carried out."""

import asyncio
import json
import random
from collections.abc import Mapping
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

from tests.fakes.openai_script import Fault
from tests.torture.row import Bound, Found, Row, Size

LATE_S, FIRST_S = 90.0, 20.0
"""Deadline of a call and of its first token, as they are configured unless somebody says otherwise."""

TEN_MINUTES_S, EVERY_S = 600, 5


async def slow(folder: Path, size: Size) -> Found:
    """Servers that hang, drip, or send a head and hang; alone, and with another one beside them."""
    from tests.fakes.openai_script import Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.test_fallbacks_wire import wired

    before, loop = len(asyncio.all_tasks()), asyncio.get_running_loop()

    async def one(number: int, fault: Fault, alone: bool) -> tuple[float, bool]:
        # The first answer loads what is loaded once; it is not what is measured.
        first = [Reply("早"), Reply(fault=fault)]
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(FakeOpenAI(lambda _: first.pop(0) if len(first) > 1 else first[0]))
            good = await stack.enter_async_context(FakeOpenAI(lambda _: Reply("我来答")))
            servers = ((server.base_url, "first"), *(() if alone else ((good.base_url, "second"),)))
            world = await stack.enter_async_context(
                wired(folder / str(number), *servers, deadline_s=LATE_S, first_s=FIRST_S)
            )
            await world.say("早")
            began = loop.time()
            await world.app.ingest.accept(world.message("你好"))
            await world.app.settled()
            took = loop.time() - began
            return took, world.replies[-1] == "我来答" or (alone and len(world.replies) == 2)

    cases = [(number, *TROUBLE[number % len(TROUBLE)]) for number in range(size.units)]
    ends = await asyncio.gather(*(one(*case) for case in cases))
    # A server that hangs is left at the first token's deadline, one that drips in time for the next one.
    limits = [FIRST_S if fault == "hang" and not alone else LATE_S for _, fault, alone in cases]
    late = max(took - limit for (took, _), limit in zip(ends, limits, strict=True))
    for _ in range(20):
        await asyncio.sleep(0)
    return Found(
        {"servers": size.units, "unanswered": sum(not said for _, said in ends)},
        {"late_s": round(late, 3), "tasks_left": len(asyncio.all_tasks()) - before},
    )


TROUBLE: tuple[tuple[Fault, bool], ...] = (("hang", True), ("drip", True), ("hang", False), ("drip", False))


async def limited(folder: Path, size: Size) -> Found:
    """The first model answers 429 for ten minutes while somebody writes every 5 s; then it is well again."""
    from bot.core.errors import ModelError
    from tests.pools import Named, tell, with_models

    wait_s = (None, 2.0, 20.0, 600.0)[(size.seed - 1) % 4]
    first = Named("first", ModelError("busy", "HTTP 429", limited=True, wait_s=wait_s))
    second = Named("second", "我来答")
    waits: list[float] = []
    async with with_models(folder, first, second) as world:
        for number in range(size.units):
            since, before = world.clock.now(), len(world.replies)
            await tell(world, f"第{number}句")
            waits.append((world.clock.now() - since) / 1000)
            assert len(world.replies) == before + 1
            await world.wait(EVERY_S)
        asked, unanswered = list(first.asked_at), sum(reply != "我来答" for reply in world.replies)
        first.answers = ["我又好了"]
        await world.wait(max(wait_s or 0.0, 30.0))
        await tell(world, "在吗")
        back = world.replies[-1] == "我又好了"
    crowded = sum(later - one < 30 for one, later in pairwise(asked))
    waits.sort()
    return Found(
        {"turns": size.units, "unanswered": unanswered, "crowded": crowded, "not_asked_again": int(not back)},
        {"added_p95_s": waits[int(len(waits) * 0.95)], "requests": len(asked)},
    )


async def half_open(folder: Path, size: Size) -> Found:
    """A model rested after failures; its rest ends, and so many write at the same moment."""
    from tests.fakes.clock import let_others_run
    from tests.pools import DOWN, Named, tell, with_models

    first, second = Named("first", DOWN), Named("second", "我来答")
    async with with_models(folder, first, second, model={"slots": 100}) as world:
        for number in range(3):
            await tell(world, f"第{number}句")
        await world.wait(16)
        first.requests.clear()
        first.gate = asyncio.Event()
        for number in range(size.units):
            await world.app.ingest.accept(world.message("小暖，在吗", f"人{number}"))
        while len(second.requests) < 3 + size.units - 1 or not first.held:
            await let_others_run()
        probes = len(first.requests)
        first.gate.set()
        await world.app.settled()
        return Found({"turns": size.units, "unanswered": size.units + 3 - len(world.replies)}, {"probes": probes})


async def truncated(folder: Path, size: Size) -> Found:
    """Streams of a text or of a tool call that end after so many pieces."""
    from tests.fakes.openai_script import Call, Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.pools import tell
    from tests.test_fallbacks_wire import wired

    store = Call("remember", '{"text": "先量再裁", "kind": "experience"}')
    bad = [
        Reply("一二三四五六七八九十" if not calls else "", calls=calls, fault=fault, pieces=pieces)
        for pieces in (0, 1, 2, 3, 99)
        for calls in ((), (store,))
        for fault in ("cut", "reset")
    ][: size.units]
    answers: list[Reply] = []
    async with FakeOpenAI(lambda _: answers[0]) as server, wired(folder, (server.base_url, "first")) as world:
        for number, reply in enumerate(bad):
            answers[:] = [reply]
            await tell(world, f"第{number}句")
            await world.wait(601)  # one apology in ten minutes
        told = list(world.replies)
        logged = world.peek.entries.count()
        kept = world.peek.memories.count()
        answers[:] = [Reply("好了")]
        await tell(world, "还在吗")
        partial = sum("一二" in line for line in told) + abs(len(told) - len(bad)) + (world.replies[-1] != "好了")
    return Found({"streams": len(bad), "partial": partial, "carried_out": int(str(kept)), "logged": int(str(logged))})


def _broken(chance: random.Random, schema: Mapping[str, object]) -> str:
    """Arguments that a tool with this schema must not take."""
    fields = schema.get("properties")
    names = list(fields) if isinstance(fields, dict) else []
    good = dict.fromkeys(names, "先量再裁")
    wild: list[object] = [None, 7, [], [good], {"a": {"b": []}}, "文", True, -1.5, {"": ""}]
    match chance.randrange(6):
        case 0:
            text = json.dumps(good, ensure_ascii=False)
            return text[: chance.randrange(1, max(len(text) - 1, 2))]
        case 1:
            return json.dumps(chance.choice([one for one in wild if not isinstance(one, dict)]))
        case 2:
            return json.dumps({**good, chance.choice(["owner", "visibility", "chat_id", "sql"]): "x"})
        case 3:
            return json.dumps({name: {"wild": [1]} for name in names} or {"x": 1})
        case 4:
            return json.dumps({"nothing": chance.choice(wild)})
        case _:
            return chance.choice(
                ["", "{", "null", "{}}", "[[[[", '{"a":1,}', "NaN", "\x00", '{"a":"\ud800"}', "{'a': 1}"]
            )


async def wrong_calls(folder: Path, size: Size) -> Found:
    """A strict server whose model calls tools with wrong arguments, or tools that are not there; then it answers."""
    from tests.fakes.openai_rules import list_of, mapping
    from tests.fakes.openai_script import Asked, Call, Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.pools import tell
    from tests.test_fallbacks_wire import wired

    chance, failed, looked = random.Random(size.seed), 0, list[str]()

    def script(asked: Asked) -> Reply:
        if asked.messages[-1]["role"] == "tool":
            told = str(asked.messages[-1]["content"])
            looked.extend(word for word in ("花生", "没有找到") if word in told)
            return Reply("下一次就好")
        name = chance.choice([*sorted(asked.tool_names), "no_such_tool", "Memory_Recall", ""])
        offered = [mapping(mapping(tool)["function"]) for tool in list_of(asked.body.get("tools", []))]
        schema = next((mapping(tool["parameters"]) for tool in offered if tool["name"] == name), {})
        return Reply("", calls=(Call(name or "x", _broken(chance, schema)),))

    written = ("id, text, visibility, disabled_at FROM memory", "* FROM commitment", "* FROM reminder")
    async with FakeOpenAI(script) as server, wired(folder, (server.base_url, "first")) as world:
        await tell(world, "记住我对花生过敏")
        before_all = [world.rows(f"SELECT {what}") for what in written]
        for number in range(size.units):
            before = len(world.replies)
            await tell(world, f"第{number}句")
            failed += world.replies[before:] != ["下一次就好"]
            if number % 20 == 19:
                await world.wait(3_600)
        now = [world.rows(f"SELECT {what}") for what in written]
        done = sum(now != before for now, before in zip(now, before_all, strict=True)) + len(looked)
        errors = len([line for line in world.log.lines if line[0] == "error"])
        violations = len(server.violations)
    return Found(
        {"calls": size.units, "carried_out": done, "failed": failed, "refused_later": violations, "errors": errors}
    )


async def malformed(folder: Path, size: Size) -> Found:
    """Answers with status 200 that are none, in a stream and whole."""
    from tests.test_model_client import FAULTS, test_a_lying_server_ends_in_one_named_fault

    cases = [(fault, stream) for fault in FAULTS for stream in (True, False)][: size.units]
    for fault, stream in cases:
        await test_a_lying_server_ends_in_one_named_fault(*fault, stream)
    return Found({"bodies": len(cases), "handled": len(cases)})


async def filtered(folder: Path, size: Size) -> Found:
    """A server refuses to answer; another one stands by."""
    from tests.fakes.openai_script import Reply
    from tests.fakes.openai_server import FakeOpenAI
    from tests.pools import tell
    from tests.test_fallbacks_wire import wired

    async with (
        FakeOpenAI(lambda _: Reply(fault="content_filter")) as one,
        FakeOpenAI() as two,
        wired(folder, (one.base_url, "first"), (two.base_url, "second")) as world,
    ):
        for number in range(size.units):
            await tell(world, f"第{number}句")
        kept = world.peek.memories.count()
        replies, calls = len(world.replies), len(one.requests) + len(two.requests)
        lines = len(set(world.replies))
    return Found(
        {"questions": size.units, "replies": replies, "calls": calls, "memories": int(str(kept))},
        {"different lines": lines},
    )


ROWS = (
    Row(
        "L1",
        "a model hangs or drips",
        "the call ends at most 1 s after its deadline, no task is left",
        "servers",
        8,
        0,
        8,
        300,
        (Bound("late_s", "<=", 1, clocked=True), Bound("unanswered", "==", 0), Bound("tasks_left", "<=", 0)),
        slow,
        existing=(
            "test_model_client.py::test_a_lying_server_ends_in_one_named_fault",
            "test_fallbacks_wire.py::test_a_server_that_hangs_is_left_in_time_for_the_second",
        ),
        differs="the deadline is of each call (issue 4), and a turn with tools makes at most four (L9); alone a model "
        "has all of it: the first token's 20 s hold where another model can answer",
    ),
    Row(
        "L2",
        "the first model answers 429 for ten minutes",
        "the fallback answers; at most one request to it in 30 s",
        "turns",
        480,
        12,
        120,
        200,
        (
            Bound("added_p95_s", "<=", 5, clocked=True),
            Bound("crowded", "==", 0),
            Bound("requests", "<=", 21),
            Bound("unanswered", "==", 0),
            Bound("not_asked_again", "==", 0),
        ),
        limited,
    ),
    Row(
        "L3",
        "many turns when a rested model may be asked again",
        "exactly one probe",
        "turns",
        100,
        10,
        100,
        120,
        (Bound("probes", "==", 1), Bound("unanswered", "==", 0)),
        half_open,
    ),
    Row(
        "L4",
        "streams that end too early",
        "no tool carried out, no part shown or logged as a reply",
        "streams",
        20,
        10,
        20,
        120,
        (Bound("partial", "==", 0), Bound("carried_out", "==", 0), Bound("logged", "==", 0)),
        truncated,
    ),
    Row(
        "L5",
        "tool calls that are wrong",
        "none carried out, the turn is answered, the next request is sound",
        "calls",
        200,
        12,
        100,
        200,
        (
            Bound("carried_out", "==", 0),
            Bound("failed", "==", 0),
            Bound("refused_later", "==", 0),
            Bound("errors", "==", 0),
        ),
        wrong_calls,
    ),
    Row(
        "L6",
        "answers that are no answers",
        "each one named fault, nothing uncaught",
        "bodies",
        30,
        0,
        30,
        60,
        (Bound("handled", "==", 1, "bodies"),),
        malformed,
        existing=("test_model_client.py::test_a_lying_server_ends_in_one_named_fault",),
    ),
    Row(
        "L7",
        "a model refuses to answer",
        "one line and one call each, nothing remembered",
        "questions",
        20,
        2,
        20,
        60,
        (
            Bound("replies", "==", 1, "questions"),
            Bound("calls", "==", 1, "questions"),
            Bound("memories", "==", 0),
            Bound("different lines", "==", 1),
        ),
        filtered,
    ),
)
