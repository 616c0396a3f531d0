"""A list too long for one answer: the button below it shows the next page, over the wire of each platform."""

from dataclasses import replace
from pathlib import Path

from bot.config.settings import Settings
from bot.core.events import Incoming
from tests.discord_support import Town, adapter_for, running
from tests.fakes.discord_server import FakeDiscord
from tests.fakes.telegram_faults import Limits
from tests.fakes.telegram_server import FakeTelegram
from tests.telegram_stage import ANN, stage
from tests.world import World

KEPT = 12


async def answered(world: World, incoming: Incoming) -> None:
    """That nuan has answered what a platform brought, as if it came now."""
    await world.app.ingest.accept(replace(incoming, at=world.clock.now()))
    await world.settled()


async def opened(folder: Path, platform: str, account: str) -> World:
    """A nuan to which whoever has that account may talk."""
    world = World(folder, Settings.model_validate({platform: {"allow": [account]}}), (platform,))
    await world.open()
    return world


async def filled(world: World, asked: Incoming) -> None:
    """Keeps more of whoever asked than one page shows."""
    for number in range(KEPT):
        text = f"记住我的第{number}个柜子放着{chr(0x6A0A + 7 * number) * 3}"
        await answered(world, replace(asked, text=text, external_id=f"9{number}", delivery_key=f"kept {number}"))
        await world.wait(10)


def shows_the_rest(first: str, second: str) -> bool:
    """Whether two pages show everything, each thing once, and only the first tells of more."""
    rows = [line for page in (first, second) for line in page.splitlines() if "柜子" in line]
    return len(set(rows)) == len(rows) == KEPT and ("还有" in first, "还有" in second) == (True, False)


async def test_the_button_below_a_list_shows_the_next_page_on_telegram(tmp_path: Path) -> None:
    async with FakeTelegram(limits=Limits(private=1000.0, burst=1000)) as server, stage(server) as on:
        world = await opened(tmp_path / "data", "telegram", str(ANN.id))
        server.people.say(ANN.id, ANN, ".ai mem")
        (asked,) = await on.sink.until(1)
        await filled(world, asked)
        await answered(world, asked)
        (sent,) = await on.adapter.send(world.talk.said[-1])
        (shown,) = server.sent(ANN.id)
        assert list(shown.buttons) == ["更多"]
        server.people.press(replace(server.people.say(ANN.id, ANN, "嗯"), message_id=int(sent)), ANN, "更多")
        (*_, pressed) = await on.sink.until(3)
        await answered(world, pressed)
        await on.adapter.send(world.talk.said[-1])
        first, second = server.sent(ANN.id)
        assert shows_the_rest(first.text, second.text)
        assert second.buttons == {}
        await world.close()


async def test_the_button_below_a_list_shows_the_next_page_on_discord(tmp_path: Path) -> None:
    async with FakeDiscord() as server:
        town, scene = Town(server), adapter_for(server)
        async with running(server, scene):
            world = await opened(tmp_path / "data", "discord", str(town.lin.id))
            town.say(town.dm, town.lin, ".ai mem")
            await scene.sink.until(lambda: bool(scene.sink.stored))
            await filled(world, scene.sink.stored[0])
            await answered(world, scene.sink.stored[0])
            await scene.adapter.send(world.talk.said[-1])
            shown = town.dm.messages[-1]
            (button,) = [each for row in shown.components for each in row["components"]]
            assert button["label"] == "更多"
            pressed = server.people.press(shown, button["custom_id"], town.lin)
            await scene.sink.until(lambda: len(scene.sink.stored) == 2)
            await answered(world, scene.sink.stored[1])
            await scene.adapter.send(world.talk.said[-1])
            assert shows_the_rest(shown.content, pressed.answers[-1].content)
            await world.close()
