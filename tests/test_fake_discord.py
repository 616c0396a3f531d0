"""The fake Discord, driven by the real discord.py: people, answers, commands. It tests the fake, not nuan."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import discord
import pytest
from discord import app_commands
from discord.http import Route

from tests.fakes.discord_client import TOKEN, guild, online, point
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.discord_world import FORUM, Attachment, Sticker


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(TOKEN) as server:
        point(monkeypatch, server)
        yield server


async def test_a_message_arrives_and_its_answer_is_seen(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    async with online() as client:
        server.people.say(talk, anna, f"hello {server.world.bot.mention}")
        message = await client.until("message")
        assert (message.content, message.author.name, message.guild.name) == (
            f"hello <@{server.world.bot.id}>",
            "Anna",
            "home",
        )
        assert client.user in message.mentions
        async with message.channel.typing():
            await message.reply("hi **there**  ", nonce="o1", suppress_embeds=True)
    (sent,) = server.sent(talk)
    assert (sent.content, sent.nonce, sent.previews, sent.mentions) == ("hi **there**", "o1", False, [])
    assert sent.reply_to == message.id
    assert sent.allowed_mentions == {"parse": []}
    assert len(server.typing(talk)) == 1
    assert server.violations == []


async def test_everything_people_do_is_understood_by_the_library(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    ben = server.world.add_user("Ben")
    async with online() as client:
        people, home = server.people, client.guilds[0]
        first = people.say(talk, anna, "one", files=[Attachment("a.txt", b"abc", "text/plain"), Sticker(7, "wave")])
        people.say(talk, anna, "two", reply_to=first)
        people.say(talk, anna, forward=first)
        people.say(talk, server.world.add_user("Hook"), "from outside", webhook=True)
        people.edit(first, "one more")
        people.react(first, anna, "👍")
        people.react(first, anna, "👍", remove=True)
        people.pin(first, anna)
        people.join(server.world.guilds[home.id], ben, greet_in=talk)
        people.leave(server.world.guilds[home.id], ben)
        people.topic(talk, "cats")
        forum = people.channel(server.world.guilds[home.id], "ideas", FORUM)
        thread = people.thread(forum, anna, "an idea", "listen")
        people.say(thread, anna, "more")
        people.delete(first)
        people.delete(*talk.messages[:2], bulk=True)
        await client.until("raw_bulk_message_delete")
        said = client.of("message")
        assert (await said[0].attachments[0].read(), said[0].stickers[0].name) == (b"abc", "wave")
        assert said[1].reference.resolved.id == first.id
        assert said[2].message_snapshots[0].content == "one"
        assert said[3].webhook_id is not None
        assert [one.type for one in said[4:6]] == [discord.MessageType.pins_add, discord.MessageType.new_member]
        assert [(one.channel.type, one.content) for one in said[6:]] == [
            (discord.ChannelType.public_thread, "listen"),
            (discord.ChannelType.public_thread, "more"),
        ]
        events = "message_edit raw_reaction_add raw_reaction_remove member_join member_remove thread_create"
        more = "guild_channel_pins_update guild_channel_update raw_message_delete"
        for event in f"{events} {more}".split():
            assert client.of(event), event
        assert client.of("guild_channel_update")[-1].id == talk.id


async def test_what_happens_offline_is_only_in_the_history(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    lines = [server.people.say(talk, anna, str(number)) for number in range(130)]
    async with online() as client:
        channel = client.get_channel(talk.id)
        assert isinstance(channel, discord.TextChannel)
        after = discord.Object(lines[9].id)
        found = [one.content async for one in channel.history(after=after, limit=None, oldest_first=True)]
        assert found == [str(number) for number in range(10, 130)]
        assert [one.content async for one in channel.history(limit=2)] == ["129", "128"]
        assert (await channel.fetch_message(lines[3].id)).content == "3"
        assert client.of("message") == []


async def test_direct_messages_open_and_may_be_refused(server: FakeDiscord) -> None:
    anna, _ = guild(server)
    async with online() as client:
        user = await client.fetch_user(anna.id)
        await user.send("for you")
        server.people.say(server.world.open_dm(anna), anna, "thanks")
        heard = await client.until("message", 2)
        assert isinstance(heard.channel, discord.DMChannel)
        anna.blocks_bot = True
        with pytest.raises(discord.Forbidden) as refused:
            await user.send("again")
        assert refused.value.code == 50007
    assert server.texts(server.world.open_dm(anna)) == ["for you"]


async def test_wrong_requests_get_the_codes_of_discord(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    line = server.people.say(talk, anna, "x")
    async with online() as client:
        channel = client.get_partial_messageable(talk.id)

        async def code(call: Callable[[], Any]) -> int:
            with pytest.raises(discord.HTTPException) as refused:
                await call()
            return refused.value.code

        assert await code(lambda: channel.send("x" * 2001)) == 50035
        assert await code(lambda: channel.send(" ")) == 50006
        assert await code(lambda: channel.fetch_message(5)) == 10008
        assert await code(lambda: channel.get_partial_message(line.id).edit(content="y")) == 50005
        assert await code(lambda: client.get_partial_messageable(5).send("y")) == 10003
        talk.writable = False
        assert await code(lambda: channel.send("y")) == 50013
        talk.readable = False
        assert await code(lambda: channel.send("y")) == 50001


async def test_the_gateway_address_is_told_and_an_unknown_route_is_noticed(server: FakeDiscord) -> None:
    async with online() as client:
        assert (await client.http.get_bot_gateway())[1] == server.gateway_url
        with pytest.raises(discord.NotFound):
            await client.http.request(Route("GET", "/no/such/route"))
    assert len(server.violations) == 1


async def test_a_guild_that_removes_the_bot_is_gone_until_it_is_invited_again(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    async with online() as client:
        home = talk.guild
        assert home is not None
        server.people.leave(home, server.world.bot)
        await client.until("guild_remove")
        server.people.say(talk, anna, "unheard")
        with pytest.raises(discord.Forbidden):
            await client.get_partial_messageable(talk.id).send("x")
        server.people.join(home, server.world.bot)
        await client.until("guild_join")
        server.people.say(talk, anna, "heard")
        assert (await client.until("message")).content == "heard"


async def test_without_the_content_intent_only_dms_and_mentions_have_content(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    async with online(discord.Intents(guilds=True, messages=True)) as client:
        server.people.say(talk, anna, "secret", files=[Attachment("a", b"a")])
        server.people.say(talk, anna, f"{server.world.bot.mention} hello")
        server.people.say(server.world.open_dm(anna), anna, "private")
        await client.until("message", 3)
        bare, named, direct = client.of("message")
        assert (bare.content, bare.attachments) == ("", [])
        assert "hello" in named.content
        assert direct.content == "private"


async def test_slash_commands_and_buttons_go_both_ways(server: FakeDiscord) -> None:
    anna, talk = guild(server)
    async with online() as client:
        pressed: list[str] = []

        class Undo(discord.ui.View):
            @discord.ui.button(label="undo", custom_id="undo:1")
            async def undo(self, interaction: discord.Interaction, button: Any) -> None:
                pressed.append(interaction.user.name)
                await interaction.response.edit_message(content="undone", view=None)

        @client.tree.command(name="remember", description="keep it")
        @app_commands.allowed_installs(guilds=True, users=True)
        async def remember(interaction: discord.Interaction, what: str) -> None:
            await interaction.response.send_message(f"kept {what}", ephemeral=True, view=Undo())

        group = app_commands.Group(name="ai", description="about the bot")

        @group.command(name="ctx", description="what it sees")
        async def ctx(interaction: discord.Interaction) -> None:
            await interaction.response.defer(ephemeral=True, thinking=True)
            await interaction.edit_original_response(content="this")
            await interaction.followup.send("and that", ephemeral=True)

        client.tree.add_command(group)
        await client.tree.sync()
        assert {one["name"] for one in server.commands} == {"remember", "ai"}
        server.people.slash(talk, anna, "remember", what="tea")
        await server.until(lambda: len(server.ephemeral(anna)) == 1)
        server.people.press(server.ephemeral(anna)[0], "undo:1", anna)
        await server.until(lambda: [one.content for one in server.ephemeral(anna)] == ["undone"])
        server.people.slash(server.world.open_dm(anna), anna, "ai ctx")
        await server.until(lambda: len(server.ephemeral(anna)) == 3)
        assert [one.content for one in server.ephemeral(anna)] == ["undone", "this", "and that"]
        assert pressed == ["Anna"]
        assert server.sent(talk) == ()
        with pytest.raises(LookupError):
            server.people.slash(talk, anna, "unknown")
