"""The processes that work on the database, what each of them has, and how long the oldest piece of work has been due."""

from collections import defaultdict
from dataclasses import dataclass, replace

from bot.core.ports import ROLES, Role
from bot.store.engine import Repository, reads
from bot.store.schema import EVENT_QUEUE, OUTBOX_DUE, SERVER_NOW
from bot.store.transactions import Tx

SELECT_PROCESS = f"""SELECT id, boot, name, roles, started_at, until, {SERVER_NOW},
    (SELECT count(*) FROM chat_lease WHERE owner = process.id) FROM process ORDER BY id"""

LAGS = {
    "event": f"SELECT min(due_at) FROM {EVENT_QUEUE} WHERE state = 'queued'",
    "outbox": f"SELECT min(due_at) FROM {OUTBOX_DUE} WHERE state = 'pending'",
}
"""Of each queue when the oldest that waits was, or will be, due."""


@dataclass(frozen=True, slots=True)
class Process:
    """One of them, by machine and number. Instants are of the database's clock, ms: since when it works, until when
    nobody takes its place though it is not heard of, and when this was read. `leases` name what it alone does.
    """

    id: int
    boot: str
    name: str
    roles: tuple[Role, ...]
    started_at: int
    until: int
    read_at: int
    chats: int
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

    @reads
    def lags(self, tx: Tx, now: int) -> dict[str, int]:
        """For how long the oldest of each queue has been due, ms; 0 where nothing is."""
        return {queue: max(now - (tx.value(oldest) or now), 0) for queue, oldest in LAGS.items()}


def _process(
    number: int, boot: str, name: str, roles: str, started_at: int, until: int, read_at: int, chats: int
) -> Process:
    does = tuple(role for role in ROLES if role in roles.split(","))
    return Process(number, boot, name, does, started_at, until, read_at, chats)


def missing_roles(found: tuple[Process, ...]) -> tuple[Role, ...]:
    """What nobody does of those that are heard of; nothing where one does all of it alone."""
    here = [each for each in found if not each.is_late]
    return (
        ()
        if any(not each.roles for each in here)
        else tuple(role for role in ROLES if not any(role in each.roles for each in here))
    )
