"""What a provider can do and how it wants a request: capability rules, cache marks, thinking switch, field names."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from bot.config.models import CapabilityRule
from bot.core.models import Capabilities, JsonMode, Message, ModelRequest, Prompt, ResponseFormat

PATTERNS = {"hosts", "models"}

MARK_FIELDS: Mapping[str, Mapping[str, object]] = {
    "breakpoint": {"prompt_cache_breakpoint": {"mode": "explicit"}},
    "cache_control": {"cache_control": {"type": "ephemeral"}},
}
"""What a text part carries whose end is marked."""


@dataclass(frozen=True, slots=True, order=True)
class CacheMark:
    """The end of one message, or with `opening` the end of the opening block that it begins with."""

    message: int
    opening: bool = False


def cache_marks(prompt: Prompt) -> tuple[CacheMark, ...]:
    """At most four (OpenAI writes and Anthropic takes no more), in order: end of system, opening block, what was newest in the last request, what is newest now.

    Of the last request the newest message is the one before the last answer: reading there always hits.
    """
    messages = prompt.messages
    found = {CacheMark(len(messages) - 1)} if messages else set()
    if messages and messages[0].role == "system":
        found.add(CacheMark(0))
    opened = next((number for number, message in enumerate(messages) if message.opening), None)
    if opened is not None:
        found.add(CacheMark(opened, opening=True))
    answers = [number for number, message in enumerate(messages) if message.role == "assistant"]
    if answers and answers[-1] > 1:
        found.add(CacheMark(answers[-1] - 1))
    return tuple(sorted(found))


def known_capabilities(rules: Iterable[CapabilityRule], base_url: str, name: str) -> Capabilities:
    """What the rules say of that model on that server, later rules before earlier ones; unknown: safe defaults.

    A gateway's "vendor/model" fits what is said of "model", too.
    """
    host = (urlsplit(base_url).hostname or "").lower()
    names = {name.lower(), name.lower().rpartition("/")[2]}
    known: dict[str, object] = {}
    for rule in rules:
        if any(fnmatchcase(host, glob.lower()) for glob in rule.hosts) and any(
            fnmatchcase(each, glob.lower()) for each in names for glob in rule.models
        ):
            # Only what a rule says: a table that is silent about something does not take it back.
            known |= {key: getattr(rule, key) for key in rule.model_fields_set - PATTERNS}
    return Capabilities(**{key: value for key, value in known.items() if value is not None})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a model can do, and whether it is to think."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    thinking: bool = False

    @property
    def keeps_reasoning(self) -> bool:
        """Whether answers are kept with their reasoning: where it is wanted back, unless no reasoning is made."""
        can = self.capabilities
        return can.keep_reasoning and (self.thinking or not can.thinking_off)

    def messages(self, request: ModelRequest) -> list[dict[str, object]]:
        """The messages as they are sent. Where ends are marked every text is a list of parts, marked or not:

        between two requests nothing of a message changes but its marks.
        """
        style, every = self.capabilities.marks, request.prompt.messages
        if not self.capabilities.keep_reasoning:
            # What another model thought is none of this one's fields.
            every = tuple(replace(message, reasoning="") if message.reasoning else message for message in every)
        if style == "none":
            sent = [message.wire() for message in every]
        else:
            marked = frozenset(cache_marks(request.prompt)) if request.cache_key else frozenset[CacheMark]()
            sent = [_in_parts(message, number, marked, MARK_FIELDS[style]) for number, message in enumerate(every)]
        if self.keeps_reasoning:
            # While it thinks it refuses answers without thoughts, whoever gave them: another model, or it before.
            sent = [
                body | {"reasoning_content": body.get("reasoning_content", "")} if body["role"] == "assistant" else body
                for body in sent
            ]
        return sent

    def fields(self, request: ModelRequest) -> dict[str, object]:
        """Fields of the body that the common form does not have."""
        can, body = self.capabilities, dict[str, object]()
        if can.cache_key and request.cache_key:
            body["prompt_cache_key"] = request.cache_key
        if can.marks == "breakpoint":
            # Without it the newest message is marked by the server itself, in one-off requests too, at the write price.
            body["prompt_cache_options"] = {"mode": "explicit"}
        if request.shape is not None and can.json_mode != "none":
            body["response_format"] = _response_format(request.shape, can.json_mode)
        return body | dict(can.thinking_on if self.thinking else can.thinking_off)

    def headers(self, request: ModelRequest) -> dict[str, str]:
        """Headers that lead requests with the same beginning to the same cache."""
        name = self.capabilities.cache_header
        return {name: request.cache_key} if name and request.cache_key else {}

    def limits(self, request: ModelRequest) -> dict[str, object]:
        """How long the answer may be, and how free, in the server's words."""
        limits: dict[str, object] = {self.capabilities.max_tokens_field: request.max_tokens}
        return limits | {"temperature": request.temperature} if self.capabilities.temperature else limits


def _response_format(shape: ResponseFormat, mode: JsonMode) -> dict[str, object]:
    """How a request asks for an answer of that shape."""
    if mode == "object":
        return {"type": "json_object"}
    schema = {"name": shape.name, "strict": True, "schema": json.loads(shape.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _in_parts(
    message: Message, number: int, marked: frozenset[CacheMark], mark: Mapping[str, object]
) -> dict[str, object]:
    """The message with its text as parts: the opening block and the rest, each with its mark if it has one."""
    body = message.wire()
    if message.role == "assistant" or not message.content:  # a list of no parts is refused
        return body
    ends = [(message.content[: message.opening], CacheMark(number, opening=True))] if message.opening else []
    ends.append((message.content[message.opening :], CacheMark(number)))
    body["content"] = [
        {"type": "text", "text": text} | (dict(mark) if place in marked else {}) for text, place in ends if text
    ]
    return body


PLAIN_DIALECT = Dialect()
"""The common form, for servers that nothing is known of."""
