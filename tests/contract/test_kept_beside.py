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


NOTE, OTHER = "notes/2026-05-02.md", "notes/2026-05-03.md"


async def test_notes_are_there_for_whoever_opens_the_store_next_and_edits_come_back(
    engine: Engine, tmp_path: Path
) -> None:
    """Both machines have a folder of their own; on SQLite there is one."""
    url, first, second = engine.url if isinstance(engine, Postgres) else "", tmp_path / "first", tmp_path / "second"
    if not url:
        first = second = engine.folder
    async with await open_store(first, url=url) as store:
        assert store.files.notes.create(NOTE, b"one\n")
        assert store.files.notes.create(OTHER, b"two\n")
    async with await open_store(second, url=url) as store:
        assert sorted(store.files.notes.listing().found) == [NOTE, OTHER]
        write(second / NOTE, "by hand\n")
        store.files.notes.remove(OTHER)
        store.files.notes.listing()
    write(second / OTHER, "new, while nothing ran\n")
    async with await open_store(second, url=url):
        pass
    async with await open_store(first, url=url) as store:
        assert texts(first) == {NOTE: "by hand\n", OTHER: "new, while nothing ran\n"}
        store.files.notes.replace(NOTE, b"by nuan\n")
        remove(first / OTHER)
        assert sorted(store.files.notes.listing().found) == [NOTE]
    async with await open_store(second, url=url):
        assert texts(second) == {NOTE: "by nuan\n"}


def write(path: Path, text: str) -> None:
    """Somebody writes a file."""
    path.write_text(text, "utf-8")


def remove(path: Path) -> None:
    """Somebody takes a file away."""
    path.unlink()


def texts(folder: Path) -> dict[str, str]:
    """The notes that lie there."""
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in sorted(folder.glob("notes/*.md"))}
