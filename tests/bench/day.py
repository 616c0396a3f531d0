"""One day through the whole bot on a simulated clock, with every request of the model kept beside the ledger's rows.

The store, the composing and the digests are the real ones; the model and the adapter are scripted.
"""

import html
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from bot.app import App
from bot.config.settings import Settings
from bot.container import Dependencies
from bot.core.events import Event, Incoming, Outgoing, Place
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import Capabilities, Completion, Message, ModelRequest, Prompt, ToolCall
from bot.language.small_talk import is_casual
from bot.model.pool import Endpoint, ModelPool
from bot.money import rate_of
from bot.pipeline.texts import Texts
from bot.prompt.persona import FULL
from bot.store.store import DATABASE, Store, open_store
from bot.text.length import estimate_tokens, message_tokens
from tests.bench.dmday import FACTS, HOUR_MS
from tests.bench.logs import PLATFORM, Log, Step
from tests.configured import configured
from tests.fakes.clock import SimClock
from tests.world import Lines

MIDNIGHT = 1_781_193_600_000
"""Friday 2026-06-12 00:00 in Shanghai."""
DAY_MS = 24 * HOUR_MS
REPLY_TOKENS, TOOL_SHARE = 60, 0.25
"""A reply, and the part of all turns of which the first call asks for a tool (PROMPT_ECONOMICS section 4)."""
STEP_MS, MOST_STEPS = 1_800_000, 200
REPLY = "原来是这样，听起来你这一天过得挺满的。先别着急，把事情一件一件放好，"
SENTENCE = "她说话平和，先听完再回答，不急着下结论，也不替别人做决定。"
CALLS = """SELECT call.cause, coalesce(call.turn_id, 0), coalesce(turn.epoch_id, 0), call.at FROM call
    LEFT JOIN turn ON turn.id = call.turn_id ORDER BY call.id"""
TURNS = """SELECT turn.id, turn.chat_id, asked_at, max(event_id), group_concat(event_id) FROM turn
    JOIN turn_event ON turn_id = turn.id WHERE turn.state = 'said' GROUP BY turn.id ORDER BY turn.id"""
PROMPTS = PromptFiles(None)
_LINE = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)
_SAID = re.compile(r"^(\d+)\. \[[^\]]*\] (?!.*?\(bot\): )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: when (ms), why, of which turn and epoch (0 for a digest), what was asked and answered."""

    at: int
    cause: str
    turn: int
    epoch: int
    prompt: Prompt
    answer: Message


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn that was said: its chat, when it was asked (ms), the newest event it answers, all that it answers."""

    id: int
    chat: int
    at: int
    upto: int
    events: frozenset[int]


@dataclass(frozen=True, slots=True)
class Day:
    """What happened: the calls in order, the turns, the events of each chat, and how many lines of trouble."""

    calls: tuple[Call, ...]
    turns: tuple[Turn, ...]
    events: Mapping[int, tuple[Event, ...]]
    words: Texts
    bot_name: str
    trouble: tuple[str, ...]


@dataclass(slots=True)
class Companion:
    """The model: replies of one length; every so often it first asks for a tool. What it was asked is kept."""

    names: tuple[str, ...]
    clock: SimClock
    chance: random.Random
    tools: float
    asked: list[tuple[int, Prompt, Message]] = field(default_factory=list)
    name: str = "made-up"
    dialect: str = "made-up"
    digests: bool = True

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer at once; nothing is counted."""
        prompt = request.prompt
        completion = Completion(reply_text())
        if not prompt.tools and "<ctx" not in prompt.messages[1].content:
            completion = Completion(self._digest(request))
        elif self._wants_tool(prompt):
            line = _LINE.findall(prompt.messages[-1].content)[-1]
            query = json.dumps({"query": html.unescape(line)[:30]}, ensure_ascii=False)
            call = ToolCall(f"call_{len(self.asked)}", "memory_recall", query)
            completion = Completion("", (call,), None)
        self.asked.append((self.clock.now(), prompt, completion.message()))
        return completion

    def _digest(self, request: ModelRequest) -> str:
        """A summary and one statement that nobody made: the second look, which every digest gets, leaves it out."""
        if request.shape is not None and request.shape.name == "check":
            return json.dumps({"wrong": [{"n": 1, "text": "", "when": "", "from": []}]})
        said = [int(number) for number in _SAID.findall(request.prompt.messages[1].content)]
        invented = [
            {
                "text": "用户去年在冰岛买了一座灯塔",
                "about": "",
                "slot": "home",
                "kind": "event",
                "when": "",
                "lasting": True,
                "replaces": [],
                "from": said[-1:],
            }
        ]
        whole = {
            "summary": "聊了一天里的几件小事",
            "statements": invented if said else [],
            "moods": [],
            "tasks": [],
            "promises": [],
            "open": [],
        }
        return json.dumps(whole, ensure_ascii=False)

    def _wants_tool(self, prompt: Prompt) -> bool:
        last = prompt.messages[-1]
        lines = _LINE.findall(last.content)
        if not prompt.tools or last.role != "user" or not lines:
            return False
        return not is_casual(html.unescape(lines[-1]), self.names) and self.chance.random() < self.tools

    async def body(self, request: ModelRequest) -> bytes:
        """The prompt as it is stored."""
        return "\n".join(message.canonical() for message in request.prompt.messages).encode()

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class Anywhere:
    """A platform that takes every message at once."""

    platform: str = PLATFORM
    resends: bool = True

    async def run(self, sink: object) -> None:
        """Nothing comes by itself."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it."""
        return (str(outgoing.outbox_id),)


@cache
def reply_text() -> str:
    """A reply of REPLY_TOKENS."""
    text = REPLY
    while message_tokens(Message("assistant", text + "好")) <= REPLY_TOKENS:
        text += "好"
    return text


def persona(folder: Path, tokens: int) -> Path:
    """The shipped persona with a longer SOUL.md, so that the whole system message has about `tokens` tokens."""
    made = folder / "persona"
    shutil.copytree(resource_dir("data/persona") / "default", made)
    others = [PROMPTS.path("ai-system.txt"), *(made / name for name in FULL if (made / name).exists())]
    room = tokens - sum(estimate_tokens(path.read_text("utf-8")) for path in others)
    times = max(0, room // estimate_tokens(SENTENCE))
    with (made / FULL[1]).open("a", encoding="utf-8") as soul:
        soul.write(SENTENCE * times)
    return made


def groups(logs: Sequence[Log]) -> tuple[Step, ...]:
    """These logs as groups of one day: each keeps its pace and begins when its day does, 8 and 9 o'clock and so on."""
    steps = []
    for number, log in enumerate(logs):
        shift = MIDNIGHT + (8 + number) * HOUR_MS - log.steps[0].at
        steps += [Step(step.at + shift, step.incoming) for step in log.steps]
    return tuple(sorted(steps, key=lambda step: step.at))


async def live(
    steps: Sequence[Step], settings: Settings, folder: Path, persona_at: Path, seed: int, small_talk: float
) -> Day:
    """Bring all of it through ingest, then wait until every session is digested.

    With so much small talk among the turns, so many of the others ask for a tool that TOOL_SHARE of all do.
    """
    clock = SimClock(MIDNIGHT - 2 * DAY_MS + 9 * HOUR_MS)
    bot, log = settings.bot, Lines()
    companion = Companion(bot.names, clock, random.Random(seed), TOOL_SHARE / (1 - small_talk))
    async with await open_store(folder) as store:
        pool = ModelPool(Endpoint(companion, rate_of(settings.model, Capabilities())))
        current = configured(settings, pool=pool, log=log, folders={settings.persona: persona_at})
        app = App(Dependencies(store, clock, log, current))
        await app.start([Anywhere()])
        for step in (*_kept(steps, bot.names[0], clock.now()), *steps):
            await clock.advance(step.at - clock.now(), app.settled)
            await app.ingest.accept(step.incoming)
            await app.settled()
        for _ in range(MOST_STEPS):
            if not await _waiting(store):
                break
            await clock.advance(STEP_MS, app.settled)
        events = {c.id: await store.events.between(c.id, 0, 2**62) for c in await store.people.chats()}
        await app.stop()
    trouble = tuple(f"{event} {fields}" for level, event, fields in log.lines if level not in ("debug", "info"))
    return _day(folder, companion, events, current.words, bot.names[0], trouble)


async def _waiting(store: Store) -> bool:
    """Whether a session of any chat is not digested yet."""
    return any([await store.sessions.undigested(chat.id) for chat in await store.people.chats()])


def _kept(steps: Sequence[Step], name: str, at: int) -> list[Step]:
    """Two days before, somebody in each place has asked to keep what nuan knows when the day begins."""
    first: dict[Place, Incoming] = {}
    for step in steps:
        if step.incoming.sender is not None and step.incoming.kind == "message":
            first.setdefault(step.incoming.place, step.incoming)
    return [
        Step(
            at + 1000 * number,
            replace(
                one,
                text=f"{name}，记住{fact}",
                delivery_key=f"{place.external_id} {number}",
                external_id="",
                addresses_other=False,
            ),
        )
        for place, one in first.items()
        for number, fact in enumerate(FACTS)
    ]


def _day(
    folder: Path,
    companion: Companion,
    events: Mapping[int, tuple[Event, ...]],
    words: Texts,
    name: str,
    trouble: tuple[str, ...],
) -> Day:
    with closing(sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True)) as db:
        rows, turns = db.execute(CALLS).fetchall(), db.execute(TURNS).fetchall()
    asked = sorted(companion.asked, key=lambda one: one[0])
    calls = tuple(
        Call(at, cause, turn, epoch, prompt, answer)
        for (cause, turn, epoch, _), (at, prompt, answer) in zip(rows, asked, strict=True)
    )
    assert all((call.cause == "digest") == (call.turn == 0) for call in calls)
    assert all(("<ctx" in call.prompt.messages[1].content) == (call.turn > 0) for call in calls)
    said = tuple(Turn(row[0], row[1], row[2], row[3], frozenset(map(int, row[4].split(",")))) for row in turns)
    return Day(calls, said, events, words, name, trouble)


def small_turns(day: Day, names: tuple[str, ...]) -> int:
    """How many turns answered nothing but small talk."""
    called = {event.id: event.text for events in day.events.values() for event in events}
    return sum(all(is_casual(called[event], names) for event in turn.events if event in called) for turn in day.turns)


def kept_whole(day: Day) -> tuple[int, int]:
    """How many prompts begin with the whole one before them in their epoch, of how many that have one."""
    epochs: dict[int, list[Call]] = {}
    for call in day.calls:
        if call.turn:
            epochs.setdefault(call.epoch, []).append(call)
    pairs = [pair for calls in epochs.values() for pair in pairwise(calls)]
    return sum(_extends(before, later) for before, later in pairs), len(pairs)


def _extends(before: Call, later: Call) -> bool:
    old = [*(message.canonical() for message in before.prompt.messages), before.answer.canonical()]
    new = [message.canonical() for message in later.prompt.messages]
    return later.prompt.tools == before.prompt.tools and new[: len(old)] == old
