"""Who an agent speaks for, how its changes reach the nuan that answers, and what is said when they cannot."""

import asyncio
import json
import stat
import tomllib
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from bot.cli.lookup import find_principal
from bot.cli.mcp import LIBRARY_MISSING, ChangeClient, change_handler, require_library
from bot.core.errors import ConfigError, StoreError
from bot.core.files import PromptFiles
from bot.core.people import SCRIPTS, AgentReply, AgentRequest, Principal
from bot.mcp.agents import read_texts
from bot.ops.control import MOST_WAITING, SOCKET, control_socket, request_change
from bot.store.store import open_store
from tests.agenting import at_table, place_of, reading
from tests.fakes.clock import let_others_run
from tests.living import active
from tests.world import Lines, World, open_files


async def test_without_a_door_a_held_folder_takes_no_change_and_says_so(world: World) -> None:
    await world.say("记住我对花生过敏")
    async with reading(world) as agent:
        assert "数据文件夹正被占用" in await agent.refused("remember", text="我喜欢拿铁")
        assert "数据文件夹正被占用" in await agent.refused("forget", id=1)
        assert "花生" in await agent.ask("recall", query="花生过敏")
    assert len(active(world)) == 1


async def test_who_stops_waiting_undoes_nothing_and_leaves_no_lock(world: World) -> None:
    await world.say("你好")
    await world.close()
    texts, log = read_texts(PromptFiles(None).path), Lines()
    changing = ChangeClient(place_of(world), texts, log, world.clock)
    wish = AgentRequest("remember", Principal(1, 1), "probe", "我喜欢拿铁")
    waiting = asyncio.create_task(changing.carry_out(wish))
    await let_others_run()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await changing.finish()
    assert (await changing.carry_out(wish)).text == "已经记着 #1，没有再记。"
    await world.open()
    assert active(world) == [("我喜欢拿铁",)]


async def test_the_door_is_its_owners_alone_and_rubbish_does_no_harm(world: World) -> None:
    await world.say("你好")
    (world.folder / SOCKET).write_text("left by one that was killed")
    done: list[AgentRequest] = []

    async def carry_out(wish: AgentRequest) -> AgentReply:
        done.append(wish)
        return AgentReply("好", ids=(7,))

    wish = AgentRequest("forget", Principal(1, 1), "probe", "", number=7)
    async with control_socket(world.folder, carry_out, world.log):
        assert stat.S_IMODE((world.folder / SOCKET).stat().st_mode) == 0o600
        for line in (b"\n", b"{}\n", b"\xff\n", b"x" * 200_000 + b"\n", b'{"verb":"drop"}\n', b""):
            reader, writer = await asyncio.open_unix_connection(world.folder / SOCKET)
            writer.write(line)
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()
        idle = await asyncio.open_unix_connection(world.folder / SOCKET)
        assert await request_change(world.folder, wish) == AgentReply("好", ids=(7,))
    idle[1].close()
    assert done == [wish]
    assert not (world.folder / SOCKET).exists()
    assert await request_change(world.folder, wish) is None
    assert "花生" not in json.dumps(world.log.lines, default=str)


async def test_a_crowd_at_the_door_that_asks_nothing_whole_holds_little(world: World) -> None:
    await world.say("你好")
    wish = AgentRequest("remember", Principal(1, 1), "probe", "我喜欢拿铁")
    async with control_socket(world.folder, change_handler(world.app), world.log):
        before = open_files()
        idle = [await asyncio.open_unix_connection(world.folder / SOCKET) for _ in range(2 * MOST_WAITING)]
        reply = await request_change(world.folder, wish)
        assert reply is not None
        assert not reply.wrong
        assert open_files() - before - len(idle) <= MOST_WAITING
        for _, writer in idle:
            writer.close()


async def test_a_seat_is_somebody_who_takes_part(world: World) -> None:
    await world.say("你好")
    await world.say("小暖，你好", "小李", group="饭团")
    await world.say("小暖，你好", "小张", group="书房")
    assert await find_principal(world.store, "", "") == Principal(1, 1)
    assert (await find_principal(world.store, "console:person:小李", "console:group:饭团")).chat_id == 2
    for person, chat, told in (
        ("console:person:小张", "console:group:饭团", "--person"),
        ("小李", "console:group:饭团", "--person"),
        ("", "饭团", "--chat"),
        ("没有这个人", "", "--person"),
    ):
        with pytest.raises(StoreError, match=f"^{told}: give one of: "):
            await find_principal(world.store, person, chat)


async def test_who_is_gone_or_takes_no_part_is_not_spoken_for(world: World) -> None:
    await world.say("你好")
    await world.say("记住我存折密码是紫罗兰", "小李")
    for person, chat in ((99, 1), (1, 99), (1, 2), (2, 1)):
        reply = await change_handler(world.app)(
            AgentRequest("remember", Principal(person, chat), "probe", "我喜欢拿铁")
        )
        assert (reply.wrong, reply.text) == (True, "启动时指定的人或聊天已经不在了。")
    assert active(world) == [("我存折密码是紫罗兰",)]


async def test_who_leaves_a_group_is_not_spoken_for_any_more(world: World) -> None:
    await world.say("小暖，记住我周三带火锅底料", "小李", group="饭团")
    async with at_table(world, "console:person:小李", "console:group:饭团") as agent:
        assert "火锅" in await agent.ask("boot")
        await world.app.ingest.accept(replace(world.message("", "小李", "饭团"), kind="event", label="leave"))
        await world.app.settled()
        assert "不在了" in await agent.refused("boot")
        assert "不在了" in await agent.refused("remember", text="我喜欢拿铁")


@pytest.mark.parametrize("language", SCRIPTS)
def test_every_language_says_the_same(language: str) -> None:
    def shape(script: str) -> dict[str, list[str]]:
        told = tomllib.loads(PromptFiles(None).path(f"mcp/{script}.toml").read_text("utf-8"))
        return {key: sorted(hole for _, hole, _, _ in Formatter().parse(text) if hole) for key, text in told.items()}

    assert shape(language) == shape("en")


def test_without_the_library_the_extra_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        require_library("no_such_library_anywhere")
    assert caught.value.problems == (LIBRARY_MISSING,)
    assert "[mcp]" in LIBRARY_MISSING


def test_broken_texts_are_named(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "recall.json").write_text("{")
    with pytest.raises(ConfigError, match=r"mcp/recall\.json"):
        read_texts(PromptFiles(tmp_path).path)


async def test_a_folder_without_memory_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        await open_store(tmp_path, read_only=True)
