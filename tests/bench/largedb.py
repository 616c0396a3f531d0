"""`python -m tests.bench.largedb DIR`: the data folder of an installation that was talked to for a month.

Rows as talks leave them: lines with turns, sessions, digests and outbox, memories with their lines, the newest talk of
each chat with its log. Index and memories are written by the store's own functions. Nothing is measured here.
"""

import argparse
import asyncio
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bot.core.memories import NewMemory
from bot.store.index import index_digest, index_lines
from bot.store.memories import store_memory
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import DATABASE, open_store
from bot.store.transactions import Tx
from tests.bench.recall_speed import sentence
from tests.world import NINE

TALK_LINES = 20
"""Lines of one talk: ten messages, each answered; it is one session."""

GROUP_EVERY, GROUP_PEOPLE = 5, 8
"""Each so many-th chat is a group of so many people; the others are direct chats, the first that of 小王."""

DAYS_MS = 28 * 86_400_000
"""The time that all talks are spread over: nothing is old enough to be tidied away."""

LINE_MS, TALK_END_MS = 60_000, 1_800_000
ASKED_EVERY = 4
"""Each so many-th memory was asked to be kept."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large an installation is; `own_lines` and `own_memories` are those of the first chat, None: its share."""

    lines: int
    memories: int
    chats: int
    own_lines: int | None = None
    own_memories: int | None = None


LARGE = Size(200_000, 20_000, 1_000)


@dataclass(frozen=True, slots=True)
class FilledChat:
    """A chat with its people; `title` is "" in a direct chat."""

    id: int
    title: str
    people: tuple[int, ...]


async def make(folder: Path, size: Size) -> None:
    """Fill a new data folder; World("小王", "人2", … and groups "群5", "群10", …) goes on talking in it."""
    async with await open_store(folder):
        pass
    await asyncio.to_thread(fill, folder / DATABASE, size)


def fill(path: Path, size: Size) -> None:
    """Fill a database that is new and closed."""
    chance = random.Random(size.lines + size.memories)
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = OFF")
        chats = _chats(db, size.chats)
        shares = [_share(size.lines, size.own_lines, number, size.chats) for number in range(size.chats)]
        kept = [_share(size.memories, size.own_memories, number, size.chats) for number in range(size.chats)]
        done: Counter[int] = Counter()
        for number, last in _talks(shares, chance):
            chat, lines = chats[number], min(TALK_LINES, shares[number] - done[number])
            ends_at = NINE - TALK_END_MS - round(DAYS_MS * (1 - (done[number] + lines) / shares[number]))
            events = _talk(db, chat, lines, ends_at, done[number] // TALK_LINES + 1, chance, log=last)
            before = done[number] * kept[number] // shares[number]
            done[number] += lines
            for each in range(before, done[number] * kept[number] // shares[number]):
                _memory(db, chat, chance.choice(events), ends_at, chance, asked=each % ASKED_EVERY == 0)
        db.set_meta("life_at", str(NINE + 86_400_000))
        db.set_meta("tidy_at", str(NINE + 86_400_000))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _share(total: int, own: int | None, number: int, chats: int) -> int:
    """What of a total is the chat's of that place."""
    if own is None or chats == 1:
        return total // chats + (number < total % chats)
    if number == 0:
        return own
    return (total - own) // (chats - 1) + (number <= (total - own) % (chats - 1))


def _talks(shares: list[int], chance: random.Random) -> Iterator[tuple[int, bool]]:
    """The chats in the order of their talks, as they come, each with whether it is the last one there."""
    left = {number: -(-share // TALK_LINES) for number, share in enumerate(shares)}
    order = [number for number, talks in left.items() for _ in range(talks)]
    chance.shuffle(order)
    for number in order:
        left[number] -= 1
        yield number, not left[number]


def _chats(db: SqliteTx, count: int) -> list[FilledChat]:
    names = {1: "小王"} | {number: f"人{number}" for number in range(2, count + 1)}
    for number, name in names.items():
        account = "local" if number == 1 else f"person:{name}"
        db.insert("person", id=number, name=name, script="zh-Hans", created_at=NINE - DAYS_MS)
        db.insert(
            "account",
            platform="console",
            external_id=account,
            person_id=number,
            name=name,
            created_at=NINE - DAYS_MS,
        )
    found = []
    for number, name in names.items():
        group = number % GROUP_EVERY == 0
        some = range(number, number + GROUP_PEOPLE) if group else (number,)
        chat = FilledChat(number, f"群{number}" if group else "", tuple((one - 1) % count + 1 for one in some))
        place = f"group:{chat.title}" if group else "local" if number == 1 else f"dm:{name}"
        db.insert("chat", id=number, kind="group" if group else "dm", title=chat.title, created_at=NINE - DAYS_MS)
        db.insert("place", platform="console", external_id=place, chat_id=number)
        for person in set(chat.people):
            db.insert("member", chat_id=number, person_id=person, seen_at=NINE)
        found.append(chat)
    db.insert("prefix", signature="0" * 16, message='{"role":"system","content":"你是小暖。"}', tools="[]")
    return found


def _talk(
    db: SqliteTx, chat: FilledChat, lines: int, ends_at: int, number: int, chance: random.Random, *, log: bool
) -> list[tuple[int, int, int]]:
    """One session with what is left of it; of each message its number, its person and when."""
    begins_at = ends_at - lines * LINE_MS
    session = db.insert(
        "session",
        chat_id=chat.id,
        number=number,
        state="closed",
        opened_at=begins_at,
        last_at=ends_at,
        close_at=ends_at + TALK_END_MS,
        close_reason="idle",
        closed_at=ends_at,
        from_event=0,
        upto_event=0,
        open_reason="dm",
    )
    epoch = db.insert(
        "epoch", session_id=session, number=1, opened_at=begins_at, reason="open", mode="full", signature="0" * 16
    )
    events: list[tuple[int, int, int]] = []
    said: list[int] = []
    for place in range(0, lines, 2):
        person, at = chance.choice(chat.people), begins_at + place * LINE_MS
        event = _event(db, chat.id, at, person, sentence(chance), None)
        turn = db.insert(
            "turn",
            chat_id=chat.id,
            session_id=session,
            epoch_id=epoch,
            number=place // 2 + 1,
            state="said",
            why="dm",
            person_id=person,
            asked_at=at,
            said_at=at,
            logged_before=0,
        )
        db.run("UPDATE event SET turn_id = ? WHERE id = ?", turn, event)
        events.append((event, person, at))
        said.append(event)
        answer = _event(db, chat.id, at + LINE_MS, None, sentence(chance), turn) if place + 1 < lines else None
        _answer(db, chat.id, session, epoch, turn, event, answer, person, at, log=log)
        if answer is not None:
            said.append(answer)
    db.run("UPDATE session SET from_event = ?, upto_event = ? WHERE id = ?", said[0] - 1, said[-1], session)
    index_lines(db, said)
    digest = db.insert(
        "digest",
        session_id=session,
        chat_id=chat.id,
        owner_id=None if chat.title else chat.people[0],
        summary=sentence(chance, 60),
        roll_at=None,
        made_by="model",
        names="[]",
        started_at=begins_at,
        ended_at=ends_at,
        created_at=ends_at,
    )
    db.link("digest", digest, said)
    for person in {person for _, person, _ in events}:
        db.insert("participant", session_id=session, person_id=person)
        db.insert("talker", digest_id=digest, person_id=person)
    index_digest(db, digest)
    return events


def _event(db: SqliteTx, chat: int, at: int, person: int | None, text: str, turn: int | None) -> int:
    number = db.insert(
        "event",
        chat_id=chat,
        at=at,
        kind="bot" if person is None else "message",
        person_id=person,
        name="" if person is None else f"人{person}",
        text=text,
        state="done",
        why="" if person is None else "dm",
        outcome="" if person is None else "answered",
        turn_id=turn,
    )
    if person is not None:
        key, outside = f"console:{chat}:m{number}", f"m{number}"
        db.run("UPDATE event SET delivery_key = ?, external_id = ? WHERE id = ?", key, outside, number)
    return number


def _answer(
    db: SqliteTx,
    chat: int,
    session: int,
    epoch: int,
    turn: int,
    event: int,
    answer: int | None,
    person: int,
    at: int,
    *,
    log: bool,
) -> None:
    """A turn as it is left once its answer was sent."""
    db.insert("turn_event", turn_id=turn, event_id=event)
    db.insert(
        "call",
        turn_id=turn,
        session_id=session,
        chat_id=chat,
        person_id=person,
        cause="reply",
        model="scripted",
        state="settled",
        at=at,
        settled_at=at,
        reserved_tokens=1_500,
        reserved_cost=0.0,
        prompt_tokens=1_500,
        output_tokens=20,
        counted="reserved",
        occasion=event,
    )
    db.insert("section_round", turn_id=turn, chat_id=chat, person_id=person, at=at, hits="{}", searched="[]", held=0)
    if answer is not None:
        sent = db.insert(
            "outbox",
            chat_id=chat,
            turn_id=turn,
            event_id=answer,
            kind="reply",
            text="",
            state="sent",
            due_at=at,
            sent_at=at,
        )
        db.run("UPDATE outbox SET external_ids = ? WHERE id = ?", f'["s{sent}"]', sent)
        db.insert("sent", chat_id=chat, external_id=f"s{sent}", turn_id=turn)
    if not log:
        return
    place = db.number("SELECT count(*) FROM entry WHERE epoch_id = ?", epoch)
    for role, number in (("user", event), ("assistant", answer)):
        if number is not None:
            text = db.value("SELECT text FROM event WHERE id = ?", number)
            entry = db.insert(
                "entry",
                epoch_id=epoch,
                turn_id=turn,
                position=place,
                message=f'{{"role":"{role}","content":"{text}"}}',
                tokens=40,
            )
            place += 1
            db.link("entry", entry, (event, number))


def _memory(
    db: Tx, chat: FilledChat, told: tuple[int, int, int], at: int, chance: random.Random, *, asked: bool
) -> None:
    """Something that a person told in that message, kept by command (with its receipt) or by the digest."""
    event, person, said_at = told
    text = f"我{sentence(chance, 12)}"
    new = NewMemory(
        person,
        chat.id,
        "chat" if chat.title else "private",
        "knowledge",
        text,
        said_at,
        "command" if asked else "digest",
        (event,),
        "",
        asked,
    )
    kept = store_memory(db, new, at)
    if asked:
        key = f"event:{event}:{kept.id}"
        db.put("effect", "key", key=key, result=f"记住啦 #{kept.id}", at=at, chat_id=chat.id)


def main(arguments: list[str]) -> int:
    """Make one."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.largedb", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=LARGE.lines)
    parser.add_argument("--memories", type=int, default=LARGE.memories)
    parser.add_argument("--chats", type=int, default=LARGE.chats)
    parser.add_argument("--own-lines", type=int)
    parser.add_argument("--own-memories", type=int)
    options = parser.parse_args(arguments)
    size = Size(options.lines, options.memories, options.chats, options.own_lines, options.own_memories)
    asyncio.run(make(options.folder, size))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
