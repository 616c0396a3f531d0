"""Plan: what the next call of a chat would send, from what is stored. It writes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot import money as prices
from bot.context import SCENE_LABEL, following_names, render_delta, waiting_names, whole_lines
from bot.core.clock import HOUR_MS
from bot.core.events import Event
from bot.core.models import BudgetLimits, BudgetPressure, Message, ModelRequest, Prompt, ToolSpec
from bot.core.people import Audience, Chat, Person
from bot.core.sessions import BootstrapMode, CallCause, CloseReason, Epoch, LogEntry, Occasion, Session, ToldItem, Turn
from bot.core.speaking import HEARTBEAT, JOIN, UNASKED
from bot.language.small_talk import asks_something, is_casual
from bot.model.offline import OFFLINE
from bot.model.pool import Endpoint
from bot.money import BudgetStep, cheaper, later_step, step_of
from bot.pipeline.calls import reservation
from bot.pipeline.configuration import Current
from bot.pipeline.opening import OpeningLineReader, OpeningReader, ToldLines
from bot.pipeline.recall import AutoRecall, AutoRecalled
from bot.pipeline.timings import PhaseTimer
from bot.prompt.composition import (
    BootstrapChoice,
    Composed,
    choose_bootstrap,
    compose,
    log_tokens,
    prefix_tokens,
    prompt_sizes,
    whole_prompt,
    window_room,
)
from bot.prompt.opening_facts import OpeningBlock
from bot.prompt.persona import Personas, Prefix
from bot.recall.sections import FRESH_MS
from bot.session import close_reason as reason_of
from bot.store.ledger import Reservation
from bot.store.sessions import NewEpoch, OpenLog
from bot.store.store import Store
from bot.store.turns import TurnToAsk
from bot.text.dates import next_local_time
from bot.text.length import TokenVocabulary, estimate_tokens

LAST_LINES = 20
"""Lines among which nuan's last one is looked for."""

CAUSES: dict[str, CallCause] = {"window": "followup", HEARTBEAT: "heartbeat", JOIN: "join"}
"""What a turn's first call is for, by why it is taken, where it is no plain reply."""

NOT_LATE: CloseReason = ""
"""No reason to close the session of a turn."""


class ModeChooser:
    """Chooses light or full."""

    def __init__(self, store: Store, current: Current) -> None:
        self._store = store
        self._current = current

    async def choose(
        self, occasion: Occasion, session: Session | None, epoch: Epoch | None, full: Prefix, now: int, step: BudgetStep
    ) -> BootstrapChoice:
        """How much of the bootstrap this turn brings; `full` is what it would bring with all of it."""
        rules, goes_on = self._current.settings.prompt, session is not None and epoch is not None and not epoch.stale
        small = rules.light != "off" and all(self._is_small_talk(event) for event in occasion.answering)
        small = small and not occasion.cues and not await self._asked(occasion)
        log = log_tokens(epoch) if goes_on and epoch is not None else 0
        warm = rules.light == "auto" and small and await self._warm(full, log, now)
        poor = step in ("light", "over") and occasion.why not in UNASKED
        mode = epoch.mode if goes_on and epoch is not None else None
        whole = mode == "full" and epoch is not None and log_tokens(epoch) > self._current.settings.context.carry_tokens
        return choose_bootstrap(rules.light, casual=small, log=mode, warm=warm, full_log=whole, poor=poor)

    async def small_talk_turns(self, occasion: Occasion, choice: BootstrapChoice) -> int:
        """After how many replies that were small talk alone this one is told so; 0 where it is not."""
        turns = self._current.settings.prompt.light_hint_turns
        if not turns or choice.mode != "light" or choice.why == "budget":
            return 0
        run = await self._store.sessions.light_run(occasion.chat.id, occasion.person.id, turns + 1)
        return turns if run == turns else 0

    async def _warm(self, full: Prefix, log: int, now: int) -> bool:
        """Whether the provider would read the full prefix, with a log of so many tokens, from its cache."""
        first = self._current.pool.first
        if prefix_tokens(full.message, full.tools, self._current.value.vocabulary) + log < first.least_cached:
            return False
        since = now - self._current.settings.prompt.warm_seconds * 1000
        return await self._store.ledger.used_since(full.signature, first.model.name, since)

    async def _asked(self, occasion: Occasion) -> bool:
        """Whether nuan's last line here asked something: then 好的 is an answer, and what it answers must be known."""
        first = min(event.id for event in occasion.answering)
        lines = await self._store.events.recent(occasion.chat.id, 0, 0, LAST_LINES)
        said = [event.text for event in lines if event.kind == "bot" and event.id < first and not event.label]
        return bool(said) and asks_something(said[-1])

    def _is_small_talk(self, event: Event) -> bool:
        about = event.kind != "message" or event.forwarded or event.marks or event.quote
        return not about and is_casual(event.text, self._current.settings.bot.names)


def why_anew(session: Session | None, epoch: Epoch | None, prefix: Prefix, choice: BootstrapChoice) -> str:
    """Why the next turn cannot append to the log; "" when it can (ARCHITECTURE §5)."""
    if session is None or epoch is None:
        return "open"
    if epoch.stale:
        return epoch.stale
    if epoch.mode != choice.mode:
        return choice.mode
    return "" if epoch.signature == prefix.signature else "prefix"


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """A composed turn: what would be committed, what would be sent, its parts, and on which bootstrap and why."""

    asking: TurnToAsk
    prompt: Prompt
    composed: Composed
    epoch: Epoch | None
    prefix: Prefix
    choice: BootstrapChoice
    endpoint: Endpoint
    step: BudgetStep

    def logged(self, turn: Turn) -> Epoch:
        """The log as it stands once the turn is asked."""
        entry = LogEntry(turn.id, self.composed.message, self.composed.tokens)
        if self.epoch is not None:
            return replace(self.epoch, entries=(*self.epoch.entries, entry), logged_upto=self.asking.logged_upto)
        new = self.asking.epoch
        signature = new.signature if new is not None else ""
        return Epoch(
            turn.epoch_id,
            turn.session_id,
            turn.epoch_number,
            signature,
            self.prompt.messages[0],
            (entry,),
            self.asking.logged_upto,
            mode=self.choice.mode,
        )


class Planner:
    """Composes turns for any chat."""

    def __init__(self, store: Store, current: Current, bringing: AutoRecall, booting: OpeningReader) -> None:
        self._store = store
        self._current = current
        self._lines = OpeningLineReader(store, current)
        self._chooser = ModeChooser(store, current)
        self._bringing = bringing
        self._booting = booting

    @property
    def personas(self) -> Personas:
        """The prefixes of every persona."""
        return self._current.value.texts.personas

    @property
    def vocabulary(self) -> TokenVocabulary:
        """How the first model counts tokens."""
        return self._current.value.vocabulary

    async def plan(
        self, occasion: Occasion, now: int, at_least: BudgetStep = "full", timer: PhaseTimer | None = None
    ) -> TurnPlan:
        """Compose the turn that answers these messages now, doing without what `at_least` does without.

        Where light is asked for, the log does not go on: a shorter one fits into what is left of a limit. The `timer`
        is told how long that took.
        """
        chat, store = occasion.chat, self._store
        answering, apart = tuple(event.id for event in occasion.answering), self._current.settings.speak.busy == "queue"
        most = self._current.settings.context.bus_max
        log = await store.sessions.log(
            chat.id,
            most,
            occasion.person.id,
            answering,
            apart=apart,
            limits=self._limits(now),
            rounds_since=now - FRESH_MS,
        )
        session, ends = log.session, NOT_LATE
        if session is not None and session.close_at <= now:
            ends = reason_of(session, self._current.settings.session.idle_seconds * 1000)
            session = None
        step = later_step(self._step(log.pressure), at_least)
        prefixes, script = self.personas.of(chat.persona), self._current.words.script(occasion.person)
        goes_on = log.epoch.signature if session is not None and log.epoch is not None else ""
        alone = chat.kind == "dm"
        full = prefixes.of("full", script, goes_on, alone=alone)
        wished = await self._chooser.choose(occasion, session, log.epoch, full, now, step)
        choice = BootstrapChoice("light", "budget") if at_least == "light" else wished
        prefix = prefixes.of(choice.mode, script, goes_on, alone=alone)
        reason = why_anew(session, log.epoch, prefix, choice)
        epoch = None if reason else log.epoch
        first = epoch is None or not epoch.entries
        zone = self._current.words.zone_of(chat, occasion.person)
        told = await self._told(occasion, session, log, now, None if not first else choice.mode)
        events, opened = told.events, told.opened
        upto = max(event.id for event in (*events, *occasion.answering))
        if first or not self._current.settings.context.scene.include:
            # The opening tells the present scene; after it only a change is news.
            events = tuple(event for event in events if event.label != SCENE_LABEL)
        every = tuple(sorted({e.id: e for e in (*events, *occasion.answering)}.values(), key=lambda event: event.id))
        # Of answered messages a prompt takes half of what the window has room for.
        room = window_room(self._current.settings) // 2
        answered = whole_lines(occasion.answering, room, told.limits.answered, estimate_tokens) | told.unanswered
        logged = [entry.message.content for entry in epoch.entries if entry.message.role == "user"] if epoch else []
        frame = self._current.words.frame(now, zone, script, logged, occasion.person.name if alone else None)
        to, follow = waiting_names(occasion.answering, every), following_names(occasion.answering)
        frame = replace(frame, to=to, follow=follow)
        before = epoch.logged_upto if epoch is not None and not first else 0
        shown = render_delta(every, answered, frame, told.limits, estimate_tokens, told.earlier, before)
        if timer is not None:
            timer.end("plan")
        recalled = await self._recalled(occasion, choice.mode, epoch, f"{opened.text}\n{shown.text}", log, now)
        if timer is not None:
            timer.end("recall")
        said = shown.text + self._cues(occasion, choice) + await self._hint(occasion, choice)
        composed = compose(opened.text, said, recalled.text, self.vocabulary)
        new = NewEpoch(prefix.message, prefix.tools, prefix.signature, reason, choice.mode)
        endpoint = self._current.pool.pick(now, small=step != "full")
        weighed = (ToldItem("opening", "", estimate_tokens(opened.text, self.vocabulary)),) if opened.text else ()
        tokens, estimated = self._sized(endpoint, prefix, epoch, composed.tokens, log.ratios)
        reserved = self.reservation(CAUSES.get(occasion.why, "reply"), endpoint, tokens, now, estimated)
        asking = TurnToAsk(
            chat_id=chat.id,
            session_id=session.id if session is not None else None,
            epoch_id=epoch.id if epoch is not None else None,
            epoch=new if epoch is None else None,
            entry=composed.message,
            tokens=composed.tokens,
            shown=tuple(number for line in shown.lines for number in line.event_ids),
            logged_upto=upto,
            answering=answering,
            due_by=occasion.due_by,
            why=occasion.why,
            person_id=occasion.person.id,
            receipts=occasion.receipts,
            close_at=self.close_at(session.opened_at if session else now, chat, occasion.person, now),
            reservation=replace(reserved, pace=occasion.pace),
            ends=ends,
            memories=opened.memories,
            digests=opened.told("dialogue"),
            commitments=(*opened.told("commitment"), *recalled.commitments),
            reminders=(*opened.told("reminder"), *recalled.reminders),
            mode_why=choice.why,
            recalled=recalled.memories,
            brought=(*weighed, *recalled.brought),
            rest_ms=self._current.settings.memory.life.interval_hours * HOUR_MS,
            round=recalled.round,
        )
        prompt = whole_prompt(prefix.message, prefix.tools, epoch, (composed.message,))
        if timer is not None:
            timer.end("compose")
        return TurnPlan(asking, prompt, composed, epoch, prefix, choice, endpoint, step)

    async def _told(
        self, occasion: Occasion, session: Session | None, log: OpenLog, now: int, begins: BootstrapMode | None
    ) -> ToldLines:
        """What the next message tells; `begins` is the mode of the log that it opens, None where one goes on."""
        if begins is None:
            limits = self._lines.limits(self._current.settings.context.delta_tokens)
            return ToldLines(log.news, limits, log.earlier)
        light = begins == "light"
        begun = await self._lines.read(occasion, session, now, light)
        start = session.from_event if session is not None else min(event.id for event in occasion.answering) - 1
        first = await self._store.turns.unanswered(
            occasion.chat.id, await self._store.sessions.floor(occasion.chat.id), start
        )
        chat, person = occasion.chat, occasion.person
        facts = await self._booting.facts(await self.audience(chat, person), chat, person, now)
        opened = self._booting.light(facts, person) if light else self._booting.opening(facts, person)
        lines = {event.id: event for event in (*first, *begun.events)}
        earlier = max(0, begun.earlier - len(lines) + len(begun.events))
        unanswered = frozenset(event.id for event in first)
        return replace(begun, events=tuple(lines.values()), earlier=earlier, opened=opened, unanswered=unanswered)

    def _cues(self, occasion: Occasion, choice: BootstrapChoice) -> str:
        """A line for each thing that the messages may ask of memory, for a model that has the tools for it, and one
        before what is spoken."""
        words = self._current.words.opening(self._current.words.script(occasion.person))
        cues = (cue.partition(" ") for cue in occasion.cues) if choice.mode == "full" else ()
        told = [words(f"cue_{verb}", id=numbers) for verb, _, numbers in cues]
        if occasion.spoken_chars and self._current.pool.first.model.dialect != OFFLINE:
            told.append(words("cue_spoken", n=occasion.spoken_chars))
        return "".join(f"\n{line}" for line in told)

    async def _hint(self, occasion: Occasion, choice: BootstrapChoice) -> str:
        """A line after the messages when it has been small talk alone for long."""
        turns = await self._chooser.small_talk_turns(occasion, choice)
        words = self._current.words.opening(self._current.words.script(occasion.person))
        return "\n" + words("light_hint", n=turns) if turns else ""

    async def _recalled(
        self, occasion: Occasion, mode: BootstrapMode, epoch: Epoch | None, new: str, log: OpenLog, now: int
    ) -> AutoRecalled:
        """What the messages bring to mind that neither the log nor what is `new` tells yet."""
        if not self._bringing.wanted(occasion, mode):
            return AutoRecalled()
        audience = await self.audience(occasion.chat, occasion.person)
        logged = (entry.message.content for entry in epoch.entries) if epoch is not None else ()
        said, scene = "\n".join((*logged, new)), self._booting.seen(occasion.chat).scene
        named, chat, person = await self._bringing.days(occasion), occasion.chat, occasion.person
        ahead = await self._booting.on_days(named, audience, chat, person, said, now) if named else ()
        return await self._bringing.lines(occasion, audience, said, log.own, log.rounds, scene, now, ahead)

    def cheaper(self, plan: TurnPlan) -> BudgetStep | None:
        """The step at which this turn might still fit into a limit; to write first takes the whole bootstrap."""
        step = cheaper(plan.step, has_small=self._current.pool.has_small)
        return None if step == "light" and plan.asking.why in UNASKED else step

    async def boot(self, chat: Chat, person: Person, now: int) -> OpeningBlock:
        """The block that a log would open with that this person begins there now."""
        return await self._booting.boot(await self.audience(chat, person), chat, person, now)

    async def written(self, chat: Chat, person: Person) -> tuple[str, ...]:
        """What a person wrote last in a chat, the newest first: it tells their usual language."""
        return await self._store.people.written(chat.id, person.id)

    async def audience(self, chat: Chat, person: Person) -> Audience:
        """Everyone who can read a reply here; in a DM just the person."""
        if chat.kind == "dm":
            return Audience(chat.id, "dm", (person.id,))
        known = await self._store.people.audience(chat)
        return Audience(chat.id, "group", tuple(dict.fromkeys((person.id, *known.person_ids))))

    def request(self, prompt: Prompt, signature: str) -> ModelRequest:
        """The call that sends this prompt; requests with the same prefix go to the same cache."""
        model = self._current.settings.model
        return ModelRequest(
            prompt,
            model.max_output_tokens,
            model.temperature,
            model.deadline_seconds,
            f"nuan-{signature}",
            first_s=model.first_token_seconds,
        )

    async def step(self, chat_id: int, person_id: int | None, now: int) -> tuple[BudgetStep, BudgetPressure]:
        """What is done without for that person (None: for nobody) in that chat, and the limit that it is for."""
        pressure = await self._store.ledger.pressure(*self._limits(now), chat_id, person_id)
        return self._step(pressure), pressure

    def _limits(self, now: int) -> tuple[BudgetLimits, int, int]:
        """The limits that count now, and when their day and month began, ms."""
        limits = prices.limits(self._current.settings)
        if not any(endpoint.rate(now).costs for endpoint in self._current.pool.endpoints):
            limits = limits.of_tokens
        return limits, *prices.periods(now, self._current.words.default_tz)

    def _step(self, pressure: BudgetPressure) -> BudgetStep:
        budget = self._current.settings.budget
        return step_of(pressure.share, budget.small_at, budget.light_at, has_small=self._current.pool.has_small)

    async def size(
        self, endpoint: Endpoint, prefix: Message, tools: tuple[ToolSpec, ...], epoch: Epoch
    ) -> tuple[int, int]:
        """Tokens of a prompt as that model counts them, and as a bare estimate makes them."""
        name, bare = endpoint.model.name, prefix_tokens(prefix, tools, self.vocabulary)
        return prompt_sizes(epoch, bare, 0, await self._store.ledger.ratio(name), name)

    def _sized(
        self, endpoint: Endpoint, prefix: Prefix, epoch: Epoch | None, added: int, ratios: Mapping[str, float]
    ) -> tuple[int, int]:
        name, bare = endpoint.model.name, prefix_tokens(prefix.message, prefix.tools, self.vocabulary)
        return prompt_sizes(epoch, bare, added, ratios.get(name, 1.0), name)

    def reservation(self, cause: CallCause, endpoint: Endpoint, tokens: int, now: int, estimated: int) -> Reservation:
        """What a call with a prompt of `tokens` must reserve; `estimated` is what a bare estimate makes of it."""
        settings, name = self._current.settings, endpoint.model.name
        own = {HEARTBEAT: settings.heartbeat.day_tokens, JOIN: settings.speak.join.day_tokens}.get(cause)
        most = settings.model.max_output_tokens
        wanted = reservation(self._current, cause, name, tokens, most, endpoint.rate, now, estimated)
        return replace(wanted, own_tokens=own)

    def close_at(self, opened: int, chat: Chat, person: Person, now: int) -> int:
        """When a session that was opened at `opened` is to be closed: after silence, or at the next early hour."""
        tz = self._current.words.tz_of(chat, person)
        limits = self._current.settings.session
        return min(now + limits.idle_seconds * 1000, next_local_time(opened, limits.close_hour, tz))
