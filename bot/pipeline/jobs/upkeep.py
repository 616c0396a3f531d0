"""Upkeep of memory: aging once a day, rolling up talks, and rewriting kept sentences into clean statements."""

from functools import partial

from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.errors import ModelError, OverBudget, StatementError
from bot.core.events import Draft
from bot.core.memories import Memory, MemoryQuestion, OldMemory, ReviewedMemory
from bot.core.models import Message
from bot.core.people import Person, Script
from bot.core.ports import Clock, Log
from bot.memory.dialogue import plan_rolls, rollup_text
from bot.memory.grounding import RewriteVerdict, grounded, parse_verdict
from bot.memory.lifecycle import count_after, crowded_out, reread, used_at, worn_out
from bot.memory.transcript import TalkScope
from bot.pipeline.calls import BackgroundGate, BackgroundWriter, WritingTask
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.store.agent_writes import PendingRewrite, RewriteOutcome
from bot.store.digests import UnwrittenRollup
from bot.store.ledger import Settlement
from bot.store.lifecycle import UpkeepPlan
from bot.store.memories import OpenQuestion
from bot.store.store import Store
from bot.text.dates import local_day, next_local_time
from bot.text.fold import fold, script_of
from bot.text.length import clip

LEAST_LINES = 2
"""Of a group in which fewer lines were said since its last talk no digest is made."""

ROLLUP_TOKENS = 160
"""Longest answer: two sentences."""

MOST_TRIES = 3
"""Model calls for one sentence (seed: 3 attempts)."""

WAIT_MS = 30_000
"""Before the second try; doubled before the third."""

ANSWER_CHARS = 500
"""How much of an answer to what it asked a model is given."""

REWRITE_TOKENS = 200
"""Longest answer (seed: 220)."""

UNGROUNDED = RewriteVerdict("reject")
"""What a statement is taken for that nobody said."""

FINAL = ("refused", "filtered", "overflow")
"""Faults that the same request would meet again: 400, 401, 403, 404, a filter, a text too long."""


class MemoryAging:
    """Archives what is worn out or has no room, and lets the counts of what nobody uses fall."""

    def __init__(self, store: Store, clock: Clock, current: Current, thread: TextThread, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._thread = thread
        self._log = log

    async def work(self) -> None:
        """Tidy when it is time; after days without power what they would have done, once."""
        now, lives = self._clock.now(), self._store.memories
        if not await lives.upkeep_due(now):
            return
        await self._reread()
        counted = archived = 0
        for pool in await lives.memory_pools():
            known = await lives.of_pool(pool)
            upkeep = await self._thread.run(self._upkeep, known, now)
            if upkeep.counts or upkeep.archived:
                await lives.apply_upkeep(upkeep, now)
                counted, archived = counted + len(upkeep.counts), archived + len(upkeep.archived)
        await self._overhear(now)
        await lives.come_true(now)
        rules, tz = self._current.settings.memory.life, self._current.words.default_tz
        next_at = next_local_time(now, self._current.settings.session.close_hour, tz)
        await lives.upkeep_done(now - rules.archive_days * DAY_MS, now, next_at)
        days = self._current.settings.memory.commitment_days
        await self._store.commitments.tidy(now - days * DAY_MS, now)
        if counted or archived:
            self._log.info("memories_tidied", counted=counted, archived=archived)

    async def _overhear(self, now: int) -> None:
        """What groups said today without the bot gets its digest, too."""
        most = self._current.settings.session.heard_lines
        if most and (made := await self._store.sessions.overhear(now, now - 2 * DAY_MS, LEAST_LINES, most)):
            self._log.info("groups_overheard", groups=made)

    async def _reread(self) -> None:
        """What an older nuan stored is read by the rules of today, once and a few at a time."""
        lives, mended = self._store.memories, 0
        while older := await lives.older():
            found = await self._thread.run(self._found, older)
            await lives.reread(older, found)
            mended += len(found)
        if mended:
            self._log.info("memories_reread", mended=mended)

    def _found(self, older: tuple[OldMemory, ...]) -> tuple[ReviewedMemory, ...]:
        found = (reread(one, self._current.words.tz(one.zone or self._current.words.zone)) for one in older)
        return tuple(one for one in found if one is not None)

    def _upkeep(self, known: tuple[tuple[Memory, int], ...], now: int) -> UpkeepPlan:
        """What becomes of one owner's memories; each comes with when its count was last looked at."""
        rules = self._current.settings.memory.life
        memories = [memory for memory, _ in known]
        worn = {memory.id for memory in worn_out(memories, now)}
        crowded = crowded_out([memory for memory in memories if memory.id not in worn], now, rules)
        archived = worn.union(memory.id for memory in crowded)
        counts = [
            (memory.id, count_after(memory.importance, used_at(memory), since, now, rules.interval_hours * HOUR_MS))
            for memory, since in known
            if not memory.kept and memory.importance > 1 and memory.id not in archived
        ]
        before = {memory.id: memory.importance for memory in memories}
        return UpkeepPlan(
            tuple((number, count) for number, count in counts if count < before[number]),
            tuple(sorted(archived)),
            now + rules.archive_days * DAY_MS,
        )


class DialogueRollup:
    """Rolls up the talks of one chat."""

    def __init__(
        self, store: Store, writer: BackgroundWriter, clock: Clock, current: Current, thread: TextThread, log: Log
    ) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._current = current
        self._gate = BackgroundGate(store.settings, current)
        self._thread = thread
        self._log = log

    async def work(self, chat_id: int) -> None:
        """Roll up what is over by now; done again, or after a crash, it changes nothing that was done."""
        now, rollups = self._clock.now(), self._store.digests
        rows = await rollups.standing(chat_id)
        chat = await self._store.people.chat(chat_id)
        owner = next((row.owner_id for row in rows if row.owner_id is not None), None)
        person = await self._store.people.person(owner) if owner is not None else None
        zone = self._current.words.zone_of(chat, person)
        most = self._current.settings.memory.raw_dialogues
        plan = await self._thread.run(plan_rolls, rows, now, self._current.words.tz(zone), most)
        absorbed = await rollups.roll(chat_id, plan, now)
        if absorbed:
            tiers = [roll.tier for roll in plan.rolls]
            counts = {tier: tiers.count(tier) for tier in ("hour", "day", "week")}
            self._log.info("rolled", chat=chat_id, rows=absorbed, into=len(plan.rolls), **counts)
        # While digests of the chat are due, their talks go into the same rows: these are put into words once.
        if not await self._store.sessions.due(chat_id, now) and self._writer.able and await self._gate.allows("digest"):
            for row in await rollups.unwritten(chat_id):
                await self._write(chat_id, row, zone)

    async def _write(self, chat_id: int, row: UnwrittenRollup, zone: str) -> None:
        """A model's sentences for a row; whatever goes wrong, what stands there stays till the next roll."""
        told, tz = [text for _, text in row.talks], self._current.words.tz(zone)
        script = script_of(" ".join(told), self._current.words.language)
        mark = self._current.words.opening(script)("talk_changed")
        shown = "\n".join(
            f"{local_day(at, tz)}: {text}{mark if place in row.changed else ''}"
            for place, (at, text) in enumerate(row.talks)
        )
        try:
            task = WritingTask("digest", chat_id, script, shown, ROLLUP_TOKENS, small=True)
            async with self._writer.written(task, partial(self._store.ledger.book, chat_id)) as written:
                summary = await self._thread.run(rollup_text, written.text, told)
                made = await self._store.digests.write(row, summary, written.settlement, self._clock.now())
        except OverBudget as error:
            self._log.warning("over_budget", chat=chat_id, limit=error.limit)
        except ModelError as error:
            self._log.warning("rollup_failed", chat=chat_id, fault=error.fault)
        except StatementError as error:  # a model is asked once for what the database never takes
            self._log.error("rollup_failed", chat=chat_id, exc_info=error)
        else:
            self._log.info("rollup", chat=chat_id, talks=len(row.talks), by="model" if made else "rule")


class StatementRewriter:
    """Rewrites what waits for it."""

    def __init__(
        self, store: Store, writer: BackgroundWriter, clock: Clock, current: Current, thread: TextThread, log: Log
    ) -> None:
        self._store = store
        self._writer = writer
        self._clock = clock
        self._current = current
        self._thread = thread
        self._gate = BackgroundGate(store.settings, current)
        self._log = log

    async def work(self, memory_id: int) -> None:
        """Rewrite one sentence if it is due; one call, whose outcome is one commit."""
        waiting = await self._store.memories.pending_rewrite(memory_id, self._clock.now())
        if waiting is None:
            return
        silent = bool(waiting.question) and waiting.answer is None
        allowed = self._current.settings.memory.rewrite and not silent and await self._gate.allows("rewrite")
        outcome = await self._asked(waiting) if allowed and waiting.attempts < MOST_TRIES else RewriteOutcome("")
        if outcome is not None:
            await self._store.memories.end_rewrite(waiting.memory, outcome, self._clock.now())

    async def _asked(self, waiting: PendingRewrite) -> RewriteOutcome | None:
        """What the model makes of it; None when it is to be tried again."""
        memory = waiting.memory
        person = await self._store.people.person(memory.owner_id or 0)
        script = self._current.words.script(person)
        answer, more = waiting.answer, tuple[Message, ...]()
        if answer is not None:
            more = (Message("assistant", waiting.question), Message("user", clip(answer.text, ANSWER_CHARS)))
        task = WritingTask("rewrite", memory.chat_id, script, memory.text, REWRITE_TOKENS, small=True, more=more)
        try:
            async with self._writer.written(task, partial(self._store.memories.reserve_rewrite, memory)) as written:
                verdict = parse_verdict(written.text)
                if verdict is not None:
                    stands = await self._grounded(verdict, waiting, person)
                    return self._outcome(verdict if stands else UNGROUNDED, waiting, written.settlement, script)
                await self._store.ledger.settle(written.settlement, self._clock.now())
        except OverBudget as error:
            self._log.warning("over_budget", memory=memory.id, chat=memory.chat_id, limit=error.limit)
            return RewriteOutcome("")
        except ModelError as error:
            return await self._put_off(waiting, error.fault in FINAL or error.final, error.fault)
        return await self._put_off(waiting, False, "invalid")

    async def _put_off(self, waiting: PendingRewrite, final: bool, fault: str) -> RewriteOutcome | None:
        memory, tried = waiting.memory, waiting.attempts + 1
        self._log.warning("rewrite_failed", memory=memory.id, chat=memory.chat_id, fault=fault, tried=tried)
        if final or tried >= MOST_TRIES:
            return RewriteOutcome("")
        await self._store.memories.postpone_rewrite(memory.id, self._clock.now() + WAIT_MS * 2 ** (tried - 1))
        return None

    async def _grounded(self, verdict: RewriteVerdict, waiting: PendingRewrite, person: Person) -> bool:
        """Whether a statement stands in what its owner said; what is no statement needs no ground."""
        if verdict.kind != "ok":
            return True
        memory, answer = waiting.memory, waiting.answer
        chat = await self._store.people.chat(memory.chat_id)
        tz = self._current.words.tz_of(chat, person)
        said = [(memory.text, memory.said_at or memory.created_at)]
        said += [(clip(answer.text, ANSWER_CHARS), answer.at)] if answer is not None else []
        scope = TalkScope(chat.id, chat.kind, self._current.settings.bot.names[0], person.id, tz)
        return await self._thread.run(grounded, verdict.text, said, scope)

    def _outcome(
        self, verdict: RewriteVerdict, waiting: PendingRewrite, paid: Settlement, script: Script
    ) -> RewriteOutcome:
        """What is changed and said: a statement that was forgotten once, or says the same, changes nothing.

        Of what followed a question and did not answer it nothing is said: it was answered as what it is.
        """
        memory, answer = waiting.memory, waiting.answer

        def notice(key: str, **values: object) -> Draft:
            return Draft(self._current.words.messages.text(key, script, id=memory.id, **values), "notice")

        if verdict.kind == "ok":
            if fold(verdict.text) == fold(memory.text) or self._store.tombstones.covers(verdict.text):
                return RewriteOutcome("", None, paid)
            original = " ".join(f"{memory.original or memory.text} {answer.text if answer else ''}".split())
            told = notice("rewritten", text=verdict.text, original=original)
            return RewriteOutcome(verdict.text, told, paid, answer=answer)
        if answer is not None:
            return RewriteOutcome("", None, paid)
        if verdict.kind == "clarify" and waiting.attempts + 1 < MOST_TRIES:
            until = self._clock.now() + self._current.settings.memory.confirm_seconds * 1000
            asked = OpenQuestion(MemoryQuestion("clarify", (memory.id,)), until)
            return RewriteOutcome("", notice("rewrite_asks", text=verdict.text), paid, asked)
        return RewriteOutcome("", notice("rewrite_kept"), paid)
