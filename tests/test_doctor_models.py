"""`nuan doctor` about the models: each one that is configured, what is known of it, what it costs, what it cannot."""

from pathlib import Path

from bot.cli.model_checks import abilities
from bot.config.settings import Settings
from bot.pipeline.endpoints import endpoint_of
from tests.dialects import URLS
from tests.e2e import KEY, Home, run, with_server
from tests.fakes.openai_server import FakeOpenAI

RULES = """[[capabilities]]
models = ["fake"]
provider = "mine"
cache = "exact"
marks = "breakpoint"
cache_min_tokens = 1024
cache_life_seconds = 1800
cached_ratio = 0.1
written_ratio = 1.25
"""
OTHERS = ("configuration", "proxies", "data", "platforms", "clock", "disk", "sqlite", "backup")
AWAY = "http://127.0.0.1:9/v1"


async def examined(home: Home) -> list[str]:
    """What it says of models and media."""
    ran = await run(home, "doctor", "--no-call")
    assert ran.err == ""
    assert KEY not in ran.text
    return [line for line in ran.text.splitlines() if line[2:].split(":")[0] not in OTHERS]


async def test_every_model_is_told_with_what_is_known_of_it_and_its_prices(tmp_path: Path) -> None:
    (tmp_path / "nuan.toml").write_text(RULES, "utf-8")
    async with FakeOpenAI(key=KEY) as server, FakeOpenAI() as other:
        more = {
            "FALLBACK__NAME": "fake-2",
            "FALLBACK__BASE_URL": other.base_url,
            "SMALL__NAME": "fake",
            "SECOND_FALLBACK__NAME": "x",
            "SECOND_FALLBACK__BASE_URL": AWAY,
            "BUDGET__CURRENCY": "CNY",
            "MODEL__PRICE_INPUT": "2",
            "MODEL__PRICE_OUTPUT": "8",
        }
        said = await examined(Home(tmp_path, with_server(server, **more)))
        assert server.bodies + other.bodies == [], "asking costs nothing"
    known = "known as mine, cache exact from 1024 tokens, kept about 1800 s, marked with breakpoints"
    assert [line for line in said if not line.startswith("✗ second_fallback")] == [
        f"✓ model: {server.base_url} can be reached",
        f"✓ model: {known}",
        "✓ model: a million tokens cost 2 in, 0.2 cached, 2.5 written, 8 out CNY",
        f"✓ fallback: {other.base_url} can be reached",
        "✓ fallback: known as plain, cache none from 0 tokens, no marks",
        "✓ fallback: a million tokens cost 0 in, 0 cached, 0 written, 0 out CNY",
        "✗ fallback.name: the server does not list 'fake-2' among its 1 models",
        f"✓ small: {server.base_url} can be reached",
        f"✓ small: {known}",
        "✓ small: a million tokens cost 0 in, 0 cached, 0 written, 0 out CNY",
    ]
    (away,) = (line for line in said if line.startswith("✗ second_fallback"))
    assert away.startswith(f"✗ second_fallback: {AWAY} does not work")
    assert away.endswith("check second_fallback.base_url and second_fallback.proxy")


async def test_models_that_cannot_see_or_hear_and_prices_that_nobody_knows_are_told() -> None:
    """Told of a server elsewhere, which the test does not ask."""
    model = {"base_url": URLS["unknown"], "name": "m", "api_key": "k"}
    blind = [{"models": ["blind*"], "vision": False, "transcription": False, "speech": False}]
    settings = Settings.model_validate(
        {
            "model": model,
            "capabilities": blind,
            "media": {"images": "blind-1", "voice": "blind-2"},
            "voice": {"model": "blind-3"},
        }
    )
    assert told(settings) == [
        "✓ model: known as plain, cache none from 0 tokens, no marks",
        "! model: what it costs is not known, so money is not counted: set model.price_input and model.price_output",
        "✗ media.images: plain is not known to have such models; leave it empty",
        "✗ media.voice: plain is not known to have such models; leave it empty",
        "✗ voice.model: plain is not known to have such models; leave it empty",
    ]
    free = {**model, "price_input": 0, "price_output": 0}
    assert told(Settings.model_validate({"model": free, "media": {"images": "m", "voice": "m"}}))[1:] == [
        "✓ model: a million tokens cost 0 in, 0 cached, 0 written, 0 out USD"
    ]


def told(settings: Settings) -> list[str]:
    """The lines about the first model that need no server."""
    found = abilities(settings, "model", endpoint_of(settings, settings.model), settings.model)
    return [each.line for each in found]
