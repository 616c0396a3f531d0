"""Promises by the tool remember: a promise stands in the person's own words."""

import re
from collections.abc import Mapping
from datetime import tzinfo
from functools import partial

from bot.core.clock import Instant
from bot.core.memories import Commitment, CommitmentState, NewCommitment, Nudge, NudgeRules, SettledCommitment
from bot.core.tools import ToolAnswer, ToolContext, ToolRefused
from bot.language.reminders.wording import TASK_CHARS
from bot.language.time.dates import due_in, nudge_for
from bot.memory.digest.answer import ItemSection
from bot.memory.promises import may_tell_end
from bot.pipeline.actions.plans import promised_title
from bot.pipeline.concurrency import TextThread
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import Consent
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.codes import SIGNS, number_mark
from bot.text.dates import local
from bot.text.length import clip
from bot.text.similarity import promise_meant

MOST_OPEN = 100
"""Open promises among which a number is looked up."""

NUMBER_CHARS, TEXT_CHARS, LIST_CHARS = 20, 40, 400
"""Characters of a number, of a promise that an answer names, and of all that a refusal names."""

_ASIDE = re.compile(r"[(（][^()（）]*[)）]")
"""下星期二（3/16）: the same day once more."""


class PromiseTools:
    """What a person promises, what a promise is now, and what became of it, by the tool remember."""

    def __init__(
        self, store: Store, words: Texts, consent: Consent, nudging: NudgeRules | None, thread: TextThread
    ) -> None:
        """`nudging` is how people are reminded of what they promise; what loads a dictionary runs in `thread`."""
        self._store = store
        self._words = words
        self._consent = consent
        self._nudging = nudging
        self._thread = thread

    async def note(self, context: ToolContext, text: str) -> ToolAnswer:
        """Note a promise that its person makes in these minutes."""
        event, said = await self._carrier(context, text, None)
        due, nudge_at = await self._due(context, text, said)
        new = NewCommitment(
            context.person_id,
            context.audience.chat_id,
            "private" if context.audience.kind == "dm" else "chat",
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else None,
            nudge_at,
        )
        return ToolAnswer(await self._consent.answer(context, "commitment_saved"), commitment=new)

    async def change(self, context: ToolContext, which: str, text: str) -> ToolAnswer:
        """Change the promise of that number to what its person now says."""
        old = _pointed(which, text, await self._mine(context))
        event, said = await self._carrier(context, text, old)
        due, nudge_at = await self._due(context, text, said)
        new = NewCommitment(
            old.owner_id,
            old.chat_id,
            old.visibility,
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else old.due_at,
            nudge_at,
            old.toward,
            "" if due else old.dated,
            old.id,
        )
        told = (await self._consent.answer(context, "commitment_changed")).replace("{new}", _shown(text))
        day = local(new.due_at, await self._zone(context)).strftime("%Y-%m-%d %H:%M") if new.due_at is not None else "-"
        return ToolAnswer(told.replace("{due}", day).replace("{old}", _shown(old.text)), commitment=new)

    async def end(self, context: ToolContext, which: str, cited: str, state: CommitmentState) -> ToolAnswer:
        """Note what became of one.

        The model judges that it is over; certain is that a line holds the words it cites, and tells it plainly.
        """
        old = _pointed(which, cited, await self._mine(context))
        event, receipt = await self._ending(context, old, cited, state)
        told = (await self._consent.answer(context, "commitment_settled")).replace("{id}", str(old.id))
        return ToolAnswer(told, settled=SettledCommitment(old.id, state, (event,)), receipt=receipt)

    async def _ending(
        self, context: ToolContext, old: Commitment, cited: str, state: CommitmentState
    ) -> tuple[int, str]:
        """The message that says so, and the receipt."""
        for line in reversed(await self._consent.lines(context, done=True)):
            if state == "ongoing":
                return line.id, ""
            if await self._thread.run(partial(may_tell_end, cited, line.text, old.text, over=state == "done")):
                task = promised_title(old.text, dm=context.audience.kind == "dm")
                script = self._words.script_of(line.text, context.script)
                return line.id, self._words.messages.text(f"promise_said_{state}", script, list=task)
        raise ToolRefused("commitment_unsure", number_mark("promise", old.id))

    async def _carrier(self, context: ToolContext, text: str, old: Commitment | None) -> tuple[int, str]:
        """The message that the text rests on, and its words."""
        known = (old.text,) if old is not None else ()
        section: ItemSection = "promises" if old is None else "statements"
        since = old.made_at if old is not None else 0
        ground = await self._consent.carrier(context, text, known, section, again=old is not None, since=since)
        if not ground.event_id:
            raise ToolRefused("commitment_words", as_data(clip(ground.missing, TASK_CHARS)))
        if self._store.tombstones.covers(text):
            raise ToolRefused("experience_forgotten")
        lines = await self._consent.lines(context, done=True)
        return next((line.id, line.text) for line in lines if line.id == ground.event_id)

    async def _due(self, context: ToolContext, text: str, said: str) -> tuple[Instant | None, Nudge | None]:
        """When it is due, by its text, else by the message, and when its person is reminded."""
        tz = await self._zone(context)
        found = (due_in(each, context.now, tz) for each in (text, _ASIDE.sub("", text), said))
        due = next((each for each in found if each), None)
        return due, nudge_for(due, context.now, self._nudging, tz)

    async def _mine(self, context: ToolContext) -> Mapping[int, Commitment]:
        """The person's open promises that the audience may see, by number."""
        found = await self._store.commitments.open(context.audience, MOST_OPEN)
        return {each.id: each for each in found if each.owner_id == context.person_id}

    async def _zone(self, context: ToolContext) -> tzinfo:
        person = await self._store.people.person(context.person_id)
        return self._words.tz(person.timezone or self._words.zone)


def _shown(text: str) -> str:
    return as_data(clip(text, TEXT_CHARS))


def _pointed(which: str, text: str, known: Mapping[int, Commitment]) -> Commitment:
    """The promise of that number, or without one the one that the words are about; ToolRefused that lists them."""
    number = which.strip().lstrip(f"#{SIGNS['promise']}")
    texts = {each.id: each.text for each in known.values()}
    found = int(number[:NUMBER_CHARS]) if number.isdecimal() else _meant(number or text, texts)
    if found is None or found not in known:
        listed = (f"{number_mark('promise', each)} {_shown(said)}" for each, said in texts.items())
        raise ToolRefused("commitment_unknown", clip("; ".join(listed), LIST_CHARS) or "-")
    return known[found]


def _meant(about: str, texts: Mapping[int, str]) -> int | None:
    """The one promise that these words are about: most of them are in it, or most of it is in them."""
    number = promise_meant(about, texts.items())
    told = [each for each, text in texts.items() if promise_meant(text, ((each, about),))]
    return number if number is not None or len(told) != 1 else told[0]
