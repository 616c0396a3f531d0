"""`nuan memory export` and `import`: files out of a house and into one. Decisions are in bot/memory/carrying."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.cli.files import read_text_file, refuse_existing, write_private
from bot.cli.guarding import complain
from bot.cli.house import Place
from bot.cli.printing import bar, document, show
from bot.clock import SystemClock
from bot.errors import NuanError
from bot.memory.carrying.foreign import Imported, parse_foreign
from bot.memory.carrying.jsonl import parse_jsonl, write_jsonl
from bot.memory.carrying.markdown import write_markdown
from bot.memory.carrying.planning import make_plan
from bot.memory.carrying.reading import is_export, parse_markdown
from bot.memory.carrying.showing import plan_text, plan_told
from bot.memory.carrying.values import BadValue, reference, time_text
from bot.store.store import DATABASE, Store, open_store
from bot.types.carried import Carried, Here, Parsed, Plan
from bot.types.duration import DAY_MS

Format = Literal["both", "md", "jsonl"]
NAMES = {"jsonl": "memories.jsonl", "md": "memories.md"}


@dataclass(frozen=True, slots=True)
class Taking:
    """How files are imported. `forget` also forgets, without a question, what an edited file holds no more."""

    path: Path
    owner: str = ""
    yes: bool = False
    forget: bool = False
    dry_run: bool = False
    skip_bad: bool = False

    @property
    def asks(self) -> bool:
        """Whether somebody is asked, who must see what would change first."""
        return not (self.yes or self.dry_run)


async def export_memories(
    place: Place, path: Path | None, person: str, form: Format, *, force: bool, as_json: bool = False
) -> str:  # fmt: skip
    """Write what is remembered; a line that says what was written. Works beside a running nuan."""
    now = SystemClock().now()
    target = path or Path(f"nuan-memories-{time_text(now)[:10]}")
    ending = target.suffix.lstrip(".").lower()
    files = {ending: target} if ending in NAMES else {end: target / name for end, name in NAMES.items()}
    if form != "both":
        files = {end: file for end, file in files.items() if end == form}
    if not files:
        raise NuanError(f"{target}: a file for --format {form} ends in .{form}")
    if not force:
        for file in files.values():
            refuse_existing(file)
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        number = await find_person(store, person) if person else None
        export = await store.carrying.export(number, now)
    writers = {"jsonl": write_jsonl, "md": write_markdown}
    for end, file in files.items():
        write_private(file, writers[end](export.here.carried), force=force)
    carried = export.here.carried
    if as_json:
        return document({
            "files": [str(file) for file in files.values()], "memories": len(carried.memories),
            "conversations": len(carried.summaries), "notes": len(carried.notes), "people": len(carried.people),
            "left_out": {"forgotten": export.forgotten, "astray": export.astray, "notes": export.files},
        })  # fmt: skip
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


async def find_person(store: Store, wanted: str) -> int:
    """The person of a number, a unique name or an account (platform:id); NuanError when there is none."""
    if ":" in wanted:
        number = await store.people.by_account(wanted)
    else:
        found = await store.people.person_named(wanted)
        number = found.id if found else None
    if number is None:
        raise NuanError(f"--person: there is nobody {wanted!r}: give a number, a name that only one has or platform:id")
    return number


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an import ended, in words, and how much it took in and forgot."""

    text: str = ""
    taken: int = 0
    forgotten: int = 0


async def import_memories(
    place: Place, taking: Taking, ask: Callable[[str], bool], *, as_json: bool = False
) -> None:  # fmt: skip
    """Show what would change, ask, and carry it out in one transaction.

    NuanError, with nothing changed, for lines that cannot be read, another nuan that runs here, or a question that
    nobody is there to answer.
    """
    now, owners = SystemClock().now(), frozenset(place.settings.bot.owners)
    if not (place.data / DATABASE).exists():
        (read_files if taking.skip_bad else _readable)(taking, Here(Carried(), 0), now)  # else no house is begun
    async with await open_store(place.data, owners, read_only=taking.dry_run) as store:
        with bar("reading", quiet=as_json):
            here = await store.carrying.here()
            plan = make_plan(_readable(taking, here, now), here, store.tombstones.covers)
        if not as_json:
            show(plan_text(plan))
        elif taking.asks:
            print(plan_text(plan), file=sys.stderr)
        until = now + place.settings.memory.undo_days * DAY_MS
        outcome = await _carry_out(store, plan, taking, ask, (now, until), quiet=as_json)
    if as_json:
        done = {"dry_run": taking.dry_run, "taken": outcome.taken, "forgotten": outcome.forgotten}
        show(document(done | plan_told(plan)))
    elif outcome.text:
        show(outcome.text)


def _readable(taking: Taking, here: Here, now: int) -> Parsed:
    """What the files say, with each bad line told; NuanError unless those may be left out."""
    parsed = read_files(taking, here, now)
    for problem in parsed.problems:
        complain(f"{problem.where}: {problem.text}")
    if parsed.problems and not taking.skip_bad:
        count = len(parsed.problems)
        raise NuanError(f"{count} lines cannot be read, nothing was changed; --skip-bad takes the others")
    return parsed


async def _carry_out(
    store: Store, plan: Plan, taking: Taking, ask: Callable[[str], bool], times: tuple[int, int], *, quiet: bool
) -> Outcome:  # fmt: skip
    """What is agreed to; `times` are now and when what is forgotten cannot be taken back any more, ms."""
    if taking.dry_run:
        return Outcome()
    forget = bool(plan.forget) and _forgets(taking, ask, len(plan.forget), quiet=quiet)
    if not plan.count and not forget:
        return Outcome("nothing to change")
    if plan.count and not (taking.yes or ask(f"Take in {plan.count}?")):
        return Outcome("nothing was changed")
    now, until = times
    with bar("import", quiet=quiet) as tell:
        await store.carrying.bring_in(plan, now, until if forget else None, tell)
    gone = len(plan.forget) if forget else 0
    return Outcome(f"done: {plan.count} taken in" + (f", {gone} forgotten" if forget else ""), plan.count, gone)


def _forgets(taking: Taking, ask: Callable[[str], bool], count: int, *, quiet: bool) -> bool:
    if taking.forget:
        return True
    if not taking.yes:
        return ask(f"Forget the {count} that are not in the file any more?")
    if not quiet:
        show(f"the {count} that are not in the file any more are kept; --forget forgets them")
    return False


def read_files(taking: Taking, here: Here, now: int) -> Parsed:
    """What a file or a folder says. A folder of ours may hold both formats when they say the same."""
    if not taking.path.is_dir():
        return _read(taking, taking.path, taking.path.name, here, now)
    ours = [taking.path / name for name in NAMES.values() if (taking.path / name).is_file()]
    if ours:
        parsed = [_read(taking, path, path.name, here, now) for path in ours]
        if len(parsed) == 2 and not any(each.problems for each in parsed) and _said(parsed[0]) != _said(parsed[1]):
            raise NuanError(f"{ours[0]} and {ours[1]} differ: give the one that you edited")
        return next((each for each in parsed if each.problems), parsed[0])
    paths = sorted(path for path in taking.path.rglob("*.md") if path.is_file())
    if not paths:
        raise NuanError(f"{taking.path}: there is no .md file and no export in it")
    every = [_read(taking, path, path.relative_to(taking.path).as_posix(), here, now) for path in paths]
    return Parsed(
        Carried(memories=tuple(memory for each in every for memory in each.carried.memories)),
        tuple(line for each in every for line in each.lines),
        tuple(problem for each in every for problem in each.problems),
    )


def _said(parsed: Parsed) -> object:
    carried = parsed.carried
    return (
        sorted(carried.memories, key=lambda memory: (memory.id, memory.text)),
        sorted(carried.summaries, key=lambda each: each.id), carried.notes, carried.house,
    )  # fmt: skip


def _read(taking: Taking, path: Path, name: str, here: Here, now: int) -> Parsed:
    text = read_text_file(path)
    if path.suffix.lower() == ".jsonl":
        return parse_jsonl(text, name)
    if is_export(text):
        return parse_markdown(text, name, now)
    return parse_foreign(text, name, _whose(taking, path, here, now))


def _whose(taking: Taking, path: Path, here: Here, now: int) -> Imported:
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
            return Imported(person.accounts[0], "", now)
    known = ", ".join(account for person in here.carried.people for account in person.accounts) or "nobody yet"
    raise NuanError(f"--owner: nuan does not know {account}; it knows {known[:300]}")
