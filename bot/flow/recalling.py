"""What a recall brings: the store finds what the audience may see, the ranking orders it. The tool and `ctx` use it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from bot.config.memory import MemoryLimits
from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.recall.asides import past
from bot.recall.fit import pool
from bot.recall.question import Question, Talker, asking_part, question
from bot.recall.ranking import Task, rank, with_context
from bot.recall.rules import PROFILES, Rules
from bot.recall.seeded import raw_score, relevance
from bot.store.finding import Wanted
from bot.store.store import Store
from bot.text.spans import ahead, spans
from bot.text.tokens import query_terms
from bot.text.zones import zone_or
from bot.types.recall import Asking, Candidate, Likenesses, Matches, Near, Profile, Trace

NEAREST = 60
"""Documents that likeness may bring."""


class Recalling:
    """Answers questions from memory, each for its audience alone."""

    def __init__(self, store: Store, aside: Aside, settings: Settings, zone: str, near: Near) -> None:
        """`zone` is the house's, by which 昨天 counts in groups; `near` finds by likeness in the mode hybrid."""
        self._store = store
        self._aside = aside
        self._near = near
        self._names = settings.bot.names
        self._zone = zone
        self._memory = settings.memory
        self.mode = settings.memory.mode
        self.most = settings.memory.max

    async def recall(self, asking: Asking) -> Trace:
        """What this audience may see that answers the question best, with how that came about.

        Everything that takes time runs beside the event loop.
        """
        mode = asking.mode or self.mode
        asked = await self._asked(asking)
        finding = self._store.finding
        like = await self._near.like(asking, NEAREST) if mode == "hybrid" else None
        near = like.found if like is not None else {}
        matches, candidates = await finding.look(
            asking, tuple(asked.weights), asked.spans, lambda matches: Wanted(*pool(asked, matches, near))
        )
        if not candidates and mode == "keyword":
            docs = await finding.newest(asking, asking.most or self.most)
            candidates = await finding.read(asking, Wanted(docs, ()))
        task = self._task(asking, asked)
        return await self._aside.run(_ranked, task, matches, candidates, like)

    async def known(self, asking: Asking) -> float:
        """0 to 1: how much of what a text says one memory has in common with it, the best of all."""
        trace = await self.recall(replace(asking, kinds=("memory",), mode="v2", profile="default", most=1))
        texts = tuple(one.finding.text for one in trace.scored if one.cut not in ("no_term", "former"))
        return await self._aside.run(_shared, asking.text, self._names, texts)

    async def shared(self, text: str, other: str) -> float:
        """How much of what a text says is in another one, 0 to 1, as the reference measures it."""
        return await self._aside.run(_shared, text, self._names, (other,))

    async def _asked(self, asking: Asking) -> Question:
        people = await self._store.people.named((*asking.audience.person_ids, asking.person_id))
        talkers = (
            *(Talker(None, name, True) for name in self._names),
            *(Talker(number, name, number == asking.person_id) for number, (name, _) in people.items()),
        )
        own = people.get(asking.person_id, ("", ""))[1] if asking.audience.kind == "dm" else ""
        return await self._aside.run(_question, asking, talkers, zone_or(own or self._zone, self._zone))

    def _task(self, asking: Asking, asked: Question) -> Task:
        profile = asking.profile or self._memory.profile
        return Task(
            asking.mode or self.mode,
            profile,
            rules_of(self._memory, profile),
            asked,
            asking.now,
            asking.most or self.most,
            asking.strict,
        )


def _question(asking: Asking, talkers: tuple[Talker, ...], tz: tzinfo) -> Question:
    part = asking_part(asking.text)
    # Of what is yet to come only what is dated can be found.
    when = (*spans(part, asking.now, tz), *ahead(part, asking.now, tz))
    asked = question(asking.text, talkers, asking.own, asking.scene, tuple(dict.fromkeys(when)))
    return replace(asked, past=past(asking.said))


def rules_of(settings: MemoryLimits, profile: Profile) -> Rules:
    """The numbers of a profile, with those that the settings give instead."""
    given = {
        "min_score": settings.min_score, "min_relevance": settings.min_relevance,
        "half_life_days": settings.half_life_days, "relevance": settings.weight_relevance,
        "recency": settings.weight_recency, "importance": settings.weight_importance,
        "count_saturation": settings.importance_count_saturation, "saturation": settings.saturation,
    }  # fmt: skip
    return replace(PROFILES[profile], **{name: value for name, value in given.items() if value is not None})


def _ranked(task: Task, matches: Matches, candidates: Sequence[Candidate], like: Likenesses | None) -> Trace:
    return with_context(rank(task, matches, candidates, like))


def _shared(text: str, names: tuple[str, ...], others: tuple[str, ...]) -> float:
    rest = text
    for name in names:
        rest = rest.replace(name, " ")
    terms = query_terms(rest) or query_terms(text)
    return max((relevance(raw_score(terms, other)) for other in others), default=0.0)
