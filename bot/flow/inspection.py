"""A composed turn beside the calls before it: what it keeps of them and what the cache gave. It writes nothing."""

from dataclasses import dataclass
from datetime import tzinfo

from bot.flow.plan import Plan, Planner
from bot.prompt.cache import Item, Step, difference, last_step, log_items, message_item, prefix_item, step
from bot.prompt.tokens import prefix_tokens
from bot.store.store import Store
from bot.store.views import PastLog
from bot.text.estimate import Vocabulary
from bot.types.brought import Brought
from bot.types.money import Spend, Used
from bot.types.session import SessionFacts

FAILED = "failed"
"""Why a log that goes on begins anew all the same: its first turn came to nothing."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The next request item by item, and the chat's last call with its reply (`before`, empty when there is none).

    `gone` says that of that call only the prefix is kept. `next` compares the two, `last` that call with the one before
    it; `spent` is all that this chat used, `settled` its last call. `session` is what goes on there, told in `tz`.
    `refs` is what came from memory into the log that goes on, with the turn's number, and what this turn would add
    (turn 0).
    """

    plan: Plan
    vocabulary: Vocabulary
    request: tuple[Item, ...]
    before: tuple[Item, ...]
    gone: bool
    last: Step | None
    spent: Spend
    settled: Used | None
    session: SessionFacts
    tz: tzinfo
    refs: tuple[tuple[int, Brought], ...] = ()

    @property
    def next(self) -> Step | None:
        """The next request beside the last call; None when that is not known."""
        return step(self.before, self.request) if self.before else None

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


async def inspect(
    store: Store, planner: Planner, plan: Plan, chat_id: int, now: int, tz: tzinfo
) -> Inspection:  # fmt: skip
    """Look at a plan; only numbers and bytes that are stored anyway, of this chat alone."""
    words = planner.vocabulary
    newest = await store.views.past(chat_id)
    older = await store.views.past(chat_id, 1)
    before, earlier = _sent(newest, words), _sent(older, words)
    prefix = plan.prefix
    head = prefix_item(
        prefix.message, prefix.tools, prefix.signature, prefix_tokens(prefix.message, prefix.tools, words)
    )  # fmt: skip
    log = log_items(head, plan.epoch) if plan.epoch is not None else (head,)
    return Inspection(
        plan, words, (*log, message_item(plan.composed.message, plan.composed.tokens)),
        before, newest is not None and not newest.epoch.entries, last_step(before, earlier),
        await store.ledger.spend(0, chat_id), await store.ledger.last_talk(chat_id),
        await store.sessions.facts(chat_id, now), tz, await _refs(store, plan),
    )  # fmt: skip


async def _refs(store: Store, plan: Plan) -> tuple[tuple[int, Brought], ...]:
    logged = await store.brought.of_epoch(plan.epoch.id) if plan.epoch is not None else ()
    return (*logged, *((0, each) for each in plan.asking.brought if each.ref))


def _sent(log: PastLog | None, words: Vocabulary) -> tuple[Item, ...]:
    """What the last call on that log was sent and got; the prefix alone when the entries are gone."""
    if log is None:
        return ()
    epoch = log.epoch
    return log_items(
        prefix_item(epoch.prefix, log.tools, epoch.signature, prefix_tokens(epoch.prefix, log.tools, words)), epoch
    )  # fmt: skip
