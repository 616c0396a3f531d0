"""The disk is full at the n-th page that is written, for every n: `python -m tests.torture.fulldisk FOLDER EACH SEED`.

A whole bot whose files may grow by so many pages only while one thing is said; then there is room again. What the
ingest took must have been answered once, what it refused comes again as platforms do it, and nothing is lost. A child
of its own, since the limit is one of the process. It prints what was counted.
"""

import asyncio
import json
import resource
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import StoreError
from tests.peek import In
from tests.storing import sound
from tests.world import World

FRAME_BYTES = 4_096 + 24
"""What one page takes in the log of the database; its head has 32."""

BACK_S = 30
"""How long after there is room again everything must be done (FAULTS S6)."""

ACTIVE = "SELECT 1 FROM memory WHERE disabled_at IS NULL"

STORIES = {
    "talk": "今天第{}次下雨了",
    "keep": "记住我喜欢第{}种花",
    "drop": "忘记我喜欢第{}种花",
    "remind": "5秒后提醒我收第{}次衣服",
    "close": "/new",
    "command": ".ai mem list",
}
"""What is said while there is no room; each stands for another way of writing."""


@dataclass
class Seen:
    """What came out."""

    sums: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    notes: list[str] = field(default_factory=list)


def room(count: int | None) -> None:
    """From now on no file may have more than so many bytes."""
    most = resource.RLIM_INFINITY if count is None else count
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


async def run(folder: Path, each: int, seed: int) -> Seen:
    """Every `each`-th page of every story, from `seed` on, until the story fits."""
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}})
    world, seen = await World(folder, settings).open(), Seen()
    world.model.digests = True
    world.model.script = lambda request: "好的" if request.prompt.tools else '{"summary": "下雨", "statements": []}'
    number = 0
    for story, text in STORIES.items():
        pages = seed % each
        while True:
            number += 1
            if story == "drop":
                await world.say(STORIES["keep"].format(number))
            if story == "close":
                await world.say("在吗")
            if not await full_once(world, text.format(number), pages, seen, f"{story} {pages}"):
                break
            pages += each
    await world.wait(3_600)  # a digest that failed is tried again later and later
    waiting = world.peek.events.count(state="queued")
    stuck = world.peek.outbox.count(state=In("pending", "sending"))
    undigested = world.peek.sessions.count(state="closing")
    seen.sums["left"] = int(str(waiting)) + int(str(stuck)) + int(str(undigested))
    seen.sums["health wrong"] += world.store.inspector.refusing != ""
    await world.close()
    seen.sums["damage"] = len(sound(folder))
    return seen


async def full_once(world: World, text: str, pages: int, seen: Seen, name: str) -> bool:
    """Say it with room for so many pages; whether that was too little."""
    await world.wait(1)
    await world.store._database.truncate()
    incoming = world.message(text, delivery_key=f"k{name}", external_id=f"m{name}")
    replies, errors, confirmed = len(world.replies), len(world.log.named("store_failed")), False
    room(32 + pages * FRAME_BYTES)
    try:
        confirmed = await world.app.ingest.accept(incoming)
        await world.wait(12)
        told = text.startswith("记住") and len(world.replies) > replies
        seen.sums["lies"] += told and not world.peek.memories.count(text=text[2:])
        gone = text.startswith("忘记") and len(world.replies) > replies
        seen.sums["lies"] += gone and bool(world.rows(f"{ACTIVE} AND text = ?", text[2:]))
    except StoreError:
        seen.sums["refused"] += 1
        seen.sums["health wrong"] += world.store.inspector.refusing == ""
    finally:
        room(None)
    full = not confirmed or len(world.log.named("store_failed")) > errors
    seen.sums["writes"] += 1
    seen.sums["full"] += full
    if not confirmed:
        await world.app.ingest.accept(incoming)
    since, expected = world.clock.now(), 2 if text.startswith("5秒") else 1
    while len(world.replies) - replies < expected and world.clock.now() - since < 2 * BACK_S * 1000:
        await world.wait(1)
    took = (world.clock.now() - since) / 1000
    seen.slowest_s = max(seen.slowest_s, took)
    await world.wait(BACK_S)
    stored = world.peek.events.count(text=text, kind="message")
    said = len(world.replies) - replies
    seen.sums["lost"] += stored == 0 and not text.startswith("忘记")
    seen.sums["unanswered"] += said < expected
    seen.sums["twice"] += said > expected
    if said != expected or took > BACK_S:
        seen.notes.append(f"{name}: {said} of {expected} answers, {took} s: {world.replies[replies:]}")
    if text.startswith("记住"):
        seen.sums["lies"] += world.peek.memories.count(text=text[2:]) != 1
    if text.startswith("忘记"):
        seen.sums["lies"] += bool(world.rows(f"{ACTIVE} AND text = ?", text[2:]))
    return full


if __name__ == "__main__":
    found = asyncio.run(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
    sys.stdout.write(json.dumps([found.sums, found.slowest_s, found.notes]))
