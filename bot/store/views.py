"""What a turn must know of its chat, read in one trip and from one snapshot: between two reads much can change."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.store.access import Lists
from bot.store.database import Database
from bot.store.events import EVENT, LINES, OWN_LINES, event_of
from bot.store.people import CHAT, PERSON, chat_of, person_of
from bot.store.questions import PENDING, question_of
from bot.store.sessions import ENTRIES, EPOCH, SESSION, Sessions, session_of
from bot.store.switches import LIMITS, limits_of
from bot.types.duration import DAY_MS
from bot.types.event import Event
from bot.types.memory import Question
from bot.types.people import Chat, Person
from bot.types.prompt import ToolSpec
from bot.types.session import Epoch, Session
from bot.types.speaking import Standing

DUE = "SELECT 1 FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND state = 'queued' AND due_at <= ?2"
CALLED = f"{DUE} AND kind = 'message' AND why NOT IN ('command', 'pair', 'closed')"
QUEUED = (
    "FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND state = 'queued' AND (due_at <= ?2 OR (why <> 'window' "
    f"AND tries = 0) OR (due_at IS NULL AND EXISTS ({CALLED}))) AND EXISTS ({DUE})"
)
"""What is due, and with it what came late and waits for the rest of its backlog: it would be shown and told twice.

What failed waits for its next try alone. With what a turn answers also the follow-ups that an earlier one failed on:
they wait without a deadline.
"""
STANDING = (
    "SELECT id, coalesce(due_at > ?2, 0), tries > 0, due_at IS NULL FROM event INDEXED BY event_queue "
    "WHERE chat_id = ?1 AND state = 'queued'"
)
OPEN = "(SELECT id FROM session WHERE chat_id = ?1 AND state = 'open')"
NEWEST = f"(SELECT id FROM epoch WHERE session_id = {OPEN} ORDER BY number DESC LIMIT 1)"
NEWS = (
    f"{LINES}AND id > (SELECT logged_upto FROM epoch WHERE id = {NEWEST}) AND NOT (kind = 'bot' AND label <> 'cut' "
    f"AND EXISTS (SELECT 1 FROM turn WHERE turn.id = event.turn_id AND epoch_id = {NEWEST})) "
)
"""What the newest log of chat ?1 does not tell yet: all but its own replies. Of one that was stopped it is told what
people saw."""


OLDER = (
    "coalesce((SELECT older.id FROM main.event AS older WHERE older.chat_id = ?1 AND older.id > ?4 AND older.id <= ?5 "
    f"AND older.at < ?6 - {DAY_MS} ORDER BY older.id DESC LIMIT 1), 0)"
)
"""Nothing up to that event is as new as ?6: what a platform delivers late is a day old at most. It saves reading all
that a chat ever said."""
PAST = (
    "(SELECT epoch.id FROM epoch JOIN session ON session.id = session_id WHERE chat_id = ?1 AND EXISTS "
    "(SELECT 1 FROM turn WHERE turn.epoch_id = epoch.id AND turn.state IN ('asked', 'answered', 'said')) "
    "ORDER BY epoch.id DESC LIMIT 1 OFFSET ?2)"
)
"""A log with a turn that was not void, the newest with 0."""
UNSEEN = ("forgotten", "deleted")
"""Logs of which nothing is shown any more, even while a turn still runs on them."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What in a chat is to be answered by now, in order, with the people who wrote it.

    `asked` is what people of the chat were asked back about memories, by person; `limits` is the owner's word on how
    often people are answered.
    """

    chat: Chat
    due: tuple[Event, ...]
    people: Mapping[int | None, Person]
    standing: Standing = field(default_factory=Standing)
    asked: Mapping[int, Question] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenLog:
    """The open session of a chat with its newest epoch, and what happened since that was logged.

    `earlier` counts the events that did not fit into `news`. Without an epoch nothing is news. `own` is what the person
    it was read for wrote last, oldest first; `ratios` are the tokens that each model counts for one estimated.
    """

    session: Session | None
    epoch: Epoch | None
    news: tuple[Event, ...]
    earlier: int
    own: tuple[Event, ...] = ()
    ratios: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PastLog:
    """A log that requests were made of, with the tools they brought. Its entries are kept for some days only."""

    epoch: Epoch
    tools: tuple[ToolSpec, ...]


class Views:
    """Readings across the nouns."""

    def __init__(self, database: Database, sessions: Sessions, lists: Lists) -> None:
        self._database = database
        self._sessions = sessions
        self._lists = lists

    async def waiting(self, chat_id: int, now: int) -> Waiting:
        """What in this chat is to be answered by now; LookupError when there is no such chat."""
        chats, due, people, standing, asked, limits = await self._database.snapshot(
            (CHAT + "WHERE chat.id = ?1", (chat_id,)),
            (EVENT.replace("FROM event", QUEUED) + " ORDER BY id", (chat_id, now)),
            (PERSON + f"WHERE id IN (SELECT person_id {QUEUED})", (chat_id, now)),
            (STANDING, (chat_id, now)),
            (PENDING, (chat_id, now)),
            (LIMITS, ()),
        )
        if not chats:
            raise LookupError(f"no chat {chat_id!r}")
        return Waiting(
            chat_of(chats[0]),
            tuple(event_of(row) for row in due),
            {int(row[0]): person_of(row, self._lists.owners) for row in people},
            Standing(*(frozenset(int(row[0]) for row in standing if row[kind]) for kind in (1, 2, 3))),
            dict(question_of(tuple(row)) for row in asked),
            limits_of(limits),
        )

    async def log(
        self, chat_id: int, limit: int, person_id: int, answering: tuple[int, ...] = (), *, apart: bool = False
    ) -> OpenLog:
        """What the next turn of a chat appends to: at most the newest `limit` lines are its news.

        The messages it is `answering` are no news. `apart`: each message is answered by itself.
        """
        news_of = (chat_id, json.dumps(answering), apart)
        sessions, epochs, entries, news, total, own, ratios = await self._database.snapshot(
            (SESSION + f"WHERE id = {OPEN}", (chat_id,)),
            (EPOCH + f"WHERE epoch.id = {NEWEST}", (chat_id,)),
            (ENTRIES + f"WHERE epoch_id = {NEWEST} ORDER BY position", (chat_id,)),
            (f"{EVENT}{NEWS}ORDER BY id DESC LIMIT ?4", (*news_of, limit)),
            (f"SELECT count(*) FROM event {NEWS}", news_of),
            (EVENT + OWN_LINES, (chat_id, person_id)),
            ("SELECT model, ratio FROM counting", ()),
        )
        return OpenLog(
            session_of(sessions[0]) if sessions else None,
            self._sessions.epoch_of(epochs[0], entries) if epochs else None,
            tuple(event_of(row) for row in reversed(news)),
            int(total[0][0]) - len(news),
            tuple(event_of(row) for row in reversed(own)),
            {str(model): float(ratio) for model, ratio in ratios},
        )

    async def lines(
        self, chat_id: int, answering: tuple[int, ...], after: int, old: tuple[int, int], limit: int, *, apart: bool
    ) -> tuple[tuple[Event, ...], int]:  # fmt: skip
        """The newest `limit` lines after event `after` that a new log may tell, in order, and how many are older.

        `answering` and `apart` as for `log`. `old` is an event and a time, ms: of what came up to the event only what
        is not older, nor was asked not to be kept.
        """
        where = f"{LINES}AND id > max(?4, {OLDER}) AND (id > ?5 OR (at >= ?6 AND off_record = 0))"
        values = (chat_id, json.dumps(answering), apart, after, *old)
        rows, total = await self._database.snapshot(
            (f"{EVENT}{where} ORDER BY id DESC LIMIT ?7", (*values, limit)),
            (f"SELECT count(*) FROM event {where}", values),
        )
        return tuple(event_of(row) for row in reversed(rows)), int(total[0][0]) - len(rows)

    async def past(self, chat_id: int, back: int = 0) -> PastLog | None:
        """The newest log of a chat, open or closed, that something was asked on; with `back` one before it."""
        epochs, entries = await self._database.snapshot(
            (EPOCH + f"WHERE epoch.id = {PAST}", (chat_id, back)),
            (ENTRIES + f"WHERE epoch_id = {PAST} ORDER BY position", (chat_id, back)),
        )
        if not epochs:
            return None
        epoch = self._sessions.epoch_of(epochs[0], entries)
        epoch = replace(epoch, entries=()) if epoch.stale in UNSEEN else epoch
        return PastLog(epoch, await self._sessions.tools(epoch.signature))

    async def light_run(self, chat_id: int, person_id: int, most: int) -> int:
        """How many of a person's newest `most` replies in a chat were small talk, up to the last one that was not."""
        rows = await self._database.rows(
            "SELECT mode = 'light' AND mode_why <> 'budget' FROM session JOIN turn ON turn.session_id = session.id "
            "JOIN epoch ON epoch.id = turn.epoch_id WHERE session.chat_id = ? AND turn.person_id = ? "
            "AND turn.state = 'said' ORDER BY session.number DESC, turn.number DESC LIMIT ?",
            (chat_id, person_id, most),
        )
        return next((n for n, (light,) in enumerate(rows) if not light), len(rows))
