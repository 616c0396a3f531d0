"""Rows of the table about load: floods, many people, slow models, what may grow, a week on a simulated clock."""

import itertools
import random
from collections import Counter
from pathlib import Path
from time import perf_counter

from bot.config.settings import Settings
from tests.torture.row import Bound, Found, Row, Size

PLACE: dict[str, dict[str, object]] = {"bot": {"timezone": "Asia/Shanghai"}}
CHATS, FLOOD = 20, 100
SLOTS, THINKS_S = 4, 30
LATE_S = 3
"""Seconds for each of the chats of R5 after which an answer is too late: ten minutes with two hundred."""

MOST_MB = 300


async def flooded(folder: Path, size: Size) -> Found:
    """So many lines in ten seconds in one chat, among them commands and things to keep."""
    from tests.bench.flood import config, lines
    from tests.slow import SlowWorld
    from tests.torture.soak import resident_mb

    world = SlowWorld(folder, config("collect", 0.0), takes_ms=lambda: 2_000)
    await world.open()
    for text in ("早", "记住我怕狗", ".ai help"):  # what is loaded once is none of it
        await world.write(text, "阿绿")
    await world.wait(60)
    commands, before, calls = 0, resident_mb(), len(world.model.requests)
    for number, (who, text) in enumerate(lines("dm", size.units)):
        keep = number % (size.units // 10) == 7
        commands += keep
        await world.write(f"记住我的第{number}件事是蓝色" if keep else text, who)
        await world.wait(10 / size.units)
    await world.write(".ai help", "阿明")
    await world.wait(60)
    helped = any(".ai help" in reply for reply in world.replies)
    grown = resident_mb() - before
    stored = world.peek.events.count(kind="message") - 3
    kept = world.peek.memories.count() - 1
    calls = len(world.model.requests) - calls
    await world.close()
    lost = size.units + 1 - stored + commands - kept + (not helped)
    return Found({"messages": size.units, "lost": lost}, {"calls": calls, "grown_mb": round(grown, 1)})


async def fair(folder: Path, size: Size) -> Found:
    """One call at a time; twenty groups write again whenever they are answered, one has a hundred lines waiting.

    Lines that wait in a chat are answered together, so a hundred more come with each of its answers.
    """
    from tests.test_fairness import answer_one, begin, newest, still
    from tests.world import World

    sections: dict[str, dict[str, object]] = {**PLACE, "model": {"slots": 1}, "speak": {"busy": "queue"}}
    world = await World(folder, Settings.model_validate(sections)).open()
    names = [f"友{number:02}" for number in range(CHATS)]
    world.shut()
    await begin(world, "洪", "小暖，第0句")

    async def flood(after: int) -> None:
        for number in range(FLOOD):
            await world.app.ingest.accept(world.message(f"小暖，第{after}次之后第{number}句", "洪", "洪的群"))

    await flood(0)
    for name in names:
        await begin(world, name)
    served: Counter[str] = Counter()
    waits: dict[str, int] = {}
    longest = 0
    for step in range(size.units):
        text = newest(world.model.requests[-1])
        who = next((name for name in (*names, "洪") if f'"{name}"' in text), "?")
        served[who] += 1
        longest = max(longest, step - waits.get(who, 0))
        waits[who] = step
        await answer_one(world)
        if who == "洪":
            await flood(step)
            await still(world)
        else:
            await begin(world, who, f"小暖，第{step}次")
    await still(world)
    await world.let_answer()
    await world.close()
    shares = [served[name] for name in (*names, "洪")]
    jain = sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares)) if any(shares) else 0.0
    return Found(
        {"turns": size.units, "unknown": served["?"]},
        {"unfair": round(1 - jain, 4), "flood_share": served["洪"] / size.units, "longest_wait": longest},
    )


async def burst(folder: Path, size: Size) -> Found:
    """The real program; as many updates at once from Telegram (odd seeds) or Discord (even seeds)."""
    from tests.torture.bursting import burst

    return await burst(folder, size)


async def many_chats(folder: Path, size: Size) -> Found:
    """So many chats are seen once: most are only read, some are answered; then every map is measured, of the
    installation, of Telegram's pace, of Discord's queues and of the modules.
    """
    from tests.torture.growth import largest
    from tests.torture.manychats import of_modules, on_discord, on_telegram
    from tests.world import World

    world = await World(folder, Settings.model_validate(PLACE)).open()
    for number in range(20):
        await world.say("小暖，早", f"人{number}", f"先{number}")
    before = largest(world.app, world) | of_modules()
    for number in range(size.units):
        called = number % 100 == 0
        await world.app.ingest.accept(world.message("小暖，早" if called else "早", f"人{number % 500}", f"群{number}"))
        if called:
            await world.app.settled()
            world.model.requests.clear()
            world.talk.said.clear()
            world.log.lines.clear()
    await world.app.settled()
    queues, taken = await on_discord(size.units)
    after = largest(world.app, world) | of_modules() | await on_telegram(size.units) | queues
    grown = {what: length - before.get(what, 0) for what, length in after.items()}
    worst = sorted(grown, key=lambda what: -grown[what])[:3]
    seen = world.peek.chats.count()
    await world.close()
    return Found(
        {"chats": seen - 20, "on Discord": taken},
        {"largest": grown[worst[0]]},
        tuple(f"{what[1]}: {grown[what]}" for what in worst),
    )


async def late(folder: Path, size: Size) -> Found:
    """A model that needs 30 s, four calls at a time, and so many people; each writes once, some once more."""
    from tests.torture.crowd import Crowd

    late_s = LATE_S * size.units
    sections: dict[str, dict[str, object]] = {**PLACE, "speak": {"late_seconds": late_s}, "model": {"slots": SLOTS}}
    world = Crowd(folder, Settings.model_validate(sections), takes_ms=lambda: THINKS_S * 1000)
    await world.open()
    began = world.clock.now()
    took: list[float] = []
    for number in range(size.units):
        await world.app.ingest.accept(world.message(f"第{number}人的话", f"人{number}"))
    await world.quiet()
    for number in range(size.units):
        since = perf_counter()
        await world.app.ingest.accept(world.message(f"第{number}句闲话", "路人", "旁边的群"))
        took.append((perf_counter() - since) * 1000)
    await world.wait(late_s * 0.9)
    again = [number for number in range(size.units) if number % 10 == 9]
    for number in again:
        await world.write("还在吗", f"人{number}")
    await world.wait(2 * late_s + 120)
    asked = [request.prompt.messages[-1].content for request in world.slow.requests]
    begun = [at - began for at in world.slow.begun_at]
    ages = [at - late_s * 900 * ("还在吗" in text) for at, text in zip(begun, asked, strict=True)]
    told = [said.text for said in world.talk.said]
    notes = sum("等太久" in text for text in told)
    silent = size.units - len({said.external_chat_id for said in world.talk.said})
    reserved = world.peek.calls.count(state="reserved")
    most = max(Counter(said.external_chat_id for said in world.talk.said).values())
    await world.close()
    took.sort()
    p99 = took[int(len(took) * 0.99)] if size.units >= 200 else 0.0  # of few on a busy machine it says nothing
    return Found(
        {"chats": size.units, "silent": silent, "reserved": int(str(reserved)), "notes": notes, "answered": len(asked)},
        {
            "append_p99_ms": round(p99, 1),
            "oldest": max(ages) / late_s / 1000,
            "most_said": most,
            "last_call_s": max(begun) / 1000,
        },
    )


async def limited(folder: Path, size: Size) -> Found:
    """Twenty people talk, one of them without end, with a limit for each person."""
    from tests.world import World

    sections: dict[str, dict[str, object]] = {**PLACE, "limits": {"person_minute": 3, "notify": True}}
    world = await World(folder, Settings.model_validate(sections)).open()
    chance = random.Random(size.seed)
    others, told = Counter[str](), list[int]()
    written = 0
    for number in range(size.units):
        who = f"人{number % 20}" if number % 2 and number % 20 else "人0"
        if who != "人0":
            others[who] += 1
        before = len(world.talk.said)
        await world.say(f"小暖，第{number}句", who, f"{who}的群")
        told += [world.clock.now() for said in world.talk.said[before:] if said.kind == "notice"]
        written += 1
        await world.wait(chance.uniform(0.5, 2.0))
    minutes = (world.clock.now() - 1_781_226_000_000) // 60_000 + 1
    polite = [said for said in world.talk.said if said.kind == "notice"]
    often = sum(later - one < 60_000 for one, later in itertools.pairwise(told))
    wronged = sum(said.external_chat_id != "group:人0的群" for said in polite)
    answered = Counter(said.external_chat_id for said in world.talk.said if said.kind != "notice")
    unanswered = sum(answered[f"group:{who}的群"] != count for who, count in others.items())
    beyond = max(answered["group:人0的群"] - 3 * minutes - 3, 0)
    await world.close()
    return Found(
        {
            "messages": written,
            "wronged": wronged,
            "unanswered": unanswered,
            "beyond": beyond,
            "told": len(polite),
            "told_too_often": often,
        }
    )


async def week(folder: Path, size: Size) -> Found:
    """So many hours of an ordinary week on a simulated clock."""
    from tests.torture.soak import soak

    return await soak(folder, size.units, size.seed)


ROWS = (
    Row(
        "R1",
        "a thousand messages in ten seconds in one chat",
        "at most three calls, no command lost",
        "messages",
        1_000,
        0,
        1_000,
        120,
        (Bound("calls", "<=", 3), Bound("lost", "==", 0), Bound("grown_mb", "<=", 20)),
        flooded,
        existing=(
            "test_flood.py::test_a_hundred_messages_a_second_cost_three_calls_and_all_are_told_or_counted",
            "test_flood.py::test_nothing_of_a_flood_stays_in_memory",
        ),
    ),
    Row(
        "R2",
        "one chat with a hundred waiting beside twenty others",
        "Jain at least .95, nobody waits a round longer",
        "turns",
        420,
        42,
        420,
        200,
        (
            Bound("unfair", "<=", 0.05),
            Bound("longest_wait", "<=", CHATS + 2),
            Bound("unknown", "==", 0),
            Bound("flood_share", "<=", 1 / CHATS),
        ),
        fair,
    ),
    Row(
        "R3",
        "50,000 updates at once from each platform",
        "the process holds less than 300 MB, nothing is lost, who called is answered",
        "updates",
        100_000,
        100,
        50_000,
        1_800,
        (
            Bound("held_mb", "<=", MOST_MB),
            Bound("lost", "==", 0),
            Bound("bad_exit", "==", 0),
            Bound("unhandled", "==", 0),
            Bound("unanswered", "==", 0),
        ),
        burst,
    ),
    Row(
        "R4",
        "many chats are seen",
        "no map of the house, an adapter or a module grows beyond those at work and 1,024",
        "chats",
        100_000,
        1_150,
        100_000,
        1_800,
        (Bound("largest", "<=", 1_100), Bound("on Discord", "==", 1, per="chats")),
        many_chats,
    ),
    Row(
        "R5",
        "a model that needs 30 s, four calls at a time, two hundred chats",
        "what comes in is stored at once; who waits longer than ten minutes is told so and not answered late",
        "chats",
        200,
        16,
        200,
        200,
        (
            Bound("append_p99_ms", "<=", 50, clocked=True),
            Bound("oldest", "<=", 1),
            Bound("silent", "==", 0),
            Bound("reserved", "==", 0),
            Bound("most_said", "<=", 2),
            Bound("notes", ">=", 1),
        ),
        late,
    ),
    Row(
        "R6",
        "one of twenty people talks without end",
        "they are told once a minute at most, nobody else notices",
        "messages",
        400,
        20,
        400,
        120,
        (
            Bound("wronged", "==", 0),
            Bound("unanswered", "==", 0),
            Bound("beyond", "==", 0),
            Bound("told_too_often", "==", 0),
            Bound("told", ">=", 1),
        ),
        limited,
    ),
    Row(
        "R8",
        "a simulated week",
        "memory grows by less than 1 MB an hour; tasks, threads and descriptors stay",
        "hours",
        168,
        3,
        168,
        900,
        (
            Bound("slope_mb_an_hour", "<=", 1),
            Bound("tasks_grown", "<=", 0),
            Bound("threads_grown", "<=", 0),
            Bound("descriptors_grown", "<=", 0),
            Bound("destroyed", "==", 0),
        ),
        week,
        differs="the hours are of the simulated clock",
    ),
)
