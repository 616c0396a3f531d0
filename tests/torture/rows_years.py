"""The rows of what stays for years: the full-text index, what is forgotten, what grows, the clock."""

import asyncio
import gc
import random
from collections import Counter
from functools import partial
from pathlib import Path

from bot.core.models import ModelRequest
from tests.torture.row import Bound, Found, Row, Size

EACH_LIFE = 100
"""Operations of one life of the child."""

ENDS = 9
"""Letters of a canary that no other has."""

CHATTER = 100
"""Lines that come at once."""

DAYS = 1_095
"""Three years: the file has its size after `counts_days`, 400; so the third is held against the second."""

MOST_BYTES = 128_000_000
"""For 913 a day: of 90 days the texts and their index, 700 bytes a line, of 400 days what only counts, 150 a row."""


async def drift(folder: Path, size: Size) -> Found:
    """Operations on memories by a child that is killed again and again; after each kill index, table and LIKE agree."""
    from bot.core.people import Audience
    from bot.store.store import DATABASE, open_store
    from tests.kill import kill
    from tests.kill_drift import PLACES, WORDS
    from tests.storing import ids, look, searched, sound

    chance, seen, notes = random.Random(size.seed), Counter[str](), []
    data = folder / "data"
    while seen["operations"] < size.units:
        after = chance.randrange(1, min(EACH_LIFE * 2, size.units - seen["operations"] + 1))
        seen["operations"] += len(await asyncio.to_thread(kill, data, seen["kills"], after, "tests.kill_drift"))
        seen["kills"] += 1
        wrong = sound(data)
        seen["index wrong"] += bool(wrong)
        notes += [str(wrong[:3])] if wrong else []
        async with await open_store(data) as store:
            for where in PLACES:
                person, chat, _ = await ids(store, where)
                audience, word = Audience(chat, where.kind, (person,)), chance.choice(WORDS)
                found = {memory.id for memory in await searched(store, audience, word)}
                seesall = "visibility <> 'public' AND owner_id = ?" if where.kind == "dm" else "chat_id = ?"
                like = look(
                    data,
                    f"SELECT id FROM memory WHERE disabled_at IS NULL AND {seesall} AND text LIKE ?",
                    person if where.kind == "dm" else chat,
                    f"%{word}%",
                )
                seen["other than LIKE"] += found != {number for (number,) in like}
    assert (data / DATABASE).exists()
    merged = look(data, "SELECT count(*) FROM merged")[0][0]
    return Found(
        {
            **{name: seen[name] for name in ("operations", "kills", "index wrong", "other than LIKE")},
            "merged": int(str(merged)),
        },
        {},
        tuple(notes),
    )


async def forgotten(folder: Path, size: Size) -> Found:
    """Canaries that are kept, noted, digested, promised, exported and talked about; then forgotten, and looked for."""
    from bot.config.settings import Settings
    from tests.noting import look
    from tests.world import World

    world = World(
        folder,
        Settings.model_validate(
            {
                "bot": {"timezone": "Asia/Shanghai"},
                "notes": {"on_new": True},
                "log": {"level": "debug"},
            }
        ),
    )
    await world.open()
    chance, words, kept = random.Random(size.seed), [], 0
    world.model.digests = True
    for number in range(size.units):
        word = f"zq{chance.getrandbits(56):014x}q"
        words.append(word)
        await world.say(f"记住我喜欢{word}")
        await world.say(f"你觉得{word}怎么样？")
        if number % 3 == 0:
            world.model.script = partial(_answer, word)
            await world.say("/new")
            await look(world)
        if number % 4 == 0:
            await world.say(".ai export me")
        kept += _holding(folder, [word]) > 0
    for word in words:
        await world.say(f"{'彻底' if chance.random() < 0.5 else ''}忘记我喜欢{word}")
    await world.wait(9 * 86_400)
    hits = _holding(folder, words)
    logged = sum(word in str(line) for line in world.log.lines for word in words)
    await world.close()
    return Found(
        {"canaries": size.units, "were there": kept, "hits": max(hits, _holding(folder, words)), "logged": logged}
    )


def _answer(word: str, request: ModelRequest) -> str:
    """A model that tells of it in every summary."""
    return "嗯嗯" if request.prompt.tools else f'{{"summary": "聊了{word}", "statements": []}}'


def _holding(folder: Path, words: list[str]) -> int:
    """How often one of these words is in a file of that folder, archives and index included.

    Of neighbours an index stores only where they begin to differ: so the ends are looked for.
    """
    import zipfile

    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files]
    for path in files:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                texts += [archive.read(name) for name in archive.namelist()]
    return sum(word[-ENDS:].encode() in text for word in words for text in texts)


async def growth(folder: Path, size: Size) -> Found:
    """All messages in one installation, as many each day for three years, through ingest and with default retention."""
    from bot.config.settings import Settings
    from bot.store.store import DATABASE
    from tests.torture.soak import resident_mb, slope
    from tests.world import World

    world = await World(folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}})).open()
    each, number, wal, seen = size.units // DAYS, 0, 0, list[tuple[int, float]]()
    for day in range(DAYS):
        begun, today = world.clock.now(), each + (size.units % DAYS > day)
        for begin in range(0, today, CHATTER):
            lines = [
                world.message(
                    f"第{number + n}句：今天的天气真不错，我们去公园吧",
                    f"人{n % 20}",
                    f"群{n % 5}",
                    delivery_key=f"k{number + n}",
                )
                for n in range(min(CHATTER, today - begin))
            ]
            number += len(lines)
            await asyncio.gather(*(world.app.ingest.accept(line) for line in lines))
            await world.wait(80_000 * len(lines) / today)
            wal = max(wal, (folder / f"{DATABASE}-wal").stat().st_size)
        await world.say(f"小暖，第{number}次问你", f"人{day % 20}", f"群{day % 5}")
        await world.say(f"记住我喜欢第{number}种花") if day % 10 == 0 else None
        await world.wait(86_400 - (world.clock.now() - begun) / 1000)
        for kept in (world.model.requests, world.talk.said, world.log.lines):
            kept.clear()
        world._typed.clear()
        gc.collect()
        seen.append(((folder / DATABASE).stat().st_size, resident_mb()))
    events = world.peek.events.count()
    ((oldest,),) = world.rows("SELECT min(at) FROM event WHERE text <> ''")
    days_back = (world.clock.now() - int(str(oldest))) / 86_400_000
    await world.close()
    second, third = seen[DAYS // 3 : 2 * DAYS // 3], seen[2 * DAYS // 3 :]
    return Found(
        {"messages": number, "rows left": float(str(events)), "days of text": round(days_back)},
        {
            "bytes": max(bytes_ for bytes_, _ in third),
            "WAL bytes": wal,
            "growth": round(max(third)[0] / max(second)[0], 3),
            "held MB": round(third[-1][1]),
            "MB more a year": round(slope([held for _, held in third]) * 365, 2),
        },
    )


SMALL, LARGE = 1_000, 20_000
"""Lines of everybody in two installations, in which one person has as many of their own."""


async def at_scale(folder: Path, size: Size) -> Found:
    """Each operation of the growth bench in both: exact counts of statements and of steps over rows, no clock."""
    from tests.bench.growth import OF_ALL, OPERATIONS, measure
    from tests.bench.largedb import Size as Laid
    from tests.bench.largedb import make
    from tests.metering import Meter
    from tests.test_growth import MOST, growing

    meter, found = Meter(), []
    for lines in (SMALL, LARGE):
        await make(folder / f"{lines}", Laid(lines, lines // 10, lines // 40, 100, 20))
        with meter.watching():
            found.append(await measure(folder / f"{lines}", meter, OF_ALL))
    grown = growing((SMALL, LARGE), found, MOST)
    turn = found[-1]["message, answered"]
    return Found(
        {"operations": len(OPERATIONS) - len(OF_ALL), "grown": len(grown)},
        {"statements of a message": turn.statements, "steps of a message": turn.steps},
        tuple(grown[:5]),
    )


ROWS: tuple[Row, ...] = (
    Row(
        "S10",
        "Full-text index drifts",
        "after every kill index, table and LIKE agree",
        "operations",
        10_000,
        40,
        1_000,
        900,
        bounds=(
            Bound("index wrong", "==", 0),
            Bound("other than LIKE", "==", 0),
            Bound("kills", ">=", 0.005, "operations"),
        ),
        run=drift,
    ),
    Row(
        "S11",
        "忘记 leaves copies",
        "what is forgotten and purged is in no file",
        "canaries",
        100,
        2,
        20,
        bounds=(Bound("hits", "==", 0), Bound("logged", "==", 0), Bound("were there", "==", 1, "canaries")),
        run=forgotten,
        differs="backups and copies keep it for backup.keep and backup.days; a restore forgets it again (issue 8)",
    ),
    Row(
        "S12",
        "Unbounded growth",
        "a million in one installation, three years at one rate: at most 128 MB, WAL at most 64, in the third no growth",
        "messages",
        1_000_000,
        0,
        0,
        5_400,
        bounds=(
            Bound("bytes", "<=", MOST_BYTES),
            Bound("WAL bytes", "<=", 64 * 1024 * 1024),
            Bound("growth", "<=", 1.1),
            Bound("MB more a year", "<=", 5),
            Bound("days of text", "<=", 91),
        ),
        run=growth,
        existing=(
            "test_retention.py::test_rows_that_only_count_go_after_their_days_and_what_was_spent_stays",
            "test_retention.py::test_of_every_table_it_is_said_how_its_rows_end",
        ),
    ),
    Row(
        "S14",
        "The clock is set",
        "an hour forward or back leaves 60 s a window and 5 s a follow-up",
        "jumps",
        2,
        existing=(
            "test_clock.py::test_an_hour_forward_leaves_a_follow_up_and_a_window_as_long_as_they_were",
            "test_clock.py::test_a_clock_set_forward_is_followed_when_what_waits_was_moved_along",
            "test_clock.py::test_a_clock_set_back_an_hour_never_runs_backwards_and_is_caught_up",
        ),
        differs="a clock set back is caught up at nine tenths of the pace: 5 s last 5.6, 60 s last 67",
    ),
    Row(
        "R10",
        "Cost at scale",
        "20 times as many lines of others: no operation on one thing takes more statements or steps over rows than by "
        "the power .2",
        "operations",
        25,
        0,
        25,
        1_800.0,
        (Bound("grown", "==", 0), Bound("statements of a message", "<=", 170)),
        at_scale,
        (
            "test_growth.py::test_operations_on_one_thing_cost_the_same_among_five_times_as_many",
            "test_growth.py::test_an_export_and_an_erasure_grow_as_what_the_person_said",
        ),
    ),
)
