"""忘记: found nowhere afterwards; 撤销 brings the statement back, and 彻底忘记 leaves nothing, not even in the files."""

from bot.core.events import Draft
from bot.core.memories import Memory
from bot.core.people import Audience
from bot.core.sessions import Digest
from bot.core.tools import ToolAnswer, ToolOutcome
from bot.store.digests import Digested
from bot.store.removal import Forgetting
from bot.store.store import Store
from tests.contract.engines import Engine
from tests.peek import Like
from tests.storing import (
    DAY,
    NOW,
    Where,
    begin,
    bring_back,
    drop,
    ids,
    keep,
    layers,
    receipt,
    reply,
    say,
    searched,
    statement,
    talk,
)

ANN, ANN_TOO, GROUP = Where(), Where("ann", "dm-ann-2"), Where("ann", "the-group", "group")
CANARY = "zwk7731"
SECRET = f"我的门禁卡号是{CANARY}"


async def told_everywhere(store: Store) -> tuple[Memory, Audience]:
    """Somebody told a secret, and everything that can have been derived from it was."""
    await talk(store, "在吗", "在呀", at=NOW - 10)
    number = await keep(store, SECRET)
    await talk(store, f"对了{SECRET}", f"好的，你的卡号 {CANARY} 我记下了")
    asked = await begin(store, "帮我查一下")
    memory = statement(f"卡号 {CANARY}", asked.turn.person_id, asked.turn.chat_id, source="tool", kind="experience")
    await store.turns.tool_done(asked.turn, ToolOutcome("1:c", "c", ToolAnswer(f"卡号是 {CANARY}", memory), 4), NOW)
    await store.turns.say(reply(asked, f"你的卡号是{CANARY}"), NOW)
    session = await store.sessions.open_session(asked.turn.chat_id)
    assert session is not None
    await store.sessions.close(session.id, "new", NOW)
    derived = statement(f"她的卡号是{CANARY}", asked.turn.person_id, asked.turn.chat_id, source="digest")
    digest = Digest(f"聊了卡号{CANARY}", (derived,), "model")
    events = await store.events.between(session.chat_id, 0, 10**6)
    digested = Digested(session, digest, asked.turn.person_id, ("Ann",), tuple(event.id for event in events))
    assert await store.digests.store(digested, NOW)
    command = (await say(store, f".ai ctx {CANARY}")).event
    assert command is not None
    await store.outbox.answer(command.chat_id, (command.id,), (Draft(f"… {CANARY} …", "command"),), NOW)
    person, chat, _ = await ids(store)
    audience = Audience(chat, "dm", (person,))
    return next(m for m in await store.memories.owned(person, audience) if m.id == number), audience


async def test_what_was_forgotten_is_found_in_no_table_but_the_row_kept_for_undo(engine: Engine, store: Store) -> None:
    memory, audience = await told_everywhere(store)
    assert len(engine.holding(CANARY)) >= 7
    await drop(store, memory)
    assert set(engine.holding(CANARY)) <= {"memory.text", "memory.folded"}
    kept = engine.peek.memories.values("disabled_reason", text=Like(f"%{CANARY}%"))
    assert sorted(map(str, kept)) == ["asked", "derived", "derived"]
    assert await searched(store, audience, CANARY) == ()
    assert await store.memories.owned(memory.owner_id or 0, audience) == ()
    lines = await store.events.between(memory.chat_id, 0, 10**6)
    assert {"在吗", "在呀", "帮我查一下"} <= {line.text for line in lines}
    assert engine.faults() == []


async def test_the_session_of_a_scrubbed_digest_is_to_be_digested_again_once(store: Store) -> None:
    memory, audience = await told_everywhere(store)
    assert (await store.deadlines.look(NOW + 1))[0] == (("outbox", memory.chat_id), ("roll", memory.chat_id))
    await drop(store, memory)
    session = await store.sessions.session(1)
    assert ("digest", session.id) in (await store.deadlines.look(NOW + 1))[0]
    again = Digested(session, Digest("聊了天", (), "rule"), memory.owner_id, ("Ann",), ())
    assert await store.digests.store(again, NOW)
    assert not await store.digests.store(again, NOW)
    assert [d.summary for d in await store.digests.told(audience, 1, 0)] == ["聊了天"]


async def test_a_digest_made_while_its_lines_were_forgotten_is_not_stored_and_stays_due(
    engine: Engine, store: Store
) -> None:
    number = await keep(store, SECRET)
    asked = await talk(store, "谢谢", "不客气")
    await store.sessions.close(asked.turn.session_id, "new", NOW)
    session = await store.sessions.session(asked.turn.session_id)
    lines = await store.events.between(session.chat_id, 0, session.upto_event)
    made = Digested(session, Digest(SECRET, (), "model"), asked.turn.person_id, (), tuple(e.id for e in lines))
    owned = await store.memories.owned(asked.turn.person_id, Audience(1, "dm", (asked.turn.person_id,)))
    await drop(store, next(memory for memory in owned if memory.id == number))
    assert not await store.digests.store(made, NOW)
    assert ("digest", session.id) in (await store.deadlines.look(NOW))[0]
    assert engine.holding(CANARY) == ["memory.text", "memory.folded"]


async def test_a_summary_of_a_group_that_heard_it_too_is_emptied(engine: Engine, store: Store) -> None:
    await keep(store, SECRET)
    asked = await talk(store, f"对了{SECRET}", "好的", GROUP)
    await store.sessions.close(asked.turn.session_id, "new", NOW)
    session = await store.sessions.session(asked.turn.session_id)
    lines = await store.events.between(session.chat_id, 0, 10**6)
    made = Digested(session, Digest(f"聊了{CANARY}", (), "model"), None, ("Ann",), tuple(line.id for line in lines))
    assert await store.digests.store(made, NOW)
    person, chat, _ = await ids(store)
    (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
    await drop(store, memory)
    assert set(engine.holding(CANARY)) == {"memory.text", "memory.folded"}


async def test_forgotten_for_good_leaves_nothing_in_any_file(engine: Engine) -> None:
    async with await engine.open() as store:
        memory, _ = await told_everywhere(store)
        assert engine.files_with(CANARY)
        store.tombstones.add_tombstones([(memory.id, memory.text)], NOW)
        await drop(store, memory, days=None)
        assert engine.holding(CANARY) == []
        assert engine.files_with(CANARY) == []
    assert engine.files_with(CANARY) == []
    assert engine.faults() == []


async def test_after_the_days_for_undo_nothing_is_left_in_any_file(engine: Engine, store: Store) -> None:
    for number in range(60):
        await keep(store, f"第{number}件小事 {CANARY}{number}")
    person, chat, _ = await ids(store)
    for memory in await store.memories.owned(person, Audience(chat, "dm", (person,))):
        await drop(store, memory)
    assert await store.deadlines.next(NOW + DAY) == NOW + 7 * DAY
    assert await store.memories.purge(NOW + 7 * DAY - 1) == 0
    assert await store.memories.purge(NOW + 7 * DAY) == 60
    assert engine.holding(CANARY) == []
    assert engine.files_with(CANARY) == []


async def test_undo_brings_the_statement_back_but_not_the_lines(store: Store) -> None:
    memory, audience = await told_everywhere(store)
    await drop(store, memory)
    last = await store.memories.forgotten(memory.owner_id or 0, audience, NOW)
    assert [each.id for each in last] == [memory.id]
    assert await bring_back(store, memory.id, audience)
    assert [found.id for found in await searched(store, audience, CANARY)] == [memory.id]
    assert not await bring_back(store, memory.id, audience)
    assert not any(CANARY in line.text for line in await store.events.between(memory.chat_id, 0, 10**6))


async def test_undo_is_over_when_its_days_are(store: Store) -> None:
    memory, audience = await told_everywhere(store)
    await drop(store, memory, days=7)
    assert not await bring_back(store, memory.id, audience, at=NOW + 7 * DAY)


async def test_undo_leaves_one_where_the_same_was_told_again_meanwhile(store: Store) -> None:
    memory, audience = await told_everywhere(store)
    await drop(store, memory)
    again = await keep(store, SECRET)
    assert again != memory.id
    assert await bring_back(store, memory.id, audience)
    assert [m.id for m in await store.memories.owned(memory.owner_id or 0, audience)] == [memory.id]


async def test_a_private_memory_is_scrubbed_in_every_private_chat_of_its_owner(engine: Engine, store: Store) -> None:
    await keep(store, SECRET)
    await talk(store, "我的卡号是多少", f"是{CANARY}", ANN_TOO)
    person, chat, _ = await ids(store)
    (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
    await drop(store, memory)
    assert set(engine.holding(CANARY)) <= {"memory.text", "memory.folded"}


async def test_a_log_on_which_a_turn_runs_is_scrubbed_when_the_turn_ends(engine: Engine, store: Store) -> None:
    await keep(store, SECRET)
    await talk(store, "我的卡号是多少", f"是{CANARY}", ANN_TOO)
    running = await begin(store, "那好", ANN_TOO)
    person, chat, _ = await ids(store)
    (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
    await drop(store, memory)
    epoch = await store.sessions.epoch(running.turn.session_id)
    assert epoch is not None
    assert epoch.stale == "forgotten"
    assert epoch.entries
    await store.turns.say(reply(running, "嗯"), NOW)
    assert set(engine.holding(CANARY)) <= {"memory.text", "memory.folded"}


async def test_other_people_and_other_things_stay(store: Store) -> None:
    bob = Where("bob", "the-group", "group")
    coffee = await keep(store, "我喜欢喝咖啡", GROUP)
    tea = await keep(store, "我喜欢喝茶", GROUP)
    bobs = await keep(store, "我喜欢喝咖啡", bob)
    for text in ("我喜欢喝茶", "今天喝什么", "i like tea", "咖啡店在哪"):
        await say(store, text, GROUP)
    person, chat, _ = await ids(store, GROUP)
    audience = Audience(chat, "group", (person,))
    memory = next(m for m in await store.memories.owned(person, audience) if m.id == coffee)
    await drop(store, memory, GROUP)
    lines = {line.text for line in await store.events.between(chat, 0, 10**6)}
    assert {"我喜欢喝茶", "今天喝什么", "i like tea", "咖啡店在哪", "记住 我喜欢喝茶", "记住 我喜欢喝咖啡"} <= lines
    assert {m.id for m in await layers(store, audience)} == {tea, bobs}


async def test_a_forgotten_name_of_three_letters_does_not_take_every_word_with_it(store: Store) -> None:
    await keep(store, "Ann", slot="address")
    for text in ("we planned it", "the channel", "call me Ann please"):
        await say(store, text)
    person, chat, _ = await ids(store)
    (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
    await drop(store, memory)
    lines = {line.text for line in await store.events.between(chat, 0, 10**6)}
    assert {"we planned it", "the channel"} <= lines
    assert "call me Ann please" not in lines


async def test_what_waited_to_be_sent_and_says_it_is_not_sent_nor_tried_again(store: Store) -> None:
    memory, _ = await told_everywhere(store)
    taken = None
    while taken is None or CANARY not in taken.text:
        taken = await store.outbox.take(memory.chat_id, NOW)
        assert taken is not None
        if CANARY not in taken.text:
            await store.outbox.sent(taken.chat_id, taken.outbox_id, (), NOW)
    await drop(store, memory)
    await store.outbox.not_sent(taken.chat_id, taken.outbox_id, "away", NOW + 1)
    left = []
    while (outgoing := await store.outbox.take(memory.chat_id, NOW + DAY)) is not None:
        left.append(outgoing.text)
        await store.outbox.sent(outgoing.chat_id, outgoing.outbox_id, (), NOW)
    assert left == [f"ok #{memory.id} 0"]


async def test_a_command_that_comes_again_after_a_crash_changes_nothing(engine: Engine, store: Store) -> None:
    memory, audience = await told_everywhere(store)
    person, chat, event = await ids(store)
    once = receipt(event, chat, "event:once")
    forgetting = Forgetting((memory,), person, NOW + DAY)
    first = await store.memories.forget(forgetting, once, NOW)
    assert await bring_back(store, memory.id, audience)
    before = engine.peek.events.count()
    assert await store.memories.forget(forgetting, once, NOW) == first
    assert await store.memories.answer(once, NOW) == first
    assert [m.id for m in await store.memories.owned(person, audience)] == [memory.id]
    assert engine.peek.events.count() == before
