"""Parts through the platforms' own libraries against strict servers: what each sends, its limits, what errors mean."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.discord.sending import MOST_BYTES as DISCORD_BYTES
from adapters.telegram.messages import MOST_BYTES, MOST_PHOTO_BYTES
from bot.core.errors import SendError
from bot.core.events import Outgoing
from bot.core.parts import File, Image, Media, Part, Reaction, Sticker, Voice
from tests.discord_support import COMMANDS, Scene, Town, adapter_for, outgoing, running
from tests.fakes.media import PNG
from tests.fakes.telegram_faults import Fault, Limits
from tests.fakes.telegram_server import FakeTelegram
from tests.telegram_stage import ANN, fate, said, stage

OGG = b"OggS" + bytes(60)
TEN_MINUTES = 600_000


@pytest.fixture
async def server() -> AsyncGenerator[FakeTelegram]:
    async with FakeTelegram(limits=Limits(private=1000.0, burst=1000)) as fake:
        yield fake


def media(kind: type[Media], data: bytes, name: str, caption: str = "") -> tuple[Media, bytes]:
    return kind(f"parts/{name}", name, len(data), caption), data


def of(part: Part, content: bytes = b"", target: str = "") -> Outgoing:
    return said("〔…〕", part=part, content=content, target=target)


async def test_telegram_sends_each_kind_by_its_own_method(server: FakeTelegram) -> None:
    async with stage(server) as on:
        asked = server.people.say(ANN.id, ANN, "在吗")
        known = server.world.store("stickers", "hug.webp", b"RIFF")["file_id"]
        server.world.sticker_sets["hugs"] = (str(known), str(known))
        sent = [
            await on.adapter.send(of(*media(Image, PNG, "cat.png", "**猫**"))),
            await on.adapter.send(of(*media(File, b"zip", "all.zip", "全部"))),
            await on.adapter.send(of(*media(Voice, OGG, "hi.ogg"))),
            await on.adapter.send(of(Sticker("抱抱", str(known)))),
            await on.adapter.send(of(Sticker("抱抱", "hugs/2"))),
        ]
        shown = server.sent(ANN.id)
        assert [(one.medium, one.text, one.data) for one in shown] == [
            ("photo", "猫", PNG),
            ("document", "全部", b"zip"),
            ("voice", "", OGG),
            ("sticker", "", b"RIFF"),
            ("sticker", "", b"RIFF"),
        ]
        assert [(one.type, one.length) for one in shown[0].entities] == [("bold", 1)]
        assert [ids for (ids,) in sent] == [str(one.message_id) for one in shown]
        about = str(asked.message_id)
        assert await on.adapter.send(of(Reaction("❤️", 1), target=about)) == ()
        assert server.world.reactions[ANN.id, asked.message_id] == ("❤",)


async def test_telegram_takes_no_reaction_that_is_not_on_its_list(server: FakeTelegram) -> None:
    async with stage(server) as on:
        asked = server.people.say(ANN.id, ANN, "在吗")
        for emoji, target in (("🧋", str(asked.message_id)), ("❤", "99999")):
            with pytest.raises(SendError) as caught:
                await on.adapter.send(of(Reaction(emoji, 1), target=target))
            assert fate(caught) == "never"


async def test_a_reaction_of_which_nobody_knows_is_set_again(server: FakeTelegram) -> None:
    async with stage(server) as on:
        asked = server.people.say(ANN.id, ANN, "在吗")
        server.faults.add("setMessageReaction", Fault("drop_after"))
        with pytest.raises(SendError) as caught:
            await on.adapter.send(of(Reaction("❤", 1), target=str(asked.message_id)))
        assert fate(caught) == "later"


async def test_a_picture_that_telegram_does_not_show_goes_as_a_file(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        await on.adapter.send(of(*media(Image, b"no picture", "cat.png")))
        await on.adapter.send(of(*media(Image, PNG + bytes(MOST_PHOTO_BYTES), "large.png")))
        await on.adapter.send(of(*media(Image, b"<svg/>", "cat.svg")))
        assert [one.medium for one in server.sent(ANN.id)] == ["document"] * 3


async def test_telegrams_sizes_and_refusals_are_never_sent_again(server: FakeTelegram) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        assert on.adapter.sends == {
            "reaction": 0,
            "sticker": 0,
            "image": MOST_BYTES,
            "file": MOST_BYTES,
            "voice": MOST_BYTES,
        }
        for part, data in (
            media(File, bytes(MOST_BYTES + 1), "large.bin"),
            media(Voice, b"RIFF....WAVE", "hi.wav"),
            (Sticker("抱抱", "gone"), b""),
            (Sticker("抱抱", "nobody/1"), b""),
        ):
            with pytest.raises(SendError) as caught:
                await on.adapter.send(of(part, data))
            assert fate(caught) == "never"
        await on.adapter.send(of(*media(File, bytes(MOST_BYTES), "large.bin", "长" * 3_000)))
        (shown,) = server.sent(ANN.id)
        assert (len(shown.data), len(shown.text) <= 1_024) == (MOST_BYTES, True)


@pytest.mark.parametrize("kind", ["drop_after", "garbage"])
async def test_what_became_of_a_file_is_told_truly(server: FakeTelegram, kind: str) -> None:
    async with stage(server) as on:
        server.people.say(ANN.id, ANN, "在吗")
        server.faults.add("sendDocument", Fault(kind))  # type: ignore[arg-type]
        with pytest.raises(SendError) as caught:
            await on.adapter.send(of(*media(File, b"zip", "all.zip")))
        assert fate(caught) == "unknown"
        server.faults.add("sendDocument", Fault("flood", retry_after=3))
        with pytest.raises(SendError) as caught:
            await on.adapter.send(of(*media(File, b"zip", "all.zip")))
        assert (fate(caught), caught.value.wait_ms) == ("later", 3_000)


async def test_a_begun_message_becomes_a_picture_or_a_file(server: FakeTelegram) -> None:
    async with stage(server) as on:
        chat = server.chats.group("小组", ANN)
        for part, data in (
            media(Image, PNG, "cat.png", "猫"),
            media(Image, b"no picture", "cat.png"),
            media(File, b"zip", "all.zip"),
        ):
            begun = await on.adapter.show(said("…", chat))
            assert await on.adapter.send(replace(said("", chat), part=part, content=data, preview_id=begun)) == (begun,)
        assert [(one.medium, one.text, one.data) for one in server.sent(chat)] == [
            ("photo", "猫", PNG),
            ("document", "", b"no picture"),
            ("document", "", b"zip"),
        ]


def there(town: Town) -> list[tuple[str, list[tuple[str, bytes]], list[str]]]:
    """What people see of nuan in the hall: text, files and stickers of each message."""
    return [
        (one.content, [(each.name, each.data) for each in one.attachments], [each.name for each in one.stickers])
        for one in town.server.sent(town.hall)
    ]


def row(town: Town, number: int, part: Part, content: bytes = b"", target: str = "") -> Outgoing:
    return replace(outgoing(town.hall, "〔…〕", number), part=part, content=content, target=target)


async def test_discord_sends_each_kind_in_its_own_way(town: Town, scene: Scene) -> None:
    hug = town.server.world.add_sticker("hug")
    async with running(town.server, scene):
        asked = town.say(town.hall, town.ann, "在吗")
        send = scene.adapter.send
        assert await send(row(town, 1, Reaction("❤️", 1), target=str(asked.id))) == ()
        assert await send(row(town, 1, Reaction("❤️", 1), target=str(asked.id))) == ()
        await send(row(town, 2, *media(Image, PNG, "cat.png", "猫 @everyone")))
        await send(row(town, 3, *media(Voice, OGG, "hi.ogg")))
        await send(row(town, 4, Sticker("抱抱", str(hug.id))))
        await send(row(town, 5, Sticker("抱抱", "<:hug:123456>")))
    assert asked.reactions == {"❤️": [town.server.world.bot.id]}
    assert there(town) == [
        ("猫 @everyone", [("cat.png", PNG)], []),
        ("", [("hi.ogg", OGG)], []),
        ("", [], ["hug"]),
        ("<:hug:123456>", [], []),
    ]


async def test_discords_sizes_and_refusals_are_never_sent_again(town: Town, scene: Scene) -> None:
    async with running(town.server, scene):
        asked = town.say(town.hall, town.ann, "在吗")
        for part, data in (
            media(File, bytes(DISCORD_BYTES + 1), "large.bin"),
            (Sticker("抱抱", "4711"), b""),
            (Sticker("抱抱", "a file id"), b""),
            (Reaction("no emoji", 1), b""),
        ):
            with pytest.raises(SendError) as caught:
                await scene.adapter.send(row(town, 1, part, data, str(asked.id)))
            assert caught.value.fate == "never"
        await scene.adapter.send(row(town, 2, *media(File, bytes(DISCORD_BYTES), "large.bin")))
    assert [len(files[0][1]) for _, files, _ in there(town)] == [DISCORD_BYTES]


async def test_a_row_of_discord_stands_there_once_however_often_it_is_sent(town: Town, scene: Scene) -> None:
    hug = town.server.world.add_sticker("hug")
    rows = (row(town, 1, *media(File, b"zip", "all.zip")), row(town, 2, Sticker("抱抱", str(hug.id))))
    async with running(town.server, scene):
        first = [await scene.adapter.send(each) for each in rows]
        assert [await scene.adapter.send(each) for each in rows] == first, "by its nonce"
    town.server.rest._nonces.clear()
    later = adapter_for(town.server)
    tried = later.clock.now() - TEN_MINUTES
    async with running(town.server, later):
        again = [replace(each, again=True, tried_at=tried) for each in rows]
        assert [await later.adapter.send(each) for each in again] == first, "by what stands there"
    assert len(there(town)) == 2


async def test_an_archive_answers_a_slash_command_for_whoever_gave_it(town: Town) -> None:
    scene = adapter_for(town.server, commands=COMMANDS)
    async with running(town.server, scene):
        town.server.people.slash(town.hall, town.lin, "ai ctx")
        await scene.sink.until(lambda: bool(scene.sink.stored))
        via, who = scene.sink.stored[-1].via, str(town.lin.id)
        for number, name in enumerate(("all.zip", "more.zip")):
            archive = row(town, number, *media(File, name.encode(), name, name))
            await scene.adapter.send(replace(archive, via=via, only_for=who, further=number > 0))
    shown = town.server.ephemeral(town.lin)
    assert [(one.content, [each.data for each in one.attachments]) for one in shown] == [
        ("all.zip", [b"all.zip"]),
        ("more.zip", [b"more.zip"]),
    ]
