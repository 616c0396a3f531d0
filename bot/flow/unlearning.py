"""What the tool forget found, carried out as 忘记 is: a tombstone first, then one commit with its receipt."""

from bot.config.settings import Settings
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.forgetting import Forgetting
from bot.store.keeping import Receipt
from bot.store.store import Store
from bot.types.duration import DAY_MS
from bot.types.event import Event
from bot.types.outgoing import Button
from bot.types.people import Person
from bot.types.tool import Unlearn
from bot.types.turn import Turn


class Unlearning:
    """Forgets within a turn."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, words: Words) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words

    async def carry_out(self, turn: Turn, person: Person, unlearn: Unlearn) -> None:
        """Forget it and say so; what is left of the message is answered in a turn of its own. Once for a message."""
        now, memories, days = self._clock.now(), unlearn.memories, self._settings.memory.undo_days
        forever, lines = unlearn.forever or not days or bool(unlearn.lines), unlearn.lines
        self._store.tombstones.bury_all([(memory.id, text) for memory in memories for text in memory.wordings], now)
        script = self._words.script(person)
        event = Event(unlearn.event_id, turn.chat_id, now, "message", person.id, person.name, "")
        _, account = await self._store.access.answer_to(event)
        gone_ids = " ".join(f"#{memory.id}" for memory in memories)

        def say(key: str, number: int) -> str:
            text = self._words.messages.text
            what, gone = text("matter_this", script), text("gone_lines", script, n=len(lines))
            return text(key, script, id=number, list=gone_ids, days=days, what=what, gone=gone)

        def buttons(number: int) -> tuple[Button, ...]:
            if lines:
                return ()
            return (Button(say("button_undo", number), say("say_undo", number), account),) if account else ()

        one = "forgot" if len(memories) == 1 else "forgot_several"
        key = "forgot_matter" if lines else "forgot_forever" if forever else one
        receipt = Receipt(
            event.id, turn.chat_id, f"event:{event.id}:tool:{memories[0].id}",
            lambda number, _: say(key, number), True, unlearn.rest, hide=True,
            buttons=buttons,
        )  # fmt: skip
        until = None if forever else now + days * DAY_MS
        await self._store.asked.forget(turn, Forgetting(memories, person.id, until, lines=lines), receipt, now)
