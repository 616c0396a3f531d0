"""When a model is left alone: after three failing calls, for 15 s, doubled by each probe that fails, at most 5 min."""

from dataclasses import dataclass, field
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelError, ModelFault
from bot.model.pool import CircuitBreaker
from tests.tables import all_cases

DOWN = ModelError("unreachable", "down")
LIMITED = ModelError("busy", "HTTP 429", limited=True)
FINAL = ModelError("cut", "the answer reached max_tokens", final=True)


def broken(times: int = 3, now: int = 0) -> CircuitBreaker:
    """After so many failures in a row; each after the third is that of a probe."""
    breaker = CircuitBreaker()
    for _ in range(times):
        breaker = breaker.begun().failed(DOWN, now, probe=not breaker.closed)
    return breaker


def test_two_failures_change_nothing_the_third_begins_a_rest_of_fifteen_seconds() -> None:
    for times in (0, 1, 2):
        assert broken(times).closed
        assert broken(times).allows(0)
    breaker = broken(3, now=1_000)
    assert not breaker.closed
    assert not breaker.allows(1_000)
    assert not breaker.allows(15_999)
    assert breaker.allows(16_000)


@all_cases(
    ("probes", "rest_ms"),
    [(0, 15_000), (1, 30_000), (2, 60_000), (3, 120_000), (4, 240_000), (5, 300_000), (6, 300_000), (900, 300_000)],
)
def test_each_probe_that_fails_doubles_the_rest_up_to_five_minutes(probes: int, rest_ms: int) -> None:
    breaker = broken(3 + probes, now=500)
    assert not breaker.allows(500 + rest_ms - 1)
    assert breaker.allows(500 + rest_ms)


def test_one_probe_alone_and_its_success_ends_the_rest() -> None:
    probing = broken().begun()
    assert not probing.allows(10**9)
    assert probing.worked() == CircuitBreaker()
    assert probing.ended(probe=True).allows(10**9), "a probe that was cancelled frees the place"


def test_a_success_in_between_begins_the_count_anew() -> None:
    breaker = broken(2).worked()
    assert breaker.failed(DOWN, 0, probe=False).failed(DOWN, 0, probe=False).closed


@pytest.mark.parametrize("error", [LIMITED, FINAL, ModelError("overflow", ""), ModelError("filtered", "")])
def test_rate_limits_and_questions_that_no_model_takes_say_nothing(error: ModelError) -> None:
    assert broken(2).failed(error, 0, probe=False) == broken(2)
    probing = broken().begun()
    assert probing.failed(error, 99_000, probe=True) == broken(), "the probe is over, the rest as long as before"


def test_calls_that_were_under_way_when_the_rest_began_do_not_lengthen_it() -> None:
    breaker = broken(now=0)
    for _ in range(47):
        breaker = breaker.failed(DOWN, 3_000, probe=False)
    assert breaker.allows(15_000)
    probing = breaker.begun()
    assert not probing.failed(DOWN, 15_001, probe=False).allows(10**9), "nor do they free the probe's place"
    assert not probing.ended(probe=False).allows(10**9)


@dataclass
class Model:
    """The same by hand: a list of what happened."""

    row: int = 0
    until: int = 0
    rest: int = 0
    probe: int = 0
    flying: list[bool] = field(default_factory=list)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("begin", "works", "fails", "limited", "cancelled", "waits")),
        st.integers(0, 5),
        st.sampled_from(get_args(ModelFault)),
        st.integers(0, 400_000),
    ),
    max_size=60,
)


@given(STEPS)
def test_whatever_happens_at_most_one_probe_and_never_longer_than_five_minutes(
    steps: list[tuple[str, int, ModelFault, int]],
) -> None:
    breaker, now, model = CircuitBreaker(), 0, Model()
    for what, which, fault, ms in steps:
        if what == "waits":
            now += ms
        elif what == "begin":
            may = model.row < 3 or (now >= model.until and not model.probe)
            assert breaker.allows(now) == may
            if may:
                model.flying.append(model.row >= 3)
                model.probe += model.row >= 3
                breaker = breaker.begun()
        elif model.flying:
            probe = model.flying.pop(which % len(model.flying))
            model.probe -= probe
            neutral = what in ("limited", "cancelled") or fault in ("overflow", "filtered")
            if what == "works":
                model.row = 0
                model.flying = [False for _ in model.flying]
                model.probe = 0
                breaker = breaker.worked()
            elif what == "cancelled":
                breaker = breaker.ended(probe=probe)
            else:
                breaker = breaker.failed(ModelError(fault, "", limited=what == "limited"), now, probe=probe)
                if not neutral and (model.row < 3 or probe):
                    model.row += 1
                    model.rest = 15_000 if model.row <= 3 else min(model.rest * 2, 300_000)
                    model.until = now + model.rest
        assert model.probe <= 1
        assert breaker.closed == (model.row < 3)
        assert breaker.rests_until <= now + 300_000
