"""What one person may take along, and the archives that wait for them."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import cast

from bot.core.errors import StoreError
from bot.core.files import write_file
from bot.core.people import PersonalRecords
from bot.store.engine import Database
from bot.store.transactions import Tx
from bot.text.dates import stamp, stamp_in

EXPORTS_FOLDER = "exports"
"""Where archives wait in the data folder."""

PLACE_OF = (
    "(SELECT platform || ':' || external_id FROM place WHERE place.chat_id = {}.chat_id ORDER BY current DESC LIMIT 1)"
)


EXPORTED_TABLES = {
    "memories": "memory merged digest talker note",
    "promises": "commitment",
    "reminders": "reminder",
    "lines": "event",
    "files": "attachment",
    "feedback": "feedback",
    "settings": "person account member chat place",
    "usage": "call",
}
"""Which tables each file of the archive is made of."""

LEFT_OUT_TABLES = {
    "copies of what is taken along, by which it is found": "doc doc_text vector note_chunk note_line edge",
    "what the model saw and nuan said, which holds what others said": (
        "turn turn_event turn_memory brought entry epoch session participant outbox sent section_round"
    ),
    "what is under way for minutes": (
        "window lately question reminder_question code told rewriting heartbeat joining rush effect trace"
    ),
    "nobody's": "prefix counting recount meta",
    "the house's or a chat's, set for everybody in it": "chat_context setting",
}
"""Tables that are not taken along, and why."""


class PersonalArchives:
    """Reads what belongs to a person, and keeps their archive for some days."""

    def __init__(self, database: Database, data: Path) -> None:
        self._database = database
        self._folder = data / EXPORTS_FOLDER

    async def own(self, person_id: int) -> PersonalRecords:
        """All rows that are that person's alone; LookupError when there is nobody of that number."""
        return await self._database.read(lambda db: _own(db, person_id))

    def write(self, person_id: int, data: bytes, at: int) -> Path:
        """Put an archive in the folder (0600), in the place of the one before; StoreError when the disk refuses."""
        path = self._folder / f"nuan-export-{person_id}-{stamp(at)}.zip"
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(path, data)
            for other in _archives(self._folder, str(person_id)):
                if other != path:
                    other.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"the archive cannot be written ({error})") from error
        return path

    def remove(self, person_id: int) -> None:
        """Nothing of that person waits any more; StoreError when a file cannot be removed."""
        drop_archives(self._folder.parent, (person_id,))

    def tidy(self, before: int) -> None:
        """Archives made before that instant, ms, are gone; StoreError when one cannot be removed."""
        _unlink(path for path in _archives(self._folder, "*") if stamp_in(path.name) < stamp(before))


def drop_archives(data: Path, people: Collection[int | None]) -> None:
    """No archive of these people waits any more, of nobody when one of them is None; StoreError when one stays."""
    whose = ["*"] if None in people else [str(number) for number in people]
    _unlink(path for one in whose for path in _archives(data / EXPORTS_FOLDER, one))


def _archives(folder: Path, whose: str) -> list[Path]:
    """The archives of that person, with what a crash left of one that was being written."""
    return [
        path
        for name in ("nuan-export-{}-*.zip", ".nuan-export-{}-*.zip.new")
        for path in folder.glob(name.format(whose))
    ]


def _unlink(paths: Iterable[Path]) -> None:
    try:
        for path in list(paths):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"an archive cannot be removed ({error})") from error


def _own(db: Tx, person_id: int) -> PersonalRecords:
    def records(sql: str) -> tuple[dict[str, object], ...]:
        cursor = db.execute(sql, (person_id,))
        names = [column[0] for column in cursor.description]
        return tuple(dict(zip(names, row, strict=True)) for row in cursor)

    person = records("SELECT id AS number, name, script, timezone, access, created_at FROM person WHERE id = ?1")
    if not person:
        raise LookupError(f"no person {person_id!r}")
    accounts = db.execute(
        "SELECT platform || ':' || external_id FROM account WHERE person_id = ? ORDER BY 1", (person_id,)
    ).fetchall()
    return PersonalRecords(
        {**person[0], "accounts": [cast("str", row[0]) for row in accounts]},
        records(f"SELECT id AS number, text, state, due_at, made_at, ended_at, {PLACE_OF.format('commitment')} AS chat "
                "FROM commitment WHERE owner_id = ?1 AND text <> '' ORDER BY id"),
        records(f"SELECT id AS number, text, due_at, rule, made_at, {PLACE_OF.format('reminder')} AS chat FROM "
            "reminder "
                "WHERE person_id = ?1 AND ended_at IS NULL AND text <> '' ORDER BY due_at, id"),
        records(f"SELECT at, {PLACE_OF.format('event')} AS chat, text FROM event WHERE person_id = ?1 AND kind = "
                "'message' AND text <> '' AND hidden NOT IN ('deleted', 'forgotten') ORDER BY id"),
        records(f"SELECT at, {PLACE_OF.format('event')} AS chat, attachment.kind AS kind, attachment.name AS name, "
            "mime, "
                "size, attachment.text AS text FROM attachment JOIN event ON event.id = event_id WHERE person_id = ?1 "
                "AND hidden NOT IN ('deleted', 'forgotten') ORDER BY event.id, position"),
        records(f"SELECT at, {PLACE_OF.format('turn')} AS chat, sign FROM feedback JOIN turn ON turn.id = turn_id "
            "WHERE "
                "feedback.person_id = ?1 ORDER BY at, turn_id"),
        records("SELECT strftime('%Y-%m', at / 1000, 'unixepoch') AS month, sum(calls) AS calls, sum(prompt_tokens) AS "
                "prompt_tokens, sum(output_tokens) AS output_tokens, sum(cost) AS cost FROM call WHERE person_id = ?1 "
                "GROUP BY 1 ORDER BY 1"),
        records("SELECT chat.id AS number, kind, CASE kind WHEN 'group' THEN title ELSE '' END AS title, "
                "CASE kind WHEN 'dm' THEN persona ELSE '' END AS persona, CASE kind WHEN 'dm' THEN mode ELSE '' END "
                "AS mode, enabled, seen_at FROM member JOIN chat ON chat.id = chat_id WHERE person_id = ?1 "
                "ORDER BY chat.id"),
    )  # fmt: skip
