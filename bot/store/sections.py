"""What turns found in which section of memory, as it is read.

Shares, misses and topics are worked out of the rounds when they are asked for: nothing can contradict them.
"""

import json
from collections.abc import Sequence

from bot.store.database import Repository
from bot.store.memories import visible
from bot.store.reader import Row
from bot.store.sorting import KEPT_ROUNDS, register
from bot.text.sections import Registry
from bot.types.people import Audience
from bot.types.sections import Round, Sighted

ROUNDS = (
    "SELECT turn_id, at, hits, searched, held FROM section_round WHERE EXISTS (SELECT 1 FROM turn WHERE "
    "turn.id = turn_id AND turn.state = 'said') AND chat_id = ? AND person_id = ? AND at >= ? "
    "ORDER BY turn_id DESC LIMIT ?"
)
"""Newest first; a turn that was voided found nothing."""

WHOSE = (
    "SELECT DISTINCT section_round.chat_id, person_id, kind, title, name FROM section_round "
    "JOIN chat ON chat.id = section_round.chat_id JOIN person ON person.id = person_id ORDER BY 1, 2"
)


class SectionRounds(Repository):
    """What turns found in which section."""

    async def register(self, registry: Registry) -> None:
        """From now on memories are stored in the sections of this registry."""
        stored = await self._database.row("SELECT value FROM meta WHERE key = 'sections'")
        text = registry.to_json()
        if (stored[0] if stored else Registry().to_json()) != text:
            await self._database.write(lambda db: register(db, text))

    async def rounds(self, chat_id: int, person_id: int, since: int) -> tuple[Round, ...]:
        """What a person's turns in a chat found since that instant, ms, oldest first; a damaged row is left out."""
        return rounds_of(await self._database.rows(ROUNDS, (chat_id, person_id, since, KEPT_ROUNDS)))

    async def told(self, memory_id: int, audience: Audience) -> str:
        """What a memory says, if this audience may see it and nobody forgot it; else ""."""
        where, params = visible(audience)
        row = await self._database.row(
            f"SELECT text FROM memory WHERE id = ? AND disabled_at IS NULL AND {where}", (memory_id, *params)
        )
        return str(row[0]) if row else ""

    async def all(self) -> tuple[Sighted, ...]:
        """Everybody who has rounds, by chat and person, for the operator's eyes."""
        found: list[Sighted] = []
        for chat, person, kind, title, name in await self._database.rows(WHOSE):
            where, params = visible(Audience(chat, kind, (person,)))
            sizes = await self._database.rows(
                f"SELECT section, count(*) FROM memory WHERE disabled_at IS NULL AND section <> '' AND {where} "
                "GROUP BY section",
                params,
            )
            rounds = await self.rounds(chat, person, 0)
            found.append(Sighted(chat, person, kind, title, name, rounds, {str(key): int(n) for key, n in sizes}))
        return tuple(found)


def rounds_of(rows: Sequence[Row]) -> tuple[Round, ...]:
    """Rows of ROUNDS as values, oldest first; what cannot be read is left out."""
    found = (_round(*row) for row in reversed(rows))
    return tuple(each for each in found if each is not None)


def _round(turn_id: int, at: int, hits: object, searched: object, held: object) -> Round | None:
    try:
        keys, some = json.loads(str(hits)), json.loads(str(searched))
        found = {str(key): int(memory) for key, memory in keys.items()}
        return Round(found, tuple(map(str, some)), bool(held), turn_id, at)
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
