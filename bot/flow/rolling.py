"""The calendar of dialogue memory: what an hour, a day or a week left becomes one row, whenever nuan was away.

A model puts rows of several talks into words; until it did, or where it cannot, the most telling of them stand there.
"""

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.scribe import Errand, Scribe
from bot.flow.words import Words
from bot.memory.rolling import plan_rolls, written
from bot.ports import Clock
from bot.store.ledger import Reservation
from bot.store.rollups import Unwritten
from bot.store.store import Store
from bot.text.dates import local_day
from bot.text.script import script_of
from bot.types.log import Log
from bot.types.turn import Call

OUTPUT_TOKENS = 160
"""Longest answer: two sentences."""


class Rolling:
    """Rolls up the talks of one chat."""

    def __init__(
        self, store: Store, scribe: Scribe, clock: Clock, settings: Settings, words: Words, aside: Aside, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = scribe
        self._clock = clock
        self._most = settings.memory.raw_dialogues
        self._gate = BackgroundGate(store.switches, settings.background)
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
        # While digests of the chat are due, their talks go into the same rows: these are put into words once.
        if not await self._store.sessions.due(chat_id, now) and self._scribe.able and await self._gate.allows("digest"):
            for row in await rollups.unwritten(chat_id):
                await self._write(chat_id, row, zone)

    async def _write(self, chat_id: int, row: Unwritten, zone: str) -> None:
        """A model's sentences for a row; whatever goes wrong, what stands there stays till the next roll."""

        async def reserve(reservation: Reservation, now: int) -> Call:
            return await self._store.ledger.book(chat_id, reservation, now)

        told, tz = [text for _, text in row.talks], self._words.tz(zone)
        script = script_of(" ".join(told), self._words.language)
        mark = self._words.opening(script)("talk_changed")
        shown = "\n".join(
            f"{local_day(at, tz)}: {text}{mark if place in row.changed else ''}"
            for place, (at, text) in enumerate(row.talks)
        )
        try:
            errand = Errand("digest", chat_id, script, shown, OUTPUT_TOKENS, small=True)
            async with self._scribe.written(errand, reserve) as paper:
                summary = await self._aside.run(written, paper.text, told)
                made = await self._store.rollups.write(row, summary, paper.settlement, self._clock.now())
        except OverBudget as error:
            self._log.warning("over_budget", chat=chat_id, limit=error.limit)
        except ModelError as error:
            self._log.warning("rollup_failed", chat=chat_id, fault=error.fault)
        else:
            self._log.info("rollup", chat=chat_id, talks=len(row.talks), by="model" if made else "rule")
