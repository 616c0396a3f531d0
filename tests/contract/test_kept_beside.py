"""What was forgotten is known beside the database: to whoever opens it next, wherever that runs, and in no text."""

from pathlib import Path

from bot.core.people import Audience
from bot.store.store import Store, open_store
from tests.contract.engines import Engine, Postgres
from tests.storing import NOW, drop, ids, in_files, keep

SECRET, CANARY = "我的门禁卡号是zwk7731", "zwk7731"


async def forget_all(store: Store) -> None:
    """What was kept is forgotten for good."""
    person, chat, _ = await ids(store)
    for memory in await store.memories.owned(person, Audience(chat, "dm", (person,))):
        await drop(store, memory, days=None)


def other_machine(engine: Engine, folder: Path) -> Path:
    """Where the same store is opened by a process that shares no disk with the first, as far as the engine knows that."""
    return folder / "other" if isinstance(engine, Postgres) else engine.folder


async def test_whoever_opens_the_store_next_knows_what_was_forgotten(engine: Engine, tmp_path: Path) -> None:
    url = engine.url if isinstance(engine, Postgres) else ""
    async with await engine.open() as store:
        await keep(store, SECRET)
        await forget_all(store)
        assert store.tombstones.covers(SECRET)
    async with await open_store(other_machine(engine, tmp_path), url=url) as store:
        assert store.tombstones.covers(SECRET)
        store.tombstones.remove_tombstone(SECRET, NOW)
    async with await engine.open() as store:
        assert not store.tombstones.covers(SECRET)
    assert in_files(tmp_path, CANARY) == engine.files_with(CANARY) == []


async def test_an_erasure_that_was_begun_is_ended_by_whoever_opens_the_store_next(
    engine: Engine, tmp_path: Path
) -> None:
    url = engine.url if isinstance(engine, Postgres) else ""
    async with await engine.open() as store:
        await keep(store, SECRET)
        person, _, _ = await ids(store)
        store.files.erasures.begin(["test:ann"], NOW)
    async with await open_store(other_machine(engine, tmp_path), url=url) as store:
        assert not await store.people.is_known(person)
    assert engine.files_with(CANARY) == []
