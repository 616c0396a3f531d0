"""A turn's commits: whole, once each, and void without a trace when it fails."""

from dataclasses import replace

import pytest

from bot.core.errors import OverBudget, StoreError
from bot.core.events import Draft
from bot.core.models import BudgetLimits, Message, ToolCall, Usage
from bot.core.people import Audience
from bot.core.sessions import Epoch
from bot.core.tools import ToolAnswer, ToolOutcome
from bot.store.ledger import Settlement
from bot.store.store import Store
from bot.store.turns import AskedTurn
from tests.contract.engines import Engine
from tests.storing import NOW, Where, asking, begin, layers, paid, reply, room_for, say, statement, talk

CALLS = Message("assistant", "", (ToolCall("c", "memory_recall", "{}"),))


async def log_of(store: Store, session_id: int) -> Epoch:
    epoch = await store.sessions.epoch(session_id)
    assert epoch is not None
    return epoch


def texts(epoch: Epoch) -> list[str]:
    return [entry.message.content for entry in epoch.entries]


async def with_tool(store: Store, text: str = "查一下") -> AskedTurn:
    """A turn that asked for a tool and got its result; its second call is reserved."""
    asked = await begin(store, text)
    await store.turns.answer(asked.turn, CALLS, 3, paid(asked.call.id), NOW)
    memory = statement("学会了", asked.turn.person_id, asked.turn.chat_id, source="tool", kind="experience")
    for _ in range(2):
        await store.turns.tool_done(asked.turn, ToolOutcome("1:c", "c", ToolAnswer("saved #{id}", memory), 4), NOW)
    return AskedTurn(asked.turn, await store.turns.ask_again(asked.turn, room_for(), NOW))


async def test_what_was_asked_answered_and_said_is_the_log_in_order(store: Store) -> None:
    await talk(store, "你好", "你好呀")
    before = await log_of(store, 1)
    asked = await with_tool(store)
    await store.turns.say(reply(asked, "查到了"), NOW)
    after = await log_of(store, 1)
    assert texts(after) == ["<p>你好</p>", "你好呀", "<p>查一下</p>", "", "saved #1", "查到了"]
    assert after.entries[: len(before.entries)] == before.entries
    assert after.entries[3].message == CALLS
    assert [entry.message.tool_call_id for entry in after.entries] == ["", "", "", "", "c", ""]
    assert (after.prompt_tokens, after.prompt_entries) == (50, 5)


async def test_the_effect_of_a_tool_happens_once_for_its_call(store: Store) -> None:
    asked = await with_tool(store)
    found = await layers(store, Audience(asked.turn.chat_id, "dm", (asked.turn.person_id,)))
    assert [(memory.text, memory.importance) for memory in found] == [("学会了", 1)]
    await store.turns.tool_done(asked.turn, ToolOutcome("2:c", "c", ToolAnswer("again"), 4), NOW)
    assert texts(await log_of(store, 1))[-2:] == ["saved #1", "again"]


async def test_an_answer_that_is_stored_twice_is_in_the_log_and_paid_once(store: Store) -> None:
    asked = await begin(store)
    for _ in range(2):
        await store.turns.answer(asked.turn, CALLS, 3, paid(asked.call.id, 0.5), NOW)
    assert len((await log_of(store, 1)).entries) == 2
    totals = await store.ledger.turn_totals(asked.turn.id)
    assert (totals.calls, totals.prompt, totals.cached, totals.output, totals.cost) == (1, 50, 20, 7, 0.5)


async def test_a_turn_is_said_once_and_can_fail_no_more(engine: Engine, store: Store) -> None:
    asked = await begin(store)
    for _ in range(2):
        await store.turns.say(reply(asked, "你好呀"), NOW)
    await store.turns.fail(asked.turn, "late", Draft("sorry", "notice"), "charge", NOW)
    assert texts(await log_of(store, 1)) == ["<p>你好</p>", "你好呀"]
    assert engine.peek.outbox("text", "state") == [("你好呀", "pending")]
    assert engine.peek.events.values("text", kind="bot") == ["你好呀"]
    assert await store.turns.running() == ()


async def test_what_is_said_ends_the_waiting_and_prolongs_the_conversation(engine: Engine, store: Store) -> None:
    asked = await begin(store)
    assert (await store.events.waiting(1, NOW)).due
    await store.turns.say(replace(reply(asked, "嗯"), window_until=NOW + 99_000, close_at=NOW + 5), NOW)
    assert (await store.events.waiting(1, NOW)).due == ()
    assert engine.peek.windows.values("until") == [NOW + 99_000]
    session = await store.sessions.session(1)
    assert (session.close_at, session.upto_event) == (NOW + 5, 2)


@pytest.mark.parametrize("first", [True, False])
async def test_a_failed_turn_leaves_the_log_as_it_was_and_its_lines_for_the_next(
    engine: Engine, store: Store, first: bool
) -> None:
    if not first:
        await talk(store, "你好", "你好呀")
    before = await log_of(store, 1) if not first else None
    asked = await with_tool(store)
    for _ in range(2):
        await store.turns.fail(asked.turn, "timeout", Draft("等等", "notice"), "charge", NOW)
    after = await log_of(store, 1)
    assert after.entries == (before.entries if before else ())
    assert after.logged_upto == (before.logged_upto if before else 0)
    assert engine.peek.outbox.count(text="等等") == 1
    lines = (await store.sessions.log(1, 10, 1)).news
    assert "查一下" in [line.text for line in lines]
    assert (await store.events.waiting(1, NOW)).due == ()
    assert set(engine.peek.calls.values("state")) == {"settled", "lost"}


async def test_a_turn_that_a_crash_interrupted_is_given_back_with_its_log(engine: Engine) -> None:
    async with await engine.open() as store:
        await talk(store, "你好", "你好呀")
        asked = await with_tool(store)
        log = await log_of(store, 1)
    async with await engine.open() as store:
        assert await store.turns.lost_calls(NOW) == 1
        assert await store.turns.lost_calls(NOW) == 0
        assert engine.peek.calls("id", state="reserved") == []
        (turn,) = await store.turns.running()
        assert (turn.id, turn.event_ids, turn.state) == (asked.turn.id, asked.turn.event_ids, "answered")
        assert (await log_of(store, 1)).entries == log.entries
        call = await store.turns.ask_again(turn, room_for(), NOW)
        assert engine.peek.calls("id", state="reserved") == [(call.id,)]
        await store.turns.say(reply(AskedTurn(turn, call), "查到了"), NOW)
        assert await store.turns.running() == ()
        assert (await store.ledger.turn_totals(turn.id)).calls == 3
        assert (await store.ledger.spend(0)).tokens == 57 + 57 + 100 + 57


async def test_over_budget_stores_nothing_of_the_turn(engine: Engine, store: Store) -> None:
    event = (await say(store, "你好")).event
    assert event is not None
    full = room_for(cost=2.0, limits=BudgetLimits(1.0, None, None, None))
    with pytest.raises(OverBudget, match="day_money"):
        await store.turns.ask(asking(1, (event.id,), 1, reserve=full), NOW)
    peek = engine.peek
    told = (peek.turns, peek.told_events, peek.prefixes)
    for rows in (*told, peek.sessions, peek.epochs, peek.entries, peek.edges, peek.calls):
        assert rows.count() == 0, rows.table
    assert [line.id for line in (await store.events.waiting(1, NOW)).due] == [event.id]


async def test_a_turn_composed_for_a_session_that_was_closed_meanwhile_is_refused(store: Store) -> None:
    await talk(store, "你好", "你好呀")
    event = (await say(store, "在吗")).event
    assert event is not None
    await store.sessions.close(1, "idle", NOW)
    with pytest.raises(StoreError, match="compose again"):
        await store.turns.ask(asking(1, (event.id,), 1, session=1, epoch=1), NOW)
    assert (await store.events.waiting(1, NOW)).due
    assert len((await log_of(store, 1)).entries) == 2


async def test_a_message_that_comes_before_the_alarm_of_an_old_session_opens_the_next(store: Store) -> None:
    await talk(store, "你好", "你好呀")
    event = (await say(store, "在吗", at=NOW + 7_200_000)).event
    assert event is not None
    await store.turns.ask(asking(1, (event.id,), 1), NOW + 7_200_000)
    assert [session.state for session in await store.sessions.undigested(1)] == ["closing", "open"]
    assert ("digest", 1) in (await store.deadlines.look(NOW + 7_200_000))[0]


async def test_an_estimate_teaches_nothing_about_the_size_of_the_log(store: Store) -> None:
    asked = await begin(store)
    guess = Settlement(asked.call.id, Usage(999, 0, 1, returned=False), 0.0)
    await store.turns.say(replace(reply(asked, "嗯"), settlement=guess), NOW)
    assert (await log_of(store, 1)).prompt_tokens == 0


async def test_refused_lines_wait_no_more_and_the_person_is_told(store: Store) -> None:
    event = (await say(store, "你好", Where("bob", "dm-bob"))).event
    assert event is not None
    await store.outbox.answer(event.chat_id, (event.id,), (Draft("今天说够了", "notice"),), NOW, "refused")
    assert (await store.events.waiting(event.chat_id, NOW)).due == ()
    sent = await store.outbox.take(event.chat_id, NOW)
    assert sent is not None
    assert (sent.text, sent.external_chat_id) == ("今天说够了", "dm-bob")


async def test_of_a_turn_that_was_stopped_nothing_is_shown(engine: Engine, store: Store) -> None:
    asked = await begin(store, "讲个故事")
    await store.turns.leave_unasked(asked.turn.chat_id, asked.turn.why, "stopped", NOW)
    with pytest.raises(StoreError, match="void"):
        await store.outbox.preview(asked.turn.chat_id, asked.turn.id, NOW, "从前", draft=False)
    assert engine.peek.outbox("state") == []
