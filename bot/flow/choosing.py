"""How much of the bootstrap a turn brings: what the rule of bot/prompt/policy.py must know is read here."""

from bot.config.settings import Settings
from bot.flow.crew import Crew
from bot.money.degrade import Step
from bot.prompt.casual import asks, casual
from bot.prompt.persona import Prefix
from bot.prompt.policy import Choice, choose
from bot.prompt.tokens import log_tokens, prefix_tokens
from bot.store.events import Seen
from bot.store.store import Store
from bot.text.estimate import Vocabulary
from bot.types.event import Event
from bot.types.occasion import Occasion
from bot.types.session import Epoch, Session
from bot.types.speaking import UNASKED

LAST_LINES = 20
"""Lines among which nuan's last one is looked for."""


class Chooser:
    """Chooses light or full."""

    def __init__(
        self, store: Store, settings: Settings, crew: Crew, vocabulary: Vocabulary
    ) -> None:  # fmt: skip
        self._store = store
        self._settings = settings
        self._crew = crew
        self._vocabulary = vocabulary

    async def choose(
        self, occasion: Occasion, session: Session | None, epoch: Epoch | None, full: Prefix, now: int, step: Step
    ) -> Choice:  # fmt: skip
        """How much of the bootstrap this turn brings; `full` is what it would bring with all of it."""
        rules, goes_on = self._settings.prompt, session is not None and epoch is not None and not epoch.stale
        small = rules.light != "off" and all(self._is_small_talk(event) for event in occasion.answering)
        small = small and not occasion.cues and not await self._asked(occasion)
        log = log_tokens(epoch) if goes_on and epoch is not None else 0
        warm = rules.light == "auto" and small and await self._warm(full, log, now)
        poor = step in ("light", "over") and occasion.why not in UNASKED
        mode = epoch.mode if goes_on and epoch is not None else None
        whole = mode == "full" and epoch is not None and log_tokens(epoch) > self._settings.context.carry_tokens
        return choose(rules.light, casual=small, log=mode, warm=warm, full_log=whole, poor=poor)

    async def chatted(self, occasion: Occasion, choice: Choice) -> int:
        """After how many replies that were small talk alone this one is told so; 0 where it is not."""
        turns = self._settings.prompt.light_hint_turns
        if not turns or choice.mode != "light" or choice.why == "budget":
            return 0
        run = await self._store.views.light_run(occasion.chat.id, occasion.person.id, turns + 1)
        return turns if run == turns else 0

    async def _warm(self, full: Prefix, log: int, now: int) -> bool:
        """Whether the provider would read the full prefix, with a log of so many tokens, from its cache."""
        first = self._crew.first
        if prefix_tokens(full.message, full.tools, self._vocabulary) + log < first.least_cached:
            return False
        since = now - self._settings.prompt.warm_seconds * 1000
        return await self._store.ledger.used_since(full.signature, first.model.name, since)

    async def _asked(self, occasion: Occasion) -> bool:
        """Whether nuan's last line here asked something: then 好的 is an answer, and what it answers must be known."""
        first = min(event.id for event in occasion.answering)
        lines = await self._store.events.recent(occasion.chat.id, 0, 0, LAST_LINES)
        said = [event.text for event in lines if event.kind == "bot" and event.id < first and not event.label]
        return bool(said) and asks(said[-1])

    def _is_small_talk(self, event: Event) -> bool:
        about = (
            event.kind != "message" or event.forwarded or (isinstance(event, Seen) and bool(event.marks or event.quote))
        )
        return not about and casual(event.text, self._settings.bot.names)


def why_anew(session: Session | None, epoch: Epoch | None, prefix: Prefix, choice: Choice) -> str:
    """Why the next turn cannot append to the log; "" when it can (ARCHITECTURE §5)."""
    if session is None or epoch is None:
        return "open"
    if epoch.stale:
        return epoch.stale
    if epoch.mode != choice.mode:
        return choice.mode
    return "" if epoch.signature == prefix.signature else "prefix"
