"""Ingest: an event is committed with its decision before the platform is told that it arrived."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from itertools import islice

from bot.config.settings import Settings
from bot.context import scene_text
from bot.core.events import Event, Incoming, Place
from bot.core.memories import ParsedCommands, SpokenPromise
from bot.core.people import SCRIPTS, script_named
from bot.core.ports import Adapter, AwaitsAnswers, Clock, Debounces, SceneSource, implements
from bot.core.speaking import Situation
from bot.language.feedback import feedback_signals
from bot.language.pasted import own_part
from bot.language.reminders.multiple_requests import reminder_wishes
from bot.language.statements import MOST, tasks_in
from bot.language.statements import READ_CHARS as PROMISE_CHARS
from bot.language.stop_commands import stop_command
from bot.language.time.dates import due_in, nudge_for
from bot.language.wishes.reader import list_asked, menu_command, reply_wish, understand
from bot.memory.transcript import own_words
from bot.pipeline.concurrency import Activity
from bot.pipeline.configuration import Current
from bot.pipeline.timings import TurnTimings
from bot.speaking.activation import decide
from bot.speaking.pacing import DEBOUNCE_MOST_MS, WITHOUT_MODEL, BurstRules, Typists, looks_whole, with_deadline
from bot.speaking.reminders import nudging_rules
from bot.store.events import WaitingChat
from bot.store.intake import Accepted, Arrival
from bot.store.store import Store
from bot.text.clean import clean, clean_file, clean_name, shown
from bot.text.codes import code_in, is_greeting, without_keys
from bot.text.fold import usual_script
from bot.text.length import clip_whole

READ_CHARS = 8_000
"""How much of a message is searched for names and commands: folding is slow on hostile megabytes."""

COMMAND_CHARS = 500
"""How much of a group's message is read to see whether it asks something of memory."""

SCENE_CHARS = 4_000
"""What is stored of a scene; how much of it is told is configuration."""

MOST_CHARS = 100_000
"""What is stored of one message; no chat platform sends more, and a pasted file must not fill the disk."""


OWN_PLATFORMS = ("console", "web")
"""Where whoever writes has no account with a name."""


class Debounce:
    """Joins what belongs together. What it stores are deadlines only."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        understand: Callable[[Event], Awaitable[ParsedCommands]],
        adapter: Callable[[str], Adapter | None],
    ) -> None:
        """`understand` tells memory commands, which never wait; `adapter` finds who talks to a platform."""
        self._store = store
        self._clock = clock
        self._current = current
        self._understand = understand
        self._adapter = adapter
        self._typists = Typists()

    def rules(self, platform: str) -> BurstRules:
        """What holds for a message of that platform; unless configured, each platform has a wait of its own."""
        speak, adapter = self._current.settings.speak, self._adapter(platform)
        wait = round(speak.debounce_seconds * 1000)
        if "debounce_seconds" not in speak.model_fields_set:
            wait = adapter.debounce_ms if implements(adapter, Debounces) else 0
        gathers = not (implements(adapter, AwaitsAnswers) and adapter.awaits)
        return BurstRules(speak.busy, wait, speak.followup_seconds * 1000, gathers)

    def typing(self, place: Place, account: str) -> None:
        """Somebody is typing there."""
        self._typists.typing(place, account, self._clock.now())

    def wrote(self, place: Place, account: str) -> None:
        """They sent it."""
        self._typists.wrote(place, account)

    async def wait_for_typists(self, waiting: WaitingChat) -> bool:
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
                await self._store.events.delay(tuple(event.id for event in mine), until)
                wait = True
        return wait

    def _asks(self, event: Event, waiting: WaitingChat) -> bool:
        """Whether it is a message for the model, due now; a follow-up has waited for silence already."""
        return (
            event.kind == "message"
            and event.why not in (*WITHOUT_MODEL, "window")
            and event.id not in waiting.standing.later
        )


class Ingest:
    """Takes events in from any adapter."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        debounce: Debounce,
        is_command: Callable[[str, bool], bool],
        arrived: Callable[[Accepted], None],
        activity: Activity,
        timings: TurnTimings,
        scenes: tuple[SceneSource, ...] = (),
    ) -> None:
        """`is_command` is asked of a text, and whether its chat is a direct one. `arrived` is told of everything that is
        stored; `scenes` describe the place of a message."""
        self._store = store
        self._clock = clock
        self._debounce = debounce
        self._is_command = is_command
        self._current = current
        self._arrived = arrived
        self._activity = activity
        self._timings = timings
        self._scenes = scenes

    async def accept(self, incoming: Incoming) -> bool:
        """Commit it; True when it is stored, also if it was stored before. StoreError when it cannot be."""
        self._activity.begin()
        came = self._clock.now()
        try:
            async with self._current.held():
                settings = self._current.settings
                arrival = self._arrival(self._cleaned(incoming))
                if incoming.sender is not None and incoming.kind == "message":
                    self._debounce.wrote(incoming.place, incoming.sender.external_id)
                intake = self._store.events
                accept = intake.accept_deletion if incoming.label == "delete" else intake.accept
                accepted = await accept(arrival, lambda situation: decide(_with_wishes(situation, settings), settings))
            if accepted.event is not None:
                self._timings.stored(accepted.event.id, came, self._clock.now())
            self._arrived(accepted)
            return True
        finally:
            self._activity.end()

    def typing(self, place: Place, account: str) -> None:
        """The account is typing there: what it wrote before waits a little longer for the rest. Stores nothing."""
        self._debounce.typing(place, account)

    async def newest(self, place: Place) -> str:
        """The platform's id of the newest message of that place that is stored, "" when none is."""
        return next(iter(await self._store.events.newest_ids(place, 1, hidden=True)), "")

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        """The platform's ids of the newest visible messages of people of that place, newest first."""
        return await self._store.events.newest_ids(place, limit)

    async def places(self, platform: str) -> tuple[Place, ...]:
        """Every place of that platform that is stored."""
        return await self._store.people.places(platform)

    def _cleaned(self, incoming: Incoming) -> Incoming:
        scene = incoming.scene
        for source in self._scenes:
            scene = source.scene(incoming.place) or scene
        sender = incoming.sender
        return replace(
            incoming,
            text=without_keys(cleaned(incoming.text)),
            quote=without_keys(cleaned(incoming.quote[:READ_CHARS])),
            attachments=tuple(replace(one, name=clean_file(one.name)) for one in incoming.attachments),
            place=replace(incoming.place, title=clean_name(incoming.place.title) if incoming.place.title else ""),
            sender=replace(sender, name=clean_name(sender.name)) if sender is not None else None,
            scene=scene_text(scene, SCENE_CHARS) if scene is not None else None,
        )

    def _arrival(self, incoming: Incoming) -> Arrival:
        text, is_message = incoming.text[:READ_CHARS], incoming.kind == "message"
        words, names = self._current.words, self._current.settings.bot.names
        own = is_message and not incoming.forwarded
        # A model without tools could tell of such lists in part only.
        asks = own and incoming.place.kind == "dm" and not self._current.value.uses_tools and list_asked(text) != ""
        stop = stop_command(text, names) if is_message else ""
        is_command = own and (asks or self._is_command(text, incoming.place.kind == "dm" and not stop))
        order = menu_command(text) if is_command else None
        bursts = self._debounce.rules(incoming.place.platform)
        situation = Situation(
            at=self._clock.now(),
            chat_kind=incoming.place.kind,
            enabled=True,
            text=text,
            is_message=is_message,
            from_bot=incoming.sender is None or incoming.sender.is_bot,
            is_command=is_command,
            is_memory_command=bool(order) if is_command else _commands(incoming, text, names),
            mentions_bot=incoming.mentions_bot and incoming.sender is not None,
            replies_to_bot=incoming.replies_to_bot,
            addresses_other=incoming.addresses_other,
            forwarded=incoming.forwarded,
            window_until=0,
            greets=is_command and is_greeting(text),
            code=code_in(text, is_command) if is_message else "",
            awaited=bool(incoming.via),
            age_ms=max(0, self._clock.now() - incoming.at) if incoming.at else 0,
            stop="" if is_command else stop,
            whole=bool(bursts.debounce_ms) and looks_whole(text, names),
        )
        said = is_message and not is_command and not incoming.forwarded and not situation.from_bot
        told = "" if not is_message or (is_command and not asks) or situation.code else text
        if order is not None:
            told = order.content or ""
        return Arrival(
            incoming,
            situation,
            lambda last, lines: (
                usual_script((told, *lines), names, script_named(last), words.language) if told.strip() else last
            ),
            "command" if is_command and order is None else "",
            lambda key, script: words.messages.text(key, words.script_of(text, script)),
            lambda waiting: bool(understand(waiting[:COMMAND_CHARS], names).commands),
            lambda decision, waiting: with_deadline(decision, situation, waiting, bursts),
            bursts.interrupts_ms,
            bursts.debounce_ms,
            feedback_signals(told, names) if said else (),
            self._promising(incoming, text) if (said and told.strip()) or _is_edit(incoming) else None,
            self._called(incoming),
        )

    def _called(self, incoming: Incoming) -> Callable[[str], str] | None:
        """How whoever sits at the machine is called by script, till they say so; None for everybody else."""
        own = partial(self._current.words.messages.text, "console_name")
        name = incoming.sender.name if incoming.sender is not None else ""
        return own if incoming.place.platform in OWN_PLATFORMS and name in map(own, SCRIPTS) else None

    def _promising(self, incoming: Incoming, text: str) -> Callable[[str], tuple[SpokenPromise, ...]] | None:
        """What a message, or the edit of one, promises, given the name of its writer's time zone; None: nothing."""
        configuration = self._current.value
        if configuration.pool.first.model.digests:
            return None  # the digest tells what was promised
        settings, texts, names = configuration.settings, configuration.texts.words, configuration.settings.bot.names
        at, nudging = incoming.at or self._clock.now(), nudging_rules(settings.remind)
        made = tuple(islice(tasks_in(own_words(text[:PROMISE_CHARS], names)), MOST))
        # What is asked of memory is no promise besides: 记住我明天要交报告 is kept as a memory.
        if not made or understand(text[:COMMAND_CHARS], names).commands:
            return None

        def promised(zone: str) -> tuple[SpokenPromise, ...]:
            tz = texts.tz(zone or texts.zone)
            found = ((said, due_in(said, at, tz)) for said in made)
            return tuple(
                SpokenPromise(said, due.at if due else None, nudge_for(due, at, nudging, tz)) for said, due in found
            )

        return promised


def cleaned(text: str) -> str:
    """A message as it is stored, as people see it. It is cut before it is cleaned: cleaning hostile megabytes holds up
    everybody."""
    return shown(clean(clip_whole(text, MOST_CHARS)[0]))


def _is_edit(incoming: Incoming) -> bool:
    by_person = incoming.sender is not None and not incoming.sender.is_bot
    return incoming.kind == "event" and incoming.label == "edit" and by_person


def _with_wishes(seen: Situation, settings: Settings) -> Situation:
    """Where nuan is off a wish for a reminder is told that it is not done, as one for a memory is."""
    if seen.enabled or seen.is_command or seen.is_memory_command or not seen.is_message:
        return seen
    return replace(seen, is_memory_command=bool(reminder_wishes(seen.text[:COMMAND_CHARS], settings.bot.names)))


def _commands(incoming: Incoming, text: str, names: tuple[str, ...]) -> bool:
    """Whether it asks something of memory; a command is no long text."""
    if incoming.kind != "message":
        return False
    points = bool(incoming.target) and reply_wish(text, names) is not None
    return points or bool(understand(own_part(text[:COMMAND_CHARS], names), names).commands)
