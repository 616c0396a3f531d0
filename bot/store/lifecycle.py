"""The life of memories: tidying, archive, protection, the operator's edits, and putting wrong rows right."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

from bot.core.clock import DAY_MS
from bot.core.inspection import MemoryFault, PlacedMemory, RepairPart
from bot.core.memories import FADED_FACTOR, MOST_IMPORTANCE, Memory, OldMemory, ReviewedMemory, Visibility
from bot.core.people import Audience
from bot.core.recall import HitKind
from bot.language.sections import SectionRegistry
from bot.store.engine import Repository, reading, reads, writes, writing
from bot.store.index import (
    documents_anew,
    drop_stray_terms,
    index_document,
    index_memory,
    index_section,
    indexed_documents,
    stray_terms,
)
from bot.store.inspector import FORGOTTEN_REASONS
from bot.store.memories import (
    active_memory,
    begin_logs_anew,
    bring_back_forgotten,
    chats_of_memory,
    known_memory,
    replace_same,
    visible_memory,
)
from bot.store.notes import RemovedContent, remove_from_notes
from bot.store.postings import fill_postings
from bot.store.removal import Forgetting, carry_out, disable_memories, empty_digests, hide_lines, own_lines
from bot.store.schema import GREATEST, IS_NAME, LEAST, SELECT_MEMORY, placeholders
from bot.store.sessions import end_logs
from bot.store.supersession import (
    bring_back,
    delete_merges,
    end_memory,
    merges_of,
    one_current,
    reword_memory,
    undo_merge,
)
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import echoes

REVIEW_BATCH = 200
"""Rows of an older nuan that are read again at a time."""

IS_FREE = "disabled_at IS NULL AND asked = 0 AND protected = 0"
"""What tidying may touch, names apart."""

OWNER_ZONE = """SELECT timezone FROM memory JOIN chat ON chat.id = memory.chat_id AND chat.kind = 'dm'
    JOIN person ON person.id = owner_id WHERE memory.id = ?"""

SOURCE_LINES = """SELECT text, at FROM edge JOIN event ON event.id = event_id
    WHERE edge.kind = 'memory' AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND text <> ''
    ORDER BY event.id"""

SELECT_PLACED = """SELECT memory.id, owner_id, person.id IS NOT NULL, memory.chat_id, chat.kind, visibility,
    memory.kind, slot FROM memory LEFT JOIN person ON person.id = owner_id LEFT JOIN chat ON chat.id = memory.chat_id
    WHERE disabled_at IS NULL AND memory.id = coalesce(?, memory.id) ORDER BY memory.id"""
SELECT_SECTIONS = """SELECT id, owner_id, kind, text, section FROM memory WHERE (disabled_at IS NULL
    OR disabled_reason = 'archived') AND id = coalesce(?, id) ORDER BY id"""
SHIPPED_REGISTRY = SectionRegistry()


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """Memories that are limited together: one person's, or what nobody owns in one chat."""

    owner_id: int | None
    chat_id: int


@dataclass(frozen=True, slots=True)
class UpkeepPlan:
    """What tidying makes of some memories: (number, new count), and the numbers of what is archived till `purge_at`."""

    counts: tuple[tuple[int, int], ...]
    archived: tuple[int, ...]
    purge_at: int


def archive_memory(tx: Tx, number: int, purge_at: int, at: int) -> None:
    """Out of recall and openings, if it is active; its row goes at `purge_at`, ms."""
    if tx.has("SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL", number):
        end_memory(tx, number, "archived", at, purge_at)


def restore_memory(tx: Tx, number: int, at: int) -> bool:
    """Back from the archive, as fresh as if it had been recalled; False when it is not there any more.

    Where the same was told anew meanwhile, that one counts for both.
    """
    memory = tx.one(f"{SELECT_MEMORY}WHERE id = ? AND disabled_reason = 'archived'", number, to=Memory)
    if memory is None:
        return False
    same = known_memory(tx, memory)
    if same is not None:
        tx.run(f"UPDATE memory SET importance = {LEAST}(?, importance + 1) WHERE id = ?", MOST_IMPORTANCE, same)
        tx.run("UPDATE memory SET disabled_reason = 'replaced', purge_at = NULL WHERE id = ?", number)
        return True
    tx.run("UPDATE memory SET accessed_at = ?, faded = 1 WHERE id = ?", at, number)
    bring_back(tx, number)
    one_current(tx, memory.owner_id)
    return True


PlacementJudge = Callable[[PlacedMemory], MemoryFault | None]
"""What is wrong with a memory's namespace, and where it belongs."""

RewordResult = Literal["done", "gone", "named", "known", "forgotten"]
"""What became of new words: taken; there is no such memory (any more); it is how somebody is called, which only they
change; another memory says that already; it was forgotten, and only its owner can have it kept again."""


class MemoryLifecycle(Repository):
    """Memories as time and their owners change them, and what does not stand as it should."""

    archive = writing(archive_memory)
    restore = writing(restore_memory)
    unmerge = writing(undo_merge)
    merges = reading(merges_of)
    fill_postings = writing(fill_postings)

    @reads
    def memory_pools(self, tx: Tx) -> tuple[MemoryPool, ...]:
        """Everybody with memories that tidying may touch. It tells nobody anything: no audience is asked."""
        return tx.all(
            "SELECT DISTINCT owner_id, CASE WHEN owner_id IS NULL THEN chat_id ELSE 0 END FROM memory "
            f"WHERE {IS_FREE} AND NOT {IS_NAME}",
            to=MemoryPool,
        )

    @reads
    def of_pool(self, tx: Tx, pool: MemoryPool) -> tuple[tuple[Memory, int], ...]:
        """Their active memories, each with when its count was last looked at, ms; for tidying only."""
        nobodys = pool.owner_id is None
        whose, number = (
            ("owner_id IS NULL AND chat_id = ?", pool.chat_id) if nobodys else ("owner_id = ?", pool.owner_id)
        )
        where = f"WHERE disabled_at IS NULL AND NOT {IS_NAME} AND {whose} ORDER BY id"
        known = tx.all(f"{SELECT_MEMORY}{where}", number, to=Memory)
        looked = tx.ids(f"SELECT decayed_at FROM memory {where}", number)
        return tuple(zip(known, looked, strict=True))

    @writes
    def apply_upkeep(self, tx: Tx, upkeep: UpkeepPlan, at: int) -> None:
        """Carry it out in one commit; what was asked for, protected or forgotten meanwhile stays as it is."""
        counted = f"UPDATE memory SET importance = {LEAST}(importance, ?), decayed_at = ? WHERE id = ? AND {IS_FREE}"
        for number, count in upkeep.counts:
            tx.run(counted, count, at, number)
        for number in upkeep.archived:
            if tx.has(f"SELECT 1 FROM memory WHERE id = ? AND {IS_FREE}", number):
                end_memory(tx, number, "archived", at, upkeep.purge_at)

    @reads
    def older(self, tx: Tx) -> tuple[OldMemory, ...]:
        """Some memories that an older nuan stored and that were not read again yet, the newest first."""
        sql = f"{SELECT_MEMORY}WHERE id <= ? AND disabled_at IS NULL ORDER BY id DESC LIMIT ?"
        found = tx.all(sql, int(tx.meta("reread") or 0), REVIEW_BATCH, to=Memory)
        return tuple(
            OldMemory(
                memory,
                tuple((text, at) for text, at in tx.all(SOURCE_LINES, memory.id)),
                tx.value(OWNER_ZONE, memory.id) or "",
            )
            for memory in found
        )

    @writes
    def reread(self, tx: Tx, done: tuple[OldMemory, ...], found: tuple[ReviewedMemory, ...]) -> None:
        """These were read again, and this is what changed, as far as nobody changed them meanwhile; in one commit."""
        for one in found:
            sql = (
                f"UPDATE memory SET lasting = {GREATEST}(lasting, ?), "
                "observed_at = CASE access_count WHEN 0 THEN ? ELSE observed_at END, "
                "dated = CASE WHEN access_count = 0 AND dated = '' AND observed_at <> ? THEN 'day' ELSE dated END "
                "WHERE id = ? AND disabled_at IS NULL"
            )
            tx.run(sql, one.lasting, one.observed_at, one.observed_at, one.number)
            index_memory(tx, one.number)
        tx.set_meta("reread", None if len(done) < REVIEW_BATCH else str(done[-1].memory.id - 1))

    @reads
    def upkeep_due(self, tx: Tx, now: int) -> bool:
        """Whether it is time to tidy."""
        return int(tx.meta("life_at") or 0) <= now

    @writes
    def come_true(self, tx: Tx, now: int) -> int:
        """What was dated ahead takes the place of what it names once its day has come; how many are former.

        A day without a time is stored as its noon, and has come with its first hour.
        """
        sql = (
            "UPDATE memory SET former_at = ? WHERE former_at IS NULL AND replaced_by IN "
            "(SELECT id FROM memory WHERE observed_at <= ? + CASE dated WHEN 'time' THEN 0 ELSE ? END "
            "AND disabled_at IS NULL)"
        )
        return tx.run(sql, now, now, DAY_MS // 2)

    @writes
    def upkeep_done(self, tx: Tx, merged_before: int, now: int, next_at: int) -> None:
        """The tidying is done till `next_at`; what was merged or replaced before `merged_before` (ms) goes for good."""
        sql = (
            "UPDATE memory SET purge_at = ? WHERE disabled_reason IN ('merged', 'replaced') AND purge_at IS NULL "
            "AND disabled_at < ?"
        )
        tx.run(sql, now, merged_before)
        delete_merges(tx, tx.ids("SELECT id FROM merged WHERE at < ?", merged_before))
        tx.set_meta("life_at", str(next_at))

    @reads
    def archived(self, tx: Tx, owner_id: int, audience: Audience) -> tuple[Memory, ...]:
        """What of a person's memories is archived, as far as this audience may see it, newest first."""
        where, params = visible_memory(audience)
        sql = (
            f"{SELECT_MEMORY}WHERE disabled_reason = 'archived' AND owner_id = ? AND {where} "
            "ORDER BY disabled_at DESC, id DESC"
        )
        return tx.all(sql, owner_id, *params, to=Memory)

    @writes
    def protect(self, tx: Tx, memory: Memory, on: bool) -> None:
        """Keep it from tidying, limits and merges, or no longer."""
        tx.run("UPDATE memory SET protected = ? WHERE id = ?", int(on), memory.id)
        index_section(tx, memory.id)

    @writes
    def fade(self, tx: Tx, memory: Memory) -> None:
        """A tenth of its vitality is left, whatever time it is; being recalled brings it back little by little."""
        tx.run("UPDATE memory SET faded = faded * ? WHERE id = ?", FADED_FACTOR, memory.id)

    @reads
    def faults(
        self, tx: Tx, parts: frozenset[RepairPart], judge: PlacementJudge, registry: SectionRegistry = SHIPPED_REGISTRY
    ) -> tuple[MemoryFault, ...]:
        """Everything that is wrong in these parts, by part and number; `registry` says where memories belong."""
        found = {
            "namespaces": lambda: namespace_faults(tx, judge),
            "sections": lambda: section_faults(tx, registry),
            "text-index": lambda: text_faults(tx),
        }
        return tuple(fault for part in sorted(parts) for fault in found[part]())

    @writes
    def mend(
        self,
        tx: Tx,
        found: tuple[MemoryFault, ...],
        judge: PlacementJudge,
        at: int,
        registry: SectionRegistry = SHIPPED_REGISTRY,
    ) -> int:
        """Put these right in one transaction; how many were. Each is looked at again: done twice it is done once.

        After the last of the full-text index `fill_postings`: of a row that was wrong nobody knows how it was found.
        """
        return sum(_mend(tx, fault, judge, at, registry) for fault in found)

    @writes
    def share(self, tx: Tx, memory: Memory, at: int) -> bool:
        """From now on it is told wherever its owner speaks; False when it is so already, or is gone."""
        found = active_memory(tx, memory.id)
        if found is None or found.owner_id is None or found.visibility == "public":
            return False
        _move(tx, found, "public", at)
        return True

    @writes
    def unshare(self, tx: Tx, memory: Memory, at: int) -> Visibility | None:
        """It is of the chat again in which it was told, of its owner alone if that was a DM; None when not shared.

        Elsewhere no log tells it any more, and what nuan said of it there is not shown again.
        """
        found = active_memory(tx, memory.id)
        if found is None or found.visibility != "public":
            return None
        kind = tx.value("SELECT kind FROM chat WHERE id = ?", found.chat_id)
        back: Visibility = "private" if kind == "dm" else "chat"
        _move(tx, found, back, at)
        _end_logs_elsewhere(tx, memory, back, at)
        return back

    @writes
    def reword(self, tx: Tx, number: int, text: str, at: int) -> RewordResult:
        """Say a memory otherwise. Its sources stay, and what it said first is forgotten together with it."""
        if self._files.tombstones.covers(text):
            return "forgotten"
        memory = active_memory(tx, number)
        if memory is None:
            return "gone"
        if memory.is_name:
            return "named"
        if known_memory(tx, replace(memory, text=text)) not in (None, number):
            return "known"
        tx.run("UPDATE memory SET original = text WHERE id = ? AND original = ''", number)
        tx.run("DELETE FROM rewriting WHERE memory_id = ?", number)
        reword_memory(tx, number, text, at)
        begin_logs_anew(tx, chats_of_memory(tx, memory))
        return "done"

    async def forget_number(self, number: int, purge_at: int | None, at: int) -> bool:
        """忘记: it and every copy made of it go, to be brought back till `purge_at`, ms (None: gone at once).

        False when it is over already.
        """
        memory = await self._database.read(lambda tx: active_memory(tx, number))
        if memory is None:
            return False
        forgetting = Forgetting((memory,), memory.owner_id or 0, purge_at)

        def forget(tx: Tx) -> None:
            disable_memories(tx, forgetting, memory.chat_id, at)
            begin_logs_anew(tx, chats_of_memory(tx, memory))

        await carry_out(self._database, forgetting, forget, at)
        return True

    async def bring_back(self, number: int, at: int) -> bool:
        """撤销: a forgotten memory holds again, in place of what was said since; False when it is gone for good."""
        found = await self._bring_back(number, at)
        if found is None:
            return False
        self._files.tombstones.remove_tombstones(found.wordings, at)
        return True

    @writes
    def _bring_back(self, tx: Tx, number: int, at: int) -> Memory | None:
        forgotten = f"disabled_reason IN ({placeholders(FORGOTTEN_REASONS)})"
        found = bring_back_forgotten(tx, number, at, forgotten, *FORGOTTEN_REASONS)
        if found is not None:
            begin_logs_anew(tx, chats_of_memory(tx, found))
        return found


def _move(tx: Tx, memory: Memory, seen: Visibility, at: int) -> None:
    """It takes the place of what its owner has there already: the same, or another name."""
    replace_same(tx, replace(memory, visibility=seen), at)
    tx.run("UPDATE memory SET visibility = ? WHERE id = ?", seen, memory.id)
    index_memory(tx, memory.id)


def _end_logs_elsewhere(tx: Tx, memory: Memory, back: Visibility, at: int) -> None:
    """Logs that were told it where it may not be told any more end, and nuan's own words of it go with them."""
    if back == "private":
        elsewhere, who = "NOT (chat.kind = 'dm' AND turn.person_id IS NOT DISTINCT FROM ?)", memory.owner_id
    else:
        elsewhere, who = "chat.id <> ?", memory.chat_id
    sql = (
        "SELECT turn.id FROM turn_memory JOIN turn ON turn.id = turn_id JOIN chat ON chat.id = turn.chat_id "
        f"WHERE memory_id = ? AND {elsewhere}"
    )
    turns = tx.ids(sql, memory.id, who)
    logs = tx.ids_for("SELECT epoch_id FROM turn WHERE id = ?", turns)
    logs |= tx.ids_for("SELECT epoch_id FROM entry WHERE turn_id = ?", turns)
    said = {number for number, text in own_lines(tx, logs) if any(echoes(wording, text) for wording in memory.wordings)}
    remove_from_notes(tx, RemovedContent(frozenset(said)), at)
    end_logs(tx, logs)
    empty_digests(tx, said, at)
    hide_lines(tx, said, "forgotten")


def _mend(tx: Tx, fault: MemoryFault, judge: PlacementJudge, at: int, registry: SectionRegistry) -> bool:
    number = fault.number
    match fault.part:
        case "namespaces":
            now = next(namespace_faults(tx, judge, number), None)
            if now is None or now.place is None:
                return False
            place = now.place
            sql = (
                "UPDATE memory SET owner_id = ?, chat_id = ?, visibility = ?, kind = ?, slot = ?, updated_at = ? "
                "WHERE id = ?"
            )
            tx.run(sql, place.owner_id, place.chat_id, place.visibility, place.kind, place.slot, at, number)
            index_memory(tx, number)
        case "sections":
            now = next(section_faults(tx, registry, number), None)
            if now is None:
                return False
            tx.run("UPDATE memory SET section = ? WHERE id = ?", now.about, number)
            index_section(tx, number)
        case _ if fault.about == "row":
            drop_stray_terms(tx, number)
        case _ if fault.about == "folded":
            text = tx.value("SELECT text FROM memory WHERE id = ?", number)
            if text is not None:
                tx.run("UPDATE memory SET folded = ? WHERE id = ?", fold(text), number)
        case _:
            index_document(tx, cast("HitKind", fault.about), number)
    return True


def section_faults(tx: Tx, registry: SectionRegistry, number: int | None = None) -> Iterator[MemoryFault]:
    """Memories, or that one, without a section that the registry knows; one that it knows may have been given."""
    for memory_id, owner, kind, text, section in tx.all(SELECT_SECTIONS, number):
        wanted = registry.assign(text, kind, owned=owner is not None)
        if section not in registry.keys and section != wanted:
            yield MemoryFault("sections", memory_id, f"is in {section or 'none'} → {wanted or 'none'}", about=wanted)


def namespace_faults(tx: Tx, judge: PlacementJudge, number: int | None = None) -> Iterator[MemoryFault]:
    """Memories, or that one, whose owner, chat or visibility is missing or impossible."""
    for row in tx.all(SELECT_PLACED, number, to=PlacedMemory):
        fault = judge(row) and judge(_with_lines(tx, row))
        if fault is not None:
            yield fault


def _with_lines(tx: Tx, row: PlacedMemory) -> PlacedMemory:
    lines = tx.all(
        "SELECT DISTINCT event.person_id, event.chat_id, chat.kind FROM edge JOIN event ON event.id = event_id "
        "JOIN chat ON chat.id = event.chat_id LEFT JOIN person ON person.id = event.person_id "
        "WHERE edge.kind = 'memory' AND derived_id = ? AND coalesce(is_bot, 0) = 0",
        row.number,
    )
    chats = tuple(sorted({(chat, kind) for _, chat, kind in lines}))
    sql = "SELECT person_id FROM member JOIN person ON person.id = person_id WHERE chat_id = ? AND is_bot = 0"
    members = tx.ids(sql, row.chat_id if row.chat_kind is not None or len(chats) != 1 else chats[0][0])
    senders = tuple(sorted({person for person, _, _ in lines if person is not None}))
    return replace(row, senders=senders, chats=chats, members=members)


def text_faults(tx: Tx) -> Iterator[MemoryFault]:
    """Rows of the full-text index that are missing, extra or otherwise than it would be if it were written anew now."""
    wanted, found = documents_anew(tx), indexed_documents(tx)
    for kind, ref in sorted(wanted.keys() | found.keys()):
        why = "is otherwise in the index"
        if (kind, ref) not in found:
            why = "is not in the index"
        elif (kind, ref) not in wanted:
            why = "is in the index and is not there"
        elif wanted[kind, ref] == found[kind, ref]:
            continue
        yield MemoryFault("text-index", ref, f"{kind}: {why}", about=kind)
    for row in stray_terms(tx):
        yield MemoryFault("text-index", row, "a row of the index belongs to nothing", about="row")
    for memory_id, text, folded in tx.all("SELECT id, text, folded FROM memory WHERE disabled_at IS NULL"):
        if folded != fold(text):
            yield MemoryFault("text-index", memory_id, "memory: is compared by an old form of its text", about="folded")
