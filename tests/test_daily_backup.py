"""The daily backup: off unless wanted, at its hour, made up for once, told when it fails."""

import sqlite3
from contextlib import closing

from tests.belonging import copies
from tests.conftest import NewWorld
from tests.world import World


async def test_the_installation_makes_one_a_day_when_it_is_told_to(new_world: NewWorld) -> None:
    world = await new_world(backup={"daily": True, "hour": 4, "keep": 2})
    await world.say("记住我喜欢荷花")
    assert copies(world.folder) == []
    await world.wait(86_400)
    assert [path.name for path in copies(world.folder)] == ["nuan-20260612T200000000Z.db"], "04:00 in Shanghai"
    await world.close()
    world.away(3 * 86_400)
    await world.open()
    assert len(copies(world.folder)) == 2, "what was missed is made up for once"
    await world.wait(86_400)
    assert len(copies(world.folder)) == 2, "keep"
    with closing(sqlite3.connect(copies(world.folder)[-1])) as db:
        assert ("我喜欢荷花",) in db.execute("SELECT text FROM memory").fetchall()


async def test_by_default_nuan_makes_none_by_itself(world: World) -> None:
    await world.say("记住我喜欢荷花")
    await world.wait(2 * 86_400)
    assert copies(world.folder) == []


async def test_a_backup_that_fails_is_told_and_tried_again(new_world: NewWorld) -> None:
    world = await new_world(backup={"daily": True})
    (world.folder / "backups").write_text("a file")
    await world.wait(86_400)
    assert world.log.named("backup_failed")
    (world.folder / "backups").unlink()
    await world.wait(3_700)
    assert len(copies(world.folder)) == 1
