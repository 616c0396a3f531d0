"""What a chat's lane does about an edit or a deletion, once it is stored: memories follow. It says nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.flow.remembering import Remembering
from bot.flow.reminding import Reminding
from bot.ports import Clock
from bot.store.changes import Revision
from bot.store.store import Store
from bot.text.fold import fold
from bot.types.event import Event
from bot.types.memory import Memory, MemoryCommand, Verb

VERBS: dict[str, Verb] = {"": "remember", "address": "nick_set", "no_address": "nick_revoke"}
"""By which command a memory was made."""

JOINED = 8
"""Characters at most between two facts of one wish (", and that ")."""


async def follow(event: Event, store: Store, remembering: Remembering, clock: Clock, reminding: Reminding) -> None:
    """See to a queued change and take it off the queue; nothing is answered and no receipt repeated."""
    if event.label == "delete":
        await store.changes.delete_again(event.id, clock.now())
        return
    edited = await store.changes.edited(event.id) if event.label == "edit" else None
    if edited is None:
        await store.events.finish((event.id,), "done", "change")
        return
    if event.person_id is not None:
        chat, person = await store.people.chat(event.chat_id), await store.people.person(event.person_id)
        await reminding.edited(replace(event, text=edited.text), chat, person, edited.event_id)
    await remembering.settling.edited(edited.event_id, edited.text)
    understood = await remembering.understand(replace(event, text=edited.text))
    revised = revisions(edited.memories, understood.commands, edited.text)
    # Words to be forgotten must not come back with the message that asked for it.
    forgets = any(command.verb == "forget" for command in understood.commands)
    told = understood.rest if understood.commands else edited.text
    for _, text in revised:
        if text is not None:
            store.tombstones.lift(text, clock.now())
    await store.changes.revise(
        event.id, edited, Revision(revised, told, understood.rest if forgets else None), clock.now()
    )  # fmt: skip


def revisions(
    memories: Sequence[Memory], commands: Iterable[MemoryCommand], text: str = ""
) -> tuple[tuple[int, str | None], ...]:  # fmt: skip
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
