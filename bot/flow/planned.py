"""Promises and reminders of a person as a wish to forget finds them: words with a number, seen by this audience."""

from dataclasses import dataclass
from typing import Literal

from bot.memory.match import tells
from bot.store.store import Store
from bot.types.memory import Memory, Visibility
from bot.types.people import Audience

PlanKind = Literal["promise", "reminder"]

Known = tuple[tuple[Memory, ...], tuple[str, ...]]
"""The memories of a person, and what their promises and reminders say."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One of them; `told` is what it says, as forgetting follows it, and `kind` names its receipt."""

    kind: PlanKind
    number: int
    told: Memory


async def planned(store: Store, person_id: int, audience: Audience) -> tuple[Planned, ...]:
    """What that person promised, and waits to be reminded of, as far as this audience may see it."""
    promises = await store.commitments.owned(person_id, audience)
    waiting = await store.reminders.open(person_id, audience.chat_id if audience.kind == "group" else None)
    seen: Visibility = "chat" if audience.kind == "group" else "private"
    return (
        *(
            Planned(
                "promise", each.id,
                Memory(0, person_id, each.chat_id, each.visibility, "event", each.text, each.made_at, each.made_at,
                       "digest"),
            )
            for each in promises
        ),
        *(
            Planned(
                "reminder", each.id,
                Memory(0, person_id, each.chat_id, seen, "event", each.text, each.made_at, each.made_at, "command"),
            )
            for each in waiting if each.text and not each.promise  # that of a promise goes with it
        ),
    )  # fmt: skip


async def meant(store: Store, person_id: int, audience: Audience, content: str) -> tuple[Planned, ...]:
    """Those of them that these words are about."""
    return tuple(each for each in await planned(store, person_id, audience) if tells(content, each.told.text))


async def known(store: Store, person_id: int, audience: Audience, forgotten: bool) -> Known:
    """What is known of a person as far as this audience may see it; `forgotten`: also what can be brought back."""
    owned = await store.memories.owned(person_id, audience, forgotten=forgotten)
    return owned, tuple(each.told.text for each in await planned(store, person_id, audience))
