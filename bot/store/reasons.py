"""What is stored of the last decisions in a chat. What they mean is decided elsewhere."""

from typing import cast

from bot.store.database import Repository
from bot.types.reason import Known, LastEntry, LastLine, LastLook

_LINE = """SELECT id, name, why, state, outcome, due_at FROM event WHERE chat_id = ?1 AND id < ?2 AND kind = 'message'
    AND hidden = '' ORDER BY id DESC LIMIT 1"""
_LOOK = "SELECT event_id, why, until, due_at FROM joining WHERE chat_id = ?1 AND ?2 > 0"
_ENTRY = """SELECT id, why, outcome FROM event WHERE chat_id = ?1 AND id < ?2 AND why IN ('join', 'heartbeat')
    AND kind = 'event' ORDER BY id DESC LIMIT 1"""


class Reasons(Repository):
    """The last decisions of each chat."""

    async def last(self, chat_id: int, before: int) -> Known:
        """What was decided last in a chat before that event, which asks."""
        given = (chat_id, before)
        lines, looks, entries = await self._database.snapshot((_LINE, given), (_LOOK, given), (_ENTRY, given))
        return Known(
            _line(lines[0]) if lines else None, _look(looks[0]) if looks else None,
            LastEntry(cast("int", entries[0][0]), str(entries[0][1]), str(entries[0][2])) if entries else None,
        )  # fmt: skip


def _line(row: tuple[object, ...]) -> LastLine:
    number, name, why, state, outcome, due_at = row
    return LastLine(
        cast("int", number), str(name), str(why), str(state), str(outcome), cast("int | None", due_at)
    )  # fmt: skip


def _look(row: tuple[object, ...]) -> LastLook:
    event_id, why, until, due_at = row
    return LastLook(cast("int", event_id), str(why), cast("int", until), cast("int | None", due_at))
