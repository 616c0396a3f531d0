"""Short ways for tests to fill and look into a real store. It checks nothing itself."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bot.core.events import ChatKind, Draft, Incoming, Place, Sender
from bot.core.memories import Memory, MemorySource, NewMemory, Visibility
from bot.core.models import BudgetLimits, Message, Usage
from bot.core.people import Audience, MemoryKind
from bot.core.ports import Role
from bot.core.recall import Matches
from bot.core.recall import RecallQuery as Question
from bot.core.sessions import Digest
from bot.core.speaking import Action, Decision, Situation, Why
from bot.store.digests import Digested
from bot.store.intake import Accepted, Arrival
from bot.store.ledger import Reservation, Settlement
from bot.store.memories import Receipt
from bot.store.removal import Forgetting
from bot.store.search import WantedDocuments
from bot.store.sessions import NewEpoch
from bot.store.store import DATABASE, Store, open_store
from bot.store.turns import AskedTurn, TurnToAsk, TurnToSay
from tests.indexed import wrong_index
from tests.servers import URLS, read

NOW = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""
DAY = 86_400_000
FREE = BudgetLimits(None, None, None, None)
SYSTEM = Message("system", "你是小暖。")
SAID = ("聊了大熊猫", "聊了红烧肉", "聊了马拉松")


@dataclass(frozen=True, slots=True)
class Where:
    """One person in one chat, by platform ids."""

    who: str = "ann"
    chat: str = "dm-ann"
    kind: ChatKind = "dm"


async def say(
    store: Store,
    text: str,
    where: Where = Where(),
    at: int = NOW,
    *,
    action: Action = "now",
    why: Why = "dm",
    wait: int = 0,
    **fields: str,
) -> Accepted:
    """A message arrives; `wait` ms pass until it is due."""
    incoming = Incoming(
        Place("test", where.chat, where.kind),
        Sender("test", where.who, where.who.title()),
        "message",
        text,
        delivery_key=fields.get("key", ""),
        scene=fields.get("scene"),
        via=fields.get("via", ""),
    )
    situation = Situation(at, where.kind, True, text, True, False, False, False, False, False, False, False, 0)
    decision = Decision(action, why, at + wait, at + 60_000)
    return await store.events.accept(Arrival(incoming, situation, lambda last, lines: "zh-Hans"), lambda _: decision)


async def join(folder: Path, url: str, *roles: Role) -> Store:
    """One of several processes on a database, which does that; it takes no other off."""
    return await open_store(folder, url=url, roles=roles, lease_seconds=3_600)


async def ids(store: Store, where: Where = Where(), at: int = NOW) -> tuple[int, int, int]:
    """Person, chat and event number of somebody who has just said something that waits for nothing."""
    event = (await say(store, "嗯", where, at, action="listen", why="listen")).event
    assert event is not None
    assert event.person_id is not None
    return event.person_id, event.chat_id, event.id


def receipt(event_id: int, chat_id: int, key: str, text: Callable[[int, bool], str] | None = None) -> Receipt:
    """A receipt that is said at once and tells the memory's number."""
    return Receipt(event_id, chat_id, key, text or (lambda number, again: f"ok #{number} {int(again)}"), True)


def statement(
    text: str,
    owner: int | None,
    chat: int,
    visibility: Visibility = "private",
    *,
    source: MemorySource = "command",
    kind: MemoryKind = "knowledge",
    slot: str = "",
    events: tuple[int, ...] = (),
) -> NewMemory:
    """A memory about to be stored."""
    return NewMemory(owner, chat, visibility, kind, text, NOW, source, events, slot, source == "command")


async def keep(
    store: Store, text: str, where: Where = Where(), visibility: Visibility | None = None, slot: str = "", at: int = NOW
) -> int:
    """Somebody asks to keep a text; its number."""
    event = (await say(store, f"记住 {text}", where, at)).event
    assert event is not None
    seen: Visibility = visibility or ("private" if where.kind == "dm" else "chat")
    new = statement(text, event.person_id, event.chat_id, seen, slot=slot, events=(event.id,))
    said = await store.memories.remember(new, receipt(event.id, event.chat_id, f"event:{event.id}"), at)
    return int(said.split()[1].removeprefix("#"))


async def drop(store: Store, memory: Memory, where: Where = Where(), at: int = NOW, days: int | None = 7) -> str:
    """Somebody asks to forget a memory; without days for good."""
    event = (await say(store, "忘记那个", where, at)).event
    assert event is not None
    assert event.person_id is not None
    forgetting = Forgetting((memory,), event.person_id, None if days is None else at + days * DAY)
    return await store.memories.forget(forgetting, receipt(event.id, event.chat_id, f"event:{event.id}"), at)


async def bring_back(store: Store, number: int, audience: Audience, where: Where = Where(), at: int = NOW) -> bool:
    """Somebody asks to undo; whether it was done."""
    person, chat, event = await ids(store, where, at)
    told = await store.memories.undo((number,), person, audience, receipt(event, chat, f"event:{event}"), at)
    return told is not None


async def searched(store: Store, audience: Audience, *terms: str, newest: int = 0) -> tuple[Memory, ...]:
    """The memories with one of these terms that this audience may see, and others of the newest, in their order; the
    order in which an engine reads them means nothing, as ranking gives them one.
    """
    asking = Question(audience, 0, "", NOW, kinds=("memory",))
    more = await store.search.newest(asking, newest) if newest else ()

    def choose(matches: Matches) -> WantedDocuments:
        return WantedDocuments((*more, *(doc for posting in matches.postings for doc in posting.docs)), ())

    _, found = await store.search.look(asking, terms, (), choose)
    return tuple(
        sorted((one.finding.memory for one in found if one.finding.memory is not None), key=lambda one: one.id)
    )


async def layers(store: Store, audience: Audience) -> tuple[Memory, ...]:
    """What an opening may tell this audience."""
    return (await store.memories.opening(audience, NOW)).memories


def room_for(tokens: int = 100, cost: float = 0.0, limits: BudgetLimits = FREE) -> Reservation:
    """A reservation of this day."""
    return Reservation("reply", "test-model", tokens, cost, limits, NOW - DAY, NOW - 20 * DAY)


def asking(
    chat: int,
    events: tuple[int, ...],
    person: int,
    *,
    session: int | None = None,
    epoch: int | None = None,
    text: str = "<ctx/>",
    reserve: Reservation | None = None,
    at: int = NOW,
) -> TurnToAsk:
    """The first commit of a turn; without an epoch it begins one."""
    new = NewEpoch(SYSTEM, (), "0123456789abcdef", "open", "full") if epoch is None else None
    return TurnToAsk(
        chat,
        session,
        epoch,
        new,
        Message("user", text),
        10,
        events,
        max(events),
        events,
        "dm",
        person,
        (),
        at + 1_800_000,
        reserve or room_for(),
    )


async def begin(store: Store, text: str = "你好", where: Where = Where(), at: int = NOW) -> AskedTurn:
    """A message and the turn that begins to answer it, in the session that is open."""
    event = (await say(store, text, where, at)).event
    assert event is not None
    assert event.person_id is not None
    session = await store.sessions.open_session(event.chat_id)
    epoch = await store.sessions.epoch(session.id) if session else None
    wish = asking(
        event.chat_id,
        (event.id,),
        event.person_id,
        session=session.id if session else None,
        epoch=epoch.id if epoch and not epoch.stale else None,
        text=f"<p>{text}</p>",
        at=at,
    )
    return await store.turns.ask(wish, at)


def paid(call_id: int, cost: float = 0.0) -> Settlement:
    """What a call cost."""
    return Settlement(call_id, Usage(50, 20, 7), cost)


def reply(asked: AskedTurn, text: str, at: int = NOW) -> TurnToSay:
    """The last commit of a turn."""
    return TurnToSay(
        asked.turn.chat_id,
        asked.turn.id,
        Message("assistant", text),
        5,
        paid(asked.call.id),
        text,
        (Draft(text, "reply"),),
        at + 60_000,
        at + 1_800_000,
    )


async def talk(store: Store, text: str, answer: str, where: Where = Where(), at: int = NOW) -> AskedTurn:
    """A whole turn."""
    asked = await begin(store, text, where, at)
    await store.turns.say(reply(asked, answer, at), at)
    return asked


async def talked(store: Store, texts: tuple[str, ...] = SAID, where: Where = Where(), at: int = NOW) -> Audience:
    """Talks of one person that are over, a day apart; who may be told them."""
    for number, text in enumerate(texts):
        asked = await talk(store, f"我想{text}", "好呀", where, at + number * DAY)
        session = await store.sessions.session(asked.turn.session_id)
        await store.sessions.close(session.id, "new", at + number * DAY)
        session = await store.sessions.session(session.id)
        lines = await store.events.between(session.chat_id, session.from_event, session.upto_event)
        owner = asked.turn.person_id if where.kind == "dm" else None
        done = Digested(session, Digest(text, (), "model"), owner, ("Ann",), tuple(event.id for event in lines))
        assert await store.digests.store(done, at + number * DAY)
    person, chat, _ = await ids(store, where, at + len(texts) * DAY)
    return Audience(chat, "dm", (person,))


def look(folder: Path, sql: str, *params: object) -> list[tuple[object, ...]]:
    """Rows of the file as another program sees them."""
    return read(folder / DATABASE, sql, params)


COLUMNS = """SELECT column_name, table_name FROM information_schema.columns WHERE table_schema = 'public'
    ORDER BY table_name, ordinal_position"""


HOLDS = "SELECT '{0}' WHERE EXISTS (SELECT 1 FROM {1} WHERE strpos(lower(CAST({2} AS text)), ?) > 0)"


def holding(folder: Path, word: str) -> list[str]:
    """Every table.column in which a text holds the word, the full-text index as its terms."""
    if folder in URLS:
        places = [(f"{table}.{column}", table, column) for column, table in look(folder, COLUMNS)]
        # One statement: several hundred were most of what such a test cost.
        sql = " UNION ALL ".join(HOLDS.format(*place) for place in places)
        held = {place for (place,) in look(folder, sql, *[word.lower()] * len(places))}
        return [place for place, _, _ in places if place in held]
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = []
        for table in tables:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for column in columns:
                sql = f"SELECT count(*) FROM {table} WHERE instr(lower(CAST({column} AS TEXT)), lower(?))"
                if db.execute(sql, (word,)).fetchone()[0]:
                    found.append(f"{table}.{column}")
        return found


def in_files(folder: Path, word: str) -> list[str]:
    """The files of a data folder whose bytes hold the word."""
    return sorted(
        path.name for path in folder.iterdir() if path.is_file() and word.lower().encode() in path.read_bytes().lower()
    )


def sound(folder: Path) -> list[object]:
    """What SQLite finds wrong with the file: nothing, if all is well."""
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        wrong: list[object] = [row for row in db.execute("PRAGMA quick_check") if row != ("ok",)]
        wrong += db.execute("PRAGMA foreign_key_check").fetchall()
        return wrong + wrong_index(db)
