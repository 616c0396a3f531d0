"""What tokens cost: the operator's own prices, then the public table, then nothing; limits need to know."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.config.models import ModelServer
from bot.config.settings import Settings
from bot.core.models import Capabilities, Price
from bot.money import public_rate, rate_of
from bot.pipeline.endpoints import make_pool, price_problems, vision_rate
from tests.dialects import URLS
from tests.e2e import ROOT, Home, run
from tests.tables import all_cases

NOW = round(datetime(2026, 11, 20, 4, tzinfo=UTC).timestamp() * 1000)
NIGHT = round(datetime(2026, 11, 20, 17, tzinfo=UTC).timestamp() * 1000)
TABLE = Price(2.0, 0.2, 8.0, 2.5)
HALF = Capabilities(cached_ratio=0.5, written_ratio=1.25)


def price(public: bool = True, can: Capabilities = HALF, **own: float) -> Price:
    """What a model with these own prices costs."""
    return rate_of(ModelServer(**own), can, (lambda _: TABLE) if public else None)(NOW)  # type: ignore[arg-type]


def given(provider: str = "openai", name: str = "gpt-4o", **more: dict[str, object]) -> Settings:
    """An installation with that model."""
    model = {"base_url": URLS.get(provider, provider), "name": name, "api_key": "k", **more.pop("model", {})}
    return Settings.model_validate({"model": model, **more})


def cost_of(settings: Settings) -> Price:
    """What its first model costs now."""
    return make_pool(settings, lambda _: Path()).first.rate(NOW)


def test_own_prices_come_before_the_table_one_by_one() -> None:
    assert price() == TABLE
    assert price(price_output=1.0) == Price(2.0, 0.2, 1.0, 2.5)
    assert price(price_cached=1.0) == Price(2.0, 1.0, 8.0, 2.5)
    assert price(price_written=1.0) == Price(2.0, 0.2, 8.0, 1.0)
    assert price(price_input=0.0, price_output=0.0) == Price(0.0, 0.0, 0.0, 0.0), "free is a price"


def test_with_an_own_price_of_input_the_providers_ratios_hold_and_not_the_tables_prices() -> None:
    assert price(price_input=4.0) == Price(4.0, 2.0, 8.0, 5.0)
    assert price(price_input=4.0, can=Capabilities()) == Price(4.0, 4.0, 8.0, 4.0), "no ratio: as plain input"
    assert price(price_input=4.0, price_cached=0.1, price_written=0.0) == Price(4.0, 0.1, 8.0, 0.0)
    assert price(public=False, price_input=4.0, price_output=9.0) == Price(4.0, 2.0, 9.0, 5.0)
    assert price(public=False) == Price(0.0, 0.0, 0.0, 0.0)


def test_the_public_table_knows_public_models_on_their_own_servers_only() -> None:
    known = public_rate(URLS["openai"], "gpt-4o", 1.0, NOW)
    assert known is not None
    assert known(NOW) == Price(2.5, 1.25, 10.0, 2.5)
    old = public_rate(URLS["openai"], "gpt-4", 1.0, NOW, Capabilities(cached_ratio=0.5, written_ratio=1.25))
    assert old is not None
    assert (old(NOW).cached, old(NOW).written) == (old(NOW).input * 0.5, old(NOW).input * 1.25), "the table is silent"
    assert public_rate(URLS["openai"], "no-such-model-9", 1.0, NOW) is None
    assert public_rate(URLS["unknown"], "gpt-4o", 1.0, NOW) is None


def test_deepseek_costs_more_at_its_busy_hours() -> None:
    rate = public_rate(URLS["deepseek"], "deepseek-v4-flash", 1.0, NOW)
    assert rate is not None
    hours = [rate(NIGHT - (17 - hour) * 3_600_000) for hour in range(24)]
    dear, cheap = max(hours, key=lambda each: each.input), min(hours, key=lambda each: each.input)
    assert dear.input == pytest.approx(2 * cheap.input)
    assert dear.output == pytest.approx(2 * cheap.output)
    assert 0 < cheap.cached < cheap.input / 10


def test_another_currency_needs_to_know_what_a_dollar_is_worth() -> None:
    assert cost_of(given()).input == 2.5
    assert cost_of(given(budget={"currency": "CNY", "usd_rate": 7.0})) == Price(17.5, 8.75, 70.0, 17.5)
    assert cost_of(given(budget={"currency": "CNY"})) == Price(0.0, 0.0, 0.0, 0.0)
    own: dict[str, object] = {"price_input": 3.0, "price_output": 4.0}
    assert cost_of(given(budget={"currency": "CNY", "usd_rate": 7.0}, model=own)).input == 3.0
    assert cost_of(given(budget={"currency": "USD", "usd_rate": 7.0})).input == 2.5, "a dollar is a dollar"


@pytest.mark.parametrize("server", ["http://localhost:11434/v1", "http://127.0.0.1:1/v1", "http://[::1]:8000/v1"])
def test_a_model_on_this_machine_is_free_whatever_its_name(server: str) -> None:
    settings = given(server, budget={"day_money": 1.0})
    assert cost_of(settings) == Price(0.0, 0.0, 0.0, 0.0)
    assert price_problems(settings) == ()


def test_pictures_cost_what_their_own_model_costs() -> None:
    rate = vision_rate(given(media={"images": "gpt-4o-mini"}))
    assert rate is not None
    assert rate(NOW).input == 0.15
    assert vision_rate(given()) is None
    assert vision_rate(given(media={"images": "no-such-model-9"})) is None
    own = given(media={"images": "gpt-4o"}, model={"price_input": 99.0, "price_output": 99.0})
    assert vision_rate(own) is None, "of the model itself its own prices hold"


@all_cases(
    ("settings", "told"),
    [
        (given(), []),
        (given(budget={"day_money": 1.0}), []),
        (given(name="no-9", budget={"day_tokens": 1}), []),
        (given(name="no-9", budget={"day_money": 1.0}), ["budget.day_money: needs model.price_input and model"]),
        (
            given(
                "http://[::1]:1/v1", budget={"month_money": 1.0}, fallback={"base_url": URLS["openai"], "name": "no-9"}
            ),
            ["budget.month_money: needs fallback.price_input"],
        ),
        (given(budget={"total_money": 1.0}, small={"name": "no-9"}), ["budget.total_money: needs small.price_input"]),
        (given(budget={"chat_day_money": 1.0}, second_fallback={"base_url": "http://localhost:1/v1", "name": "x"}), []),
        (given(name="no-9", model={"price_input": 1.0}), ["model.price_output: missing; another price is set"]),
        (
            given(name="no-9", model={"price_cached": 1.0}),
            ["model.price_input: missing; another", "model.price_output: missing; another"],
        ),
        (given(fallback={"name": "no-9", "price_input": 1.0}), ["fallback.price_output: missing; another"]),
        (given(model={"price_output": 1.0}), []),
    ],
)
def test_what_is_not_known_of_prices_is_told_where_it_matters(settings: Settings, told: list[str]) -> None:
    found = price_problems(settings)
    assert len(found) == len(told)
    assert all(problem.startswith(start) for problem, start in zip(found, told, strict=True))


def test_a_missing_rate_of_the_currency_is_told() -> None:
    (problem,) = price_problems(given(budget={"day_money": 1.0, "currency": "CNY"}))
    assert problem.endswith("or budget.usd_rate is missing")


async def test_a_limit_in_money_without_prices_ends_nuan_with_one_line(tmp_path: Path) -> None:
    home = Home(
        tmp_path,
        {"MODEL__BASE_URL": URLS["unknown"], "MODEL__NAME": "m", "MODEL__API_KEY": "k", "BUDGET__DAY_MONEY": "1"},
    )
    ran = await run(home, "chat", stdin="你好\n".encode())
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == (
        "nuan: budget.day_money: needs model.price_input and model.price_output: the public table does not know 'm'\n"
    )


def test_of_a_model_on_this_machine_the_table_is_not_even_loaded() -> None:
    """It takes .2 s and 30 MB."""
    code = (
        "import sys; from pathlib import Path; from bot.pipeline.endpoints import make_pool, price_problems\n"
        "from bot.config.settings import Settings\n"
        "model = {'base_url': 'http://localhost:11434/v1', 'name': 'gpt-4o'}\n"
        "settings = Settings.model_validate({'model': model, 'budget': {'day_money': 1}})\n"
        "make_pool(settings, lambda _: Path()), price_problems(settings)\n"
        "print('genai_prices' in sys.modules)"
    )
    ran = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "False\n"
