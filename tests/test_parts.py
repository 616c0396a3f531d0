"""Messages that are more than text: what goes out, what is said where it cannot, and what is left of it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.core.errors import SendError, SendFate
from bot.core.events import Draft, Outgoing
from bot.core.parts import File, Image, Part, PartKind, Reaction, Sticker, Voice
from tests.conftest import NewWorld
from tests.fakes.media import PNG
from tests.fakes.platform import Lively
from tests.world import World

DAY = 86_400
CAT = "〔图片 cat.png〕"


def kept(world: World, data: bytes = PNG) -> str:
    """Where bytes lie that are to be sent."""
    return world.store.files.parts.write(data, ".png", world.clock.now())


def picture(world: World, data: bytes = PNG) -> Image:
    return Image(kept(world, data), "cat.png", len(data), "一只猫")


async def send(world: World, part: Part, text: str = CAT) -> None:
    """A message in the chat of the person who wrote first."""
    await world.store.outbox.tell(1, Draft(text, "notice", part=part), world.clock.now())
    world.app.look()
    await world.app.settled()


def lying(world: World) -> list[str]:
    folder = world.folder / "parts"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_an_export_is_sent_as_a_file_and_still_lies_there(world: World) -> None:
    world.talk.sends = {"file": 10_000_000}
    await world.say("记住我喜欢荷花", "阿明")
    await world.say(".ai export me", "阿明")
    sent = world.talk.said[-1]
    assert isinstance(sent.part, File)
    (path,) = (world.folder / "exports").glob("*.zip")
    assert (sent.content, sent.part.name, sent.part.size) == (path.read_bytes(), path.name, path.stat().st_size)
    assert sent.part.caption == "关于你的一切都在这个压缩包里，里面是隐私。"
    assert all(said.external_chat_id == "dm:阿明" for said in world.talk.said), "no owner has to hand it over"


async def test_an_export_that_is_too_large_is_told_as_where_no_files_are_sent(world: World) -> None:
    world.talk.sends = {"file": 100}
    await world.say("在吗")
    await world.say("记住我喜欢荷花", "阿明")
    await world.say(".ai export me", "阿明")
    told = {said.external_chat_id: said.text for said in world.talk.said[-2:]}
    assert told["dm:阿明"].endswith("这个文件在这里发不出去，已经请主人交给你，会留 7 天。")
    assert "它在数据文件夹的 exports/nuan-export-" in told["local"]


@dataclass
class Picky(Lively):
    """A platform that may refuse what is no text, as `refusal` says."""

    sends: dict[PartKind, int] = field(
        default_factory=lambda: {"image": 100, "reaction": 0, "sticker": 0, "voice": 100}
    )
    refusal: SendError | None = None
    tried: list[Outgoing] = field(default_factory=list)

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it, or refuse a part."""
        self.tried.append(outgoing)
        if outgoing.part is not None and self.refusal is not None:
            raise self.refusal
        return await super().send(outgoing)


async def on(folder: Path, talk: Lively) -> World:
    """An installation on that platform, whose owner has said something."""
    world = World(folder)
    world.talk = talk
    await world.open()
    await world.say("你好", external_id="m-1")
    return world


@pytest.mark.parametrize("fate", ["never", "muted"])
async def test_a_part_that_the_platform_refuses_is_said_as_text(tmp_path: Path, fate: SendFate) -> None:
    talk = Picky(refusal=SendError(fate, "no pictures here"))
    world = await on(tmp_path, talk)
    await send(world, picture(world))
    assert [(one.part is None, one.text) for one in talk.tried[1:]] == [(False, CAT), (True, CAT)]
    assert (world.replies[1:], lying(world)) == ([CAT], [])
    await world.say("在吗")
    assert len(world.replies) == 3, "the chat goes on"
    await world.close()


async def test_a_part_that_the_platform_does_not_know_is_said_as_text_or_falls_away(tmp_path: Path) -> None:
    world = await on(tmp_path, Picky(sends={}))
    await send(world, picture(world))
    await send(world, Reaction("❤", 1), "")
    await send(world, Sticker("抱抱", "1"), "〔贴纸 抱抱〕")
    assert world.replies[1:] == [CAT, "〔贴纸 抱抱〕"]
    assert world.peek.outbox.values("state") == ["sent", "sent", "cancelled", "sent"]
    await world.close()


async def test_bytes_that_are_gone_or_larger_than_they_were_are_said_as_text(tmp_path: Path) -> None:
    world = await on(tmp_path, Picky())
    gone, grown = picture(world), picture(world)
    (world.folder / gone.file).unlink()
    (world.folder / grown.file).write_bytes(PNG * 2)
    await send(world, gone)
    await send(world, grown)
    assert world.replies[1:] == [CAT, CAT]
    await world.close()


async def test_a_reaction_is_about_a_message_that_is_still_there(tmp_path: Path) -> None:
    talk = Picky()
    world = await on(tmp_path, talk)
    (line,) = world.peek.events.values("id", kind="message")
    await send(world, Reaction("❤", int(str(line))), "❤")
    assert (talk.tried[-1].target, talk.tried[-1].part) == ("m-1", Reaction("❤", int(str(line))))
    await world.say("撤回了", external_id="m-2")
    await world.app.ingest.accept(replace(world.message(""), kind="event", label="delete", target="m-1"))
    await world.app.settled()
    await send(world, Reaction("❤", int(str(line))), "")
    assert world.peek.outbox.values("state")[-1] == "cancelled"
    await world.close()


async def test_what_waits_for_its_next_try_keeps_its_bytes_and_what_was_sent_does_not(tmp_path: Path) -> None:
    talk = Picky(refusal=SendError("later", "busy", 60_000))
    world = await on(tmp_path, talk)
    await send(world, Voice(kept(world), "hi.ogg", len(PNG)), "你好呀")
    assert (len(lying(world)), world.replies[1:]) == (1, [])
    talk.refusal = None
    await world.restart()
    await world.wait(61)
    assert (talk.said[-1].content, lying(world)) == (PNG, [])
    assert world.peek.outbox("text", "payload", "medium")[-1] == ("", "", "voice")
    await world.close()


async def test_what_nothing_names_any_more_is_swept_away(tmp_path: Path) -> None:
    talk = Picky(refusal=SendError("unknown", "timed out"))
    world = await on(tmp_path, talk)
    kept(world)
    await send(world, picture(world))
    assert len(lying(world)) == 2
    await world.wait(2 * DAY)
    assert lying(world) == []
    await world.close()


async def test_who_is_erased_leaves_no_bytes_that_wait(new_world: NewWorld) -> None:
    world = await new_world()
    world.talk.sends = {"image": 100}
    await world.say("你好", "阿明")
    world.talk.broken = True
    await send(world, picture(world))
    assert len(lying(world)) == 1
    world.talk.broken = False
    await world.store.people.erase(1, world.clock.now(), None)
    await world.restart()
    assert (lying(world), CAT in world.replies) == ([], False)
