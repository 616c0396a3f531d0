"""What the servers of different providers refuse beyond the common rules: fields, marks, lists of parts, reasoning."""

from collections.abc import Iterator, Mapping
from typing import Literal

from tests.fakes.openai_rules import Violation, list_of, mapping

DialectName = Literal["any", "plain", "openai-5.5", "openai-5.6", "deepseek", "cache_control", "xai", "mistral"]
"""Whose rules hold: those of all servers together, of one that knows the common form only, of one provider."""

_COMMON = frozenset(("model", "messages", "tools", "tool_choice", "temperature", "stream", "stream_options"))
_OPENAI = _COMMON - {"temperature"} | {
    "max_completion_tokens",
    "prompt_cache_key",
    "reasoning_effort",
    "response_format",
}
_OLD = _COMMON | {"max_tokens"}
FIELDS: Mapping[DialectName, frozenset[str]] = {
    "plain": _OLD,
    "openai-5.5": _OPENAI,
    "openai-5.6": _OPENAI | {"prompt_cache_options"},
    "deepseek": _OLD | {"thinking", "response_format"},
    "cache_control": _OLD | {"enable_thinking", "reasoning", "response_format"},
    "xai": _OLD | {"max_completion_tokens", "response_format"},
    "mistral": _OLD | {"prompt_cache_key", "response_format"},
}
MARKS: Mapping[DialectName, str] = {"openai-5.6": "prompt_cache_breakpoint", "cache_control": "cache_control"}
PARTS = ("any", "openai-5.5", "openai-5.6", "cache_control", "xai", "mistral")
"""Dialects in which a content may be a list of parts."""


def check_dialect(body: Mapping[str, object], dialect: DialectName) -> None:
    """Raise Violation for what this provider refuses of a body that is right by the common rules."""
    if dialect == "any":
        return
    unknown = sorted(body.keys() - FIELDS[dialect])
    if unknown:
        raise Violation(f"{dialect} does not know {unknown}")
    form = mapping(body.get("response_format", {})).get("type", "")
    if form == "json_schema" and dialect in ("deepseek", "cache_control"):
        raise Violation(f"{dialect}: this response_format type is unavailable now")
    for message in list_of(body.get("messages")):
        if isinstance(message.get("content"), list) and dialect not in PARTS and not _seen(message):
            raise Violation(f"{dialect} wants texts, no lists of parts")
        if "reasoning_content" in message and dialect != "deepseek":
            raise Violation(f"{dialect} does not know reasoning_content")
    wrong = {mark for mark, _ in marks(body)} - {MARKS.get(dialect, "")}
    if wrong:
        raise Violation(f"{dialect} does not know {sorted(wrong)}")
    # DeepSeek thinks unless it is told not to, and then wants every thought back.
    if dialect == "deepseek" and mapping(body.get("thinking", {})).get("type") != "disabled":
        for message in list_of(body["messages"]):
            if message["role"] == "assistant" and "reasoning_content" not in message:
                raise Violation("The `reasoning_content` in the thinking mode must be passed back to the API.")


def _seen(message: Mapping[str, object]) -> bool:
    return any(part.get("type") == "image_url" for part in list_of(message["content"]))


def marks(body: Mapping[str, object]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Every mark with its place: the number of the message and of the part in it."""
    for number, message in enumerate(list_of(body.get("messages"))):
        parts = message.get("content")
        for at, part in enumerate(parts if isinstance(parts, list) else ()):
            yield from ((key, (number, at)) for key in mapping(part) if key not in ("type", "text", "image_url"))


def counted(body: Mapping[str, object], dialect: DialectName) -> list[bool]:
    """For each tool and message whether its end is the end of a prefix that a cache may hold.

    Where only marks count, an end counts that is marked.
    """
    tools, messages = list_of(body["tools"]) if "tools" in body else [], list_of(body["messages"])
    if dialect not in MARKS:
        return [True] * (len(tools) + len(messages))
    ends = {number for _, (number, at) in marks(body) if at == len(list_of(messages[number]["content"])) - 1}
    return [False] * len(tools) + [number in ends for number in range(len(messages))]
