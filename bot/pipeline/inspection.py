"""A turn composed for an imagined message, and beside the calls before it. It writes nothing."""

from dataclasses import dataclass, replace
from datetime import tzinfo

from bot.core.events import Event
from bot.core.models import CallUse, Spend
from bot.core.people import Chat, Person
from bot.core.sessions import Occasion, SessionFacts, ToldItem
from bot.pipeline.ingest import READ_CHARS, cleaned
from bot.pipeline.plan import Planner, TurnPlan
from bot.pipeline.texts import Texts
from bot.prompt.composition import (
    CacheStep,
    RequestItem,
    cache_step,
    difference,
    last_cache_step,
    log_items,
    message_item,
    prefix_item,
    prefix_tokens,
)
from bot.store.sessions import PastLog
from bot.store.store import Store
from bot.text.fold import usual_script
from bot.text.length import TokenVocabulary

NEXT_EVENT = 2**62
"""The number of an event that is only imagined: later than every stored one."""

FAILED = "failed"
"""Why a log that goes on begins anew all the same: its first turn came to nothing."""


async def plan_imagined(
    planner: Planner, words: Texts, chat: Chat, person: Person, query: str, now: int, names: tuple[str, ...] = ()
) -> TurnPlan:
    """The plan of the turn that would answer `query`, taken in as ingest would take it in."""
    said = cleaned(query)
    if said.strip():
        lines = (said[:READ_CHARS], *await planner.written(chat, person))
        person = replace(
            person, script=usual_script(lines, names, words.script(person) if person.script else None, words.language)
        )
    event = Event(NEXT_EVENT, chat.id, now, "message", person.id, person.name, said)
    return await planner.plan(Occasion(chat, person, (event,), "dm"), now)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The next request item by item, and the chat's last call with its reply (`before`, empty when there is none).

    `gone` says that of that call only the prefix is kept. `next` compares the two, `last` that call with the one before
    it; `spent` is all that this chat used, `settled` its last call. `session` is what goes on there, told in `tz`.
    `refs` is what came from memory into the log that goes on, with the turn's number, and what this turn would add
    (turn 0).
    """

    plan: TurnPlan
    vocabulary: TokenVocabulary
    request: tuple[RequestItem, ...]
    before: tuple[RequestItem, ...]
    gone: bool
    last: CacheStep | None
    spent: Spend
    settled: CallUse | None
    session: SessionFacts
    tz: tzinfo
    refs: tuple[tuple[int, ToldItem], ...] = ()

    @property
    def next(self) -> CacheStep | None:
        """The next request beside the last call; None when that is not known."""
        return cache_step(self.before, self.request) if self.before else None

    @property
    def why(self) -> str:
        """Why the next request is no mere continuation: the reason of its new log."""
        new = self.plan.asking.epoch
        return new.reason if new is not None else FAILED

    @property
    def lines(self) -> tuple[str, ...]:
        """The first item that differs from the last call, before and now."""
        found = self.next
        return difference(self.before, self.request, found.kept) if found is not None and not self.goes_on else ()

    @property
    def goes_on(self) -> bool:
        """Whether the next request only appends to the last call and its reply."""
        return self.next is not None and self.next.whole and not self.gone


async def inspect_plan(
    store: Store, planner: Planner, plan: TurnPlan, chat_id: int, now: int, tz: tzinfo
) -> Inspection:
    """Look at a plan; only numbers and bytes that are stored anyway, of this chat alone."""
    words = planner.vocabulary
    newest = await store.sessions.past_log(chat_id)
    older = await store.sessions.past_log(chat_id, 1)
    before, earlier = _sent(newest, words), _sent(older, words)
    prefix = plan.prefix
    head = prefix_item(
        prefix.message, prefix.tools, prefix.signature, prefix_tokens(prefix.message, prefix.tools, words)
    )
    log = log_items(head, plan.epoch) if plan.epoch is not None else (head,)
    return Inspection(
        plan,
        words,
        (*log, message_item(plan.composed.message, plan.composed.tokens)),
        before,
        newest is not None and not newest.epoch.entries,
        last_cache_step(before, earlier),
        await store.ledger.spend(0, chat_id),
        await store.ledger.last_talk(chat_id),
        await store.sessions.facts(chat_id, now),
        tz,
        await _refs(store, plan),
    )


async def _refs(store: Store, plan: TurnPlan) -> tuple[tuple[int, ToldItem], ...]:
    logged = await store.inspector.told_items(plan.epoch.id) if plan.epoch is not None else ()
    return (*logged, *((0, each) for each in plan.asking.brought if each.ref))


def _sent(log: PastLog | None, words: TokenVocabulary) -> tuple[RequestItem, ...]:
    """What the last call on that log was sent and got; the prefix alone when the entries are gone."""
    if log is None:
        return ()
    epoch = log.epoch
    return log_items(
        prefix_item(epoch.prefix, log.tools, epoch.signature, prefix_tokens(epoch.prefix, log.tools, words)), epoch
    )
