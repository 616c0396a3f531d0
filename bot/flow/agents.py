"""What other agents read of a person's memory, and how they are answered: one seat, five tools, one line for an error.

Writes go to whoever may write; every read takes the audience of the seat's chat. It calls no model.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.config.settings import Settings
from bot.errors import ConfigError, NuanError
from bot.flow.found import findings_text
from bot.flow.getting import calendar
from bot.flow.pasttalks import past_talks
from bot.flow.plan import Planner
from bot.flow.recalling import Recalling
from bot.flow.seats import Sat, sit
from bot.flow.tools import read_spec
from bot.flow.words import Words
from bot.ports import Clock
from bot.prompt.bootjson import boot_json
from bot.recall.tool import Wish, recall_tool
from bot.store.store import Store
from bot.text.catalogue import Catalogue, catalogue
from bot.text.clean import as_data, clean_name
from bot.text.pasttalks import talk_lines
from bot.types.agent import AgentReply, AgentWish, Seat
from bot.types.log import Log
from bot.types.prompt import ToolSpec
from bot.types.recall import Asking, Finding
from bot.types.tool import ToolContext, ToolRefused, read_arguments

NAMES = ("boot", "recall", "remember", "forget", "dialog")
"""The tools, in the order in which they are offered."""

FOUND_TOKENS = 2_000
"""Tokens of what one recall tells: an agent has more room than a turn's log, and asks again when it wants more."""

TALKS = 8
"""Summaries that `dialog` tells unless it is asked for more or less."""

ARGUMENT_CHARS = 20_000
"""Longer arguments are not looked at: the longest that fit have less than a fifth of it."""

AGENT_CHARS = 40
"""Of an agent's name."""

Write = Callable[[AgentWish], Awaitable[AgentReply]]


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """What agents read besides memories: the tools, how to use them, and the sentences they are answered with."""

    specs: Mapping[str, ToolSpec]
    instructions: str
    sentences: Catalogue


@dataclass(frozen=True, slots=True)
class Desk:
    """What reading needs of the house."""

    store: Store
    planner: Planner
    recalling: Recalling
    words: Words
    settings: Settings
    clock: Clock
    log: Log


class _Boot(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["narrative", "json"] = "narrative"


class _Dialog(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    limit: int = Field(default=TALKS, ge=1, le=30)


class _Remember(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=500)
    kind: Literal["identity", "emotion", "knowledge", "event"] = "knowledge"
    words: str = Field(default="", max_length=2_000)


class _Forget(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: int | str | None = None
    text: str = Field(default="", max_length=500)


class Agents:
    """Answers agents from one seat. `write` carries out a change, or says why it cannot be."""

    def __init__(self, desk: Desk, seat: Seat, texts: AgentTexts, write: Write) -> None:
        self._desk = desk
        self._log = desk.log
        self._seat = seat
        self.texts = texts
        self._write = write
        self._recall = recall_tool(texts.specs["recall"], self._search, self._found, self._zone)

    async def call(self, name: str, arguments: str, agent: str) -> AgentReply:
        """The answer to one call of that agent, with its arguments as JSON text; whatever is wrong is one line."""
        desk, seat = self._desk, self._seat
        opening = desk.words.opening(desk.words.language)
        tool = name if name in NAMES else "?"
        try:
            sat = await sit(desk.store, seat)
            opening = desk.words.opening(desk.words.script(sat.person))
            reply = await self._answer(name, arguments, clean_name(agent or "mcp")[:AGENT_CHARS], sat)
        except ToolRefused as refused:
            reply = AgentReply(opening(refused.key, problem=as_data(refused.problem)), wrong=True)
        except LookupError:
            reply = AgentReply(self.texts.sentences.text("seat_gone", desk.words.language), wrong=True)
        except NuanError as error:
            self._log.warning("agent_failed", tool=tool, person=seat.person_id, chat=seat.chat_id, exc_info=error)
            reply = AgentReply(opening("tool_failed", problem=str(error)), wrong=True)
        except Exception as error:  # noqa: BLE001 - a defect in one tool must not end the connection
            self._log.error("agent_failed", tool=tool, person=seat.person_id, chat=seat.chat_id, exc_info=error)
            reply = AgentReply(opening("tool_failed", problem=type(error).__name__), wrong=True)
        self._log.info(
            "agent_called", tool=tool, person=seat.person_id, chat=seat.chat_id, wrong=reply.wrong,
            memories=list(reply.ids),
        )  # fmt: skip
        return reply

    async def _answer(self, name: str, arguments: str, agent: str, sat: Sat) -> AgentReply:
        if name not in NAMES:
            raise ToolRefused("tool_unknown", name[:AGENT_CHARS])
        if len(arguments) > ARGUMENT_CHARS:
            raise ToolRefused("tool_bad_arguments", f"{len(arguments)} > {ARGUMENT_CHARS}")
        match name:
            case "boot":
                return AgentReply(await self._boot(sat, read_arguments(_Boot, arguments).format))
            case "dialog":
                return AgentReply(await self._dialog(read_arguments(_Dialog, arguments).limit, sat))
            case "recall":
                answer = await self._recall.run(await self._context(sat), arguments)
                return AgentReply(answer.text, ids=answer.told)
            case _:
                return await self._write(self._wish(name, arguments, agent))

    def _wish(self, name: str, arguments: str, agent: str) -> AgentWish:
        if name == "remember":
            kept = read_arguments(_Remember, arguments)
            return AgentWish("remember", self._seat, agent, kept.text, kept.kind, kept.words.strip())
        asked = read_arguments(_Forget, arguments)
        number, text = str(asked.id if asked.id is not None else "").strip().removeprefix("#"), asked.text.strip()
        if bool(number) == bool(text) or (number and not (number.isascii() and number.isdigit() and len(number) < 16)):
            raise ToolRefused("tool_bad_arguments", "id | text")
        return AgentWish("forget", self._seat, agent, text, number=int(number) if number else None)

    async def _boot(self, sat: Sat, form: Literal["narrative", "json"]) -> str:
        """What `nuan boot` prints."""
        desk, script, now = self._desk, self._desk.words.script(sat.person), self._desk.clock.now()
        opened = await desk.planner.boot(sat.chat, sat.person, now)
        if form == "json":
            return boot_json(opened, sat.chat, sat.person, now)
        return opened.text or self.texts.sentences.text("boot_none", script)

    async def _dialog(self, limit: int, sat: Sat) -> str:
        desk, script = self._desk, self._desk.words.script(sat.person)
        opening, now = desk.words.opening(script), desk.clock.now()
        talks = await past_talks(desk.store, await desk.planner.audience(sat.chat, sat.person), sat.person.id, now)
        if not talks:
            return self.texts.sentences.text("dialog_none", script)
        when = (now, desk.words.tz(desk.words.zone_of(sat.chat, sat.person)))
        lines = talk_lines(talks, when, opening, desk.words.days(script))[:limit]
        return "\n".join(
            (
                opening("get_head"),
                *(opening("talk_line", day=as_data(line.head), text=as_data(line.text)) for line in lines),
            )
        )

    async def _search(self, context: ToolContext, wish: Wish) -> tuple[Finding, ...]:
        asking = Asking(
            context.audience, context.person_id, wish.query, context.now, wish.most, kinds=wish.finding_kinds,
            memory_kinds=wish.memory_kinds, since=wish.since, until=wish.until,
        )  # fmt: skip
        return tuple(one.finding for one in (await self._desk.recalling.recall(asking)).chosen)

    async def _found(self, context: ToolContext, found: tuple[Finding, ...]) -> str:
        return await findings_text(
            self._desk.store, self._desk.words, context, found, FOUND_TOKENS, bot=self._desk.settings.bot.names[0]
        )

    async def _zone(self, context: ToolContext) -> tzinfo:
        return await calendar(self._desk.store, self._desk.words, context)

    async def _context(self, sat: Sat) -> ToolContext:
        desk, person = self._desk, sat.person
        audience = await desk.planner.audience(sat.chat, person)
        return ToolContext(audience, person.id, 0, (), desk.words.script(person), desk.clock.now())


def read_texts(find: Callable[[str], Path]) -> AgentTexts:
    """The texts of prompts/mcp; ConfigError names a file that is broken."""
    specs = {name: read_spec(find(f"mcp/{name}.json")) for name in NAMES}
    path = find("mcp/instructions.txt")
    try:
        instructions = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError((f"prompts: mcp/{path.name} cannot be read ({error})",)) from error
    return AgentTexts(specs, instructions, catalogue(find, "mcp"))
