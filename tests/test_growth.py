"""What an operation on one thing costs does not grow with what everybody else said; counted, not timed."""

import asyncio
from pathlib import Path

from tests.bench.growth import OF_ALL, OPERATIONS, Cost, exponent, measure
from tests.bench.largedb import Size, make
from tests.metering import Meter
from tests.world import World

MOST = 0.2
"""The exponent of statements and steps over the size of everybody else's data (issue 26)."""

MOST_OWN = 1.1
"""That of an export and an erasure over the person's own."""

UNCOUNTED = 1_000
"""Steps that a deeper tree, or one more run of a loop, may take without that it is growth."""


def costs(folder: Path, size: Size, leaving: frozenset[str]) -> dict[str, Cost]:
    """What the operations cost in an installation of this size."""
    meter = Meter()
    asyncio.run(make(folder, size))
    with meter.watching():
        return asyncio.run(measure(folder, meter, leaving))


def growing(sizes: tuple[int, int], found: list[dict[str, Cost]], most: float) -> list[str]:
    """The operations of which the statements or the steps grow faster."""
    grown: list[str] = []
    for name in found[0]:
        statements = exponent(sizes, [each[name].statements + 10 for each in found])
        steps = exponent(sizes, [each[name].steps + UNCOUNTED for each in found])
        if max(statements, steps) > most:
            grown.append(f"{name}: {found[0][name]} → {found[1][name]}")
    return grown


def test_operations_on_one_thing_cost_the_same_among_five_times_as_many(tmp_path: Path) -> None:
    sizes = 300, 1_500
    found = [costs(tmp_path / f"{lines}", Size(lines, lines // 10, lines // 40, 100, 20), OF_ALL) for lines in sizes]
    grown = growing(sizes, found, MOST)
    assert not grown, "\n".join(grown)


def test_an_export_and_an_erasure_grow_as_what_the_person_said(tmp_path: Path) -> None:
    sizes = 100, 500
    leaving = frozenset(OPERATIONS) - {"export of one", "erase"}
    found = [costs(tmp_path / f"{own}", Size(own + 200, own // 10 + 20, 10, own, own // 10), leaving) for own in sizes]
    grown = growing(sizes, found, MOST_OWN)
    assert not grown, "\n".join(grown)


PAIRS = (("你好呀", "今天过得怎么样"), ("记住我最爱的颜色是青金石色", "忘记我最爱的颜色"))
"""What is said before, and what is counted."""


def reads_of_outbox(folder: Path, own: int) -> list[int]:
    """Steps that each message of somebody who said so many lines takes over what is to be sent or was."""

    async def answer() -> list[int]:
        meter, found = Meter(), []
        with meter.watching():
            world = await World(folder).open()
            for before, text in PAIRS:
                await world.say(before)
                meter.start()
                await world.say(text)
                asked = meter.steps.items()
                found.append(sum(steps for sql, steps in asked if "outbox" in sql or sql.startswith("UPDATE event")))
            await world.close()
        return found

    asyncio.run(make(folder, Size(own + 40, 4, 2, own, 2)))
    return asyncio.run(answer())


def test_what_waits_in_a_chat_is_found_without_reading_what_was_ever_said_there(tmp_path: Path) -> None:
    few, many = (reads_of_outbox(tmp_path / f"{own}", own) for own in (100, 800))
    assert all(most - least < 500 for least, most in zip(few, many, strict=True)), (few, many)
