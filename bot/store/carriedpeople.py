"""Rows of a house as an export tells of them: people and chats by platform ids, no numbers. It reads no table."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import cast, get_args

from bot.store.reader import Row
from bot.types import memory as words
from bot.types.carried import CarriedChat, CarriedMemory, CarriedMerge, CarriedPerson, CarriedSummary
from bot.types.event import ChatKind

_OTHERWISE = ("owner", "chat", "archived_at", "merges", "more")
COLUMNS = tuple(field.name for field in fields(CarriedMemory) if field.name not in _OTHERWISE)
"""Of the table memory, as they are; the person and the chat go as platform ids, columns that are not named as more."""

_KNOWN = {"visibility": words.Visibility, "kind": words.MemoryKind, "source": words.Source}
_FLAGS = ("asked", "protected")


class Named:
    """Who and where the numbers of a house are, in platform ids."""

    def __init__(
        self, people: list[Row], accounts: list[Row], chats: list[Row],
        merges: Mapping[int, tuple[CarriedMerge, ...]] | None = None,
    ) -> None:  # fmt: skip
        self._merges = merges or {}
        ids: dict[int, list[str]] = {}
        for number, account in accounts:
            ids.setdefault(number, []).append(account)
        self._people = {
            number: CarriedPerson(tuple(ids[number]), name, script, zone, bool(is_bot))
            for number, name, script, zone, is_bot in people
            if number in ids
        }
        places: dict[int, list[str]] = {}
        kinds: dict[int, tuple[str, str]] = {}
        for number, kind, title, place in chats:
            places.setdefault(number, []).append(place)
            kinds[number] = kind, title
        self._chats = {
            number: CarriedChat(tuple(places[number]), cast("ChatKind", kind), title)
            for number, (kind, title) in kinds.items()
        }
        self.people = tuple(sorted(self._people.values(), key=lambda person: person.accounts))
        self.chats = tuple(sorted(self._chats.values(), key=lambda chat: chat.places))
        self.places = {number: chat.places[0] for number, chat in self._chats.items()}

    def account(self, number: int | None) -> str:
        """What a person is called in a file, "" for one without an account."""
        return self._people[number].accounts[0] if number in self._people else ""

    def whose(self, rows: list[Row]) -> dict[str, str]:
        """Of every direct chat whose it is: of whoever was seen there last."""
        return {self.places[chat]: self.account(person) for person, chat in rows if chat in self.places}

    def dms(self, rows: list[Row]) -> tuple[tuple[str, str], ...]:
        """Each person's own chat, where they were seen last."""
        found = {
            self._people[person].accounts[0]: self._chats[chat].places[0]
            for person, chat in rows
            if person in self._people and chat in self._chats
        }
        return tuple(found.items())

    def memory(self, row: Row, others: Mapping[str, object]) -> CarriedMemory | None:
        """A memory; None for one whose owner, chat or words are none that there are."""
        where = self._where(row[0], row[1])
        values: dict[str, object] = dict(zip((*COLUMNS, *others, "archived_at"), row[2:], strict=True))
        more = {name: values.pop(name) for name in others}
        values["more"] = tuple(sorted((name, each) for name, each in more.items() if each != others[name]))
        if where is None or any(values[name] not in get_args(kinds) for name, kinds in _KNOWN.items()):
            return None
        values |= {name: bool(values[name]) for name in _FLAGS}
        merges = self._merges.get(cast("int", values["id"]), ())
        return _made(values | {"owner": where[0], "chat": where[1], "merges": merges})

    def summary(self, row: Row) -> CarriedSummary | None:
        """A summary; None for one of nobody known."""
        where = self._where(row[0], row[1])
        if where is None:
            return None
        number, summary, by, names, started, ended, created, tier = row[2:]
        return CarriedSummary(
            number, *where, summary, by, tuple(json.loads(names)), started, ended, created, tier
        )  # fmt: skip

    def _where(self, owner_id: int | None, chat_id: int) -> tuple[str, str] | None:
        owner = "" if owner_id is None else self._people[owner_id].accounts[0] if owner_id in self._people else None
        chat = self._chats.get(chat_id)
        return None if owner is None or chat is None else (owner, chat.places[0])


def _made(values: Mapping[str, object]) -> CarriedMemory:
    return CarriedMemory(**values)  # type: ignore[arg-type]
