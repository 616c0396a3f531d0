"""What lies beside the tables, of several machines on one PostgreSQL database: what one made, another one sees."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from bot.core.archive import NoteRefused
from bot.core.errors import LeaseLostError, SendError, StoreError
from bot.core.files import write_file
from bot.core.memories import Memory
from bot.core.people import Audience
from bot.core.ports import ROLES
from bot.store.files import DataFiles
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.kept import KeptOnServer
from bot.store.postgres.notes import files_on_server
from bot.store.store import Store, open_store
from bot.web.requests import open_token
from tests import servers, storing
from tests.storing import DAY, NOW

pytestmark = pytest.mark.postgres

WAITING = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'nuan_kept.line'::regclass"
"""Whether somebody waits to write a line."""

NOTE, OTHER = "notes/2026-05-02.md", "notes/2026-05-03.md"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database, in the place of a folder's file."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


@pytest.fixture
def machines(tmp_path: Path, url: str) -> Iterator[tuple[DataFiles, DataFiles]]:
    """Two machines with a folder each; nobody looks after the notes yet."""
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
    with closing(files_on_server(folders[0], url)) as one, closing(files_on_server(folders[1], url)) as two:
        yield one, two


def test_the_bytes_of_a_part_are_sent_by_another_machine_than_made_them(machines: tuple[DataFiles, DataFiles]) -> None:
    one, two = machines
    path = one.parts.write(b"a picture", ".png", NOW)
    assert two.parts.read(path, 9) == b"a picture"
    with pytest.raises(SendError, match="more than 8 bytes"):
        two.parts.read(path, 8)
    two.parts.remove(path)
    with pytest.raises(SendError, match="cannot be read"):
        one.parts.read(path, 9)
    assert not [*one.folder.iterdir(), *two.folder.iterdir()]


def test_bytes_that_no_row_names_go_wherever_they_were_made(machines: tuple[DataFiles, DataFiles]) -> None:
    one, two = machines
    named, new, left = (one.parts.write(b"x", ".png", at) for at in (NOW, NOW + DAY, NOW))
    two.parts.tidy({named}, NOW + DAY)
    assert [one.parts.read(path, 1) for path in (named, new)] == [b"x", b"x"]
    with pytest.raises(SendError):
        one.parts.read(left, 1)


def test_an_archive_that_was_made_there_is_sent_and_taken_away_here(machines: tuple[DataFiles, DataFiles]) -> None:
    one, two = machines
    first, other = one.archives.write(7, b"first", NOW), one.archives.write(77, b"other", NOW)
    second = two.archives.write(7, b"second", NOW + 1)
    assert (two.parts.read(second, 9), two.parts.read(other, 9)) == (b"second", b"other")
    with pytest.raises(SendError):
        two.parts.read(first, 9)
    one.archives.remove((7,))
    with pytest.raises(SendError):
        two.parts.read(second, 9)
    two.archives.tidy(NOW + DAY)
    with pytest.raises(SendError):
        one.parts.read(other, 9)


async def test_what_waited_in_a_folder_is_in_the_database_when_nuan_has_begun(tmp_path: Path, url: str) -> None:
    alone = DataFiles(tmp_path / "data")
    paths = alone.parts.write(b"a picture", ".png", NOW), alone.archives.write(7, b"an archive", NOW)
    async with await open_store(tmp_path / "data", url=url):
        pass
    with closing(files_on_server(tmp_path / "another machine", url)) as files:
        assert [files.parts.read(path, 99) for path in paths] == [b"a picture", b"an archive"]
    assert not [*(tmp_path / "data" / "parts").iterdir(), *(tmp_path / "data" / "exports").iterdir()]


def test_notes_are_written_anywhere_and_one_machine_shows_them_in_its_folder(
    machines: tuple[DataFiles, DataFiles],
) -> None:
    one, two = machines
    assert two.notes.create(NOTE, b"one\n")
    assert not two.notes.create(NOTE, b"two\n")
    assert not (two.folder / "notes").exists()
    assert list(one.notes.watched().found) == [NOTE]
    assert (one.folder / NOTE).read_bytes() == b"one\n"
    two.notes.replace(NOTE, b"more\n")
    assert not two.notes.rename(OTHER, NOTE)
    assert two.notes.rename(NOTE, OTHER)
    assert one.notes.listing().found.keys() == two.notes.listing().found.keys() == {OTHER}
    assert [path.read_bytes() for path in (one.folder / "notes").iterdir()] == [b"more\n"]
    two.notes.remove(OTHER)
    one.notes.listing()
    assert not list((one.folder / "notes").iterdir())
    with pytest.raises(StoreError, match="it is gone"):
        two.notes.replace(OTHER, b"again\n")


def test_what_somebody_edits_in_that_folder_is_read_by_all(machines: tuple[DataFiles, DataFiles]) -> None:
    one, two = machines
    one.notes.watched()
    write_file(one.folder / "MEMORY.md", b"by hand\n")
    one.notes.listing()
    data, stamp = two.notes.read("MEMORY.md", 99)
    assert (data, stamp) == (b"by hand\n", two.notes.stamp("MEMORY.md"))
    with pytest.raises(NoteRefused, match="kilobytes"):
        two.notes.read("MEMORY.md", 3)
    (one.folder / "MEMORY.md").unlink()
    one.notes.listing()
    assert two.notes.stamp("MEMORY.md") == ""
    with pytest.raises(FileNotFoundError):
        two.notes.read("MEMORY.md", 99)


def test_a_note_that_changed_elsewhere_is_never_written_back_as_it_was(machines: tuple[DataFiles, DataFiles]) -> None:
    one, two = machines
    one.notes.watched()
    one.notes.create(NOTE, b"secret\nplain\n")
    before = one.notes.stamp(NOTE)
    two.notes.replace(NOTE, b"plain\n")
    assert one.notes.stamp(NOTE) != before, "what was read before is not taken in any more"
    two.notes.replace(NOTE, b"plain again\n")
    assert one.notes.read(NOTE, 99)[0] == b"plain again\n"
    (one.folder / NOTE).write_bytes(b"by hand\n")
    two.notes.replace(NOTE, b"by nuan\n")
    assert sorted(one.notes.listing().found) == ["notes/2026-05-02-here.md", NOTE]
    assert [two.notes.read(path, 99)[0] for path in ("notes/2026-05-02-here.md", NOTE)] == [b"by hand\n", b"by nuan\n"]


async def test_what_one_process_forgot_is_forgotten_in_the_others_before_they_write_or_read_anything(
    tmp_path: Path, url: str
) -> None:
    one, two = [await storing.join(tmp_path / name, url, "worker") for name in ("one", "two")]
    async with one, two, await open_store(tmp_path / "reader", url=url, read_only=True) as reader:
        await storing.keep(two, "我爱喝茶")
        number = await storing.keep(one, "我对花生过敏")
        (gone,) = [each for each in await owned(one) if each.id == number]
        await storing.drop(one, gone, days=None)
        told = await two.memories.reword(await storing.keep(two, "我怕黑"), "我对花生过敏", NOW)
        assert told == "forgotten", "it was forgotten for good, though not here"
        two.tombstones.remove_tombstone("我对花生过敏", NOW)
        assert one.tombstones.covers("我对花生过敏"), "nothing was asked of the database since"
        await owned(one)
        assert not one.tombstones.covers("我对花生过敏")
        one.tombstones.add_tombstones([(0, "我爱喝茶")], NOW)
        await owned(reader)
        assert reader.tombstones.covers("我爱喝茶")


async def owned(store: Store) -> tuple[Memory, ...]:
    """What is kept of who talks there."""
    return await store.memories.owned(1, Audience(1, "dm", (1,)))


def test_lines_of_processes_that_write_at_once_are_read_without_a_gap(tmp_path: Path, url: str) -> None:
    one, two, reader = KeptOnServer(url), KeptOnServer(url), KeptOnServer(url)
    with closing(PostgresTx(url)) as slow:
        slow.execute(slow.BEGIN)
        before, _ = reader.news("x", 0)
        with ThreadPoolExecutor() as threads:
            one.append("x", ["first"], "done")
            slow.run("INSERT INTO nuan_kept.line (name, text) VALUES ('x', 'second')")
            third = threads.submit(two.append, "x", ["third"], "done")
            while not (third.done() or slow.has(WAITING)):
                pass
            after, lines = reader.news("x", before)
            assert lines == ("first",)
            slow.execute("COMMIT")
            third.result()
    assert reader.news("x", after)[1] == ("second", "third")


def test_every_page_on_the_database_has_the_same_token(tmp_path: Path, url: str) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    token, fresh = open_token(one, url)
    assert fresh
    assert open_token(two, url) == open_token(one, url) == (token, False)
    assert (two / "web.token").read_text().strip() == token
    (two / "web.token").unlink()
    assert open_token(two, url) == (token, False)
    other, fresh = open_token(two, url, anew=True)
    assert (fresh, other != token, open_token(one, url)) == (True, True, (other, False))


async def test_who_was_taken_off_changes_nothing_beside_the_rows_and_keeps_nobody_waiting(
    tmp_path: Path, url: str
) -> None:
    gone = await open_store(tmp_path / "gone", url=url, roles=ROLES)
    file = gone.files.parts.write(b"a picture", ".png", NOW)
    gone.files.notes.create(NOTE, b"# one\n")
    gone.tombstones.add_tombstones([(1, "甲")], NOW)
    entered, go_on = threading.Event(), threading.Event()

    def lines() -> Iterator[str]:
        entered.set()
        go_on.wait(60)
        yield "{}"

    hanging = asyncio.create_task(asyncio.to_thread(gone.files.kept.append, "tombstones.jsonl", lines(), "forgotten"))  # type: ignore[arg-type]
    await asyncio.to_thread(entered.wait, 60)
    with closing(PostgresTx(url)) as tx:
        tx.run("UPDATE process SET until = 0")
    async with await open_store(tmp_path / "second", url=url) as other:
        other.tombstones.add_tombstones([(2, "乙")], NOW)  # nobody holds the lines any more
        go_on.set()
        with pytest.raises(StoreError):
            await hanging
        with pytest.raises(LeaseLostError):
            gone.tombstones.remove_tombstone("甲", NOW)
        with pytest.raises(LeaseLostError):
            gone.files.parts.remove(file)
        with pytest.raises(LeaseLostError):
            gone.files.notes.replace(NOTE, b"# old\n")
        other.tombstones.follow(99)
        assert other.tombstones.covers("甲")
        assert other.files.parts.read(file, 9) == b"a picture"
        assert other.files.notes.read(NOTE, 99)[0] == b"# one\n"
    with suppress(LeaseLostError):
        await gone.close()
