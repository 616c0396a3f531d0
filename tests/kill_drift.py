"""A child that keeps, finds, merges, forgets, takes back and purges at random till it is killed: the index must follow.

`python -m tests.kill_drift FOLDER SEED`; it says every operation that was done, as tests/kill.py does.
"""

import asyncio
import random
import sys
from pathlib import Path

from bot.core.memories import Visibility
from bot.core.people import Audience
from bot.store.store import Store, open_store
from tests.blank import lay, unsynced
from tests.kill import tell
from tests.storing import NOW, Where, bring_back, drop, ids, keep
from tests.test_memory_merging import derive

PLACES = (Where("ann", "dm-ann"), Where("bob", "dm-bob"), Where("ann", "g", "group"))
WORDS = tuple(f"code{number:03}" for number in range(1, 30))
"""Words that the index takes as they are, so that LIKE finds the same."""

SAYINGS = ("我喜欢喝茶", "我住在上海", "我住在北京", "I like tea", "我不喜欢喝茶")


async def work(folder: Path, seed: int) -> None:
    """For ever."""
    chance = random.Random(f"{folder.name} {seed}")
    lay(folder)
    async with await open_store(folder) as store:
        unsynced(store)
        while True:
            where = chance.choice(PLACES)
            verb = chance.choice(("keep", "keep", "find", "find", "drop", "drop", "back", "part", "purge"))
            await _do(store, verb, where, chance)
            tell(verb, 0)


async def _do(store: Store, verb: str, where: Where, chance: random.Random) -> None:
    person, chat, _ = await ids(store, where)
    audience, text = Audience(chat, where.kind, (person,)), f"{chance.choice(SAYINGS)} {chance.choice(WORDS)}"
    seen: Visibility = "private" if where.kind == "dm" else "chat"
    if verb == "keep":
        await keep(store, text, where, seen)
    elif verb == "find":
        # Without a word of its own it is what another said, and the two are merged.
        await derive(store, chance.choice((text, *SAYINGS[:2])), where, seen)
    elif verb == "purge":
        await store.memories.purge(NOW + chance.randrange(9) * 86_400_000)
    elif verb == "back":
        forgotten = await store.memories.forgotten(person, audience, NOW)
        if forgotten:
            await bring_back(store, forgotten[-1].id, audience, where)
    elif owned := await store.memories.owned(person, audience):
        memory = chance.choice(owned)
        if verb == "part":
            await store.memories.unmerge(memory, NOW)
        else:
            await drop(store, memory, where, days=chance.choice((7, None)))


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2])))
