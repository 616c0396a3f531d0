"""What a model is asked and what it answers, in one canonical form; what that costs and what may be spent; embeddings;
what a server can do."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from bot.core.errors import OverBudget

Role = Literal["system", "user", "assistant", "tool"]

CacheRule = Literal["none", "prefix", "exact", "units"]
"""What a provider's cache matches: nothing, the longest equal prefix, marked prefixes only, whole units of requests."""

MarkStyle = Literal["none", "breakpoint", "cache_control"]
"""How the end of a prefix worth keeping is marked in a request: not, in OpenAI's words, in Anthropic's words."""

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

JsonMode = Literal["none", "object", "schema"]
"""How a server can be told to answer in JSON: not at all, any object, or by a strict schema (response_format)."""

CACHED_FIELDS = (
    "prompt_tokens_details.cached_tokens",
    "cached_tokens",
    "prompt_cache_hit_tokens",
    "cache_read_input_tokens",
    "input_tokens_details.cached_tokens",
    "cached_content_token_count",
    "timings.cache_n",
)
"""Every field known to count input that was read from a cache (PROMPT_ECONOMICS, section 1), in usage or beside it."""

WRITTEN_FIELDS = (
    "prompt_tokens_details.cache_write_tokens",
    "prompt_tokens_details.cache_creation_input_tokens",
    "cache_write_tokens",
    "cache_creation_input_tokens",
)
"""Every field known to count input that was written to a cache."""

BudgetPeriod = Literal["day", "month", "total"]
"""What a limit counts over: a local day, a calendar month, or for ever."""

BUDGET_PERIODS: tuple[BudgetPeriod, ...] = ("day", "month", "total")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asks for; `arguments` is the model's own JSON text, not yet checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One item of a prompt. `reasoning` is kept only for models that demand it back.

    The first `opening` characters of the content are the opening block, 0 where there is none.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""
    opening: int = 0

    def wire(self) -> dict[str, object]:
        """The message in the chat.completions form, keys in a fixed order."""
        body: dict[str, object] = {"role": self.role, "content": self.content}
        if self.reasoning:
            body["reasoning_content"] = self.reasoning
        if self.tool_calls:
            body["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        if self.tool_call_id:
            body["tool_call_id"] = self.tool_call_id
        return body

    def canonical(self) -> str:
        """The one JSON text of this message as it is stored: with an opening block its content has two parts."""
        body = self.wire()
        if self.opening:
            texts = (self.content[: self.opening], self.content[self.opening :])
            body["content"] = [{"type": "text", "text": text} for text in texts]
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Message":
        """Read back what `canonical` wrote."""
        body = json.loads(text)
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in body.get("tool_calls", ())
        )
        parts = body["content"]
        texts = [part["text"] for part in parts] if isinstance(parts, list) else [parts]
        return cls(
            body["role"],
            "".join(texts),
            calls,
            body.get("tool_call_id", ""),
            body.get("reasoning_content", ""),
            opening=len(texts[0]) if len(texts) > 1 else 0,
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as the model sees it; `parameters` is a JSON schema as canonical JSON text."""

    name: str
    description: str
    parameters: str

    def wire(self) -> dict[str, object]:
        """The tool in the chat.completions form, keys in a fixed order."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": json.loads(self.parameters),
            },
        }


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tools and messages, in the order they are sent."""

    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """What an answer must look like, for servers that can be told: a name and a strict JSON schema as JSON text."""

    name: str
    schema: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model: what is asked, at most how much may come back (tokens), and by when (seconds).

    When `first_s` is not 0, the first piece of a streamed answer has to be there in so many seconds.

    `cache_key` names the stable prefix; "" for a one-off request, of which nothing is worth keeping in a cache. With a
    `shape` the answer is to be one JSON object of it. `on_sent` is called when it goes out. `off_record` reads the lines
    of the prompt that are to be kept nowhere: a model without judgement quotes none of them.
    """

    prompt: Prompt
    max_tokens: int
    temperature: float
    deadline_s: float
    cache_key: str = ""
    shape: ResponseFormat | None = None
    first_s: float = 0.0
    on_sent: Callable[[], None] | None = field(default=None, compare=False, repr=False)
    off_record: Callable[[], Awaitable[tuple[str, ...]]] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; `returned` is False when it did not and the figures are estimates.

    Of the prompt, `cached_tokens` were read from the provider's cache and `written_tokens` written to it; of the
    output, `reasoning_tokens` were thoughts.
    """

    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    returned: bool = True
    written_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """One finished answer: text, or tool calls, or both. `raw` is the text with what is not to be shown, if any."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    reasoning: str = ""
    raw: str = ""

    def message(self) -> Message:
        """The raw answer as it enters the log."""
        return Message("assistant", self.raw or self.text, self.tool_calls, reasoning=self.reasoning)


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector of length 1 for each text, in order, as little-endian float32; `tokens` None: nobody counted."""

    vectors: tuple[bytes, ...]
    dimensions: int
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class MissingEmbedding:
    """A document that has no vector yet: its number, the chat on whose account the call goes, its text."""

    id: int
    chat_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One model on one server. The defaults are safe for a server that nothing is known of.

    Sizes are tokens, `cache_life_seconds` is how long a prefix is kept; ratios are parts of the price of uncached
    input, None where the provider is not known to have such a price. `thinking_off` and `thinking_on` are merged into
    the request; a model with neither cannot be switched. `keep_reasoning`: it wants its reasoning back in later
    requests. `cache_header` carries the cache key where a header does.
    """

    provider: str = "plain"
    cache: CacheRule = "none"
    marks: MarkStyle = "none"
    cache_key: bool = False
    cache_header: str = ""
    cache_min_tokens: int = 0
    cache_life_seconds: int | None = None
    cached_ratio: float | None = None
    written_ratio: float | None = None
    usage_cached: tuple[str, ...] = CACHED_FIELDS
    usage_written: tuple[str, ...] = WRITTEN_FIELDS
    thinking_off: Mapping[str, object] = field(default_factory=dict)
    thinking_on: Mapping[str, object] = field(default_factory=dict)
    keep_reasoning: bool = False
    max_tokens_field: MaxTokensField = "max_tokens"
    temperature: bool = True
    json_mode: JsonMode = "none"
    embeddings: bool = True
    vision: bool = True
    transcription: bool = True
    speech: bool = True
    drawing: bool = True
    picture_format: bool = True


@dataclass(frozen=True, slots=True)
class BudgetReset:
    """Who had the limits of a period count anew ("": nobody known any more), and when, ms."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens in the configured currency: input uncached and cached, output, input cached anew."""

    input: float
    cached: float
    output: float
    written: float

    @property
    def costs(self) -> bool:
        """Whether any of it is not free."""
        return any((self.input, self.cached, self.output, self.written))


PriceAt = Callable[[int], Price]
"""The prices at an instant, ms: some providers ask more at certain hours."""


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Limits in money and in tokens; None means no limit.

    Per local day and calendar month and for ever over everything, per local day and calendar month for each chat and
    for each person.
    """

    day_money: float | None
    month_money: float | None
    day_tokens: int | None
    month_tokens: int | None
    total_money: float | None = None
    total_tokens: int | None = None
    chat_money: float | None = None
    chat_tokens: int | None = None
    person_money: float | None = None
    person_tokens: int | None = None
    chat_month_money: float | None = None
    chat_month_tokens: int | None = None
    person_month_money: float | None = None
    person_month_tokens: int | None = None

    @property
    def of_tokens(self) -> "BudgetLimits":
        """Those in tokens alone: what costs nothing passes no limit in money."""
        return replace(self, **{each.name: None for each in fields(self) if each.name.endswith("_money")})

    def still_met(self, refused: OverBudget) -> bool:
        """Whether the limit that refused a call is there and no larger since."""
        now: float | None = getattr(self, refused.limit, None)
        return now is not None and now <= refused.most


@dataclass(frozen=True, slots=True)
class CallUse:
    """What one model call used: when (ms), for which chat and why, tokens, money, and for whom (digests: nobody)."""

    at: int
    chat_id: int
    cause: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float
    person_id: int | None = None


@dataclass(frozen=True, slots=True)
class Spend:
    """What was used since `since`, ms, reservations in flight included."""

    since: int
    money: float
    tokens: int
    calls: int
    prompt_tokens: int
    cached_tokens: int
    reserved_money: float
    reserved_tokens: int


@dataclass(frozen=True, slots=True)
class BudgetPressure:
    """The fullest limit that a call would count for: its name, and the part of it that is used, from 0."""

    share: float = 0.0
    limit: str = ""


@dataclass(frozen=True, slots=True)
class RecentCall:
    """One call as it is listed: when (ms), why, which model, tokens, money, how long it took (ms), how it ended.

    `written_tokens` of the prompt were cached anew, `reasoning_tokens` of the output were thoughts. `counted` is who
    counted.
    """

    at: int
    cause: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float
    ms: int
    state: str
    written_tokens: int = 0
    reasoning_tokens: int = 0
    counted: str = ""
