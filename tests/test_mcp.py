"""`nuan mcp` as a real process: the package's client beside an installation that answers, and a bare pipe where none
does.
"""

import json
import signal
from collections.abc import Mapping

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import Implementation, TextContent

from bot.cli.inspection import show_boot
from bot.cli.lookup import PromptTarget
from bot.cli.mcp import change_handler
from bot.ops.control import control_socket
from tests.agenting import place_of
from tests.e2e import Home, Nuan, running
from tests.fakes.openai_rules import mapping
from tests.living import active
from tests.world import World

pytestmark = pytest.mark.debugged

INFO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "管道", "version": "1"}}


async def test_an_agent_talks_to_a_child_beside_the_nuan_that_answers(world: World) -> None:
    await world.say("记住我对花生过敏")
    calls = len(world.model.requests)
    home = Home(world.folder.parent, {"BOT__TIMEZONE": "Asia/Shanghai"}, world.folder.name)
    program, *words = home.command("mcp", "--person", "console:local")
    child = StdioServerParameters(command=program, args=words, env=home.environment(), cwd=home.folder)
    errors = home.folder / "stderr.txt"
    with errors.open("w") as stderr:
        transport = stdio_client(child, errlog=stderr)
        info = Implementation(name="编辑器", version="1")
        async with (
            control_socket(world.folder, change_handler(world.app), world.log),
            Client(transport, client_info=info) as agent,
        ):

            async def ask(name: str, **arguments: object) -> str:
                result = await agent.call_tool(name, arguments)
                (content,) = result.content
                assert isinstance(content, TextContent)
                return content.text

            tools = (await agent.list_tools()).tools
            assert [tool.name for tool in tools] == ["boot", "recall", "remember", "forget", "dialog"]
            assert agent.instructions is not None
            assert await ask("boot") == await show_boot(place_of(world), PromptTarget())
            assert await ask("remember", text="喜欢用四个空格缩进") == "已记住 #2"
            assert "- #2 小王：喜欢用四个空格缩进" in await ask("recall", query="缩进用几个空格")
            assert (await ask("forget", text="花生")).startswith("已忘掉 #1。")
            assert await ask("dialog") == "还没有聊过的记录。"
    assert active(world, "text, source, agent") == [("喜欢用四个空格缩进", "mcp", "编辑器")]
    await world.say("撤销 #1")
    assert ("我对花生过敏",) in active(world)
    assert len(world.model.requests) == calls
    told = errors.read_text("utf-8")
    assert "agents_left" in told
    assert [word for word in ("Traceback", "花生", "空格", "小王", "编辑器") if word in told] == []


async def test_alone_it_keeps_for_itself_survives_rubbish_and_ends_well_on_sigterm(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.close()
    home = Home(world.folder.parent, {"BOT__TIMEZONE": "Asia/Shanghai"}, world.folder.name)
    async with running(home, "mcp") as nuan:
        told = await asked(nuan, 1, "initialize", INFO)
        assert mapping(told["result"])["serverInfo"]
        await nuan.say(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        for line in (b"", b"not json", b"\xff\xfe", b"[1,2]", b'{"jsonrpc":"2.0"}', b"x" * 300_000, b"[" * 5_000):
            await nuan.say(line)
        told = await asked(nuan, 2, "tools/call", {"name": "remember", "arguments": {"text": "我喜欢下雨"}})
        assert content(told) == "已记住 #2"
        told = await asked(nuan, 3, "tools/call", {"name": "recall", "arguments": {"query": "喜欢什么天气下雨"}})
        assert "我喜欢下雨" in content(told)
        assert mapping((await asked(nuan, 4, "no/such", {}))["error"])["code"] == -32601
        # The folder is free between two changes: another nuan can begin to answer from it.
        await world.open()
        told = await asked(nuan, 5, "tools/call", {"name": "forget", "arguments": {"id": 1}})
        assert "数据文件夹正被占用" in content(told) or "in use" in content(told)
        nuan.send(signal.SIGTERM)
        assert await nuan.ended() == 0
        assert all(line.startswith('{"jsonrpc"') for line in nuan.output.splitlines())
        assert [word for word in ("Traceback", "花生", "下雨", "xxxx") if word in nuan.errors] == []
    assert active(world) == [("我对花生过敏",), ("我喜欢下雨",)]


async def asked(nuan: Nuan, number: int, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
    """The answer to one request."""
    await nuan.say(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
    await nuan.until(lambda: any(line.get("id") == number for line in heard(nuan)))
    return next(line for line in heard(nuan) if line.get("id") == number)


def heard(nuan: Nuan) -> list[Mapping[str, object]]:
    return [mapping(json.loads(line)) for line in nuan.output.splitlines(keepends=True) if line.endswith("\n")]


def content(told: Mapping[str, object]) -> str:
    parts = mapping(told["result"])["content"]
    assert isinstance(parts, list)
    return str(mapping(parts[0])["text"])
