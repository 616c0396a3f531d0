"""What Discord has beside messages, against a strict fake server: slash commands, buttons, files, typing, events."""

import asyncio
from dataclasses import replace

import pytest

from adapters.discord.client import Address
from bot.commands.registry import command_specs
from bot.core.errors import SendError
from bot.core.events import Attachment as Attached
from bot.core.events import Button
from bot.core.files import PromptFiles
from bot.text.catalogue import catalogue
from tests.discord_support import COMMANDS, Scene, Town, adapter_for, outgoing, running
from tests.fakes.clock import let_others_run
from tests.fakes.discord_hooks import TOKEN_S
from tests.fakes.discord_world import FORUM, Attachment
from tests.proxies import Kind, proxy
from tests.sizes import PATIENCE_S
from tests.tables import all_cases

INSIDE = [
    "http://127.0.0.1/a",
    "http://127.1/a",
    "http://2130706433/a",
    "http://0x7f000001/a",
    "http://0177.0.0.1/a",
    "http://[::1]/a",
    "http://[::ffff:127.0.0.1]/a",
    "http://[fc00::1]/a",
    "http://10.0.0.1/a",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost/a",
    "http://127.0.0.1.nip.io/a",
    "https://127.0.0.1/a",
    "https://evil.example/a",
    "https://cdn.discordapp.com@127.0.0.1/a",
    "https://cdn.discordapp.com:pw@10.0.0.1/a",
    "https://cdn.discordapp.com.evil.example/a",
    "https://evildiscordapp.com/a",
    "http://cdn.discordapp.com/a",
    "https://cdn.discordapp.com:8443/a",
    "https://user@cdn.discordapp.com/a",
    "ftp://cdn.discordapp.com/a",
    "file:///etc/passwd",
    "gopher://127.0.0.1/a",
    "//127.0.0.1/a",
    "/etc/passwd",
    "",
    "https://cdn.discordapp.com\\@127.0.0.1/a",
    "https://[::1",
]
"""Addresses that are not Discord's, in forms that have fooled others."""


async def test_everything_that_happens_reaches_the_door(town: Town, scene: Scene) -> None:
    people = town.server.people
    async with running(town.server, scene):
        said = town.say(town.hall, town.lin, "one")
        people.edit(said, "two")
        people.react(said, town.ann, "👍")
        people.react(said, town.ann, "👍", remove=True)
        people.pin(said, town.ann)
        people.topic(town.hall, "茶")
        people.delete(said)
        await scene.sink.until(lambda: len(scene.sink.stored) == 7)
    told = [(one.label or one.kind, one.text) for one in scene.sink.stored]
    assert told == [
        ("message", "one"),
        ("edit", "two"),
        ("reaction", "👍"),
        ("reaction", "-👍"),
        ("pin", "two"),
        ("topic", "茶"),
        ("delete", ""),
    ]
    assert {one.target for one in scene.sink.stored if one.label not in ("", "topic")} == {str(said.id)}


async def test_threads_and_forum_posts_are_places_of_their_own(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        thread = town.server.people.thread(town.hall, town.lin, "周末", "去哪里")
        forum = town.server.people.channel(town.guild, "questions", FORUM)
        post = town.server.people.thread(forum, town.ann, "Tea?", "Which one")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
        await scene.adapter.send(outgoing(thread, "公园"))
    places = {(one.place.external_id, one.place.title, one.place.parent) for one in scene.sink.stored}
    guild = str(town.guild.id)
    assert places == {(str(thread.id), "周末", guild), (str(post.id), "Tea?", guild)}
    assert town.server.texts(thread) == ["公园"]


async def test_a_preview_grows_and_ends_as_one_message(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        shown = await scene.adapter.show(outgoing(town.hall, "我想"))
        row = replace(outgoing(town.hall, "我想了想"), preview_id=shown)
        assert await scene.adapter.show(row) == shown
        assert await scene.adapter.send(replace(row, text="我想了想，好的")) == (shown,)
    assert town.server.texts(town.hall) == ["我想了想，好的"]


async def test_a_preview_whose_id_was_lost_is_ended_all_the_same(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        await scene.adapter.show(outgoing(town.hall, "我想"))
        await scene.adapter.send(outgoing(town.hall, "我想了想"))
    assert town.server.texts(town.hall) == ["我想了想"]


async def test_a_preview_that_was_deleted_is_said_anew(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        shown = await scene.adapter.show(outgoing(town.hall, "我想"))
        town.server.people.delete(*town.hall.messages)
        await scene.adapter.send(replace(outgoing(town.hall, "好的"), preview_id=shown))
    assert town.server.texts(town.hall) == ["好的"]


@pytest.mark.parametrize("kind", ["socks5", "http"])
async def test_everything_goes_through_the_proxy(town: Town, kind: Kind) -> None:
    async with proxy(kind) as between:
        scene = adapter_for(town.server, proxy=between.url)
        async with running(town.server, scene):
            town.say(town.dm, town.lin, "look", files=(Attachment("a.txt", b"hello", "text/plain"),))
            await scene.sink.until(lambda: len(scene.sink.stored) == 1)
            assert await scene.adapter.fetch(scene.sink.stored[0].attachments[0], 5) == b"hello"
            await scene.adapter.send(outgoing(town.dm, "seen"))
    assert town.server.texts(town.dm) == ["seen"]
    assert len(between.through) >= 3
    assert len(set(between.through)) == 1


async def test_parts_fit_and_lose_nothing(scene: Scene) -> None:
    for text in ("今天天气很好。" * 700, "😀好。" * 1_500):
        parts = scene.adapter.parts(text)
        assert "".join(parts) == text
        assert max(len(part.encode("utf-16-le")) // 2 for part in parts) <= 2_000


async def test_typing_is_shown_until_it_is_switched_off(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        scene.adapter.typing(str(town.hall.id), True)
        await town.server.until(lambda: len(town.server.typing(town.hall)) == 1)
        scene.adapter.typing(str(town.hall.id), False)
        scene.adapter.typing("123", True)
        await town.server.until(lambda: any(asked.status == 404 for asked in town.server.requests))
    assert len(town.server.typing(town.hall)) == 1


async def test_an_attachment_is_fetched_up_to_a_limit(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        liar = Attachment("b.txt", b"x" * 500, "text/plain", said_size=5)
        town.say(town.dm, town.lin, "look", files=(Attachment("a.txt", b"hello", "text/plain"), liar))
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        good, bad = scene.sink.stored[0].attachments
        assert (good.kind, good.name, good.size) == ("file", "a.txt", 5)
        assert await scene.adapter.fetch(good, 5) == b"hello"
        for one in (bad, replace(good, size=6), Attached("file", f"{town.server.world.cdn_url}/attachments/1/1/x")):
            with pytest.raises(SendError, match="never"):
                await scene.adapter.fetch(one, 5)


@all_cases("url", INSIDE)
def test_a_file_is_read_from_discords_own_hosts_alone(url: str) -> None:
    for address in (Address(), Address("http://127.0.0.1:8999/api/v10")):
        assert not address.serves(url)


def test_discords_own_hosts_are_known() -> None:
    assert Address().serves("https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&is=2&hm=3")
    assert Address().serves("https://media.discordapp.net/attachments/1/2/a.png")
    assert Address("http://127.0.0.1:8999/api/v10").serves("http://127.0.0.1:8999/attachments/1/2/a.png")


async def test_slash_commands_are_registered_once(town: Town) -> None:
    for _ in range(2):
        scene = adapter_for(town.server, commands=COMMANDS)
        async with running(town.server, scene):
            pass
    writes = [asked for asked in town.server.requests if asked.path.endswith("/commands") and asked.method == "PUT"]
    assert len(writes) == 1
    assert [one["name"] for one in town.server.commands] == ["ai", "remember", "new"]
    assert {one["name"] for one in town.server.commands[0]["options"]} == {"ctx", "name"}


async def test_a_slash_command_says_what_one_would_type_and_its_answer_is_for_that_person(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        town.server.people.slash(town.hall, town.ann, "ai ctx")
        town.server.people.slash(town.hall, town.ann, "remember", text="Ann likes tea")
        await scene.sink.until(lambda: len(scene.sink.stored) == 2)
        ctx, remember = scene.sink.stored
        answer = replace(outgoing(town.hall, "part one"), via=ctx.via, only_for=str(town.ann.id))
        await scene.adapter.send(answer)
        await scene.adapter.send(answer)
        await scene.adapter.send(replace(answer, outbox_id=2, text="part two", further=True))
    assert [ctx.text, remember.text] == [".ai ctx", "/remember Ann likes tea"]
    assert ctx.place.external_id == str(town.hall.id)
    shown = [one.content for one in town.server.ephemeral(town.ann) if one.content]
    assert shown == ["part one", "part two"]
    assert town.server.texts(town.hall) == []


async def test_the_whole_table_fits_into_discord_and_every_command_says_what_one_would_type(town: Town) -> None:
    commands = command_specs(catalogue(PromptFiles(None).path, "messages"))
    scene = adapter_for(town.server, commands=commands)
    wanted = [
        (f"{each.under or 'ai'} {each.name.removeprefix('ai ')}", each) for each in commands if ".ai" in each.says
    ]
    async with running(town.server, scene):
        for name, spec in wanted:
            given = {"none": {}, "text": {"text": "x y"}, "words": {"words": "x y"}}[spec.shape]
            town.server.people.slash(town.hall, town.ann, name, **given)
        await scene.sink.until(lambda: len(scene.sink.stored) == len(wanted))
    assert [one.text for one in scene.sink.stored] == [
        spec.says if spec.shape == "none" else f"{spec.says} x y" for _, spec in wanted
    ]
    assert {name.split()[0] for name, _ in wanted} == {"ai", "ai-admin"}


async def test_an_answer_whose_interaction_is_over_goes_to_a_direct_message(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        used = town.server.people.slash(town.hall, town.lin, "ai ctx")
        await scene.sink.until(lambda: len(scene.sink.stored) == 1)
        row = replace(outgoing(town.hall, "yours"), via=scene.sink.stored[0].via, only_for=str(town.lin.id))
        used.at -= TOKEN_S
        await scene.adapter.send(row)
        await scene.adapter.send(replace(row, outbox_id=2, via="1"))
    assert town.server.texts(town.dm) == ["yours", "yours"]
    assert town.server.texts(town.hall) == []


async def test_a_button_works_for_one_person_also_after_a_restart(town: Town) -> None:
    scene = adapter_for(town.server)
    buttons = (Button("Undo", ".ai undo", str(town.lin.id)), Button("No", "x" * 200, str(town.lin.id)))
    async with running(town.server, scene):
        await scene.adapter.send(replace(outgoing(town.hall, "done"), buttons=buttons))
    later = adapter_for(town.server)
    async with running(town.server, later):
        (message,) = town.hall.messages
        other = town.server.people.press(message, f"{town.lin.id}|.ai undo", town.ann)
        await town.server.until(lambda: other.acknowledged)
        town.server.people.press(message, f"{town.lin.id}|.ai undo", town.lin)
        await later.sink.until(lambda: len(later.sink.stored) == 1)
    (pressed,) = later.sink.stored
    assert pressed.sender is not None
    assert (pressed.text, pressed.sender.external_id) == (".ai undo", str(town.lin.id))


async def test_discord_says_who_looks_after_a_server(town: Town, scene: Scene) -> None:
    hall, owner = str(town.hall.id), town.guild.owner
    other = str((town.ann if owner is town.lin else town.lin).id)
    async with running(town.server, scene):
        assert await scene.adapter.is_admin(hall, str(owner.id))
        assert not await scene.adapter.is_admin(hall, other)
        assert not await scene.adapter.is_admin(hall, "12345")
        assert not await scene.adapter.is_admin("5", str(owner.id))
        town.server.misbehave("503", method="GET", path=".*")
        with pytest.raises(OSError, match="ServerFault"):
            await scene.adapter.is_admin(hall, other)


async def test_who_only_reaches_discord_asks_types_and_shows_and_hears_nothing(town: Town, scene: Scene) -> None:
    hall = str(town.hall.id)
    reaching = asyncio.create_task(scene.adapter.reach(scene.sink))
    async with asyncio.timeout(PATIENCE_S):
        while scene.adapter._client is None:
            await let_others_run()
    assert await scene.adapter.is_admin(hall, str(town.guild.owner.id))
    scene.adapter.typing(hall, True)
    await town.server.until(lambda: len(town.server.typing(town.hall)) == 1)
    shown = await scene.adapter.show(outgoing(town.hall, "half"))
    await scene.adapter.show(replace(outgoing(town.hall, "more of it"), preview_id=shown))
    assert town.server.texts(town.hall) == ["more of it"]
    assert scene.adapter.silent_ms() is None
    reaching.cancel()
    await asyncio.gather(reaching, return_exceptions=True)
    assert (scene.sink.stored, town.server.gateway.shards, town.server.commands) == ([], [], [])
    with pytest.raises(OSError, match="not connected"):
        await scene.adapter.is_admin(hall, "1")
