"""The tool memory_recall over a search that it is handed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal, cast

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from bot.core.models import ToolSpec
from bot.core.people import MemoryKind
from bot.core.recall import HIT_KINDS, HitKind, RecallQuery, SearchHit
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

CitedReader = Callable[[ToolContext, str], Awaitable[ToolAnswer | None]]
"""What a query cites, whole, as #12; None for one that is to be searched for."""


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

    def within(self, context: ToolContext) -> RecallQuery:
        """The search that it means for those who read there."""
        return RecallQuery(
            context.audience,
            context.person_id,
            self.query,
            context.now,
            self.most,
            kinds=self.finding_kinds,
            memory_kinds=self.memory_kinds,
            since=self.since,
            until=self.until,
        )


SearchFunction = Callable[[ToolContext, RecallRequest], Awaitable[tuple[SearchHit, ...]]]
"""What the tool searches with."""


class RecallArguments(ToolArguments, tool="memory_recall"):
    """What the model may ask."""

    query: str = Field(max_length=2000)
    top_k: SkipJsonSchema[int | None] = Field(default=None, ge=1, le=MOST_RESULTS)
    since: str | None = Field(default=None, max_length=40)
    until: str | None = Field(default=None, max_length=40)
    kinds: SkipJsonSchema[list[AskedKind] | None] = Field(default=None, max_length=8)


def recall_tool(
    spec: ToolSpec,
    search: SearchFunction,
    render: RenderFindings,
    zone: Callable[[ToolContext], Awaitable[tzinfo]],
    cited: CitedReader | None = None,
) -> Tool:
    """The tool over a search, and a reader, that filter by audience, and the words it answers in; `zone` is the person's
    calendar."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(RecallArguments, arguments)
        if not asked.query.strip():
            raise ToolRefused("recall_empty")
        if cited is not None and (whole := await cited(context, asked.query.strip())) is not None:
            return whole
        tz = await zone(context) if asked.since or asked.until else None
        since = parse_moment(asked.since, tz) if asked.since and tz else None
        until = parse_moment(asked.until, tz, after=True) if asked.until and tz else None
        if since is not None and until is not None and until <= since:
            raise ToolRefused("tool_bad_arguments", "until <= since")
        wish = RecallRequest(asked.query, asked.top_k, since, until, tuple(dict.fromkeys(asked.kinds or ())))
        found = await search(context, wish)
        return ToolAnswer(
            await render(context, found),
            told=_refs(found, "memory"),
            lines=_refs(found, "line"),
            digests=_refs(found, "digest"),
        )

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
