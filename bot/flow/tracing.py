"""One line about each turn for owners who want it: numbers and why, in their own direct chat; nobody's words."""

from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.types.outgoing import Draft
from bot.types.turn import Turn


class Tracing:
    """Tells of turns that are over."""

    def __init__(self, store: Store, clock: Clock, words: Words, currency: str) -> None:
        self._store = store
        self._clock = clock
        self._words = words
        self._currency = currency

    async def tell(self, turn: Turn, outcome: str) -> None:
        """Say it to everyone who asked for it and is an owner still; a line that a crash cuts off is never said."""
        watchers = await self._store.traces.watchers()
        if not watchers:
            return
        calls, prompt, cached, output, cost, model = await self._store.turns.totals(turn.id)
        now = self._clock.now()
        for chat_id, person_id in watchers:
            person = await self._store.people.person(person_id)
            if not person.is_owner:
                continue
            line = self._words.messages.text(
                "trace_line", self._words.script(person), chat=turn.chat_id, session=turn.session_number,
                turn=turn.number, why=turn.why, mode=turn.mode, outcome=outcome, model=model, calls=calls,
                prompt=prompt, cached=cached, output=output, money=f"{cost:.5f} {self._currency}",
                ms=now - turn.asked_at,
            )  # fmt: skip
            await self._store.traces.tell(chat_id, Draft(line, "notice"), now)
