"""The tool add_commitment over the store: the promises of a turn's person, in their own words."""

from collections.abc import Mapping
from datetime import tzinfo
from functools import partial

from bot.flow.aside import Aside
from bot.flow.consent import Consent
from bot.flow.settling import promised_title
from bot.flow.words import Words
from bot.memory.closings import admits
from bot.people.tool import commitment_tool
from bot.store.store import Store
from bot.text.alike import core
from bot.text.signs import marked
from bot.types.commitment import Commitment, CommitmentState, Nudging
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext, ToolRefused

MOST_OPEN = 100
"""Open promises among which a number is looked up."""


def promising_tool(
    store: Store, words: Words, spec: ToolSpec, consent: Consent, nudging: Nudging | None, aside: Aside
) -> Tool:  # fmt: skip
    """The tool; `nudging` is how people are reminded of what they promise. What loads a dictionary goes `aside`."""

    async def carrier(context: ToolContext, text: str) -> tuple[int, str] | None:
        event = await consent.carrier(context, text, section="promises")
        lines = await consent.lines(context, done=True) if event is not None else ()
        return next(((line.id, line.text) for line in lines if line.id == event), None)

    async def ending(
        context: ToolContext, number: int, state: CommitmentState, open_: Mapping[int, str]
    ) -> tuple[int, str]:  # fmt: skip
        """The model judges that it is over; certain is that a line is of this promise, and denies and plans nothing."""
        last = await store.commitments.nudged(context.audience.chat_id, context.person_id)
        for line in reversed(await consent.lines(context, done=True)):
            if state == "ongoing":
                return line.id, ""
            allows = partial(
                admits, line.text, line.text, number, tuple(open_.items()), over=state == "done", last=last
            )  # fmt: skip
            if await aside.run(allows):
                task = promised_title(open_[number], dm=context.audience.kind == "dm")
                script = words.script_of(line.text, context.script)
                return line.id, words.messages.text(f"promise_said_{state}", script, list=task)
            if core(line.text) & core(open_[number]):
                break
        raise ToolRefused("commitment_unsure", marked("promise", number))

    async def mine(context: ToolContext) -> tuple[Commitment, ...]:
        found = await store.commitments.open(context.audience, MOST_OPEN)
        return tuple(each for each in found if each.owner_id == context.person_id)

    async def zone(context: ToolContext) -> tzinfo:
        person = await store.people.person(context.person_id)
        return words.tz(person.timezone or words.zone)

    return commitment_tool(spec, carrier, mine, store.tombstones.covers, zone, consent.answer, ending, nudging)
