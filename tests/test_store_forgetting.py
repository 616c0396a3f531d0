"""忘记: found nowhere afterwards; 撤销 brings the statement back, and 彻底忘记 leaves nothing, not even in the files."""

from pathlib import Path

import pytest

from bot.core.errors import StoreError
from bot.core.events import Draft
from bot.core.memories import Memory
from bot.core.people import Audience
from bot.core.sessions import Digest
from bot.core.tools import ToolAnswer, ToolOutcome
from bot.store.digests import Digested
from bot.store.forget import Forgetting
from bot.store.store import Store
from bot.store.tombstones import Tombstones
from tests.blank import open_laid
from tests.storing import (
    DAY,
    NOW,
    Where,
    begin,
    bring_back,
    drop,
    holding,
    ids,
    in_files,
    keep,
    layers,
    look,
    receipt,
    reply,
    say,
    searched,
    sound,
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
    await store.outbox.answer(command.chat_id, command.id, Draft(f"… {CANARY} …", "command"), NOW)
    person, chat, _ = await ids(store)
    audience = Audience(chat, "dm", (person,))
    return next(m for m in await store.memories.owned(person, audience) if m.id == number), audience


async def test_what_was_forgotten_is_found_in_no_table_but_the_row_kept_for_undo(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        assert len(holding(tmp_path, CANARY)) >= 8
        await drop(store, memory)
        assert set(holding(tmp_path, CANARY)) <= {"memory.text", "memory.folded"}
        kept = look(tmp_path, "SELECT disabled_reason FROM memory WHERE instr(text, ?) ORDER BY 1", CANARY)
        assert kept == [("asked",), ("derived",), ("derived",)]
        assert await searched(store, audience, CANARY) == ()
        assert await store.memories.owned(memory.owner_id or 0, audience) == ()
        lines = await store.events.between(memory.chat_id, 0, 10**6)
        assert {"在吗", "在呀", "帮我查一下"} <= {line.text for line in lines}
        assert sound(tmp_path) == []


async def test_the_session_of_a_scrubbed_digest_is_to_be_digested_again_once(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        assert (await store.deadlines.look(NOW + 1))[0] == (
            ("outbox", memory.chat_id), ("roll", memory.chat_id), ("tidy", 0), ("life", 0)
        )  # fmt: skip
        await drop(store, memory)
        session = await store.sessions.session(1)
        assert ("digest", session.id) in (await store.deadlines.look(NOW + 1))[0]
        again = Digested(session, Digest("聊了天", (), "rule"), memory.owner_id, ("Ann",), ())
        assert await store.digests.store(again, NOW)
        assert not await store.digests.store(again, NOW)
        assert [d.summary for d in await store.digests.told(audience, 1, 0)] == ["聊了天"]


async def test_a_digest_made_while_its_lines_were_forgotten_is_not_stored_and_stays_due(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
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
        assert holding(tmp_path, CANARY) == ["memory.text", "memory.folded"]


async def test_forgotten_for_good_leaves_nothing_in_any_file(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, _ = await told_everywhere(store)
        assert in_files(tmp_path, CANARY)
        store.tombstones.add_tombstone(memory.id, memory.text, NOW)
        await drop(store, memory, days=None)
        assert holding(tmp_path, CANARY) == []
        assert in_files(tmp_path, CANARY) == []
    assert in_files(tmp_path, CANARY) == []
    assert sound(tmp_path) == []


async def test_after_the_days_for_undo_nothing_is_left_in_any_file(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        for number in range(60):
            await keep(store, f"第{number}件小事 {CANARY}{number}")
        person, chat, _ = await ids(store)
        for memory in await store.memories.owned(person, Audience(chat, "dm", (person,))):
            await drop(store, memory)
        assert await store.deadlines.next(NOW + DAY) == NOW + 7 * DAY
        assert await store.forgetting.purge(NOW + 7 * DAY - 1) == 0
        assert await store.forgetting.purge(NOW + 7 * DAY) == 60
        assert holding(tmp_path, CANARY) == []
        assert in_files(tmp_path, CANARY) == []


async def test_undo_brings_the_statement_back_but_not_the_lines(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        await drop(store, memory)
        last = await store.undo.forgotten(memory.owner_id or 0, audience, NOW)
        assert [each.id for each in last] == [memory.id]
        assert await bring_back(store, memory.id, audience)
        assert [found.id for found in await searched(store, audience, CANARY)] == [memory.id]
        assert not await bring_back(store, memory.id, audience)
        assert not any(CANARY in line.text for line in await store.events.between(memory.chat_id, 0, 10**6))


async def test_undo_is_over_when_its_days_are(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        await drop(store, memory, days=7)
        assert not await bring_back(store, memory.id, audience, at=NOW + 7 * DAY)


async def test_undo_leaves_one_where_the_same_was_told_again_meanwhile(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        await drop(store, memory)
        again = await keep(store, SECRET)
        assert again != memory.id
        assert await bring_back(store, memory.id, audience)
        assert [m.id for m in await store.memories.owned(memory.owner_id or 0, audience)] == [memory.id]


async def test_a_private_memory_is_scrubbed_in_every_private_chat_of_its_owner(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await keep(store, SECRET)
        await talk(store, "我的卡号是多少", f"是{CANARY}", ANN_TOO)
        person, chat, _ = await ids(store)
        (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
        await drop(store, memory)
        assert set(holding(tmp_path, CANARY)) <= {"memory.text", "memory.folded"}


async def test_a_log_on_which_a_turn_runs_is_scrubbed_when_the_turn_ends(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
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
        assert set(holding(tmp_path, CANARY)) <= {"memory.text", "memory.folded"}


async def test_other_people_and_other_things_stay(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
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


async def test_a_forgotten_name_of_three_letters_does_not_take_every_word_with_it(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await keep(store, "Ann", slot="address")
        for text in ("we planned it", "the channel", "call me Ann please"):
            await say(store, text)
        person, chat, _ = await ids(store)
        (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
        await drop(store, memory)
        lines = {line.text for line in await store.events.between(chat, 0, 10**6)}
        assert {"we planned it", "the channel"} <= lines
        assert "call me Ann please" not in lines


async def test_what_waited_to_be_sent_and_says_it_is_not_sent_nor_tried_again(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, _ = await told_everywhere(store)
        taken = None
        while taken is None or CANARY not in taken.text:
            taken = await store.outbox.take(memory.chat_id, NOW)
            assert taken is not None
            if CANARY not in taken.text:
                await store.outbox.sent(taken.outbox_id, (), NOW)
        await drop(store, memory)
        await store.outbox.not_sent(taken.outbox_id, "away", NOW + 1)
        left = []
        while (outgoing := await store.outbox.take(memory.chat_id, NOW + DAY)) is not None:
            left.append(outgoing.text)
            await store.outbox.sent(outgoing.outbox_id, (), NOW)
        assert left == [f"ok #{memory.id} 0"]


async def test_a_command_that_comes_again_after_a_crash_changes_nothing(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        memory, audience = await told_everywhere(store)
        person, chat, event = await ids(store)
        once = receipt(event, chat, "event:once")
        forgetting = Forgetting((memory,), person, NOW + DAY)
        first = await store.forgetting.forget(forgetting, once, NOW)
        assert await bring_back(store, memory.id, audience)
        before = look(tmp_path, "SELECT count(*) FROM event")
        assert await store.forgetting.forget(forgetting, once, NOW) == first
        assert await store.memories.answer(once, NOW) == first
        assert [m.id for m in await store.memories.owned(person, audience)] == [memory.id]
        assert look(tmp_path, "SELECT count(*) FROM event") == before


def test_tombstones_hold_no_text_outlive_the_process_and_are_lifted_by_a_fresh_wish(tmp_path: Path) -> None:
    stones = Tombstones(tmp_path)
    assert not stones.covers(SECRET)
    stones.add_tombstone(1, SECRET, NOW)
    stones.add_tombstone(2, "我喜歡貓", NOW)
    assert in_files(tmp_path, CANARY) == []
    assert in_files(tmp_path, "喜歡") == []
    again = Tombstones(tmp_path)
    assert again.covers(SECRET.upper())
    assert again.covers("我喜欢猫")
    assert not again.covers("我喜欢狗")
    again.remove_tombstone("我喜欢猫", NOW)
    assert not Tombstones(tmp_path).covers("我喜歡貓")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_half_a_tombstone_from_a_power_cut_hurts_neither_the_others_nor_the_next(tmp_path: Path) -> None:
    stones = Tombstones(tmp_path)
    stones.add_tombstone(1, "甲", NOW)
    with (tmp_path / "tombstones.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "mac": ["abc"]}\n{"id": 2, "mac": "abc')
    again = Tombstones(tmp_path)
    again.add_tombstone(3, "乙", NOW)
    last = Tombstones(tmp_path)
    assert last.covers("甲")
    assert last.covers("乙")


def test_tombstones_without_their_key_are_an_error_not_a_silence(tmp_path: Path) -> None:
    Tombstones(tmp_path).add_tombstone(1, "甲", NOW)
    (tmp_path / "tombstones.key").unlink()
    with pytest.raises(StoreError, match=r"tombstones\.key"):
        Tombstones(tmp_path)
