"""`nuan chat` as a process against a server that is as strict as OpenAI's from 5.6 on."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.e2e import KEY, Home, run, with_server
from tests.fakes.openai_dialects import marks
from tests.fakes.openai_rules import list_of, mapping, unmarked
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI

OPENAI = """[[capabilities]]
hosts = ["127.0.0.1"]
provider = "openai"
cache = "exact"
marks = "breakpoint"
cache_key = true
max_tokens_field = "max_completion_tokens"
temperature = false
thinking_off = { reasoning_effort = "none" }
written_ratio = 1.25
"""
SAID = ("我家的猫叫年糕，她今天打翻了杯子", "猫叫什么？", "下个月我想带她去海边旅行", "旅行去哪儿？", "帮我列一个清单")


def answers(asked: Asked) -> Reply:
    """Looks up what is asked with a question mark."""
    if not asked.tool_names:
        return Reply('{"summary":"聊了猫","statements": []}')
    if asked.last_role == "user" and "？</p>" in asked.last_user:
        return Reply("", (Call("memory_recall", '{"query":"猫"}'),))
    return Reply("好的呀")


async def talk(home: Home, *lines: str) -> None:
    """Say these lines, then leave."""
    ran = await run(home, "chat", stdin="".join(f"{line}\n" for line in lines).encode())
    assert ran.code == 0, ran.err


def bodies(server: FakeOpenAI) -> list[Mapping[str, object]]:
    """Every request."""
    return [mapping(json.loads(body)) for body in server.bodies]


async def test_a_whole_talk_is_marked_and_read_from_the_cache_and_a_new_persona_has_a_new_key(tmp_path: Path) -> None:
    (tmp_path / "nuan.toml").write_text(OPENAI, "utf-8")
    async with FakeOpenAI(answers, key=KEY, dialect="openai-5.6") as server:
        home = Home(tmp_path, with_server(server))
        await talk(home, *SAID)
        sent, seen = bodies(server), tuple(server.requests)
        persona = home.data_folder / "persona" / "default"
        persona.mkdir(parents=True)
        (persona / "IDENTITY.md").write_text("你是一只会说话的猫。", "utf-8")
        await talk(home, "清单里再加上罐头")
        changed = bodies(server)[-1]
        assert server.violations == []
    assert len(sent) == 7, "five turns, two of them with a tool round"
    for number, body in enumerate(sent):
        places = [place for _, place in marks(body)]
        assert places[:2] == [(0, 0), (1, 0)], "system and opening block"
        assert places[-1][0] == len(list_of(body["messages"])) - 1
        if number > 0:
            before = [unmarked(message) for message in list_of(sent[number - 1]["messages"])]
            assert places[-2][0] == len(before) - 1, "what was newest before"
            assert [unmarked(message) for message in list_of(body["messages"])][: len(before)] == before
            assert seen[number].prefix_tokens == seen[number - 1].prompt_tokens, "all of it is read"
    assert len({body["prompt_cache_key"] for body in sent}) == 1
    assert changed["prompt_cache_key"] != sent[0]["prompt_cache_key"]
