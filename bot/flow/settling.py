"""What somebody says became of a promise of theirs, without a model: ended where it is certain, else asked back."""

from collections.abc import Callable

from bot.flow.aside import Aside
from bot.flow.confirming import Choices, Confirming, Told
from bot.memory.closings import Closings, admits, closings
from bot.memory.minutes import own_words
from bot.people.reminding import promised_task
from bot.people.wording import told as worded
from bot.ports import Clock
from bot.store.keeping import Receipt
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.signs import marked
from bot.types.commitment import CommitmentState, Settled
from bot.types.event import Event
from bot.types.memory import MemoryCommand, Question
from bot.types.people import Audience

READ_CHARS, TITLE_CHARS, LABEL_CHARS = 800, 60, 24
"""So much of a message is read, of a promise told, and of it put on a button."""

STATES: dict[str, CommitmentState] = {"done": "done", "off": "failed"}


class Settling:
    """Ends promises, each once, and opens them again."""

    def __init__(
        self, store: Store, clock: Clock, names: tuple[str, ...], confirming: Confirming, aside: Aside,
        judged: Callable[[], bool],
    ) -> None:  # fmt: skip
        """`names` are those the bot is called by; `judged` says whether a model with tools is left to judge."""
        self._judged = judged
        self._store = store
        self._clock = clock
        self._names = names
        self._confirming = confirming
        self._aside = aside

    async def heard(self, event: Event, audience: Audience) -> Closings:
        """What is to be done about a message without a model that judges; with one nothing."""
        return Closings() if self._judged() else await self.read(event, audience)

    async def cue(self, event: Event, audience: Audience) -> list[str]:
        """The promises that a message may end, for a model that judges."""
        found = await self.read(event, audience) if self._judged() else Closings()
        numbers = (*(each.number for each in found.ended), *found.asks)
        return [f"done {' '.join(marked('promise', number) for number in numbers)}"] if numbers else []

    async def read(self, event: Event, audience: Audience) -> Closings:
        """What a message says became of its writer's open promises that this audience may see."""
        owner = event.person_id or 0
        mine = await self._store.commitments.to_end(event.id, owner, audience)
        words = own_words(event.text[:READ_CHARS], self._names) if mine else ""
        if not words:
            return Closings()
        last = await self._store.commitments.nudged(event.chat_id, owner)
        titles = tuple((number, promised_task(text)) for number, text in mine.items())
        return await self._aside.run(closings, words, titles, last)

    async def carry_out(self, command: MemoryCommand, told: Told) -> str:
        """End the promises that a message is about, with a receipt that names them."""
        mine = await self._store.commitments.to_end(told.event.id, told.person_id, told.audience)
        chosen = tuple(number for number in command.chosen if number in mine)
        if not chosen:
            return await self._confirming.say("promise_left", told)
        state = STATES[command.verb]
        receipt = self._receipt(f"promise_said_{state}", [mine[number] for number in chosen], told, "button_undo")
        ended = tuple(Settled(number, state, (told.event.id,)) for number in chosen)
        return await self._store.commitments.end(ended, receipt, self._clock.now())

    async def ask_back(self, found: Closings, told: Told) -> str:
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
            return await self._confirming.say("promise_sure", told, Question("done", asked), choices, text=one)
        each = ((clip(line, LABEL_CHARS), str(place)) for place, line in enumerate(listed, 1))
        buttons: Choices = (*each, "button_none")
        return await self._confirming.say(
            "promise_which", told, Question("done", asked), buttons, list="\n".join(listed)
        )  # fmt: skip

    async def edited(self, event_id: int, text: str) -> None:
        """A line that ended promises reads anew: what it does not say any more is open again."""
        ended, said = await self._store.commitments.ended_by(event_id), text[:READ_CHARS]
        gone = [number for number in ended if not admits(said, said, number, ended.items(), over=True)]
        if gone:
            await self._store.commitments.reopen(tuple(gone), self._clock.now())

    def _receipt(self, key: str, texts: list[str], told: Told, takes_back: str = "") -> Receipt:
        titles = self._confirming.text("mem_why_joint", told).join(
            promised_title(text, dm=told.chat.kind == "dm") for text in texts
        )
        return self._confirming.receipt(
            told, lambda number, again: self._confirming.text(key, told, list=titles), takes_back
        )  # fmt: skip


def promised_title(text: str, *, dm: bool) -> str:
    """A promise as it is told to whoever made it; only in a `dm` is 你 nuan."""
    return clip(worded(promised_task(text), back=dm), TITLE_CHARS)
