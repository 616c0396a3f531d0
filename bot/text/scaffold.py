"""What a reply must not show: marks of the prompt that a model repeats, and tool calls that it writes as text. Pure.

Ordinary markup stays: `<p>` and `<b>` without our own attributes are what somebody may ask about.
"""

import json
import re
from dataclasses import dataclass

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_WHOLE = re.compile(
    r"<!-- p=[^\n]*?-->"  # the legend of <ctx>
    r'|<p n="[^"\n]*"[^>\n]*>(?:.*?</p>|[^\n]*)|<e t="[^"\n]*"[^>\n]*>.*?</e>|<t f="[^"\n]*"[^>\n]*>.*?</t>'
    r"|<tool_calls?>.*?(?:</tool_calls?>|\Z)|<tool_response>.*?(?:</tool_response>|\Z)"
    r"|<function=\w+>.*?(?:</function>|\Z)|\[TOOL_CALLS\].*\Z"  # Qwen and Llama, Mistral
    r"|<｜tool▁calls▁begin｜>.*?(?:<｜tool▁calls▁end｜>|\Z)"  # DeepSeek
    r"|<\|channel\|>(?!final\b).*?(?:(?=<\|channel\|>final\b)|\Z)"  # gpt-oss
    r"|<\|channel\|>final\b[^<]*(?:<\|message\|>)?",
    re.DOTALL,
)
_MARKS = re.compile(
    r'</?ctx\b[^>\n]*>|<b (?:f|cut|t)="[^>\n]*>|<e t="[^>\n]*/>|<g (?:n|d)="[^>\n]*/>'
    r"|<\|[A-Za-z_ ]{2,32}\|>|</?tool_(?:calls?|response)>"
    r"|<｜[\w▁ ]{2,32}｜>"
)
_WRAPPED = re.compile(r"\A\s*<b>(.*)</b>\s*\Z", re.DOTALL)
_OPEN = re.compile(r'<([pet]) [ntf]="[^"\n]*"[^>\n]*>(?:(?!</\1>).)*\Z', re.DOTALL)
_STARTS = (
    "<ctx", "</ctx>", "<b>", "</b>", '<b f="', '<b cut="', '<b t="', '<p n="', '<e t="', '<t f="', '<g n="', '<g d="',
    "<tool_call", "</tool_call", "<tool_response>", "</tool_response>", "<|", "<｜", "<function=", "<!-- p=",
    "[TOOL_CALLS]",
)  # fmt: skip
"""How scaffolding begins."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A tool call that a model wrote as text: its name, and its arguments as JSON text."""

    name: str
    arguments: str


def without_scaffold(text: str) -> str:
    """The reply alone. A reply that is one <b> line, as the prompt shows older ones, is what stands in it."""
    if "<" not in text and "[TOOL_CALLS]" not in text:
        return text
    shown = _WHOLE.sub("", text)
    unmarked = _MARKS.sub("", shown)
    if unmarked != text:
        unmarked = unmarked.replace("</b>", "") if "<b>" not in unmarked else unmarked
    wrapped = _WRAPPED.match(unmarked)
    if wrapped is not None and "<b>" not in wrapped[1]:
        unmarked = wrapped[1]
    return text if unmarked == text else re.sub(r"\n{3,}", "\n\n", unmarked).strip()


def so_far(text: str) -> str:
    """As `without_scaffold` of what was written up to now, without an end that may still become scaffolding."""
    if "<" not in text and "[" not in text:
        return text
    for sign in "<[":
        last = text.rfind(sign)
        tail = text[last:] if last >= 0 else ">"
        if ">" not in tail and any(start.startswith(tail) or tail.startswith(start) for start in _STARTS):
            text = text[:last]
    shown = without_scaffold(_OPEN.sub("", text))
    # A line that begins as the prompt shows nuan's own ones will end as one.
    return shown.removeprefix("<b>") if "</b>" not in shown else shown


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
