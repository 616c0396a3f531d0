"""Near-duplicates: merged by kind, with what was before; what a person asked to keep never changes its words."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.events import Incoming
from bot.core.memories import Visibility
from bot.core.people import MemoryKind
from bot.memory.supersession import merge_rule
from bot.store.store import Store
from tests.blank import open_laid
from tests.living import DAY, active, found
from tests.storing import NOW, Where, holding, ids, keep, look, receipt, statement
from tests.world import World


async def test_a_digest_does_not_store_again_what_a_person_asked_to_keep(world: World) -> None:
    await world.say("记住我对花生过敏")
    await found(world, "小王对花生过敏", "identity")
    assert active(world, "text, asked, importance") == [("我对花生过敏", 1, 2)]
    await world.say(".ai mem #1")
    assert "又说到：“小王对花生过敏”" in world.replies[-1]


async def test_what_is_asked_for_takes_in_what_was_only_found(world: World) -> None:
    await found(world, "我对花生过敏")
    await world.say("记住我对花生过敏哦！")
    assert len(active(world)) == 1
    await found(world, "我喜欢吃香菜")
    await world.say("记住我不喜欢吃香菜")
    assert ("我喜欢吃香菜",) not in active(world)
    assert ("我不喜欢吃香菜",) in active(world)


async def test_what_contradicts_what_was_asked_for_stands_beside_it(world: World) -> None:
    await world.say("记住我喜欢吃香菜")
    await found(world, "我不喜欢吃香菜了")
    assert active(world, "text, asked") == [("我喜欢吃香菜", 1), ("我不喜欢吃香菜了", 0)]


async def test_a_new_value_corrects_the_old_one_and_can_be_taken_back(world: World) -> None:
    await found(world, "我住在上海")
    await found(world, "我住在北京")
    assert active(world) == [("我住在北京",)]
    await world.say(".ai mem #1")
    assert "更正：“我住在北京”" in world.replies[-1]
    assert "原来是“我住在上海”" in world.replies[-1]
    await world.say(".ai mem unmerge #1")
    assert active(world) == [("我住在上海",), ("我住在北京",)]
    await world.say(".ai mem unmerge #1")
    assert world.replies[-1] == "#1“我住在上海”没有合并过"
    await found(world, "我住在广州")
    assert ("我住在上海",) in active(world)


async def test_what_says_more_than_an_older_statement_stands_for_itself(world: World) -> None:
    await found(world, "每个周末都去游泳馆游泳，和妹妹一起")
    await found(world, "每个周末都去游泳馆游泳，和弟弟一起")
    assert len(active(world)) == 2
    await found(world, "每个周末都去游泳馆游泳，和弟弟一起呀")
    assert len(active(world)) == 2


async def test_the_same_event_on_another_day_is_another_event(world: World) -> None:
    await found(world, "去人民医院看了牙医", "event")
    await found(world, "去人民医院看了牙医呀", "event")
    assert len(active(world)) == 1
    await world.wait(DAY)
    await found(world, "又去人民医院看了牙医", "event")
    assert len(active(world)) == 2


async def test_forgetting_reaches_what_a_memory_said_before(world: World) -> None:
    await found(world, "我住在上海静安区")
    await found(world, "我住在北京")
    await world.say("忘记 #1")
    assert holding(world.folder, "静安") == []
    await world.wait(8 * DAY)
    assert world.peek.merged.count() == 0


async def test_a_deleted_message_takes_the_merge_it_proved(world: World) -> None:
    await world.say("记住我对花生过敏")
    await found(world, "小王对花生过敏", external_id="m9")
    assert world.peek.merged.count() == 1
    said = world.message("")
    await world.app.ingest.accept(Incoming(said.place, said.sender, "event", "", "delete", target="m9"))
    await world.settled()
    assert world.peek.merged.count() == 0
    assert active(world) == [("我对花生过敏",)]


async def derive(store: Store, text: str, where: Where, seen: Visibility, kind: MemoryKind = "knowledge") -> None:
    """A digest finds it."""
    person, chat, event = await ids(store, where)
    new = statement(text, person, chat, seen, source="digest", kind=kind, events=(event,))
    rule = merge_rule({})
    await store.memories.remember(new, receipt(event, chat, f"event:{event}"), NOW, rule)


SAYINGS = ("我住在上海", "我住在北京", "我喜欢喝茶", "我喜歡喝茶", "我不喜欢喝茶", "I like tea", "I don't like tea")
PLACES = (Where("ann", "dm-ann"), Where("bob", "dm-bob"), Where("ann", "g", "group"), Where("bob", "g", "group"))
STEPS = st.lists(st.tuples(st.sampled_from(SAYINGS), st.sampled_from(PLACES), st.booleans()), max_size=10)


@settings(max_examples=5)
@given(STEPS)
def test_merges_cross_no_owner_no_chat_and_change_no_word_of_what_was_asked_for(
    steps: list[tuple[str, Where, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_walk(Path(folder) / "data", steps))


async def _walk(folder: Path, steps: list[tuple[str, Where, bool]]) -> None:
    asked: set[tuple[str, Where]] = set()
    async with await open_laid(folder) as store:
        people = {where: await ids(store, where) for where in PLACES}
        for text, where, asks in steps:
            seen: Visibility = "private" if where.kind == "dm" else "chat"
            if asks:
                await keep(store, text, where, seen)
                asked.add((text.replace("喜歡", "喜欢"), where))
            else:
                await derive(store, text, where, seen)
        for text, where in asked:
            person, chat, _ = people[where]
            rows = look(
                folder,
                "SELECT replace(text, '喜歡', '喜欢') FROM memory WHERE asked = 1 AND owner_id = ? AND "
                "chat_id = ? AND disabled_at IS NULL",
                person,
                chat,
            )
            assert (text,) in rows
        crossed = look(
            folder,
            "SELECT 1 FROM merged JOIN memory ON memory.id = memory_id JOIN edge ON edge.kind = 'merge' AND "
            "edge.derived_id = merged.id JOIN event ON event.id = event_id "
            "WHERE event.person_id <> memory.owner_id OR event.chat_id <> memory.chat_id",
        )
        assert crossed == []
