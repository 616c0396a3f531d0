"""Everything goes through the proxy that is set: Telegram and the model here, Discord in test_discord_extras."""

import pytest

from adapters.telegram.adapter import check
from bot.core.models import Message, ModelRequest, Prompt
from bot.model.client import OpenAIModel
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.telegram_server import FakeTelegram
from tests.proxies import Kind, proxy
from tests.telegram_stage import ANN, said, stage


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_telegram_is_heard_answered_and_checked_through_the_proxy(kind: Kind) -> None:
    async with FakeTelegram() as server, proxy(kind) as between:
        async with stage(server, proxy=between.url) as on:
            server.people.document(ANN.id, ANN, "a.txt", b"x" * 100)
            await on.sink.until(1)
            await on.adapter.send(said("在的"))
            (stored,) = on.sink.stored
            assert await on.adapter.fetch(stored.attachments[0], 100) == b"x" * 100
        heard = len(between.through)
        assert (await check(server.token, server.url, between.url))[0].good
        assert len(between.through) > heard > 0
        assert set(between.through) == {server.url.removeprefix("http://")}


@pytest.mark.parametrize("kind", ["http", "socks5"])
async def test_the_model_answers_through_the_proxy(kind: Kind) -> None:
    async with FakeOpenAI() as server, proxy(kind) as between:
        model = OpenAIModel(server.base_url, "", "fake", proxy=between.url)
        answer = await model.complete(
            ModelRequest(Prompt((), (Message("system", "你是小暖"), Message("user", "在吗"))), 50, 0.5, 5.0)
        )
        assert answer.text
        assert await model.reach(5.0) == ("fake",)
        await model.close()
        assert set(between.through) == {f"127.0.0.1:{server.port}"}


async def test_a_model_of_this_machine_is_asked_around_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with FakeOpenAI() as server, proxy("http") as between:
        for name in ("http_proxy", "all_proxy"):
            monkeypatch.setenv(name, between.url)
        model = OpenAIModel(server.base_url, "", "fake")
        assert await model.reach(5.0) == ("fake",)
        await model.close()
        assert not between.through
