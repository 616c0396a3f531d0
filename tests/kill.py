"""Killing a real process at any moment: a child does verbs and says after each that it is done; then it is killed.

`python -m tests.kill FOLDER SEED` is the child; `kill` starts and kills one. What must hold then is for the tests.
"""

import asyncio
import itertools
import json
import os
import random
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.core.models import Message
from bot.core.people import Audience
from bot.core.sessions import Turn
from bot.core.tools import ToolAnswer, ToolOutcome
from bot.store.store import Store, open_store
from tests.fork_server import ROOT, Order, fork_server
from tests.storing import NOW, Where, begin, drop, ids, keep, paid, reply, room_for, say, statement


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the child: `done` is False for a forgetting that only begins."""

    verb: str
    done: bool
    number: int
    text: str


def kill(folder: Path, seed: int, after: int, module: str = "tests.kill") -> list[Line]:
    """Start a child, kill -9 it when it has said `after` lines, and return all that it said."""
    out_of, into = os.pipe()
    order = Order(module, (str(folder), str(seed)), str(ROOT), dict(os.environ))
    child = fork_server().start(order, (0, into, 2))
    os.close(into)
    with open(out_of, "rb") as told:  # noqa: PTH123 - it has no path
        said = list(itertools.islice(told, after + 1))
        child.kill()
        said += told.readlines()
    assert child.join() == -signal.SIGKILL, "the child ended by itself"
    whole = [line for line in said if line.endswith(b"\n")]
    return [Line(*cast("tuple[str, bool, int, str]", tuple(json.loads(line)))) for line in whole]


def tell(verb: str, number: int, text: str = "", *, done: bool = True) -> None:
    """Say it at once, in one write."""
    os.write(1, (json.dumps([verb, done, number, text]) + "\n").encode())


async def work(folder: Path, seed: int) -> None:
    """Three people at once, for ever."""
    async with await open_store(folder) as store:
        await take_up(store)
        tell("ready", 0)
        people = [Where(name, f"dm-{name}") for name in ("ann", "bob", "cat")]
        await asyncio.gather(*(live(store, where, random.Random(f"{seed} {where.who}")) for where in people))


async def take_up(store: Store) -> None:
    """What an earlier child left: calls are charged, turns are void."""
    await store.outbox.recover(frozenset({"test"}))
    await store.turns.lost_calls(NOW)
    for turn in await store.turns.running():
        await store.turns.fail(turn, "killed", None, "charge", NOW)


async def live(store: Store, where: Where, chance: random.Random) -> None:
    """One person's days: remembering, forgetting, talking, closing."""
    person, chat, _ = await ids(store, where)
    audience = Audience(chat, "dm", (person,))
    while True:
        match chance.randrange(8):
            case 0 | 1 | 2:
                text = f"记{chance.randrange(10**9)}号"
                tell("remember", await keep(store, text, where), text)
            case 3:
                owned = await store.memories.owned(person, audience)
                if owned:
                    memory = chance.choice(owned)
                    tell("forget", memory.id, memory.text, done=False)
                    await drop(store, memory, where, days=chance.choice((7, None)))
                    tell("forget", memory.id, memory.text)
            case 4:
                accepted = await say(store, "在吗", where, key=f"{where.who}{chance.random()}")
                assert accepted.event is not None
                tell("accept", accepted.event.id)
                await store.events.finish((accepted.event.id,), "seen")
            case 5 | 6:
                await turn(store, where, chance)
            case _:
                session = await store.sessions.open_session(chat)
                if session is not None and await store.sessions.close(session.id, "new", NOW):
                    tell("close", session.id)


async def turn(store: Store, where: Where, chance: random.Random) -> None:
    """A turn with a tool that saves something."""
    asked = await begin(store, f"问{chance.random()}", where)
    tell("ask", asked.turn.id)
    await store.turns.answer(asked.turn, Message("assistant", ""), 3, paid(asked.call.id), NOW)
    await save(store, asked.turn, chance)
    call = await store.turns.ask_again(asked.turn, room_for(), NOW)
    await store.turns.say(reply(type(asked)(asked.turn, call), "好"), NOW)
    tell("say", asked.turn.id)
    sending = await store.outbox.take(asked.turn.chat_id, NOW)
    if sending is not None:
        await store.outbox.sent(sending.chat_id, sending.outbox_id, ("1",), NOW)


async def save(store: Store, turn: Turn, chance: random.Random) -> None:
    """The tool's effect, asked for twice as after a crash."""
    text = f"存{chance.randrange(10**9)}次"
    memory = statement(text, turn.person_id, turn.chat_id, source="tool", kind="experience", events=turn.event_ids)
    outcome = ToolOutcome("1:call", "call", ToolAnswer("saved #{id}", memory), 4)
    for _ in range(2):
        await store.turns.tool_done(turn, outcome, NOW)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2])))
