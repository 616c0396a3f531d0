"""Turn: from asked to said, with calls, tools, settlement and the reply made of the last completion. It can be taken up
again at any of its commits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bot.core.clock import DAY_MS
from bot.core.errors import JoinedError, LogForgottenError, ModelError, OverBudget, StatementError, StoreError
from bot.core.events import Button, Draft, Event
from bot.core.models import Completion, ModelRequest, ToolSpec
from bot.core.parts import stored_part
from bot.core.people import Chat, Person
from bot.core.ports import Clock, Drafts, Edits, Log, Model, Streams, implements, log_context, model_fields
from bot.core.sessions import Epoch, ModelCall, Occasion, Turn
from bot.core.speaking import UNASKED, UNCALLED
from bot.core.tools import Tool, UnlearnRequest
from bot.model.pool import Endpoint
from bot.money import BudgetStep
from bot.pipeline.calls import ModelCaller, ModelReply, settlement_of
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner, TurnPlan
from bot.pipeline.refusals import BudgetRefusal, is_machine_error
from bot.pipeline.reply import ReplyBuilder
from bot.pipeline.send import LinkCheck, OutboxSender, Preview
from bot.pipeline.speech import SpeechChoice
from bot.pipeline.timings import PhaseTimer, TurnTimings
from bot.pipeline.tools.calls import (
    MOST_CALLS,
    ToolRound,
    ToolRunner,
    called_stop_listen,
    cause_of,
    last_line,
    messages_of,
    unanswered,
    without_broken_calls,
)
from bot.prompt.composition import log_budget, log_tokens, whole_prompt
from bot.speaking.initiative import SKIP
from bot.store.ledger import ReservationFate, Settlement, TurnTotals
from bot.store.memories import Receipt
from bot.store.removal import Forgetting
from bot.store.store import Store
from bot.store.turns import OVER_BUDGET, AskedTurn, TurnToSay
from bot.text.length import message_tokens, shorten
from bot.text.marks import marks_so_far

MOST_LOST = 8
"""Requests of one turn that may stay without an answer: one on which nuan dies is not asked for ever (FAULTS D5: 8)."""

MOST_UNSTORED = 256
"""Answers that are kept while the database does not take them; of an older one the model is asked again."""

MOST_AT_ONCE = 16
"""Tool calls in one completion; more is a model that runs wild, and nothing of it is done."""


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn under way: its log as it is stored, and who is reserved to be called for it, if anybody.

    The newest of what it answers is of `written_at`, ms. Up to `spoken_chars` its reply is spoken.
    """

    turn: Turn
    chat: Chat
    person: Person
    epoch: Epoch
    tools: tuple[ToolSpec, ...]
    reserved: tuple[Endpoint, ModelCall] | None
    written_at: int
    timer: PhaseTimer
    spoken_chars: int = 0


@dataclass(frozen=True, slots=True)
class UnstoredAnswer:
    """What a model answered in a chat and the database did not take: it `refused` this one thing, or is away."""

    chat_id: int
    reply: ModelReply
    refused: bool


class TurnRunner:
    """Runs turns; every effect is committed before the next step."""

    def __init__(
        self,
        store: Store,
        planner: Planner,
        caller: ModelCaller,
        tools: Callable[[], tuple[Tool, ...]],
        clock: Clock,
        current: Current,
        log: Log,
        sender: OutboxSender,
        timings: TurnTimings,
        asked: Callable[[Turn], None],
    ) -> None:
        """`asked` is told of each turn that is under way from now on."""
        self._store = store
        self._timings = timings
        self._asked = asked
        self._planner = planner
        self._caller = caller
        self._clock = clock
        self._current = current
        self._log = log
        self._sender = sender
        self._refusing = BudgetRefusal(store, clock, current, log)
        self._tooling = ToolRunner(planner, tools, clock, current, log)
        self._stream_listener = StreamListener(store, clock, sender, current, log)
        self._reply_builder = ReplyBuilder(store, clock, sender, current)
        self._speech = SpeechChoice(store, planner, sender.adapter, clock, current)
        self._unstored: dict[int, UnstoredAnswer] = {}

    async def begin(self, occasion: Occasion, timer: PhaseTimer | None = None) -> bool:
        """Compose, commit, ask, answer, say. A limit that is reached is said in one line instead.

        True: all of it is said and on its way, so that nothing more is to be done for these messages.
        """
        timer = timer or self._timings.begin(self._clock, ())
        chat, person = occasion.chat, occasion.person
        answering = tuple(event.id for event in occasion.answering)
        spoken = await self._speech.longest(chat, person.id, answering, occasion.why)
        occasion = replace(occasion, spoken_chars=spoken)
        try:
            plan, asked = await self._affordable(occasion, timer)
        except OverBudget as error:
            await self._refusing.refuse(occasion, error)
            return False
        except JoinedError:
            return False
        turn, reserved = asked.turn, (plan.endpoint, asked.call)
        with log_context(turn.numbers):
            if plan.asking.session_id is None:
                self._log.info("session_opened", chat=turn.chat_id, session=turn.session_number, why=turn.why)
            written = max((event.at for event in occasion.answering), default=turn.asked_at)
            return await self._run(
                RunningTurn(turn, chat, person, plan.logged(turn), plan.prompt.tools, reserved, written, timer, spoken)
            )

    async def _affordable(self, occasion: Occasion, timer: PhaseTimer) -> tuple[TurnPlan, AskedTurn]:
        """Compose and commit the turn at the first step that fits into every limit; OverBudget when none does."""
        step: BudgetStep = "full"
        while True:
            plan = await self._planner.plan(occasion, self._clock.now(), step, timer)
            try:
                asked = await self._store.turns.ask(plan.asking, self._clock.now())
                timer.end("commit")
                return plan, asked
            except OverBudget:
                following = self._planner.cheaper(plan)
                if following is None:
                    raise
                step = following

    async def refused(self, chat_id: int) -> Turn | None:
        """The turn of that chat that is answered, which the database, though it is well, did not take."""
        kept = [number for number, answer in self._unstored.items() if answer.chat_id == chat_id and answer.refused]
        if not kept:
            return None
        running = {turn.id: turn for turn in await self._store.turns.running(chat_id)}
        for number in kept:
            if number not in running:
                del self._unstored[number]  # it ended otherwise
        return next((running[number] for number in kept if number in running), None)

    async def give_up(self, turn: Turn, error: str) -> bool:
        """Void a turn that cannot go on; whether it is asked anew. Where a tool did something its person is told instead."""
        anew = turn.why not in UNASKED and not await self._store.turns.acted(turn.id)
        if anew:
            await self._begin_anew(turn, error, "charge")
        else:
            person = await self._store.people.person(turn.person_id)
            await self._fail(turn, person, error, self._current.words.tell(person, "went_wrong"), "charge")
        self._unstored.pop(turn.id, None)
        return anew

    async def resume(self, turn: Turn) -> None:
        """Take up a turn that was left between two commits: the same bytes are asked again, a lost call is charged."""
        with log_context(turn.numbers):
            await self._resume(turn)

    async def _resume(self, turn: Turn) -> None:
        if turn.id not in self._unstored:
            await self._store.ledger.charge_turn(turn.id, self._clock.now())
        chat, person = await self._store.people.chat(turn.chat_id), await self._store.people.person(turn.person_id)
        epoch = await self._store.sessions.epoch(turn.session_id)
        if epoch is None or not messages_of(epoch, turn) or epoch.stale == "forgotten":
            self._unstored.pop(turn.id, None)
        if epoch is None or not messages_of(epoch, turn):
            await self._fail(turn, person, "log gone", self._current.words.tell(person, "went_wrong"), "charge")
            return
        if epoch.stale == "forgotten":
            await self._begin_anew(turn, "forgotten", "charge")
            return
        tools = await self._store.sessions.tools(epoch.signature)
        timer = self._timings.begin(self._clock, ())
        spoken = await self._speech.longest(chat, person.id, turn.event_ids, turn.why)
        await self._run(RunningTurn(turn, chat, person, epoch, tools, None, turn.asked_at, timer, spoken))

    async def _run(self, running: RunningTurn) -> bool:
        """Whether it was said, and is on its way."""
        turn, person = running.turn, running.person
        self._asked(turn)
        try:
            step: RunningTurn | bool = running
            while isinstance(step, RunningTurn):
                step = await self._step(step)
            return step
        except OverBudget as error:
            told = await self._refusing.told(turn.chat_id, person)
            text = "" if told else self._refusing.text(person, error)
            await self._store.ledger.keep_shortage(turn.chat_id, person.id, error, self._clock.now())
            await self._fail(turn, person, f"{OVER_BUDGET} {error.limit}", text, "release")
        except ModelError as error:
            if error.fault == "overflow" and len(messages_of(running.epoch, turn)) < len(running.epoch.entries):
                self._log.warning("overflow", detail=error.detail, text=error.said)
                await self._begin_anew(turn, "overflow", "charge" if error.billed else "release")
                return False
            self._log.warning("model_failed", fault=error.fault, detail=error.detail, text=error.said)
            text, sorry = await self._refusing.unanswered(turn.chat_id, person, error)
            await self._fail(turn, person, error.fault, text, "charge" if error.billed else "release", sorry)
        except LogForgottenError:
            await self._begin_anew(turn, "forgotten", "charge")
        except Exception as error:
            if is_machine_error(error) or (turn.why in UNASKED and isinstance(error, StoreError | OSError)):
                raise
            self._log.error("turn_failed", exc_info=error)
            if turn.id in self._unstored:
                raise
            if await self.give_up(turn, type(error).__name__):  # neither the turn nor its money may be left hanging
                raise
        return False

    async def _step(self, running: RunningTurn) -> RunningTurn | bool:
        """One commit further; when the turn is over, whether what it says is on its way."""
        turn, epoch = running.turn, running.epoch
        waiting = unanswered(epoch, turn)
        if waiting:
            totals = await self._store.ledger.turn_totals(turn.id)
            own = await self._store.events.own_lines(
                turn.event_ids, running.person.id, self._clock.now(), answered=True
            )
            said = " ".join(line.text for line in own if line.id in turn.event_ids)
            bench = ToolRound(
                turn,
                running.chat,
                running.person,
                tuple(messages_of(epoch, turn)),
                totals.prompt + totals.output,
                said,
            )
            receipts, parts = list(turn.receipts), list(turn.parts)
            outcomes = await self._tooling.run(bench, waiting)
            gone = [each.answer.forget for each in outcomes if each.answer.forget is not None]
            if gone:
                every = tuple(dict.fromkeys(memory for each in gone for memory in each.memories))
                lines, wish = (
                    dict(line for rows in told for line in rows)
                    for told in zip(*((each.lines, each.wish) for each in gone), strict=True)
                )
                whole = replace(gone[0], memories=every, lines=tuple(lines.items()), wish=tuple(wish.items()))
                await self._forget(turn, running.person, whole)
                return False
            for outcome in outcomes:
                receipt = await self._store.turns.tool_done(turn, outcome, self._clock.now())
                receipts += [receipt] if receipt else []
                parts += map(stored_part, outcome.answer.parts)
            turn = replace(turn, receipts=tuple(receipts), parts=tuple(parts))
            return await self._reload(replace(running, turn=turn))
        logged = messages_of(epoch, turn)
        if called_stop_listen(logged) and await self._store.turns.is_quiet(turn.id):
            return await self._say(running, Completion(last_line(logged) or SKIP), None)
        kept = self._unstored.pop(turn.id, None)
        answered = kept.reply if kept is not None else await self._ask(running)
        try:
            return await self._store_answer(running, answered)
        except StoreError as error:
            if type(error) in (StoreError, StatementError):  # the others say that nothing is to become of it
                self._keep_unstored(turn, UnstoredAnswer(turn.chat_id, answered, not is_machine_error(error)))
            raise

    def _keep_unstored(self, turn: Turn, answer: UnstoredAnswer) -> None:
        """What is paid for and the database did not take is stored when the turn is taken up, instead of asking again."""
        self._unstored[turn.id] = answer
        if len(self._unstored) > MOST_UNSTORED:
            del self._unstored[next(iter(self._unstored))]

    async def _store_answer(self, running: RunningTurn, answered: ModelReply) -> RunningTurn | bool:
        """Commit what a model answered."""
        turn, completion = running.turn, answered.completion
        vocabulary, window = self._planner.vocabulary, self._current.settings.model.window_tokens
        settlement = settlement_of(answered, vocabulary, self._clock.now(), window)
        if len(completion.tool_calls) > MOST_AT_ONCE:
            raise ModelError("invalid", f"{len(completion.tool_calls)} tool calls at once")
        if completion.tool_calls:
            message = without_broken_calls(completion.message())
            await self._store.turns.answer(
                turn, message, message_tokens(message, self._planner.vocabulary), settlement, self._clock.now()
            )
            return await self._reload(running)
        return await self._say(running, completion, settlement)

    async def _reload(self, running: RunningTurn) -> RunningTurn:
        """The turn with its log as it is stored now."""
        epoch = await self._store.sessions.epoch(running.turn.session_id)
        return replace(running, epoch=epoch or running.epoch, reserved=None)

    async def _ask(self, running: RunningTurn) -> ModelReply:
        """One reserved model call on the log as it is stored."""
        turn, epoch, ledger = running.turn, running.epoch, self._store.ledger
        request = self._planner.request(whole_prompt(epoch.prefix, running.tools, epoch, ()), epoch.signature)
        off_record = partial(self._store.turns.off_record, turn.id)
        request = replace(request, on_sent=running.timer.sent, off_record=off_record)
        first = running.reserved
        if first is None:
            made, lost = await self._store.turns.tried(turn.id)
            if made >= MOST_CALLS or lost >= MOST_LOST:
                raise ModelError("invalid", f"no end after {made} answers and {lost} requests without one")
            step, _ = await self._planner.step(turn.chat_id, turn.person_id, self._clock.now())
            first = await self._reserved(running, small=step != "full")
        reserve = partial(self._reserve, running)
        listen = partial(self._stream_listener.listen, running.chat, turn, running.spoken_chars)
        by = running.written_at + self._current.settings.speak.late_seconds * 1000
        return await self._caller.ask(turn.chat_id, request, first, reserve, ledger, listen, by)

    async def _reserved(self, running: RunningTurn, *, small: bool) -> tuple[Endpoint, ModelCall]:
        """The next call of a turn, with the small model where only that fits into a limit."""
        pool = self._current.pool
        endpoint = pool.pick(self._clock.now(), small=small)
        try:
            return endpoint, await self._reserve(running, endpoint)
        except OverBudget:
            if small or not pool.has_small:
                raise
        return await self._reserved(running, small=True)

    async def _reserve(self, running: RunningTurn, endpoint: Endpoint) -> ModelCall:
        """Reserve the next request of a turn."""
        turn, epoch = running.turn, running.epoch
        tokens, estimated = await self._planner.size(endpoint, epoch.prefix, running.tools, epoch)
        now = self._clock.now()
        reservation = self._planner.reservation(cause_of(epoch, turn), endpoint, tokens, now, estimated)
        return await self._store.turns.ask_again(turn, reservation, now)

    async def _say(self, running: RunningTurn, completion: Completion, settlement: Settlement | None) -> bool:
        """The last commit; whether there is something to be said, and it is handed to who sends it."""
        now, turn = self._clock.now(), running.turn
        asked = whole_prompt(running.epoch.prefix, running.tools, running.epoch, ())
        naming = LinkCheck(asked.messages, self._current.settings.speak.links)
        said = await self._reply_builder.said(
            completion, turn, running.chat, running.person, naming, running.spoken_chars
        )
        if said.unnamed:
            self._log.warning("links_removed", **turn.numbers, count=said.unnamed)
        saying = TurnToSay(
            chat_id=turn.chat_id,
            turn_id=turn.id,
            entry=said.message,
            tokens=message_tokens(said.message, self._planner.vocabulary),
            settlement=settlement,
            line=said.line,
            drafts=said.drafts,
            window_until=now + said.lasts_ms + self._current.settings.speak.window_seconds * 1000,
            close_at=self._planner.close_at(turn.opened_at, running.chat, running.person, now),
            platforms=self._sender.platforms,
            known=self._sender.known,
        )
        running.timer.end("model")
        outgoing = await self._store.say(turn.why, saying, now)
        running.timer.end("say")
        self._timings.keep(turn.id, running.timer)
        self._log.debug("turn_phases", **turn.numbers, **running.timer.taken)
        self._sender.enqueue(turn.chat_id, outgoing)
        await self._report(turn, reply=said.line)
        if log_tokens(running.epoch) + saying.tokens >= log_budget(self._current.settings):
            # The log has reached its budget: the next turn opens a new session on its raw tail.
            await self._store.sessions.close(turn.session_id, "budget", now)
        return outgoing is not None

    async def _report(self, turn: Turn, error: str = "", reply: str = "") -> None:
        """The one line of a turn; the log leaves the reply out unless `log.text` is on."""
        totals = await self._store.ledger.turn_totals(turn.id)
        outcome = "failed" if error else "answered" if reply or turn.receipts else "skipped"
        line = self._log.warning if error else self._log.info
        line(
            "turn",
            **turn.numbers,
            person=turn.person_id,
            mode=turn.mode,
            mode_why=turn.mode_why,
            why=turn.why,
            **model_fields("chat", totals.model, self._current.pool.provider(totals.model)),
            **{
                "gen_ai.usage.input_tokens": totals.prompt,
                "gen_ai.usage.cache_read.input_tokens": totals.cached,
                "gen_ai.usage.output_tokens": totals.output,
            },
            cost=round(totals.cost, 6),
            ms=self._clock.now() - turn.asked_at,
            calls=totals.calls,
            reply=reply,
            outcome=outcome,
            **({"error.type": error} if error else {}),
        )
        await self._trace(turn, outcome, totals)

    async def _fail(
        self, turn: Turn, person: Person, error: str, text: str, fate: ReservationFate, sorry: bool = False
    ) -> None:
        """Void the turn and tell the person, if they called; a call in flight is charged or released."""
        called = turn.why not in UNCALLED
        said = "\n".join(line for line in (*turn.receipts, text if called else "") if line)
        notice = Draft(said, "notice") if said and not person.is_bot else None
        try:
            await self._store.turns.fail(turn, error, notice, fate, self._clock.now(), sorry=sorry and called)
        except StatementError as refused:
            if notice is None:
                raise
            self._log.error("notice_failed", exc_info=refused)
            await self._store.turns.fail(turn, error, None, fate, self._clock.now())
        await self._report(turn, error)

    async def _begin_anew(self, turn: Turn, error: str, fate: ReservationFate) -> None:
        """Void the turn and ask the same once more, on another log or a little later; nobody is told."""
        await self._store.turns.begin_anew(turn, error, fate, self._clock.now())

    async def _forget(self, turn: Turn, person: Person, unlearn: UnlearnRequest) -> None:
        """Forget it and say so; what is left of the message is answered in a turn of its own. Once for a message."""
        now, memories, days = self._clock.now(), unlearn.memories, self._current.settings.memory.undo_days
        lines, known = unlearn.lines, tuple(memory for memory in memories if memory.id)
        forever = unlearn.forever or not days or not known
        said = await self._store.events.of((unlearn.event_id,))
        script = self._current.words.script_of(said[0].text if said else "", person.script)
        event = Event(unlearn.event_id, turn.chat_id, now, "message", person.id, person.name, "")
        _, account = await self._store.people.answer_to(event)
        gone_ids = " ".join(f"#{memory.id}" for memory in known)

        def say(key: str, number: int) -> str:
            text = self._current.words.messages.text
            counts = {"memories": len(known), "lines": len(lines)}
            gone = text("mem_why_joint", script).join(text(f"gone_{of}", script, n=n) for of, n in counts.items() if n)
            what = text("matter_this", script)
            return text(key, script, id=number, list=gone_ids, days=days, what=what, gone=gone)

        def buttons(number: int) -> tuple[Button, ...]:
            if lines:
                return ()
            return (Button(say("button_undo", number), say("say_undo", number), account),) if account else ()

        one = "forgot" if len(memories) == 1 else "forgot_several"
        matter = "forgot_matter" if forever else "forgot_matter_undo"
        key = matter if lines else "forgot_forever" if forever else one
        receipt = Receipt(
            event.id,
            turn.chat_id,
            f"event:{event.id}:tool:{memories[0].id}",
            lambda number, _: say(key, number),
            True,
            unlearn.rest,
            hide=True,
            buttons=buttons,
        )
        until = None if forever else now + days * DAY_MS
        await self._store.memories.forget_in_turn(
            turn, Forgetting(memories, person.id, until, lines=(*lines, *unlearn.wish)), receipt, now
        )

    async def _trace(self, turn: Turn, outcome: str, totals: TurnTotals) -> None:
        """Tell of a turn that is over everyone who asked for it and is an owner still; a line that a crash cuts off is
        never said."""
        now = self._clock.now()
        for chat_id, person_id in totals.watchers:
            person = await self._store.people.person(person_id)
            if not person.is_owner:
                continue
            line = self._current.words.tell(
                person,
                "trace_line",
                chat=turn.chat_id,
                session=turn.session_number,
                turn=turn.number,
                outcome=self._current.words.tell(person, f"turn_{'said' if outcome == 'answered' else outcome}"),
                model=totals.model,
                calls=totals.calls,
                prompt=totals.prompt,
                cached=totals.cached,
                output=totals.output,
                money=f"{totals.cost:.5f} {self._current.settings.budget.currency}",
                ms=now - turn.asked_at,
            )
            phases = self._timings.of(turn.id)
            if phases is not None:
                line += f"\n{self._current.words.tell(person, 'trace_phases', **phases)}"
            await self._store.outbox.tell(chat_id, Draft(line, "notice"), now)


class StreamListener:
    """Hears completions out."""

    def __init__(self, store: Store, clock: Clock, sender: OutboxSender, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._sender = sender
        self._current = current
        self._log = log

    async def listen(
        self, chat: Chat, turn: Turn, spoken_chars: int, model: Model, request: ModelRequest
    ) -> Completion:
        """The completion of a call for that turn; raises as the model does. What may be spoken is not shown."""
        speak = self._current.settings.speak
        preview = self._preview(chat, turn, LinkCheck(request.prompt.messages, speak.links))
        if preview is None or not implements(model, Streams):
            return await model.complete(request)

        def so_far(source: Callable[[], str]) -> str:
            text = shorten(marks_so_far(source()), speak.reply_chars)
            return text if len(text) > spoken_chars else ""

        try:
            return await model.stream(request, lambda source: preview.hear(partial(so_far, source)))
        finally:
            await preview.end()

    def _preview(self, chat: Chat, turn: Turn, naming: LinkCheck) -> Preview | None:
        adapter = self._sender.showing(chat.platform)
        shows = implements(adapter, Edits) or implements(adapter, Drafts)
        if adapter is None or not shows:
            return None
        platform = self._current.settings.platforms.get(chat.platform)
        # A paced reply is shown message by message when it is whole, never as one that grows.
        if self._current.value.texts.personas.paced(chat) or (platform is not None and not platform.stream):
            return None
        return Preview(self._store, self._clock, adapter, chat, turn, self._log, naming.so_far)
