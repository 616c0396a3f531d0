"""What a strict chat.completions server refuses, and how many tokens it counts. Opens no connection."""

import json
import re
from collections.abc import Iterator, Mapping

_STANDARD = ("model", "messages", "tools", "tool_choice", "max_tokens", "temperature", "stream", "stream_options")
_LIMITS = {"max_tokens", "max_completion_tokens"}
_OTHERS: Mapping[str, tuple[object, ...]] = {
    "prompt_cache_options": ({"mode": "explicit"}, {"mode": "implicit"}),
    "thinking": ({"type": "enabled"}, {"type": "disabled"}),
    "enable_thinking": (True, False),
    "reasoning": ({"enabled": True}, {"enabled": False}),
    "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh"),
}
"""Fields of single providers, and what each may be."""
_KEYS = frozenset((*_STANDARD, *_LIMITS, *_OTHERS, "response_format", "prompt_cache_key"))
_MARKS: Mapping[str, object] = {"prompt_cache_breakpoint": {"mode": "explicit"}, "cache_control": {"type": "ephemeral"}}
MOST_MARKS, _LONGEST_KEY = 4, 64
_MESSAGE_KEYS = frozenset(("role", "content", "tool_calls", "tool_call_id", "reasoning_content"))
_NEXT = {"system": {"user"}, "user": {"assistant"}, "assistant": {"user"}, "calls": {"tool"}, "tool": {"assistant"}}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


class Violation(Exception):
    """The request breaks a rule of the protocol; the text says which."""


def check(body: Mapping[str, object]) -> None:
    """Raise Violation unless the strictest known server would take this body."""
    check_fields(body)
    if "tools" in body:
        _tools(list_of(body["tools"]))
    messages = list_of(body.get("messages"))
    _messages(messages)
    _marks(messages)


def check_fields(body: Mapping[str, object]) -> None:
    """Raise Violation for a field that no server knows, or with a value that none takes."""
    _need(not (unknown := body.keys() - _KEYS), f"unrecognized request argument: {sorted(unknown)}")
    _need(isinstance(body.get("model"), str) and body["model"] != "", "model must be a text")
    limit_of(body)
    _need("temperature" not in body or _between(body["temperature"], 0, 2), "temperature must be between 0 and 2")
    _need(isinstance(body.get("stream", False), bool), "stream must be a boolean")
    _need("stream_options" not in body or body.get("stream") is True, "stream_options needs stream")
    for name in body.keys() & _OTHERS.keys():
        _need(body[name] in _OTHERS[name], f"invalid {name}: {body[name]!r}")
    if "response_format" in body:
        _response_format(mapping(body["response_format"]), list_of(body.get("messages")))
    key = body.get("prompt_cache_key", "-")
    _need(isinstance(key, str) and 0 < len(key) <= _LONGEST_KEY, f"prompt_cache_key has at most {_LONGEST_KEY}")


def _response_format(form: Mapping[str, object], messages: list[Mapping[str, object]]) -> None:
    """Any JSON object, when the prompt says JSON; or a strict schema, closed and with every field required."""
    kind = form.get("type")
    _need(kind in ("json_object", "json_schema"), f"unknown response_format {kind!r}")
    if kind == "json_object":
        _need(form.keys() == {"type"}, "json_object takes no schema")
        _need(any("json" in text_of(one).lower() for one in messages), "the prompt must say JSON")
        return
    named = mapping(form.get("json_schema"))
    _need(_NAME.match(str(named.get("name"))) is not None and named.get("strict") is True, "a strict schema has a name")
    _closed(mapping(named.get("schema")))


def _closed(schema: Mapping[str, object]) -> None:
    if schema.get("type") == "array":
        _closed(mapping(schema.get("items")))
    if schema.get("type") == "object":
        properties = mapping(schema.get("properties"))
        _need(schema.get("additionalProperties") is False, "additionalProperties must be false")
        _need(schema.get("required") == list(properties), "every property must be required")
        for part in properties.values():
            _closed(mapping(part))


def limit_of(body: Mapping[str, object]) -> int:
    """How long the answer may be; Violation unless exactly one field says so."""
    named = sorted(body.keys() & _LIMITS)
    _need(len(named) == 1, f"expected one of {sorted(_LIMITS)}, got {named}")
    limit = body[named[0]]
    if not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0:
        raise Violation(f"{named[0]} must be a positive integer")
    return limit


def text_of(message: Mapping[str, object]) -> str:
    """The text of a message, whole or in parts."""
    content = message["content"]
    return (
        "".join(str(part.get("text", "")) for part in list_of(content)) if isinstance(content, list) else str(content)
    )


def unmarked(message: Mapping[str, object]) -> Mapping[str, object]:
    """The message without its marks."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts = [{key: value for key, value in mapping(part).items() if key not in _MARKS} for part in content]
    return {**message, "content": parts}


def list_of(value: object) -> list[Mapping[str, object]]:
    """A non-empty list of objects, or Violation."""
    if not isinstance(value, list) or not value:
        raise Violation("expected a list that is not empty")
    return [mapping(item) for item in value]


def mapping(value: object) -> Mapping[str, object]:
    """An object, or Violation."""
    if not isinstance(value, dict):
        raise Violation(f"expected an object, got {type(value).__name__}")
    return value


def items(body: Mapping[str, object]) -> Iterator[str]:
    """The request as a provider's cache sees it: each tool, then each message without its marks, as text."""
    for key in ("tools", "messages"):
        if key in body:
            yield from (json.dumps(unmarked(item), ensure_ascii=False) for item in list_of(body[key]))


def tokens(text: str) -> int:
    """About what common tokenizers count: 0.7 for a CJK character, 0.25 for another, and 4 around each item."""
    wide = sum(ord(char) >= 0x2E80 for char in text)
    return 4 + round(wide * 0.7 + (len(text) - wide) * 0.25)


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Violation(rule)


def _tools(tools: list[Mapping[str, object]]) -> None:
    names: set[str] = set()
    for tool in tools:
        _need(tool.get("type") == "function", "a tool's type must be function")
        function = mapping(tool.get("function"))
        name = str(function.get("name"))
        _need(_NAME.match(name) is not None, f"invalid tool name {name!r}")
        _need(name not in names, f"tool {name!r} is there twice")
        names.add(name)
        _need(isinstance(function.get("description"), str), f"tool {name!r} needs a description")
        schema = mapping(function.get("parameters"))
        _need(schema.get("type") == "object", f"tool {name!r}: parameters must be of type object")
        properties, required = mapping(schema.get("properties", {})), schema.get("required", [])
        for part in properties.values():
            _need("type" in mapping(part) or "enum" in mapping(part), f"tool {name!r}: a property without a type")
        _need(isinstance(required, list) and set(required) <= properties.keys(), f"tool {name!r}: unknown required")


def _messages(messages: list[Mapping[str, object]]) -> None:
    _need(messages[0].get("role") == "system", "the first message must be the system message")
    before, asked = "system", list[str]()
    _content(messages[0])
    for message in messages[1:]:
        role = str(message.get("role"))
        _need(role in _NEXT[before] | ({"tool"} if asked else set()), f"unexpected role {role!r} after {before!r}")
        _need(not asked or role == "tool", f"tool calls without an answer: {asked}")
        _content(message)
        if role == "tool":
            answered = message.get("tool_call_id")
            _need(answered in asked, f"tool_call_id {answered!r} answers no call of the message before")
            asked.remove(str(answered))
        before = role
        if "tool_calls" in message:
            _need(role == "assistant", f"tool_calls in a {role} message")
            asked, before = _calls(list_of(message["tool_calls"])), "calls"
    _need(not asked, f"tool calls without an answer: {asked}")
    _need(before in ("user", "tool"), "the last message must be a user or tool message")


def _content(message: Mapping[str, object]) -> None:
    role, content = message.get("role"), message.get("content")
    _need(not (unknown := message.keys() - _MESSAGE_KEYS), f"unknown keys in a message: {sorted(unknown)}")
    if isinstance(content, list):
        _parts(str(role), list_of(content))
    else:
        _need(isinstance(content, str), f"content of a {role} message must be a text")
    _need(content != "" or "tool_calls" in message or role == "tool", f"empty {role} message")
    thought = message.get("reasoning_content", "")
    _need(isinstance(thought, str) and ("reasoning_content" not in message or role == "assistant"), "wrong reasoning")
    _need(("tool_call_id" in message) == (role == "tool"), f"tool_call_id in a {role} message")


def _parts(role: str, parts: list[Mapping[str, object]]) -> None:
    _need(role != "assistant", "an assistant message is a text")
    for part in parts:
        _need(part.get("type") == "text", f"a {role} message may hold texts only, not {part.get('type')!r}")
        _need(isinstance(part.get("text"), str) and part["text"] != "", f"an empty part in a {role} message")
        more = part.keys() - {"type", "text"}
        _need(len(more) < 2 and more <= _MARKS.keys(), f"unknown keys in a part: {sorted(more)}")
        _need(all(part[name] == _MARKS[name] for name in more), f"a wrong mark: {part}")


def _marks(messages: list[Mapping[str, object]]) -> None:
    """At most four marks, all of one provider."""
    parts = [
        part for message in messages if isinstance(message["content"], list) for part in list_of(message["content"])
    ]
    found = [name for part in parts for name in part if name in _MARKS]
    _need(len(found) <= MOST_MARKS, f"{len(found)} marks, at most {MOST_MARKS} are allowed")
    _need(len(set(found)) < 2, "marks of two providers")


def _between(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _calls(calls: list[Mapping[str, object]]) -> list[str]:
    ids = [str(call.get("id") or "") for call in calls]
    _need(all(ids) and len(set(ids)) == len(ids), f"tool call ids must be there and differ: {ids}")
    for call in calls:
        function = mapping(call.get("function"))
        _need(call.get("type") == "function", "a tool call's type must be function")
        _need(_NAME.match(str(function.get("name"))) is not None, f"invalid tool name {function.get('name')!r}")
        arguments = function.get("arguments")
        _need(isinstance(arguments, str), "arguments must be a text")
        try:
            mapping(json.loads(str(arguments)))
        except ValueError:
            raise Violation(f"arguments are no JSON: {arguments!r}") from None
    return ids
