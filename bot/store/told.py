"""What openings and turns are told from memory and found in sections, and how replies were liked."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from bot.core.clock import DAY_MS
from bot.core.events import Incoming
from bot.core.inspection import ChatState, ChatStatistics, ReplySign, ToldCounts, ToldMemory
from bot.core.memories import (
    BOOTED_FACTOR,
    CLEAR_AVERAGE,
    FEEDBACK_WINDOW_MS,
    LATE_SIGNAL_MS,
    LATE_SIGNALS,
    MOST_CREDITED,
    MOST_IMPORTANCE,
    MOST_PER_DAY,
    MOST_STABLE,
    REACTION_WEIGHTS,
    RECALLED_FACTOR,
    SIGN_WEIGHTS,
    Memory,
    Signal,
)
from bot.core.people import Audience, Person
from bot.core.recall import RecallRound, SectionHistory
from bot.core.sessions import ToldItem, ToldShare
from bot.core.speaking import UNASKED
from bot.store.access import persons
from bot.store.engine import Repository, reads
from bot.store.index import KEPT_ROUNDS, TALK_MS
from bot.store.memories import visible_memory
from bot.store.schema import GREATEST, IS_CURRENT, LAYER, LEAST, MEMORY_COLUMNS, memory_of, placeholders
from bot.store.supersession import PLAN_CHANGED
from bot.store.transactions import Row, Tx
from bot.text.dates import day_start, local_day, month_start, next_local_time
from bot.text.similarity import shares_words

IN_A_LOG = "turn.state IN ('asked', 'answered', 'said')"
"""What a void turn was told is in no log."""

REVIVED_FACTOR = 1.2
"""What was let fade comes back by this factor when it is recalled (seed Warm Boot)."""

_DRESS = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")

ROUNDS = (
    "SELECT turn_id, at, hits, searched, held FROM section_round WHERE EXISTS (SELECT 1 FROM turn WHERE "
    "turn.id = turn_id AND turn.state = 'said') AND chat_id = ? AND person_id = ? AND at >= ? "
    "ORDER BY turn_id DESC LIMIT ?"
)
"""Newest first; a turn that was voided found nothing."""

WHOSE = (
    "SELECT DISTINCT section_round.chat_id, person_id, kind, title, name FROM section_round "
    "JOIN chat ON chat.id = section_round.chat_id JOIN person ON person.id = person_id ORDER BY 1, 2"
)


IN_CHAT = "turn.session_id IN (SELECT id FROM session WHERE chat_id = ?)"
"""The turns of a chat: by the index of its conversations, where an installation of many chats would be read through."""

SIGN_COUNTS = f"SELECT sign, count(*) FROM feedback JOIN turn ON turn.id = turn_id WHERE {IN_CHAT} AND "

TOLD_MEMORIES = f"""FROM turn_memory JOIN turn ON turn.id = turn_memory.turn_id
    JOIN session ON session.id = turn.session_id JOIN memory ON memory.id = memory_id WHERE {IN_CHAT}
    AND turn.state = 'said' AND memory.owner_id = ? AND memory.disabled_at IS NULL AND """


def note_told_items(tx: Tx, turn_id: int, told: Iterable[ToldItem]) -> None:
    """This turn was told these."""
    for each in told:
        tx.insert("told_item", turn_id=turn_id, way=each.way, ref=each.ref, tokens=each.tokens, why=each.why)


def react(tx: Tx, chat_id: int, person_id: int | None, incoming: Incoming, at: int) -> bool:
    """A reaction is recorded for the reply it is on, or taken back; the latter is not told. Whether it is."""
    emoji, taken_back = _DRESS.sub("", incoming.text.removeprefix("-")), incoming.text.startswith("-")
    # Telegram does not say in which topic of a group a reaction was; message ids are the whole group's.
    sql = (
        "SELECT turn_id FROM sent WHERE external_id = ? AND turn_id IS NOT NULL AND (chat_id = ? OR chat_id IN (SELECT "
        "topic.chat_id FROM place JOIN place AS topic ON topic.platform = place.platform "
        "AND topic.parent = place.external_id WHERE place.chat_id = ?)) LIMIT 1"
    )
    reply = tx.value(sql, incoming.target, chat_id, chat_id)
    by_person = incoming.sender is not None and not incoming.sender.is_bot
    if reply is not None and person_id is not None and by_person and emoji in REACTION_WEIGHTS:
        credit(tx, reply, person_id, (emoji,), at, taken_back=taken_back)
    return not taken_back


def remark(tx: Tx, chat_id: int, person_id: int, signals: tuple[Signal, ...], at: int) -> None:
    """Somebody's clear words are about the last reply to them in that chat, if it was said just now.

    Thanks and corrections may come later, when nuan has said nothing else there. In the reference the oldest open
    window got them (measured).
    """
    sql = (
        "SELECT turn.id, said_at FROM session JOIN turn ON turn.session_id = session.id WHERE session.chat_id = ? "
        "AND session.number > (SELECT max(number) FROM session WHERE chat_id = ?) - 2 AND turn.state = 'said' "
        "AND turn.error = '' AND (turn.person_id = ? OR EXISTS (SELECT 1 FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = turn.id AND event.person_id = ?)) "
        "ORDER BY said_at DESC, turn.id DESC LIMIT 1"
    )
    last = tx.one(sql, chat_id, chat_id, person_id, person_id)
    if last is None:
        return
    turn_id, said_at = last
    if not 0 <= at - said_at <= LATE_SIGNAL_MS:
        return
    if at - said_at > FEEDBACK_WINDOW_MS:
        signals = tuple(each for each in signals if each in LATE_SIGNALS)
        other = "chat_id = ? AND kind = 'bot' AND at > ? AND turn_id IS DISTINCT FROM ?"
        if tx.has(f"SELECT 1 FROM event WHERE {other} LIMIT 1", chat_id, said_at, turn_id):
            return
    credit(tx, turn_id, person_id, signals, at)


def credit(tx: Tx, turn_id: int, person_id: int, signs: tuple[str, ...], at: int, *, taken_back: bool = False) -> None:
    """A reply gets these signs of a person, each once, and its memories what their average says now."""
    before = _average(tx, turn_id, person_id)
    for sign in signs:
        if taken_back:
            tx.run("DELETE FROM feedback WHERE turn_id = ? AND person_id = ? AND sign = ?", turn_id, person_id, sign)
        else:
            sql = "INSERT INTO feedback (turn_id, person_id, sign, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            tx.run(sql, turn_id, person_id, sign, at)
    after = _average(tx, turn_id, person_id)
    up, down = (after > 0) - (before > 0), (after < 0) - (before < 0)
    if before == after:
        return
    for memory_id in sorted(_behind(tx, turn_id)):
        tx.run(
            f"UPDATE memory SET helpful = {GREATEST}(0, helpful + ?), unhelpful = {GREATEST}(0, unhelpful + ?), "
            f"importance = {GREATEST}(1, {LEAST}(?, importance + ?)), praised_at = {GREATEST}(praised_at, ?) WHERE id = ?",
            up,
            down,
            MOST_IMPORTANCE,
            after - before,
            at if up > 0 else 0,
            memory_id,
        )


def _average(tx: Tx, turn_id: int, person_id: int) -> int:
    """What a person's signs to a reply add to its memories' counts: their average rounded away from 0, or 0."""
    rows = tx.all("SELECT sign FROM feedback WHERE turn_id = ? AND person_id = ?", turn_id, person_id)
    average = sum(SIGN_WEIGHTS.get(sign, 0.0) for (sign,) in rows) / len(rows) if rows else 0.0
    return int(math.copysign(math.ceil(abs(average)), average)) if abs(average) > CLEAR_AVERAGE else 0


def _behind(tx: Tx, turn_id: int) -> list[int]:
    """The memories that a sign to a reply counts for: none of them more often than for three replies of a day."""
    lately = tx.ids(
        "SELECT DISTINCT feedback.turn_id FROM feedback JOIN turn ON turn.id = feedback.turn_id JOIN turn AS this "
        "ON this.id = ? AND this.chat_id = turn.chat_id WHERE feedback.turn_id < this.id AND turn.said_at > this.said_at "
        "- ? ORDER BY 1 DESC LIMIT 32",
        turn_id,
        DAY_MS,
    )
    often = Counter(number for turn in lately for number in _spoken_of(tx, turn))
    return [number for number in _spoken_of(tx, turn_id) if often[number] < MOST_PER_DAY]


def _spoken_of(tx: Tx, turn_id: int) -> list[int]:
    """The memories of a reply: what was recalled for it, and what it speaks of that its log told before; the first."""
    rows = tx.all(
        "SELECT memory.id, memory.text, min(CASE WHEN boot = 1 OR turn.id < this.id THEN 1 ELSE 0 END) AS before FROM turn AS this JOIN turn "
        "ON turn.session_id = this.session_id AND turn.epoch_id = this.epoch_id AND turn.id <= this.id "
        "JOIN turn_memory ON turn_memory.turn_id = turn.id JOIN memory ON memory.id = memory_id WHERE this.id = ? "
        "GROUP BY memory.id ORDER BY before, max(turn.id) DESC, memory.id",
        turn_id,
    )
    said = "\n".join(text for (text,) in tx.all("SELECT text FROM event WHERE turn_id = ? AND kind = 'bot'", turn_id))
    return [number for number, text, before in rows if not before or shares_words(text, said)][:MOST_CREDITED]


def note_told_memories(
    tx: Tx, turn_id: int, memories: tuple[int, ...], rest_ms: int, at: int, *, boot: bool = False
) -> None:
    """This turn was told these memories, by its opening (`boot`) or a recall; what is used lasts longer, each at most
    once in `rest_ms`.
    """
    for number in sorted(memories):
        sql = (
            "INSERT INTO turn_memory (turn_id, memory_id, boot) VALUES (?, ?, ?) "
            f"ON CONFLICT (turn_id, memory_id) DO UPDATE SET boot = {LEAST}(turn_memory.boot, excluded.boot)"
        )
        tx.run(sql, turn_id, number, int(boot))
        if boot:
            sql = (
                f"UPDATE memory SET stability_days = {LEAST}(?, stability_days * ?), booted_at = ? WHERE id = ? "
                "AND booted_at <= ?"
            )
            tx.run(sql, MOST_STABLE, BOOTED_FACTOR, at, number, at - rest_ms)
        else:
            sql = (
                f"UPDATE memory SET stability_days = {LEAST}(?, stability_days * ?), accessed_at = ?, recalled_at = ?, "
                f"access_count = access_count + 1, faded = {LEAST}(1, faded * ?) WHERE id = ? AND recalled_at <= ?"
            )
            tx.run(sql, MOST_STABLE, RECALLED_FACTOR, at, at, REVIVED_FACTOR, number, at - rest_ms)


def recall_rounds(tx: Tx, chat_id: int, person_id: int, since: int) -> tuple[RecallRound, ...]:
    """What a person's turns in a chat found since that instant, ms, oldest first; a damaged row is left out."""
    return rounds_of(tx.all(ROUNDS, chat_id, person_id, since, KEPT_ROUNDS))


def rounds_of(rows: Sequence[Row]) -> tuple[RecallRound, ...]:
    """Rows of ROUNDS as values, oldest first; what cannot be read is left out."""
    found = (_round(*row) for row in reversed(rows))
    return tuple(each for each in found if each is not None)


def _round(turn_id: int, at: int, hits: object, searched: object, held: object) -> RecallRound | None:
    try:
        keys, some = json.loads(str(hits)), json.loads(str(searched))
        found = {str(key): int(memory) for key, memory in keys.items()}
        return RecallRound(found, tuple(map(str, some)), bool(held), turn_id, at)
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


class ReplyReads(Repository):
    """What turns were told and found, how their replies were liked, and a chat seen from outside."""

    @reads
    def section_histories(self, tx: Tx) -> tuple[SectionHistory, ...]:
        """Everybody who has rounds, by chat and person, for the operator's eyes."""
        found: list[SectionHistory] = []
        for chat, person, kind, title, name in tx.all(WHOSE):
            where, params = visible_memory(Audience(chat, kind, (person,)))
            sizes = tx.all(
                f"SELECT section, count(*) FROM memory WHERE disabled_at IS NULL AND section <> '' AND {where} "
                "GROUP BY section",
                *params,
            )
            rounds = rounds_of(tx.all(ROUNDS, chat, person, 0, KEPT_ROUNDS))
            found.append(SectionHistory(chat, person, kind, title, name, rounds, dict(sizes)))
        return tuple(found)

    @reads
    def told_items(self, tx: Tx, epoch_id: int) -> tuple[tuple[int, ToldItem], ...]:
        """What was brought by itself or by a tool to the log of an epoch, with the turn's number, oldest first."""
        rows = tx.all(
            "SELECT turn.number, way, ref, tokens, told_item.why FROM told_item JOIN turn ON turn.id = turn_id "
            f"WHERE epoch_id = ? AND way <> 'opening' AND {IN_A_LOG} ORDER BY turn.id, told_item.id",
            epoch_id,
        )
        return tuple((number, ToldItem(*item)) for number, *item in rows)

    @reads
    def told_shares(self, tx: Tx, since: int) -> tuple[ToldShare, ...]:
        """What each way put into the prompts of turns since that instant, ms; the largest first."""
        sql = (
            "SELECT way, count(DISTINCT turn_id), count(*), sum(tokens) FROM told_item JOIN turn ON turn.id = turn_id "
            "WHERE asked_at >= ? GROUP BY way ORDER BY sum(tokens) DESC, way"
        )
        return tx.all(sql, since, to=ToldShare)

    @reads
    def state(self, tx: Tx, chat_id: int, day: int) -> ChatState:
        """The open conversation of a chat and its replies since that instant, ms."""
        number, opened, turns = tx.one(
            "SELECT number, opened_at, (SELECT count(*) FROM turn WHERE session_id = session.id AND state = 'said') "
            "FROM session WHERE id = (SELECT id FROM session WHERE chat_id = ? AND state = 'open')",
            chat_id,
        ) or (0, 0, 0)
        said = f"SELECT count(*) FROM turn WHERE {IN_CHAT} AND state = 'said' AND said_at >= ?"
        return ChatState(number, opened, turns, tx.value(said, chat_id, day))

    @reads
    def signs(self, tx: Tx, chat_id: int, person_id: int) -> tuple[tuple[str, int], ...]:
        """How often a person gave which sign to the replies of a chat, the most frequent first."""
        return _counted(tx, "feedback.person_id = ?", chat_id, person_id)

    @reads
    def reply_signs(self, tx: Tx, chat_id: int, person_id: int, limit: int) -> tuple[ReplySign, ...]:
        """A person's newest signs to the replies of a chat, newest first."""
        told = "kind = 'bot' AND hidden = '' AND off_record = 0"
        reply = f"SELECT text FROM event WHERE turn_id = ? AND {told} ORDER BY id"
        sql = (
            f"SELECT at, sign, feedback.turn_id FROM feedback JOIN turn ON turn.id = turn_id WHERE {IN_CHAT} "
            "AND feedback.person_id = ? ORDER BY at DESC, feedback.turn_id DESC LIMIT ?"
        )
        marks = tx.all(sql, chat_id, person_id, limit)
        return tuple(
            ReplySign(at, sign, " ".join(text for (text,) in tx.all(reply, turn_id))) for at, sign, turn_id in marks
        )

    @reads
    def told_memories(self, tx: Tx, owner_id: int, audience: Audience, limit: int) -> tuple[ToldMemory, ...]:
        """Which memories of a person the newest replies of a chat were told, as this audience may see; newest first."""
        where, params = visible_memory(audience)
        sql = (
            "SELECT coalesce(turn.said_at, asked_at), session.number, turn.number, boot, memory.id, memory.text "
            f"{TOLD_MEMORIES}{where} ORDER BY turn.id DESC, boot, memory.id LIMIT ?"
        )
        return tx.all(sql, audience.chat_id, owner_id, *params, limit, to=ToldMemory)

    @reads
    def told_counts(self, tx: Tx, owner_id: int, audience: Audience, since: int) -> ToldCounts:
        """How often replies of a chat since that instant (ms) were told memories of a person, as this audience may see."""
        where, params = visible_memory(audience)
        said = f"SELECT count(*) FROM turn WHERE {IN_CHAT} AND state = 'said' AND asked_at >= ?"
        sql = (
            "SELECT count(DISTINCT turn.id), count(*) FILTER (WHERE boot = 0), coalesce(sum(boot), 0), "
            f"count(DISTINCT memory.id) {TOLD_MEMORIES}{where} AND turn.asked_at >= ?"
        )
        (counts,) = tx.all(sql, audience.chat_id, owner_id, *params, since)
        return ToldCounts(tx.value(said, audience.chat_id, since), *counts)

    @reads
    def statistics(self, tx: Tx, chat_id: int, since: int) -> ChatStatistics:
        """What happened in a chat since that instant, ms; of everybody there, and only numbers."""
        unasked = ", ".join(f"'{why}'" for why in sorted(UNASKED))
        sql = (
            "SELECT count(*) FILTER (WHERE state = 'said'), "
            f"count(*) FILTER (WHERE state = 'said' AND why IN ({unasked})), "
            f"count(*) FILTER (WHERE state = 'failed') FROM turn WHERE {IN_CHAT} AND asked_at >= ?"
        )
        ((said, alone, failed),) = tx.all(sql, chat_id, since)
        sql = (
            "SELECT count(*) FROM event WHERE chat_id = ? AND at >= ? AND kind = 'message' AND hidden = '' "
            "AND state = 'listened'"
        )
        quiet = tx.value(sql, chat_id, since)
        sql = (
            f"SELECT count(DISTINCT turn_id) FROM turn_memory JOIN turn ON turn.id = turn_id WHERE {IN_CHAT} "
            "AND asked_at >= ? AND state = 'said'"
        )
        told = tx.value(sql, chat_id, since)
        return ChatStatistics(said, alone, failed, quiet, _counted(tx, "at >= ?", chat_id, since), told)

    @reads
    def talked_on(self, tx: Tx, chat_id: int, signatures: Collection[str]) -> tuple[int, str] | None:
        """When a chat first talked on one of these stable prefixes, ms, and on which of them last; None: on none."""
        sql = (
            "SELECT epoch.opened_at, signature FROM epoch JOIN session ON session.id = session_id WHERE chat_id = ? "
            f"AND signature IN ({placeholders(signatures)}) ORDER BY epoch.opened_at, epoch.id"
        )
        found = tx.all(sql, chat_id, *signatures)
        return (found[0][0], found[-1][1]) if found else None


def _counted(tx: Tx, which: str, chat_id: int, value: int) -> tuple[tuple[str, int], ...]:
    """How often which sign was given to the replies of a chat, the most frequent first."""
    rows = tx.all(f"{SIGN_COUNTS}{which} GROUP BY sign ORDER BY count(*) DESC, sign", chat_id, value)
    return tuple((sign, count) for sign, count in rows)


LAYERS = (
    ("kept", 50),
    ("name", 20),
    ("lasting", 300),
    ("identity", 50),
    ("anniversary", 30),
    ("emotion", 5),
    ("event", 24),
    ("living", 30),
    ("ahead", 30),
)
"""What a warm boot may draw from (seed Warm Boot: identity 50, emotion 5). Of the events, which are those up to today,
7 are told; of what lives (knowledge, experience) the 10 with the most vitality; of what lies ahead the soonest."""

IS_LIVING = """kind IN ('knowledge', 'experience') AND slot NOT IN ('address', 'no_address')
    AND asked = 0 AND protected = 0 AND faded > .5
    AND accessed_at + stability_days * 59887917 >= :now"""
"""What may have a vitality above one half, e^(-t/S) alone: t at most S ln 2; 59,887,917 ms are ln 2 days."""

LAST_TALKED = """SELECT max(CASE open_reason WHEN 'import' THEN last_at ELSE (SELECT max(asked_at) FROM turn
    WHERE session_id = session.id AND state = 'said' AND why <> 'heartbeat') END) FROM (SELECT id, last_at, open_reason
    FROM session WHERE chat_id IN ({}) ORDER BY last_at DESC LIMIT 64) AS session"""
"""When somebody was answered last; that nuan wrote first is no talk, and it does so at most fifty times in a row."""
LAST_TALK = LAST_TALKED.format(":chat")
LAST_OWN_TALK = LAST_TALKED.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind =
    'dm' WHERE member.person_id = :p0""")
"""With one person alone it does not matter on which platform it was."""

IS_AHEAD = """dated <> '' AND kind <> 'emotion' AND observed_at >= :year
    AND observed_at >= CASE dated WHEN 'year' THEN :year WHEN 'month' THEN :month ELSE :today END"""
"""What names a day that is not over, or a month, or a year."""

MET = """SELECT EXISTS (SELECT 1 FROM session WHERE chat_id IN ({0}) AND state <> 'open')
    OR EXISTS (SELECT 1 FROM event WHERE chat_id IN ({0}) AND state <> 'queued' AND at < :earlier)"""
MET_HERE = MET.format(":chat")
MET_ALONE = MET.format("""SELECT chat.id FROM member JOIN chat ON chat.id = member.chat_id AND chat.kind = 'dm'
    WHERE member.person_id = :p0""")
"""Commands and reminders are answered without a session: whose words an earlier talk holds is nobody new."""

NEWEST_FIRST = "observed_at DESC, id DESC"
SOONEST_FIRST = "observed_at, id"
LIVELIEST_FIRST = "(:now - accessed_at) / stability_days, id DESC"

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class OpeningMaterial:
    """What was found: `people` are those who take part and those whose memories are told, by number.

    `last_at` is when nuan and this audience last talked, ms; None when they never did. `met`: a talk of theirs ended,
    or nuan answered them before this one. `changed` are the numbers of memories whose lines told a day that was changed
    later.
    """

    memories: tuple[Memory, ...]
    people: Mapping[int, Person]
    last_at: int | None
    met: bool = True
    changed: frozenset[int] = frozenset()


CHANGED_MEMORIES = f"""SELECT DISTINCT own.derived_id FROM edge AS own JOIN memory ON memory.id = own.derived_id
    JOIN edge AS told ON told.event_id = own.event_id AND told.kind IN ('memory', 'commitment')
    LEFT JOIN memory AS was ON told.kind = 'memory' AND was.id = told.derived_id AND {PLAN_CHANGED.format(was="was")}
    AND was.id <> memory.id AND coalesce(was.replaced_by, 0) <> memory.id
    LEFT JOIN commitment ON told.kind = 'commitment' AND commitment.id = told.derived_id
    WHERE own.kind = 'memory' AND own.derived_id IN ({{}})
    AND {GREATEST}(coalesce(was.former_at, 0), coalesce(commitment.moved_at, 0)) > memory.created_at"""


def _layers(audience: Audience, now: int, tz: tzinfo) -> tuple[str, Values]:
    """All layers as one SELECT with its values."""
    where, given = visible_memory(audience)
    names = [f"v{number}" for number in range(len(given))]
    for name in names:
        where = where.replace("?", f":{name}", 1)
    today, tomorrow = day_start(now, tz), next_local_time(now, 0, tz)
    year = day_start(today - (local_day(now, tz).timetuple().tm_yday - 1) * DAY_MS + DAY_MS // 2, tz)
    values: Values = {"now": now, "chat": audience.chat_id, **dict(zip(names, given, strict=True))}
    values |= {"today": today, "tomorrow": tomorrow, "month": month_start(now, tz), "year": year}
    values["earlier"] = now - TALK_MS
    values |= {f"p{number}": person for number, person in enumerate(audience.person_ids)}
    parts = [_layer(name, limit, _reaches(audience), where) for name, limit in LAYERS]
    return " UNION ALL ".join(f"SELECT * FROM ({part}) AS part" for part in parts), values


def _reaches(audience: Audience) -> list[str]:
    """The ways in which a memory may be visible, each with an index: together all that `visible` lets through."""
    people = ", ".join(f":p{number}" for number in range(len(audience.person_ids))) or "NULL"
    ways = ["visibility = 'chat' AND chat_id = :chat", "visibility = 'public' AND owner_id IS NULL"]
    if audience.alone is not None:
        return [*(f"visibility = '{seen}' AND owner_id = :p0" for seen in ("private", "public", "chat")), *ways]
    return [f"visibility = 'public' AND owner_id IN ({people})", *ways]


def _layer(name: str, limit: int, reaches: list[str], where: str) -> str:
    """One layer: from each way as many as are told, then the first of them all."""
    order = {"living": LIVELIEST_FIRST, "ahead": SOONEST_FIRST}.get(name, NEWEST_FIRST)
    match name:
        case "living":
            which = IS_LIVING
        case "ahead":
            which = IS_AHEAD
        case "event":
            which = f"{LAYER} = 'event' AND observed_at < :tomorrow"
        case _:
            which = f"{LAYER} = '{name}'"
    found = " UNION ALL ".join(
        f"SELECT id FROM (SELECT id FROM memory WHERE {IS_CURRENT} AND {reach} AND {which} ORDER BY {order} LIMIT "
        f"{limit}) AS reached"
        for reach in reaches
    )
    return f"SELECT {MEMORY_COLUMNS} FROM memory WHERE id IN ({found}) AND {where} ORDER BY {order} LIMIT {limit}"


class OpeningReads(Repository):
    """What an opening must know of its people, read in one snapshot."""

    @reads
    def opening(self, tx: Tx, audience: Audience, now: int, named: int = 0, tz: tzinfo = UTC) -> OpeningMaterial:
        """What an opening may tell this audience, each once, layer by layer, what happened last first.

        The first `named` of the audience are among the people; today is that of `tz`.
        """
        sql, values = _layers(audience, now, tz)
        found = {memory.id: memory for memory in (memory_of(row) for row in tx.execute(sql, values))}
        memories = tuple(found.values())
        wanted = {*audience.person_ids[:named], *(memory.owner_id for memory in memories if memory.owner_id)}
        alone = audience.alone is not None
        (last,) = tx.execute(LAST_OWN_TALK if alone else LAST_TALK, values).fetchone()
        (met,) = tx.execute(MET_ALONE if alone else MET_HERE, values).fetchone()
        changed = tx.ids(CHANGED_MEMORIES.format(placeholders(found)), *found)
        people = {person.id: person for person in persons(tx, f"WHERE id IN ({placeholders(wanted)})", *wanted)}
        return OpeningMaterial(memories, people, last, bool(met), frozenset(changed))
