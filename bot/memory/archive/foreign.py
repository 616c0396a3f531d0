"""Markdown of other agents, like MEMORY.md: headings and bullets become memories of one person. It compares nothing."""

import re
from dataclasses import dataclass

from bot.core.archive import ExportContents, ExportedMemory, ImportProblem, ParsedExport
from bot.core.memories import STABILITY_DAYS, MemoryKind
from bot.memory.archive.records import BadValue, text_of, time_of
from bot.text.fold import fold

_KINDS: tuple[tuple[MemoryKind, tuple[str, ...]], ...] = (
    ("experience", ("lesson", "experience", "learned", "learnt", "经验", "教训", "心得")),
    ("emotion", ("mood", "emotion", "feeling", "心情", "情绪", "感受")),
    ("event", ("event", "log", "history", "timeline", "diary", "journal", "事件", "日记", "经过", "最近", "发生")),
    ("identity", ("identity", "profile", "about", "who", "basic", "身份", "基本", "关于", "我是谁", "个人", "档案")),
    ("knowledge", ("knowledge", "fact", "preference", "like", "project", "decision", "知识", "偏好", "喜好", "项目")),
)
"""Words of a heading, folded, and the kind of what stands under it (OpenClaw's MEMORY.md, the seed's own headings)."""

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_BULLET = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ForeignOwner:
    """How foreign lines are taken: whose they are, from which chat (his own), and the time of import, ms."""

    owner: str
    chat: str
    now: int


def kind_of(heading: str) -> MemoryKind | None:
    """The kind that a heading names, None when it names none."""
    said = fold(heading)
    words = set(re.findall(r"[a-z]+", said))
    for kind, names in _KINDS:
        if any(name in said if not name.isascii() else name in words or f"{name}s" in words for name in names):
            return kind
    return None


def parse_foreign(text: str, name: str, how: ForeignOwner) -> ParsedExport:
    """A memory for each bullet, its continued lines with it; without bullets for each paragraph. Never raises.

    Kinds go by the nearest heading that names one, else knowledge; a day in a heading, or in the file's name, is when
    it happened.
    """
    cleared = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text.removeprefix("\ufeff"))
    dated = _DAY.search(name)
    rows = _rows(cleared, dated[0] if dated else "")
    memories, lines, problems = list[ExportedMemory](), list[str](), list[ImportProblem]()
    for number, said, kind, day in rows:
        where = f"{name}:{number}"
        try:
            told = text_of(said)
            at = time_of(f"{day}T12:00:00Z") if day else how.now
        except BadValue as error:
            problems.append(ImportProblem(where, str(error)))
            continue
        memories.append(
            ExportedMemory(
                0, how.owner, how.chat, "private", kind, told, at, how.now, "command", float(STABILITY_DAYS[kind]),
                how.now, how.now, asked=True,
            )
        )  # fmt: skip
        lines.append(where)
    return ParsedExport(ExportContents(memories=tuple(memories)), tuple(lines), tuple(problems))


def _rows(text: str, day: str) -> list[tuple[int, str, MemoryKind, str]]:
    """Line, text, kind and day of each statement."""
    found: list[tuple[int, str, MemoryKind, str]] = []
    levels: dict[int, MemoryKind] = {}
    fenced = open_item = False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if _FENCE.match(line):
            fenced, open_item = not fenced, False
        elif fenced:
            continue
        elif heading := _HEADING.fullmatch(line):
            level = len(line) - len(line.lstrip("#"))
            levels = {depth: kind for depth, kind in levels.items() if depth < level}
            if (kind := kind_of(heading[1])) is not None:
                levels[level] = kind
            day, open_item = (match[0] if (match := _DAY.search(heading[1])) else day), False
        elif not line.strip() or set(line.strip()) <= set("-=_*|: "):
            open_item = False
        elif (bullet := _BULLET.fullmatch(line)) is not None:
            found.append((number, bullet[2].strip(), _nearest(levels), day))
            open_item = True
        elif open_item:
            before = found[-1]
            found[-1] = (before[0], f"{before[1]} {line.strip()}", before[2], before[3])
        else:
            found.append((number, line.strip(), _nearest(levels), day))
            open_item = True
    return [row for row in found if row[1]]


def _nearest(levels: dict[int, MemoryKind]) -> MemoryKind:
    return levels[max(levels)] if levels else "knowledge"
