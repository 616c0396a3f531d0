"""A process that is alone on its database: it works in every chat, and what an earlier one left is told from what is its own."""

from bot.core.events import Draft
from bot.core.speaking import HEARTBEAT
from bot.store.store import Store
from tests.contract.engines import Engine
from tests.storing import NOW, begin, ids, reply


async def test_it_works_in_every_chat_and_may_do_everything(store: Store) -> None:
    _, chat, _ = await ids(store)
    async with store.leases.working(chat) as mine, store.leases.working(chat + 1) as other:
        assert mine
        assert other
        await store.turns.say(reply(await begin(store), "好"), NOW)
    assert await store.leases.claim((chat, chat + 1)) == {chat, chat + 1}
    assert await store.leases.take("janitor")
    assert await store.leases.take_for("identify 0", 5_000)
    assert not store.leases.shared


async def test_what_it_has_under_way_itself_is_not_taken_for_left(engine: Engine) -> None:
    async with await engine.open() as store:
        asked = await begin(store)
        await store.outbox.tell(asked.turn.chat_id, Draft("一", "notice"), NOW)
        assert await store.outbox.take(asked.turn.chat_id, NOW)
        assert await store.turns.lost_calls(NOW) == 0
        assert await store.outbox.recover(frozenset({"test"})) == (0, 0)
    async with await engine.open() as store:
        await store.turns.drop_unasked(HEARTBEAT, NOW)
        assert [turn.id for turn in await store.turns.running()] == [asked.turn.id]
        assert await store.turns.lost_calls(NOW) == 1
        assert await store.outbox.recover(frozenset({"test"})) == (1, 0)
