"""What other agents read and change of one person's memory: five tools for the person and chat that they were given."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Literal

from pydantic import Field

from bot.config.settings import Settings
from bot.core.clock import DAY_MS
from bot.core.errors import ConfigError, NuanError
from bot.core.events import Draft
from bot.core.memories import Memory, NewMemory
from bot.core.models import ToolSpec
from bot.core.people import AgentReply, AgentRequest, Audience, Chat, Person, Principal
from bot.core.ports import Clock, Log
from bot.core.recall import SearchHit
from bot.core.tools import ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.wishes.forget import matching, perhaps_matching
from bot.language.wishes.keep import says_nothing
from bot.language.wishes.own_words import read_own_words
from bot.language.wishes.reader import understand
from bot.memory.lifecycle import with_day
from bot.pipeline.actions.receipts import memory_line_for_people
from bot.pipeline.findings import findings_text, timezone_of
from bot.pipeline.opening import past_talks
from bot.pipeline.plan import Planner
from bot.pipeline.recall import Recall
from bot.pipeline.texts import Texts
from bot.pipeline.tools.registry import read_spec
from bot.prompt.days import DayFormatter
from bot.prompt.opening import boot_json
from bot.prompt.warm_boot import past_talk_lines
from bot.store.removal import Forgetting
from bot.store.store import Store
from bot.text.catalogue import Catalogue, catalogue
from bot.text.clean import as_data, clean, clean_name
from bot.text.fold import fold
from bot.text.length import clip
from bot.tools.recall import RecallRequest, recall_tool

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

WriteWish = Callable[[AgentRequest], Awaitable[AgentReply]]

SHOWN, SHOWN_CHARS = 8, 120
"""How many memories a list of what fits names, and characters of each."""


async def read_principal(store: Store, principal: Principal) -> tuple[Chat, Person]:
    """The chat and person as they are now; LookupError when one is gone, or the person takes no part there any more."""
    chat, person = await store.people.chat(principal.chat_id), await store.people.person(principal.person_id)
    if person.id not in (await store.people.audience(chat)).person_ids:
        raise LookupError(f"person {person.id} is not in chat {chat.id}")
    return chat, person


@dataclass(frozen=True, slots=True)
class AgentTexts:
    """What agents read besides memories: the tools, how to use them, and the sentences they are answered with."""

    specs: Mapping[str, ToolSpec]
    instructions: str
    sentences: Catalogue


@dataclass(frozen=True, slots=True)
class AgentServices:
    """What reading needs of the installation."""

    store: Store
    planner: Planner
    recalling: Recall
    words: Texts
    settings: Settings
    clock: Clock
    log: Log


class _Boot(ToolArguments):
    format: Literal["narrative", "json"] = "narrative"


class _Dialog(ToolArguments):
    limit: int = Field(default=TALKS, ge=1, le=30)


class _Remember(ToolArguments):
    text: str = Field(max_length=500)
    kind: Literal["identity", "emotion", "knowledge", "event"] = "knowledge"
    words: str = Field(default="", max_length=2_000)


class _Forget(ToolArguments):
    id: int | str | None = None
    text: str = Field(default="", max_length=500)


class AgentTools:
    """Answers agents for one principal. `write` carries out a change, or says why it cannot be."""

    def __init__(self, services: AgentServices, principal: Principal, texts: AgentTexts, write: WriteWish) -> None:
        self._services = services
        self._log = services.log
        self._principal = principal
        self.texts = texts
        self._write = write
        self._recall = recall_tool(texts.specs["recall"], self._search, self._found, self._zone)

    async def call(self, name: str, arguments: str, agent: str) -> AgentReply:
        """The answer to one call of that agent, with its arguments as JSON text; whatever is wrong is one line."""
        services, principal = self._services, self._principal
        opening = services.words.opening(services.words.language)
        tool = name if name in NAMES else "?"
        try:
            chat, person = await read_principal(services.store, principal)
            opening = services.words.opening(services.words.script(person))
            reply = await self._answer(name, arguments, clean_name(agent or "mcp")[:AGENT_CHARS], chat, person)
        except ToolRefused as refused:
            reply = AgentReply(opening(refused.key, problem=as_data(refused.problem)), wrong=True)
        except LookupError:
            reply = AgentReply(self.texts.sentences.text("seat_gone", services.words.language), wrong=True)
        except NuanError as error:
            self._log.warning(
                "agent_failed", tool=tool, person=principal.person_id, chat=principal.chat_id, exc_info=error
            )
            reply = AgentReply(opening("tool_failed", problem=str(error)), wrong=True)
        except Exception as error:  # noqa: BLE001 - a defect in one tool must not end the connection
            self._log.error(
                "agent_failed", tool=tool, person=principal.person_id, chat=principal.chat_id, exc_info=error
            )
            reply = AgentReply(opening("tool_failed", problem=type(error).__name__), wrong=True)
        self._log.info(
            "agent_called",
            tool=tool,
            person=principal.person_id,
            chat=principal.chat_id,
            wrong=reply.wrong,
            memories=list(reply.ids),
        )
        return reply

    async def _answer(self, name: str, arguments: str, agent: str, chat: Chat, person: Person) -> AgentReply:
        if name not in NAMES:
            raise ToolRefused("tool_unknown", name[:AGENT_CHARS])
        if len(arguments) > ARGUMENT_CHARS:
            raise ToolRefused("tool_bad_arguments", f"{len(arguments)} > {ARGUMENT_CHARS}")
        match name:
            case "boot":
                return AgentReply(await self._boot(chat, person, read_arguments(_Boot, arguments).format))
            case "dialog":
                return AgentReply(await self._dialog(read_arguments(_Dialog, arguments).limit, chat, person))
            case "recall":
                answer = await self._recall.run(await self._context(chat, person), arguments)
                return AgentReply(answer.text, ids=answer.told)
            case _:
                return await self._write(self._wish(name, arguments, agent))

    def _wish(self, name: str, arguments: str, agent: str) -> AgentRequest:
        if name == "remember":
            kept = read_arguments(_Remember, arguments)
            return AgentRequest("remember", self._principal, agent, kept.text, kept.kind, kept.words.strip())
        asked = read_arguments(_Forget, arguments)
        number, text = str(asked.id if asked.id is not None else "").strip().removeprefix("#"), asked.text.strip()
        if bool(number) == bool(text) or (number and not (number.isascii() and number.isdigit() and len(number) < 16)):
            raise ToolRefused("tool_bad_arguments", "id | text")
        return AgentRequest("forget", self._principal, agent, text, number=int(number) if number else None)

    async def _boot(self, chat: Chat, person: Person, form: Literal["narrative", "json"]) -> str:
        """What `nuan boot` prints."""
        services, script, now = self._services, self._services.words.script(person), self._services.clock.now()
        opened = await services.planner.boot(chat, person, now)
        if form == "json":
            return boot_json(opened, chat, person, now)
        return opened.text or self.texts.sentences.text("boot_none", script)

    async def _dialog(self, limit: int, chat: Chat, person: Person) -> str:
        services, script = self._services, self._services.words.script(person)
        opening, now = services.words.opening(script), services.clock.now()
        talks = await past_talks(services.store, await services.planner.audience(chat, person), person.id, now)
        if not talks:
            return self.texts.sentences.text("dialog_none", script)
        tz = services.words.tz_of(chat, person)
        lines = past_talk_lines(talks, DayFormatter(now, tz, opening, services.words.days(script)))[:limit]
        return "\n".join(
            (
                opening("get_head"),
                *(opening("talk_line", day=as_data(line.head), text=as_data(line.text)) for line in lines),
            )
        )

    async def _search(self, context: ToolContext, wish: RecallRequest) -> tuple[SearchHit, ...]:
        return tuple(one.finding for one in (await self._services.recalling.recall(wish.within(context))).chosen)

    async def _found(self, context: ToolContext, found: tuple[SearchHit, ...]) -> str:
        return await findings_text(
            self._services.store,
            self._services.words,
            context,
            found,
            FOUND_TOKENS,
            bot=self._services.settings.bot.names[0],
        )

    async def _zone(self, context: ToolContext) -> tzinfo:
        return await timezone_of(self._services.store, self._services.words, context)

    async def _context(self, chat: Chat, person: Person) -> ToolContext:
        services = self._services
        audience = await services.planner.audience(chat, person)
        return ToolContext(audience, person.id, 0, (), services.words.script(person), services.clock.now())


def read_texts(find: Callable[[str], Path]) -> AgentTexts:
    """The texts of prompts/mcp; ConfigError names a file that is broken."""
    specs = {name: read_spec(find(f"mcp/{name}.json")) for name in NAMES}
    path = find("mcp/instructions.txt")
    try:
        instructions = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError((f"prompts: mcp/{path.name} cannot be read ({error})",)) from error
    return AgentTexts(specs, instructions, catalogue(find, "mcp"))


class AgentWriter:
    """Carries out what agents ask to be changed, over a store that may write."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, words: Texts, texts: Catalogue) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words
        self._texts = texts

    async def carry_out(self, wish: AgentRequest) -> AgentReply:
        """Do it and say so, or say why not; StoreError when it cannot be stored."""
        try:
            chat, person = await read_principal(self._store, wish.principal)
        except LookupError:
            return AgentReply(self._texts.text("seat_gone", self._words.language), wrong=True)
        return await (self._remember if wish.verb == "remember" else self._forget)(wish, chat, person)

    async def _remember(self, wish: AgentRequest, chat: Chat, person: Person) -> AgentReply:
        text, now = " ".join(clean(wish.text).split()), self._clock.now()
        refuse, opening = self._refusing(person), self._words.opening(self._words.script(person))
        if not text:
            return AgentReply(opening("remember_empty"), wrong=True)
        if says_nothing(text):
            return refuse("thin")
        names = self._settings.bot.names
        if wish.words and not _asked_for(text, wish.words, names):
            return refuse("not_their_words")
        heard = await self._store.events.last_words(person.id, chat.id, now) if wish.words else ()
        asked = any(fold(wish.words) in fold(line) and _asked_for(text, line, names) for line in heard)
        if self._store.tombstones.covers(text) and not asked:
            return refuse("buried")
        most = self._settings.mcp.remember_per_day
        if await self._store.memories.added_by_agents(person.id, now - DAY_MS) >= most:
            return refuse("kept_enough", most=most)
        self._store.tombstones.remove_tombstone(text, now)
        memory = NewMemory(
            owner_id=person.id,
            chat_id=chat.id,
            visibility="private" if chat.kind == "dm" else "chat",
            kind=wish.kind,
            text=text,
            observed_at=now,
            source="mcp",
            event_ids=(),
            asked=asked,
            agent=wish.agent,
        )
        memory = with_day(memory, now, self._words.tz_of(chat, person))
        stored = await self._store.memories.add(memory, now)
        again = opening("remember_known", problem=stored.id)
        told = [again if stored.again else opening("remember_done", id=stored.id)]
        if wish.words and not asked:
            told.append(self._texts.text("not_heard", self._words.script(person)))
        return AgentReply("\n".join(told), ids=(stored.id,))

    async def _forget(self, wish: AgentRequest, chat: Chat, person: Person) -> AgentReply:
        refuse, now = self._refusing(person), self._clock.now()
        owned = await self._store.memories.owned(person.id, _audience(chat, person))
        if wish.number is not None:
            found = tuple(memory for memory in owned if memory.id == wish.number)
        else:
            found = matching(wish.text, owned)
            if not found and (asked := perhaps_matching(wish.text, owned)):
                return self._which(asked, person)
        if not found:
            return AgentReply(self._words.opening(self._words.script(person))("forget_none"), wrong=True)
        if len(found) > 1:
            return self._which(found, person)
        most = self._settings.mcp.forget_per_day
        if await self._store.memories.forgotten_since(person.id, now - DAY_MS) >= most:
            return refuse("forgot_enough", most=most)
        (memory,), days = found, self._settings.memory.undo_days
        forgetting = Forgetting(found, person.id, now + days * DAY_MS if days else None)
        key, script = "forgot" if days else "forgot_forever", self._words.script(person)
        said = self._words.messages.text(f"agent_{key}", script, agent=wish.agent, id=memory.id, days=days)
        await self._store.memories.forget_and_tell(forgetting, chat.id, Draft(said, "notice"), now)
        done = self._texts.text(key, script, id=memory.id, days=days)
        return AgentReply(done, ids=(memory.id,))

    def _which(self, found: tuple[Memory, ...], person: Person) -> AgentReply:
        script = self._words.script(person)

        def text(key: str, **values: object) -> str:
            return self._texts.text(key, script, **values)

        def line(memory: Memory) -> str:
            said = memory_line_for_people(
                memory, lambda key, **values: self._words.messages.text(key, script, **values)
            )
            return text("which_line", id=memory.id, text=as_data(clip(said, SHOWN_CHARS)))

        lines = [text("which"), *(line(memory) for memory in found[:SHOWN])]
        if len(found) > SHOWN:
            lines.append(text("which_more", n=len(found) - SHOWN))
        return AgentReply("\n".join(lines), wrong=True, ids=tuple(memory.id for memory in found[:SHOWN]))

    def _refusing(self, person: Person) -> Callable[..., AgentReply]:
        script = self._words.script(person)
        return lambda key, **values: AgentReply(self._texts.text(key, script, **values), wrong=True)


def _asked_for(text: str, words: str, names: tuple[str, ...]) -> bool:
    """Whether these words ask to keep that text, told of their writer: nothing quoted, reported, asked or denied."""
    wishes = (each.content for each in understand(words, names).commands if each.verb == "remember" and each.content)
    return any(fold(text) in fold(content) for content in wishes) and read_own_words(0, words, names).carries(text)


def _audience(chat: Chat, person: Person) -> Audience:
    """What that person said themselves and this chat may hear: others' public memories are not theirs to forget."""
    return Audience(chat.id, "dm" if chat.kind == "dm" else "group", (person.id,))
