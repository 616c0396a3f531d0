"""The child of the ledger's kill test: fifty at once reserve, settle, charge and release near a limit, for ever.

`python -m tests.kill_ledger FOLDER SEED`; it says each reservation and each end of one after its commit.
"""

import asyncio
import random
import sys
from pathlib import Path

from bot.core.errors import OverBudget
from bot.core.models import BudgetLimits, Usage
from bot.store.ledger import Settlement
from bot.store.store import Store, open_store
from tests.kill import tell
from tests.storing import NOW, room_for, talk

LIMITS = BudgetLimits(1.0, None, 20_000, None)
"""A day's money and tokens."""


async def work(folder: Path, seed: int) -> None:
    """Fifty spenders at once, until killed or until nothing fits any more; then it only waits."""
    async with await open_store(folder) as store:
        await store.turns.lost_calls(NOW)
        session = (await talk(store, "你好", "你好呀")).turn.session_id
        tell("ready", 0)
        await asyncio.gather(*(live(store, session, random.Random(f"{seed} {number}")) for number in range(50)))
        await asyncio.Event().wait()


async def live(store: Store, session: int, chance: random.Random) -> None:
    """One spender: every call costs at most what was reserved for it."""
    refused = 0
    while refused < 20:
        tokens, cost = chance.randrange(1, 400), chance.random() / 50
        try:
            call = await store.ledger.reserve(session, room_for(tokens, cost, LIMITS), NOW)
        except OverBudget:
            refused += 1
            continue
        tell("reserve", call.id)
        match chance.randrange(4):
            case 0:
                await store.ledger.charge(call.id, NOW)
            case 1 | 2:
                await store.ledger.release(call.id, NOW)
            case _:
                usage = Usage(tokens // 2, 0, tokens // 4)
                await store.ledger.settle(Settlement(call.id, usage, cost / 2), NOW)
        tell("end", call.id)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2])))
