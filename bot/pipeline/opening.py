"""What a new log begins with: the opening block and the last lines, read from the store for their audience."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from bot.context import CtxLimits, fold_events, scene_text
from bot.core.events import Event
from bot.core.files import PromptFiles
from bot.core.people import Audience, Chat, Person, Script
from bot.core.ports import Log
from bot.core.sessions import Dialogue, Occasion, Session
from bot.language.feedback import AT_ONCE, AT_ONCE_MS, names_time, redates, with_correction
from bot.memory.dialogue import OLDEST_MS, select_talks
from bot.memory.lifecycle import vitality
from bot.pipeline.configuration import Current
from bot.pipeline.findings import already_told
from bot.pipeline.recall import SectionFilter
from bot.pipeline.reminder_texts import rule_label
from bot.prompt.days import COARSE_DATES, DayFormatter
from bot.prompt.opening import PEOPLE, light, opening
from bot.prompt.opening_facts import OpeningBlock, OpeningFacts, OpeningLine, upcoming
from bot.prompt.templates import BootTemplate, PersonaOpening, TemplateFailed, shipped_templates
from bot.prompt.warm_boot import LIVING, LineBuilder
from bot.store.store import Store

PERSON_CHARS = 120
"""What an opening shows of one older message (C8); a delta and raw lines show 200."""

MOST_EVENTS = 1 << 62
"""Above every event."""

LIGHT_LINES, LIGHT_TOKENS = 4, 120
"""What small talk is told of before: the newest lines, and how many tokens of them (seed: 400 to 500 for all)."""

COMMITMENTS = 100
"""Open promises that an opening chooses from, the newest."""


NO_OPENING = OpeningBlock("")


async def past_talks(store: Store, audience: Audience, person_id: int, now: int) -> tuple[Dialogue, ...]:
    """What an opening tells of them, that person's own first, the newest of each first."""
    return select_talks(await store.digests.told(audience, person_id, now - OLDEST_MS), now)


@dataclass(frozen=True, slots=True)
class ToldLines:
    """The lines of a message with their limits; `earlier` lines are not among the events and only counted.

    `opened` is what opens a log. `unanswered` are lines that nuan wrote first, which are always shown: the person may
    answer them.
    """

    events: tuple[Event, ...]
    limits: CtxLimits
    earlier: int
    opened: OpeningBlock = NO_OPENING
    unanswered: frozenset[int] = frozenset()


class OpeningLineReader:
    """Reads the lines that stand before a log."""

    def __init__(self, store: Store, current: Current) -> None:
        self._store = store
        self._current = current

    def limits(self, tokens: int) -> CtxLimits:
        """The configured limits of one delta, with so many tokens of lines that nobody waits on."""
        return CtxLimits(
            tokens=tokens,
            answered=self._current.settings.input.max_chars,
            scene=self._current.settings.context.scene.max_chars,
            gap_ms=self._current.settings.context.gap_seconds * 1000,
        )

    async def read(self, occasion: Occasion, session: Session | None, now: int, light: bool) -> ToldLines:
        """The lines that a new log begins with; what its first turn answers comes besides.

        A session that is open tells its own lines, and before them what it was, or would have been, opened with.
        """
        context, chat = self._current.settings.context, occasion.chat
        wish = await self._store.settings.context(chat.id)
        recent = context.recent if wish.recent is None else wish.recent
        window = context.window_seconds if wish.window_seconds is None else wish.window_seconds
        most = context.bus_max if wish.recent_max is None else wish.recent_max
        floor = await self._store.sessions.floor(chat.id)
        own, opened = (session.from_event, session.opened_at) if session is not None else (MOST_EVENTS, now)
        ended = await self._store.sessions.undigested(chat.id)
        raw = [each.from_event for each in ended if each.close_reason != "clear" and each.from_event < own]
        stands_in = bool(raw) and not light
        if stands_in:
            # The digest is not there yet: the raw lines stand in for it, as many as the chat itself wants to be told.
            floor, recent = max(floor, min(raw)), most if wish.recent is None else wish.recent
            window = opened // 1000 if wish.window_seconds is None else wish.window_seconds
        lines = min(most if raw else LIGHT_LINES, recent) if light else most
        events, earlier = await self._store.sessions.lines(
            chat.id,
            tuple(event.id for event in occasion.answering),
            floor,
            (own, opened - window * 1000),
            lines,
            apart=self._current.settings.speak.busy == "queue",
        )
        if light:
            limits = self.limits(LIGHT_TOKENS)
            return ToldLines(events, replace(limits, bot=limits.message), earlier)
        lead = fold_events(event for event in events if event.id <= own)
        dropped = max(0, len(lead) - recent)
        if not stands_in and wish.recent is None:
            told = await self._store.digests.told_upto(chat.id)
            old = sum(line.event_ids[-1] <= told for line in lead)
            dropped = max(dropped, old - context.recent_told)
        cut = sum(len(line.event_ids) for line in lead[:dropped])
        limits = self.limits(context.carry_tokens)
        if stands_in or session is not None:  # raw lines are bounded by tokens alone, the bot's own lines as well
            limits = replace(limits, bot=limits.message, bot_lines=most)
        else:
            limits = replace(limits, message=PERSON_CHARS)
        return ToldLines(with_corrections(events[cut:]), limits, earlier + cut)


def with_corrections(events: Iterable[Event]) -> tuple[Event, ...]:
    """The lines, each with the correction that its writer made of its day or hour right behind it.

    No word is lost: what would be too long together stays apart.
    """
    told: list[Event] = []
    for event in events:
        late, own = event.at - AT_ONCE_MS, event.kind == "message" and not event.forwarded
        near = [place for place in range(max(0, len(told) - AT_ONCE), len(told)) if told[place].at >= late]
        mine = [place for place in near if told[place].kind == "message" and told[place].person_id == event.person_id]
        last = mine[-1] if mine and own and redates(event.text) else None
        whole = with_correction(told[last].text, event.text) if last is not None else ""
        if last is None or told[last].forwarded or not names_time(told[last].text) or len(whole) > PERSON_CHARS:
            told.append(event)
        else:
            told[last] = replace(told[last], text=whole)
    return tuple(told)


class OpeningReader:
    """Reads what an opening may tell an audience, and tells it."""

    def __init__(self, store: Store, current: Current, sectioning: SectionFilter, log: Log) -> None:
        self._store = store
        self._current = current
        self._sectioning = sectioning
        self._log = log

    async def boot(self, audience: Audience, chat: Chat, person: Person, now: int) -> OpeningBlock:
        """The block that a log would open with that this person begins there now."""
        return self.opening(await self.facts(audience, chat, person, now), person)

    async def facts(
        self, audience: Audience, chat: Chat, person: Person, now: int, *, talks: bool = True
    ) -> OpeningFacts:
        """What this audience may be told, with the days of the calendar that counts for this person there; of past `talks`
        only if these are wanted."""
        words, settings, wake = self._current.words, self._current.settings, self._wake(chat.persona)
        zone, script = words.zone_of(chat, person), words.script(person)
        tz = words.tz(zone)
        found = await self._store.memories.opening(audience, now, PEOPLE, tz)
        alone = found.people[audience.alone] if audience.alone is not None else None
        commitments = await self._store.commitments.open(audience, COMMITMENTS)
        reminders = await self._store.reminders.open(person.id, None if alone is not None else chat.id, shared=True)
        said = {memory.chat_id for memory in found.memories if memory.visibility == "chat"}
        said |= {one.chat_id for one in commitments} | {one.chat_id for one in reminders}
        elsewhere = said - {chat.id}
        return OpeningFacts(
            bot_name=settings.bot.names[0],
            who=wake.who[script],
            owner=settings.bot.owner,
            zone=zone,
            tz=tz,
            now=now,
            chat=self.seen(chat),
            present=tuple(found.people[number] for number in audience.person_ids[:PEOPLE]),
            names={number: each.name for number, each in found.people.items()},
            memories=found.memories,
            dialogues=await past_talks(self._store, audience, person.id, now) if talks else (),
            vitality={m.id: vitality(m, now) for m in found.memories if m.kind in LIVING and not m.kept},
            commitments=commitments,
            reminders=reminders,
            last_at=found.last_at,
            topic=await self._sectioning.topic(audience, person.id, now) if talks else None,
            met=found.met,
            user=wake.user if alone is not None and alone.is_owner else "",
            groups=await self._store.people.titles(elsewhere) if elsewhere else {},
            changed=found.changed,
            repeats={one.id: rule_label(words, one.rule, script) for one in reminders if one.rule},
        )

    async def on_days(
        self, named: frozenset[date], audience: Audience, chat: Chat, person: Person, said: str, now: int
    ) -> tuple[OpeningLine, ...]:
        """What lies ahead for this audience on one of these days, the soonest first, without what `said` tells."""
        facts = await self.facts(audience, chat, person, now, talks=False)
        script = self._current.words.script(person)
        days = DayFormatter(now, facts.tz, self._current.words.opening(script), self._current.words.days(script))
        coming = [one for one in upcoming(facts, days) if one.day in named and one.dated not in COARSE_DATES]
        lines = [(one, LineBuilder(facts, days).due(one)) for one in coming]
        return tuple(line for one, line in lines if not (already_told(said, one.text) or already_told(said, line.text)))

    def opening(self, facts: OpeningFacts, person: Person) -> OpeningBlock:
        """The block that opens a full log, in the script of that person."""
        words, limit = self._current.words, self._current.settings.context.opening_tokens
        script = words.script(person)

        def told(templates: Mapping[Script, BootTemplate]) -> OpeningBlock:
            return opening(facts, words.opening(script), words.days(script), templates[script].begin, limit)

        try:
            opened = told(self._wake(facts.chat.persona).templates)
        except TemplateFailed as error:
            self._log.error("template_failed", chat=facts.chat.id, template=error.name, line=error.line)
            opened = told(shipped_templates(PromptFiles(None).path))
        return _noted(opened, facts)

    def light(self, facts: OpeningFacts, person: Person) -> OpeningBlock:
        """What opens a light log: who is here, and after a pause what matters now."""
        script = self._current.words.script(person)
        return _noted(light(facts, self._current.words.opening(script), self._current.words.days(script)), facts)

    def _wake(self, chosen: str) -> PersonaOpening:
        """How the persona wakes up that was chosen somewhere."""
        texts = self._current.value.texts
        return texts.openings[texts.personas.name(chosen)]

    def seen(self, chat: Chat) -> Chat:
        """The chat with as much of its scene as may be told."""
        scene = self._current.settings.context.scene
        return replace(chat, scene=scene_text(chat.scene, scene.max_chars) if scene.include else "")


def _noted(opened: OpeningBlock, facts: OpeningFacts) -> OpeningBlock:
    """The block with the memories that it tells, each whose words are in it, whichever line they stand in."""
    lines = frozenset(opened.told("memory"))
    told = [m.id for m in facts.memories if m.id in lines or already_told(opened.text, m.text)]
    if facts.topic is not None and already_told(opened.text, facts.topic.text):
        told.append(facts.topic.memory_id)
    return replace(opened, memories=tuple(dict.fromkeys(told)))
