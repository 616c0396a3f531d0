"""Exports: Markdown for reading only (an import takes JSON Lines), and the archive that a person takes along."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import get_args
from zoneinfo import ZoneInfo

from bot.core.archive import ExportContents, ExportedChat, ExportedMemory, ExportedNote, ExportedSummary
from bot.core.people import MemoryKind, PersonalRecords
from bot.memory.archive.records import time_text, write_jsonl
from bot.text.clean import clean_line

TITLE = "# nuan memories"
STRUCK = "~~"
"""Around what was so before and is no more."""

HELP = """
For reading only: `nuan memory import` takes memories.jsonl. Each line is one memory: its number, the day it is of
(UTC) and its text; what is ~~struck through~~ was so before.
"""

_ORDER: dict[str, int] = {kind: number for number, kind in enumerate(get_args(MemoryKind))}

README = """\
# What nuan keeps of you · nuan 记着的你

Made on {at}, for person {number}. 这是{at}为你整理的一份。

| File | What it holds | 里面是什么 |
|---|---|---|
| memories.md, memories.jsonl | what is remembered of you, private talks in short, your notes | 关于你的记忆、私聊摘要、笔记 |
| promises.md, promises.jsonl | what you promised | 你答应的事 |
| reminders.md, reminders.jsonl | what you wanted to be reminded of | 你要的提醒 |
| lines.md, lines.jsonl | what you said, as long as it is kept | 你说过的话（保留期内） |
| files.md, files.jsonl | what was read in pictures, voice and files you sent | 从你发的图片、语音、文件里读到的 |
| feedback.jsonl | your reactions to replies | 你对回复的表情 |
| settings.json | your accounts, language, time zone, chats | 账号、语言、时区、聊天 |
| usage.jsonl | model calls made for you, by month | 为你用的模型调用（按月） |

Times here are of {zone}; those ending in Z are UTC. 时间按 {zone}，以 Z 结尾的是 UTC。
Nothing that others said is in it, and no summary of a group. 别人说的话、群聊摘要都不在里面。
`.ai forget me` takes all of it away. 说 `.ai forget me` 可以全部删除。
"""

YEAR_ONE = (1980, 1, 1, 0, 0, 0)
"""The time of each file in the archive: the same content gives the same bytes."""


def is_export(text: str) -> bool:
    """Whether a Markdown file was written by an export of ours, of this version or an earlier one."""
    return text.removeprefix("\ufeff").lstrip().startswith(TITLE)


def write_markdown(carried: ExportContents) -> Iterator[str]:
    """The file in pieces: memories by person, or by chat without one, then by kind; conversations; notes."""
    people = {person.accounts[0]: person for person in carried.people}
    chats = {chat.places[0]: chat for chat in carried.chats}
    yield f"{TITLE}\n{HELP}"
    ordered = sorted(carried.memories, key=_sort_key)
    for (owner, chat), memories in groupby(ordered, key=lambda memory: _sort_key(memory)[:2]):
        if owner:
            yield _heading("##", people[owner].name, people[owner].accounts)
        else:
            yield _heading("##", chats[chat].title, chats[chat].places)
        yield from _memories(memories)
    yield from _summaries(carried.summaries, chats)
    yield from _notes(carried.notes)


def _sort_key(memory: ExportedMemory) -> tuple[str, str, int, int]:
    """Where a memory stands: by owner, or by chat when it has none, then by kind and number."""
    return memory.owner, "" if memory.owner else memory.chat, _ORDER[memory.kind], memory.id


def _heading(level: str, name: str, ids: tuple[str, ...]) -> str:
    return f"\n{level} {_visible(name) or '?'} ({', '.join(ids)})\n"


def _visible(text: str) -> str:
    """A text on one line, of which nothing reads as a comment or a tag."""
    return clean_line(text).replace("<", "\\<")


def _memories(memories: Iterable[ExportedMemory]) -> Iterator[str]:
    for kind, found in groupby(memories, key=lambda memory: memory.kind):
        yield f"\n### {kind}\n\n"
        for memory in found:
            former = STRUCK if dict(memory.more).get("former_at") else ""
            yield _bullet(memory.id, memory.observed_at, f"{former}{_visible(memory.text)}{former}")


def _bullet(number: int, at: int, text: str) -> str:
    return f"- #{number} {time_text(at)[:10]} {text}\n"


def _summaries(summaries: tuple[ExportedSummary, ...], chats: dict[str, ExportedChat]) -> Iterator[str]:
    if summaries:
        yield "\n## Conversations\n"
    for chat, found in groupby(sorted(summaries, key=lambda each: (each.chat, each.id)), key=lambda each: each.chat):
        yield _heading("###", chats[chat].title, chats[chat].places) + "\n"
        for each in found:
            yield _bullet(each.id, each.ended_at, _visible(each.summary))


def _notes(notes: tuple[ExportedNote, ...]) -> Iterator[str]:
    """Each note as a quotation, so that no line of it reads as one of ours."""
    if notes:
        yield "\n## Notes\n"
    for note in notes:
        yield f"\n### {_visible(note.path)}\n\n"
        yield "".join(f"> {line}\n" if line else ">\n" for line in note.text.split("\n"))


def person_archive(carried: ExportContents, own: PersonalRecords, at: int, tz: ZoneInfo) -> bytes:
    """The bytes of a zip file; `tz` is the person's."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in contents(carried, own, at, tz).items():
            file.writestr(zipfile.ZipInfo(name, YEAR_ONE), text.encode("utf-8", "replace"), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def contents(carried: ExportContents, own: PersonalRecords, at: int, tz: ZoneInfo) -> dict[str, str]:
    """Each file by its name."""
    settings = {"person": _timed(own.person), "chats": [_timed(chat) for chat in own.chats]}
    write = _Writer(tz)
    return {
        "README.md": README.format(at=write.day(at), number=own.person["number"], zone=tz.key),
        "memories.md": "".join(write_markdown(carried)),
        "memories.jsonl": "".join(write_jsonl(carried)),
        "promises.md": _markdown("Promises · 答应的事", map(write.promise, own.promises)),
        "promises.jsonl": _lines(own.promises),
        "reminders.md": _markdown("Reminders · 提醒", map(write.reminder, own.reminders)),
        "reminders.jsonl": _lines(own.reminders),
        "lines.md": _markdown("What you said · 你说过的话", map(write.line, own.lines)),
        "lines.jsonl": _lines(own.lines),
        "files.md": _markdown("Pictures, voice, files · 图片、语音、文件", map(write.file, own.files)),
        "files.jsonl": _lines(own.files),
        "feedback.jsonl": _lines(own.feedback),
        "settings.json": json.dumps(settings, ensure_ascii=False, indent=2) + "\n",
        "usage.jsonl": _lines(own.usage),
    }


def _timed(record: Mapping[str, object]) -> dict[str, object]:
    """Instants as texts: a column that ends in `at` is one."""
    return {
        name: time_text(value) if (name == "at" or name.endswith("_at")) and isinstance(value, int) else value
        for name, value in record.items()
    }


def _lines(records: Iterable[Mapping[str, object]]) -> str:
    return "".join(f"{json.dumps(_timed(record), ensure_ascii=False)}\n" for record in records)


def _markdown(title: str, lines: Iterator[str]) -> str:
    return "\n".join((f"# {title}", "", *(f"- {line}" for line in lines), ""))


class _Writer:
    """Rows as lines to read, on one clock."""

    def __init__(self, tz: ZoneInfo) -> None:
        self._tz = tz

    def day(self, at: object) -> str:
        return self._minute(at)[:10]

    def promise(self, told: Mapping[str, object]) -> str:
        due = f", due {self._minute(told['due_at'])}" if told["due_at"] else ""
        return f"{told['number']}. {clean_line(str(told['text']))} ({told['state']}{due}; {self.day(told['made_at'])})"

    def reminder(self, told: Mapping[str, object]) -> str:
        again = f", {told['rule']}" if told["rule"] else ""
        return f"{told['number']}. {self._minute(told['due_at'])}{again}: {clean_line(str(told['text']))}"

    def line(self, told: Mapping[str, object]) -> str:
        return f"{self._minute(told['at'])} {told['chat']}: {clean_line(str(told['text']))}"

    def file(self, told: Mapping[str, object]) -> str:
        named = " ".join(filter(None, (str(told["kind"]), clean_line(str(told["name"])))))
        return f"{self._minute(told['at'])} {told['chat']}: {named}: {clean_line(str(told['text']))}"

    def _minute(self, at: object) -> str:
        return datetime.fromtimestamp(int(str(at)) / 1000, self._tz).strftime("%Y-%m-%d %H:%M")
