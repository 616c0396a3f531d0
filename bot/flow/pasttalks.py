"""Past talks as an audience may be told them: what was said there, and in a DM its person's own."""

from bot.memory.dialogue import OLDEST_MS, select
from bot.store.store import Store
from bot.types.dialogue import Dialogue
from bot.types.people import Audience


async def past_talks(store: Store, audience: Audience, person_id: int, now: int) -> tuple[Dialogue, ...]:
    """What an opening tells of them, that person's own first, the newest of each first."""
    return select(await store.digests.told(audience, person_id, now - OLDEST_MS), now)
