"""Rows of several processes on a PostgreSQL server: it is killed or stopped at once, a line to it is cut, they are killed."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from signal import SIGKILL, SIGQUIT, Signals
from statistics import median
from typing import TYPE_CHECKING

from tests.torture.row import Bound, Found, Row, Size, merge
from tests.torture.rows_kills import NOTHING, ONE_CALL, PER_KILL, found_of

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
FEW = {name: words for name, words in SHARED.items() if name != "worker3"}
"""Those of P3, and of `make test`, where a process is most of what a row costs."""
ALONE = {"one": "", "two": ""}
PIECE_S = 3_000.0

WORKS = Bound("at work", ">=", 0.5, per="faults")
"""A fault that finds nothing to do tries nothing."""
PAID = Bound("paid again", "<=", 0.2, per="faults")
"""Answers that a model gave and nobody kept. What it answers while the server is away is stored when it is back; who writes
while it thinks ends a call, which is none of these.
"""
TAKEN = (
    Bound("taken over after s, median", "<=", 5, clocked=True),
    Bound("taken over after s", "<=", 20, clocked=True),
)
"""A lease of 3 s and 2 more, half of the times; other processes of the machine take their share of it, so the figures are
told."""


async def _tried(
    folder: Path, size: Size, roles: Mapping[str, str], fault: "Fault", unit: str, each: int = PER_FAULT
) -> Found:
    from tests.torture.clusters import cluster, faults
    from tests.torture.kills import Plan

    people = PEOPLE if size.units >= PEOPLE else SOME
    plan = Plan(size.units, size.units * each, people=people, seed=size.seed, longest_s=2.0)
    async with cluster(folder, plan, roles) as one:
        found = found_of(await faults(one, folder, fault), plan, unit)
        ended = sum(len(member.home.log("interrupted")) for member in one.members)
        again = max(0, found.sums["lost calls"] - ended)
        sums = {**found.sums, "faults": size.units, "paid again": again}
        return Found(sums, {**found.most, **_times(one)}, (*found.notes, f"taken over after s: {_sorted(one.taken)}"))


def _times(one: "Cluster") -> dict[str, float]:
    times = {"answered after s": one.answered, "taken over after s": one.taken}
    most = {name: round(max(each), 1) for name, each in times.items() if each}
    return most | ({"taken over after s, median": round(median(one.taken), 1)} if one.taken else {})


def _sorted(times: list[float]) -> list[float]:
    return sorted(round(each, 1) for each in times)


async def ended(folder: Path, size: Size, how: Signals, unit: str) -> Found:
    """The server ends in that way, and comes back."""
    from tests.torture.clusters import server_ended

    return await _tried(folder, size, {"one": ""}, partial(server_ended, how=how), unit)


async def cut(folder: Path, size: Size) -> Found:
    """Of two nuan the one that answers is cut off from the server again and again, and the other stands by; then it is one
    of two workers, half of the times."""
    from tests.torture.clusters import line_cut

    found = []
    for name, roles, cuts, role in (
        ("alone", ALONE, size.units - size.units // 2, ""),
        ("shared", FEW, size.units // 2, "worker"),
    ):
        (place := folder / name).mkdir()
        found.append(await _tried(place, Size(cuts, size.seed), roles, partial(line_cut, role=role), "cuts"))
    return merge(found)


async def killed(folder: Path, size: Size) -> Found:
    """Three workers, or in `make test` two, and two gateways are killed at random."""
    from tests.torture.clusters import process_killed

    return await _tried(folder, size, SHARED if size.units >= PEOPLE else FEW, process_killed, "kills", PER_KILL)


ROWS: tuple[Row, ...] = (
    Row(
        "P1",
        "The PostgreSQL server is killed",
        "20 SIGKILLs under load: 0 lost, 0 twice, nuan goes on by itself",
        "kills",
        20,
        0,
        0,
        PIECE_S,
        (*NOTHING, WORKS, PAID),
        partial(ended, how=SIGKILL, unit="kills"),
        (
            "test_postgres.py::test_connections_that_the_server_ended_are_made_anew_and_nothing_is_lost",
            "test_postgres.py::test_what_became_of_a_commit_is_asked_until_the_server_is_back",
            "test_cut_lines.py::test_what_a_crash_lost_is_not_taken_for_stored_when_another_got_its_number",
        ),
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
        (*NOTHING, WORKS, PAID),
        partial(ended, how=SIGQUIT, unit="stops"),
        ("test_postgres.py::test_connections_that_the_server_ended_are_made_anew_and_nothing_is_lost",),
    ),
    Row(
        "P3",
        "Cut off from the PostgreSQL server",
        "50 cuts, half of them of one of two workers, shorter and longer than the lease: 0 lost, 0 twice, another takes over",
        "cuts",
        50,
        0,
        25,
        PIECE_S,
        (*NOTHING, WORKS, *TAKEN),
        cut,
        (
            "test_chat_leases.py::test_a_connection_that_hangs_in_a_transaction_of_a_dead_process_holds_nobody_up",
            "test_chat_leases.py::test_with_leases_lost_at_any_statement_nobody_stores_what_another_may",
        ),
    ),
    Row(
        "S13",
        "Several workers, PostgreSQL",
        "200 kills of 3 workers and 2 gateways, 2,000 messages over both wires: 0 lost, 0 twice, order kept",
        "kills",
        200,
        2,
        50,
        PIECE_S,
        (*NOTHING, WORKS, ONE_CALL, *TAKEN),
        killed,
    ),
)
