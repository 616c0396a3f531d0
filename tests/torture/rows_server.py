"""Rows of several processes on a PostgreSQL server: it is killed or stopped at once, a line to it is cut, they are killed."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from signal import SIGKILL, SIGQUIT, Signals
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size
from tests.torture.rows_kills import NOTHING, PER_KILL, found_of

if TYPE_CHECKING:
    from tests.torture.clusters import Cluster, Fault

PER_FAULT = 25
"""Messages that people write for each fault of the server or a line."""
PEOPLE, SOME = 16, 4
"""Who write, half of them on either platform; in `make test`."""
SHARED = {
    **dict.fromkeys(("gateway1", "gateway2"), "--role gateway"),
    **dict.fromkeys(("worker1", "worker2", "worker3"), "--role worker"),
    "janitor": "--role janitor",
}
PIECE_S = 3_000.0

WORKS = Bound("at work", ">=", 0.5, per="faults")
"""A fault that finds nothing to do tries nothing."""
LOST = Bound("lost calls", "<=", 1, per="faults")
"""What a model answers while the server is away is kept until it is back."""
TAKEN = Bound("taken over after s", "<=", 15)
"""A lease of 3 s and 2 more are wanted; other processes of the machine take their share of it, so the figure is told."""


async def _tried(
    folder: Path, size: Size, roles: Mapping[str, str], fault: "Fault", unit: str, each: int = PER_FAULT
) -> Found:
    from tests.torture.clusters import cluster, faults
    from tests.torture.kills import Plan

    people = PEOPLE if size.units >= PEOPLE else SOME
    plan = Plan(size.units, size.units * each, people=people, seed=size.seed, longest_s=2.0)
    async with cluster(folder, plan, roles) as one:
        found = found_of(await faults(one, folder, fault), plan, unit)
        return replace(found, sums={**found.sums, "faults": size.units}, most={**found.most, **_times(one)})


def _times(one: "Cluster") -> dict[str, float]:
    times = {"answered after s": one.answered, "taken over after s": one.taken}
    return {name: round(max(each), 1) for name, each in times.items() if each}


async def ended(folder: Path, size: Size, how: Signals, unit: str) -> Found:
    """The server ends in that way, and comes back."""
    from tests.torture.clusters import server_ended

    return await _tried(folder, size, {"one": ""}, partial(server_ended, how=how), unit)


async def cut(folder: Path, size: Size) -> Found:
    """Of two nuan the one that answers is cut off from the server again and again; the other stands by."""
    from tests.torture.clusters import line_cut

    return await _tried(folder, size, {"one": "", "two": ""}, line_cut, "cuts")


async def killed(folder: Path, size: Size) -> Found:
    """Three workers and two gateways are killed at random."""
    from tests.torture.clusters import process_killed

    return await _tried(folder, size, SHARED, process_killed, "kills", PER_KILL)


ROWS: tuple[Row, ...] = (
    Row(
        "P1",
        "The PostgreSQL server is killed",
        "20 SIGKILLs under load: 0 lost, 0 twice, nuan goes on by itself",
        "kills",
        20,
        1,
        0,
        PIECE_S,
        (*NOTHING, WORKS, LOST),
        partial(ended, how=SIGKILL, unit="kills"),
    ),
    Row(
        "P2",
        "The PostgreSQL server is stopped at once",
        "5 immediate stops under load: 0 lost, 0 twice, nuan goes on by itself",
        "stops",
        5,
        0,
        0,
        PIECE_S,
        (*NOTHING, WORKS, LOST),
        partial(ended, how=SIGQUIT, unit="stops"),
        ("test_rows_server.py::test_in_short",),
    ),
)
