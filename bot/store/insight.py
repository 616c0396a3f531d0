"""What a chat is told about itself. Every read is of one chat; memories are of one owner and filtered by audience."""

from typing import cast

from bot.store.database import Repository
from bot.store.memories import visible
from bot.store.reader import Row
from bot.types.insight import Here, Looked, Mark, Told, ToldCounts
from bot.types.people import Audience
from bot.types.speaking import UNASKED

_OPEN = "(SELECT id FROM session WHERE chat_id = ?1 AND state = 'open')"

_REPLY = """SELECT group_concat(text, ' ') FROM (SELECT text FROM event WHERE event.turn_id = feedback.turn_id
    AND event.kind = 'bot' AND hidden = '' AND off_record = 0 ORDER BY event.id)"""

_HERE = "turn.session_id IN (SELECT id FROM session WHERE chat_id = ?1)"
"""The turns of a chat: by the index of its conversations, where a house of many chats would be read through."""

_MARKS = f"""SELECT at, sign, coalesce(({_REPLY}), '') FROM feedback JOIN turn ON turn.id = feedback.turn_id
    WHERE {_HERE} AND feedback.person_id = ?2 ORDER BY at DESC, feedback.turn_id DESC LIMIT ?3"""

_TOLD = f"""FROM turn_memory JOIN turn ON turn.id = turn_memory.turn_id JOIN session ON session.id = turn.session_id
    JOIN memory ON memory.id = memory_id WHERE {_HERE} AND turn.state = 'said' AND memory.owner_id = ?2
    AND memory.disabled_at IS NULL AND """


class Insight(Repository):
    """Chats seen from outside."""

    async def here(self, chat_id: int, day: int) -> Here:
        """The open conversation of a chat and its replies since that instant, ms."""
        sessions, said = await self._database.snapshot(
            (f"SELECT number, opened_at, (SELECT count(*) FROM turn WHERE session_id = session.id AND state = 'said') "
             f"FROM session WHERE id = {_OPEN}", (chat_id,)),
            (f"SELECT count(*) FROM turn WHERE {_HERE} AND state = 'said' AND said_at >= ?2", (chat_id, day)),
        )  # fmt: skip
        number, opened, turns = sessions[0] if sessions else (0, 0, 0)
        return Here(*(cast("int", value) for value in (number, opened, turns, said[0][0])))

    async def signs(self, chat_id: int, person_id: int) -> tuple[tuple[str, int], ...]:
        """How often a person gave which sign to the replies of a chat, the most frequent first."""
        rows = await self._database.rows(
            f"SELECT sign, count(*) FROM feedback JOIN turn ON turn.id = turn_id WHERE {_HERE} "
            "AND feedback.person_id = ?2 GROUP BY sign ORDER BY count(*) DESC, sign",
            (chat_id, person_id),
        )
        return _counted(rows)

    async def marks(self, chat_id: int, person_id: int, limit: int) -> tuple[Mark, ...]:
        """A person's newest signs to the replies of a chat, newest first."""
        rows = await self._database.rows(_MARKS, (chat_id, person_id, limit))
        return tuple(Mark(*row) for row in rows)

    async def told(self, owner_id: int, audience: Audience, limit: int) -> tuple[Told, ...]:
        """Which memories of a person the newest replies of a chat were told, as this audience may see; newest first."""
        where, params = visible(audience)
        rows = await self._database.rows(
            f"SELECT coalesce(turn.said_at, asked_at), session.number, turn.number, boot, memory.id, memory.text "
            f"{_TOLD}"
            f"{where} ORDER BY turn.id DESC, boot, memory.id LIMIT ?",
            (audience.chat_id, owner_id, *params, limit),
        )
        return tuple(Told(row[0], row[1], row[2], bool(row[3]), row[4], row[5]) for row in rows)

    async def told_counts(self, owner_id: int, audience: Audience, since: int) -> ToldCounts:
        """How often replies of a chat since that instant (ms) were told memories of a person, as this audience may see.

        Only for so long it is kept what a reply was told.
        """
        where, params = visible(audience)
        row = await self._database.row(
            "SELECT count(DISTINCT turn.id), coalesce(sum(boot = 0), 0), coalesce(sum(boot), 0), "
            f"count(DISTINCT memory.id) {_TOLD}{where} AND turn.asked_at >= ?",
            (audience.chat_id, owner_id, *params, since),
        )
        said = await self._database.row(
            f"SELECT count(*) FROM turn WHERE {_HERE} AND state = 'said' AND asked_at >= ?2",
            (audience.chat_id, since),
        )
        assert row is not None
        assert said is not None
        return ToldCounts(int(said[0]), *(int(value) for value in row))

    async def looked(self, chat_id: int, since: int) -> Looked:
        """What happened in a chat since that instant, ms; of everybody there, and only numbers."""
        given = (chat_id, since)
        unasked = ", ".join(f"'{why}'" for why in sorted(UNASKED))
        turns, quiet, signs, told = await self._database.snapshot(
            (f"SELECT coalesce(sum(state = 'said'), 0), coalesce(sum(state = 'said' AND why IN ({unasked})), 0), "
             f"coalesce(sum(state = 'failed'), 0) FROM turn WHERE {_HERE} AND asked_at >= ?2", given),
            ("SELECT count(*) FROM event WHERE chat_id = ?1 AND at >= ?2 AND kind = 'message' AND hidden = '' "
             "AND state = 'listened'", given),
            (f"SELECT sign, count(*) FROM feedback JOIN turn ON turn.id = turn_id WHERE {_HERE} AND at >= ?2 "
             "GROUP BY sign ORDER BY count(*) DESC, sign", given),
            (f"SELECT count(DISTINCT turn_id) FROM turn_memory JOIN turn ON turn.id = turn_id WHERE {_HERE} "
             "AND asked_at >= ?2 AND state = 'said'", given),
        )  # fmt: skip
        said, alone, failed = (cast("int", value) for value in turns[0])
        return Looked(
            said, alone, failed, cast("int", quiet[0][0]), _counted(signs), cast("int", told[0][0])
        )  # fmt: skip

    async def since(self, chat_id: int, signature: str) -> int:
        """When a chat first talked on that stable prefix, ms; 0 when it never did."""
        row = await self._database.row(
            "SELECT min(epoch.opened_at) FROM epoch JOIN session ON session.id = session_id WHERE chat_id = ? "
            "AND signature = ?",
            (chat_id, signature),
        )
        return int(row[0] or 0) if row is not None else 0


def _counted(rows: "list[Row] | tuple[Row, ...]") -> tuple[tuple[str, int], ...]:
    return tuple((str(sign), cast("int", count)) for sign, count in rows)
