"""Sessions: one open in a chat, closed once, digested once; what is too old is dropped."""

import asyncio

from bot.core.people import Audience
from bot.core.sessions import Digest
from bot.store.deadlines import Retention
from bot.store.digests import Digested
from bot.store.store import Store
from tests.contract.engines import Engine
from tests.peek import SOME, Other
from tests.storing import DAY, NOW, Where, begin, layers, reply, say, statement, talk

ANN = Where()


async def closed(store: Store, where: Where = ANN, at: int = NOW) -> int:
    """A session that ended; its number."""
    session = (await talk(store, "你好 topic", "你好呀", where, at)).turn.session_id
    assert await store.sessions.close(session, "new", at)
    return session


async def test_a_session_is_closed_once_and_only_when_its_time_has_come(store: Store) -> None:
    session = (await talk(store, "你好", "你好呀")).turn.session_id
    late = NOW + 1_800_000
    assert not await store.sessions.close(session, "idle", late - 1, deadline=True)
    closings = await asyncio.gather(*(store.sessions.close(session, "idle", late, deadline=True) for _ in range(5)))
    assert sorted(closings) == [False] * 4 + [True]
    assert await store.sessions.open_session(1) is None


async def test_a_session_is_not_closed_while_its_turn_runs(store: Store) -> None:
    asked = await begin(store)
    assert not await store.sessions.close(asked.turn.session_id, "new", NOW)
    await store.turns.say(reply(asked, "好"), NOW)
    assert await store.sessions.close(asked.turn.session_id, "new", NOW)


async def test_a_chat_has_one_open_session_and_the_next_gets_the_next_number(store: Store) -> None:
    for number in (1, 2):
        session = await closed(store)
        assert (await store.sessions.session(session)).number == number
    await closed(store, Where("bob", "dm-bob"))
    assert [s.state for s in await store.sessions.undigested(1)] == ["closing", "closing"]


async def test_a_digest_waits_for_other_talks_but_not_when_a_full_opening_came_first(store: Store) -> None:
    session = await store.sessions.session(await closed(store))
    assert await store.sessions.wait(session, NOW + DAY)
    assert await store.sessions.due(session.chat_id, NOW) == ()
    await begin(store, "在吗")
    assert [one.id for one in await store.sessions.due(session.chat_id, NOW)] == [session.id]
    assert not await store.sessions.wait(session, NOW + DAY)
    assert [one.id for one in await store.sessions.due(session.chat_id, NOW)] == [session.id]


async def test_of_two_digests_at_once_exactly_one_is_stored_with_its_memories(store: Store) -> None:
    session = await store.sessions.session(await closed(store))
    made = [
        Digested(session, Digest(f"聊天{n}", (statement(f"事{n}", 1, 1, source="digest"),), "model"), 1, ("Ann",), (1,))
        for n in range(2)
    ]
    assert sorted(await asyncio.gather(*(store.digests.store(one, NOW) for one in made))) == [False, True]
    assert not await store.digests.store(made[0], NOW)
    assert len(await store.digests.told(Audience(1, "dm", (1,)), 1, 0)) == 1
    assert len(await layers(store, Audience(1, "dm", (1,)))) == 1
    assert await store.sessions.undigested(1) == ()


async def test_a_digest_is_seen_by_its_person_and_in_its_chat_only(store: Store) -> None:
    group = Where("ann", "the-group", "group")
    for where, owner, text in ((Where(), 1, "私下"), (group, None, "群里")):
        session = await store.sessions.session(await closed(store, where))
        await store.digests.store(Digested(session, Digest(text, (), "rule"), owner, ("Ann",), ()), NOW)
    await say(store, "我是别人", Where("bob", "dm-bob"))
    seen = {
        audience: [d.summary for d in await store.digests.told(audience, 1, 0)]
        for audience in (
            Audience(1, "dm", (1,)),
            Audience(3, "dm", (1,)),
            Audience(3, "dm", (2,)),
            Audience(2, "group", (1, 2)),
        )
    }
    assert list(seen.values()) == [["私下"], ["私下"], [], ["群里"]]


async def test_a_digest_that_failed_is_due_again_later(store: Store) -> None:
    session = await closed(store)
    await store.sessions.postpone_digest(session, NOW + 30_000)
    assert ("digest", session) not in (await store.deadlines.look(NOW + 29_999))[0]
    assert ("digest", session) in (await store.deadlines.look(NOW + 30_000))[0]
    assert (await store.sessions.session(session)).digest_attempts == 1


async def test_the_floor_under_raw_lines_is_the_last_clearing(store: Store) -> None:
    session = await closed(store)
    assert await store.sessions.floor(1) == 0
    await store.digests.store(Digested(await store.sessions.session(session), Digest("", (), "rule"), 1, (), ()), NOW)
    assert await store.sessions.floor(1) == 2
    await store.sessions.clear(1, 7)
    assert await store.sessions.floor(1) == 7


async def test_while_many_old_talks_go_others_are_served(engine: Engine, store: Store) -> None:
    for _ in range(41):
        session = await store.sessions.session(await closed(store, at=NOW - 100 * DAY))
        await store.digests.store(Digested(session, Digest("聊了天", (), "rule"), 1, (), ()), NOW - 100 * DAY)
    keep = Retention(0, 0, 0, NOW + DAY, talks_before=NOW - 30 * DAY)
    work, left = asyncio.ensure_future(store.deadlines.tidy(keep)), set[int]()
    while not work.done():
        left.add(len(await store.digests.told(Audience(1, "dm", (1,)), 100, 0)))
    assert left & set(range(1, 41)), "what is done so far is stored, and nobody waits for all of it"
    assert await store.digests.told(Audience(1, "dm", (1,)), 100, 0) == ()


async def test_what_is_too_old_is_dropped_and_counts_and_what_waits_stay(engine: Engine, store: Store) -> None:
    session = await store.sessions.session(await closed(store, at=NOW - 100 * DAY))
    await store.digests.store(Digested(session, Digest("聊了天", (), "rule"), 1, (), ()), NOW - 100 * DAY)
    for text in ("一", "二"):
        await say(store, f"{text} topic", at=NOW - 100 * DAY, key=text)
    waiting = await store.outbox.take(1, NOW)
    assert waiting is not None
    await store.outbox.not_sent(waiting.chat_id, waiting.outbox_id, "blocked", None)
    keep = Retention(NOW - 30 * DAY, NOW - 90 * DAY, NOW - 7 * DAY, NOW + DAY)
    await talk(store, "今天 topic", "好", at=NOW)
    for _ in range(2):
        await store.deadlines.tidy(keep)
    lines = engine.peek.events.values("text", text=Other(""))
    assert lines == ["一 topic", "二 topic", "今天 topic", "好"]
    assert engine.holding("你好") == []
    assert engine.peek.turns.count() == 2
    assert engine.peek.events.count(delivery_key=SOME) == 0
    assert [d.summary for d in await store.digests.told(Audience(1, "dm", (1,)), 1, 0)] == ["聊了天"]
    assert ("tidy", 0) not in (await store.deadlines.look(NOW + DAY - 1))[0]
    assert ("tidy", 0) in (await store.deadlines.look(NOW + DAY))[0]
