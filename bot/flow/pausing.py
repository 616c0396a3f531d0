"""The short wait before a turn: how long on which platform, and longer while somebody is still typing."""

from collections.abc import Awaitable, Callable

from bot.config.speak import Speak
from bot.ports import Adapter, Awaits, Clock, Debounces, offers
from bot.session.bursts import ALONE, DEBOUNCE_MOST_MS, BurstRules
from bot.session.typists import Typists
from bot.store.store import Store
from bot.store.views import Waiting
from bot.types.event import Event, Place
from bot.types.memory import Understanding


class Pausing:
    """Joins what belongs together. What it stores are deadlines only."""

    def __init__(
        self, store: Store, clock: Clock, rules: Speak, understand: Callable[[Event], Awaitable[Understanding]],
        adapter: Callable[[str], Adapter | None],
    ) -> None:  # fmt: skip
        """`understand` tells memory commands, which never wait; `adapter` finds who talks to a platform."""
        self._store = store
        self._clock = clock
        self._rules = rules
        self._understand = understand
        self._adapter = adapter
        self._typists = Typists()

    def rules(self, platform: str) -> BurstRules:
        """What holds for a message of that platform; unless configured, each platform has a wait of its own."""
        wait, adapter = round(self._rules.debounce_seconds * 1000), self._adapter(platform)
        if "debounce_seconds" not in self._rules.model_fields_set:
            wait = adapter.debounce_ms if offers(adapter, Debounces) else 0
        gathers = not (offers(adapter, Awaits) and adapter.awaits)
        return BurstRules(self._rules.busy, wait, self._rules.followup_seconds * 1000, gathers)

    @property
    def typists(self) -> Typists:
        """Who is typing; for whoever goes on."""
        return self._typists

    def succeed(self, typists: Typists) -> None:
        """Go on in the place of another by other rules: who is typing is typing still."""
        self._typists = typists

    def typing(self, place: Place, account: str) -> None:
        """Somebody is typing there."""
        self._typists.typing(place, account, self._clock.now())

    def wrote(self, place: Place, account: str) -> None:
        """They sent it."""
        self._typists.wrote(place, account)

    async def lengthened(self, waiting: Waiting) -> bool:
        """Let those wait on who are still typing, up to 3 s from their first message on; whether anything does."""
        chat, now = waiting.chat, self._clock.now()
        typing = self._typists.still(chat.platform, chat.external_id, now)
        rules = self.rules(chat.platform)
        if not typing or not rules.debounce_ms or rules.busy == "queue":
            return False
        wait = False
        for person_id in sorted({event.person_id or 0 for event in waiting.due}):
            mine = tuple(event for event in waiting.due if event.person_id == person_id and self._asks(event, waiting))
            until = min((event.at for event in mine), default=0) + DEBOUNCE_MOST_MS
            if until <= now or not typing & await self._store.people.accounts(person_id, chat.platform):
                continue
            if not any([(await self._understand(event)).commands for event in mine]):
                await self._store.bursts.wait(tuple(event.id for event in mine), until)
                wait = True
        return wait

    def _asks(self, event: Event, waiting: Waiting) -> bool:
        """Whether it is a message for the model, due now; a follow-up has waited for silence already."""
        return (
            event.kind == "message" and event.why not in (*ALONE, "window") and event.id not in waiting.standing.later
        )
