"""What lies beside the database: archives that tell what is forgotten go with it, copies have their days."""

from bot.store.waiting import EXPORTS_FOLDER
from tests.conftest import NewWorld
from tests.world import World

DAY = 86_400


def archives(world: World) -> list[str]:
    """Whose archives wait, by number."""
    return sorted(path.name.split("-")[2] for path in (world.folder / EXPORTS_FOLDER).glob("*.zip"))


async def test_what_is_forgotten_for_good_is_in_no_archive_that_waits(world: World) -> None:
    await world.say("记住我喜欢荷花")
    await world.say("记住我怕黑", "阿明")
    for who in ("小王", "阿明"):
        await world.say(".ai export me", who)
    mine, others = archives(world)
    await world.say("忘记我喜欢荷花")
    assert archives(world) == [mine, others], "it can be undone"
    await world.wait(8 * DAY)
    for who in ("小王", "阿明"):
        await world.say(".ai export me", who)
    assert archives(world) == [mine, others]
    await world.say("彻底忘记我怕黑", "阿明")
    assert archives(world) == [mine]


async def test_half_an_archive_that_a_crash_left_goes_as_a_whole_one_does(world: World) -> None:
    await world.say("记住我怕黑")
    await world.say("记住我喜欢荷花", "阿明")
    for who in ("小王", "阿明"):
        await world.say(".ai export me", who)
    for path in list((world.folder / EXPORTS_FOLDER).glob("*.zip")):
        path.rename(path.with_name(f".{path.name}.new"))
    await world.say("彻底忘记我怕黑")
    assert [path.name.split("-")[2] for path in (world.folder / EXPORTS_FOLDER).iterdir()] == ["2"]
    await world.wait(9 * DAY)
    assert not list((world.folder / EXPORTS_FOLDER).iterdir())


async def test_copies_beside_the_database_go_after_their_days(new_world: NewWorld) -> None:
    world = await new_world(backup={"days": 30})
    await world.close()
    names = (
        "nuan.before-12.db",
        "nuan.before-restore-20260101-000000.db",
        "nuan.before-restore-20260101-000000.db-wal",
        ".nuan.before-12.db.new",
        "backups/.nuan-20260101T000000000Z.db.new",
    )
    (world.folder / "backups").mkdir(exist_ok=True)
    for name in names:
        (world.folder / name).write_bytes(b"copy")
    made = (world.folder / names[0]).stat().st_ctime
    world.away(made + 28 * DAY - world.clock.now() / 1000)
    await world.open()
    await world.wait(1.5 * DAY)
    assert all((world.folder / name).exists() for name in names)
    await world.wait(1.5 * DAY)
    assert not any((world.folder / name).exists() for name in names)
    assert (world.folder / "nuan.db").exists()
