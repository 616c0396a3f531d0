"""The tool add_commitment over the store: the promises of a turn's person, in their own words."""

from datetime import tzinfo

from bot.flow.words import Words
from bot.memory.own_words import own
from bot.memory.plain import READ_CHARS, UNSURE, sentences
from bot.people.tool import commitment_tool
from bot.store.store import Store
from bot.text.fold import fold
from bot.types.commitment import Commitment, Nudging
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext

LEAST = 4
"""Characters that say by themselves what is agreed."""

MOST_OPEN = 100
"""Open promises among which a number is looked up."""


def promising_tool(
    store: Store, words: Words, spec: ToolSpec, names: tuple[str, ...], nudging: Nudging | None
) -> Tool:  # fmt: skip
    """The tool; `names` are those the bot is called by, `nudging` is how people are reminded of what they promise."""

    async def carrier(context: ToolContext, text: str) -> int | None:
        events = await store.asked.own(context.event_ids, context.person_id, context.now)
        for event in events:
            if own(event.id, event.text, names).carries(text) and stands(event.text, text):
                return event.id
        return None

    async def mine(context: ToolContext) -> tuple[Commitment, ...]:
        found = await store.commitments.open(context.audience, MOST_OPEN)
        return tuple(each for each in found if each.owner_id == context.person_id)

    async def zone(context: ToolContext) -> tzinfo:
        person = await store.people.person(context.person_id)
        return words.tz(person.timezone or words.zone)

    text = words.openings.text
    done = tuple(text(f"commitment_{key}", words.language, id="{id}") for key in ("saved", "settled"))
    return commitment_tool(spec, carrier, mine, store.tombstones.covers, zone, (done[0], done[1]), nudging)


def stands(words: str, said: str) -> bool:
    """Whether somebody's own words say this without asking, guessing or telling what others say."""
    wanted = fold(said)
    found = [
        each
        for each in sentences(words[:READ_CHARS])
        if wanted in each.folded or (len(each.folded) >= LEAST and each.folded in wanted)
    ]
    return bool(found) and not any(each.asks or UNSURE.search(each.folded) for each in found)
