"""One talk of ../shared/talks, read and played through the real bot on a simulated clock. It scores nothing."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot.app import App
from bot.cli.installation import find_installation, make_dependencies
from bot.config.settings import Settings
from bot.container import Dependencies, make_planner, make_recall
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.models import Capabilities, Completion, Message, ModelRequest, Usage
from bot.core.people import Chat, Person
from bot.core.ports import Model
from bot.core.recall import RecallQuery
from bot.core.tools import ToolContext
from bot.model.pool import Endpoint, ModelPool
from bot.money import rate_of
from bot.pipeline.findings import findings_text
from bot.pipeline.inspection import plan_imagined
from bot.store.store import DATABASE, open_store
from bot.text.length import estimate_tokens
from tests.fakes.clock import SimClock

PLATFORM = "telegram"
"""What the chats are said to be on: one account a person, direct messages and groups, nothing known of time zones."""

LATENCY_MS = 3_000
"""How long the model takes where it matters: a line that comes sooner after another one of its chat meets a busy bot.

Everywhere else a model's answer takes no simulated time.
"""

ANSWER_MS = 30_000
"""What is sent in a chat so long after its last line is no answer to it but said by itself."""

CACHED_MS = 300_000
"""How long a provider that counts nothing is taken to keep a prompt that it has seen."""

NEUTRAL = {
    "zh-Hans": "我想跟你说件事，你先听我讲完好吗",
    "zh-Hant": "我想跟你說件事，你先聽我講完好嗎",
    "en": "I want to tell you something, please hear me out first",
}
"""Something substantial that asks for nothing in particular; it is taken out of what is searched."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line or a checkpoint of a talk; `check` is "" for a line. Fields that a kind does not have are empty.

    `number` is the line's own number, or that of the line whose receipt is looked at.
    """

    at: int
    when: str
    chat: str = ""
    who: str = ""
    text: str = ""
    number: int = 0
    reply_to: int = 0
    edit: int = 0
    delete: int = 0
    forwarded: bool = False
    check: str = ""
    query: str = ""
    top: int = 0
    within_s: int = 0
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """One file: its name, its zone and language, the bot's names, its rows in time order."""

    name: str
    zone: str
    language: str
    bot: tuple[str, ...]
    rows: tuple[Row, ...]


ROW = TypeAdapter(Row)


def read_talk(path: Path) -> Talk:
    """The talk of that file; ValueError or KeyError for a line that is none."""
    head, *lines = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    zone = ZoneInfo(head["zone"])

    def row(body: dict[str, object]) -> Row:
        when = str(body["at"])
        at = round(datetime.fromisoformat(when).replace(tzinfo=zone).timestamp() * 1000)
        return ROW.validate_python(body | {"at": at, "when": when, "number": body.get("n", 0)})

    return Talk(path.stem, head["zone"], head["language"], tuple(head["bot"]), tuple(map(row, lines)))


# What the bench asks of the installation: how it is built, what the next request would be, what a recall brings, what
# was spent. Where these change, only this part of the file changes.


@dataclass(frozen=True, slots=True)
class PlayedBot:
    """The running bot and what looking at it takes."""

    app: App
    parts: Dependencies
    folder: Path


@asynccontextmanager
async def open_bot(
    talk: Talk,
    folder: Path,
    make: Callable[[Settings], Model],
    clock: SimClock,
    adapter: "Recorder",
    sections: dict[str, object],
) -> AsyncIterator[PlayedBot]:
    """An installation as a normal operator has it, which lets everybody of the talk in; `sections` are further
    settings.
    """
    language = talk.language if talk.language in NEUTRAL else "zh-Hans"
    people = sorted({account(row.who) for row in talk.rows if row.who})
    groups = sorted({place_id(row.chat) for row in talk.rows if row.chat.startswith("group:")})
    settings = Settings.model_validate(
        {
            "bot": {"names": talk.bot, "language": language, "timezone": talk.zone},
            PLATFORM: {"allow": (*people, *groups)},
            **sections,
        }
    )
    place = find_installation(settings, folder)
    model = make(place.settings)
    # Asked once: a second try waits on a clock that stands still. A real server is asked again by its wrapper.
    pool = ModelPool(Endpoint(model, rate_of(place.settings.model, Capabilities())), tries=1)
    async with await open_store(folder, frozenset(settings.bot.owners), settings.allow_list) as store:
        parts = make_dependencies(place, store, pool, Complaints(), clock)
        app = App(parts)
        await app.start([adapter])
        try:
            yield PlayedBot(app, parts, folder)
        finally:
            await app.stop()
            await pool.close()


async def person_in(nuan: PlayedBot, row: Row) -> tuple[Chat, Person] | None:
    """The chat and the person of a checkpoint; None while the installation knows one of them not yet."""
    people = nuan.parts.store.people
    number = await people.by_account(f"{PLATFORM}:{account(row.who)}")
    chats = [chat for chat in await people.chats() if chat.external_id == place_id(row.chat)]
    return (chats[0], await people.person(number)) if chats and number is not None else None


async def next_request(nuan: PlayedBot, chat: Chat, person: Person, text: str) -> tuple[Message, ...]:
    """All messages of the request that this person would cause with that text now; nothing is written."""
    parts = nuan.parts
    planner = make_planner(parts)
    return (await plan_imagined(planner, parts.current.words, chat, person, text, parts.clock.now())).prompt.messages


async def recalled(nuan: PlayedBot, chat: Chat, person: Person, query: str, most: int) -> tuple[str, ...]:
    """The best findings of a memory search there, best first, each as a model reads it."""
    parts = nuan.parts
    planner = make_planner(parts)
    audience, now = await planner.audience(chat, person), parts.clock.now()
    trace = await make_recall(parts).recall(RecallQuery(audience, person.id, query, now, most))
    context = ToolContext(audience, person.id, 0, (), parts.current.words.script(person), now)
    told = [await findings_text(parts.store, parts.current.words, context, (one.finding,)) for one in trace.chosen]
    return tuple(" ".join(text.splitlines()[1:]) for text in told[:most])


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls of one cause used, in tokens."""

    cause: str
    calls: int
    prompt: int
    cached: int
    output: int


def spent(folder: Path) -> tuple[Spent, ...]:
    """What the ledger holds, by cause."""
    with closing(sqlite3.connect(f"file:{folder / DATABASE}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT cause, count(*), sum(prompt_tokens), sum(cached_tokens), sum(output_tokens) FROM call "
            "WHERE state <> 'released' GROUP BY cause ORDER BY cause"
        ).fetchall()
    return tuple(Spent(*row) for row in rows)


# From here on nothing knows the installation but by its ingest, its adapter and its model.


@dataclass(slots=True)
class Complaints:
    """A log that prints what went wrong, on stderr."""

    def debug(self, event: str, **fields: object) -> None:
        """Say nothing."""

    info = debug

    def warning(self, event: str, **fields: object) -> None:
        """Print it."""
        print(f"  {event} {fields!r}"[:500], file=sys.stderr, flush=True)

    error = warning


@dataclass(frozen=True, slots=True)
class Sent:
    """One message that went out: when, ms, into which place, after how many lines of the talk; by itself or not."""

    at: int
    place: str
    after: int
    alone: bool
    text: str


@dataclass(slots=True)
class Recorder:
    """A platform that takes everything at once and keeps it; `came` is when a place heard its last line, ms."""

    clock: SimClock
    platform: str = PLATFORM
    resends: bool = True
    debounce_ms: int = 600
    sent: list[Sent] = field(default_factory=list)
    lines: int = 0
    came: dict[str, int] = field(default_factory=dict)

    async def run(self, sink: object) -> None:
        """Nothing comes by itself."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it."""
        now, place = self.clock.now(), outgoing.external_chat_id
        if outgoing.text:
            alone = now - self.came.get(place, 0) > ANSWER_MS
            self.sent.append(Sent(now, place, self.lines, alone, outgoing.text))
        return (f"out:{outgoing.outbox_id}",)


class Gate:
    """A model behind a gate: while it is shut, requests wait; every answer has its tokens, counted or estimated."""

    def __init__(self, model: Model, clock: SimClock) -> None:
        self._model = model
        self._clock = clock
        self._recent: list[tuple[int, list[str]]] = []
        self._open = asyncio.Event()
        self._open.set()
        self.held = asyncio.Event()
        self.name, self.dialect, self.digests = model.name, model.dialect, model.digests

    def shut(self) -> None:
        """From now on requests wait."""
        self._open.clear()

    def open(self) -> None:
        """What waits is answered."""
        self._open.set()
        self.held.clear()

    async def complete(self, request: ModelRequest) -> Completion:
        """The model's own answer, with an estimate of its tokens where nobody counted them."""
        if not self._open.is_set():
            self.held.set()
            await self._open.wait()
        answer = await self._model.complete(request)
        return answer if answer.usage is not None else replace(answer, usage=self._usage(request, answer))

    async def body(self, request: ModelRequest) -> bytes:
        """The model's own."""
        return await self._model.body(request)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def _usage(self, request: ModelRequest, answer: Completion) -> Usage:
        """Cached is the longest beginning that a request of the last five minutes had, too."""
        prompt, now = request.prompt, self._clock.now()
        items = [json.dumps(tool.wire(), ensure_ascii=False) for tool in prompt.tools]
        items += [message.canonical() for message in prompt.messages]
        sizes = [estimate_tokens(item) for item in items]
        self._recent = [(at, before) for at, before in self._recent if now - at < CACHED_MS]
        kept = max((alike(items, before) for _, before in self._recent), default=0)
        self._recent.append((now, items))
        return Usage(sum(sizes), sum(sizes[:kept]), estimate_tokens(answer.message().canonical()))


def alike(one: list[str], other: list[str]) -> int:
    """With how many of the same items both begin."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )


@dataclass(frozen=True, slots=True)
class Look:
    """A checkpoint and the text in which its patterns are looked for."""

    row: Row
    text: str


@dataclass(frozen=True, slots=True)
class Played:
    """What a talk showed: its checkpoints in order, what was sent, what was spent."""

    talk: str
    looks: tuple[Look, ...]
    sent: tuple[Sent, ...]
    spent: tuple[Spent, ...]


async def play(
    talk: Talk, folder: Path, make: Callable[[SimClock, Settings], Model], sections: dict[str, object] | None = None
) -> Played:
    """The talk from its first row to its last; `make` makes the model that answers."""
    clock = SimClock(talk.rows[0].at - 60_000)
    adapter = Recorder(clock)
    gates: list[Gate] = []

    def gated(settings: Settings) -> Model:
        gates.append(Gate(make(clock, settings), clock))
        return gates[0]

    async with open_bot(talk, folder, gated, clock, adapter, sections or {}) as nuan:
        stage = Stage(talk, nuan, clock, adapter, gates[0])
        for place in range(len(talk.rows)):
            await stage.step(place)
        await stage.pass_to(talk.rows[-1].at + max(ANSWER_MS, *(1000 * row.within_s for row in talk.rows)))
    looks = tuple(Look(row, stage.texts.get(place, "")) for place, row in enumerate(talk.rows) if row.check)
    later = tuple(
        replace(look, text=told(look.row, adapter.sent, stage.orders))
        if look.row.check in ("said", "receipt")
        else look
        for look in looks
    )
    return Played(talk.name, later, tuple(adapter.sent), spent(folder))


def told(row: Row, sent: list[Sent], orders: dict[int, tuple[int, str]]) -> str:
    """What was sent by itself around that time, or in answer to that line before the next one came."""
    if row.check == "said":
        texts = [
            one.text
            for one in sent
            if one.alone and one.place == place_id(row.chat) and abs(one.at - row.at) <= row.within_s * 1000
        ]
    else:
        order, place = orders[row.number]
        texts = [one.text for one in sent if not one.alone and one.place == place and one.after == order]
    return "\n".join(texts)


@dataclass(slots=True)
class Stage:
    """A talk under way; `texts` are what its looks found, by row, `orders` the place of each line by its number."""

    talk: Talk
    nuan: PlayedBot
    clock: SimClock
    adapter: Recorder
    gate: Gate
    texts: dict[int, str] = field(default_factory=dict)
    orders: dict[int, tuple[int, str]] = field(default_factory=dict)
    lines: dict[int, Row] = field(default_factory=dict)

    async def step(self, place: int) -> None:
        """Let time pass until the row, and do what it says."""
        row = self.talk.rows[place]
        await self.pass_to(row.at)
        if row.check:
            if row.check in ("opening", "light", "recall"):
                self.texts[place] = await self._look(row)
            return
        following = self.talk.rows[place + 1] if place + 1 < len(self.talk.rows) else None
        soon = following is not None and not following.check and following.at - row.at < LATENCY_MS
        held = self.gate.held.is_set()
        if soon and following is not None and following.chat == row.chat:
            self.gate.shut()
        await self._bring(row)
        if held or not soon:
            self.gate.open()
        await self._quiet()

    async def pass_to(self, at: int) -> None:
        """Let time pass, deadline by deadline."""
        await self.clock.advance(max(at - self.clock.now(), 0), self._quiet)

    async def _quiet(self) -> None:
        """Return when nothing is in flight, or as soon as a request waits at the shut gate."""
        tasks = [asyncio.ensure_future(wait) for wait in (self.nuan.app.settled(), self.gate.held.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _bring(self, row: Row) -> None:
        place, who = place_id(row.chat), account(row.who)
        self.adapter.lines += 1
        self.adapter.came[place] = row.at
        self.orders[row.number] = self.adapter.lines, place
        await self.nuan.app.ingest.accept(self._incoming(row, place, who))
        self.lines[row.number] = row

    def _incoming(self, row: Row, place: str, who: str) -> Incoming:
        """The row as an adapter brings it."""
        where = Place(PLATFORM, place, "dm" if row.chat.startswith("dm:") else "group", row.chat.partition(":")[2])
        sender, key = Sender(PLATFORM, who, row.who), f"bench:{row.number}"
        if row.delete:
            return Incoming(where, None, "event", "", "delete", key, target=line_id(row.delete))
        if row.edit:
            return Incoming(where, sender, "event", row.text, "edit", key, target=line_id(row.edit), at=row.at)
        other = self.lines.get(row.reply_to)
        return Incoming(
            where,
            sender,
            "message",
            row.text,
            delivery_key=key,
            external_id=line_id(row.number),
            addresses_other=other is not None and other.who != row.who,
            forwarded=row.forwarded,
            target=line_id(row.reply_to) if row.reply_to else "",
            at=row.at,
            quote=other.text if other else "",
        )

    async def _look(self, row: Row) -> str:
        found = await person_in(self.nuan, row)
        if found is None:
            return ""
        if row.check == "recall":
            return "\n".join(await recalled(self.nuan, *found, row.query, row.top))
        text = row.text or NEUTRAL.get(self.talk.language, NEUTRAL["zh-Hans"])
        whole = "\n".join(map(shown, await next_request(self.nuan, *found, text)))
        return whole if row.check == "light" else whole.replace(text, "")


def shown(message: Message) -> str:
    """What is searched of a message: of the system message only an opening that stands in it, of others everything."""
    if message.role == "system":
        return message.content[: message.opening]
    return "\n".join((message.content, *(f"{call.name} {call.arguments}" for call in message.tool_calls)))


def account(who: str) -> str:
    """The id of a person's account."""
    return f"u-{who}"


def place_id(chat: str) -> str:
    """The id of a chat; that of a direct message is the person's own, as on Telegram."""
    kind, _, name = chat.partition(":")
    return account(name) if kind == "dm" else f"g-{name}"


def line_id(number: int) -> str:
    """The platform's id of a line."""
    return str(number)
