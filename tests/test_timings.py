"""Where the time of a turn went, as `.ai trace` shows it: with each turn, and for the last one."""

import re
from pathlib import Path

import pytest

from bot.core.models import Message, ModelRequest, Prompt
from bot.model.client import OpenAIModel
from tests.fakes.openai_server import FakeOpenAI
from tests.slow import SlowWorld
from tests.test_debounce import Chatty

TOLD = ("用时", "took")


def times(text: str) -> list[int]:
    """The figures of the line that tells them."""
    told = next(text[text.index(begin) :] for begin in TOLD if begin in text)
    return [int(each) for each in re.findall(r"\d+", told)]


async def test_the_last_turn_is_shown_phase_by_phase(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path, takes_ms=lambda: 2_000)
    world.talk = Chatty()
    await world.open()
    await world.write("我跟你说")
    await world.wait(5)
    await world.write(".ai trace")
    # Stored, waited, read, recalled, composed, committed, sent, model, reply stored.
    assert times(world.replies[-1]) == [0, 600, 0, 0, 0, 0, 0, 2_000, 0]
    await world.close()


async def test_an_owner_is_told_with_each_turn(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path, takes_ms=lambda: 700)
    await world.open()
    await world.write(".ai trace on")
    await world.write("今天真冷。")
    await world.wait(5)
    assert world.replies[-1].startswith("⋯")
    assert times(world.replies[-1])[7] == 700
    assert world.log.named("turn_phases")[-1]["model"] == 700
    await world.close()


async def test_after_a_restart_nobody_knows_how_long_a_turn_took(tmp_path: Path) -> None:
    world = SlowWorld(tmp_path)
    await world.open()
    await world.write("今天真冷。")
    await world.wait(5)
    await world.restart()
    await world.write(".ai trace")
    assert "用时" not in world.replies[-1]
    await world.close()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_request_tells_once_that_it_goes_out(stream: bool) -> None:
    sent: list[int] = []
    async with FakeOpenAI() as server:
        model = OpenAIModel(server.base_url, "", "fake", stream=stream)
        prompt = Prompt((), (Message("system", "小暖"), Message("user", "在吗")))
        await model.complete(ModelRequest(prompt, 100, 0.5, 9.0, on_sent=lambda: sent.append(len(server.requests))))
        await model.complete(ModelRequest(prompt, 100, 0.5, 9.0))
        await model.close()
    assert sent == [0]
