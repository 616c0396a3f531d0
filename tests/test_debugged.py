"""Which tests run in asyncio's debug mode: those that are marked, and with --asyncio-debug all."""

import asyncio

import pytest

from tests.conftest import ALWAYS_DEBUGGED


@pytest.mark.debugged
async def test_a_marked_test_runs_in_debug_mode() -> None:
    assert asyncio.get_running_loop().get_debug()


async def test_any_other_runs_in_it_when_asked_for(request: pytest.FixtureRequest) -> None:
    assert asyncio.get_running_loop().get_debug() == request.config.stash[ALWAYS_DEBUGGED]


@pytest.mark.debugged
async def test_in_debug_mode_a_call_from_another_thread_is_refused() -> None:
    loop = asyncio.get_running_loop()
    with pytest.raises(RuntimeError, match="Non-thread-safe"):
        await asyncio.to_thread(loop.call_soon, print)
