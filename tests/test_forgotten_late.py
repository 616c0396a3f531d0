"""The model answers after the forgetting: nothing that it was told before then comes back by its answer.

Replies are in test_forgotten_calls.py, vectors in test_vectors.py.
"""

import json

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer
from tests.noting import notes, on_disk
from tests.storing import holding
from tests.test_flush import asked
from tests.test_note_edits import flush_under_way
from tests.world import World

CANARY = "紫藤zwk7731"
SAID = f"我住在{CANARY}路口那栋楼"


async def forget(world: World, wish: str = "忘记 #1") -> None:
    """Somebody asks to forget while the model is still writing."""
    await world.app.ingest.accept(world.message(wish))
    await world.held()


def nowhere(world: World) -> bool:
    """Whether nothing is left but the row that is kept for undo, and the receipt that quotes what was forgotten."""
    left = set(holding(world.folder, CANARY)) - {"memory.text", "memory.folded", "memory.original"}
    active = world.rows("SELECT text FROM memory WHERE disabled_at IS NULL AND instr(text, ?)", CANARY)
    told = [reply for reply in world.replies[-1:] if "忘掉了" not in str(reply)]
    return not left and not active and CANARY not in str(told)


async def test_a_digest(new_world: NewWorld) -> None:
    world = await new_world()
    world.model.digests = True

    def script(request: ModelRequest) -> Answer:
        if request.prompt.tools:
            return "嗯嗯"
        told = {"type": "identity", "text": SAID, "from": [1]}
        return json.dumps({"summary": f"聊了{SAID}", "statements": [told]}, ensure_ascii=False)

    world.model.script = script
    await world.say(f"记住{SAID}。你知道怎么走吗？")
    for text in (
        "昨天路上遇到一只特别大的狗，差点吓哭了",
        "后来邻居把它牵走了，我才敢回家去",
        "你觉得我应该怎么办才好呢",
        "我想先从看照片开始慢慢练习",
    ):
        await world.say(text)
    world.shut()
    await world.app.ingest.accept(world.message("/new"))
    await world.held()
    await forget(world)
    await world.let_answer()
    await world.wait(60)
    assert world.peek.calls.count(cause="digest", state="reserved") == 0
    assert world.peek.sessions("state") == [("closed",)]
    assert nowhere(world)


async def test_a_rewrite(new_world: NewWorld) -> None:
    world = await new_world(memory={"rewrite": True})
    world.model.script = lambda request: json.dumps({"status": "ok", "text": f"家在{CANARY}"}, ensure_ascii=False)
    world.shut()
    await world.app.ingest.accept(world.message(f"记住{SAID}"))
    await world.held()
    await forget(world, "彻底忘记 #1")
    await world.let_answer()
    await world.wait(600)
    assert world.rows("SELECT count(*) FROM memory") == world.rows("SELECT count(*) FROM rewriting") == [(0,)]
    assert nowhere(world)
    assert on_disk(world, CANARY) == []


async def test_a_flush(new_world: NewWorld) -> None:
    world = await flush_under_way(new_world)
    sent = world.message("")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "message", "忘记这条", target="m0"))
    await world.held()
    await world.let_answer()
    assert len(asked(world)) == 1
    assert not (world.folder / "notes").exists()


async def test_what_is_not_to_be_recorded_is_not_kept_by_a_flush_under_way(new_world: NewWorld) -> None:
    world = await flush_under_way(new_world)
    sent = world.message("")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "message", "别记这个", target="m0"))
    await world.held()
    await world.let_answer()
    assert not (world.folder / "notes").exists() or "杭州" not in str(notes(world))
