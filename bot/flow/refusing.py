"""What is said when a limit is reached: one polite line to each person a day, then nothing."""

from bot.errors import ModelError, ModelFault, OverBudget
from bot.flow.words import Words
from bot.money import prices
from bot.money.degrade import shortage
from bot.ports import Clock
from bot.store.store import Store
from bot.types.duration import MINUTE_MS
from bot.types.log import Log
from bot.types.occasion import Occasion
from bot.types.outgoing import Draft
from bot.types.people import Person
from bot.types.speaking import UNCALLED

OUTAGE_MS = 10 * MINUTE_MS
"""An outage is told once in a chat in so long (FAULTS D27: 10 min)."""

OF_MESSAGE: tuple[ModelFault, ...] = ("filtered", "overflow")
"""Faults that another message would not have."""


class Refusing:
    """Takes messages off the queue that no call may be made for."""

    def __init__(self, store: Store, clock: Clock, words: Words, log: Log, *, notify: bool) -> None:
        """Unless it is to `notify`, nobody is told."""
        self._notify = notify
        self._store = store
        self._clock = clock
        self._words = words
        self._log = log

    async def refuse(self, occasion: Occasion, error: OverBudget) -> None:
        """Say why, unless nobody called, a bot did, or it was said today; receipts are said in any case."""
        now, chat, person = self._clock.now(), occasion.chat, occasion.person
        numbers = tuple(event.id for event in occasion.answering)
        said = await self.told(chat.id, person)
        await self._store.refusals.keep(chat.id, person.id, error, now)
        lines = list(occasion.receipts)
        if not said and not person.is_bot and (occasion.why not in UNCALLED or occasion.receipts):
            lines.append(self.text(person, error))
        if lines:
            await self._store.refusals.refuse(chat.id, numbers, Draft("\n".join(lines), "notice"), now)
        elif occasion.why == "window":
            await self._store.windows.put_back(numbers, "silent", now)
        else:
            await self._store.events.finish(numbers, "done", "silent")
        self._log.warning("over_budget", chat=chat.id, person=person.id, limit=error.limit, said=bool(lines))

    async def told(self, chat_id: int, person: Person) -> bool:
        """Whether nobody is to tell that person any more that a limit is reached: it was said there today."""
        if not self._notify:
            return True
        day, _ = prices.periods(self._clock.now(), self._words.tz(self._words.zone))
        anew = (await self._store.recounts.last()).get("day")
        return await self._store.refusals.told_since(chat_id, person.id, max(day, anew.at if anew else 0))

    async def unanswered(self, chat_id: int, person: Person, error: ModelError) -> tuple[str, bool]:
        """What is said when no model answered, and whether that tells of an outage, which is told once.

        Nothing is said in a chat that was told just now. What is wrong with this one message is always told.
        """
        outage = error.fault not in OF_MESSAGE
        if outage and await self._store.refusals.sorry(chat_id, self._clock.now() - OUTAGE_MS):
            return "", False
        return self._words.messages.text(f"model_failed_{error.fault}", self._words.script(person)), outage

    def text(self, person: Person, error: OverBudget) -> str:
        """The line, in the person's script."""
        script = self._words.script(person)

        def text(key: str, **values: object) -> str:
            return self._words.messages.text(key, script, **values)

        key = "budget_over" if error.used >= 1 else "budget_short"
        return text(key, limit=shortage(error, text))
