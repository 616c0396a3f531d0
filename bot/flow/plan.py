"""What the next call of a chat would send, from what is stored. It writes nothing: a turn commits, `ctx` shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.context.batch import following_names, waiting_names, whole
from bot.context.bus import SCENE_LABEL
from bot.context.xml import Limits, delta
from bot.flow.booting import Booting
from bot.flow.bringing import Bringing, Recalled, Telling
from bot.flow.choosing import Chooser, why_anew
from bot.flow.crew import Crew, Member
from bot.flow.lines import FirstLines
from bot.flow.words import Words
from bot.money import prices
from bot.money.degrade import Step, cheaper, later, step_of
from bot.prompt.compose import Composed, compose, whole_prompt
from bot.prompt.persona import Prefix
from bot.prompt.personas import Personas
from bot.prompt.policy import Choice
from bot.prompt.tokens import prefix_tokens, sizes
from bot.session.ending import reason as reason_of
from bot.store.ledger import Reservation
from bot.store.sessions import NewEpoch
from bot.store.store import Store
from bot.store.turns import Asking
from bot.store.views import OpenLog
from bot.text.dates import next_local_time
from bot.text.estimate import Vocabulary, estimate_tokens, vocabulary_of
from bot.types.brought import Brought
from bot.types.duration import HOUR_MS
from bot.types.event import Event
from bot.types.heartbeat import HEARTBEAT
from bot.types.joining import JOIN
from bot.types.money import Pressure
from bot.types.occasion import Occasion
from bot.types.opening import Opened
from bot.types.people import Audience, Chat, Person
from bot.types.prompt import Message, Prompt, Request, ToolSpec
from bot.types.session import CloseReason, Epoch, LogEntry, Mode, Session
from bot.types.speaking import UNASKED
from bot.types.turn import Cause, Turn

NOT_LATE: CloseReason = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A composed turn: what would be committed, what would be sent, its parts, and on which bootstrap and why."""

    asking: Asking
    prompt: Prompt
    composed: Composed
    epoch: Epoch | None
    prefix: Prefix
    choice: Choice
    member: Member
    step: Step

    def logged(self, turn: Turn) -> Epoch:
        """The log as it stands once the turn is asked."""
        entry = LogEntry(turn.id, self.composed.message, self.composed.tokens)
        if self.epoch is not None:
            return replace(self.epoch, entries=(*self.epoch.entries, entry), logged_upto=self.asking.logged_upto)
        new = self.asking.epoch
        signature = new.signature if new is not None else ""
        return Epoch(
            turn.epoch_id, turn.session_id, turn.epoch_number, signature, self.prompt.messages[0], (entry,),
            self.asking.logged_upto, mode=self.choice.mode,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """The lines of a message with their limits, how many earlier ones are left out, and what opens a log.

    `unanswered` are those that nuan wrote first, which are always shown: the person may answer them.
    """

    events: tuple[Event, ...]
    limits: Limits
    earlier: int
    opened: Opened
    unanswered: frozenset[int] = frozenset()


class Planner:
    """Composes turns for any chat."""

    def __init__(
        self, store: Store, settings: Settings, personas: Personas, words: Words, crew: Crew, bringing: Bringing,
        booting: Booting,
    ) -> None:  # fmt: skip
        self._store = store
        self._settings = settings
        self.personas = personas
        self._words = words
        self._crew = crew
        self.vocabulary: Vocabulary = settings.model.vocabulary or vocabulary_of(crew.first.model.name)
        self._lines = FirstLines(store, settings)
        self._chooser = Chooser(store, settings, crew, self.vocabulary)
        self._bringing = bringing
        self._booting = booting

    async def plan(self, occasion: Occasion, now: int, at_least: Step = "full") -> Plan:
        """Compose the turn that answers these messages now, doing without what `at_least` does without.

        Where light is asked for, the log does not go on: a shorter one fits into what is left of a limit.
        """
        chat, store = occasion.chat, self._store
        answering, apart = tuple(event.id for event in occasion.answering), self._settings.speak.busy == "queue"
        most = self._settings.context.bus_max
        log = await store.views.log(chat.id, most, occasion.person.id, answering, apart=apart)
        session, ends = log.session, NOT_LATE
        if session is not None and session.close_at <= now:
            ends = reason_of(session, self._settings.session.idle_seconds * 1000)
            session = None
        step = later((await self.step(chat.id, occasion.person.id, now))[0], at_least)
        prefixes, script = self.personas.of(chat.persona), self._words.script(occasion.person)
        goes_on = log.epoch.signature if session is not None and log.epoch is not None else ""
        alone = chat.kind == "dm"
        full = prefixes.of("full", script, goes_on, alone=alone)
        wished = await self._chooser.choose(occasion, session, log.epoch, full, now, step)
        choice = Choice("light", "budget") if at_least == "light" else wished
        prefix = prefixes.of(choice.mode, script, goes_on, alone=alone)
        reason = why_anew(session, log.epoch, prefix, choice)
        epoch = None if reason else log.epoch
        first = epoch is None or not epoch.entries
        zone = self._words.zone_of(chat, occasion.person)
        told = await self._told(occasion, session, log, now, None if not first else choice.mode)
        events, opened = told.events, told.opened
        upto = max(event.id for event in (*events, *occasion.answering))
        if first or not self._settings.context.scene.include:
            # The opening tells the present scene; after it only a change is news.
            events = tuple(event for event in events if event.label != SCENE_LABEL)
        every = tuple(sorted({e.id: e for e in (*events, *occasion.answering)}.values(), key=lambda event: event.id))
        answered = whole(occasion.answering, self._room(), told.limits.answered, estimate_tokens) | told.unanswered
        frame = self._words.frame(now, zone, script, first=first, group=chat.kind == "group")
        to, follow = waiting_names(occasion.answering, every), following_names(occasion.answering)
        frame = replace(frame, to=to, follow=follow)
        logged = epoch.logged_upto if epoch is not None and not first else 0
        shown = delta(every, answered, now, frame, told.limits, estimate_tokens, told.earlier, logged)
        recalled = await self._recalled(occasion, choice.mode, epoch, f"{opened.text}\n{shown.text}", log.own, now)
        said = shown.text + self._cues(occasion, choice) + await self._hint(occasion, choice)
        composed = compose(opened.text, said, recalled.text, self.vocabulary)
        new = NewEpoch(prefix.message, prefix.tools, prefix.signature, reason, choice.mode)
        member = self._crew.pick(now, small=step != "full")
        size = self._sized(member, prefix, epoch, composed.tokens, log.ratios)
        asking = replace(
            self._asking(occasion, session, epoch, composed, now, new, member, size),
            shown=tuple(number for line in shown.lines for number in line.event_ids),
            logged_upto=upto,
            ends=ends,
            memories=opened.memories,
            recalled=recalled.memories,
            round=recalled.round,
            brought=(*self._opened(opened.text), *recalled.brought),
            digests=opened.told("dialogue"),
            commitments=opened.told("commitment"),
            reminders=opened.told("reminder"),
            mode_why=choice.why,
        )
        prompt = whole_prompt(prefix.message, prefix.tools, epoch, (composed.message,))
        return Plan(asking, prompt, composed, epoch, prefix, choice, member, step)

    async def _told(
        self, occasion: Occasion, session: Session | None, log: OpenLog, now: int, begins: Mode | None
    ) -> Told:  # fmt: skip
        """What the next message tells; `begins` is the mode of the log that it opens, None where one goes on."""
        if begins is None:
            limits = self._lines.limits(self._settings.context.delta_tokens)
            return Told(log.news, limits, log.earlier, Opened(""))
        light = begins == "light"
        begun = await self._lines.read(occasion, session, now, light)
        start = session.from_event if session is not None else min(event.id for event in occasion.answering) - 1
        first = await self._store.heartbeats.unanswered(
            occasion.chat.id, await self._store.sessions.floor(occasion.chat.id), start
        )
        chat, person = occasion.chat, occasion.person
        facts = await self._booting.facts(await self.audience(chat, person), chat, person, now)
        opened = self._booting.light(facts, person) if light else self._booting.opening(facts, person)
        lines = {event.id: event for event in (*first, *begun.events)}
        earlier = max(0, begun.earlier - len(lines) + len(begun.events))
        return Told(tuple(lines.values()), begun.limits, earlier, opened, frozenset(event.id for event in first))

    def _cues(self, occasion: Occasion, choice: Choice) -> str:
        """A line for each thing that the messages may ask of memory, for a model that has the tools for it."""
        words = self._words.opening(self._words.script(occasion.person))
        cues = (cue.partition(" ") for cue in occasion.cues) if choice.mode == "full" else ()
        return "".join("\n" + words(f"cue_{verb}", id=numbers) for verb, _, numbers in cues)

    async def _hint(self, occasion: Occasion, choice: Choice) -> str:
        """A line after the messages when it has been small talk alone for long."""
        turns = await self._chooser.chatted(occasion, choice)
        words = self._words.opening(self._words.script(occasion.person))
        return "\n" + words("light_hint", n=turns) if turns else ""

    async def _recalled(
        self, occasion: Occasion, mode: Mode, epoch: Epoch | None, new: str, own: tuple[Event, ...], now: int
    ) -> Recalled:  # fmt: skip
        """What the messages bring to mind that neither the log nor what is `new` tells yet."""
        if not self._bringing.wanted(occasion, mode):
            return Recalled()
        audience = await self.audience(occasion.chat, occasion.person)
        zone = self._words.zone_of(occasion.chat, occasion.person)
        script, scene = self._words.script(occasion.person), self._booting.seen(occasion.chat).scene
        telling = Telling(audience, script, zone, now, self.vocabulary, own, scene)
        logged = (entry.message.content for entry in epoch.entries) if epoch is not None else ()
        return await self._bringing.lines(occasion, telling, "\n".join((*logged, new)))

    def _opened(self, opening: str) -> tuple[Brought, ...]:
        """What the opening block weighs."""
        return (Brought("opening", "", estimate_tokens(opening, self.vocabulary)),) if opening else ()

    def _room(self) -> int:
        """Tokens of answered messages that a prompt takes at most: half of what the window has room for."""
        model, limits = self._settings.model, self._settings.session
        return (model.window_tokens - model.max_output_tokens - limits.reserve_tokens) // 2

    def cheaper(self, plan: Plan) -> Step | None:
        """The step at which this turn might still fit into a limit; to write first takes the whole bootstrap."""
        step = cheaper(plan.step, has_small=self._crew.has_small)
        return None if step == "light" and plan.asking.why in UNASKED else step

    async def boot(self, chat: Chat, person: Person, now: int) -> Opened:
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

    def request(self, prompt: Prompt, signature: str) -> Request:
        """The call that sends this prompt; requests with the same prefix go to the same cache."""
        model = self._settings.model
        return Request(
            prompt, model.max_output_tokens, model.temperature, model.deadline_seconds, f"nuan-{signature}",
            first_s=model.first_token_seconds,
        )  # fmt: skip

    async def step(self, chat_id: int, person_id: int | None, now: int) -> tuple[Step, Pressure]:
        """What is done without for that person (None: for nobody) in that chat, and the limit that it is for."""
        day, month = prices.periods(now, self._words.tz(self._words.zone))
        budget = self._settings.budget
        limits = prices.limits(self._settings)
        pressure = await self._store.ledger.pressure(limits, day, month, chat_id, person_id)
        has_small = self._crew.has_small
        return step_of(pressure.share, budget.small_at, budget.light_at, has_small=has_small), pressure

    async def size(
        self, member: Member, prefix: Message, tools: tuple[ToolSpec, ...], epoch: Epoch
    ) -> tuple[int, int]:  # fmt: skip
        """Tokens of a prompt as that model counts them, and as a bare estimate makes them."""
        bare = prefix_tokens(prefix, tools, self.vocabulary)
        return sizes(epoch, bare, 0, await self.ratio(member), member.model.name)

    def _sized(
        self, member: Member, prefix: Prefix, epoch: Epoch | None, added: int, ratios: Mapping[str, float]
    ) -> tuple[int, int]:
        name, bare = member.model.name, prefix_tokens(prefix.message, prefix.tools, self.vocabulary)
        return sizes(epoch, bare, added, ratios.get(name, 1.0), name)

    async def ratio(self, member: Member) -> float:
        """How many tokens the model counts for each that we estimate."""
        return await self._store.ledger.ratio(member.model.name)

    def reservation(self, cause: Cause, member: Member, tokens: int, now: int, estimated: int) -> Reservation:
        """What a call with a prompt of `tokens` must reserve; `estimated` is what a bare estimate makes of it."""
        most = prices.estimate(tokens, self._settings.model.max_output_tokens, member.rate(now))
        day, month = prices.periods(now, self._words.tz(self._words.zone))
        settings = self._settings
        own = {HEARTBEAT: settings.heartbeat.day_tokens, JOIN: settings.speak.join.day_tokens}.get(cause)
        return Reservation(
            cause, member.model.name, most.tokens, most.cost, prices.limits(self._settings), day, month, estimated, own
        )  # fmt: skip

    def close_at(self, opened: int, chat: Chat, person: Person, now: int) -> int:
        """When a session that was opened at `opened` is to be closed: after silence, or at the next early hour."""
        tz = self._words.tz(self._words.zone_of(chat, person))
        limits = self._settings.session
        return min(now + limits.idle_seconds * 1000, next_local_time(opened, limits.close_hour, tz))

    def _asking(
        self, occasion: Occasion, session: Session | None, epoch: Epoch | None,
        composed: Composed, now: int, new: NewEpoch, member: Member, size: tuple[int, int],
    ) -> Asking:  # fmt: skip
        tokens, estimated = size
        causes: dict[str, Cause] = {"window": "followup", HEARTBEAT: "heartbeat", JOIN: "join"}
        cause = causes.get(occasion.why, "reply")
        return Asking(
            chat_id=occasion.chat.id, session_id=session.id if session is not None else None,
            epoch_id=epoch.id if epoch is not None else None, epoch=new if epoch is None else None,
            entry=composed.message,
            tokens=composed.tokens, shown=(), logged_upto=0,
            answering=tuple(event.id for event in occasion.answering), why=occasion.why,
            person_id=occasion.person.id, receipts=occasion.receipts,
            close_at=self.close_at(session.opened_at if session else now, occasion.chat, occasion.person, now),
            reservation=replace(self.reservation(cause, member, tokens, now, estimated), pace=occasion.pace),
            rest_ms=self._settings.memory.life.interval_hours * HOUR_MS,
        )  # fmt: skip
