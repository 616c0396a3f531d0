"""The tools tool_find and tool_use over the configured servers: who may use what, what is asked of whom first, and how
results are told."""

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from bot.config.mcp import OutsideServer
from bot.core.errors import OutsideError
from bot.core.events import Button, Draft
from bot.core.models import ToolSpec
from bot.core.parts import Image
from bot.core.people import Chat, Person
from bot.core.ports import Clock, Log
from bot.core.tools import CallResult, Offer, Tool, ToolAnswer, ToolContext, ToolRefused
from bot.mcp.pool import ServerPool
from bot.pipeline.configuration import Current
from bot.store.store import Store
from bot.text.clean import as_data, clean_line, clean_name, shown
from bot.text.files import picture_ending
from bot.text.length import clip, estimate_tokens
from bot.tools.outside import (
    NAME_CHARS,
    RESULT_TOKENS,
    Say,
    WantedCall,
    fingerprint,
    found_offers,
    found_text,
    offers_from,
    read_call,
    read_words,
    told_result,
)

LOOK = "look"
"""By this name tool_use tells the rest of a result."""

KEPT_RESULTS = 64
"""Results of which the rest can be told; they are in memory alone."""

SHOWN_CHARS = 800
"""Of a call's arguments that somebody reads who is asked about it."""

SPARE_S = 5.0
"""Beside the start of a server and its call."""


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A result that was too long for the log, for those who called there."""

    chat_id: int
    person_id: int
    tool: str
    text: str


def may_use(rules: OutsideServer, chat: Chat, person: Person) -> bool:
    """Whether a server may be used in that chat, by that person."""
    kinds = {chat.kind, f"{chat.platform}:{chat.external_id}"}
    if chat.kind == "dm" and person.is_owner:
        kinds.add("owner")
    return not kinds.isdisjoint(rules.chats)


class OutsideTools:
    """What the model can do with outside servers."""

    def __init__(self, servers: ServerPool, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._servers = servers
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log
        self._kept: OrderedDict[str, KeptResult] = OrderedDict()

    def tools(self, specs: Mapping[str, ToolSpec]) -> tuple[Tool, ...]:
        """Both of them, as the model reads of them; none where no server is configured."""
        if "tool_find" not in specs:
            return ()
        longest = max(rules.timeout_seconds for rules in self._servers.rules.values())
        seconds = 2 * longest + SPARE_S
        return (
            Tool(specs["tool_find"], self._find, reads=True, seconds=seconds),
            Tool(specs["tool_use"], self._use, seconds=seconds),
        )

    async def _find(self, context: ToolContext, arguments: str) -> ToolAnswer:
        """What the servers offer that fits, with schemas; and which of them cannot be used now."""
        words, say = read_words(arguments), self._say(context)
        chat, person = await self._who(context)
        names = [name for name, rules in self._servers.rules.items() if may_use(rules, chat, person)]
        if not names:
            raise ToolRefused("outside_not_here")
        offers: list[Offer] = []
        notes: list[str] = []
        for name, found in zip(names, await asyncio.gather(*(self._usable(name, chat) for name in names)), strict=True):
            if isinstance(found, str):
                notes.append(say(found, problem=name))
            else:
                offers += found
        return ToolAnswer(
            "\n".join(part for part in (found_text(found_offers(words, offers), offers, say), *notes) if part)
        )

    async def _usable(self, name: str, chat: Chat) -> tuple[Offer, ...] | str:
        """What may be used of a server, or the key of why nothing; one that nobody approved yet is looked at."""
        if offers := await self._servers.usable(name):
            return offers
        try:
            waiting = (await self._servers.look(name)).waiting
        except OutsideError as error:
            return f"outside_{error.fault}"
        if waiting:
            await self._tell_owners(name, waiting, chat)
            return "outside_waiting"
        return await self._servers.usable(name)

    async def _use(self, context: ToolContext, arguments: str) -> ToolAnswer:
        """Call what the model names, if all that stands before it allows it."""
        wanted, say = read_call(arguments), self._say(context)
        if wanted.name == LOOK:
            return self._rest(context, wanted, say)
        chat, person = await self._who(context)
        name = wanted.name.partition("__")[0]
        rules, unknown = (
            self._servers.rules.get(name),
            ToolRefused("outside_unknown", as_data(clip(wanted.name, NAME_CHARS))),
        )
        if rules is None or not may_use(rules, chat, person):
            raise unknown
        try:
            stored = await self._servers.look(name)
            if stored.waiting:
                await self._tell_owners(name, stored.waiting, chat)
                raise ToolRefused("outside_waiting", name)
            offers = self._servers.approved(stored)
            offer = next((each for each in offers if each.full_name == wanted.name), None)
            if offer is None:
                raise unknown
            await self._begin(context, chat, person, rules, offer, wanted)
            return await self._called(context, offer, wanted, say)
        except OutsideError as error:
            self._log.warning(
                "mcp_call_failed", cause="mcp", server=name, fault=error.fault, detail=error.detail, text=error.said
            )
            raise ToolRefused(f"outside_{error.fault}", told_result(clip(error.said, SHOWN_CHARS)) or name) from error

    async def _begin(
        self, context: ToolContext, chat: Chat, person: Person, rules: OutsideServer, offer: Offer, wanted: WantedCall
    ) -> None:
        """Ask whoever must be asked, and count the call; ToolRefused where it may not be made now."""
        always, used_up = rules.ask == "always", None
        if always or (rules.ask == "changes" and not offer.reads):
            mark = hashlib.sha256(wanted.canonical.encode()).hexdigest()[:16] if always else ""
            scope = f"{offer.full_name} {mark}".strip()
            state = await self._asked(context, chat, person, offer, wanted, scope)
            if state != "given":
                raise ToolRefused(f"outside_grant_{state}")
            used_up = (chat.id, person.id, scope) if always else None
        outcome = await self._store.outside.begin_call(
            offer.server,
            self._servers.today,
            rules.day_calls,
            self._clock.now(),
            once="" if offer.reads else f"{context.call}:mcp",
            used_up=used_up,
        )
        if outcome != "begun":
            raise ToolRefused(f"outside_{outcome}", str(rules.day_calls))

    async def _asked(
        self, context: ToolContext, chat: Chat, person: Person, offer: Offer, wanted: WantedCall, scope: str
    ) -> str:
        """What the person said to the question whether that may be done, which is put to them where it was not."""
        said = [event for event in await self._store.events.of(context.event_ids) if event.person_id == person.id]
        if not said:
            return "refused"
        _, account = await self._store.people.answer_to(said[-1])
        words, script = self._current.words, self._current.words.script_of(said[-1].text, person.script)
        arguments = clip(shown(clean_line(wanted.canonical)).replace("`", "'"), SHOWN_CHARS)

        def question(number: int) -> Draft:
            def text(key: str, **values: object) -> str:
                return words.messages.text(key, script, number=number, **values)

            text_key = "outside_question_once" if scope != offer.full_name else "outside_question"
            told = text(text_key, who=clean_name(person.name), tool=offer.full_name, arguments=arguments)
            buttons = tuple(
                Button(text(f"button_{each}"), f".ai mcp {each} {number}", account) for each in ("yes", "no")
            )
            return Draft(told, "notice", buttons=buttons if account else ())

        return await self._store.outside.ask(chat.id, person.id, scope, question, self._clock.now())

    async def _called(self, context: ToolContext, offer: Offer, wanted: WantedCall, say: Say) -> ToolAnswer:
        begun = self._clock.now()
        result = await self._servers.server(offer.server).call(offer, wanted.arguments)
        self._log.info(
            "mcp_called",
            cause="mcp",
            server=offer.server,
            tool=offer.full_name,
            chat=context.audience.chat_id,
            person=context.person_id,
            wrong=result.wrong,
            chars=len(result.text),
            ms=self._clock.now() - begun,
        )
        text, pictures = told_result(result.text), await self._pictures(offer, result)
        if not text:
            return ToolAnswer(say("outside_nothing", tool=offer.full_name), parts=pictures)
        kept = KeptResult(context.audience.chat_id, context.person_id, offer.full_name, text)
        told = self._piece(kept, 0, say, "outside_wrong" if result.wrong else "outside_result")
        shown_too = (say("outside_pictures", n=len(pictures)),) if pictures else ()
        return ToolAnswer("\n".join((told, *shown_too)), parts=pictures)

    async def _pictures(self, offer: Offer, result: CallResult) -> tuple[Image, ...]:
        """The pictures of a result, which people get with the reply."""
        found: list[Image] = []
        for data in result.pictures:
            if ending := picture_ending(data):
                path = await asyncio.to_thread(self._store.files.parts.write, data, ending, self._clock.now())
                found.append(Image(path, f"{offer.name}{ending}", len(data)))
        return tuple(found)

    def _rest(self, context: ToolContext, wanted: WantedCall, say: Say) -> ToolAnswer:
        """More of a result, for whom it was made, in the chat that it was made in."""
        number, start = str(wanted.arguments.get("id", "")), wanted.arguments.get("from", 0)
        kept = self._kept.get(number)
        here = kept is not None and (kept.chat_id, kept.person_id) == (context.audience.chat_id, context.person_id)
        if kept is None or not here or not isinstance(start, int) or not 0 <= start < len(kept.text):
            raise ToolRefused("outside_gone")
        return ToolAnswer(self._piece(kept, start, say, "outside_result", number))

    def _piece(self, kept: KeptResult, start: int, say: Say, key: str, number: str = "") -> str:
        """As much of a result as the log takes at once; what is left is kept."""
        piece = kept.text[start : start + RESULT_TOKENS * 4]
        while True:
            left = len(kept.text) - start - len(piece)
            if left and not number:
                number = secrets.token_hex(3)
                self._kept[number] = kept
                while len(self._kept) > KEPT_RESULTS:
                    self._kept.popitem(last=False)
            more = (say("outside_left", left=left, id=number, start=start + len(piece)),) if left else ()
            told = "\n".join((say(key, tool=kept.tool, text=piece), *more))
            if estimate_tokens(told) <= RESULT_TOKENS or len(piece) < 2:
                return told
            piece = piece[: len(piece) * 9 // 10]

    async def _tell_owners(self, name: str, waiting: str, chat: Chat) -> None:
        """Tell the owners, once, that a server waits for them: they are shown it where they ask for it."""
        offers, words = offers_from(waiting), self._current.words

        def notice(script: str, account: str) -> Draft:
            def text(key: str) -> str:
                return words.messages.text(key, words.script_named(script), name=name, n=len(offers))

            buttons = (Button(text("button_show"), f".ai mcp {name}", account),) if account else ()
            return Draft(text("outside_notice"), "notice", buttons=buttons)

        told, now = fingerprint(offers), self._clock.now()
        await self._store.outside.tell_owners(name, told, chat.platform, notice, now)

    async def _who(self, context: ToolContext) -> tuple[Chat, Person]:
        people = self._store.people
        return await people.chat(context.audience.chat_id), await people.person(context.person_id)

    def _say(self, context: ToolContext) -> Say:
        words = self._current.words
        return words.opening(words.script_named(context.script))
