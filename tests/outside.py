"""Servers of outside tools for tests: programs that this process starts, in a World that has them configured."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.config.settings import Settings
from bot.core.models import ModelRequest
from tests.fakes.model import Answer, calls
from tests.fork_server import command
from tests.source import ROOT
from tests.world import World

BROKEN = str(ROOT / "tests/fakes/broken_server.py")

Step = tuple[str, Mapping[str, object]]


def use(name: str, **arguments: object) -> Step:
    """The model calls an outside tool."""
    return "tool_use", {"name": name, "arguments": arguments}


def find(words: str) -> Step:
    """The model looks for outside tools."""
    return "tool_find", {"words": words}


def steps(world: World, *wanted: Step) -> None:
    """In each turn the model makes these calls, one after the other, then answers."""

    def script(request: ModelRequest) -> Answer:
        messages = request.prompt.messages
        last = max(place for place, message in enumerate(messages) if message.role == "user")
        done = sum(message.role == "tool" for message in messages[last:])
        if not request.prompt.tools or done >= len(wanted):
            return "好的"
        name, arguments = wanted[done]
        return calls((name, json.dumps(arguments, ensure_ascii=False)))

    world.model.script = script


def results(world: World) -> list[str]:
    """What the tools answered in the newest turn."""
    messages = world.turns[-1]
    last = max(place for place, message in enumerate(messages) if message.role == "user")
    return [message.content for message in messages[last:] if message.role == "tool"]


def program(folder: Path, **rules: object) -> dict[str, object]:
    """The table of a server that keeps its things in that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    started, *args = command("tests.fakes.outside_server", str(folder))
    return {"command": started, "args": args, "timeout_seconds": 60, **rules}


def broken(folder: Path, **rules: object) -> dict[str, object]:
    """The table of a server that fails as `fail` says."""
    folder.mkdir(parents=True, exist_ok=True)
    return {"command": sys.executable, "args": ["-S", "-P", BROKEN, str(folder)], "timeout_seconds": 60, **rules}


def fail(folder: Path, way: str) -> None:
    """From now on it fails in that way."""
    (folder / "way").write_text(way, "utf-8")


def alive(folder: Path) -> list[int]:
    """The processes that it started and that still run."""
    numbers = [int(line) for line in (folder / "pids").read_text("utf-8").split()]
    return [number for number in numbers if Path(f"/proc/{number}").exists() and not _is_dead(number)]


def _is_dead(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def behave(folder: Path, **rules: object) -> None:
    """From its next start or listing on it behaves so."""
    (folder / "rules.json").write_text(json.dumps(rules, ensure_ascii=False), "utf-8")


def called(folder: Path) -> list[list[object]]:
    """The calls that reached it, with their arguments."""
    path = folder / "calls.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def settings(servers: Mapping[str, Mapping[str, object]], **tables: object) -> Settings:
    """With these servers."""
    body = {"bot": {"timezone": "Asia/Shanghai"}, "mcp": {"servers": servers}, **tables}
    return Settings.model_validate(body)


async def approve(world: World, name: str) -> str:
    """The owner looks at a server and approves it; what they were shown."""
    before = len(world.talk.said)
    await world.say(f".ai mcp {name}")
    shown = world.talk.said[before:]
    (button,) = shown[-1].buttons
    await world.say(button.text)
    return "\n".join(out.text for out in shown)
