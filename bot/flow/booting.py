"""The opening block of a log, from what is stored: for a turn that begins one, for the tool boot, for `nuan boot`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.context.scene import scene_text
from bot.flow.found import tells
from bot.flow.pasttalks import past_talks
from bot.flow.sectioning import Sectioning
from bot.flow.words import Words
from bot.memory.vitality import vitality
from bot.prompt.opening import PEOPLE, light, opening
from bot.prompt.template import BootTemplate, TemplateFailed, shipped_templates
from bot.prompt.warmboot import LIVING
from bot.resources import Prompts
from bot.store.store import Store
from bot.text.script import Script
from bot.types.log import Log
from bot.types.opening import Opened, OpeningFacts
from bot.types.people import Audience, Chat, Person

COMMITMENTS = 100
"""Open promises that an opening chooses from, the newest."""


@dataclass(frozen=True, slots=True)
class Wake:
    """How a persona wakes up: by which templates, as whom (the first line of its identity), and what its owner wrote
    of themselves for it."""

    templates: Mapping[Script, BootTemplate]
    who: Mapping[Script, str]
    user: str = ""


class Booting:
    """Reads what an opening may tell an audience, and tells it."""

    def __init__(
        self, store: Store, settings: Settings, words: Words, wake: Callable[[str], Wake],
        sectioning: Sectioning, log: Log,
    ) -> None:  # fmt: skip
        """`wake` is how the persona of that name wakes up."""
        self._store = store
        self._settings = settings
        self._words = words
        self._wake = wake
        self._sectioning = sectioning
        self._log = log

    async def boot(self, audience: Audience, chat: Chat, person: Person, now: int) -> Opened:
        """The block that a log would open with that this person begins there now."""
        return self.opening(await self.facts(audience, chat, person, now), person)

    async def facts(self, audience: Audience, chat: Chat, person: Person, now: int) -> OpeningFacts:
        """What this audience may be told, with the days of the calendar that counts for this person there."""
        zone, settings, wake = self._words.zone_of(chat, person), self._settings, self._wake(chat.persona)
        tz = self._words.tz(zone)
        found = await self._store.openings.read(audience, now, PEOPLE, tz)
        alone = found.people[audience.alone] if audience.alone is not None else None
        commitments = await self._store.commitments.open(audience, COMMITMENTS)
        reminders = await self._store.reminders.open(person.id, None if alone is not None else chat.id, shared=True)
        said = {memory.chat_id for memory in found.memories if memory.visibility == "chat"}
        said |= {one.chat_id for one in commitments} | {one.chat_id for one in reminders}
        return OpeningFacts(
            bot_name=settings.bot.names[0], who=wake.who[self._words.script(person)], owner=settings.bot.owner,
            zone=zone, tz=tz, now=now, chat=self.seen(chat),
            present=tuple(found.people[number] for number in audience.person_ids[:PEOPLE]),
            names={number: each.name for number, each in found.people.items()}, memories=found.memories,
            dialogues=await past_talks(self._store, audience, person.id, now),
            vitality={m.id: vitality(m, now) for m in found.memories if m.kind in LIVING and not m.kept},
            commitments=commitments, reminders=reminders, last_at=found.last_at,
            topic=await self._sectioning.topic(audience, person.id, now), met=found.met,
            user=wake.user if alone is not None and alone.is_owner else "",
            groups=await self._store.people.titles(said - {chat.id}), changed=found.changed,
        )  # fmt: skip

    def opening(self, facts: OpeningFacts, person: Person) -> Opened:
        """The block that opens a full log, in the script of that person."""
        words, limit = self._words, self._settings.context.opening_tokens
        script = words.script(person)

        def told(templates: Mapping[Script, BootTemplate]) -> Opened:
            return opening(facts, words.opening(script), words.days(script), templates[script].begin, limit)

        try:
            opened = told(self._wake(facts.chat.persona).templates)
        except TemplateFailed as error:
            self._log.error("template_failed", chat=facts.chat.id, template=error.name, line=error.line)
            opened = told(shipped_templates(Prompts(None).path))
        return _noted(opened, facts)

    def light(self, facts: OpeningFacts, person: Person) -> Opened:
        """What opens a light log: who is here, and after a pause what matters now."""
        script = self._words.script(person)
        return _noted(light(facts, self._words.opening(script), self._words.days(script)), facts)

    def seen(self, chat: Chat) -> Chat:
        """The chat with as much of its scene as may be told."""
        scene = self._settings.context.scene
        return replace(chat, scene=scene_text(chat.scene, scene.max_chars) if scene.include else "")


def _noted(opened: Opened, facts: OpeningFacts) -> Opened:
    """The block with the memories that it tells, each whose words are in it, whichever line they stand in."""
    lines = frozenset(opened.told("memory"))
    told = [m.id for m in facts.memories if m.id in lines or tells(opened.text, m.text)]
    if facts.topic is not None and tells(opened.text, facts.topic.text):
        told.append(facts.topic.memory_id)
    return replace(opened, memories=tuple(dict.fromkeys(told)))
