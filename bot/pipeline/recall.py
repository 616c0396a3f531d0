"""Recall: what the audience may see that answers a question, in which sections first, and what comes unasked."""

from asyncio import gather
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo

from bot.config.memory import MemoryRules, SectionRules
from bot.core.events import Event
from bot.core.people import Audience
from bot.core.recall import (
    Candidate,
    Matches,
    RankingProfile,
    RecallMode,
    RecallQuery,
    RecallRound,
    RecallTrace,
    ScoredHit,
    SearchHit,
    TopicLine,
)
from bot.core.sessions import BootstrapMode, Occasion, ToldItem
from bot.core.speaking import UNASKED
from bot.language.sections import SectionRegistry, section_registry
from bot.language.time.dates import coming_spans, days_ahead, spans
from bot.language.time.schedule import zone_or
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.endpoints import embedding_provider
from bot.pipeline.findings import ahead_line, already_told, memory_line
from bot.pipeline.vector_search import VectorSearch
from bot.prompt.days import DayFormatter
from bot.prompt.opening_facts import OpeningLine
from bot.prompt.templates import thing_numbers
from bot.recall.filters import asks_about_past
from bot.recall.lexical import candidate_pool
from bot.recall.query import SearchQuery, Talker, asking_part, own_lines, search_query
from bot.recall.ranking import PROFILES, Likeness, RankRules, RankTask, rank, raw_score, relevance, with_context
from bot.recall.sections import FRESH_MS, current_topic, round_of, sections_to_search
from bot.recall.selection import called_for, far_above, score_text, standing_out, without_unlike
from bot.store.search import WantedDocuments
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.length import estimate_tokens
from bot.text.terms import query_terms

ALIKE = 0.85
"""What fits a message nearly as well as the best is what it is about as well; the rest only shares words with it."""

NEAREST = 30
"""Documents that likeness may bring."""

LINE_CHARS = 160
"""Characters of one line; memory_recall of its number brings the whole."""

BRIEF_CHARS, BRIEF_FOUND = 100, 20
"""A question of no more characters is read, and no more candidates are ranked, in about a millisecond: a thread that had
to be woken for it would take longer."""

ON_DAYS = 2
"""So much of what lies ahead on the days that a message names is told at most."""

CANDIDATES = 20
"""Results that are looked through for those that a log does not tell yet."""


@dataclass(frozen=True, slots=True)
class SectionChoice:
    """The sections that are searched (none: all) and those that the message names; `off`: nobody counts."""

    searched: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    off: bool = False

    def widened(self) -> "SectionChoice":
        """The same for all sections."""
        return replace(self, searched=())

    def round(self, found: Sequence[ScoredHit]) -> RecallRound | None:
        """What the search proved, of what the message calls for; None where nobody counts."""
        if self.off:
            return None
        memories = (one.finding.memory for one in found if one.score >= ALIKE * found[0].score)
        hits = ((each.section, each.id, each.kept) for each in memories if each is not None)
        return round_of(hits, self.searched, self.named)


class SectionFilter:
    """Follows what talks are about."""

    def __init__(self, store: Store, current: Current) -> None:
        self._store = store
        self._current = current

    @property
    def registry(self) -> SectionRegistry:
        """The sections that there are."""
        return section_registry(self._current.settings.sections.own)

    def narrow(self, rounds: Sequence[RecallRound], text: str) -> SectionChoice:
        """Where a message is searched first, after what the turns before it found lately."""
        rules = self._current.settings.sections
        if not rules.on:
            return SectionChoice(off=True)
        registry = self.registry
        named, there = registry.named(text), set(registry.keys)
        searched = sections_to_search(rounds, named, rules)
        return SectionChoice(searched if there.issuperset(searched) else (), named)

    async def topic(self, audience: Audience, person_id: int, now: int) -> TopicLine | None:
        """What the person's talk in this chat stays with, if this audience may be told."""
        return await topic_of(self._store, self._current.settings.sections, audience, person_id, now)


async def topic_of(store: Store, rules: SectionRules, audience: Audience, person_id: int, now: int) -> TopicLine | None:
    """As `SectionFilter.topic`, by these rules."""
    if not (rules.on and rules.topic):
        return None
    rounds = await store.sessions.recall_rounds(audience.chat_id, person_id, now - FRESH_MS)
    found = current_topic(rounds, rules)
    if found is None:
        return None
    memory = await store.search.memory(audience, found.memory_id)
    return TopicLine(found.section, memory.text, memory.id) if memory is not None else None


class Recall:
    """Answers questions from memory, each for its audience alone."""

    def __init__(self, store: Store, thread: TextThread, current: Current, near: VectorSearch) -> None:
        """`near` finds by likeness in the mode hybrid."""
        self._store = store
        self._thread = thread
        self._near = near
        self._current = current

    @property
    def mode(self) -> RecallMode:
        """The configured one, else what the installation has."""
        settings = self._current.settings
        return settings.memory.mode or ("hybrid" if embedding_provider(settings) else "v2")

    async def recall(self, asking: RecallQuery) -> RecallTrace:
        """What this audience may see that answers the question best, with how that came about.

        What may take long runs beside the event loop.
        """
        mode = asking.mode or self.mode
        asked = await self._asked(asking)
        finding = self._store.search
        like = await self._near.like(asking, NEAREST) if mode == "hybrid" else None
        near = tuple(like.found) if like is not None else ()
        matches, candidates = await finding.look(
            asking,
            tuple(asked.weights),
            asked.spans,
            lambda matches: WantedDocuments(*candidate_pool(asked, matches, near)),
        )
        task = self._task(asking, asked, mode)
        if not candidates and mode == "keyword":
            docs = await finding.newest(asking, task.limit)
            candidates = await finding.read(asking, WantedDocuments(docs, ()))
        brief = not matches.talks and len(candidates) <= BRIEF_FOUND
        return await self._thread.run(_ranked, task, matches, candidates, like, brief=brief)

    async def standing(self, asking: RecallQuery) -> Mapping[int, float]:
        """How far memories stand above their mean likeness to a text, where the mode is hybrid, nuan's own ranking is used,
        and it costs no call."""
        ours = self._current.settings.memory.profile != "seed"
        return await self._near.standing(asking) if ours and self.mode == "hybrid" else {}

    async def documents(self, asking: RecallQuery, numbers: Sequence[int]) -> tuple[SearchHit, ...]:
        """Of the documents of these numbers those that this audience may see, in this order."""
        found = await self._store.search.read(asking, WantedDocuments(tuple(numbers), ()))
        asked = (each.finding for each in found if each.finding.doc in numbers)
        return tuple(sorted(asked, key=lambda one: numbers.index(one.doc)))

    async def known(self, asking: RecallQuery) -> float:
        """0 to 1: how much of what a text says one memory has in common with it, the best of all."""
        trace = await self.recall(replace(asking, kinds=("memory",), mode="v2", profile="default", most=1))
        texts = tuple(one.finding.text for one in trace.scored if one.cut not in ("no_term", "former"))
        return await self._thread.run(_shared, asking.text, self._current.settings.bot.names, texts)

    async def shared(self, text: str, other: str) -> float:
        """How much of what a text says is in another one, 0 to 1, as the reference measures it."""
        return await self._thread.run(_shared, text, self._current.settings.bot.names, (other,))

    async def _asked(self, asking: RecallQuery) -> SearchQuery:
        people = asking.people or await self._store.people.named((*asking.audience.person_ids, asking.person_id))
        talkers = (
            *(Talker(None, name, True) for name in self._current.settings.bot.names),
            *(Talker(number, name, number == asking.person_id) for number, (name, _) in people.items()),
        )
        own = people.get(asking.person_id, ("", ""))[1] if asking.audience.kind == "dm" else ""
        # 昨天 counts by the installation's calendar in groups.
        zone = self._current.words.zone
        brief = sum(map(len, (asking.text, asking.said, asking.scene, *asking.own))) <= BRIEF_CHARS
        return await self._thread.run(_question, asking, talkers, zone_or(own or zone, zone), brief=brief)

    def _task(self, asking: RecallQuery, asked: SearchQuery, mode: RecallMode) -> RankTask:
        memory = self._current.settings.memory
        profile = asking.profile or memory.profile
        return RankTask(
            mode,
            profile,
            rules_of(memory, profile),
            asked,
            asking.now,
            asking.most or memory.max,
            asking.strict,
        )


def _question(asking: RecallQuery, talkers: tuple[Talker, ...], tz: tzinfo) -> SearchQuery:
    part = asking_part(asking.text)
    # Of what is yet to come only what is dated can be found.
    when = (*spans(part, asking.now, tz), *coming_spans(part, asking.now, tz))
    asked = search_query(asking.text, talkers, asking.own, asking.scene, tuple(dict.fromkeys(when)))
    meant = when if not asking.said else (*when, *spans(asking_part(asking.said), asking.now, tz))
    if asking.since is not None or asking.until is not None:
        meant = (*meant, (asking.since or 0, asking.until or asking.now))
    past = asks_about_past(asking.text) or asks_about_past(asking.said)
    return replace(asked, past=past, then=tuple(each for each in meant if each[1] <= asking.now))


def rules_of(settings: MemoryRules, profile: RankingProfile) -> RankRules:
    """The numbers of a profile, with those that the settings give instead."""
    given = {
        "min_score": settings.min_score,
        "min_relevance": settings.min_relevance,
        "half_life_days": settings.half_life_days,
        "relevance": settings.weight_relevance,
        "recency": settings.weight_recency,
        "importance": settings.weight_importance,
        "count_saturation": settings.importance_count_saturation,
        "saturation": settings.saturation,
    }
    return replace(PROFILES[profile], **{name: value for name, value in given.items() if value is not None})


def _ranked(task: RankTask, matches: Matches, candidates: Sequence[Candidate], like: Likeness | None) -> RecallTrace:
    return with_context(rank(task, matches, candidates, like))


def rank_nothing(text: str, names: tuple[str, ...], rules: MemoryRules, now: int, tz: tzinfo) -> None:
    """Read a question and rank as if nothing were found, so that dictionaries and expressions are there for the first."""
    asking = RecallQuery(Audience(0, "dm", (0,)), 0, text, now)
    asked = _question(asking, tuple(Talker(None, name, True) for name in names), tz)
    rank(RankTask("v2", rules.profile, rules_of(rules, rules.profile), asked, now, 1), Matches((), 0, 0), ())


def _shared(text: str, names: tuple[str, ...], others: tuple[str, ...]) -> float:
    rest = text
    for name in names:
        rest = rest.replace(name, " ")
    terms = query_terms(rest) or query_terms(text)
    return max((relevance(raw_score(terms, other)) for other in others), default=0.0)


@dataclass(frozen=True, slots=True)
class AutoRecalled:
    """The lines as they are appended ("" for none), the memories, promises and reminders in them, what is to be noted
    of each, and what was found in which section."""

    text: str = ""
    memories: tuple[int, ...] = ()
    commitments: tuple[int, ...] = ()
    reminders: tuple[int, ...] = ()
    brought: tuple[ToldItem, ...] = ()
    round: RecallRound | None = None


class AutoRecall:
    """Finds what a turn is told without asking."""

    def __init__(self, recalling: Recall, thread: TextThread, current: Current, sectioning: SectionFilter) -> None:
        self._recalling = recalling
        self._thread = thread
        self._current = current
        self.sectioning = sectioning

    def wanted(self, occasion: Occasion, mode: BootstrapMode) -> bool:
        """Whether this turn may be told something: never small talk, nor where nobody called."""
        inject = self._current.settings.memory.inject
        return inject in ("auto", "both") and mode == "full" and occasion.why not in UNASKED

    async def days(self, occasion: Occasion) -> frozenset[date]:
        """The days that lie ahead and are named by the messages being answered, in the calendar of whoever is answered."""
        tz = self._current.words.tz_of(occasion.chat, occasion.person)
        said = [event for event in occasion.answering if event.kind == "message"]
        brief = sum(len(event.text) for event in said) <= BRIEF_CHARS
        return await self._thread.run(_days_ahead, said, tz, brief=brief)

    async def lines(
        self,
        occasion: Occasion,
        audience: Audience,
        said: str,
        own: tuple[Event, ...],
        rounds: Sequence[RecallRound],
        scene: str,
        now: int,
        ahead: Sequence[OpeningLine] = (),
    ) -> AutoRecalled:
        """What the messages being answered call for and the log does not tell yet; `said` is all that it says.

        `own` is what the person wrote last, `rounds` what their turns found lately, oldest first. It asks no model:
        words, age and importance decide, and where the local encoder is there, meaning: of what words find in later
        places only what is like the message comes, and what is by far the likest comes as well. `ahead` is what lies ahead on the days that
        they name: some of it comes as well.
        """
        asked = "\n".join(event.text for event in occasion.answering if event.kind == "message")
        if not asked.strip():
            return AutoRecalled()
        person = occasion.person
        known = {person.id: (person.name, person.timezone)} if audience.alone == person.id else {}
        asking = RecallQuery(
            audience,
            person.id,
            asked,
            now,
            CANDIDATES,
            kinds=("memory",),
            mode="v2",
            people=known,
            own=own_lines(own, {event.id for event in occasion.answering}, now),
            scene=scene,
            strict=True,
        )
        narrowed = self.sectioning.narrow(rounds, asked)
        (_, found, narrowing), above = await gather(self.found(asking, narrowed), self._recalling.standing(asking))
        news = await self.by_meaning(asking, said, found, above)
        return replace(self._told(occasion, news, ahead, now), round=narrowing.round(found))

    async def by_meaning(
        self, asking: RecallQuery, said: str, found: Sequence[ScoredHit], above: Mapping[int, float]
    ) -> tuple[ScoredHit, ...]:
        """Of what words found the news that are brought, and after them what stands out by its meaning."""
        news = [one for one in found if (memory := one.finding.memory) and not already_told(said, memory.text)]
        brought = without_unlike(news[: self._current.settings.memory.max], above)
        likest = far_above(above)
        if not likest:
            return brought
        left = _told_once(asking, said, await self._recalling.documents(asking, likest))
        number = standing_out(above, set(likest) - {one.doc for one in left.values()})
        there = {fold(one.finding.text) for one in brought}
        one = next((one for text, one in left.items() if one.doc == number and text not in there), None)
        return brought if one is None else (*brought, ScoredHit(one, 0.0, (("above", above[one.doc]),)))

    async def found(
        self, asking: RecallQuery, narrowing: SectionChoice
    ) -> tuple[RecallTrace, tuple[ScoredHit, ...], SectionChoice]:
        """What the message calls for, first where the talk stays, and everywhere when nothing is there.

        It comes with all that was found, and with where that was.
        """
        trace = await self._recalling.recall(replace(asking, sections=narrowing.searched))
        names = self._current.settings.bot.names
        # Nothing for most messages: no thread has to be asked, and no dictionary loaded.
        found = await self._thread.run(called_for, trace, asking.text, names) if trace.chosen else ()
        if narrowing.searched and not found:
            return await self.found(asking, narrowing.widened())
        return trace, found, narrowing

    def _told(
        self, occasion: Occasion, news: Sequence[ScoredHit], ahead: Sequence[OpeningLine], now: int
    ) -> AutoRecalled:
        """As many of these as there is room for."""
        if not news and not ahead:
            return AutoRecalled()
        rules, words, vocabulary = self._current.settings.memory, self._current.words, self._current.value.vocabulary
        script = words.script(occasion.person)
        text = words.opening(script)
        days = DayFormatter(now, words.tz_of(occasion.chat, occasion.person), text, words.days(script))
        alone = occasion.chat.kind == "dm"
        left = rules.inject_tokens - estimate_tokens(text("brought"), vocabulary)
        lines: list[str] = []
        brought: list[ToldItem] = []
        of_news = [(one, memory) for one in news if (memory := one.finding.memory) is not None]
        for one, memory in of_news[: rules.max]:
            line = memory_line(days, one.finding, memory, alone=alone, most=LINE_CHARS)
            tokens = estimate_tokens(line, vocabulary)
            left -= tokens
            if left < 0:
                break
            lines.append(line)
            brought.append(ToldItem("auto", f"#{memory.id}", tokens, score_text(one)))
        chosen = [memory.id for _, memory in of_news[: len(lines)]]
        dated: list[OpeningLine] = []
        for each in ahead:
            line = ahead_line(each, text)
            tokens = estimate_tokens(line, vocabulary)
            if tokens > left or each.memory in chosen or len(dated) == ON_DAYS:
                continue
            left -= tokens
            lines.append(line)
            dated.append(each)
            brought.append(ToldItem("auto", thing_numbers(each), tokens, "day"))
        if not lines:
            return AutoRecalled()
        return AutoRecalled(
            "\n".join((text("brought"), *lines)),
            (*chosen, *(each.memory for each in dated if each.memory)),
            tuple(each.commitment for each in dated if each.commitment),
            tuple(each.reminder for each in dated if each.reminder),
            tuple(brought),
        )


def _told_once(asking: RecallQuery, said: str, read: Sequence[SearchHit]) -> Mapping[str, SearchHit]:
    """Of memories those that hold and that `said` does not tell; of equal ones the asking person's, else the first."""
    news: dict[str, SearchHit] = {}
    for one in read:
        memory, text = one.memory, fold(one.text)
        if memory is None or memory.former_at or already_told(said, memory.text):
            continue
        if text not in news or one.person_id == asking.person_id:
            news[text] = one
    return news


def _days_ahead(said: Sequence[Event], tz: tzinfo) -> frozenset[date]:
    return frozenset().union(*(days_ahead(event.text, event.at, tz) for event in said))
