"""`nuan ctx`, `nuan boot` and `nuan usage`: what the model would be sent and what it cost, beside a running nuan."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal

from bot.cli.installation import Installation, make_dependencies
from bot.cli.usage import UsageDays, UsageNames, usage_json, usage_report
from bot.commands.prompt_report import ctx_json, ctx_report, recall_report, trace_report
from bot.config.settings import Settings
from bot.container import Dependencies, make_planner, make_recall
from bot.core.errors import ConfigError, NuanError, StoreError
from bot.core.people import Chat, Person
from bot.core.ports import Clock
from bot.core.recall import RECALL_MODES, RecallQuery, RecallTrace
from bot.language.wishes.reader import understand
from bot.ops.log_files import NullLog
from bot.pipeline.endpoints import make_pool
from bot.pipeline.inspection import inspect_plan, plan_imagined
from bot.pipeline.plan import Planner, TurnPlan
from bot.prompt.opening import boot_json
from bot.store.ledger import NO_CHAT
from bot.store.store import Store, open_store
from bot.text.dates import local_day


@dataclass(frozen=True, slots=True)
class PromptTarget:
    """Whose prompt in which chat is looked at; empty strings mean the owner's own, or the only one there is."""

    chat: str = ""
    person: str = ""


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
    query = look.query
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        pool = make_pool(_settings(place.settings, look), place.prompts.path)
        parts = make_dependencies(place, store, pool, NullLog(), clock)
        planner, _ = make_planner(parts)
        chat, person = await find_target(store, view)
        if understand(query, place.settings.bot.names).commands:
            raise NuanError("--query: a memory command is carried out without a model; ask for a text without one")
        plan = await plan_imagined(planner, parts.words, chat, person, query, parts.clock.now())
        try:
            if look.raw:
                return await plan.endpoint.model.body(planner.request(plan.prompt, plan.prefix.signature))
            shown = await _ctx_text(parts, planner, plan, (chat, person), look)
            return (shown + "\n").encode("utf-8", "replace")
        finally:
            await pool.close()


def _settings(settings: Settings, look: CtxRequest) -> Settings:
    """Those that the models are made by: to compare the modes takes an embedder in every mode."""
    hybrid = settings.memory.model_copy(update={"mode": "hybrid"})
    return settings.model_copy(update={"memory": hybrid}) if look.compare else settings


async def _ctx_text(
    parts: Dependencies, planner: Planner, plan: TurnPlan, where: tuple[Chat, Person], look: CtxRequest
) -> str:
    chat, person = where
    tz = parts.words.tz(parts.words.zone_of(chat, person))
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
    script = parts.words.script(person)

    def text(key: str, **values: object) -> str:
        return parts.words.messages.text(key, script, **values)

    blocks = [ctx_report(seen, text)]
    if look.debug:
        blocks += ["\n".join(seen.lines)] if seen.lines else []
    if traces:
        blocks.append(recall_report(tuple(traces), recalling.mode, text))
    if look.debug:
        blocks += [trace_report(trace, text) for trace in traces]
    return "\n".join(blocks)


async def show_usage(place: Installation, days: int, clock: Clock | None = None, *, as_json: bool = False) -> str:
    """What the model calls of the last `days` local days used."""
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        parts = make_dependencies(place, store, make_pool(place.settings, place.prompts.path), NullLog(), clock)
        words, language = parts.words, place.settings.bot.language
        tz, now = words.tz(words.zone), parts.clock.now()
        today = local_day(now, tz)
        first = today - timedelta(days=days - 1)
        since = round(datetime.combine(first, time(), tz).timestamp() * 1000)
        names = {NO_CHAT: "nuan"} | {
            chat.id: f"{chat.platform} {chat.title or chat.external_id}" for chat in await store.people.chats()
        }
        used = await store.ledger.used(since)
        numbers = {each.person_id for each in used if each.person_id is not None}
        people = {number: (await store.people.person(number)).name for number in sorted(numbers)}
        shares, span, currency = (
            await store.brought.shares(since),
            UsageDays(first, days, tz),
            place.settings.budget.currency,
        )
        if as_json:
            return usage_json(used, shares, span, UsageNames(names, people), currency)
        people = {number: f"#{number} {name}".strip() for number, name in people.items()}
        return usage_report(
            used, shares, span, UsageNames(names, people), currency,
            lambda key, **values: words.messages.text(key, language, **values),
        )  # fmt: skip


async def find_target(store: Store, view: PromptTarget) -> tuple[Chat, Person]:
    """The chat and the person by number or name; StoreError lists what there is."""
    chats = await store.people.chats()
    wanted = (
        [chat for chat in chats if view.chat in (str(chat.id), chat.title, chat.external_id)]
        if view.chat
        else await _chats_of(store, view.person, chats)
    )
    if len(wanted) != 1:
        known = ", ".join(f"{chat.id} {chat.platform} {chat.title or chat.external_id}" for chat in chats)
        raise StoreError(f"--chat: give one of: {known or 'no chat yet'}")
    chat = wanted[0]
    people = [await store.people.person(number) for number in (await store.people.audience(chat)).person_ids]
    named = [p for p in people if view.person in (str(p.id), p.name)] if view.person else people
    if not named and chat.kind == "group" and (listener := await store.people.person_named(view.person)) is not None:
        named = [listener]  # one who wrote there, but was never answered
    if len(named) != 1 and not view.person:
        named = [person for person in people if person.is_owner]
    if len(named) != 1:
        raise StoreError(f"--person: give one of: {', '.join(f'{p.id} {p.name}' for p in people) or 'nobody yet'}")
    return chat, named[0]


async def _chats_of(store: Store, person: str, chats: tuple[Chat, ...]) -> list[Chat]:
    """Where that person, or the owner, is looked at when no chat is given: in private, else where they are."""
    private = [chat for chat in chats if chat.kind == "dm"] or list(chats)
    if len(private) == 1 and not person:
        return private
    theirs: list[Chat] = []
    for chat in chats:
        there = [await store.people.person(number) for number in (await store.people.audience(chat)).person_ids]
        if any(person in (str(each.id), each.name) if person else each.is_owner for each in there):
            theirs.append(chat)
    return [chat for chat in theirs if chat.kind == "dm"] or theirs or private


BootFormat = Literal["narrative", "json"]


def boot_format(name: str) -> BootFormat:
    """The format of that name; ConfigError says which there are."""
    match name:
        case "narrative" | "json":
            return name
        case _:
            raise ConfigError((f"--format: there is no {name!r}; use narrative or json",))


async def show_boot(
    place: Installation, view: PromptTarget, form: BootFormat = "narrative", clock: Clock | None = None
) -> str:
    """The block that a talk would open with, to the letter, or what it tells as JSON."""
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        pool = make_pool(place.settings, place.prompts.path)
        try:
            parts = make_dependencies(place, store, pool, NullLog(), clock)
            planner, _ = make_planner(parts)
            chat, person = await find_target(store, view)
            now = parts.clock.now()
            opened = await planner.boot(chat, person, now)
            return opened.text if form == "narrative" else boot_json(opened, chat, person, now)
        finally:
            await pool.close()
