"""`nuan ctx`, `boot`, `usage` and `sections`: what the model would be sent, what calls used, what memory is hit."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.cells import cell_len, set_cell_size

from bot.cli.installation import Installation, make_words, read_only
from bot.cli.lookup import PromptTarget, find_target
from bot.cli.terminal import json_document, write_private
from bot.commands.prompt_report import ctx_json, ctx_report, recall_report, trace_report, way_name
from bot.config.memory import SectionRules
from bot.config.settings import Settings
from bot.container import Dependencies, make_planner, make_recall
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, NuanError
from bot.core.models import CallUse
from bot.core.people import Audience, Chat, Person
from bot.core.ports import Clock
from bot.core.recall import (
    RECALL_MODES,
    RecallQuery,
    RecallRound,
    RecallTrace,
    SectionAdvice,
    SectionHistory,
    TopicLine,
)
from bot.core.sessions import ToldShare
from bot.language.wishes.reader import understand
from bot.memory.archive.records import time_text
from bot.money import DaySpan, UsageSum, daily_sums, largest_sums, sum_of
from bot.pipeline.inspection import inspect_plan, plan_imagined
from bot.pipeline.plan import Planner, TurnPlan
from bot.pipeline.recall import topic_of
from bot.prompt.opening import TEXT_CHARS, boot_json, section_name
from bot.recall.sections import FRESH_MS, SectionLabel, advice, index_state, sections_to_search, shares, topic_file
from bot.store.ledger import NO_CHAT
from bot.store.store import Store, open_store
from bot.text.clean import clean
from bot.text.length import clip

BootFormat = Literal["narrative", "json"]

BAR_CELLS = 24
"""Cells of the longest bar."""

HIT_CELLS = 8
"""Cells of a bar of hits: full when all input came from the cache."""

FIGURE_CELLS = 10
"""Cells of a figure."""

NAME_CELLS = 24
"""Cells of a name."""

EIGHTHS = " ▏▎▍▌▋▊▉█"

Json = dict[str, object]

STATE, TOPIC = "index_state.json", "MEMORY_TOPIC.md"


@dataclass(frozen=True, slots=True)
class CtxRequest:
    """What is looked at: what the person would say, and how much is shown of what follows from it.

    `compare` shows every mode of recall, `debug` how they were ranked and what differs from the last call, `most`
    is how many memories a recall brings (as configured when None). ConfigError when it asks for what cannot be.
    """

    query: str = ""
    raw: bool = False
    as_json: bool = False
    compare: bool = False
    debug: bool = False
    most: int | None = None

    def __post_init__(self) -> None:
        if self.recalls and self.raw:
            raise ConfigError(("--raw: the body is printed alone; leave out --compare, --debug and --memory-limit",))
        if self.raw and self.as_json:
            raise ConfigError(("--raw: the body is printed alone; leave out --json",))
        if self.recalls and not self.query.strip():
            raise ConfigError(("--compare, --debug, --memory-limit: give --query, there is nothing to search with",))

    @property
    def recalls(self) -> bool:
        """Whether memories are looked for."""
        return self.compare or self.debug or self.most is not None


async def show_ctx(place: Installation, view: PromptTarget, look: CtxRequest, clock: Clock | None = None) -> bytes:
    """What would be sent if that person said that now, and what a recall would bring; with `raw` the very bytes."""
    async with read_only(place, clock, models=_model_settings(place.settings, look)) as parts:
        planner = make_planner(parts)
        chat, person = await find_target(parts.store, view)
        if understand(look.query, place.settings.bot.names).commands:
            raise NuanError("--query: a memory command is carried out without a model; ask for a text without one")
        plan = await plan_imagined(planner, parts.current.words, chat, person, look.query, parts.clock.now())
        if look.raw:
            return await plan.endpoint.model.body(planner.request(plan.prompt, plan.prefix.signature))
        shown = await _ctx_text(parts, planner, plan, (chat, person), look)
        return (shown + "\n").encode("utf-8", "replace")


def _model_settings(settings: Settings, look: CtxRequest) -> Settings:
    """Those that the models are made by: to compare the modes takes an embedder in every mode."""
    hybrid = settings.memory.model_copy(update={"mode": "hybrid"})
    return settings.model_copy(update={"memory": hybrid}) if look.compare else settings


async def _ctx_text(
    parts: Dependencies, planner: Planner, plan: TurnPlan, where: tuple[Chat, Person], look: CtxRequest
) -> str:
    chat, person = where
    words = parts.current.words
    tz = words.tz_of(chat, person)
    seen = await inspect_plan(parts.store, planner, plan, chat.id, parts.clock.now(), tz)
    recalling = make_recall(parts)
    traces: list[RecallTrace] = []
    if look.recalls:
        audience, now = await planner.audience(chat, person), parts.clock.now()
        traces = [
            await recalling.recall(RecallQuery(audience, person.id, look.query, now, look.most, mode=mode))
            for mode in (RECALL_MODES if look.compare else (recalling.mode,))
        ]
    if look.as_json:
        return ctx_json(seen, (chat, person, look.query), tuple(traces), recalling.mode, debug=look.debug)
    script = words.script(person)

    def text(key: str, **values: object) -> str:
        return words.messages.text(key, script, **values)

    blocks = [ctx_report(seen, text)]
    if look.debug:
        blocks += ["\n".join(seen.lines)] if seen.lines else []
    if traces:
        blocks.append(recall_report(tuple(traces), recalling.mode, text))
    if look.debug:
        blocks += [trace_report(trace, text) for trace in traces]
    return "\n".join(blocks)


async def show_boot(
    place: Installation, view: PromptTarget, form: BootFormat = "narrative", clock: Clock | None = None
) -> str:
    """The block that a talk would open with, to the letter, or what it tells as JSON."""
    async with read_only(place, clock) as parts:
        planner = make_planner(parts)
        chat, person = await find_target(parts.store, view)
        now = parts.clock.now()
        opened = await planner.boot(chat, person, now)
        return opened.text if form == "narrative" else boot_json(opened, chat, person, now)


@dataclass(frozen=True, slots=True)
class UsageNames:
    """How chats and people are called, by their numbers."""

    chats: Mapping[int, str]
    people: Mapping[int, str]


async def show_usage(
    place: Installation, days: int, clock: Clock | None = None, *, as_json: bool = False, language: str = ""
) -> str:
    """What the model calls of the last `days` local days used, in that language, else in the configured one."""
    words, language = make_words(place), language or place.settings.bot.language
    span = DaySpan.until((clock or SystemClock()).now(), days, words.default_tz)
    async with await open_store(
        place.data, frozenset(place.settings.bot.owners), read_only=True, url=place.url
    ) as store:
        chats = {NO_CHAT: "nuan"} | {chat.id: chat.label for chat in await store.people.chats()}
        used, shares = await store.ledger.used(span.since), await store.inspector.told_shares(span.since)
        numbers = {each.person_id for each in used if each.person_id is not None}
        people = {number: (await store.people.person(number)).name for number in sorted(numbers)}
        currency = place.settings.budget.currency
        if as_json:
            return usage_json(used, shares, span, UsageNames(chats, people), currency)
        people = {number: f"#{number} {name}".strip() for number, name in people.items()}
        return usage_report(
            used,
            shares,
            span,
            UsageNames(chats, people),
            currency,
            lambda key, **values: words.messages.text(key, language, **values),
        )


def usage_report(
    used: tuple[CallUse, ...],
    shares: tuple[ToldShare, ...],
    span: DaySpan,
    names: UsageNames,
    currency: str,
    text: Callable[..., str],
) -> str:
    """Per day, then per chat, person and cause, the largest first; bars are tokens and hits.

    Last what memory put into the prompts, by the way it came.
    """
    whole, of_people = sum_of(used), tuple(each for each in used if each.person_id is not None)
    head = text(
        "usage_all",
        days=span.days,
        calls=whole.calls,
        tokens=whole.tokens,
        rate=f"{whole.hit_rate:.0%}",
        money=f"{whole.money:.4f} {currency}",
    )
    tables = (
        (text("usage_day"), {f"{day:%m-%d}": one for day, one in daily_sums(used, span).items()}),
        (text("usage_chat"), largest_sums(used, lambda each: names.chats.get(each.chat_id) or f"#{each.chat_id}")),
        (
            text("usage_person"),
            largest_sums(of_people, lambda each: names.people.get(each.person_id or 0) or f"#{each.person_id}"),
        ),
        (text("usage_cause"), largest_sums(used, lambda each: text(f"cause_{each.cause}"))),
    )
    return "\n".join(
        (
            head,
            *(line for title, sums in tables if sums for line in ("", *_usage_table(title, sums, text))),
            *(("", *brought_report(shares, text)) if shares else ()),
        )
    )


def brought_report(shares: tuple[ToldShare, ...], text: Callable[..., str]) -> list[str]:
    """What memory put into prompts, by the way it came: tokens, turns and pieces; each counts once, where it entered
    a log."""
    named = {share.way: way_name(share.way, text) for share in shares}
    most = max(share.tokens for share in shares)
    width = min(NAME_CELLS, max(map(cell_len, (text("usage_brought"), *named.values()))))
    heads = (text("usage_tokens"), text("usage_turns"), text("usage_pieces"))
    return [
        f"{set_cell_size(text('usage_brought'), width)}  {' ' * BAR_CELLS}  {_figure_row(*heads)}",
        *(
            f"{set_cell_size(named[share.way], width)}  {bar(share.tokens, most)}  "
            + _figure_row(f"{share.tokens}", f"{share.turns}", f"{share.pieces}")
            for share in shares
        ),
    ]


def _usage_table(title: str, sums: Mapping[str, UsageSum], text: Callable[..., str]) -> list[str]:
    most = max(one.tokens for one in sums.values())
    width = min(NAME_CELLS, max(cell_len(name) for name in (title, *sums)))
    heads = (text("usage_tokens"), text("usage_calls"), text("usage_hits"), text("usage_money"))
    lines = [
        f"{set_cell_size(title, width)}  {' ' * BAR_CELLS}  "
        + _figure_row(*heads[:3])
        + f"  {' ' * HIT_CELLS}"
        + _figure_row(heads[3])
    ]
    for name, one in sums.items():
        cells = (f"{one.tokens}", f"{one.calls}", f"{one.hit_rate:.0%}")
        hits = bar(one.cached, one.prompt, HIT_CELLS)
        row = f"{bar(one.tokens, most)}  {_figure_row(*cells)}  {hits}{_figure_row(f'{one.money:.4f}')}"
        lines.append(f"{set_cell_size(name, width)}  {row}")
    return lines


def _figure_row(*cells: str) -> str:
    return "".join(" " * max(0, FIGURE_CELLS - cell_len(cell)) + cell for cell in cells)


def bar(part: int, whole: int, width: int = BAR_CELLS) -> str:
    """A bar of `width` cells, filled to an eighth of a cell; what is not nothing shows at least that eighth."""
    eighths = max(round(8 * width * part / whole), 1) if part and whole else 0
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def usage_json(
    used: tuple[CallUse, ...], shares: tuple[ToldShare, ...], span: DaySpan, names: UsageNames, currency: str
) -> str:
    """Sums in all, per day (every day of the span), chat, person and cause; what memory brought, by its way."""
    of_people = tuple(each for each in used if each.person_id is not None)
    chats, people = (
        largest_sums(used, lambda each: each.chat_id),
        largest_sums(of_people, lambda each: each.person_id or 0),
    )
    causes = largest_sums(used, lambda each: each.cause)
    return json_document(
        {
            "first_day": f"{span.first}",
            "days": span.days,
            "currency": currency,
            "all": _usage_sum_json(sum_of(used)),
            "by_day": [{"day": f"{day}"} | _usage_sum_json(one) for day, one in daily_sums(used, span).items()],
            "by_chat": [
                {"chat": key, "name": names.chats.get(key)} | _usage_sum_json(one) for key, one in chats.items()
            ],
            "by_person": [
                {"person": key, "name": names.people.get(key)} | _usage_sum_json(one) for key, one in people.items()
            ],
            "by_cause": [{"cause": key} | _usage_sum_json(one) for key, one in causes.items()],
            "brought": [asdict(share) for share in shares],
        }
    )


def _usage_sum_json(one: UsageSum) -> Json:
    return {
        "calls": one.calls,
        "input_tokens": one.prompt,
        "cached_tokens": one.cached,
        "output_tokens": one.output,
        "money": one.money,
    }


@dataclass(frozen=True, slots=True)
class SectionReport:
    """One person in one chat: the rounds of late, the advice, what is searched first, and the topic."""

    sighted: SectionHistory
    rounds: tuple[RecallRound, ...]
    advice: tuple[SectionAdvice, ...]
    first: tuple[str, ...]
    topic: TopicLine | None


async def show_sections(place: Installation, export: Path | None, clock: Clock | None = None, *, as_json: bool) -> str:
    """The advice list, beside a running nuan; with `export` the states are written into that folder instead."""
    rules, now = place.settings.sections, (clock or SystemClock()).now()
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        shown = [await _section_report(store, rules, each, now) for each in await store.inspector.section_histories()]
    words = make_words(place).opening(place.settings.bot.language)

    def name(key: str) -> str:
        return section_name(key, words)

    if export is not None:
        if await asyncio.to_thread(export.is_file):
            raise NuanError(f"{export} is no folder: give another name")
        if not shown:
            raise NuanError("no turn has searched memory yet: nothing was written")
        for each in shown:
            _write_section_state(
                export / f"chat-{each.sighted.chat_id}-person-{each.sighted.person_id}", each, rules, name
            )
        if as_json:
            return json_document({"folder": str(export), "states": len(shown)})
        return f"{len(shown)} states are in {export}; they tell what people said: what is forgotten later stays there"
    if as_json:
        return json_document([_section_json(each, rules, name) for each in shown])
    return (
        "\n".join(line for each in shown for line in _section_lines(each, rules, name))
        or "no turn has searched memory yet"
    )


async def _section_report(store: Store, rules: SectionRules, sighted: SectionHistory, now: int) -> SectionReport:
    late = tuple(each for each in sighted.rounds if each.at >= now - FRESH_MS)
    audience = Audience(sighted.chat_id, sighted.kind, (sighted.person_id,))
    topic = await topic_of(store, rules, audience, sighted.person_id, now)
    first = sections_to_search(late, (), rules) if rules.on else ()
    return SectionReport(sighted, late, advice(late, sighted.sizes, rules), first, topic)


def _section_state(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> dict[str, object]:
    topic = (name(shown.topic.section), _section_sentence(shown.topic)) if shown.topic is not None else ("", "")
    return index_state(shown.rounds, shown.sighted.sizes, rules, topic, (name, time_text))


def _section_sentence(topic: TopicLine) -> str:
    return " ".join(clean(clip(topic.text, TEXT_CHARS)).split())


def _section_json(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> dict[str, object]:
    return {
        "chat": shown.sighted.chat_id,
        "person": shown.sighted.person_id,
        "state": _section_state(shown, rules, name),
        "advice": [{**asdict(each), "name": name(each.key)} for each in shown.advice],
        "first": list(shown.first),
    }


def _section_lines(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> Iterator[str]:
    sighted, total = shown.sighted, len(shares(shown.rounds, rules.window))
    title = f" {clean(sighted.title)}" if sighted.title else ""
    who = " ".join(clean(sighted.name).split())
    yield f"chat {sighted.chat_id} ({sighted.kind}{title}), person {sighted.person_id} {who}:"
    for each in shown.advice:
        told = f"  {each.key} ({name(each.key)}): {each.share:.0%} of the hits, {each.memories} memories"
        standing = {"also": "", "none": ""}.get(each.standing, f", {each.standing}")
        merge = f"; no hit in {each.misses} turns: might be merged into another" if each.merge else ""
        yield told + standing + merge
    if shown.first:
        yield f"  searched first: {', '.join(shown.first)} and what a message names; everything when that is not enough"
    else:
        yield "  everything is searched" + ("" if total else ": no hit of late")
    if shown.topic is not None:
        yield f"  topic: {name(shown.topic.section)}: {_section_sentence(shown.topic)} (#{shown.topic.memory_id})"


def _write_section_state(folder: Path, shown: SectionReport, rules: SectionRules, name: SectionLabel) -> None:
    state = json_document(_section_state(shown, rules, name)) + "\n"
    write_private(folder / STATE, (state,), force=True)
    if shown.topic is None:
        (folder / TOPIC).unlink(missing_ok=True)
    else:
        write_private(
            folder / TOPIC, (topic_file(name(shown.topic.section), _section_sentence(shown.topic)),), force=True
        )
