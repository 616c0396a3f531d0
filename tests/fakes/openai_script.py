"""What the fake server says: a reply, tool calls or a fault, from a callable or from a file of rules."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from tests.fakes.openai_rules import list_of, mapping, text_of

Fault = Literal[
    "html200",  # status 200 and a web page
    "choices_null",
    "error200",  # status 200 and {"error": …}
    "broken_json",
    "cut",  # the connection ends in the middle of the answer
    "no_finish",  # the answer ends properly, but without finish_reason
    "drip",  # one token each 0.05 s, for ever
    "hang",  # never a byte
    "http",  # `status`, with Retry-After if `retry_after`
    "bad_tool_args",
    "truncated_tool_args",
    "unknown_tool",
    "empty",
    "length",
    "content_filter",
    "context_overflow",
    "reset",  # a TCP reset in the middle of the answer
    "error_stream",  # an error object in the middle of a stream
    "plain_json",  # asked to stream, answers with one JSON object
]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `arguments` is sent as it is."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the server."""

    text: str = "好的，我知道了。"
    calls: tuple[Call, ...] = ()
    fault: Fault | None = None
    status: int = 500
    retry_after: int | None = None
    reasoning: str = ""
    pieces: int = 2  # how many of a stream come before a fault in its middle


@dataclass(frozen=True, slots=True)
class Asked:
    """One valid request, as a script sees it."""

    raw: bytes
    body: Mapping[str, object]

    @property
    def messages(self) -> list[Mapping[str, object]]:
        """Every message."""
        return list_of(self.body["messages"])

    @property
    def last_role(self) -> str:
        """The role of the last message: user, or tool when results were sent back."""
        return str(self.messages[-1]["role"])

    @property
    def last_user(self) -> str:
        """The text of the last user message."""
        return next(text_of(message) for message in reversed(self.messages) if message["role"] == "user")

    @property
    def tool_names(self) -> list[str]:
        """The offered tools."""
        tools = list_of(self.body["tools"]) if "tools" in self.body else []
        return [str(mapping(tool["function"])["name"]) for tool in tools]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request as it came. `prefix_*` count the longest run of items that an earlier request began with."""

    raw: bytes
    violation: str
    prompt_tokens: int
    prefix_items: int
    prefix_tokens: int
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def cached_tokens(self) -> int:
        """What OpenAI would report: nothing under 1,024 tokens, then in steps of 128."""
        return self.prefix_tokens // 128 * 128 if self.prefix_tokens >= 1024 else 0

    def line(self) -> str:
        """One line of the record file; `body` is the request's own text."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in ("raw", "headers")}
        body = self.raw.decode("utf-8", "replace")
        return json.dumps({"body": body, **fields, "cached_tokens": self.cached_tokens}, ensure_ascii=False) + "\n"


Script = Callable[[Asked], Reply]


def plain(asked: Asked) -> Reply:
    """The default script: the same short reply to everything."""
    return Reply()


def rules(lines: Iterable[str]) -> Script:
    r"""A script from JSON lines; the first rule whose `match` is found in the last user content answers.

    {"match": "你好", "reply": "你好呀"}
    {"match": "过敏", "tool": "memory_recall", "arguments": {"query": "过敏"}}   not after a tool's result
    {"match": "过敏", "after_tool": true, "reply": "花生"}                       only after a tool's result
    {"match": ".", "fault": "http", "status": 429, "retry_after": 2, "times": 1}   at most `times` times
    """
    table = [(mapping(json.loads(line)), [0]) for line in lines if line.strip()]
    for rule, _ in table:
        re.compile(str(rule["match"]))
        if "fault" in rule and rule["fault"] not in get_args(Fault):
            raise ValueError(f"unknown fault {rule['fault']!r}")

    def answer(asked: Asked) -> Reply:
        for rule, used in table:
            after_tool = asked.last_role == "tool"
            if after_tool != rule.get("after_tool", False) and ("after_tool" in rule or "tool" in rule):
                continue
            if used[0] >= _number(rule.get("times"), 10**9) or not re.search(str(rule["match"]), asked.last_user):
                continue
            used[0] += 1
            return _reply(rule)
        return Reply()

    return answer


def _reply(rule: Mapping[str, object]) -> Reply:
    arguments = rule.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    calls = (Call(str(rule["tool"]), text),) if "tool" in rule else ()
    fault = next((one for one in get_args(Fault) if one == rule.get("fault")), None)
    wait = rule.get("retry_after")
    return Reply(
        str(rule.get("reply", "" if calls else Reply().text)),
        calls,
        fault,
        _number(rule.get("status"), 500),
        wait if isinstance(wait, int) else None,
        str(rule.get("reasoning", "")),
    )


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise
