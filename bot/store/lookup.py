"""One thing by its number, for an audience: a memory with its sources, a line of the transcript with those around it.

What an audience may see is decided in the query, lines by the index of what may come back.
"""

from bot.store.database import Repository
from bot.store.documents import scopes_of
from bot.store.events import EVENT, event_of
from bot.store.memories import visible
from bot.store.rows import MEMORY, marks, memory_of
from bot.types.event import Event
from bot.types.memory import Memory
from bot.types.people import Audience

SOURCES = 3
"""A memory made from more lines than this was drawn from a whole talk: none of them is its source."""

HEARD = "SELECT ref FROM doc WHERE kind = 'line' AND scope IN ({scopes})"


class Lookup(Repository):
    """Reads single things."""

    async def memory(self, audience: Audience, number: int) -> Memory | None:
        """An active memory that this audience may see."""
        where, params = visible(audience)
        row = await self._database.row(
            f"{MEMORY}WHERE memory.id = ? AND disabled_at IS NULL AND {where}", (number, *params)
        )
        return memory_of(row) if row is not None else None

    async def sources(self, audience: Audience, memory_id: int) -> tuple[Event, ...]:
        """The lines that a memory was told in, oldest first, as far as this audience may see them."""
        scopes = scopes_of(audience)
        heard = HEARD.format(scopes=marks(scopes))
        rows = await self._database.rows(
            f"{EVENT}WHERE id IN (SELECT event_id FROM edge WHERE edge.kind = 'memory' AND derived_id = ?) "
            f"AND id IN ({heard}) AND (SELECT count(*) FROM edge WHERE edge.kind = 'memory' AND derived_id = ?) <= ? "
            "ORDER BY id",
            (memory_id, *scopes, memory_id, SOURCES),
        )
        return tuple(event_of(row) for row in rows)

    async def around(self, audience: Audience, number: int, reach: int) -> tuple[Event, ...]:
        """A line and at most `reach` before and after it in its chat, in order; none that this audience may not see."""
        scopes = scopes_of(audience)
        heard = HEARD.format(scopes=marks(scopes))
        here = "chat_id = (SELECT chat_id FROM doc WHERE kind = 'line' AND ref = ?1)"
        numbered = heard.replace("?", "{}").format(*(f"?{place}" for place in range(3, 3 + len(scopes))))
        rows = await self._database.rows(
            f"{EVENT}WHERE id IN (SELECT ref FROM (SELECT ref FROM ({numbered} AND {here} AND ref <= ?1) "
            f"ORDER BY ref DESC LIMIT ?2 + 1) UNION SELECT ref FROM (SELECT ref FROM ({numbered} AND {here} "
            f"AND ref > ?1) ORDER BY ref LIMIT ?2)) AND ?1 IN ({numbered}) ORDER BY id",
            (number, reach, *scopes),
        )
        if not rows and audience.alone is not None:  # said in a group: their own words, and nobody else's
            own = "SELECT ref FROM doc WHERE kind = 'line' AND ref = ? AND person_id = ?"
            rows = await self._database.rows(f"{EVENT}WHERE id IN ({own})", (number, audience.alone))
        return tuple(event_of(row) for row in rows)
