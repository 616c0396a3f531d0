"""Everything that was started is ended by a stop: tasks, threads, descriptors, connections. Warnings are errors."""

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.fakes.clock import let_others_run
from tests.reloading import Filed
from tests.world import World, open_files

pytestmark = pytest.mark.debugged


async def busy(world: World) -> None:
    """A digest by rule, a recall and an answer have just been made."""
    for number in range(12):
        await world.say(f"第{number}句，我喜欢喝茶")
    await world.say("记住我怕狗")
    await world.say("/new")


async def cut_off(world: World) -> None:
    """A turn is under way that the model will never answer."""
    world.shut()
    await world.app.ingest.accept(world.message("在吗"))
    await world.held()
    world.app._chats._tasks[1].cancel()


async def quiet(world: World) -> None:
    """Nothing has happened."""


async def reloaded(world: World) -> None:
    """It has been reloaded, and is being reloaded."""
    assert isinstance(world, Filed)
    await world.say("在吗")
    for number in range(3):
        world.write(f"[input]\nmax_chars = {number + 1}\n")
        await world.reload()


@pytest.mark.parametrize("live", [quiet, busy, cut_off, reloaded], ids=lambda live: live.__name__)
async def test_a_stop_leaves_no_task_no_thread_and_no_descriptor(
    tmp_path: Path, live: Callable[[World], Awaitable[None]]
) -> None:
    await asyncio.to_thread(gc.collect)  # the loop's own threads and descriptors are there from now on
    before = open_files(), asyncio.all_tasks()
    for life in range(2):
        world = await Filed(tmp_path / f"home{life}").open()
        await live(world)
        await world.close()
        gc.collect()
        assert [alarm for alarm in world.clock._alarms if not alarm.cancelled] == []
        assert asyncio.all_tasks() == before[1]
        assert open_files() == before[0]
        for thread in threading.enumerate():
            if not known(thread):
                thread.join(10)  # one that has nothing more to do may not have had its turn
        assert [thread.name for thread in threading.enumerate() if not known(thread)] == []
        assert (world.folder / "nuan.db-wal").exists() is False, "the database was closed by whom it was opened"


async def test_long_work_is_finished_before_its_thread_ends(world: World) -> None:
    ended = threading.Event()

    def work() -> None:
        threading.Event().wait(0.2)
        ended.set()

    working = asyncio.create_task(world.parts.thread.run(work))
    await let_others_run()
    await world.app.stop()
    assert ended.is_set()
    await working


def known(thread: threading.Thread) -> bool:
    """Of Python and pytest themselves: the main one, asyncio's for waiting, pytest-xdist's for talking."""
    return thread is threading.main_thread() or thread.name.startswith(("asyncio_", "Dummy", "execnet"))
