"""Dispatch: what is due in a chat is taken in order; commands and edits without a model, the rest in one turn."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from bot.core.errors import OverLimit, StatementError
from bot.core.events import WISH_TAKEN, Draft, Event
from bot.core.memories import (
    FORGET_QUESTIONS,
    CommitmentState,
    Memory,
    MemoryCommand,
    MemoryQuestion,
    MemoryVerb,
    ParsedCommands,
)
from bot.core.people import Chat, Person, Script
from bot.core.ports import Clock, Log
from bot.core.sessions import Occasion, Turn
from bot.core.speaking import STOP_REASONS
from bot.language.pasted import asks, own_part
from bot.language.wishes.names import introduced_name
from bot.language.wishes.reader import answer_to, menu_command
from bot.memory.promises import PromiseEndings
from bot.pipeline.actions.forget import YES_NO
from bot.pipeline.actions.plans import KnownOfPerson, known_of_person
from bot.pipeline.actions.receipts import CommandContext, DoneCommand, brief
from bot.pipeline.actions.remember import RememberActions
from bot.pipeline.concurrency import TurnStopper
from bot.pipeline.configuration import Current
from bot.pipeline.ingest import READ_CHARS, Debounce
from bot.pipeline.media import MediaReader
from bot.pipeline.plan import Planner
from bot.pipeline.refusals import FailureRetry, Strangers, TalkLimiter, is_machine_error, unparked
from bot.pipeline.reminders import ReminderService
from bot.pipeline.send import OutboxSender
from bot.pipeline.timings import PhaseTimer, TurnTimings
from bot.pipeline.turn import TurnRunner
from bot.speaking.pacing import due_batch as next_batch
from bot.store.changes import Revision
from bot.store.events import WaitingChat
from bot.store.store import Store
from bot.text.fold import fold

VERBS: dict[str, MemoryVerb] = {"": "remember", "address": "nick_set", "no_address": "nick_revoke"}
"""By which command a memory was made."""

Progress = Literal["nothing", "some", "all"]
"""What was done for a chat: nothing was due; some of it, so that it is looked at again; all, and said."""

JOINED = 8
"""Characters at most between two facts of one wish (", and that ")."""


async def apply_change(
    event: Event, store: Store, remember_actions: RememberActions, clock: Clock, reminders: ReminderService
) -> None:
    """See to a queued change and take it off the queue; nothing is answered and no receipt repeated."""
    if event.label == "delete":
        await store.events.delete_again(event.id, clock.now())
        return
    edited = await store.events.edited(event.id) if event.label == "edit" else None
    if edited is None:
        await store.events.finish((event.id,), "change")
        return
    if event.person_id is not None:
        chat, person = await store.people.chat(event.chat_id), await store.people.person(event.person_id)
        await reminders.edited(replace(event, text=edited.text), chat, person, edited.event_id)
    await remember_actions.settling.edited(edited.event_id, edited.text)
    understood = await remember_actions.understand(replace(event, text=edited.text))
    revised = revisions(edited.memories, understood.commands, edited.text)
    # Words to be forgotten must not come back with the message that asked for it.
    forgets = any(command.verb == "forget" for command in understood.commands)
    told = understood.rest if understood.commands else edited.text
    for _, text in revised:
        if text is not None:
            store.tombstones.remove_tombstone(text, clock.now())
    await store.events.revise(
        event.id, edited, Revision(revised, told, understood.rest if forgets else None), clock.now()
    )


def revisions(
    memories: Sequence[Memory], commands: Iterable[MemoryCommand], text: str = ""
) -> tuple[tuple[int, str | None], ...]:
    """What the commands of an edited message make of its memories, in order; None ends one, no entry leaves it.

    Further commands are not carried out: an edit is no command. What it adds to the facts of a wish in `text` goes
    to the last of them.
    """
    left = _gathered(list(commands), sum(not memory.is_name for memory in memories), text)
    found: list[tuple[int, str | None]] = []
    for memory in memories:
        command = next((each for each in left if each.verb == VERBS[memory.slot if memory.is_name else ""]), None)
        if command is not None:
            left.remove(command)
        if command is None:
            found.append((memory.id, None))
        elif command.content and command.content != memory.text:
            found.append((memory.id, command.content))
    return tuple(found)


def _gathered(commands: list[MemoryCommand], room: int, text: str) -> list[MemoryCommand]:
    """The commands, where the facts of one wish for which no memory has room are part of the one before."""
    told = [each for each in commands if each.verb == "remember" and each.content]
    if not room or len(told) <= room:
        return commands
    last = told[room - 1].content or ""
    begin = text.find(last)
    end = begin + len(last)
    for each in told[room:]:
        at = text.find(each.content or "", end)
        if begin < 0 or not 0 <= at - end <= JOINED or "记" in fold(text[end:at]):
            break
        end = at + len(each.content or "")
    return [replace(each, content=text[begin:end]) if each is told[room - 1] else each for each in commands]


@dataclass(frozen=True, slots=True)
class TurnWanted:
    """A command is done, and the model goes on with what it was about: it reads `text` in the command's place."""

    text: str


class CommandHandler(Protocol):
    """Who carries out dot-commands."""

    async def carry_out(self, event: Event, chat: Chat) -> Draft | TurnWanted | None:
        """Do what the command, or the question in words that one answers, says; the answer, None for nothing to say."""
        ...


class Dispatcher:
    """The work of the chat queue."""

    def __init__(
        self,
        store: Store,
        runner: TurnRunner,
        remember_actions: RememberActions,
        planner: Planner,
        clock: Clock,
        current: Current,
        sender: OutboxSender,
        media: MediaReader,
        stopper: TurnStopper,
        limiter: TalkLimiter,
        debounce: Debounce,
        reminders: ReminderService,
        timings: TurnTimings,
        log: Log,
    ) -> None:
        self._store = store
        self._runner = runner
        self._remember_actions = remember_actions
        self._planner = planner
        self._clock = clock
        self._current = current
        self._log = log
        self._sender = sender
        self._media = media
        self._stopper = stopper
        self._limiter = limiter
        self._debounce = debounce
        self._reminders = reminders
        self._timings = timings
        self._strangers = Strangers(store, clock, current)
        self._retrying = FailureRetry(store, clock, current, log)
        self._command_handler: CommandHandler | None = None
        self._unfinished: set[int] = set()
        self._ended = False

    def set_commands(self, handler: CommandHandler) -> None:
        """Hand in who carries out dot-commands: they stand on a floor above."""
        self._command_handler = handler

    def take_up(self, chat_id: int) -> None:
        """A turn of this chat was left between asked and said: it is finished before anything else."""
        self._unfinished.add(chat_id)

    def end(self) -> None:
        """Begin no further turn in any chat: what is due stays due."""
        self._ended = True

    async def work(self, chat_id: int) -> None:
        """Finish the turn that a crash left, then answer everything that is due in this chat.

        StoreError: nothing of the last step was stored, so what is due stays due.
        """
        if chat_id in self._unfinished:
            refused = await self._runner.refused(chat_id)
            for turn in await self._store.turns.running(chat_id):
                if turn == refused:
                    continue  # tried again when what it answers is due
                try:
                    await self._stopper.run(chat_id, self._runner.resume(turn))
                except Exception as error:
                    if is_machine_error(error):
                        raise
                    await self._retrying.failed(chat_id, await self._store.events.of(turn.event_ids), error)
                self._sender.enqueue(chat_id, None)
        self._unfinished.add(chat_id)
        while not self._ended and await self._some(chat_id) == "some":
            self._sender.enqueue(chat_id, None)
        self._unfinished.discard(chat_id)

    async def _some(self, chat_id: int) -> Progress:
        """The first dot-command that is due, or all that comes before it."""
        handled: list[Event] = []
        async with self._current.held():
            try:
                return await self._next(chat_id, handled)
            except Exception as error:
                if is_machine_error(error):
                    raise
                # One message that cannot be handled must not stop the chat.
                return "some" if await self._retrying.failed(chat_id, handled, error) else "nothing"

    async def _next(self, chat_id: int, handled: list[Event]) -> Progress:
        """As `_some`; `handled` is what it is about."""
        waiting = await self._store.events.waiting(chat_id, self._clock.now())
        chat, due = waiting.chat, waiting.due
        if not due:
            return "nothing"
        if (refused := await self._runner.refused(chat_id)) is not None:
            await self._answered(refused, due, handled)
            return "some"
        changes = tuple(event for event in due if event.kind != "message")
        for event in changes:
            handled[:] = (event,)
            await apply_change(event, self._store, self._remember_actions, self._clock, self._reminders)
        if changes:
            return "some"
        batch = await self._batch(waiting)
        handled[:] = batch
        if await self._debounce.wait_for_typists(waiting):
            return "some"
        match batch[0].why:
            case "command":
                await self._command(batch[0], chat, waiting)
            case "closed" | "off":
                await self._strangers.closed(batch[0], chat, waiting.people[batch[0].person_id])
            case "pair":
                await self._strangers.request_pairing(batch[0], chat, waiting.people[batch[0].person_id])
            case _:
                # What comes meanwhile wakes the chat, so that there is nothing to look for after an answer to all.
                return "all" if await self._answer(batch, waiting) and len(batch) == len(due) else "some"
        return "some"

    async def _answered(self, refused: Turn, due: tuple[Event, ...], handled: list[Event]) -> None:
        """Have the answer stored that the database refused; nothing else waits for that."""
        handled[:] = (event for event in due if event.id in refused.event_ids)
        if handled:
            await self._stopper.run(refused.chat_id, self._runner.resume(refused))
        else:
            await self._runner.give_up(refused, StatementError.__name__)

    async def _batch(self, waiting: WaitingChat) -> tuple[Event, ...]:
        """What comes next; the operator is told when messages that were to be answered one by one are not."""
        busy = self._debounce.rules(waiting.chat.platform).busy
        batch = next_batch(waiting.due, waiting.standing, busy)
        folded = sum(event.id not in waiting.standing.parked for event in batch)
        if busy == "queue" and folded > 1:
            self._log.warning("queue_folded", chat=waiting.chat.id, messages=folded)
        return batch

    async def _command(self, event: Event, chat: Chat, waiting: WaitingChat) -> None:
        if menu_command(event.text) is not None:
            await self._commands(event, chat, waiting.people[event.person_id], None)
            return
        answer = await self._command_handler.carry_out(event, chat) if self._command_handler is not None else None
        if isinstance(answer, TurnWanted):
            await self._answer((replace(event, text=answer.text),), waiting)
        elif answer:
            first, *more = self._sender.drafts(chat, answer)
            await self._store.outbox.answer(chat.id, (event.id,), (first, *more), self._clock.now())
        else:
            await self._store.events.finish((event.id,), "command")

    async def _answer(self, batch: tuple[Event, ...], waiting: WaitingChat) -> bool:
        """See to a batch; True when all of it was answered in one turn, whose reply is on its way."""
        chat, people, asked = waiting.chat, waiting.people, dict(waiting.asked)
        timer = self._timings.begin(self._clock, (event.id for event in batch))
        receipts: list[str] = []
        answering: list[Event] = []
        cueing: list[tuple[Event, bool, MemoryQuestion | None]] = []
        reminds = list[str]()
        batch = await self._limiter.within_limits(batch, waiting)
        for event in batch:
            question, came = asked.pop(event.person_id or 0, None), event
            whole, question, waits = await self._pasted(came, chat, people[came.person_id], question)
            if waits:
                continue
            event = whole
            if event.why not in STOP_REASONS:
                heard = await self._reminders.heard(event, chat, people[event.person_id])
                if heard.done:
                    if question is not None:  # what came after it is what a later undo means
                        await self._store.memories.drop_question(chat.id, event.person_id or 0)
                    continue
                reminds += filter(None, (heard.cue,))
                if heard.rest:
                    receipts.append(heard.receipt)
                    event = replace(event, text=heard.rest)
            promised = event.person_id in waiting.promising
            done, left = await self._commands(
                event, chat, people[event.person_id], question, promised, reminded=event is not whole
            )
            receipts += done
            if left is not None:  # the model is told the wish, too, whose receipt it is told
                answering.append(came if left is event else left)
                cueing.append((left, bool(done), question))
        if not answering:
            if receipts:  # what they came with was done without an answer
                await self._store.outbox.confirm(chat.id, batch[0].id, "\n".join(receipts), self._clock.now())
            return False
        if len(answering) < len(batch):
            return False  # what a command made forgotten may be among the rest, which is read anew
        called = [event for event in answering if event.why != "window"] or answering
        caller = next((event for event in reversed(called) if not people[event.person_id].is_bot), called[-1])
        person = people[caller.person_id]
        pace = self._limiter.pace(person, unparked(batch, waiting))
        cues = (*await self._cues(cueing, chat, person, waiting.promising), *dict.fromkeys(reminds))
        now = self._clock.now()
        occasion = Occasion(chat, person, tuple(answering), caller.why, tuple(receipts), pace, cues, due_by=now)
        self._sender.typing(chat, True)
        try:
            said = await self._stopper.run(chat.id, self._turn(occasion, timer))
            if said is None and receipts:
                await self._store.outbox.confirm(
                    chat.id, occasion.answering[0].id, "\n".join(receipts), self._clock.now()
                )
            return bool(said)
        except OverLimit as error:
            await self._limiter.refuse(occasion, error)
            return False
        finally:
            self._sender.typing(chat, False)

    async def _turn(self, occasion: Occasion, timer: PhaseTimer) -> bool:
        known = await self._media.understand(occasion.chat, occasion.person, occasion.answering, occasion.pace)
        return await self._runner.begin(replace(occasion, answering=known), timer)

    async def _pasted(
        self, event: Event, chat: Chat, person: Person, question: MemoryQuestion | None
    ) -> tuple[Event, MemoryQuestion | None, bool]:
        """The message as it is heard, the question it may answer, and whether its writer was asked back instead.

        What somebody pasted asks for nothing, as what is forwarded, until they say yes to the question whether it does.
        """
        names = self._current.settings.bot.names
        if question is not None and question.kind == "pasted":
            question = replace(question, kind="cue")
            agreed = answer_to(question, event.text[:READ_CHARS], names) if not event.forwarded else None
            if agreed is not None and agreed.verb == "agree":
                number = question.memories[-1]
                await self._store.memories.drop_question(chat.id, person.id)
                said = await self._store.events.between(chat.id, number - 1, number)
                return (replace(event, text=said[0].text) if said else event), None, False
        whole = event.text[:READ_CHARS]
        if event.forwarded or person.is_bot or event.kind != "message" or own_part(whole, names) == whole:
            return event, question, False
        if event.why == "window" or event.why in STOP_REASONS or not asks(whole, names):
            return replace(event, forwarded=True), question, False
        audience = await self._planner.audience(chat, person)
        _, account = await self._store.people.answer_to(event)
        script = await self._script(event, person)
        command = MemoryCommand("remember", None)
        told = CommandContext(command, event, chat, person.id, audience, script, 0, "", False, account)
        await self._remember_actions.receipts.say(
            "pasted_asks", told, MemoryQuestion("pasted", (event.id,)), YES_NO, text=brief(whole)
        )
        return event, question, True

    async def _commands(
        self,
        event: Event,
        chat: Chat,
        person: Person,
        question: MemoryQuestion | None,
        promised: bool = True,
        *,
        reminded: bool = False,
    ) -> tuple[list[str], Event | None]:
        """Carry out the memory commands of a message; the receipts still to be said, and what is left to answer.

        Of what was stopped nothing else is left. A message without one may answer the `question` its writer was asked, and
        end what they `promised`. `reminded`: a reminder that it asks for is set.
        """
        stopped = event.why in STOP_REASONS
        reads = partial(self._known, chat, person)
        understood, still = await self._remember_actions.heard(event, question, reads)
        if question is not None and not understood.commands and not still:
            if question.kind in FORGET_QUESTIONS and self._current.value.uses_tools:
                await self._store.memories.leave_question(chat.id, person.id, self._clock.now())
            else:
                await self._store.memories.drop_question(chat.id, person.id)
            if question.kind == "clarify" and not (event.forwarded or stopped):
                await self._store.memories.offer_answer(question.memories[0], event, self._clock.now())
        if chat.kind == "dm" and not understood.commands:
            understood = await self._introduced(event, reads) or understood
        over = PromiseEndings()
        if promised and not (understood.commands or event.forwarded or person.is_bot or still or stopped):
            over = await self._remember_actions.settling.heard(event, await self._planner.audience(chat, person))
            understood = _settled(over, event) or understood
        if event.forwarded or person.is_bot or not understood.commands:
            if stopped:
                await self._store.events.finish((event.id,), "stopped")
                return [], None
            if not still and await self._asked_back(event, chat, person, over):
                return [], None
            return [], event
        audience = await self._planner.audience(chat, person)
        _, account = await self._store.people.answer_to(event)
        rest = "" if stopped else understood.rest
        # Forgetting empties the message, so it comes last: a crash in between must not lose the other commands.
        commands = sorted(enumerate(understood.commands), key=lambda pair: _hides(pair[1]))
        several = sum(command.verb == "remember" for _, command in commands) > 1
        script, done = await self._script(event, person), list[DoneCommand]()
        dated = [command.content for _, command in commands if command.verb == "remember" and command.content]
        offer = await self._reminders.offer(event, chat, person, dated[0]) if len(dated) == 1 and not reminded else ""
        judged = len(commands) == 1 and chat.kind == "dm" and self._current.value.uses_tools
        for place, command in commands:
            last = len(done) + 1 == len(commands)
            told = CommandContext(
                command,
                event,
                chat,
                person.id,
                audience,
                script,
                place,
                rest,
                last and _hides(command),
                account,
                last,
                tuple(done),
                several,
                offer if command.verb == "remember" else "",
                judged,
            )
            receipt = await self._remember_actions.carry_out(told)
            if not receipt:
                return [], event
            done.append((command, receipt))
        if not rest and not (self._current.value.uses_tools and await self._remember_actions.changes(event)):
            return [], None
        receipts = self._remember_actions.receipts.joined(done, script)
        # What was only asked about stands as it was said.
        left = await self._store.events.of((event.id,)) if _hides(commands[-1][1]) else ()
        emptied = any(each.label == WISH_TAKEN for each in left)
        return list(receipts), replace(event, text=rest, label=WISH_TAKEN) if emptied else event

    async def _script(self, event: Event, person: Person) -> Script:
        """What a message is answered in; undo and 叫我阿明 tell nothing, so it is as its writer wrote just before."""
        script: str = person.script
        for line in await self._store.events.own_lines((event.id,), person.id, event.at, answered=True):
            script = self._current.words.script_of(line.text, script)
        return self._current.words.script_of(event.text, script)

    async def _asked_back(self, event: Event, chat: Chat, person: Person, over: PromiseEndings) -> bool:
        """Whether a message may ask something of memory, or end one of several promises, and its writer was asked, as
        no model can tell."""
        left = person.is_bot or self._current.value.uses_tools or event.why == "window"
        found = None if left else self._remember_actions.asked(event)
        if found is None and not over.asks:
            return False
        audience = await self._planner.audience(chat, person)
        _, account = await self._store.people.answer_to(event)
        script = await self._script(event, person)
        command = MemoryCommand("done", None) if found is None else MemoryCommand(found.verb, found.about or None)
        told = CommandContext(command, event, chat, person.id, audience, script, 0, "", False, account)
        if found is None:
            await self._remember_actions.settling.ask_back(over, told)
        else:
            await self._remember_actions.ask_back(found, told)
        return True

    async def _cues(
        self,
        answering: Iterable[tuple[Event, bool, MemoryQuestion | None]],
        chat: Chat,
        person: Person,
        promising: Collection[int],
    ) -> tuple[str, ...]:
        """What messages may ask of memory, and which promises they may end, for the model that answers them.

        Of each what is left of it, whether something of that was done, and the question that it may answer.
        """
        if not self._current.value.uses_tools:
            return ()
        found: list[str] = []
        for event, done, question in answering:
            read = await self._remember_actions.cues(event, done=done)
            if question is not None and question.kind in FORGET_QUESTIONS and not (done or event.forwarded):
                read = ["answer", *(each for each in read if each not in ("forget", "any"))]
            found += read
            if event.person_id == person.id and person.id in promising and not event.forwarded:
                found += await self._remember_actions.settling.cue(event, await self._planner.audience(chat, person))
        return tuple(dict.fromkeys(found))

    async def _introduced(
        self, event: Event, known: Callable[[bool], Awaitable[KnownOfPerson]]
    ) -> ParsedCommands | None:
        """Somebody who says their name in private is called by it, unless they said before how to call them."""
        name = introduced_name(event.text)
        if name is None or any(memory.slot == "address" for memory in (await known(False))[0]):
            return None
        rest = event.text if self._current.value.uses_tools else ""  # the receipt is all that could be said to it
        return ParsedCommands((MemoryCommand("nick_set", name),), rest)

    async def _known(self, chat: Chat, person: Person, forgotten: bool) -> KnownOfPerson:
        return await known_of_person(self._store, person.id, await self._planner.audience(chat, person), forgotten)


def _settled(over: PromiseEndings, event: Event) -> ParsedCommands | None:
    """What a message ends, as wishes of it; a message that says nothing else needs no other answer."""
    verbs: tuple[tuple[MemoryVerb, CommitmentState], ...] = (("done", "done"), ("off", "failed"))
    found = ((verb, tuple(each.number for each in over.ended if each.state == state)) for verb, state in verbs)
    commands = tuple(MemoryCommand(verb, None, chosen=numbers) for verb, numbers in found if numbers)
    return ParsedCommands(commands, "" if over.whole else event.text) if commands else None


def _hides(command: MemoryCommand) -> bool:
    """Whether a command names what is to be forgotten, so that its message must go as well."""
    return command.verb == "forget" and command.scope not in ("about", "aside", "ahead", "bare")
