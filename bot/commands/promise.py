"""`.ai promise`: a person's own promises as this chat may see them, and what became of each."""

from collections.abc import Callable
from functools import partial

from bot.commands.table import Asked
from bot.flow.plan import Planner
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.dates import RELATIVE_DAYS, local_day, relative_day
from bot.text.fold import fold
from bot.text.signs import of
from bot.types.commitment import OPEN, Commitment, CommitmentState

SHOWN = 20
"""How many promises a list shows."""

TEXT_CHARS = 120

STATES: dict[str, CommitmentState] = {"done": "done", "fail": "failed", "doing": "ongoing", "open": "pending"}
"""What a person may say of a promise of their own: `.ai promise done 3`."""


class PromiseCommand:
    """Lists promises, ends them, opens them again, and drops what was none."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, words: Words, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai promise …`; only what belongs to the person who asks, and may be told here."""
        audience = await self._planner.audience(asked.chat, asked.person)
        owned = await self._store.commitments.owned(asked.person.id, audience)
        match tuple(fold(word) for word in asked.words):
            case ():
                return self._list(asked, [each for each in owned if each.state in OPEN])
            case ("all",):
                return self._list(asked, list(owned))
            case (deed, number) if deed in (*STATES, "drop"):
                found = next((each for each in owned if each.id == of("promise", number.lstrip("#"))), None)
                return await self._do(asked, deed, found)
            case _:
                return self._text(asked, "promise_words")

    async def _do(self, asked: Asked, deed: str, found: Commitment | None) -> str:
        if found is None:
            return self._text(asked, "promise_unknown")
        now, commitments = self._clock.now(), self._store.commitments
        if deed == "drop":
            done = await commitments.drop(found.id, asked.person.id, now)
        else:
            done = await commitments.settle(found.id, asked.person.id, STATES[deed], now)
        return self._text(asked, f"promise_did_{deed}" if done else "promise_unknown", id=found.id)

    def _list(self, asked: Asked, found: list[Commitment]) -> str:
        now, tz = self._clock.now(), self._words.tz(self._words.zone_of(asked.chat, asked.person))
        days, text = self._words.days(asked.script), partial(self._text, asked)
        lines = []
        for each in found[-SHOWN:]:
            due = ""
            if each.due_at is not None and each.state in OPEN:
                today, day = local_day(now, tz), local_day(each.due_at, tz)
                ahead, due = (day - today).days, relative_day(day, today, days)
                if each.due_at < now:
                    due = text("due_over", day=due)
                elif 1 < ahead <= RELATIVE_DAYS:
                    due = text("due_in", n=ahead)
            state = text(f"promise_{each.state}")
            told = clip(" ".join(each.text.split()), TEXT_CHARS)
            lines.append(
                text("promise_line_due" if due else "promise_line", id=each.id, text=told, state=state, due=due)
            )
        more = len(found) - SHOWN
        if more > 0:
            lines.append(text("promise_more", n=more))
        return "\n".join(lines) or text("promise_none")
