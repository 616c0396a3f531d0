"""Models as they are on their providers' servers, spoken to on this machine; and a conversation that grows."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.core.models import Capabilities, Completion, Message, ModelRequest, Prompt, ToolSpec
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect, known_capabilities
from bot.pipeline.endpoints import shipped_rules
from tests.fakes.openai_dialects import DialectName, marks
from tests.fakes.openai_rules import list_of, mapping, unmarked
from tests.fakes.openai_script import Asked, Call, Reply
from tests.fakes.openai_server import FakeOpenAI

TOOL = ToolSpec("memory_recall", "查找记忆", '{"type":"object","properties":{"query":{"type":"string"}}}')
OPENING = "今天是星期五，你记得小王喜欢猫。" * 40 + "\n\n"
FIRST = Message("user", f"{OPENING}<ctx>你好</ctx>", opening=len(OPENING))
SYSTEM = Message("system", "你是小暖，一个温暖的朋友。" * 200)

URLS = {
    "openai": "https://api.openai.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "kimi": "https://api.moonshot.cn/v1",
    "glm": "https://open.bigmodel.cn/api/paas/v4",
    "xai": "https://api.x.ai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "unknown": "https://llm.example.com/v1",
}
"""The providers' addresses."""

ENDPOINTS: dict[str, tuple[str, str, DialectName]] = {
    "openai-5.6": ("openai", "gpt-5.6-terra", "openai-5.6"),
    "openai-5.5": ("openai", "gpt-5.5", "openai-5.5"),
    "qwen": ("qwen", "qwen3.8-max", "cache_control"),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-5.5", "cache_control"),
    "deepseek": ("deepseek", "deepseek-v4-flash", "deepseek"),
    "xai": ("xai", "grok-5", "xai"),
    "mistral": ("mistral", "mistral-large-latest", "mistral"),
    "unknown": ("unknown", "some-model", "plain"),
}
"""Provider, model, and the dialect in which the fake server is as strict as that provider."""


def known(provider: str, name: str) -> Capabilities:
    """What the shipped table says."""
    return known_capabilities(shipped_rules(), URLS[provider], name)


@dataclass
class Line:
    """A conversation with one model; `log` is what it has been sent and has answered."""

    model: OpenAIModel
    server: FakeOpenAI
    log: tuple[Message, ...] = (SYSTEM,)

    async def ask(self, *added: Message, key: str = "nuan-1", tools: tuple[ToolSpec, ...] = (TOOL,)) -> Completion:
        """Append, ask, keep the answer."""
        self.log += added
        answer = await self.model.complete(ModelRequest(Prompt(tools, self.log), 200, 0.7, 5.0, key))
        self.log += (answer.message(),)
        return answer

    async def talk(self) -> None:
        """Two plain turns, a turn with two tools at once, another turn."""
        await self.ask(FIRST)
        await self.ask(Message("user", "猫叫年糕"))
        called = await self.ask(Message("user", "查一下"))
        await self.ask(*(Message("tool", "喜欢猫", tool_call_id=call.id) for call in called.tool_calls))
        await self.ask(Message("user", "再见"))

    @property
    def bodies(self) -> list[Mapping[str, object]]:
        """Every request."""
        return [mapping(json.loads(body)) for body in self.server.bodies]

    @property
    def marked(self) -> list[list[tuple[int, int]]]:
        """The places of the marks in every request: message and part."""
        return [[place for _, place in marks(body)] for body in self.bodies]

    def stripped(self) -> Iterator[list[bytes]]:
        """The messages of every request without their marks, as bytes."""
        for body in self.bodies:
            yield [json.dumps(unmarked(item), ensure_ascii=False).encode() for item in list_of(body["messages"])]


def looks_up(asked: Asked) -> Reply:
    """Calls two tools when it is asked to look something up."""
    if asked.last_role == "user" and asked.last_user.endswith("查一下"):
        calls = (Call("memory_recall", '{"query":"猫"}'), Call("memory_recall", '{"query":"年糕"}'))
        return Reply("", calls, reasoning="要查两次")
    return Reply("好的呀", reasoning="想一想")


@asynccontextmanager
async def line(endpoint: str, *, thinking: bool = False, name: str = "") -> AsyncIterator[Line]:
    """A talk with one provider's model; at its end nothing that the provider refuses was sent."""
    provider, model_name, dialect = ENDPOINTS[endpoint]
    async with FakeOpenAI(looks_up, dialect=dialect) as server:
        can = known(provider, name or model_name)
        model = OpenAIModel(server.base_url, "", name or model_name, speaks=Dialect(can, thinking))
        talk = Line(model, server)
        try:
            yield talk
        finally:
            await model.close()
        assert server.violations == []
