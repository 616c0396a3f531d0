"""Memory commands of a message that is edited while it is being answered."""

import asyncio

from bot.core.events import Incoming
from tests.conftest import OpenMedia as Open
from tests.fakes.media import image


async def test_receipts_waiting_for_a_reply_are_said_alone_when_an_edit_leaves_nothing_to_reply_to(
    open_world: Open,
) -> None:
    world = await open_world()
    world.eyes.eyes_gate = asyncio.Event()
    text = "记住我对花生过敏。叫我小明。这张图里有花生吗？"
    await world.app.ingest.accept(world.message(text, attachments=(image(),), external_id="77"))
    await world.held()
    edit = world.message("记住我对花生过敏。叫我小明")
    await world.app.ingest.accept(Incoming(edit.place, edit.sender, "event", edit.text, "edit", target="77"))
    world.eyes.eyes_gate = None
    await world.crash()
    assert world.replies == ["记住啦 #1：我对花生过敏\n好，以后叫你小明 #2"]
    assert world.peek.memories("text", "disabled_at") == [("我对花生过敏", None), ("小明", None)]
