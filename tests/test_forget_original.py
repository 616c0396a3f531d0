"""What a model put into other words is forgotten in both: the statement, and the sentence that was said."""

import json

import pytest

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer
from tests.noting import dm, found, look, notes, on_disk, put
from tests.storing import holding
from tests.test_own_words import obeys
from tests.world import World

CANARY = "紫藤zwk7731"
SAID = f"每回路过{CANARY}那家店我都会打喷嚏流眼泪"
CLEAN = "我路过那家店会打喷嚏流眼泪"


async def rewritten(new_world: NewWorld, **more: object) -> World:
    """A nuan that was told SAID, which its model put into the words of CLEAN."""
    world = await new_world(memory={"rewrite": True, "inject": "both"}, **more)

    def script(request: ModelRequest) -> Answer:
        if request.prompt.tools:
            return f"知道了，{CANARY}那家店要绕着走"
        return json.dumps({"status": "ok", "text": CLEAN}, ensure_ascii=False)

    world.model.script = script
    await world.say(f"记住{SAID}", external_id="m1")
    assert world.peek.memories("text", "original") == [(CLEAN, SAID)]
    return world


def tombstoned(world: World) -> list[bool]:
    """Whether an import could bring either back."""
    return [world.store.tombstones.covers(text) for text in (CLEAN, SAID)]


async def test_by_its_number_the_sentence_goes_out_of_digests_notes_replies_and_logs(new_world: NewWorld) -> None:
    world = await rewritten(new_world)
    put(world, "MEMORY.md", f"# 我\n\n- 路过{CANARY}会打喷嚏\n- 喜欢荷花\n")
    await world.say("今天出门了")
    await world.say("/new")
    await look(world)
    assert found(world, dm(world), CANARY)
    await world.say("忘记 #1")
    assert tombstoned(world) == [True, True]
    assert set(holding(world.folder, CANARY)) <= {"memory.text", "memory.folded", "memory.original"}
    assert CANARY not in "".join(notes(world).values())
    assert found(world, dm(world), CANARY) == []
    world.model.script = lambda request: "好"
    since = len(world.prompts)
    await world.say("/new")
    await world.say("早上好")
    assert CANARY not in str(world.prompts[since:])


@pytest.mark.parametrize("wish", ["忘记这条", "彻底忘记"])
async def test_by_a_reply_both_are_forgotten_for_good(new_world: NewWorld, wish: str) -> None:
    world = await rewritten(new_world)
    await world.say(wish, target="m1")
    assert tombstoned(world) == [True, True]


async def test_by_the_tool_both_are_forgotten_for_good_and_taking_it_back_lifts_both(new_world: NewWorld) -> None:
    world = await rewritten(new_world)
    obeys(world, ("forget", {"id": "1"}))
    await world.say("关于我路过那家店会打喷嚏流眼泪的那件事，麻烦你把它从脑子里抹了呗")
    assert tombstoned(world) == [True, True]
    world.model.script = lambda request: "好的"
    await world.say("撤销")
    assert world.peek.memories("text", "original", disabled_at=None) == [(CLEAN, SAID)]
    assert tombstoned(world) == [False, False]


async def test_a_deleted_message_buries_both(new_world: NewWorld) -> None:
    world = await rewritten(new_world)
    message = world.message("", target="m1")
    await world.app.ingest.accept(type(message)(message.place, None, "event", "", "delete", target="m1"))
    await world.app.settled()
    assert tombstoned(world) == [True, True]


async def test_an_edit_leaves_nothing_of_the_sentence_that_was_said_before(new_world: NewWorld) -> None:
    world = await rewritten(new_world)
    sent = world.message("记住我喜欢荷花", target="m1")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", sent.text, "edit", target="m1"))
    await world.app.settled()
    assert world.peek.memories("text", "original", disabled_at=None) == [("我喜欢荷花", "")]


async def test_forgotten_for_good_its_words_are_in_no_file(new_world: NewWorld) -> None:
    """Database, write-ahead log, shadow tables of the index, notes, receipts, logs: all that lies in the folder."""
    world = await rewritten(new_world, notes={"on_new": True})
    await world.say(f"你还记得{CANARY}吗")
    await world.say("/new")
    await look(world)
    await world.say("我刚说的那件事呢")
    assert world.rows("SELECT count(*) > 0 FROM told_item") == [(1,)]
    assert on_disk(world, CANARY)
    world.model.script = lambda request: "好"
    await world.say("彻底忘记 #1")
    assert holding(world.folder, CANARY) == holding(world.folder, CLEAN) == []
    assert on_disk(world, CANARY) == on_disk(world, CLEAN) == []
    await world.say("还好吗")
    await world.say("/new")
    await world.close()
    assert on_disk(world, CANARY) == on_disk(world, CLEAN) == []
    await world.open()


async def test_after_the_days_for_undo_its_words_are_in_no_file(new_world: NewWorld) -> None:
    world = await rewritten(new_world)
    world.model.script = lambda request: "好"
    await world.say("忘记 #1")
    assert on_disk(world, CANARY)
    await world.wait(7 * 86_400 + 60)
    assert holding(world.folder, CANARY) == []
    assert on_disk(world, CANARY) == on_disk(world, CLEAN) == []
