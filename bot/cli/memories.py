"""The work of `nuan memory`: memories to files and back, on the screen, and their rows put right after a backup."""

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.data import refuse_itself, restore_on_server, restore_report
from bot.cli.installation import Installation, encoder_trouble, open_dependencies, require_database
from bot.cli.lookup import find_person
from bot.cli.terminal import (
    json_document,
    print_error,
    print_result,
    progress_bar,
    progress_bars,
    read_text_file,
    refuse_existing,
    write_private,
)
from bot.container import Dependencies, make_embedding_callers, make_vector_maker
from bot.core.archive import ExportContents, ExportedMemory, ImportBase, ImportPlan, ParsedExport
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, ModelError, NuanError
from bot.core.inspection import MemoryFault, RepairPart
from bot.core.people import ExportFormat, MemoryKind
from bot.language.sections import SectionRegistry, section_registry
from bot.memory.archive.export import is_export, write_markdown
from bot.memory.archive.imports import ForeignOwner, make_plan, parse_foreign, plan_json, plan_text
from bot.memory.archive.records import BadValue, parse_jsonl, reference, time_text, to_json, write_jsonl
from bot.memory.lifecycle import ownership_fault
from bot.model.local import STILL_LOADING
from bot.ops.log_files import NullLog
from bot.pipeline.vectors import LOADS_S
from bot.store.archive import MemoryWithLines
from bot.store.backups import backup, newest_copy, roll_back
from bot.store.store import DATABASE, Store, open_store
from bot.text.clean import clean
from bot.text.dates import stamp

if TYPE_CHECKING:
    from rich.progress import Progress

FILE_NAMES = {"jsonl": "memories.jsonl", "md": "memories.md"}

_MEMORY_NUMBER = re.compile(r"#?(\d{1,15})")

BATCH = 200
"""Memories of one commit: a few milliseconds, and as much is done again after a crash at most."""
FAULTS_SHOWN = 20
"""Faults that are shown one by one; --json has all."""

LABEL = "backfill"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """How files are imported."""

    path: Path
    owner: str = ""
    yes: bool = False
    dry_run: bool = False
    skip_bad: bool = False

    @property
    def asks(self) -> bool:
        """Whether somebody is asked, who must see what would change first."""
        return not (self.yes or self.dry_run)


async def export_memories(
    place: Installation, path: Path | None, person: str, form: ExportFormat, *, force: bool, as_json: bool = False
) -> str:
    """Write what is remembered; a line that says what was written. Works beside a running nuan."""
    now = SystemClock().now()
    target = path or Path(f"nuan-memories-{time_text(now)[:10]}")
    ending = target.suffix.lstrip(".").lower()
    files = {ending: target} if ending in FILE_NAMES else {end: target / name for end, name in FILE_NAMES.items()}
    if form != "both":
        files = {end: file for end, file in files.items() if end == form}
    if not files:
        raise NuanError(f"{target}: a file for --format {form} ends in .{form}")
    if not force:
        for file in files.values():
            refuse_existing(file)
    async with await open_store(
        place.data, frozenset(place.settings.bot.owners), read_only=True, url=place.url
    ) as store:
        number = await find_person(store, person) if person else None
        with progress_bar("export", quiet=as_json):
            export = await store.memories.export(number, now)
            writers = {"jsonl": write_jsonl, "md": write_markdown}
            for end, file in files.items():
                write_private(file, writers[end](export.here.carried), force=force)
    carried = export.here.carried
    if as_json:
        return json_document(
            {
                "files": [str(file) for file in files.values()],
                "memories": len(carried.memories),
                "conversations": len(carried.summaries),
                "notes": len(carried.notes),
                "people": len(carried.people),
                "left_out": {"forgotten": export.forgotten, "astray": export.astray, "notes": export.files},
            }
        )
    lines = [
        f"{len(carried.memories)} memories, {len(carried.summaries)} conversations and {len(carried.notes)} notes of "
        f"{len(carried.people)} people "
        f"are in {' and '.join(str(file) for file in files.values())}"
    ]
    if export.forgotten:
        lines.append(f"left out: {export.forgotten} that were forgotten or replaced")
    if export.astray:
        lines.append(f"left out: {export.astray} of nobody known; `nuan memory backfill` says which")
    if export.files:
        lines.append(f"left out: {export.files} notes that are empty, for nobody or cannot be read")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How an import ended, in words, and how much it took in."""

    text: str = ""
    taken: int = 0


async def import_memories(
    place: Installation, taking: ImportRequest, ask: Callable[[str], bool], *, as_json: bool = False
) -> None:
    """Show what would change, ask, and carry it out in one transaction.

    NuanError, with nothing changed, for lines that cannot be read, another nuan that runs here, or a question that
    nobody is there to answer.
    """
    now, owners = SystemClock().now(), frozenset(place.settings.bot.owners)
    if not place.url and not (place.data / DATABASE).exists():
        (read_files if taking.skip_bad else _readable)(
            taking, ImportBase(ExportContents(), 0), now
        )  # else no installation is begun
    async with await open_store(place.data, owners, read_only=taking.dry_run, url=place.url) as store:
        with progress_bar("reading", quiet=as_json):
            here = await store.memories.import_base()
            plan = make_plan(_readable(taking, here, now), here, store.tombstones.covers)
        if not as_json and (taking.path / FILE_NAMES["md"]).is_file():
            print_error(f"{FILE_NAMES['md']} is for reading only: what was edited there is not taken in")
        if not as_json:
            print_result(plan_text(plan))
        elif taking.asks:
            print(plan_text(plan), file=sys.stderr)
        outcome = await _carry_out(store, plan, taking, ask, now, quiet=as_json)
    if as_json:
        done = {"dry_run": taking.dry_run, "taken": outcome.taken}
        print_result(json_document(done | plan_json(plan)))
    elif outcome.text:
        print_result(outcome.text)


def _readable(taking: ImportRequest, here: ImportBase, now: int) -> ParsedExport:
    """What the files say, with each bad line told; NuanError unless those may be left out."""
    parsed = read_files(taking, here, now)
    for problem in parsed.problems:
        print_error(f"{problem.where}: {problem.text}")
    if parsed.problems and not taking.skip_bad:
        count = len(parsed.problems)
        raise NuanError(f"{count} lines cannot be read, nothing was changed; --skip-bad takes the others")
    return parsed


async def _carry_out(
    store: Store, plan: ImportPlan, taking: ImportRequest, ask: Callable[[str], bool], now: int, *, quiet: bool
) -> ImportResult:
    """What is agreed to."""
    if taking.dry_run:
        return ImportResult()
    if not plan.count:
        return ImportResult("nothing to change")
    if not (taking.yes or ask(f"Take in {plan.count}?")):
        return ImportResult("nothing was changed")
    with progress_bar("import", quiet=quiet) as tell:
        await store.memories.bring_in(plan, now, tell)
    return ImportResult(f"done: {plan.count} taken in", plan.count)


def read_files(taking: ImportRequest, here: ImportBase, now: int) -> ParsedExport:
    """What a file or a folder says; of a folder that an export of ours wrote, its JSON Lines."""
    path = taking.path / FILE_NAMES["jsonl"] if taking.path.is_dir() else taking.path
    if path.is_file() or not taking.path.is_dir():
        return _read(taking, path, path.name, here, now)
    paths = sorted(path for path in taking.path.rglob("*.md") if path.is_file())
    if not paths:
        raise NuanError(f"{taking.path}: there is no .md file and no export in it")
    every = [_read(taking, path, path.relative_to(taking.path).as_posix(), here, now) for path in paths]
    return ParsedExport(
        ExportContents(memories=tuple(memory for each in every for memory in each.carried.memories)),
        tuple(line for each in every for line in each.lines),
        tuple(problem for each in every for problem in each.problems),
    )


def _read(taking: ImportRequest, path: Path, name: str, here: ImportBase, now: int) -> ParsedExport:
    text = read_text_file(path)
    if path.suffix.lower() == ".jsonl":
        return parse_jsonl(text, name)
    if is_export(text):
        raise NuanError(
            f"{path}: Markdown that nuan exported is for reading only: import the {FILE_NAMES['jsonl']} beside it; "
            "where there is none, take it in with the version that wrote it and export .jsonl there"
        )
    return parse_foreign(text, name, _owner_of(taking, path, here, now))


def _owner_of(taking: ImportRequest, path: Path, here: ImportBase, now: int) -> ForeignOwner:
    """The owner of a foreign file, by account."""
    if not taking.owner:
        raise NuanError(f"{path} is no export of nuan: say whose it is with --owner platform:id")
    try:
        account = reference(taking.owner)
    except BadValue as error:
        raise NuanError(f"--owner {error}") from None
    for person in here.carried.people:
        if account in person.accounts:
            if person.accounts[0] not in dict(here.dms):
                raise NuanError(f"--owner: there is no direct chat with {account} yet: let them write to nuan first")
            return ForeignOwner(person.accounts[0], "", now)
    known = ", ".join(account for person in here.carried.people for account in person.accounts) or "nobody yet"
    raise NuanError(f"--owner: nuan does not know {account}; it knows {known[:300]}")


async def list_memories(place: Installation, person: str, kind: MemoryKind | None, *, as_json: bool) -> str:
    """One line a memory, or a JSON array."""
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        number = await find_person(store, person) if person else None
        carried = (await store.memories.export(number)).here.carried
    found = [memory for memory in carried.memories if kind in (None, memory.kind)]
    if as_json:
        return json_document([to_json(memory) for memory in found])
    names = {person.accounts[0]: person.name for person in carried.people}
    return (
        "\n".join(_memory_line(memory, names.get(memory.owner, "")) for memory in found) or "nothing is remembered yet"
    )


def _memory_line(memory: ExportedMemory, name: str) -> str:
    marks = [memory.visibility, *(["asked"] if memory.asked else []), *([memory.slot] if memory.slot else [])]
    whose = f"{memory.owner} {name}" if memory.owner else memory.chat
    text = " ".join(clean(memory.text).split())
    return f"#{memory.id} {time_text(memory.observed_at)[:10]} {memory.kind} ({', '.join(marks)}) {whose}: {text}"


async def show_memory(place: Installation, wanted: str, *, as_json: bool) -> str:
    """Everything of one memory; NuanError when there is none. What was forgotten is told without its text."""
    match = _MEMORY_NUMBER.fullmatch(wanted.strip())
    if match is None:
        raise ConfigError((f"there is no memory {wanted!r}: give its number",))
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        whole = await store.memories.with_lines(int(match[1]))
    if whole is None:
        raise NuanError(f"there is no memory #{match[1]}")
    return _memory_json(whole) if as_json else "\n".join(_memory_lines(whole))


def _memory_json(whole: MemoryWithLines) -> str:
    told: dict[str, object] = {
        "number": whole.number,
        "memory": to_json(whole.memory) if whole.memory else None,
        "ended": whole.ended,
    }
    times = {"ended_at": whole.ended_at, "undo_until": whole.undo_until}
    told |= {name: time_text(at) if at is not None else None for name, at in times.items()}
    told["sources"] = [{**asdict(source), "at": time_text(source.at)} for source in whole.sources]
    return json_document(told)


def _memory_lines(whole: MemoryWithLines) -> list[str]:
    if whole.ended_at is not None:
        until = f", can be taken back until {time_text(whole.undo_until)}" if whole.undo_until else ""
        return [f"#{whole.number} was {whole.ended} at {time_text(whole.ended_at)}{until}"]
    if whole.memory is None:
        return [f"#{whole.number} belongs to nobody known: `nuan memory backfill` says more"]
    values = to_json(whole.memory)
    lines = [f"#{whole.number} {clean(str(values.pop('text')))}"]
    lines += [
        f"  {name}: {value}"
        for name, value in values.items()
        if name not in ("id", "merges") and value not in ("", None, {})
    ]
    lines += [f"  merged: {time_text(each.at)} {each.how}: {_flat(each.said)}" for each in whole.memory.merges]
    lines += [
        f"  from: {time_text(source.at)} {source.chat} {clean(source.who)}: {_flat(source.text) or '(not kept)'}"
        for source in whole.sources
    ]
    return lines if whole.sources else [*lines, "  from: nothing that is still known"]


def _flat(text: str) -> str:
    return " ".join(clean(text).split())


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """What is wrong, how many vectors are lacking (None: none are used), what was put right, and the backup."""

    faults: tuple[MemoryFault, ...]
    vectors: int | None
    mended: int = 0
    copy: Path | None = None


async def backfill(
    place: Installation, parts: frozenset[RepairPart], *, apply: bool, as_json: bool, anew: bool = False
) -> str:
    """Say what is wrong; with `apply` put it right, after a backup, and say what is left.

    With `anew` no vector counts as made. Without `apply` this works beside a running nuan. A run that was cut off is
    ended by the next.
    """
    rows = frozenset(part for part in parts if part != "vectors")
    own = section_registry(place.settings.sections.own)
    require_database(place)
    async with (
        await open_store(place.data, read_only=not apply, url=place.url) as store,
        open_dependencies(place, store, NullLog()) as dependencies,
    ):
        vectors = VectorBackfill(dependencies, anew=anew) if "vectors" in parts else None
        found = BackfillReport(
            await store.memories.faults(rows, ownership_fault, own), await vectors.lacking() if vectors else None
        )
        mendable = tuple(fault for fault in found.faults if fault.mendable)
        if apply and (mendable or found.vectors):
            if vectors and found.vectors:
                await vectors.load()
            with progress_bar("backup", quiet=as_json) as tell:
                copy = await asyncio.to_thread(backup, place.data, LABEL, stamp(SystemClock().now()), place.url, tell)
            print(f"nuan: the backup is {copy}", file=sys.stderr)
            with progress_bars(quiet=as_json) as shown:
                done = await _mend(store, mendable, shown, own)
                if vectors:
                    await vectors.make(shown)
            left = await vectors.lacking() if vectors else None
            found = BackfillReport(await store.memories.faults(rows, ownership_fault, own), left, done, copy)
    return _json(found) if as_json else "\n".join(_lines(found, rows, applied=apply))


async def _mend(store: Store, faults: tuple[MemoryFault, ...], shown: "Progress", own: SectionRegistry) -> int:
    if not faults:
        return 0
    task, done = shown.add_task("rows", total=len(faults)), 0
    for first in range(0, len(faults), BATCH):
        batch = faults[first : first + BATCH]
        done += await store.memories.mend(batch, ownership_fault, SystemClock().now(), own)
        shown.advance(task, len(batch))
    if any(fault.part == "text-index" for fault in faults):
        await store.memories.fill_postings()
    return done


class VectorBackfill:
    """The vectors that recall is lacking, counted and made by the configured server; `anew`: all, once."""

    def __init__(self, parts: Dependencies, *, anew: bool) -> None:
        self._anew = anew
        calls = make_embedding_callers(parts).caller
        self._caller = calls()
        self._work = make_vector_maker(parts, calls) if self._caller is not None else None

    async def lacking(self) -> int | None:
        """How many there are to make; None where no recall uses them."""
        return await self._work.lacking(anew=self._anew) if self._work is not None else None

    async def load(self) -> None:
        """Wait until the embedder can be asked; NuanError says what to do where it cannot."""
        try:
            if self._caller is not None and not await self._caller.load(LOADS_S):
                raise ModelError("timeout", STILL_LOADING)
        except ModelError as error:
            rest = "--namespaces --sections --text-index put right what is not vectors"
            raise NuanError(f"nothing was changed: {encoder_trouble(error)}; {rest}") from error

    async def make(self, shown: "Progress") -> None:
        """Make them; ModelError or OverBudget ends it, and what is made stays."""
        if self._work is not None and (total := await self.lacking()):
            task, anew, self._anew = shown.add_task("vectors", total=total), self._anew, False
            await self._work.make_all(lambda made: shown.update(task, completed=made), anew=anew)


def _json(found: BackfillReport) -> str:
    told = {
        "mended": found.mended,
        "backup": str(found.copy) if found.copy else None,
        "vectors_lacking": found.vectors,
        "faults": [asdict(fault) for fault in found.faults],
    }
    return json_document(told)


def _lines(found: BackfillReport, rows: frozenset[RepairPart], *, applied: bool) -> Iterator[str]:
    if found.copy:
        yield f"{found.mended} rows put right; `nuan memory rollback` takes it back"
    for part in sorted(rows):
        faults = [fault for fault in found.faults if fault.part == part]
        can = sum(fault.mendable for fault in faults)
        yield f"{part}: {can} to put right, {len(faults) - can} that nobody can decide" if faults else f"{part}: ✓"
        yield from (f"  #{fault.number} {_one(fault)}" for fault in faults[:FAULTS_SHOWN])
        if len(faults) > FAULTS_SHOWN:
            yield f"  … and {len(faults) - FAULTS_SHOWN} more"
    if found.vectors is not None:
        yield f"vectors: {found.vectors} to make" if found.vectors else "vectors: ✓"
    if not applied and (found.vectors or any(fault.mendable for fault in found.faults)):
        yield "nothing was changed: --apply puts right what can be, after a backup"


def _one(fault: MemoryFault) -> str:
    place = fault.place
    if place is None:
        return fault.why
    return f"{fault.why} → {place.visibility} {place.kind} of person {place.owner_id or '-'} in chat {place.chat_id}"


async def rollback(place: Installation, copy: Path | None, *, as_json: bool) -> str:
    """Put a backup back, the newest of a backfill unless one is given; NuanError when there is none."""
    path = copy or newest_copy(place.data, LABEL)
    if path is None:
        raise NuanError(f"there is no backup of a backfill in {place.data}: give its file")
    if not path.is_file():
        path = place.data / path.name
    if not path.is_file():
        raise NuanError(f"{copy} is no file")
    refuse_itself(place, path)
    now = SystemClock().now()
    if place.url:
        return await restore_on_server(place, path, now, as_json=as_json)
    with progress_bar("rollback", quiet=as_json) as tell:
        previous, count = await roll_back(place.data, path, stamp(now), now, tell=tell)
    if as_json:
        return json_document(restore_report(path, previous, count))
    again = f"; {count} that were forgotten since stay forgotten" if count else ""
    before = f"the one before it is {previous.name}. " if previous is not None else ""
    return (
        f"{path.name} is the database again{again}\n{before}Backups hold what was forgotten "
        "after they were made: delete them when you need them no more"
    )
