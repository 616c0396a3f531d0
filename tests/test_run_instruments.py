"""`nuan run` with its page for instruments: green when both platforms are there, red when one is gone."""

import json
from collections.abc import Mapping
from pathlib import Path

import aiohttp

from bot.core.clock import SystemClock
from bot.core.ports import pause
from tests.e2e import running
from tests.fakes.openai_rules import list_of, mapping
from tests.instrumented import free_port, get
from tests.platforms import TELEGRAM, Platforms, keeps_secrets, stop
from tests.sizes import PATIENCE_S

LOOK_MS = 100


async def health(port: int) -> Mapping[str, object]:
    """What /health says, once somebody listens."""
    try:
        return mapping(json.loads((await get(port, "/health"))[1]))
    except OSError:
        return {"status": "away", "causes": []}


async def until(port: int, status: str) -> Mapping[str, object]:
    """What it says when it says that."""
    clock = SystemClock()
    last = clock.now() + PATIENCE_S * 1000
    while (told := await health(port))["status"] != status:
        assert clock.now() < last, told
        await pause(clock, LOOK_MS)
    return told


async def test_health_is_green_with_both_platforms_and_red_when_one_has_ended(tmp_path: Path) -> None:
    port = free_port()
    async with Platforms() as platforms:
        home = platforms.home(tmp_path, METRICS__ON="true", METRICS__PORT=str(port))
        async with running(home, "run") as nuan:
            await until(port, "green")
            code, body = await get(port, "/metrics")
            assert code == 200 or ".[metrics]" in body
            async with (
                aiohttp.ClientSession() as rival,
                rival.post(f"{platforms.telegram.base_url}{TELEGRAM}/getUpdates") as answer,
            ):
                assert answer.ok
            told = await until(port, "red")
            assert [(each["name"], each["why"]) for each in list_of(told["causes"])] == [
                ("telegram", "it cannot go on, the log says why")
            ]
            await stop(nuan)
        assert [(line["host"], line["port"]) for line in home.log("metrics_served")] == [("127.0.0.1", port)]
        keeps_secrets(home, nuan.output, nuan.errors, body)
