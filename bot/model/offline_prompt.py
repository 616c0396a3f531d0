"""A request as the offline model reads it: what was said last and before, and what the opening, receipts and tools told."""

import re
from dataclasses import dataclass
from itertools import chain

from bot.core.models import Message, Prompt
from bot.core.people import Script
from bot.text.catalogue import LazyPattern
from bot.text.clean import unescaped
from bot.text.fold import fold, script_next, script_of

_LINE = LazyPattern(r'<p(?: n="([^"]*)")?( forwarded="1")?>(.*?)</p>', re.DOTALL)
_NOW = LazyPattern(r'<ctx now="(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d)(?: ([^"]+))?"')
RECEIPT = LazyPattern(r'<b f="[^"]*">(.*?)</b>', re.DOTALL)
_ASKED_FOR = LazyPattern(r'<p[^>]*>[^<]*</p>\n(?=<b f="reminder">)')
"""A line for which a reminder was set, moved or cancelled: what came of it is told by the receipt."""
_MARKED = LazyPattern(r"([#✓⏰])\ufe0f?(\d+)")
_IS_SET = LazyPattern(
    r"\A(?:好，|OK, )?(.+?)[。.]? ?⏰\ufe0f?\d+(?P<first> ?[(（](?:第一次|first ).*)?(?: ?[(（].*)?\Z"
)
"""A receipt of a reminder that stands: its mark is the last that it says, but for what was assumed."""
_RECEIPT_FORM = LazyPattern(r"\A(?:好|OK|Okay)[，,] ?|⏰\ufe0f?\d+ ?")
_IS_OVER = LazyPattern(
    r"取消了|忘了|忘掉|不提醒了|做到了|做好了|没做到|不用做了|当没|改好了|改掉|cancelled|forgotten|no reminder|kept|is done|is off|dropped|changed|replaced",
    re.IGNORECASE,
)
_HEADINGS = {
    "happened": LazyPattern("发生|happened"),
    "known": LazyPattern("关于|知识|about|know"),
    "talked": LazyPattern("对话|talk"),
    "tasks": LazyPattern("即将|没做完|coming up|to do"),
}
_SAID = ("：", ": ", "说：", "說：", " said: ")
_TALK = LazyPattern("\\A(?:那次聊天|a talk)[:：] ?")
_NOTE = LazyPattern("\\A(?:笔记|筆記|a note)[:：]")
_PRESENT = LazyPattern(r"^(?:【在[场場]】|\[Here\] ?)([^,，(（\n]+)", re.MULTILINE)
_NUMBER = LazyPattern(r"\A(?:[#@✓]|⏰\ufe0f?)\d+\s+")
_AROUND = LazyPattern(r" ?(?:〔[^〕]*〕|\[around it: [^\]]*\])")
_ABOVE = LazyPattern(r" ?(?:（上文已有）|\(already above\))\Z")
"""On a row that only points at what was told before."""
_CALLED = LazyPattern(
    r"(不|[别別]|won't |never |do not )?(?:叫你|叫TA「|call you |call them [\"'])([^\n<#「」\"]+?)(?:了| any more)? ?(?:[」\"]|'\"|[(（]?#\d)"
)
"""How nuan says, in a receipt, an opening or an event, what it calls somebody from now on, or no more."""


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """A request as the offline model sees it; texts are unescaped.

    `said` is what the last speaker, called one of `names`, said at the end, in these `lines`, `earlier` all other people's lines, oldest
    first; `happened`, `known`, `talked` and `tasks` are the lines of the warm boot without what receipts ended since,
    `cancelled` the reminders that they ended; `results` is None until a tool has answered `said`, `found` is what each of them found; `called` is how
    somebody alone with nuan is addressed, "" where that is unknown; `answers` counts nuan's own lines, `answered` is what they say; `now` is the day, if it is told, the
    time and the weekday.
    """

    names: tuple[str, ...]
    said: str
    lines: tuple[str, ...]
    forwarded: bool
    script: Script
    earlier: tuple[str, ...]
    happened: tuple[str, ...]
    known: tuple[str, ...]
    talked: tuple[str, ...]
    tasks: tuple[str, ...]
    cancelled: tuple[str, ...]
    found: tuple[tuple[str, ...], ...]
    results: tuple[str, ...] | None
    called: str
    answers: int
    answered: str
    now: tuple[str, str, str]
    calls: int

    def is_theirs(self, line: str) -> bool:
        """Whether a line was told by the last speaker."""
        return line.startswith(tuple(name + sign for name in self.names for sign in _SAID))


def read_prompt(prompt: Prompt, unnamed: tuple[str, ...] = (), own: tuple[str, ...] = ()) -> PromptFacts:
    """Read a request; a message of an unknown form counts as said as it stands. `unnamed` are the names of somebody
    alone with nuan who has none, `own` are those of nuan."""
    users = [message.content for message in prompt.messages if message.role == "user"]
    last = users[-1] if users else ""
    lines = [(name, bool(fwd), unescaped(text)) for name, fwd, text in _LINE.findall(_new(last))]
    unframed = "" if "<ctx" in last else last
    tail = [line for line in lines if line[0] == lines[-1][0]] if lines else [("", False, unframed)]
    earlier = [unescaped(text) for user in users[:-1] for _, _, text in _LINE.findall(_ASKED_FOR.sub("", user))]
    earlier += [text for name, _, text in lines if name != tail[0][0]]
    script = _opened_in(users[0] if users else "")
    # Where all of a message was done, only its lines tell its script.
    done = [] if lines else [unescaped(text) for _, _, text in _LINE.findall(last)]
    for text in (*earlier[-20:], *done, *(text for _, _, text in tail)):
        script = script_next(text, own, None, script)
    over, set_since, cancelled = _receipts(users)
    told = _sections(users[0] if users else "", over)
    answers = [message.content for message in prompt.messages if message.role == "assistant" and message.content]
    found = _results(prompt.messages)
    return PromptFacts(
        names=(tail[0][0],) if tail[0][0] else (_present(users[0] if users else ""), *unnamed),
        said="\n".join(text for _, _, text in tail),
        lines=tuple(text for _, _, text in tail),
        forwarded=all(fwd for _, fwd, _ in tail),
        script=script,
        earlier=tuple(earlier),
        happened=told["happened"],
        known=told["known"],
        talked=told["talked"],
        tasks=(*told["tasks"], *set_since),
        cancelled=cancelled,
        found=found,
        results=tuple(dict.fromkeys(chain(*found))) if found else None,
        called="" if tail[0][0] else _called(users),
        answers=len(answers),
        answered="\n".join(answers),
        now=_now(users),
        calls=sum(len(message.tool_calls) for message in prompt.messages),
    )


def _new(content: str) -> str:
    """What came with the last <ctx>, after what nuan said there; people's words are escaped and forge nothing."""
    return content[max(content.rfind("<ctx"), content.rfind("\n<b>"), content.rfind("\n<b "), 0) :]


def _present(content: str) -> str:
    """The one whom the opening names: the lines of a DM name nobody."""
    found = _PRESENT.search(content.partition("<ctx")[0])
    return found[1].strip() if found else ""


def _called(users: list[str]) -> str:
    """How nuan itself last said that it addresses the one whom it is alone with; people's own lines do not count."""
    called = ""
    for content in users:
        for refused, name in _CALLED.findall(_LINE.sub("", content)):
            if not refused:
                called = unescaped(name)
            elif unescaped(name) == called:
                called = ""
    return called


def _opened_in(content: str) -> Script:
    """The script of the opening block, in which nuan speaks with them until a line says more."""
    block, framed, _ = content.partition("<ctx")
    first = block.split("\n", 1)[0]
    return script_of(first, "zh-Hans") if framed and first.startswith(("【", "[")) else "zh-Hans"


def _receipts(users: list[str]) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """The numbers of what ended or was told anew since the opening; the reminders that stand, and those cancelled."""
    over, stands, cancelled = set[str](), dict[str, str](), dict[str, str]()
    for receipt in (found for content in users for found in RECEIPT.findall(content)):
        for line in unescaped(receipt).splitlines():
            marks = ["".join(mark) for mark in _MARKED.findall(line)]
            if _IS_OVER.search(line):
                over.update(marks)
                stands = {mark: text for mark, text in stands.items() if mark not in marks}
                cancelled |= {mark: _RECEIPT_FORM.sub("", line) for mark in marks if mark.startswith("⏰")}
            elif len(marks) == 1 and marks[0].startswith("⏰") and (told := _IS_SET.match(line)):
                over.add(marks[0])
                stands[marks[0]] = told[1] + (told["first"] or "")
    return frozenset(over), tuple(stands.values()), tuple(dict.fromkeys(cancelled.values()))


def _now(users: list[str]) -> tuple[str, str, str]:
    """The day that was told last, the time that was, and its weekday."""
    told = [found for content in users for found in _NOW.findall(_LINE.sub("", content))]
    day = next((one for one in reversed(told) if one[0]), ("", "", ""))
    return day[0], told[-1][1] if told else "", day[2]


def _sections(content: str, over: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The `- ` lines of the opening block under each heading that is known, without their numbers."""
    found: dict[str, list[str]] = {name: [] for name in _HEADINGS}
    inside: list[str] = []
    for line in content.partition("<ctx")[0].splitlines():
        if line.startswith("#"):
            heading = fold(line)
            inside = next((found[name] for name, known in _HEADINGS.items() if known.search(heading)), [])
        elif line.startswith("- "):
            mark = _MARKED.match(line[2:])
            if mark is None or "".join(mark.groups()) not in over:
                inside.append(unescaped(_NUMBER.sub("", line[2:])))
    return {name: tuple(lines) for name, lines in found.items()}


def _results(messages: tuple[Message, ...]) -> tuple[tuple[str, ...], ...]:
    """The lines found by each of the tools that answered last, of talks only where nothing is remembered, and no notes,
    which are whole pages; none when the last message is no tool's."""
    begin = max((at for at, message in enumerate(messages) if message.role != "tool"), default=-1)
    before = [row for message in messages[: begin + 1] for row in _rows(message)]
    found: list[tuple[str, ...]] = []
    for message in messages[begin + 1 :]:
        told = [row for row in (_whole(row, before) for row in _rows(message)) if row and not _NOTE.match(row)]
        kept = [line for line in told if not line.startswith("@")] or told
        found.append(tuple(unescaped(_AROUND.sub("", _TALK.sub("", _NUMBER.sub("", line)))) for line in kept))
        before += _rows(message)
    return tuple(found)


def _rows(message: Message) -> list[str]:
    """What an opening or a tool lists."""
    listed = message.role == "tool" or (message.role == "user" and "<ctx" in message.content)
    text = message.content.partition("<ctx")[0] if listed else ""
    return [row[2:] for row in text.splitlines() if row.startswith("- ")]


def _whole(row: str, before: list[str]) -> str:
    """A row, or the one before with the number that it points at; "" where there is none."""
    if not _ABOVE.search(row):
        return row
    number = _NUMBER.match(row)
    told = (one for one in reversed(before) if number and one.startswith(number[0]) and not _ABOVE.search(one))
    return next(told, "")
