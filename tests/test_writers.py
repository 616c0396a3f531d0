"""PostgreSQL: chats that are written at once leave what they would leave one after the other."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.errors import OverBudget
from bot.core.models import BudgetLimits
from bot.core.people import Audience
from bot.store.store import Store, open_store
from tests import servers, storing
from tests.storing import DAY, NOW, Where

pytestmark = pytest.mark.postgres

PEOPLE = ("ann", "bob", "eve")
PLACES = tuple(Where(who, f"dm-{who}") for who in PEOPLE) + tuple(
    Where(who, group, "group") for group in ("tea", "cats") for who in PEOPLE
)
"""Everybody in a chat of their own and in two groups."""

WORDS = ("大熊猫", "红烧肉", "马拉松", "北京", "花生", "上海", "咖啡", "报告")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A store on a server, with a database of its own."""
    async with await open_store(tmp_path / "data", url=servers.lend(tmp_path / "data")) as store:
        yield store
    servers.take_back()


async def chatter(store: Store, where: Where, choose: random.Random, steps: int) -> list[int]:
    """Somebody talks in a chat, and in a DM has something kept or forgotten; their lines, as they were stored."""
    lines = list[int]()
    for _ in range(steps):
        words = " ".join(choose.sample(WORDS, 3))
        what = choose.randrange(6) if where.kind == "dm" else 5
        if what == 0:
            number = await storing.keep(store, f"我爱{words}", where)
            person, chat, _ = await storing.ids(store, where)
            memory = await store.search.memory(Audience(chat, "dm", (person,)), number)
            if memory is not None and choose.random() < 0.5:
                await storing.drop(store, memory, where)
        elif what < 4:
            asked = await storing.talk(store, f"说说{words}", f"好，{words}", where)
            while (outgoing := await store.outbox.take(asked.turn.chat_id, NOW)) is not None:
                await store.outbox.sent(outgoing.chat_id, outgoing.outbox_id, (f"{outgoing.outbox_id}",), NOW)
        else:
            accepted = await storing.say(store, f"今天{words}", where, action="listen", why="listen")
            assert accepted.event is not None
            lines.append(accepted.event.id)
    return lines


@pytest.mark.parametrize("seed", range(3))
async def test_chats_that_write_at_once_leave_every_line_in_order_and_an_index_as_if_made_anew(
    tmp_path: Path, store: Store, seed: int
) -> None:
    choose = random.Random(seed)
    tasks = [chatter(store, where, random.Random(choose.random()), 16) for where in PLACES]
    for lines in await asyncio.gather(*tasks):
        assert lines == sorted(set(lines))
    assert await store.inspector.unindexed() == 0
    counted = storing.look(tmp_path / "data", "SELECT count(*), sum(prompt_tokens + output_tokens) FROM call")
    spent = await store.ledger.spend(0)
    assert counted == [(spent.calls, spent.tokens)]
    assert storing.look(tmp_path / "data", "SELECT count(*) FROM outbox WHERE kind = 'reply' AND state <> 'sent'") == [
        (0,)
    ]
    twice = "SELECT 1 FROM doc WHERE kind = 'line' GROUP BY chat_id, place HAVING count(*) > 1"
    assert not storing.look(tmp_path / "data", twice)


async def test_a_limit_has_room_for_as_many_answers_at_once_as_one_after_the_other(store: Store) -> None:
    limits = BudgetLimits(None, None, 500, None)

    async def ask(where: Where, at: int) -> bool:
        event = (await storing.say(store, "在吗", where, at)).event
        assert event is not None
        assert event.person_id is not None
        reserve = replace(storing.room_for(100, limits=limits), day_since=at)
        asking = storing.asking(event.chat_id, (event.id,), event.person_id, reserve=reserve)
        try:
            await store.turns.ask(asking, at)
        except OverBudget:
            return False
        return True

    for day in range(10):
        places = [Where(f"p{number}", f"dm-{day}-{number}") for number in range(8)]
        for where in places:
            await storing.ids(store, where)
        asked = await asyncio.gather(*(ask(where, NOW + day * DAY) for where in places))
        assert sum(asked) == 5


async def test_who_is_new_in_two_chats_at_once_is_one_person(store: Store) -> None:
    rooms = [f"room-{number}" for number in range(6)]
    for room in rooms:
        await storing.say(store, "第一", Where("host", room, "group"))
    heard = await asyncio.gather(*(storing.say(store, "我也来", Where("new", room, "group")) for room in rooms))
    assert len({accepted.event.person_id for accepted in heard if accepted.event is not None}) == 1
