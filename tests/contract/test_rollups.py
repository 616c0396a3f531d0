"""Dialogue memory: who is told a talk that was rolled up, cleared or carried away."""

from bot.core.people import Audience
from bot.core.sessions import Digest
from bot.store.digests import Digested
from bot.store.joining import join_persons
from tests.contract.engines import Engine
from tests.kill_rolling import roll_up
from tests.storing import DAY, NOW, SAID, Where, ids, talk, talked

LATER = NOW + 20 * DAY


async def test_a_talk_that_was_closed_before_it_was_cleared_and_digested_after_tells_nothing(engine: Engine) -> None:
    async with await engine.open() as store:
        asked = await talk(store, "我想去爬山", "好呀")
        await store.sessions.close(asked.turn.session_id, "new", NOW)
        audience = Audience(asked.turn.chat_id, "dm", (asked.turn.person_id,))
        assert await store.digests.clear(audience, NOW + 1) == 0
        session = await store.sessions.session(asked.turn.session_id)
        assert await store.digests.store(Digested(session, Digest("聊了爬山", (), "rule"), None, (), ()), NOW + 2)
        assert await store.digests.told(audience, 1, 0) == ()


async def test_who_took_part_in_a_talk_that_was_rolled_up_is_known_and_nobody_else_is_told(engine: Engine) -> None:
    hall = Where("ann", "hall", "group")
    async with await engine.open() as store:
        ann = await talked(store, SAID, hall)
        bob = (await ids(store, Where("bob", "hall", "group"), LATER))[0]
        await roll_up(store, LATER)
        group = Audience(ann.chat_id, "group", (*ann.person_ids, bob))
        assert [row.own for row in await store.digests.told(group, ann.person_ids[0], 0)] == [True]
        assert [row.own for row in await store.digests.told(group, bob, 0)] == [False]
        assert await store.digests.told(Audience(99, "dm", (bob,)), bob, 0) == ()


async def test_of_two_accounts_that_become_one_person_each_talk_has_that_one_once(engine: Engine) -> None:
    hall = Where("ann", "hall", "group")
    async with await engine.open() as store:
        ann = (await talked(store, SAID, hall)).person_ids[0]
        too = (await ids(store, Where("bob", "hall", "group"), NOW))[0]
        both = "INSERT INTO talker SELECT digest_id, ? FROM talker WHERE digest_id > 1"
        await store._database.write(lambda db: db.execute(both, (too,)).rowcount)
        assert await store._database.write(lambda db: join_persons(db, ann, too, NOW)) == ann
    assert engine.peek.talkers("digest_id", "person_id") == [(1, ann), (2, ann), (3, ann)]
    assert engine.faults() == []


async def test_an_export_holds_each_talk_by_itself_whatever_it_was_rolled_up_into(engine: Engine) -> None:
    async with await engine.open() as store:
        await talked(store)
        before = (await store.memories.import_base()).carried.summaries
        await roll_up(store, LATER)
        assert (await store.memories.import_base()).carried.summaries == before
    assert [each.summary for each in before] == list(SAID)
