"""`nuan ctx` and `nuan usage`: what the model would be sent and what it cost, beside a running nuan."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta

from bot.cli.house import Place, make_parts
from bot.cli.models import make_crew
from bot.commands.ctx import ctx_report
from bot.commands.ctxjson import ctx_json
from bot.commands.recalled import recall_report, trace_report
from bot.commands.usage import Names, Span, usage_report
from bot.commands.usagejson import usage_json
from bot.config.settings import Settings
from bot.errors import ConfigError, NuanError, StoreError
from bot.flow.imagine import imagine
from bot.flow.inspection import inspect
from bot.flow.plan import Plan, Planner
from bot.memory.wish_reader import understand
from bot.ops.silence import Silence
from bot.ports import Clock
from bot.rooms import Parts, make_planner, make_recalling
from bot.store.ledger import HOUSE
from bot.store.store import Store, open_store
from bot.text.dates import local_day
from bot.types.people import Chat, Person
from bot.types.recall import MODES, Asking, Trace


@dataclass(frozen=True, slots=True)
class View:
    """Whose prompt in which chat is looked at; empty strings mean the owner's own, or the only one there is."""

    chat: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True)
class Look:
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


async def show_ctx(place: Place, view: View, look: Look, clock: Clock | None = None) -> bytes:
    """What would be sent if that person said that now, and what a recall would bring; with `raw` the very bytes."""
    query = look.query
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        crew = make_crew(_settings(place.settings, look), place.prompts.path)
        parts = make_parts(place, store, crew, Silence(), clock)
        planner, _ = make_planner(parts)
        chat, person = await find_view(store, view)
        if understand(query, place.settings.bot.names).commands:
            raise NuanError("--query: a memory command is carried out without a model; ask for a text without one")
        plan = await imagine(planner, parts.words, chat, person, query, parts.clock.now())
        try:
            if look.raw:
                return await plan.member.model.body(planner.request(plan.prompt, plan.prefix.signature))
            shown = await _shown(parts, planner, plan, (chat, person), look)
            return (shown + "\n").encode("utf-8", "replace")
        finally:
            await crew.close()


def _settings(settings: Settings, look: Look) -> Settings:
    """Those that the models are made by: to compare the modes takes an embedder in every mode."""
    hybrid = settings.memory.model_copy(update={"mode": "hybrid"})
    return settings.model_copy(update={"memory": hybrid}) if look.compare else settings


async def _shown(parts: Parts, planner: Planner, plan: Plan, where: tuple[Chat, Person], look: Look) -> str:
    chat, person = where
    tz = parts.words.tz(parts.words.zone_of(chat, person))
    seen = await inspect(parts.store, planner, plan, chat.id, parts.clock.now(), tz)
    recalling = make_recalling(parts)
    traces: list[Trace] = []
    if look.recalls:
        audience, now = await planner.audience(chat, person), parts.clock.now()
        traces = [
            await recalling.recall(Asking(audience, person.id, look.query, now, look.most, mode=mode))
            for mode in (MODES if look.compare else (recalling.mode,))
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


async def show_usage(place: Place, days: int, clock: Clock | None = None, *, as_json: bool = False) -> str:
    """What the model calls of the last `days` local days used."""
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        parts = make_parts(place, store, make_crew(place.settings, place.prompts.path), Silence(), clock)
        words, language = parts.words, place.settings.bot.language
        tz, now = words.tz(words.zone), parts.clock.now()
        today = local_day(now, tz)
        first = today - timedelta(days=days - 1)
        since = round(datetime.combine(first, time(), tz).timestamp() * 1000)
        names = {HOUSE: "nuan"} | {
            chat.id: f"{chat.platform} {chat.title or chat.external_id}" for chat in await store.people.chats()
        }
        used = await store.ledger.used(since)
        numbers = {each.person_id for each in used if each.person_id is not None}
        people = {number: (await store.people.person(number)).name for number in sorted(numbers)}
        shares, span, currency = (
            await store.brought.shares(since),
            Span(first, days, tz),
            place.settings.budget.currency,
        )
        if as_json:
            return usage_json(used, shares, span, Names(names, people), currency)
        people = {number: f"#{number} {name}".strip() for number, name in people.items()}
        return usage_report(
            used, shares, span, Names(names, people), currency,
            lambda key, **values: words.messages.text(key, language, **values),
        )  # fmt: skip


async def find_view(store: Store, view: View) -> tuple[Chat, Person]:
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
