"""The tool add_commitment over the store: the promises of a turn's person, in their own words."""

from collections.abc import Mapping
from datetime import tzinfo
from functools import partial

from bot.flow.aside import Aside
from bot.flow.settling import promised_title
from bot.flow.words import Words
from bot.memory.closings import admits
from bot.memory.grounding import stands as grounded
from bot.memory.minutes import Scope
from bot.memory.own_words import own
from bot.memory.plain import READ_CHARS, UNSURE, sentences
from bot.people.tool import Carrier, commitment_tool
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.signs import marked
from bot.types.commitment import Commitment, Nudging, Settled
from bot.types.event import Event
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext, ToolRefused

LEAST = 4
"""Characters that say by themselves what is agreed."""

MOST_OPEN = 100
"""Open promises among which a number is looked up."""


def promising_tool(
    store: Store, words: Words, spec: ToolSpec, names: tuple[str, ...], nudging: Nudging | None, aside: Aside
) -> Tool:  # fmt: skip
    """The tool; `names` are those the bot is called by, `nudging` is how people are reminded of what they promise. What
    takes long or loads a dictionary goes `aside`."""

    async def lines(context: ToolContext) -> tuple[Event, ...]:
        return await store.asked.own(context.event_ids, context.person_id, context.now)

    async def carrier(context: ToolContext, text: str, made: bool) -> Carrier | None:
        events = await lines(context)
        for event in events:
            if own(event.id, event.text, names).carries(text) and (not made or stands(event.text, text)):
                return Carrier(event.id, text)
        return await titled(context, events, text) if made else None

    async def titled(context: ToolContext, events: tuple[Event, ...], text: str) -> Carrier | None:
        """The line that a title in a model's words rests on: plain words, and none of its numbers, names is its own."""
        plain = [(event, "\n".join(each.text for each in sentences(event.text[:READ_CHARS])
                                   if not (each.asks or UNSURE.search(each.folded)))) for event in events]  # fmt: skip
        said = [(event, words) for event, words in plain if words]
        scope = Scope(context.audience.chat_id, context.audience.kind, names[0], context.person_id, await zone(context))
        at = await aside.run(grounded, text, [(words, event.at) for event, words in said], scope)
        return Carrier(said[at][0].id, said[at][1]) if at is not None else None

    async def ending(context: ToolContext, settled: Settled, text: str, open_: Mapping[int, str]) -> str:
        """The model judges that it is over; certain is that the message is of this promise, and denies nothing."""
        said = next(event.text for event in await lines(context) if event.id in settled.event_ids)
        last = await store.commitments.nudged(context.audience.chat_id, context.person_id)
        over = settled.state == "done"
        if settled.state == "ongoing":
            return ""
        if not await aside.run(partial(admits, text, said, settled.number, tuple(open_.items()), over=over, last=last)):
            raise ToolRefused("commitment_unsure", marked("promise", settled.number))
        task = promised_title(open_[settled.number], dm=context.audience.kind == "dm")
        return words.messages.text(f"promise_said_{settled.state}", words.script_of(said, context.script), list=task)

    async def mine(context: ToolContext) -> tuple[Commitment, ...]:
        found = await store.commitments.open(context.audience, MOST_OPEN)
        return tuple(each for each in found if each.owner_id == context.person_id)

    async def zone(context: ToolContext) -> tzinfo:
        person = await store.people.person(context.person_id)
        return words.tz(person.timezone or words.zone)

    text = words.openings.text
    done = tuple(text(f"commitment_{key}", words.language, id="{id}") for key in ("saved", "settled"))
    return commitment_tool(spec, carrier, mine, store.tombstones.covers, zone, (done[0], done[1]), ending, nudging)


def stands(words: str, said: str) -> bool:
    """Whether somebody's own words say this without asking, guessing or telling what others say."""
    wanted = fold(said)
    found = [
        each
        for each in sentences(words[:READ_CHARS])
        if wanted in each.folded or (len(each.folded) >= LEAST and each.folded in wanted)
    ]
    return bool(found) and not any(each.asks or UNSURE.search(each.folded) for each in found)
