"""How long a session may be silent and how large its log may grow: by the provider's cache, unless the operator says.

Log sizes by hand from PROMPT_ECONOMICS section 5 with W 600, d 300, tau .25, K 800, a warm prefix:
n* = sqrt(2 ((w - r) 600 + 800) / (r 1.25 300)), L* = 600 + 300 n*, to the next 500, 4,500 to 12,000.
"""

from pathlib import Path

from bot.config.settings import Settings
from bot.config.sources import load
from bot.core.models import Capabilities
from bot.pipeline.endpoints import with_provider_defaults
from bot.session import best_idle_seconds, best_log_tokens
from tests.dialects import URLS
from tests.tables import all_cases


def suited(provider: str, name: str, **session: int) -> Settings:
    """The settings of an installation whose model is that one."""
    model = {"base_url": URLS[provider], "name": name, "api_key": "k"}
    return with_provider_defaults(Settings.model_validate({"model": model, "session": session}))


@all_cases(
    ("provider", "name", "idle", "log", "warm"),
    [
        # r .10, w 1: sqrt(2680 / 37.5) = 8.45, 3,136; kept a day, but a pause of six hours ends a talk
        ("openai", "gpt-5.5", 21_600, 4_500, 86_400),
        # r .50: sqrt(2200 / 187.5) = 3.43, 1,628
        ("openai", "gpt-4o", 21_600, 4_500, 86_400),
        # r .10, w 1.25: sqrt(2980 / 37.5) = 8.91, 3,274
        ("openai", "gpt-5.6-terra", 1_800, 4_500, 1_800),
        # r .05, w 1.25: sqrt(3040 / 18.75) = 12.73, 4,420
        ("openai", "gpt-6.1-sol", 1_800, 4_500, 1_800),
        # r .02, w 1: sqrt(2776 / 7.5) = 19.24, 6,372
        ("deepseek", "deepseek-v4-flash", 21_600, 6_500, 21_600),
        # r .033, w 1: sqrt(2760.4 / 12.375) = 14.94, 5,081
        ("deepseek", "deepseek-v4-pro", 21_600, 5_000, 21_600),
        # Anthropic's rules through a gateway: kept five minutes, but ten are the same talk
        ("openrouter", "anthropic/claude-sonnet-5.5", 600, 4_500, 300),
        ("anthropic", "claude-sonnet-5.5", 1_800, 6_000, 0),
        ("unknown", "some-model", 1_800, 6_000, 300),
    ],
)
def test_idle_life_and_log_size_follow_the_cache_and_its_prices(
    provider: str, name: str, idle: int, log: int, warm: int
) -> None:
    settings = suited(provider, name)
    assert (settings.session.idle_seconds, settings.session.log_tokens) == (idle, log)
    assert settings.prompt.warm_seconds == warm


def test_what_the_operator_set_is_never_changed(tmp_path: Path) -> None:
    kept = suited("deepseek", "deepseek-v4-flash", idle_seconds=1800, log_tokens=6000).session
    assert (kept.idle_seconds, kept.log_tokens) == (1800, 6000), "though these are the defaults"
    (tmp_path / "nuan.toml").write_text(
        f'[model]\nbase_url = "{URLS["deepseek"]}"\nname = "deepseek-v4-flash"\napi_key = "k"\n'
        "[session]\nidle_seconds = 900\n",
        "utf-8",
    )
    read = with_provider_defaults(load(tmp_path / "nuan.toml", {"NUAN_PROMPT__WARM_SECONDS": "77"}))
    assert (read.session.idle_seconds, read.session.log_tokens, read.prompt.warm_seconds) == (900, 6_500, 77)


def test_without_a_server_the_defaults_hold() -> None:
    offline = with_provider_defaults(Settings())
    assert (offline.session.idle_seconds, offline.session.log_tokens, offline.prompt.warm_seconds) == (1800, 6000, 300)


def test_odd_prices_of_a_rule_stay_within_bounds() -> None:
    free, dear = Capabilities(cached_ratio=0.0), Capabilities(cached_ratio=1.0, written_ratio=0.0)
    assert best_log_tokens(free, 6_000) == 6_000
    assert best_log_tokens(dear, 6_000) == 4_500
    assert best_log_tokens(Capabilities(cached_ratio=0.002), 6_000) == 12_000
    assert best_log_tokens(Capabilities(cached_ratio=1e-320), 6_000) == 6_000
    assert best_idle_seconds(Capabilities(cache_life_seconds=1), 9) == 600
