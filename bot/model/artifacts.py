"""Removes from a reply what belongs to the prompt or the template: repeated marks, role labels, tool calls written
as text."""

import json
import re
from bisect import bisect_right
from dataclasses import dataclass

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_CODE = re.compile(r"^(```+|~~~+)[^\n`]*\n.*?(?:^\1[`~]*[ \t]*$|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
_CALLING = r"tool_?(?:calls?|codes?|outputs?|responses?|results?|uses?)|function_?(?:calls?|results?|responses?)"
_FENCED_CALL = re.compile(
    rf"^(```+|~~~+)(?:(?:{_CALLING})[ \t]*(?:\n|\Z)|[^\n`]*\n\s*<(?:(?:{_CALLING})>|invoke name=|\|tool_))"
    r".*?(?:^\1[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_OWN_WHOLE = re.compile(
    r"<!-- p=[^\n]*?-->"  # the legend of <ctx>
    r'|<p n="[^"\n]*"[^>\n]*>(?:.*?</p>|[^\n]*)|<e t="[^"\n]*"[^>\n]*>.*?</e>|<t f="[^"\n]*"[^>\n]*>.*?</t>'
    r"|<people>(?:\n.*?(?:</people>|\Z)|\Z)"
    # the first lines of an opening block
    r"|\A\s*【此[处處]】[^\n]*[时時][区區] [^\n]*(?:\n+【(?:场景|場景|在场|在場|间隔|間隔|一直在聊)】[^\n]*)*",
    re.DOTALL,
)
_OWN_MARKS = re.compile(r'</?ctx\b[^>\n]*>|<b (?:f|cut|t)="[^>\n]*>|<e t="[^>\n]*/>|<g (?:n|d)=[^>\n]*/?>')
_WHOLE = re.compile(
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
_MARKS = re.compile(
    r"<\|im_start\|>(?:assistant)?|<\|start_header_id\|>\w*<\|end_header_id\|>|<start_of_turn>(?:model)?|<end_of_turn>"
    r"|<\|/?[A-Za-z_ ]{2,32}\|>|<\|reserved_special_token_\d+\|>|<｜[\w▁ ]{2,32}｜>"
    rf"|</(?:\w+:)?(?:{_CALLING})>|\[/(?:INST|TOOL_RESULTS|THINK)\]|<</SYS>>"
    r"|(?:\s*<(?:eos|pad|end_of_text)>)+\s*\Z|</s>\s*<s>\s*\Z|\A\s*<bos>"
)
_LEADING = re.compile(
    r"\A\s*<(system(?:[-_]\w+)?|memor(?:y|ies)|thoughts?|reasoning|scratchpad|reflection|analysis|instructions)>"
    r".*?(</\1>|\Z)",
    re.DOTALL,
)
"""Before an answer these are no part of it; inside of one they may be what is talked about."""

_ALONE = re.compile(r"\A\s*<s>|</s>\s*\Z")
_WRAPPED = re.compile(r"\A\s*<(b|answer|response|reply|final|final_answer|output|assistant)>(.*)</\1>\s*\Z", re.DOTALL)
_WRAPS = ("answer", "response", "reply", "final", "final_answer", "output", "assistant")
_OPEN = re.compile(r'<([pet]) [ntf]="[^"\n]*"[^>\n]*>(?:(?!</\1>).)*\Z', re.DOTALL)
_OPEN_CALL = re.compile(rf"<((?:\w+:)?(?:{_CALLING}))>(?:(?!</\1>).)*\Z", re.DOTALL)
_ROLE = re.compile(r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\w*(?:<\|[a-z_]*)?\Z")
_UNSURE = re.compile(r"\A\s*【此?(?:[处處](?:】[^\n]*)?)?\Z")
_UNSURE_LINE = re.compile(r"(?m:^)(?:`{1,2}|【[^\n】]{0,4})\Z")
_NOTHING_YET = re.compile(r"(?:```|~~~)[^\n`]*\n?\s*\Z")
_HINT = re.compile(r"<|◁|\[[A-Z]|【此|^(?:```|~~~)", re.MULTILINE)
_STARTS = (
    "<ctx", "</ctx>", "<b>", "</b>", '<b f="', '<b cut="', '<b t="', '<p n="', '<e t="', '<t f="', "<g n=", "<g d=",
    "<tool_", "</tool_", "<|", "<｜", "</|", "</｜", "<function", "</function", "<!-- p=", "<invoke name=", "</invoke>",
    "<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "<people>", "</people>", "<seed:think>", "◁think▷",
    "<minimax:tool_call>", "<s>", "</s>", "<bos>", "<eos>", "<pad>", "<system", "<memor", "<thought",
    "<reasoning>", "<scratchpad>", "<reflection>", "<analysis>", "<instructions>",
    *(f"<{slash}{name}>" for name in _WRAPS for slash in ("", "/")),
    "[TOOL_CALLS]", "[TOOL_RESULTS]", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "[INST]", "[THINK]", "[/INST]",
    "[/TOOL_RESULTS]", "[/THINK]",
)  # fmt: skip
"""How scaffolding begins."""


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


def _without(pattern: re.Pattern[str], text: str, kept: "re.Pattern[str]") -> str:
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
