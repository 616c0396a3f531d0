"""The tools memory_recall and memory_get."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal, cast

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from bot.core.memories import MemoryKind
from bot.core.models import ToolSpec
from bot.core.recall import HIT_KINDS, HitKind, SearchHit
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments

DAY_CHARS = 10
"""Of 2026-05-02."""

MOST_RESULTS = 20
"""Most results of one call (seed 长记忆: topK 1..20)."""

AskedKind = Literal["identity", "emotion", "knowledge", "event", "anniversary", "experience", "summary", "note", "line"]
"""What may be asked for: the types of memories, summaries of talks, notes, and lines of the transcript."""

OTHERS: Mapping[AskedKind, HitKind] = {"summary": "digest", "note": "note", "line": "line"}
"""What is asked for besides memories, and its kind among findings."""

RenderFindings = Callable[[ToolContext, tuple[SearchHit, ...]], Awaitable[str]]

MOST_LINES = 100
"""Lines of a note that one call reads; the result itself has a bound in tokens."""

LINES = 40
"""Lines that are read when the model does not say."""

ReadNumbered = Callable[[ToolContext, int], Awaitable[ToolAnswer | None]]
"""Tells the thing of that number, None when this audience may not see it or there is none."""
ReadNotePart = Callable[[ToolContext, str, int, int], Awaitable[ToolAnswer | None]]
"""The same of a note by its path: from that line on, at most so many."""

_ID = re.compile(r"(?P<kind>[#@]?)(?P<number>[0-9]{1,18})")
_CITED = re.compile(r"(?P<path>.+?)#L(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")

MOST_SHOWN = 60
"""Characters of an unknown number or path that a refusal repeats."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What the model asks for: at most `most` (None: as configured) of these kinds (none: all), in [since, until)."""

    query: str
    most: int | None = None
    since: int | None = None
    until: int | None = None
    kinds: tuple[AskedKind, ...] = ()

    @property
    def memory_kinds(self) -> tuple[MemoryKind, ...]:
        """The types of memories that are asked for; none means all, where memories are asked for at all."""
        return tuple(cast("MemoryKind", kind) for kind in self.kinds if kind not in OTHERS)

    @property
    def finding_kinds(self) -> tuple[HitKind, ...]:
        """The kinds of findings that are asked for."""
        others = tuple(OTHERS[kind] for kind in self.kinds if kind in OTHERS)
        return (*(("memory",) if self.memory_kinds else ()), *others) if self.kinds else HIT_KINDS


SearchFunction = Callable[[ToolContext, RecallRequest], Awaitable[tuple[SearchHit, ...]]]


class RecallArguments(ToolArguments, tool="memory_recall"):
    """What the model may ask."""

    query: str = Field(max_length=2000)
    top_k: SkipJsonSchema[int | None] = Field(default=None, ge=1, le=MOST_RESULTS)
    since: str | None = Field(default=None, max_length=40)
    until: str | None = Field(default=None, max_length=40)
    kinds: SkipJsonSchema[list[AskedKind] | None] = Field(default=None, max_length=8)


def recall_tool(
    spec: ToolSpec, search: SearchFunction, render: RenderFindings, zone: Callable[[ToolContext], Awaitable[tzinfo]]
) -> Tool:  # fmt: skip
    """The tool over a search that filters by audience, and the words it answers in; `zone` is the person's calendar."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(RecallArguments, arguments)
        if not asked.query.strip():
            raise ToolRefused("recall_empty")
        tz = await zone(context) if asked.since or asked.until else None
        since = parse_moment(asked.since, tz) if asked.since and tz else None
        until = parse_moment(asked.until, tz, after=True) if asked.until and tz else None
        if since is not None and until is not None and until <= since:
            raise ToolRefused("tool_bad_arguments", "until <= since")
        wish = RecallRequest(asked.query, asked.top_k, since, until, tuple(dict.fromkeys(asked.kinds or ())))
        found = await search(context, wish)
        return ToolAnswer(
            await render(context, found), told=_refs(found, "memory"), lines=_refs(found, "line"),
            digests=_refs(found, "digest"),
        )  # fmt: skip

    return Tool(spec, run, reads=True)


def _refs(found: tuple[SearchHit, ...], kind: HitKind) -> tuple[int, ...]:
    return tuple(one.ref for one in found if one.kind == kind)


def parse_moment(text: str, tz: tzinfo, *, after: bool = False) -> int:
    """A local day (2026-05-02) or an ISO instant as ms; of a day its beginning, or with `after` the day's end.

    An instant without an offset is local. ToolRefused for anything else.
    """
    given = text.strip()
    try:
        if len(given) <= DAY_CHARS:
            day = date.fromisoformat(given) + timedelta(days=int(after))
            return round(datetime(day.year, day.month, day.day, tzinfo=tz).timestamp() * 1000)
        found = datetime.fromisoformat(given)
        return round((found if found.tzinfo else found.replace(tzinfo=tz)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise ToolRefused("tool_bad_arguments", "since/until: YYYY-MM-DD") from error


class GetArguments(ToolArguments, tool="memory_get"):
    """What the model may ask for: a number, or a path with lines."""

    id: str | int | None = None
    path: str | None = Field(default=None, max_length=300)
    first: int | None = Field(default=None, alias="from", ge=1, le=10**9)
    lines: int | None = Field(default=None, ge=1, le=MOST_LINES)


def get_tool(spec: ToolSpec, memory: ReadNumbered, line: ReadNumbered, note: ReadNotePart) -> Tool:
    """The tool over a reader of memories (#12), one of lines with their neighbourhood (@345), and one of notes.

    What a recall cites (notes/2026-05-02.md#L3-9) is taken as `id`, too.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(GetArguments, arguments)
        given, path = str(asked.id if asked.id is not None else "").strip(), (asked.path or "").strip()
        if not path and _CITED.fullmatch(given):
            given, path = "", given
        if bool(given) == bool(path):
            raise ToolRefused("tool_bad_arguments", "id | path")
        found = await _noted(context, path, asked) if path else await _numbered(context, given)
        if found is None:
            raise ToolRefused("get_none", (given or path)[:MOST_SHOWN])
        return found

    async def _numbered(context: ToolContext, given: str) -> ToolAnswer | None:
        named = _ID.fullmatch(given)
        if named is None:
            raise ToolRefused("tool_bad_arguments", "id: #12 | @345")
        kind: Literal["#", "@"] = "@" if named["kind"] == "@" else "#"
        return await (line if kind == "@" else memory)(context, int(named["number"]))

    async def _noted(context: ToolContext, path: str, asked: GetArguments) -> ToolAnswer | None:
        cited = _CITED.fullmatch(path)
        if cited is None:
            return await note(context, path, asked.first or 1, asked.lines or LINES)
        first, last = int(cited["first"]), int(cited["last"] or cited["first"])
        count = asked.lines or min(max(last - first + 1, 1), MOST_LINES)
        return await note(context, cited["path"], asked.first or max(first, 1), count)

    return Tool(spec, run, reads=True)
