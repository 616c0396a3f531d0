"""Which memories hold: one current in a slot, ended and brought back, merged; tasks whose day moves with theirs."""

from collections.abc import Iterable

from bot.core.clock import DAY_MS
from bot.core.memories import INTO_OLDER, MOST_IMPORTANCE, STABILITY_DAYS, Memory, Merge, NewMemory, PastMerge
from bot.language.sections import holds_one, is_single_valued
from bot.store.index import index_memory, index_section, matching_memories, scope_of, sort_memory
from bot.store.schema import GREATEST, IS_CURRENT, IS_NAME, LEAST, placeholders
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import repeating
from bot.text.terms import STOP_WORDS, search_terms

TOLD_AT = f"{GREATEST}(said_at, created_at)"
"""When a memory was told, as SQL."""

MOST_NEAR = 12
"""How many memories a new statement is compared with: those that share the most telling terms."""

MOST_TERMS = 48
"""Terms of a statement that are searched for."""

PLAN_CHANGED = """{was}.dated <> '' AND ({was}.former_at < {was}.observed_at + 43200000 OR ({was}.slot = '' AND EXISTS
    (SELECT 1 FROM memory AS now WHERE now.id = {was}.replaced_by AND now.dated <> ''))) AND NOT EXISTS (SELECT 1 FROM
    memory AS now WHERE now.id = {was}.replaced_by AND abs(now.observed_at - {was}.observed_at) < 43200000)"""
"""Whether a former memory told a day that was moved or called off: before it came, or told otherwise after it. A job or a
home that is another now has moved no day."""

RELATED = {
    "搬到": ("住在",),
    "搬去": ("住在",),
    "搬来": ("住在",),
    "搬回": ("住在",),
    "住在": ("搬到", "搬去"),
    "moved to": ("live", "living"),
    "live in": ("moved",),
}
"""What tells of the same thing in other words: where somebody lives and where they moved."""


def end_memory(tx: Tx, number: int, why: str, at: int, purge_at: int | None = None) -> None:
    """A memory is over for that reason; its row goes at `purge_at` (ms), with None it stays."""
    tx.run(
        "UPDATE memory SET disabled_at = ?, disabled_reason = ?, purge_at = ? WHERE id = ?", at, why, purge_at, number
    )
    index_memory(tx, number)


def bring_back(tx: Tx, number: int, at: int | None = None) -> None:
    """A memory that was over holds again, with `at` as if it were said anew then."""
    holds = "disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = coalesce(?, updated_at)"
    tx.run(f"UPDATE memory SET {holds} WHERE id = ?", at, number)
    index_memory(tx, number)


def reword_memory(tx: Tx, number: int, text: str, at: int) -> None:
    """A memory says something else; its section is that of the new text."""
    tx.run("UPDATE memory SET text = ?, folded = ?, updated_at = ? WHERE id = ?", text, fold(text), at, number)
    sort_memory(tx, number)
    index_memory(tx, number)


def note_moved(tx: Tx, number: int, at: int) -> None:
    """A commitment has another day: talks that told the old one say so."""
    tx.run("UPDATE commitment SET moved_at = ? WHERE id = ?", at, number)


def move_with_memory(tx: Tx, older: int, newer: int, at: int) -> None:
    """A statement that names a day takes the place of another: open tasks of the same lines and day move with it, and
    so do their reminders.
    """
    days = {
        number: day
        for number, *day in tx.all("SELECT id, observed_at, dated FROM memory WHERE id IN (?, ?)", older, newer)
    }
    (was, was_dated), (now, now_dated) = days[older], days[newer]
    if not {was_dated, now_dated} <= {"day", "time"} or was == now:
        return
    sql = (
        "SELECT DISTINCT commitment.id, due_at, commitment.dated FROM commitment "
        "JOIN edge AS own ON own.kind = 'commitment' AND own.derived_id = commitment.id "
        "JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = ? AND told.event_id = own.event_id "
        "WHERE commitment.ended_at IS NULL AND commitment.text <> '' AND abs(due_at - ?) <= ?"
    )
    for number, due, dated in tx.all(sql, older, was, DAY_MS // 2):
        timed = now_dated == "time"
        whole = now - was if was_dated == now_dated else round((now - was) / DAY_MS) * DAY_MS
        then = now if timed and dated != "time" else due + whole
        tx.run("UPDATE commitment SET due_at = ?, dated = ? WHERE id = ?", then, "time" if timed else dated, number)
        later = then - due
        sql = "UPDATE reminder SET due_at = due_at + ? WHERE commitment_id = ? AND ended_at IS NULL AND due_at > ?"
        tx.run(sql, later, number, at - later)
        note_moved(tx, number, at)


def make_current(tx: Tx, number: int, new: NewMemory, at: int) -> None:
    """This memory is current; what it names as replaced, and what holds its slot, is former.

    Only of the same owner in the same place; what is named may be what they said in a group, or a plan that another
    made in that group. It is as asked for as what it takes the place of. What somebody asked to keep goes for another
    such wish only where that names it: its receipt says so. What is dated ahead takes its place on its day: till then
    both are current (`MemoryLifecycle.come_true`).
    """
    ahead = new.observed_at > at and new.kind != "anniversary" and new.source == "digest"
    one = new.slot if holds_one(new.slot) else ""
    tx.run("UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE id = ? AND former_at IS NOT NULL", number)
    if not one and not new.replaces:
        return
    named = (0, *new.replaces)  # an empty list would have all of the table read
    for older, asked, observed_at, dated, *place in tx.all(
        "SELECT id, asked, observed_at, dated, owner_id, visibility, chat_id FROM memory WHERE "
        f"(id IN ({placeholders(named)}) OR (slot = ? AND slot <> '' AND subject = ? AND asked <= ? "
        f"AND owner_id IS NOT DISTINCT FROM ?)) AND id <> ? AND NOT {IS_NAME} AND {IS_CURRENT}",
        *named,
        one,
        new.subject,
        int(new.source != "command" and is_single_valued(one)),
        new.owner_id,
        number,
    ):
        if not _may_replace(new, older in new.replaces, place, plan=bool(dated) and not asked):
            continue
        till = None if ahead and observed_at <= at else at
        if till is not None:
            move_with_memory(tx, older, number, at)
        tx.run("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", till, number, older)
        tx.run(f"UPDATE memory SET asked = {GREATEST}(asked, ?) WHERE id = ?", asked, number)
        index_section(tx, number)


def _may_replace(new: NewMemory, named: bool, place: list[object], *, plan: bool) -> bool:
    """Whether a memory of that owner, visibility and chat may become former for the new one."""
    owner_id, visibility, chat_id = place
    if owner_id != new.owner_id and not (named and plan and new.visibility == "chat"):
        return False
    if visibility == new.visibility:
        return visibility != "chat" or chat_id == new.chat_id
    return named and new.visibility == "private" and visibility == "chat"


def restore_former(tx: Tx, number: int) -> None:
    """What this memory took the place of is current again, or former for what took the place of this one."""
    owner, by = tx.row("SELECT owner_id, replaced_by FROM memory WHERE id = ?", number)
    if by is not None:
        tx.run("UPDATE memory SET replaced_by = ? WHERE replaced_by = ?", by, number)
    elif tx.run("UPDATE memory SET former_at = NULL, replaced_by = NULL WHERE replaced_by = ?", number) > 1:
        one_current(tx, owner, without=number)


def one_current(tx: Tx, owner_id: int | None, without: int = 0) -> None:
    """After rows came back, or two people became one: of what somebody has one of the newest is current, the others
    were so until it was said. The row `without` is about to end and counts no more.
    """
    newest: dict[tuple[object, ...], tuple[int, int]] = {}
    sql = (
        f"SELECT id, {TOLD_AT}, visibility, CASE visibility WHEN 'chat' THEN chat_id ELSE 0 END, "
        f"subject, slot FROM memory WHERE owner_id IS NOT DISTINCT FROM ? AND {IS_CURRENT} AND slot <> '' "
        f"AND NOT {IS_NAME} AND observed_at <= {TOLD_AT} AND id <> ? "
        f"ORDER BY {TOLD_AT} DESC, id DESC"
    )
    for number, said, *place in tx.all(sql, owner_id, without):
        if not holds_one(place[-1]):
            continue
        first, at = newest.setdefault(tuple(place), (number, said))
        if first != number:
            tx.run("UPDATE memory SET former_at = ?, replaced_by = ? WHERE id = ?", at, first, number)


def merges_of(tx: Tx, memory: Memory) -> tuple[PastMerge, ...]:
    """Everything that was merged into a memory, newest first; who may see the memory may see this."""
    merges = "SELECT id, at, how, before, said, undone_at FROM merged WHERE memory_id = ? ORDER BY id DESC"
    return tuple(
        PastMerge(number, at, how, before, said, undone_at, tuple(sorted(tx.sources("merge", number))))
        for number, at, how, before, said, undone_at in tx.all(merges, memory.id)
    )


def undo_merge(tx: Tx, memory: Memory, at: int) -> int | None:
    """Take its newest merge back: both statements stand for themselves again. The other's number, None for none."""
    row = tx.one(
        "SELECT id, before, before_observed_at, said, kind, source, observed_at, absorbed FROM merged "
        "WHERE memory_id = ? AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
        memory.id,
    )
    if row is None:
        return None
    number, before, seen, said, kind, source, observed, absorbed = row
    for event in tx.sources("proof", number):
        tx.unlink("memory", memory.id, event)
    tx.run("UPDATE merged SET undone_at = ? WHERE id = ?", at, number)
    if absorbed is not None:
        if tx.has("SELECT 1 FROM memory WHERE id = ? AND disabled_reason = 'merged'", absorbed):
            bring_back(tx, absorbed)
        return int(absorbed)
    if tx.value("SELECT text FROM memory WHERE id = ?", memory.id) != before:
        tx.run("UPDATE memory SET observed_at = ? WHERE id = ?", seen, memory.id)
        reword_memory(tx, memory.id, before, at)
    owner_id, chat_id, visibility = tx.row("SELECT owner_id, chat_id, visibility FROM memory WHERE id = ?", memory.id)
    other = tx.insert(
        "memory",
        owner_id=owner_id,
        chat_id=chat_id,
        visibility=visibility,
        kind=kind,
        text=said,
        folded=fold(said),
        source=source,
        stability_days=STABILITY_DAYS[kind],
        accessed_at=at,
        observed_at=observed,
        created_at=at,
        updated_at=at,
    )
    tx.link("memory", other, tx.sources("merge", number))
    sort_memory(tx, other)
    index_memory(tx, other)
    return other


def near_memories(tx: Tx, new: NewMemory) -> tuple[Memory, ...]:
    """The memories of the same owner in the same place that share the most with a statement.

    One whose merge somebody took back is left alone.
    """
    terms = dict.fromkeys(term for term in search_terms(new.text) if len(term) > 1 and term not in STOP_WORDS)
    said = fold(new.text)
    related = dict.fromkeys(
        other for word, others in RELATED.items() if word in said for one in others for other in search_terms(one)
    )
    if not terms:
        return ()
    return matching_memories(
        tx,
        scope_of(new.visibility, new.owner_id, new.chat_id),
        [*related, *terms][:MOST_TERMS],
        "memory.disabled_at IS NULL AND memory.former_at IS NULL AND memory.owner_id IS NOT DISTINCT FROM ? "
        f"AND NOT {IS_NAME} "
        "AND NOT EXISTS (SELECT 1 FROM merged WHERE memory_id = memory.id AND undone_at IS NOT NULL)",
        new.owner_id,
        limit=MOST_NEAR,
    )


def merge_memories(tx: Tx, number: int, new: NewMemory, done: Merge, at: int) -> None:
    """Carry a merge out: into the older memory `number`, or of the older one into `number`."""
    older, into = done.older, done.how in INTO_OLDER
    events = set(new.event_ids) if into else tx.sources("memory", older.id)
    added = events - tx.sources("memory", number)
    kept, goes = (older, new) if into else (new, older)
    merge = tx.insert(
        "merged",
        memory_id=number,
        at=at,
        how=done.how,
        before=kept.text,
        before_observed_at=kept.observed_at,
        said=goes.text,
        kind=goes.kind,
        source=goes.source,
        observed_at=goes.observed_at,
        absorbed=None if into else older.id,
    )
    tx.link("merge", merge, events)
    if done.how != "outdo":
        tx.link("proof", merge, added)
        tx.link("memory", number, added)
    if not into:
        end_memory(tx, older.id, "merged", at)
    elif done.text:
        seen = max(older.observed_at, new.observed_at)
        tx.run("UPDATE memory SET observed_at = ? WHERE id = ?", seen, number)
        reword_memory(tx, number, done.text, at)
    if added and done.how != "outdo":
        sql = (
            f"UPDATE memory SET importance = {LEAST}(?, importance + 1), accessed_at = {GREATEST}(accessed_at, ?) "
            "WHERE id = ?"
        )
        tx.run(sql, MOST_IMPORTANCE, at, number)


def drop_merges(tx: Tx, memory_id: int, at: int, purge_at: int) -> None:
    """A memory is over, and so is what it was made of."""
    sql = (
        "UPDATE memory SET disabled_at = ?, disabled_reason = 'derived', purge_at = ? WHERE disabled_reason = 'merged' "
        "AND id IN (SELECT absorbed FROM merged WHERE memory_id = ?)"
    )
    tx.run(sql, at, purge_at, memory_id)
    delete_merges(tx, tx.ids("SELECT id FROM merged WHERE memory_id = ?", memory_id))


def scrub_merges(
    tx: Tx, events: set[int], whose: tuple[int | None, int] | None = None, wordings: Iterable[str] = ()
) -> None:
    """Of merges from these events nothing is kept, nor of those of `whose` (owner, chat) that repeat these words."""
    gone = {merge for event in events for merge in tx.derived("merge", event)}
    if whose is not None:
        rows = tx.all(
            "SELECT merged.id, before, said FROM merged JOIN memory ON memory.id = memory_id "
            "WHERE owner_id IS NOT DISTINCT FROM ? OR (owner_id IS NULL AND chat_id = ?)",
            *whose,
        )
        gone |= repeating(wordings, ((number, text) for number, *texts in rows for text in texts))
    delete_merges(tx, gone)


def delete_merges(tx: Tx, merges: Iterable[int]) -> None:
    """Nobody knows of these merges any more."""
    for number in merges:
        tx.unlink("merge", number)
        tx.unlink("proof", number)
        tx.run("DELETE FROM merged WHERE id = ?", number)
