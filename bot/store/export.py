"""What one person may take along, and the archives that wait for them."""

from collections.abc import Collection, Iterable
from pathlib import Path

from bot.core.errors import StoreError
from bot.core.files import write_file
from bot.core.people import PersonalRecords
from bot.store.engine import Database, Repository, reads
from bot.store.transactions import Tx
from bot.text.dates import stamp, stamp_in

EXPORTS_FOLDER = "exports"
"""Where archives wait in the data folder."""

CHAT_OF = """(SELECT platform || ':' || external_id FROM place WHERE place.chat_id = {}.chat_id
    ORDER BY current DESC LIMIT 1) AS chat"""

COUNTED = ("calls", "prompt_tokens", "output_tokens", "cost")
"""What is summed by month of a person's calls."""

Record = dict[str, object]


class PersonalArchives(Repository):
    """Reads what belongs to a person, and keeps their archive for some days."""

    def __init__(self, database: Database, data: Path) -> None:
        super().__init__(database)
        self._folder = data / EXPORTS_FOLDER

    @reads
    def own(self, tx: Tx, person_id: int) -> PersonalRecords:
        """All rows that are that person's alone; LookupError when there is nobody of that number."""

        def records(columns: str, rest: str) -> tuple[Record, ...]:
            cursor = tx.execute(f"SELECT {columns} FROM {rest}", (person_id,))
            names = [column[0] for column in cursor.description]
            return tuple(dict(zip(names, row, strict=True)) for row in cursor)

        person = records("id AS number, name, script, timezone, access, created_at", "person WHERE id = ?")
        if not person:
            raise LookupError(f"no person {person_id!r}")
        accounts = "SELECT platform || ':' || external_id FROM account WHERE person_id = ? ORDER BY 1"
        told = "hidden NOT IN ('deleted', 'forgotten')"
        return PersonalRecords(
            {**person[0], "accounts": [account for (account,) in tx.all(accounts, person_id)]},
            records(
                f"id AS number, text, state, due_at, made_at, ended_at, {CHAT_OF.format('commitment')}",
                "commitment WHERE owner_id = ? AND text <> '' ORDER BY id",
            ),
            records(
                f"id AS number, text, due_at, rule, made_at, {CHAT_OF.format('reminder')}",
                "reminder WHERE person_id = ? AND ended_at IS NULL AND text <> '' ORDER BY due_at, id",
            ),
            records(
                f"at, {CHAT_OF.format('event')}, text",
                f"event WHERE person_id = ? AND kind = 'message' AND text <> '' AND {told} ORDER BY id",
            ),
            records(
                f"at, {CHAT_OF.format('event')}, attachment.kind AS kind, attachment.name AS name, mime, size, "
                "attachment.text AS text",
                f"attachment JOIN event ON event.id = event_id WHERE person_id = ? AND {told} "
                "ORDER BY event.id, position",
            ),
            records(
                f"at, {CHAT_OF.format('turn')}, sign",
                "feedback JOIN turn ON turn.id = turn_id WHERE feedback.person_id = ? ORDER BY at, turn_id",
            ),
            _usage(tx, person_id),
            records(
                "chat.id AS number, kind, CASE kind WHEN 'group' THEN title ELSE '' END AS title, CASE kind WHEN 'dm' "
                "THEN persona ELSE '' END AS persona, CASE kind WHEN 'dm' THEN mode ELSE '' END AS mode, enabled, "
                "seen_at",
                "member JOIN chat ON chat.id = chat_id WHERE person_id = ? ORDER BY chat.id",
            ),
        )

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


def _usage(tx: Tx, person_id: int) -> tuple[Record, ...]:
    """What was spent on a person, by month (UTC)."""
    months: dict[str, dict[str, float]] = {}
    for at, *spent in tx.all(f"SELECT at, {', '.join(COUNTED)} FROM call WHERE person_id = ? ORDER BY at", person_id):
        day = stamp(at)
        month = months.setdefault(f"{day[:4]}-{day[4:6]}", dict.fromkeys(COUNTED, 0))
        for name, amount in zip(COUNTED, spent, strict=True):
            month[name] += amount
    return tuple({"month": month, **sums} for month, sums in months.items())
