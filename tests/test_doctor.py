"""`nuan doctor` as a process: what it finds, what it tells to do, and its exit code."""

import asyncio
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.store.store import DATABASE, open_store
from tests.e2e import Home, Ran, run
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import FakeTelegram
from tests.fakes.telegram_shapes import Params

TELEGRAM = "7700000051:AAmadeupmadeupmadeupmadeupmadeup-51"
DISCORD = "made-up.discord.token-of-test-doctor"


MACHINE = ("clock", "disk", "sqlite", "backup")


class Hooked(FakeTelegram):
    """A bot whose messages go to a web server."""

    async def _call(self, method: str, params: Params) -> object:
        if method.lower() == "getwebhookinfo":
            return {"url": "https://hook.example/x", "has_custom_certificate": False, "pending_update_count": 3}
        return await super()._call(method, params)


def settings(telegram: str, discord: str, tokens: tuple[str, str] = (TELEGRAM, DISCORD)) -> dict[str, str]:
    """Both platforms at these addresses."""
    return {
        "TELEGRAM__TOKEN": tokens[0],
        "TELEGRAM__BASE_URL": telegram,
        "DISCORD__TOKEN": tokens[1],
        "DISCORD__API_URL": discord,
    }


def lines(ran: Ran) -> list[str]:
    """What it printed, but of the machine; no warning of a library, no trace and no token among it."""
    assert ran.err == ""
    assert TELEGRAM not in ran.text
    assert TELEGRAM.partition(":")[2] not in ran.text
    assert DISCORD not in ran.text
    return [line for line in ran.text.splitlines() if line[2:].split(":")[0] not in MACHINE]


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address at which nobody listens, nor will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


async def leave_messages(folder: Path) -> None:
    """A database with a message of unknown fate, two refused ones and one that waits."""
    async with await open_store(folder):
        pass
    with closing(sqlite3.connect(folder / DATABASE)) as database, database:
        database.executemany(
            "INSERT INTO outbox (chat_id, kind, text, state, due_at) VALUES (1, 'reply', '悄悄话', ?, 0)",
            [("unknown",), ("failed",), ("failed",), ("pending",), ("sent",)],
        )


async def test_all_is_well_with_good_tokens_and_messages_of_unknown_fate_are_shown(tmp_path: Path) -> None:
    home = Home(tmp_path)
    await leave_messages(home.data_folder)
    files = home.written()
    async with FakeTelegram(TELEGRAM) as telegram, FakeDiscord(DISCORD) as discord:
        home.settings = settings(telegram.url, discord.api_url)
        ran = await run(home, "doctor")
        asked = [request.method for request in telegram.requests]
        identified = discord.gateway.identified
    assert lines(ran) == [
        "✓ configuration: is good, the persona is default",
        "✓ proxies: none is set",
        "✓ model: none is set: the built-in offline replies answer",
        f"✓ telegram: {telegram.url} knows the bot as @nuan_fake_bot",
        *(
            [
                "✓ telegram: in groups the bot hears only what is said to it: @BotFather, /setprivacy, Disable lets it "
                "follow up"
            ]
            if not telegram.world.reads_all
            else []
        ),
        f"✓ discord: {discord.api_url} knows the bot as warm, the gateway is {discord.gateway_url}",
        "✓ discord: intent Message Content: on",
        "✓ discord: intent Server Members: on",
        f"✓ data: {DATABASE} can be read, all of it is whole",
        "! data: 5 rows refer to what is not there: nuan works; a backup from before may be better",
        "✓ full-text index: it holds what can be searched",
        "✓ outbox: 1 messages wait to be sent",
        "! outbox: 1 messages may or may not have arrived (a crash or a timeout cut them off) and are not sent again: "
        "look there, and ask nuan again for what is missing",
        "! outbox: 2 messages were refused by their platform and are not sent again: `nuan logs` says why at "
        "send_failed",
    ]
    assert ran.code == 0
    assert (set(asked), identified) == ({"getMe", "getWebhookInfo"}, []), "it takes no updates and opens no gateway"
    assert home.written() == files


async def test_what_is_wrong_or_out_of_reach_is_named_with_what_to_do(tmp_path: Path, nowhere: str) -> None:
    wrong = (f"{TELEGRAM}x", f"{DISCORD}x")
    homes = [tmp_path / name for name in ("wrong", "away")]
    for folder in homes:
        folder.mkdir()
    broken = homes[1] / "data" / DATABASE
    broken.parent.mkdir()
    broken.write_bytes(b"this is no database" * 100)
    async with FakeTelegram(TELEGRAM) as telegram, FakeDiscord(DISCORD) as discord:
        refused, away = await asyncio.gather(
            run(Home(homes[0], settings(telegram.url, discord.api_url, wrong)), "doctor"),
            run(Home(homes[1], settings(nowhere, f"{nowhere}/api/v10")), "doctor"),
        )
    assert lines(refused)[2:] == [
        "✓ model: none is set: the built-in offline replies answer",
        "✗ telegram.token: is refused: take the one that @BotFather shows",
        "✗ discord.token: is refused: take the one of the developer portal, Bot, Reset Token",
        "✓ data: there is no database yet: the first start makes it",
    ]
    assert lines(away)[3:5] == [
        f"✗ telegram: {nowhere} cannot be reached (NetworkError): check telegram.base_url and telegram.proxy",
        f"✗ discord: {nowhere}/api/v10 cannot be reached (ClientConnectorError): check discord.api_url and "
        "discord.proxy",
    ]
    assert lines(away)[5].startswith("✗ data: ")
    assert (refused.code, away.code) == (1, 1)
    assert Home(tmp_path).files() == ["away/data/nuan.db"], "doctor leaves nothing behind"


async def test_a_webhook_and_intents_that_are_off_are_faults(tmp_path: Path) -> None:
    async with Hooked(TELEGRAM) as telegram, FakeDiscord(DISCORD, privileged=0) as discord:
        ran = await run(Home(tmp_path, settings(telegram.url, discord.api_url)), "doctor")
        assert telegram.calls("deleteWebhook") == []
    assert [line for line in lines(ran) if line.startswith("✗")] == [
        "✗ telegram: a webhook is set for this bot: another program takes its messages; stop it or delete the webhook",
        "✗ discord: intent Message Content: off; switch it on in the developer portal, Bot",
        "✗ discord: intent Server Members: off; switch it on in the developer portal, Bot",
    ]
    assert ran.code == 1
    assert "hook.example" not in ran.text


async def test_without_tokens_only_the_terminal_works_and_that_is_no_fault(tmp_path: Path) -> None:
    ran = await run(Home(tmp_path), "doctor")
    assert lines(ran)[3] == "✓ platforms: no token is set: only `nuan chat` works"
    assert ran.code == 0


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "✓ model: {url} can be reached"),
        ({"MODEL__API_KEY": "sk-wrong"}, "✗ model: {url} does not work (HTTP 401"),
        ({"MODEL__NAME": "missing"}, "✗ model.name: the server does not list 'missing' among its 1 models"),
        ({"MODEL__BASE_URL": "{nowhere}/v1"}, "check model.base_url and model.proxy"),
    ],
    ids=["well", "key", "name", "away"],
)
async def test_without_a_call_the_model_is_asked_for_nothing_that_costs(
    tmp_path: Path, nowhere: str, change: dict[str, str], line: str
) -> None:
    async with FakeOpenAI(key="sk-right") as server:
        right = {"MODEL__BASE_URL": server.base_url, "MODEL__NAME": "fake", "MODEL__API_KEY": "sk-right"}
        changed = {key: value.format(nowhere=nowhere) for key, value in change.items()}
        ran = await run(Home(tmp_path, right | changed), "doctor", "--no-call")
        told = "\n".join(lines(ran)[2:6])
        assert server.bodies == []
    assert line.format(url=server.base_url) in told
    assert ran.code == int("✗" in told)
    assert "sk-" not in ran.text
