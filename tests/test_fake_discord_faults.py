"""The fake Discord, driven by the real discord.py: limits, faults, sessions. It tests the fake, not nuan."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import discord
import pytest

from tests.fakes.discord_client import INTENTS, TOKEN, Client, guild, online, point
from tests.fakes.discord_front import Kind
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import World


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(TOKEN) as server:
        point(monkeypatch, server)
        yield server


async def test_the_same_nonce_gives_the_first_message_for_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_800_000_000_000]
    async with FakeDiscord(TOKEN, world=World(now=lambda: now[0])) as server:
        point(monkeypatch, server)
        _, talk = guild(server)
        async with online() as client:
            channel = client.get_partial_messageable(talk.id)
            first = await channel.send("a", nonce="o7")
            assert (await channel.send("b", nonce="o7")).id == first.id
            now[0] += 300_000
            assert (await channel.send("c", nonce="o7")).id != first.id
        assert server.texts(talk) == ["a", "c"]


async def test_a_reset_after_storing_leaves_one_message_that_the_nonce_finds(server: FakeDiscord) -> None:
    _, talk = guild(server)
    async with online() as client:
        channel = client.get_partial_messageable(talk.id)
        server.misbehave("reset_after")
        with pytest.raises(aiohttp.ClientOSError):
            await channel.send("once", nonce="o1")
        server.misbehave("503")
        with pytest.raises(discord.DiscordServerError):
            await channel.send("once", nonce="o1")
        server.misbehave("stall_after")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(channel.send("once", nonce="o1"), 0.2)
        await channel.send("once", nonce="o1")
    assert server.texts(talk) == ["once"]


async def test_the_library_waits_for_the_bucket_and_for_a_429(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeDiscord(TOKEN, limit=2, window_s=0.3) as server:
        point(monkeypatch, server)
        _, talk = guild(server)
        async with online() as client:
            channel = client.get_partial_messageable(talk.id)
            await asyncio.gather(*(channel.send(str(number)) for number in range(5)))
            server.misbehave("429", retry_after=0.1)
            await channel.send("last")
        assert sorted(server.texts(talk)) == ["0", "1", "2", "3", "4", "last"]
        assert [one.status for one in server.requests if one.path.endswith("/messages")].count(429) == 1
        assert server.violations == []


async def test_a_send_inside_an_announced_wait_is_a_violation(server: FakeDiscord) -> None:
    _, talk = guild(server)
    url, headers = f"{server.api_url}/channels/{talk.id}/messages", {"Authorization": f"Bot {TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for number in range(7):
            async with session.post(url, json={"content": str(number)}) as answer:
                body = await answer.json()
    assert (answer.status, body["global"], answer.headers["Via"]) == (429, False, "1.1 google")
    assert 0 < body["retry_after"] <= 5
    assert len(server.violations) == 2
    assert len(server.texts(talk)) == 5


@pytest.mark.parametrize("kind", ["429_global", "banned"])
async def test_a_429_for_everything_or_from_the_proxy_looks_like_it(server: FakeDiscord, kind: Kind) -> None:
    _, talk = guild(server)
    async with online() as client:
        channel = client.get_partial_messageable(talk.id)
        server.misbehave(kind, retry_after=0.1)
        if kind == "banned":
            with pytest.raises(discord.HTTPException) as refused:
                await channel.send("a")
            assert refused.value.status == 429
        else:
            await channel.send("a")
            assert server.texts(talk) == ["a"]
            assert server.violations == []


async def test_a_wrong_token_and_a_missing_intent_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeDiscord("another.made-up.token") as server:
        point(monkeypatch, server)
        with pytest.raises(discord.LoginFailure):
            async with online():
                pass
    async with FakeDiscord(TOKEN, privileged=0) as server:
        point(monkeypatch, server)
        with pytest.raises(discord.PrivilegedIntentsRequired):
            async with online():
                pass
        assert server.gateway.closed == [4014]


@pytest.mark.parametrize("how", ["cut", "code", "op7", "op9"])
async def test_a_resumed_session_gets_what_it_missed(server: FakeDiscord, how: str) -> None:
    anna, talk = guild(server)
    async with online() as client:
        match how:
            case "cut":
                server.gateway.drop()
            case "code":
                server.gateway.drop(4000)
            case "op7":
                server.gateway.reconnect()
            case _:
                server.gateway.invalidate(resumable=True)
        server.people.say(talk, anna, "meanwhile")
        await client.until("resumed")
        assert [one.content for one in client.of("message")] == ["meanwhile"]
        assert (len(server.gateway.identified), server.gateway.resumed) == (1, 1)


async def test_a_lost_session_misses_what_was_said_meanwhile(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    async with online() as client:
        server.gateway.drop(resumable=False)
        server.people.say(talk, anna, "missed")
        await client.until("ready", 2)
        server.people.say(talk, anna, "heard")
        assert (await client.until("message")).content == "heard"
        server.gateway.invalidate()
        await client.until("ready", 3)
        assert len(server.gateway.identified) == 3


async def test_a_malformed_event_reaches_the_library(server: FakeDiscord) -> None:
    guild(server)
    client = Client(INTENTS)
    running = asyncio.ensure_future(client.start(TOKEN))
    await client.until("ready")
    server.gateway.malformed()
    with pytest.raises(KeyError):  # discord.py gives up: whoever runs it has to start it again
        await running
    await client.close()
