"""The calendar of dialogue memory: what an hour, a day or a week left becomes one row, whenever nuan was away."""

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.words import Words
from bot.memory.rolling import plan_rolls
from bot.ports import Clock
from bot.store.store import Store
from bot.types.log import Log


class Rolling:
    """Rolls up the talks of one chat."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, words: Words, aside: Aside, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._most = settings.memory.raw_dialogues
        self._words = words
        self._aside = aside
        self._log = log

    async def work(self, chat_id: int) -> None:
        """Roll up what is over by now; done again, or after a crash, it changes nothing that was done."""
        now, rollups = self._clock.now(), self._store.rollups
        rows = await rollups.standing(chat_id)
        chat = await self._store.people.chat(chat_id)
        owner = next((row.owner_id for row in rows if row.owner_id is not None), None)
        zone = self._words.zone
        if owner is not None:
            zone = self._words.zone_of(chat, await self._store.people.person(owner))
        plan = await self._aside.run(plan_rolls, rows, now, self._words.tz(zone), self._most)
        absorbed = await rollups.roll(chat_id, plan, now)
        if absorbed:
            tiers = [roll.tier for roll in plan.rolls]
            counts = {tier: tiers.count(tier) for tier in ("hour", "day", "week")}
            self._log.info("rolled", chat=chat_id, rows=absorbed, into=len(plan.rolls), **counts)
