"""`nuan ctx` and `nuan boot`: what the model would be sent, beside a running nuan."""

from dataclasses import dataclass
from typing import Literal

from bot.cli.installation import Installation, read_only
from bot.cli.lookup import PromptTarget, find_target
from bot.commands.prompt_report import ctx_json, ctx_report, recall_report, trace_report
from bot.config.settings import Settings
from bot.container import Dependencies, make_planner, make_recall
from bot.core.errors import ConfigError, NuanError
from bot.core.people import Chat, Person
from bot.core.ports import Clock
from bot.core.recall import RECALL_MODES, RecallQuery, RecallTrace
from bot.language.wishes.reader import understand
from bot.pipeline.inspection import inspect_plan, plan_imagined
from bot.pipeline.plan import Planner, TurnPlan
from bot.prompt.opening import boot_json

BootFormat = Literal["narrative", "json"]


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
    async with read_only(place, clock, models=_settings(place.settings, look)) as parts:
        planner = make_planner(parts)
        chat, person = await find_target(parts.store, view)
        if understand(look.query, place.settings.bot.names).commands:
            raise NuanError("--query: a memory command is carried out without a model; ask for a text without one")
        plan = await plan_imagined(planner, parts.current.words, chat, person, look.query, parts.clock.now())
        if look.raw:
            return await plan.endpoint.model.body(planner.request(plan.prompt, plan.prefix.signature))
        shown = await _ctx_text(parts, planner, plan, (chat, person), look)
        return (shown + "\n").encode("utf-8", "replace")


def _settings(settings: Settings, look: CtxRequest) -> Settings:
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
    async with read_only(place, clock) as parts:
        planner = make_planner(parts)
        chat, person = await find_target(parts.store, view)
        now = parts.clock.now()
        opened = await planner.boot(chat, person, now)
        return opened.text if form == "narrative" else boot_json(opened, chat, person, now)
