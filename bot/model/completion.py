"""Builds one completion from whatever JSON a server sent, and removes from a reply what belongs to the prompt or the
template (repeated marks, role labels, tool calls written as text); trusts no shape, opens no connection."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from bot.core.errors import ModelError, ModelFault
from bot.core.models import CACHED_FIELDS, WRITTEN_FIELDS, Completion, ToolCall, Usage
from bot.text.catalogue import LazyPattern, read_table
from bot.text.clean import clean

MAX_CHARS = 1_000_000
"""Characters after which an answer is given up: far above any max_tokens, far below what hurts the machine."""
MAX_CALLS = 128
"""Tool calls after which one is given up; a turn carries out far fewer."""

_THINK = LazyPattern(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THINK_END = LazyPattern(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINK_BEGUN = LazyPattern(r"</?[a-z]{0,8}\Z", re.IGNORECASE)
_OVERFLOW = LazyPattern(
    r"context.?(?:length|window|size)|maximum context|prompt is too long|too many tokens", re.IGNORECASE
)
_FILTERED = LazyPattern(
    r"content.?(?:filter|policy|management)|data_?inspection|moderation|safety|sensitive.(?:content|word)",
    re.IGNORECASE,
)
_WORD = LazyPattern(r"[A-Za-z0-9_.:-]{1,64}")
_BUSY = LazyPattern(r"rate.?limit|overload|server.?error|unavailable|busy|\b429\b|\b5\d\d\b", re.IGNORECASE)

_CALL = LazyPattern(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_CODE = LazyPattern(r"^(```+|~~~+)[^\n`]*\n.*?(?:^\1[`~]*[ \t]*$|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_INLINE = LazyPattern(r"(?<!`)`[^`\n]+`(?!`)")
_CALLING = r"tool_?(?:calls?|codes?|outputs?|responses?|results?|uses?)|function_?(?:calls?|results?|responses?)"
_FENCED_CALL = LazyPattern(
    rf"^(```+|~~~+)(?:(?:{_CALLING})[ \t]*(?:\n|\Z)|[^\n`]*\n\s*<(?:(?:{_CALLING})>|invoke name=|\|tool_))"
    r".*?(?:^\1[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_OWN_WHOLE = LazyPattern(
    r"<!-- [prbtseg]=[^\n]*?-->"  # the legend of <ctx>
    r"|<ctx\b[^>\n]*>\s*<p>.*?</p>"
    r'|<p n="[^"\n]*"[^>\n]*>(?:.*?</p>|[^\n]*)|<e t="[^"\n]*"[^>\n]*>.*?</e>|<t f="[^"\n]*"[^>\n]*>.*?</t>'
    r"|<people>(?:\n.*?(?:</people>|\Z)|\Z)"
    # the first lines of an opening block
    r"|\A\s*【此[处處]】[^\n]*[时時][区區] [^\n]*(?:\n+【(?:场景|場景|在场|在場|间隔|間隔|一直在聊)】[^\n]*)*",
    re.DOTALL,
)
_OWN_MARKS = LazyPattern(r'</?ctx\b[^>\n]*>|<b (?:f|cut|t)="[^>\n]*>|<e t="[^>\n]*/>|<g (?:n|d)=[^>\n]*/?>')
_WHOLE = LazyPattern(
    rf"<(?P<call>(?:\w+:)?(?:{_CALLING}))>(?:(?!<(?P=call)>).)*?</(?P=call)>"
    # One that does not end is one when it begins like one; else its name is talked about.
    rf"|<(?:tool_calls?|tool_response)>.*\Z|<(?:\w+:)?(?:{_CALLING})>\s*[{{\[<].*\Z"
    r"|<invoke name=.*?(?:</invoke>|\Z)|<(?P<bar>[|｜]DSML[|｜])\w+>.*?(?:</(?P=bar)\w+>\s*\Z|\Z)"
    r"|<function=\w+>.*?(?:</function>|\Z)|\[TOOL_CALLS\].*\Z"  # Qwen and Llama, Mistral
    r"|\[(?P<square>TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|INST|THINK)\].*?(?:\[/(?P=square)\]|\Z)"
    r"|<<SYS>>.*?(?:<</SYS>>|\Z)"
    r"|<｜tool▁(?P<of>calls?|outputs?)▁begin｜>.*?(?:<｜tool▁(?P=of)▁end｜>|\Z)"  # DeepSeek
    r"|<\|tool_(?P<part>calls?_section|calls?)_begin\|>.*?(?:<\|tool_(?P=part)_end\|>|\Z)"  # Kimi
    r"|<\|tool_(?:call|response)\|>.*?(?:<\|/tool_(?:call|response)\|>|\Z)"  # Phi
    r"|<\|(?:python_tag|action_start)\|>.*?(?:<\|(?:eom_id|eot_id|action_end)\|>|\Z)"  # Llama, InternLM
    r"|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)|◁think▷.*?(?:◁/think▷|\Z)"
    r"|<seed:think>.*?(?:</seed:think>|\Z)"
    r"|<\|channel\|>(?!final\b).*?(?:(?=<\|channel\|>final\b)|\Z)"  # gpt-oss
    r"|<\|channel\|>final\b[^<]*(?:<\|message\|>)?"
    # What a model goes on to say in the place of others.
    r"|<\|im_start\|>(?:user|system|tool)\b.*?(?:(?=<\|im_start\|>assistant)|\Z)"
    r"|<\|start_header_id\|>(?:user|system|ipython)\b.*?(?:(?=<\|start_header_id\|>assistant)|\Z)"
    r"|<start_of_turn>user\b.*?(?:(?=<start_of_turn>model)|\Z)"
    r"|<\|(?:user|system|observation)\|>.*?(?:(?=<\|assistant\|>)|\Z)|<｜User｜>.*?(?:(?=<｜Assistant｜>)|\Z)",
    re.DOTALL,
)
_MARKS = LazyPattern(
    r"<\|im_start\|>(?:assistant)?|<\|start_header_id\|>\w*<\|end_header_id\|>|<start_of_turn>(?:model)?|<end_of_turn>"
    r"|<\|/?[A-Za-z_ ]{2,32}\|>|<\|reserved_special_token_\d+\|>|<｜[\w▁ ]{2,32}｜>"
    rf"|</(?:\w+:)?(?:{_CALLING})>|\[/(?:INST|TOOL_RESULTS|THINK)\]|<</SYS>>"
    r"|(?:\s*<(?:eos|pad|end_of_text)>)+\s*\Z|</s>\s*<s>\s*\Z|\A\s*<bos>"
)
_LEADING = LazyPattern(
    r"\A\s*<(system(?:[-_]\w+)?|memor(?:y|ies)|thoughts?|reasoning|scratchpad|reflection|analysis|instructions)>"
    r".*?(</\1>|\Z)",
    re.DOTALL,
)
"""Before an answer these are no part of it; inside of one they may be what is talked about."""

_ALONE = LazyPattern(r"\A\s*<s>|</s>\s*\Z")
_WRAPPED = LazyPattern(r"\A\s*<(b|answer|response|reply|final|final_answer|output|assistant)>(.*)</\1>\s*\Z", re.DOTALL)
_WRAPS = ("answer", "response", "reply", "final", "final_answer", "output", "assistant")
_OPEN = LazyPattern(r'<([pet]) [ntf]="[^"\n]*"[^>\n]*>(?:(?!</\1>).)*\Z', re.DOTALL)
_OPEN_CALL = LazyPattern(rf"<((?:\w+:)?(?:{_CALLING}))>(?:(?!</\1>).)*\Z", re.DOTALL)
_ROLE = LazyPattern(r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\w*(?:<\|[a-z_]*)?\Z")
_UNSURE = LazyPattern(r"\A\s*【此?(?:[处處](?:】[^\n]*)?)?\Z")
_UNSURE_LINE = LazyPattern(r"(?m:^)(?:`{1,2}|【[^\n】]{0,4})\Z")
_NOTHING_YET = LazyPattern(r"(?:```|~~~)[^\n`]*\n?\s*\Z")
_HINT = LazyPattern(r"<|◁|\[[A-Z]|【此|^(?:```|~~~)", re.MULTILINE)
_STARTS = (
    *read_table("bot.model", "scaffolding")["starts"],
    *(f"<!-- {name}=" for name in "prbtseg"),
    *(f"<{slash}{name}>" for name in _WRAPS for slash in ("", "/")),
)
"""How scaffolding begins."""


@dataclass(slots=True)
class _Draft:
    """A tool call while its pieces arrive."""

    index: object
    id: str
    name: str
    arguments: str


class CompletionBuilder:
    """Collects the chunks of a stream, or one whole response, into a Completion.

    `taken` are the tool call ids of the prompt; a missing or repeated id gets one of our own, so ids stay unique.
    Unless it must be `whole`, an answer that reached max_tokens is taken as it is. `only_ends`: the template of this
    model begins its thoughts, so that what comes before their end is thought.
    """

    def __init__(
        self,
        taken: frozenset[str],
        *,
        keep_reasoning: bool = False,
        whole: bool = True,
        hear: Callable[[Callable[[], str]], None] | None = None,
        counted: tuple[tuple[str, ...], tuple[str, ...]] = (CACHED_FIELDS, WRITTEN_FIELDS),
        only_ends: bool = False,
    ) -> None:
        self.chunks = 0
        self.on_begin: Callable[[], None] = lambda: None
        self._only_ends = only_ends
        self._counted = counted
        self._hear = hear
        self._taken = taken
        self._keep_reasoning = keep_reasoning
        self._whole = whole
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Draft] = []
        self._finish = ""
        self._chosen = False
        self._written = False
        self._usage: Usage | None = None
        self._size = 0

    def add(self, chunk: object) -> None:
        """Take one chunk, or one whole response; raises ModelError for an error object or an endless answer."""
        self.chunks += 1
        body = _mapping(chunk)
        if body.get("error"):
            raise ModelError(
                fault_of(body["error"]),
                f"error in the answer {label(body['error'])}".strip(),
                describe_error(body["error"]),
            )
        choice = next(_mappings(body.get("choices")), {})
        self._chosen = self._chosen or bool(choice)
        for said in (choice.get("usage"), body.get("usage")):
            self._usage = usage_of(said, *self._counted, body) or self._usage
        self._finish = _string(choice.get("finish_reason")) or self._finish
        piece = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        content = _string(piece.get("content"))
        self._keep(self._text, content)
        if content and self._hear is not None:
            self._hear(self.so_far)
        self._keep(self._reasoning, _string(piece.get("reasoning_content")) or _string(piece.get("reasoning")))
        self._keep(self._refusal, _string(piece.get("refusal")))
        for call in _mappings(piece.get("tool_calls")):
            self._add_call(call)
        if self.begun:
            self.on_begin()

    @property
    def begun(self) -> bool:
        """Whether there is any of it: a head alone, which some servers send at once, is nothing yet."""
        return bool(self._size or self._finish)

    def so_far(self) -> str:
        """The text that may be shown already: as it will be finished, without what could still become a thought."""
        text = clean("".join(self._text))
        if self._only_ends and _THINK_END.match(text) is None:
            return ""
        return without_open_artifacts(without_thoughts(_THINK_BEGUN.sub("", text)))

    @property
    def only_ends(self) -> bool:
        """Whether it ended a thought that it had not begun."""
        return _THINK_END.match(_THINK.sub("", "".join(self._text))) is not None

    def completion(self) -> Completion:
        """The finished answer; raises ModelError when it is cut, filtered, empty or has a call without a name."""
        raw = without_thoughts(clean("".join(self._text)))
        text = without_artifacts(raw)
        self._take_written(raw)
        calls = tuple(self._finished_calls())
        match self._finish.lower():
            case "" if not self._chosen:
                raise ModelError("invalid", f"nothing to choose in {self.chunks} chunks")
            case "":
                raise ModelError("cut", f"no finish_reason after {self.chunks} chunks")
            case "length" | "max_tokens" | "model_length" if self._whole:
                raise ModelError("cut", "the answer reached max_tokens", final=True)
            case "content_filter" | "safety" | "sensitive":
                raise ModelError("filtered", f"finish_reason {self._finish!r}")
            case "insufficient_system_resource" | "error":
                raise ModelError("busy", f"finish_reason {self._finish!r}")
        if self._refusal and not calls and not text.strip():
            raise ModelError("filtered", "the model refused")
        if any(not call.name for call in calls):
            raise ModelError("invalid", "a tool call without a name")
        if not calls and not text.strip():
            raise ModelError("invalid", f"an empty answer, finish_reason {self._finish!r}")
        reasoning = clean("".join(self._reasoning)) if self._keep_reasoning else ""
        # Calls that were written as text are logged as calls: the text would be a second, broken copy of them.
        usage = None if self._usage is not None and not self._usage.output_tokens else self._usage
        return Completion(text, calls, usage, reasoning, "" if self._written else raw)

    def _take_written(self, raw: str) -> None:
        """Calls written as text count where the server made none of them: small models and servers leave them there."""
        if self._calls:
            return
        for number, call in enumerate(written_calls(raw)):
            self._written = True
            self._begin(_Draft(number, "", call.name, call.arguments))

    def _begin(self, draft: _Draft) -> None:
        if len(self._calls) == MAX_CALLS:
            raise ModelError("invalid", f"more than {MAX_CALLS} tool calls")
        self._calls.append(draft)

    def _keep(self, pieces: list[str], piece: str) -> None:
        self._size += len(piece)
        if self._size > MAX_CHARS:
            raise ModelError("invalid", f"an answer longer than {MAX_CHARS} characters")
        if piece:
            pieces.append(piece)

    def _add_call(self, call: Mapping[str, object]) -> None:
        function = _mapping(call.get("function"))
        index, call_id, name = call.get("index"), _string(call.get("id")), _string(function.get("name"))
        arguments = function.get("arguments")
        # Some servers send the arguments as an object, not as its JSON text.
        piece = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, Mapping) else _string(arguments)
        self._size += len(piece) + len(name)
        if self._size > MAX_CHARS:
            raise ModelError("invalid", f"tool calls longer than {MAX_CHARS} characters")
        draft = next((one for one in reversed(self._calls) if index is None or one.index == index), None)
        # Some servers number every call 0, or not at all: another id, or another name without ids, is another call.
        if draft is None or (call_id and draft.id and call_id != draft.id) or (index is None and name and draft.name):
            self._begin(_Draft(index, call_id, name, piece))
            return
        draft.id = draft.id or call_id
        draft.name = draft.name or name
        draft.arguments += piece

    def _finished_calls(self) -> Iterator[ToolCall]:
        used = set(self._taken)
        number = len(used)
        for draft in self._calls:
            call_id = _whole(draft.id)
            while not call_id or call_id in used:
                call_id = f"call_{number}"
                number += 1
            used.add(call_id)
            # No argument text at all is how many servers send a call without arguments.
            yield ToolCall(call_id, _whole(draft.name), _whole(draft.arguments) or "{}")


def without_thoughts(text: str) -> str:
    """The text without `<think>` blocks; one left open hides the rest, one only closed hides what is before it."""
    shown = _THINK_END.sub("", _THINK.sub("", text))
    return text if shown == text else shown.strip()


def fault_of(error: object) -> ModelFault:
    """What an error object inside an answer, or the text of one, means."""
    text = describe_error(error)
    if _OVERFLOW.search(text):
        return "overflow"
    if _FILTERED.search(text):
        return "filtered"
    return "busy" if _BUSY.search(text) else "invalid"


def describe_error(error: object) -> str:
    """Code, type and message of an error object in one text; other parts may hold people's words and stay out."""
    body = _mapping(error)
    inner = _mapping(body.get("error")) or body
    parts = (inner.get("code"), inner.get("type"), inner.get("message") or inner.get("detail"))
    if inner:
        return " ".join(str(part) for part in parts if isinstance(part, str | int))
    return _string(error)


def label(error: object) -> str:
    """Code and type of an error object where they are single words, which quote nobody; "" where they are not."""
    body = _mapping(error)
    inner = _mapping(body.get("error")) or body
    parts = (inner.get("code"), inner.get("type"))
    words = [str(part) for part in parts if isinstance(part, str | int) and not isinstance(part, bool)]
    return " ".join(dict.fromkeys(word for word in words if _WORD.fullmatch(word)))


def usage_of(
    value: object,
    cached_in: tuple[str, ...] = CACHED_FIELDS,
    written_in: tuple[str, ...] = WRITTEN_FIELDS,
    whole: object = None,
) -> Usage | None:
    """Tokens of a usage object, cached and written input in these fields of it or of the `whole` answer; or None.

    Servers that speak Anthropic's words count cached and written input beside the rest, the others within it.
    """
    body = _mapping(value)
    if not body:
        return None  # as in nearly every chunk of a stream
    places = (body, _mapping(whole))
    cached, written = (
        _most(*(_at(place, path) for place in places for path in paths)) for paths in (cached_in, written_in)
    )
    prompt, output = _count(body.get("prompt_tokens")), _count(body.get("completion_tokens"))
    if prompt is None and (fresh := _count(body.get("input_tokens"))) is not None:
        prompt, output = fresh + cached + written, _count(body.get("output_tokens"))
    if not prompt or output is None:
        return None  # a server that counts nothing is as one that does not count
    thought = _most(_mapping(body.get("completion_tokens_details")).get("reasoning_tokens"))
    cached = min(cached, prompt)
    return Usage(
        prompt, cached, output, written_tokens=min(written, prompt - cached), reasoning_tokens=min(thought, output)
    )


def _at(body: Mapping[str, object], path: str) -> object:
    """What stands at a dotted path."""
    *outer, last = path.split(".")
    for name in outer:
        body = _mapping(body.get(name))
    return body.get(last)


def _most(*values: object) -> int:
    """The largest count among them, 0 when there is none."""
    return max((count for count in map(_count, values) if count is not None), default=0)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> Iterator[Mapping[str, object]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _string(value: object) -> str:
    """A text, or the text parts of a list of parts (Mistral's thinking models); anything else is no text."""
    if isinstance(value, str):
        return value
    return "".join(part for item in _mappings(value) if isinstance(part := item.get("text"), str))


def _whole(text: str) -> str:
    """Halves of a surrogate pair are joined, lone ones replaced; all else stays, since arguments are never mended."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A tool call that a model wrote as text: its name, and its arguments as JSON text."""

    name: str
    arguments: str


def without_artifacts(text: str) -> str:
    """The reply alone. A reply that is one <b> line, as the prompt shows older ones, is what stands in it."""
    if _HINT.search(text) is None:
        return text
    shown = _without(_FENCED_CALL, text, _INLINE)
    shown = _without(_OWN_WHOLE, shown, _INLINE)
    shown = _without(_WHOLE, shown, _CODE)
    lead = _LEADING.match(shown)
    if lead is not None and lead[2]:
        shown = shown[lead.end() :]
    unmarked = _without(_MARKS, _without(_OWN_MARKS, shown, _INLINE), _CODE)
    if unmarked != text:
        unmarked = unmarked.replace("</b>", "") if "<b>" not in unmarked else unmarked
    if ("<s>" in unmarked) != ("</s>" in unmarked):  # a pair is what is struck out, one alone begins or ends a text
        unmarked = _ALONE.sub("", unmarked)
    wrapped = _WRAPPED.match(unmarked)
    if wrapped is not None and f"<{wrapped[1]}>" not in wrapped[2]:
        unmarked = wrapped[2]
    return text if unmarked == text else re.sub(r"\n{3,}", "\n\n", unmarked).strip()


def without_open_artifacts(text: str) -> str:
    """As `without_artifacts` of what was written up to now, without an end that may still become scaffolding."""
    for sign in "<[◁":
        last = text.rfind(sign)
        tail = text[last:] if last >= 0 else ">"
        if ">" not in tail and any(_becomes(tail, start) for start in _STARTS):
            text = text[:last]
    text = _OPEN_CALL.sub("", _OPEN.sub("", text))
    if text.count("```") % 2:
        text = _NOTHING_YET.sub("", text)
    lead = _LEADING.match(text)
    if (lead is not None and not lead[2]) or _UNSURE.match(text):
        return ""
    text = _UNSURE_LINE.sub("", text)
    shown = without_artifacts(_ROLE.sub("", text))
    # A line that begins as the prompt shows nuan's own ones will end as one.
    for name in ("b", *_WRAPS):
        if shown.startswith(f"<{name}>") and f"</{name}>" not in shown:
            return shown.removeprefix(f"<{name}>")
    return shown


def _becomes(tail: str, start: str) -> bool:
    """Whether an unfinished end may still become what begins so; what stands in square brackets is finished by them."""
    return start.startswith(tail) or (tail.startswith(start) and start[0] == "<")


def _without(pattern: re.Pattern[str] | LazyPattern, text: str, kept: LazyPattern) -> str:
    """The text without what matches, unless that begins in what is `kept`."""
    spans = [found.span() for found in kept.finditer(text)]
    starts = [start for start, _ in spans]
    parts: list[str] = []
    done = at = 0
    while (found := pattern.search(text, at)) is not None:
        number = bisect_right(starts, found.start()) - 1
        if number >= 0 and found.start() < spans[number][1]:
            at = spans[number][1]
            continue
        parts.append(text[done : found.start()])
        done = at = max(found.end(), found.start() + 1)
    return "".join((*parts, text[done:])) if parts or done else text


def written_calls(text: str) -> tuple[WrittenCall, ...]:
    """The tool calls that a text holds whole, in the form of Hermes and Qwen; one that is cut or broken is none."""
    found = []
    for body in _CALL.findall(text):
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            continue
        if not isinstance(call, dict) or not isinstance(call.get("name"), str) or not call["name"]:
            continue
        arguments = call.get("arguments", {})
        if isinstance(arguments, dict):
            found.append(WrittenCall(call["name"], json.dumps(arguments, ensure_ascii=False)))
    return tuple(found)
