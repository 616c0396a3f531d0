"""`nuan doctor` asks the model once: whether it calls tools and counts tokens; and it pays for that."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.doctor import clock_finding, machine_findings, sqlite_finding, store_findings
from bot.cli.installation import Installation, find_installation
from bot.cli.model_checks import call_findings
from bot.config.settings import Settings
from bot.store.store import DATABASE, open_store
from tests.e2e import KEY, Home, Ran, run, with_server
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI

CALLS = "SELECT cause, chat_id, state, prompt_tokens > 0, output_tokens > 0, cost > 0 FROM call"
PRICED = {"MODEL__PRICE_INPUT": "2", "MODEL__PRICE_OUTPUT": "8"}
NOW = 1_781_226_000_000


def checks_in(asked: Asked) -> Reply:
    """Calls the tool that it is offered."""
    return Reply("", calls=(Call(asked.tool_names[0], '{"word": "warm"}'),))


def about(ran: Ran) -> dict[str, tuple[str, str]]:
    """What --json says of the call, by name."""
    assert KEY not in ran.text + ran.err
    found = json.loads(ran.text)["findings"]
    return {each["about"]: (each["state"], each["text"]) for each in found if each["about"].startswith("model.call")}


async def test_one_tiny_call_offers_a_tool_looks_for_usage_and_is_in_the_ledger(tmp_path: Path) -> None:
    async with FakeOpenAI(checks_in, key=KEY) as server:
        home = Home(tmp_path, with_server(server, **PRICED))
        ran = await run(home, "doctor", "--json")
        assert len(server.bodies) == 1
        assert server.violations == []
        assert len(server.bodies[0]) < 1_500, "it is tiny"
    told = about(ran)
    assert told["model.call.tools"] == ("ok", "fake calls the tool it is offered")
    assert told["model.call.usage"][0] == "ok"
    assert told["model.call.usage"][1].startswith("the server counts tokens: ")
    assert told["model.call.usage"][1].endswith(" CNY") or told["model.call.usage"][1].endswith(" USD")
    assert rows(home.data_folder, CALLS) == [("doctor", 0, "settled", 1, 1, 1)]
    assert ran.code == 0
    used = await run(home, "usage")
    assert "a check" in used.text


def place(folder: Path, server: FakeOpenAI, **budget: int) -> Installation:
    """An installation whose model is this server."""
    model = {"base_url": server.base_url, "name": "fake", "api_key": KEY}
    return find_installation(Settings.model_validate({"model": model, "budget": budget}), folder)


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    """What the database holds."""
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        return database.execute(sql).fetchall()


async def test_a_model_that_calls_no_tool_is_a_warning_and_no_fault(tmp_path: Path) -> None:
    async with FakeOpenAI(key=KEY) as server:
        tools, usage = await call_findings(place(tmp_path, server))
    assert (tools.about, tools.state, usage.state) == ("model.call.tools", "warn", "ok")
    assert "take a model" in tools.text


@pytest.mark.parametrize(
    ("reply", "advice", "state"),
    [
        (Reply(fault="http", status=429), "try again later", "released"),
        (Reply(fault="html200"), "--no-call leaves this out", "lost"),
        (Reply(fault="reset"), "", "lost"),
    ],
    ids=["busy", "page", "reset"],
)
async def test_a_call_that_fails_says_what_to_do_and_is_charged_as_it_should(
    tmp_path: Path, reply: Reply, advice: str, state: str
) -> None:
    async with FakeOpenAI(lambda _: reply, key=KEY) as server:
        (found,) = await call_findings(place(tmp_path, server))
        assert len(server.bodies) == 1, "it is not tried again"
    assert (found.about, found.state) == ("model.call", "fail")
    assert advice in found.text
    assert rows(tmp_path, "SELECT state FROM call") == [(state,)]


async def test_no_call_goes_beyond_a_limit(tmp_path: Path) -> None:
    async with FakeOpenAI(checks_in, key=KEY) as server:
        (found,) = await call_findings(place(tmp_path, server, day_tokens=50))
        assert server.bodies == []
    assert found.line == "! model.call: not asked: the limit day_tokens leaves no room for it"
    assert rows(tmp_path, "SELECT state FROM call") == []


async def test_beside_a_nuan_that_answers_nothing_is_written(tmp_path: Path) -> None:
    async with FakeOpenAI(checks_in, key=KEY) as server:
        installation = place(tmp_path, server)
        async with await open_store(tmp_path):
            (found,) = await call_findings(installation)
        assert server.bodies == []
    assert found.line == "✓ model.call: not asked: a nuan answers from this folder, and has asked nobody yet"


async def test_an_index_that_is_not_that_of_its_rows_is_told(tmp_path: Path) -> None:
    async with await open_store(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database, database:
        database.execute("INSERT INTO doc_text VALUES (7, 'all', 'x')")
    found = {each.about: each for each in await store_findings(tmp_path, NOW)}
    assert (found["data"].state, found["full-text index"].state) == ("ok", "warn")
    assert "1 rows are not as they should be" in found["full-text index"].text


def test_versions_of_sqlite_with_the_fault_are_told_apart() -> None:
    good = [(3, 51, 3), (3, 52, 0), (4, 0, 0), (3, 50, 7), (3, 44, 6)]
    bad = [(3, 40, 1), (3, 51, 2), (3, 50, 6), (3, 44, 5), (3, 45, 9)]
    assert [sqlite_finding(version).state for version in good] == ["ok"] * len(good)
    assert [sqlite_finding(version).state for version in bad] == ["warn"] * len(bad)


def test_a_clock_before_the_last_line_is_a_fault() -> None:
    late = clock_finding(NOW, NOW + 3_600_000)
    assert late is not None
    assert (late.state, "set the machine's clock" in late.text) == ("fail", True)
    assert clock_finding(NOW, NOW - 1) is None


def test_no_backup_and_an_old_one_are_warnings(tmp_path: Path) -> None:
    def backup() -> tuple[str, str]:
        found = machine_findings(Settings(), tmp_path, round((tmp_path / "nuan.db").stat().st_mtime * 1000) + AGE_MS)
        return next((each.state, each.text) for each in found if each.about == "backup")

    (tmp_path / "nuan.db").touch()
    assert backup()[0] == "warn"
    (tmp_path / "nuan.before-backfill-1.db").touch()
    state, text = backup()
    assert (state, "make a new one" in text) == ("warn", True)


AGE_MS = 8 * 86_400_000
