"""The archive that a person takes along: Markdown to read and JSON Lines for programs, of the same things.

It asks nothing and writes no file. Times are as in exports (time_text).
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping

from bot.memory.carrying.jsonl import write_jsonl
from bot.memory.carrying.markdown import write_markdown
from bot.memory.carrying.values import time_text
from bot.text.clean import clean_line
from bot.types.carried import Carried
from bot.types.exported import Own

README = """\
# What nuan keeps of you · nuan 记着的你

Made on {at}, for person {number}. 这是{at}为你整理的一份。

| File | What it holds | 里面是什么 |
|---|---|---|
| memories.md, memories.jsonl | what is remembered of you, private talks in short, your notes | 关于你的记忆、私聊摘要、笔记 |
| promises.md, promises.jsonl | what you promised | 你答应的事 |
| reminders.md, reminders.jsonl | what you wanted to be reminded of | 你要的提醒 |
| lines.md, lines.jsonl | what you said, as long as it is kept | 你说过的话（保留期内） |
| settings.json | your accounts, language, time zone, chats | 账号、语言、时区、聊天 |
| usage.jsonl | model calls made for you, by month | 为你用的模型调用（按月） |

Nothing that others said is in it, and no summary of a group. 别人说的话、群聊摘要都不在里面。
`.ai forget me` takes all of it away. 说 `.ai forget me` 可以全部删除。
"""

YEAR_ONE = (1980, 1, 1, 0, 0, 0)
"""The time of each file in the archive: the same content gives the same bytes."""


def archive(carried: Carried, own: Own, at: int) -> bytes:
    """The bytes of a zip file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in contents(carried, own, at).items():
            file.writestr(zipfile.ZipInfo(name, YEAR_ONE), text.encode("utf-8", "replace"), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def contents(carried: Carried, own: Own, at: int) -> dict[str, str]:
    """Each file by its name."""
    settings = {"person": _timed(own.person), "chats": [_timed(chat) for chat in own.chats]}
    return {
        "README.md": README.format(at=time_text(at)[:10], number=own.person["number"]),
        "memories.md": "".join(write_markdown(carried)),
        "memories.jsonl": "".join(write_jsonl(carried)),
        "promises.md": _markdown("Promises · 答应的事", map(_promise, own.promises)),
        "promises.jsonl": _lines(own.promises),
        "reminders.md": _markdown("Reminders · 提醒", map(_reminder, own.reminders)),
        "reminders.jsonl": _lines(own.reminders),
        "lines.md": _markdown("What you said · 你说过的话", map(_line, own.lines)),
        "lines.jsonl": _lines(own.lines),
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


def _promise(record: Mapping[str, object]) -> str:
    told = _timed(record)
    due = f", due {str(told['due_at'])[:16]}" if told["due_at"] else ""
    return f"{told['number']}. {clean_line(str(told['text']))} ({told['state']}{due}; {str(told['made_at'])[:10]})"


def _reminder(record: Mapping[str, object]) -> str:
    told = _timed(record)
    again = f", {told['rule']}" if told["rule"] else ""
    return f"{told['number']}. {str(told['due_at'])[:16]}{again}: {clean_line(str(told['text']))}"


def _line(record: Mapping[str, object]) -> str:
    told = _timed(record)
    return f"{str(told['at'])[:16]} {told['chat']}: {clean_line(str(told['text']))}"
