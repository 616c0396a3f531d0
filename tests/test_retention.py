"""What is kept ends some day: of every table it is known how, and old talk takes along what was made of it."""

import pytest

from bot.core.events import Attachment
from tests.conftest import NewWorld
from tests.noting import look, notes
from tests.peek import Other
from tests.storing import in_files
from tests.test_erase import tables
from tests.world import World

DAY = 86_400
SALARY = "四万一千"

ENDS = {
    "ids_days": "reminder effect outbox link linked",
    "transcript_days": "attachment told_item turn_memory feedback sent section_round",
    "log_days": "entry",
    "memory.life.archive_days": "merged",
    "dialogue_days": "digest talker",
    "memory.commitment_days": "commitment",
    "with what they belong to": "doc doc_text posting edge vector note_chunk note_line rewriting",
    "when they are forgotten, tidied away, or their file goes": "memory note",
    "with the approval or the day that they are of": "outside_grant outside_day outside_server",
    "until their plugin lets go of it, or whoever had it kept is erased": "plugin_value",
    "when they are over": "conversation_window code question reminder_question lately linking",
    "one row of each person, chat or model": "person account chat place member counting heartbeat joining rush "
    "chat_context told trace",
    "one row of what the program itself is": "meta",
    "while a process works there": "process chat_lease lease",
    "one row of each key, until it is taken back": "setting recount",
    "counts_days": "event session participant epoch turn turn_event call prefix spent",
}
"""By which setting, or when, the rows of each table go."""


def test_of_every_table_it_is_said_how_its_rows_end() -> None:
    assert set(tables()) == {table for tables in ENDS.values() for table in tables.split()}


async def old_talk(new_world: NewWorld) -> World:
    """A talk, with a picture and something remembered, that is older than what was said is kept."""
    world = await new_world(retention={"transcript_days": 2, "ids_days": 2, "log_days": 1}, notes={"on_new": True})
    await world.say("记住我喜欢荷花")
    picture = (Attachment("file", "h", "荷花.bin", "application/x", 3),)
    await world.say("你看这个荷花", attachments=picture, external_id="m1")
    sent = str(world.talk.said[-1].outbox_id)
    reaction = world.message("👍", target=sent)
    await world.app.ingest.accept(
        type(reaction)(reaction.place, reaction.sender, "event", "👍", "reaction", target=sent)
    )
    await world.app.settled()
    await world.say("/new")
    await look(world)
    for table in ENDS["transcript_days"].split():
        assert world.rows(f"SELECT count(*) > 0 FROM {table}") == [(1,)], table
    await world.wait(5 * DAY)
    return world


async def test_with_the_transcript_goes_all_that_was_made_of_it_and_told_in_it(new_world: NewWorld) -> None:
    world = await old_talk(new_world)
    for table in (*ENDS["transcript_days"].split(), *ENDS["ids_days"].split(), "entry"):
        assert world.rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert world.peek.memories("text", disabled_at=None) == [("我喜欢荷花",)]
    assert "你看这个荷花" in "".join(notes(world).values()), "notes stay, as memories do"
    await world.say("在吗")
    assert world.rows("SELECT count(*) > 0 FROM told_item") == [(1,)]


async def test_a_turn_that_is_not_over_keeps_what_it_was_told(new_world: NewWorld) -> None:
    world = await new_world(retention={"transcript_days": 1})
    await world.say("记住我喜欢荷花")
    world.shut()
    await world.app.ingest.accept(world.message("聊聊荷花吧"))
    await world.held()
    told = world.rows("SELECT count(*) FROM told_item")
    await world.store._database.write(lambda db: db.execute("UPDATE turn SET asked_at = 1").rowcount)
    await world.store._database.write(
        lambda db: db.execute("UPDATE meta SET value = '0' WHERE key = 'tidy_at'").rowcount
    )
    world.app.look()
    await world.held()
    assert world.rows("SELECT count(*) FROM told_item") == told != [(0,)]
    await world.let_answer()


async def test_what_is_forgotten_later_goes_out_of_the_note_of_an_old_talk_too(new_world: NewWorld) -> None:
    world = await new_world(retention={"transcript_days": 2}, notes={"on_new": True})
    world.model.digests = True
    said = "上周末爬香山的时候把手机摔坏了，真心疼"
    fact = '{"summary": "聊了周末", "statements": [{"kind": "event", "text": "爬香山摔坏手机", "from": [1]}]}'
    world.model.script = lambda request: "嗯嗯" if request.prompt.tools else fact
    for text in (said, "后来去修了两次都没修好", "店里说要换整块屏幕", "我想干脆买个新的算了", "你觉得买哪个好呢"):
        await world.say(text)
    await world.say("/new")
    await look(world)
    ((number,),) = world.peek.memories("id", source="digest")
    await world.store._database.write(
        lambda db: (
            db.execute("UPDATE memory SET text = '手机屏碎', folded = '手机屏碎' WHERE id = ?", (number,)).rowcount
        )
    )
    await world.wait(4 * DAY)
    assert world.peek.events.count(text=Other(""), kind="message") == 0
    assert said in "".join(notes(world).values())
    await world.say(f"忘记 #{number}")
    assert said not in "".join(notes(world).values())


async def test_a_name_that_another_took_the_place_of_is_gone_after_its_days(new_world: NewWorld) -> None:
    world = await new_world(memory={"life": {"archive_days": 3}})
    await world.say("叫我小石榴")
    await world.say("叫我阿明")
    assert world.peek.memories("text", "disabled_reason") == [("小石榴", "replaced"), ("阿明", "")]
    await world.wait(2 * DAY)
    assert world.peek.memories.count() == 2
    await world.wait(3 * DAY)
    assert world.peek.memories("text") == [("阿明",)]


async def test_rows_that_only_count_go_after_their_days_and_what_was_spent_stays(new_world: NewWorld) -> None:
    """More than a year of rows would be the only thing that grows for ever."""
    world = await new_world(model={"price_input": 2.0, "price_output": 8.0}, session={"idle_seconds": 60})
    await world.say("记住我喜欢荷花")
    for number in range(6):
        await world.say(f"今天第{number}次下雨了")
        await world.say("小暖，下雨了", "阿明", "闲聊")
        await world.wait(90)
    spent = await world.store.ledger.spend(0)
    assert spent.calls == 12
    await world.close()
    world.away(150 * DAY)
    await world.open()
    assert world.peek.turns.count() == 12
    await world.close()
    world.away(260 * DAY)
    await world.open()
    assert world.rows("SELECT count(*) FROM event WHERE id NOT IN (SELECT event_id FROM edge)") == [(0,)]
    for table in ("turn", "turn_event", "epoch", "prefix"):
        assert world.rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert world.rows("SELECT max(number), count(*) FROM session GROUP BY chat_id") == [(6, 1), (6, 1)]
    assert world.peek.calls("calls") == [(6,), (6,)]
    after = await world.store.ledger.spend(0)
    assert (after.calls, after.tokens, round(after.money, 9)) == (12, spent.tokens, round(spent.money, 9))
    assert after.money
    await world.say("我喜欢什么花？")
    assert "荷花" in world.sent
    assert world.rows("SELECT max(number) FROM session WHERE chat_id = 1") == [(7,)]
    await world.say("忘记我喜欢荷花")
    assert world.peek.memories.count(disabled_at=None) == 0
    assert world.log.named("deadline_failed") == []


@pytest.mark.parametrize("by_model", [True, False])
async def test_what_is_to_be_kept_nowhere_is_gone_from_the_disk_when_its_talk_is_over(
    new_world: NewWorld, by_model: bool
) -> None:
    """Line, answer, receipt, log and outbox; what stands beside it stays, and an export does not tell it before."""
    world = await new_world()
    world.model.script = lambda request: (
        f"{SALARY}，不少了" if by_model and SALARY in request.prompt.messages[-1].content else "嗯"
    )
    await world.say(f"我的工资是{SALARY}")
    await world.say("别记这个")
    await world.say("我喜欢喝茶")
    assert in_files(world.folder, SALARY)
    await world.wait(3 * DAY)
    await world.say("早")
    await world.wait(DAY)
    assert in_files(world.folder, SALARY) == []
    assert in_files(world.folder, "我喜欢喝茶")
