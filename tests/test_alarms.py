"""What is due is done though something else that is due fails, and a disk that refuses holds nothing up for good."""

import asyncio
import sqlite3
from contextlib import closing

from bot.core.errors import StoreError
from bot.core.ports import EventSink
from bot.ops.health import STORE_WAIT_MS, Supervisor
from tests.conftest import NewWorld
from tests.fakes.clock import SimClock, let_others_run
from tests.peek import Other
from tests.world import Lines, Talk, World

DAY = 86_400


def alter(world: World, sql: str) -> None:
    """Change the file as another program would."""
    with closing(sqlite3.connect(world.folder / "nuan.db", isolation_level=None)) as database:
        database.execute(sql)


async def test_what_cannot_be_purged_keeps_nothing_else_from_its_time(new_world: NewWorld) -> None:
    world = await new_world(memory={"undo_days": 1}, retention={"transcript_days": 3})
    await world.say("记住我喜欢荷花")
    await world.say("忘记我喜欢荷花")
    await world.say("26小时后提醒我交房租")
    alter(world, "CREATE TRIGGER odd BEFORE DELETE ON memory BEGIN SELECT RAISE(ABORT, 'odd'); END")
    before = len(world.replies)
    await world.wait(27 * 3_600)
    assert any("交房租" in reply for reply in world.replies[before:])
    assert {line["deadline"] for line in world.log.named("deadline_failed")} == {"purge"}
    assert len(world.log.named("deadline_failed")) < 3 * 3_600 / 55, "a defect is not tried at every chance"
    alter(world, "DROP TRIGGER odd")
    await world.wait(61)
    assert world.peek.memories.count() == 0


async def test_an_archive_that_cannot_be_removed_does_not_keep_old_words(new_world: NewWorld) -> None:
    world = await new_world(retention={"transcript_days": 1})
    (world.folder / "exports" / "nuan-export-1-20200101-000000.zip").mkdir(parents=True)
    await world.say("你看这个荷花")
    await world.wait(3 * DAY)
    assert world.peek.events.count(text=Other(""), kind="message") == 0
    assert {str(line.get("deadline")) for line in world.log.named("store_failed")} == {"tidy"}


class Refused(Talk):
    """A platform whose messages the store refuses."""

    runs = 0

    async def run(self, sink: object) -> None:
        """As Discord does it."""
        self.runs += 1
        if self.runs < 4:
            raise StoreError("disk full")


async def test_a_platform_connects_again_only_when_the_store_takes_writes(world: World) -> None:
    clock, log, platform, asked = SimClock(1_000), Lines(), Refused(), list[int]()
    sink: EventSink = world.app.ingest

    async def writable() -> bool:
        asked.append(clock.now())
        return len(asked) % 20 == 0

    supervisor = Supervisor(sink, clock, log, writable)
    keeping = asyncio.create_task(supervisor.keep(platform))
    while not keeping.done():
        await let_others_run()
        await let_others_run()
        await clock.advance(STORE_WAIT_MS // 10, let_others_run)
        for _ in range(5):
            await let_others_run()
    assert (platform.runs, len(asked)) == (4, 60), "three times a hundred seconds, without one connection for nothing"
    assert clock.now() <= 61 * STORE_WAIT_MS + 3 * 1_000
    assert await world.store.inspector.writable()
    assert world.peek.facts.count(key="probe") == 0


async def test_a_chat_whose_message_went_out_while_the_disk_was_full_is_not_stuck(world: World) -> None:
    alter(
        world,
        "CREATE TRIGGER full BEFORE UPDATE OF state ON outbox WHEN new.state = 'sent' "
        "BEGIN SELECT abs(-9223372036854775807 - 1); END",
    )
    await world.say("在吗")
    await world.wait(20)
    assert len(world.replies) == 1
    alter(world, "DROP TRIGGER full")
    await world.wait(5)
    await world.say("还在吗")
    assert len(world.replies) == 2
    assert set(world.peek.outbox("state")) == {("sent",)}


async def test_sections_that_the_disk_refused_are_there_a_little_later(world: World) -> None:
    await world.say("在吗")
    alter(
        world,
        "CREATE TRIGGER full BEFORE INSERT ON meta WHEN new.key = 'sections' "
        "BEGIN SELECT abs(-9223372036854775807 - 1); END",
    )
    assert world.parts.apply is not None
    await world.parts.apply({"sections.words": "园艺：番茄"}, 1)
    alter(world, "DROP TRIGGER full")
    await world.wait(10)
    await world.say("记住我在阳台种番茄")
    assert world.peek.memories("section") == [("园艺",)]
