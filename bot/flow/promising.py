"""The tool add_commitment over the store: the promises of a turn's person, in their own words."""

from datetime import tzinfo

from bot.flow.consent import Consent
from bot.flow.words import Words
from bot.people.tool import commitment_tool
from bot.store.store import Store
from bot.types.commitment import Commitment, Nudging
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext

MOST_OPEN = 100
"""Open promises among which a number is looked up."""


def promising_tool(
    store: Store, words: Words, spec: ToolSpec, consent: Consent, nudging: Nudging | None
) -> Tool:  # fmt: skip
    """The tool; `nudging` is how people are reminded of what they promise."""

    async def mine(context: ToolContext) -> tuple[Commitment, ...]:
        found = await store.commitments.open(context.audience, MOST_OPEN)
        return tuple(each for each in found if each.owner_id == context.person_id)

    async def zone(context: ToolContext) -> tzinfo:
        person = await store.people.person(context.person_id)
        return words.tz(person.timezone or words.zone)

    text = words.openings.text
    done = tuple(text(f"commitment_{key}", words.language, id="{id}") for key in ("saved", "settled"))
    return commitment_tool(spec, consent.carrier, mine, store.tombstones.covers, zone, (done[0], done[1]), nudging)
