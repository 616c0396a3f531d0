"""`python -m tests.bench.serialised FILE`: what the requests of a short DM weigh as they are sent, part by part.

The script of tests/bench/script.py is held with the real program and a SOUL.md of SOUL tokens. Tokens are those of
o200k over the JSON of each body (tests/bench/tokens.py says what that needs), else nuan's own estimate.
"""

import argparse
import asyncio
import json
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.core.files import resource_dir
from bot.text.length import estimate_tokens
from tests.bench.day import SENTENCE
from tests.bench.script import Line, Witness, compact, read_script, talks
from tests.bench.tokens import Count, vocabularies
from tests.e2e import Home, running, with_server
from tests.fakes.openai_rules import mapping
from tests.fakes.openai_server import FakeOpenAI

SOUL = 150
"""Tokens of what a persona says of itself: what a person would write."""

PERSONA = "mine"
_SAID = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A request of that turn (0 for a digest): tokens of the whole body, of its parts, and of the items that follow
    those it shares with the request before."""

    turn: int
    whole: int
    parts: Mapping[str, int]
    outside: int


def weighed(turn: int, body: bytes, before: Sequence[str], count: Count) -> tuple[Weighed, list[str]]:
    """What a body weighs, and its items: tools, then each message."""
    text = body.decode()
    request = mapping(json.loads(text))
    messages = [mapping(each) for each in _list(request["messages"])]
    tools = compact(request["tools"]) if "tools" in request else ""
    parts = dict.fromkeys(("system", "tools", "opening", "frame", "said", "replies", "calls"), 0)
    parts["tools"] = count(tools)
    for message in messages:
        content = str(message.get("content") or "")
        if message["role"] == "system":
            parts["system"] += count(content)
        elif message["role"] == "user":
            head, mark, rest = content.partition("<ctx") if "<ctx" in content else ("", "", content)
            said = "".join(_SAID.findall(rest))
            parts["opening"] += count(head)
            parts["frame"] += count(mark + rest) - count(said)
            parts["said"] += count(said)
        else:
            parts["replies"] += count(content)
            parts["calls"] += count(compact(message["tool_calls"])) if "tool_calls" in message else 0
    whole = count(text)
    items = [tools, *map(compact, messages)]
    kept = next((place for place, (old, new) in enumerate(zip(before, items, strict=False)) if old != new), len(before))
    parts["json"] = whole - sum(parts.values())
    return Weighed(turn, whole, parts, sum(map(count, items[kept:]))), items


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


async def held(script: Sequence[Line], folder: Path, count: Count) -> list[tuple[int, bytes]]:
    """The bodies of the talk with the turn that each was sent in, data in `folder`."""
    shutil.copytree(resource_dir("data/persona") / "default", folder / "data" / "persona" / PERSONA)
    soul = SENTENCE
    while count(soul + SENTENCE) <= SOUL:
        soul += SENTENCE
    for file in (folder / "data" / "persona" / PERSONA).glob("SOUL*.md"):
        file.write_text(soul, "utf-8")
    found: list[tuple[int, bytes]] = []
    async with FakeOpenAI(Witness()) as server:
        home = Home(folder, with_server(server, PERSONA=PERSONA))
        for part in talks(script):
            async with running(home) as nuan:
                for line in part:
                    await nuan.ask(line.text or "/new")
                    new = server.bodies[len(found) :]
                    found += [(line.number if b"<ctx" in body else 0, body) for body in new]
                nuan.send(signal.SIGTERM)
                await nuan.ended()
    return found


def show(requests: Sequence[Weighed]) -> str:
    """The requests as a table."""
    names = tuple(requests[0].parts)
    lines = ["turn  whole  outside  " + "  ".join(f"{name:>7}" for name in names)]
    for one in requests:
        parts = "  ".join(f"{one.parts[name]:7d}" for name in names)
        lines.append(f"{one.turn:4d}  {one.whole:5d}  {one.outside:7d}  {parts}")
    return "\n".join(lines)


def main() -> None:
    """Hold the talk and print what its requests weigh, and what those of the first part do together."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.serialised")
    parser.add_argument("file", type=Path, help="JSON lines: phase, n, kind, text, expect")
    script = read_script(parser.parse_args().file.read_text("utf-8").splitlines())
    count = vocabularies().get("o200k", estimate_tokens)
    with tempfile.TemporaryDirectory() as folder:
        bodies = asyncio.run(held(script, Path(folder), count), debug=False)
    requests: list[Weighed] = []
    items: list[str] = []
    for turn, body in bodies:
        one, items = weighed(turn, body, items, count)
        requests.append(one)
    print(show(requests))
    last = max(line.number for line in next(iter(talks(script))))
    first = [one for one in requests if 0 < one.turn <= last]
    whole, outside = sum(one.whole for one in first), sum(one.outside for one in first)
    print(f"first request {first[0].whole}; {last} turns {whole}, of these outside the kept prefix {outside}")
    print(f"counted by {'nuan itself' if count is estimate_tokens else 'o200k'}, with a SOUL of {SOUL} tokens")


if __name__ == "__main__":
    main()
