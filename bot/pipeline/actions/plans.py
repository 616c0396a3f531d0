"""Promises and reminders as wishes find them, and promises that somebody says are done or off."""

from dataclasses import dataclass
from typing import Literal

from bot.core.events import Event
from bot.core.memories import CommitmentState, Memory, MemoryCommand, MemoryQuestion, SettledCommitment, Visibility
from bot.core.people import Audience
from bot.core.ports import Clock
from bot.language.reminders.wording import in_second_person as worded
from bot.language.wishes.forget import names_plan
from bot.memory.promises import PromiseEndings, may_tell_end, promise_endings
from bot.memory.transcript import own_words
from bot.pipeline.actions.receipts import Choices, CommandContext, Receipts
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.speaking.reminders import promised_task
from bot.store.memories import Receipt
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.codes import number_mark
from bot.text.length import clip

PlanKind = Literal["promise", "reminder"]

KnownOfPerson = tuple[tuple[Memory, ...], tuple[str, ...]]
"""The memories of a person, and what their promises and reminders say."""

READ_CHARS, TITLE_CHARS, LABEL_CHARS = 800, 60, 24
"""So much of a message is read, of a promise told, and of it put on a button."""

STATES: dict[str, CommitmentState] = {"done": "done", "off": "failed"}
"""What a promise becomes by the verb of a wish."""


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One of them; `told` is what it says, as forgetting follows it, and `kind` names its receipt."""

    kind: PlanKind
    number: int
    told: Memory


async def open_plans(store: Store, person_id: int, audience: Audience) -> tuple[PlannedItem, ...]:
    """What that person promised, and waits to be reminded of, as far as this audience may see it."""
    promises = await store.commitments.owned(person_id, audience)
    waiting = await store.reminders.open(person_id, audience.chat_id if audience.kind == "group" else None)
    seen: Visibility = "chat" if audience.kind == "group" else "private"
    return (
        *(
            PlannedItem(
                "promise",
                each.id,
                Memory(
                    0,
                    person_id,
                    each.chat_id,
                    each.visibility,
                    "event",
                    each.text,
                    each.made_at,
                    each.made_at,
                    "digest",
                ),
            )
            for each in promises
        ),
        *(
            PlannedItem(
                "reminder",
                each.id,
                Memory(0, person_id, each.chat_id, seen, "event", each.text, each.made_at, each.made_at, "command"),
            )
            for each in waiting
            if each.text and not each.promise  # that of a promise goes with it
        ),
    )


async def plans_meant(store: Store, person_id: int, audience: Audience, content: str) -> tuple[PlannedItem, ...]:
    """Those of them that these words are about."""
    return tuple(each for each in await open_plans(store, person_id, audience) if names_plan(content, each.told.text))


async def known_of_person(store: Store, person_id: int, audience: Audience, forgotten: bool) -> KnownOfPerson:
    """What is known of a person as far as this audience may see it; `forgotten`: also what can be brought back."""
    owned = await store.memories.owned(person_id, audience, forgotten=forgotten)
    return owned, tuple(each.told.text for each in await open_plans(store, person_id, audience))


class PromiseSettling:
    """Ends promises, each once, and opens them again."""

    def __init__(self, store: Store, clock: Clock, current: Current, receipts: Receipts, thread: TextThread) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._receipts = receipts
        self._thread = thread

    async def heard(self, event: Event, audience: Audience) -> PromiseEndings:
        """What is to be done about a message without a model that judges; with one nothing."""
        return PromiseEndings() if self._current.value.judges else await self.read(event, audience)

    async def cue(self, event: Event, audience: Audience) -> list[str]:
        """The promises that a message may end, for a model that judges."""
        found = await self.read(event, audience) if self._current.value.judges else PromiseEndings()
        numbers = (*(each.number for each in found.ended), *found.asks)
        if not numbers:
            return []
        mine = await self._store.commitments.to_end(event.id, event.person_id or 0, audience)
        titles = (
            as_data(clip(promised_title(mine[number], dm=audience.kind == "dm"), LABEL_CHARS)) for number in numbers
        )
        marks = (number_mark("promise", number) for number in numbers)
        return [f"done {'; '.join(f'{mark} {title}' for mark, title in zip(marks, titles, strict=True))}"]

    async def read(self, event: Event, audience: Audience) -> PromiseEndings:
        """What a message says became of its writer's open promises that this audience may see."""
        owner = event.person_id or 0
        mine = await self._store.commitments.to_end(event.id, owner, audience)
        words = own_words(event.text[:READ_CHARS], self._current.settings.bot.names) if mine else ""
        if not words:
            return PromiseEndings()
        last = await self._store.commitments.nudged(event.chat_id, owner)
        titles = tuple((number, promised_task(text)) for number, text in mine.items())
        return await self._thread.run(promise_endings, words, titles, last)

    async def carry_out(self, command: MemoryCommand, told: CommandContext) -> str:
        """End the promises that a message is about, with a receipt that names them."""
        mine = await self._store.commitments.to_end(told.event.id, told.person_id, told.audience)
        chosen = tuple(number for number in command.chosen if number in mine)
        if not chosen:
            return await self._receipts.say("promise_left", told)
        state = STATES[command.verb]
        receipt = self._receipt(f"promise_said_{state}", [mine[number] for number in chosen], told, "button_undo")
        ended = tuple(SettledCommitment(number, state, (told.event.id,)) for number in chosen)
        return await self._store.commitments.end(ended, receipt, self._clock.now())

    async def ask_back(self, found: PromiseEndings, told: CommandContext) -> str:
        """Which of several promises is done: asked in one line with a button for each."""
        mine = await self._store.commitments.to_end(told.event.id, told.person_id, told.audience)
        asked = tuple(number for number in found.asks if number in mine)
        listed = [
            f"{place}. {promised_title(mine[number], dm=told.chat.kind == 'dm')}"
            for place, number in enumerate(asked, 1)
        ]
        if len(asked) == 1:
            one = promised_title(mine[asked[0]], dm=told.chat.kind == "dm")
            choices = ("button_yes", "button_not_yet")
            return await self._receipts.say("promise_sure", told, MemoryQuestion("done", asked), choices, text=one)
        each = ((clip(line, LABEL_CHARS), str(place)) for place, line in enumerate(listed, 1))
        buttons: Choices = (*each, "button_none")
        return await self._receipts.say(
            "promise_which", told, MemoryQuestion("done", asked), buttons, list="\n".join(listed)
        )

    async def edited(self, event_id: int, text: str) -> None:
        """A line that ended promises reads anew: what it does not say any more is open again."""
        ended, said = await self._store.commitments.ended_by(event_id), text[:READ_CHARS]
        gone = [number for number, promise in ended.items() if not may_tell_end(said, said, promise, over=True)]
        if gone:
            await self._store.commitments.reopen(tuple(gone), self._clock.now())

    def _receipt(self, key: str, texts: list[str], told: CommandContext, takes_back: str = "") -> Receipt:
        titles = self._receipts.text("mem_why_joint", told).join(
            promised_title(text, dm=told.chat.kind == "dm") for text in texts
        )
        return self._receipts.receipt(
            told, lambda number, again: self._receipts.text(key, told, list=titles), takes_back
        )


def promised_title(text: str, *, dm: bool) -> str:
    """A promise as it is told to whoever made it; only in a `dm` is 你 nuan."""
    return clip(worded(promised_task(text), back=dm), TITLE_CHARS)
