"""Several processes that share the chats of one database of a server: who answers where, and what becomes of who is gone."""

import asyncio
import random
import re
import threading
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from bot.core.errors import ChatLeaseLostError, DatabaseHeldError, DatabaseSharedError, LeaseLostError, StoreError
from bot.core.events import Draft
from bot.core.people import Audience
from bot.core.ports import ROLES, Role
from bot.core.speaking import HEARTBEAT
from bot.store.engine import CHAT_LEASE
from bot.store.files import DataFiles
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import open_database
from bot.store.store import Store, open_store
from bot.store.transactions import Tx
from tests import servers, storing
from tests.sizes import sized
from tests.storing import NOW, Where

pytestmark = pytest.mark.postgres

LONG, SHORT = 3_600.0, 0.4
"""Leases that do not end while a test runs, and that do."""

WAIT_S = 60


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


def run(url: str, sql: str, *values: object) -> int:
    """What time, or another process, does to the leases."""
    with closing(PostgresTx(url)) as tx:
        return tx.run(sql, *values)


def unheard(url: str, boot: str) -> None:
    """As if that process had not been heard of for longer than its lease lasts."""
    run(url, "UPDATE process SET until = 0 WHERE boot = ?", boot)


@asynccontextmanager
async def process(url: str, folder: Path, seconds: float = LONG) -> AsyncIterator[Store]:
    """One that shares the database; the folder is its own."""
    async with await open_store(folder, url=url, lease_seconds=seconds, roles=ROLES) as store:
        yield store


@pytest.fixture
async def two(tmp_path: Path, url: str) -> AsyncIterator[tuple[Store, Store]]:
    """Two of them; the second takes off soon who was not heard of."""
    async with process(url, tmp_path / "first") as first, process(url, tmp_path / "second", SHORT) as second:
        yield first, second


async def works(store: Store, chat: int) -> bool:
    """Whether that process is the one that works in the chat."""
    async with store.leases.working(chat) as mine:
        return mine


async def taken_off(url: str, gone: Store, by: Store) -> None:
    """The first one died, and the other has seen it."""
    seen = asyncio.Event()
    by.leases.on_gone(seen.set)
    await until_gone(url, gone.boot, seen)


async def until_gone(url: str, boot: str, seen: asyncio.Event) -> None:
    """That process died, which another has seen by then."""
    async with asyncio.timeout(WAIT_S):
        while not seen.is_set():  # it lives, and says so each second
            await asyncio.to_thread(unheard, url, boot)
            with suppress(TimeoutError):
                await asyncio.wait_for(seen.wait(), 0.2)


async def take_over(url: str, gone: Store, folder: Path, roles: Collection[Role] = ()) -> Store:
    """The first one died, and another opens the database in its place."""
    async with asyncio.timeout(WAIT_S):
        while True:  # it lives, and says so each second
            await asyncio.to_thread(unheard, url, gone.boot)
            with suppress(DatabaseHeldError):
                return await open_store(folder, url=url, lease_seconds=LONG, roles=roles)


async def test_one_process_works_in_a_chat_and_another_in_another(two: tuple[Store, Store]) -> None:
    first, second = two
    chats = [(await storing.ids(first, Where(f"p{number}", f"dm-{number}")))[1] for number in range(45)]
    claimed: list[int] = []
    first.leases.on_claimed(claimed.append)
    assert (await works(first, chats[0]), await works(second, chats[0])) == (True, False)
    assert (await works(second, chats[1]), await works(first, chats[1])) == (True, False)
    assert await first.leases.claim(chats) == {*chats} - {chats[1]}
    assert await second.leases.claim(chats) == {chats[1]}
    assert await works(first, chats[0])
    assert claimed == [chats[0], *chats[2:]]


async def test_the_chats_of_a_dead_process_are_claimed_after_its_lease_and_it_stores_nothing_more(
    url: str, two: tuple[Store, Store]
) -> None:
    first, second = two
    asked = await storing.begin(first, "第一件")
    person, chat, event = await storing.ids(first)
    _, other, _ = await storing.ids(first, Where("ben", "dm-ben"))
    assert (await works(first, chat), await works(second, chat)) == (True, False)
    await taken_off(url, first, second)
    claimed: list[int] = []
    second.leases.on_claimed(claimed.append)
    assert (await works(second, chat), claimed) == (True, [chat])
    for write in (
        first.turns.say(storing.reply(asked, "好"), NOW),
        storing.say(first, "第二件"),
        first.memories.remember(
            storing.statement("茶", person, chat), storing.receipt(event, chat, f"event:{event}"), NOW
        ),
        first.settings.put({"budget.day_tokens": "900"}, None, NOW),
        first.outbox.recover(frozenset()),
        first.leases.claim((chat, other)),
        first.leases.take("janitor"),
    ):
        with pytest.raises(LeaseLostError):
            await write
    assert not await first.leases.take_for("identify", 1_000)
    await asyncio.wait_for(first.lost.wait(), WAIT_S)
    assert [turn.id for turn in await second.turns.running(chat)] == [asked.turn.id]


@pytest.mark.parametrize("of_all", [False, True])
async def test_a_connection_that_hangs_in_a_transaction_of_a_dead_process_holds_nobody_up(
    tmp_path: Path, url: str, of_all: bool
) -> None:
    run(url, "INSERT INTO chat (id, kind, title, created_at) VALUES (1, 'dm', '', 0)")
    entered, go_on, gone = threading.Event(), threading.Event(), asyncio.Event()
    place = None if of_all else 1

    def hangs(tx: Tx) -> None:
        tx.insert("setting", key="late", value="", at=0)
        entered.set()
        go_on.wait(WAIT_S)

    first = await open_database(url, boot="a", lease_seconds=LONG, roles=ROLES)
    second = await open_database(url, boot="b", lease_seconds=SHORT, roles=ROLES)
    for each, name in ((first, "first"), (second, "second")):
        each.share(DataFiles(tmp_path / name), boot=name[0])
    second.leases.on_gone(gone.set)
    hanging = asyncio.create_task(first.write(hangs, chat=place))
    await asyncio.to_thread(entered.wait, WAIT_S)
    await asyncio.to_thread(unheard, url, "a")
    await asyncio.wait_for(gone.wait(), WAIT_S)
    await second.write(lambda tx: tx.insert("setting", key="here", value="", at=0), chat=place)
    go_on.set()
    with pytest.raises(LeaseLostError):
        await hanging
    assert first.lost.is_set()
    assert await second.read(lambda tx: tx.all("SELECT key FROM setting")) == (("here",),)
    await first.close()
    await second.close()


async def test_who_is_dead_is_not_taken_off_before_what_it_has_under_way_is_over(tmp_path: Path, url: str) -> None:
    """Its connections cannot be ended where they bear another name, as behind a pooler."""
    go_on, gone, waits = (
        threading.Event(),
        asyncio.Event(),
        "SELECT pg_sleep(0.05), pid FROM pg_locks WHERE NOT granted",
    )

    def hangs(tx: Tx) -> None:
        tx.execute("SET LOCAL application_name = 'pooler'")
        tx.insert("setting", key="late", value="", at=0)
        go_on.wait(WAIT_S)

    dead = await open_database(url, boot="a", lease_seconds=LONG, roles=ROLES)
    other = await open_database(url, boot="b", lease_seconds=SHORT, roles=ROLES)
    dead.share(DataFiles(tmp_path / "first"), boot="a")
    other.leases.on_gone(gone.set)
    hanging = asyncio.create_task(dead.write(hangs))
    await asyncio.to_thread(unheard, url, "a")
    async with asyncio.timeout(WAIT_S):
        while not (gone.is_set() or await asyncio.to_thread(run, url, waits) > 0):
            await asyncio.to_thread(unheard, url, "a")
    assert not gone.is_set()
    go_on.set()
    await hanging
    await until_gone(url, "a", gone)
    assert await other.read(lambda tx: tx.all("SELECT key FROM setting")) == (("late",),)
    await dead.close()
    await other.close()


async def test_who_is_dead_is_taken_off_though_something_is_always_under_way(tmp_path: Path, url: str) -> None:
    """Each transaction lasts longer than a lease, and another begins before it ends."""
    run(url, "INSERT INTO chat (id, kind, title, created_at) VALUES (1, 'dm', '', 0), (2, 'dm', '', 0)")
    gone, lasts = asyncio.Event(), SHORT * 6

    def long(tx: Tx) -> None:
        tx.execute("SELECT pg_sleep(?)", (lasts,))

    dead = await open_database(url, boot="a", lease_seconds=LONG, roles=ROLES)
    busy = await open_database(url, boot="b", lease_seconds=SHORT, roles=ROLES)
    for each, name in ((dead, "first"), (busy, "second")):
        each.share(DataFiles(tmp_path / name), boot=name)
    busy.leases.on_gone(gone.set)

    async def writes(chat: int) -> None:
        while not gone.is_set():
            await busy.write(long, chat=chat)

    first = asyncio.create_task(writes(1))
    await busy.read(lambda tx: tx.execute("SELECT pg_sleep(?)", (lasts / 2,)))
    second = asyncio.create_task(writes(2))
    await asyncio.to_thread(unheard, url, "a")
    await asyncio.wait_for(gone.wait(), WAIT_S)
    await asyncio.gather(first, second)
    assert not busy.lost.is_set()
    await dead.close()
    await busy.close()


async def test_what_is_written_in_a_chat_that_another_works_in_by_now_is_not_stored(
    url: str, two: tuple[Store, Store]
) -> None:
    first, second = two
    asked = await storing.begin(first, "第一件")
    person, chat, event = await storing.ids(first)
    async with first.leases.working(chat) as mine:
        assert mine
        await asyncio.to_thread(run, url, "UPDATE chat_lease SET owner = NULL")
        assert await works(second, chat)
        with pytest.raises(ChatLeaseLostError):
            await first.turns.say(storing.reply(asked, "好"), NOW)
        new, told = storing.statement("茶", person, chat), storing.receipt(event, chat, f"event:{event}")
        with pytest.raises(ChatLeaseLostError):
            await first.memories.remember(new, told, NOW)
    assert not await works(first, chat)
    assert await second.memories.owned(person, Audience(chat, "dm", (person,))) == ()
    assert [turn.state for turn in await second.turns.running(chat)] == ["asked"]
    await storing.say(first, "第二件")  # what arrives is taken in by whoever hears it
    assert not first.lost.is_set()


async def test_a_refused_transaction_refuses_none_that_is_stored_with_it(url: str, two: tuple[Store, Store]) -> None:
    first, second = two
    _, chat, _ = await storing.ids(first)

    async def put(key: str) -> None:
        await first.settings.put({key: "900"}, None, NOW)

    async with first.leases.working(chat):
        await asyncio.to_thread(run, url, "UPDATE chat_lease SET owner = NULL")
        assert await works(second, chat)
        late = [asyncio.create_task(put("budget.day_tokens")) for _ in range(2)]
    others = [asyncio.create_task(put(f"budget.{name}")) for name in ("month_tokens", "day_money", "month_money")]
    ends = await asyncio.gather(*late, *others, return_exceptions=True)
    assert [type(end) for end in ends] == [ChatLeaseLostError] * 2 + [type(None)] * 3


async def test_a_clean_end_hands_over_at_once_and_the_others_are_told(tmp_path: Path, url: str) -> None:
    gone = asyncio.Event()
    async with process(url, tmp_path / "second") as second:
        second.leases.on_gone(gone.set)
        async with process(url, tmp_path / "first") as first:
            _, chat, _ = await storing.ids(first)
            assert (await works(first, chat), await works(second, chat)) == (True, False)
            assert (await first.leases.take("janitor"), await second.leases.take("janitor")) == (True, False)
            assert await first.leases.take("janitor")
            assert await second.leases.take("telegram")
        assert await works(second, chat)
        assert await second.leases.take("janitor")
        await asyncio.wait_for(gone.wait(), WAIT_S)


async def test_what_may_be_done_again_after_a_while_waits_for_that_also_in_the_same_process(
    url: str, two: tuple[Store, Store]
) -> None:
    first, second = two
    assert await first.leases.take_for("identify 0", 3_600_000)
    assert not await first.leases.take_for("identify 0", 1)
    assert not await second.leases.take_for("identify 0", 1)
    assert await second.leases.take_for("identify 1", 1)
    await asyncio.to_thread(run, url, "UPDATE lease SET until = 0")
    assert await second.leases.take_for("identify 0", 1)


async def test_a_chat_in_which_nothing_happens_is_given_back(tmp_path: Path, url: str) -> None:
    async with process(url, tmp_path / "first", SHORT) as first, process(url, tmp_path / "second") as second:
        _, chat, _ = await storing.ids(first)
        _, busy, _ = await storing.ids(first, Where("ben", "dm-ben"))
        async with first.leases.working(busy):
            assert await works(first, chat)
            async with asyncio.timeout(WAIT_S):
                while not await works(second, chat):
                    await asyncio.to_thread(run, url, "SELECT pg_sleep(0.05)")
            assert not await works(second, busy)
            await storing.talk(first, "在吗", "在", Where("ben", "dm-ben"))
        assert not await works(first, chat)


async def test_who_answers_alone_and_who_shares_keep_each_other_out(tmp_path: Path, url: str) -> None:
    async with process(url, tmp_path / "first") as first:
        with pytest.raises(DatabaseSharedError, match="a command that writes, starts when all of them are stopped"):
            await open_store(tmp_path / "alone", url=url)
        async with await take_over(url, first, tmp_path / "alone") as alone:
            with pytest.raises(LeaseLostError):
                await storing.ids(first)
            with pytest.raises(DatabaseSharedError, match=r"a command that writes, or .* starts when it is gone"):
                await open_store(tmp_path / "second", url=url, roles=ROLES)
            async with await take_over(url, alone, tmp_path / "second", ROLES) as second:
                await storing.ids(second)
                with pytest.raises(LeaseLostError):
                    await storing.ids(alone)
    with pytest.raises(StoreError, match="a file is for one process"):
        await open_store(tmp_path / "file", roles=ROLES)


async def test_tables_do_not_change_below_a_process_that_works_on_them(tmp_path: Path, url: str) -> None:
    async with process(url, tmp_path / "first") as first:
        await asyncio.to_thread(run, url, "UPDATE meta SET value = 'older' WHERE key = 'terms'")
        with pytest.raises(DatabaseHeldError, match="of another version"):
            await open_store(tmp_path / "second", url=url, roles=ROLES)
        await storing.ids(first)
    async with process(url, tmp_path / "second") as second:
        await storing.ids(second)


async def test_only_what_a_process_left_that_is_gone_is_taken_up(url: str, two: tuple[Store, Store]) -> None:
    first, second = two
    places = [Where("ann", "dm-ann"), Where("ben", "dm-ben")]
    left = []
    for store, where in zip(two, places, strict=True):
        left.append(await storing.begin(store, "你好", where))
        async with store.leases.working(left[-1].turn.chat_id):
            await store.outbox.tell(left[-1].turn.chat_id, Draft("一", "notice"), NOW)
            assert await store.outbox.take(left[-1].turn.chat_id, NOW)
    await asyncio.to_thread(run, url, "UPDATE turn SET why = ?", HEARTBEAT)

    async def recover(store: Store) -> tuple[object, ...]:
        lost, sent = await store.turns.lost_calls(NOW), await store.outbox.recover(frozenset({"test"}))
        await store.turns.drop_unasked(HEARTBEAT, NOW)
        return lost, sent, [turn.id for turn in await store.turns.running()]

    running = [asked.turn.id for asked in left]
    assert await recover(second) == (0, (0, 0), running)
    await taken_off(url, first, second)
    assert await recover(second) == (1, (1, 0), running[1:])
    assert await recover(second) == (0, (0, 0), running[1:])


class Shared:
    """Processes that answer in the same chats, each where it may, while leases are lost; every line says under which
    term of its chat it was stored."""

    def __init__(self, url: str, folder: Path, seed: int) -> None:
        self.lost = 0
        self._url, self._folder = url, folder
        self._choose = random.Random(seed)
        self._places = [Where(f"p{number}", f"dm-{number}") for number in range(3)]
        self.claims: list[tuple[int, int, int]] = []
        """Chat, term and the last line before it."""

    async def run(self, rounds: int) -> None:
        """Until each process has had so many tries in each chat."""
        async with process(self._url, self._folder / "begin") as store:
            self._chats = [(await storing.ids(store, where))[1] for where in self._places]
        ended = asyncio.Event()
        losing = asyncio.create_task(self._lose(ended))
        await asyncio.gather(*(self._process(f"process{number}", rounds) for number in range(2)))
        ended.set()
        await losing

    async def _process(self, name: str, rounds: int) -> None:
        left = dict.fromkeys(range(len(self._places)), rounds)
        while any(left.values()):
            async with process(self._url, self._folder / name, SHORT) as store:
                await asyncio.gather(*(self._answer(store, place, left) for place in left))

    async def _answer(self, store: Store, place: int, left: dict[int, int]) -> None:
        chat, where = self._chats[place], self._places[place]
        while left[place]:
            left[place] -= 1
            try:
                async with store.leases.working(chat) as mine:
                    if mine:
                        await self._talk(store, chat, where)
            except ChatLeaseLostError:
                self.lost += 1
            except LeaseLostError:
                self.lost += 1
                return

    async def _talk(self, store: Store, chat: int, where: Where) -> None:
        lease = CHAT_LEASE.get()
        assert lease is not None
        line = f"{lease.term} {store.boot}"
        rows = await asyncio.to_thread(self._look, "SELECT max(id) FROM event WHERE chat_id = ?", chat)
        self.claims.append((chat, lease.term, int(str(rows[0][0]))))
        for turn in await store.turns.running(chat):
            await store.turns.fail(turn, "left", None, "charge", NOW)
        asked = await storing.begin(store, line, where)
        await storing.keep(store, line, where)
        await store.turns.say(storing.reply(asked, line), NOW)

    async def _lose(self, ended: asyncio.Event) -> None:
        """Now and then a chat is taken away from who has it, or a process is not heard of any more."""
        while not ended.is_set():
            sql, values = "UPDATE chat_lease SET owner = NULL WHERE chat_id = ?", (self._choose.choice(self._chats),)
            if self._choose.random() < 0.05:
                sql, values = "UPDATE process SET until = 0 WHERE id = (SELECT max(id) - ? FROM process)", (0,)
            await asyncio.to_thread(run, self._url, sql, *values)
            await asyncio.to_thread(run, self._url, "SELECT pg_sleep(?)", self._choose.random() / 20)

    def _look(self, sql: str, *values: object) -> tuple[tuple[object, ...], ...]:
        with closing(PostgresTx(self._url)) as tx:
            return tx.all(sql, *values)

    def overlapping(self) -> tuple[tuple[object, ...], ...]:
        """Turns that began while another one of their chat was under way and was said later."""
        return self._look(OVERLAPPING)

    def stale(self) -> list[tuple[int, int, str]]:
        """Lines of a term that were stored after another process had claimed the chat, each with its chat and number."""
        lines = self._look("SELECT chat_id, id, text FROM event WHERE text <> '' ORDER BY id")
        said = [(int(str(chat)), int(str(number)), TERM.search(str(text))) for chat, number, text in lines]
        return [
            (chat, number, term[0])
            for chat, number, term in said
            if term and any(one == chat and last < number and int(term[1]) < claim for one, claim, last in self.claims)
        ]


TERM = re.compile(r"(\d+) [0-9a-f]{16}")

OVERLAPPING = """WITH span AS (SELECT turn.id, turn.chat_id, min(turn_event.event_id) AS asked,
        (SELECT min(event.id) FROM event WHERE event.turn_id = turn.id AND kind = 'bot') AS said
        FROM turn JOIN turn_event ON turn_id = turn.id GROUP BY turn.id)
    SELECT one.id, other.id FROM span AS one JOIN span AS other ON other.chat_id = one.chat_id
    WHERE other.asked > one.asked AND other.asked < one.said"""


@pytest.mark.parametrize("seed", range(sized(6)))
async def test_with_leases_lost_at_any_statement_nobody_stores_what_another_may(
    tmp_path: Path, url: str, seed: int
) -> None:
    shared = Shared(url, tmp_path, seed)
    await shared.run(rounds=10)
    assert (shared.stale(), shared.overlapping()) == ([], ())
    assert shared.lost
