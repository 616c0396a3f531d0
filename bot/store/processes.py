"""The processes that work on the database, what each of them has, and how long the oldest piece of work has been due."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from bot.core.ports import ROLES, Role
from bot.store.engine import Repository, reads, writes
from bot.store.schema import EVENT_QUEUE, OUTBOX_DUE, SERVER_NOW
from bot.store.transactions import Tx

SELECT_PROCESS = f"""SELECT id, boot, name, roles, started_at, until, {SERVER_NOW},
    (SELECT count(*) FROM chat_lease WHERE owner = process.id), settings FROM process ORDER BY id"""

SIGNED_CHARS = 16
"""Of the signature of a value that a process works by."""

CLOCKS_MS = 2_000
"""By how much the clock of a process and the database's may differ before somebody is told."""

LAGS = {
    "event": f"SELECT min(due_at) FROM {EVENT_QUEUE} WHERE state = 'queued'",
    "outbox": f"SELECT min(due_at) FROM {OUTBOX_DUE} WHERE state = 'pending'",
    "reminder": "SELECT min(due_at) FROM reminder WHERE ended_at IS NULL",
}
"""Of each queue when the oldest that waits was, or will be, due."""


_CONNECTION = re.compile(r"(?P<platform>\w+)( (?P<first>\d+)(-(?P<last>\d+))?/(?P<count>\d+))?")
"""The lease of a platform's connection, with the shards that are its."""


@dataclass(frozen=True, slots=True)
class Process:
    """One of them, by machine and number. Instants are of the database's clock, ms: since when it works, until when
    nobody takes its place though it is not heard of, and when this was read. `leases` name what it alone does, `settings`
    are the signatures of what it works by; None: it has not told them.
    """

    id: int
    boot: str
    name: str
    roles: tuple[Role, ...]
    started_at: int
    until: int
    read_at: int
    chats: int
    settings: Mapping[str, str] | None = None
    leases: tuple[str, ...] = ()

    @property
    def is_late(self) -> bool:
        """Whether it is cut off, or dead: whoever notices takes its place."""
        return self.until < self.read_at

    def silent_ms(self, lease_seconds: float) -> int:
        """How long ago it was heard of, by that `store.lease_seconds`."""
        return max(self.read_at - self.until + round(lease_seconds * 1000), 0)


class Processes(Repository):
    """Who works on the database."""

    @reads
    def all(self, tx: Tx) -> tuple[Process, ...]:
        """The longest there first; none of a file, which is for one process that does everything."""
        leases = defaultdict[int, list[str]](list)
        for owner, name in tx.all("SELECT owner, name FROM lease WHERE owner IS NOT NULL ORDER BY name"):
            leases[owner].append(name)
        found = tx.all(SELECT_PROCESS, to=_process)
        return tuple(replace(each, leases=tuple(leases[each.id])) for each in found)

    @writes
    def tell_settings(self, tx: Tx, values: Mapping[str, str]) -> None:
        """This process works by these values. They are signed by the key of the installation, which no backup holds."""
        sign = tx.files.tombstones.sign
        signed = {key: sign(sha256(value.encode()).hexdigest())[:SIGNED_CHARS] for key, value in values.items()}
        tx.run("UPDATE process SET settings = ? WHERE boot = ?", json.dumps(signed), tx.boot)

    async def clock_ahead(self, now: Callable[[], int]) -> int:
        """How far the clock of `now` is ahead of the database's, ms; negative: behind. The time that asking takes is
        nobody's fault."""
        before = now()
        there = await self._server_now()
        return max(before - there, 0) + min(now() - there, 0)

    @reads
    def _server_now(self, tx: Tx) -> int:
        return tx.number(f"SELECT {SERVER_NOW}")

    @reads
    def lags(self, tx: Tx, now: int) -> dict[str, int]:
        """For how long the oldest of each queue has been due, ms; 0 where nothing is."""
        return {queue: max(now - (tx.value(oldest) or now), 0) for queue, oldest in LAGS.items()}


def _process(
    number: int,
    boot: str,
    name: str,
    roles: str,
    started_at: int,
    until: int,
    read_at: int,
    chats: int,
    settings: str,
) -> Process:
    does = tuple(role for role in ROLES if role in roles.split(","))
    told = json.loads(settings) if settings else None
    return Process(number, boot, name, does, started_at, until, read_at, chats, told)


def missing_roles(found: tuple[Process, ...]) -> tuple[Role, ...]:
    """What nobody does of those that are heard of; nothing where one does all of it alone."""
    here = [each for each in found if not each.is_late]
    return (
        ()
        if any(not each.roles for each in here)
        else tuple(role for role in ROLES if not any(role in each.roles for each in here))
    )


def different_settings(found: Iterable[Process]) -> Iterator[tuple[Process, Process, list[str]]]:
    """Who works by other settings than the one that is longest there, that one, and the keys in which they differ."""
    first = None
    for each in found:
        if each.settings is None or each.is_late:
            continue
        first = first or each
        ours, theirs = first.settings or {}, each.settings
        if keys := sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)):
            yield each, first, keys


def shard_faults(found: Iterable[Process]) -> Iterator[str]:
    """A line for each thing that is wrong with the shards that gateways have, by their leases."""
    held = defaultdict[str, dict[int, Counter[int]]](dict)
    names = {name for each in found if not each.is_late for name in each.leases}
    for match in filter(None, map(_CONNECTION.fullmatch, sorted(names))):
        first, count = int(match["first"] or 0), int(match["count"] or 1)
        shards = held[match["platform"]].setdefault(count, Counter())
        shards.update(range(first, int(match["last"] or first) + 1))
    for platform, counts in held.items():
        if len(counts) > 1:
            told = ", ".join(map(str, sorted(counts)))
            yield f"gateways say different numbers of {platform}'s shards ({told}): stop them, and give all the same"
            continue
        [(count, shards)] = counts.items()
        if missing := [shard for shard in range(count) if not shards[shard]]:
            yield (
                f"no gateway has {platform}'s shards {_ranges(missing)} of {count}, so nobody is heard there: start "
                f"`nuan run --role gateway --shards {_ranges(missing[:1])}/{count}`, or with a range of them"
            )
        if twice := [shard for shard in range(count) if shards[shard] > 1]:
            yield f"several gateways have {platform}'s shards {_ranges(twice)} of {count}: give each of them its own"


def _ranges(numbers: list[int]) -> str:
    """Rising numbers as people write them: 0-3, 7."""
    begins = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(begins, ends, strict=True))
