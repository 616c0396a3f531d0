"""The tools remember and forget over the store, by the person's own words, and what the model concludes from a talk."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from bot.core.events import Event
from bot.core.memories import FORGET_QUESTIONS, Memory, MemoryQuestion, NameSlot, NewMemory, Visibility
from bot.core.models import Message, ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, UnlearnRequest, read_arguments
from bot.language.wishes.forget import OwnLine, all_of_matter, is_about, lines_about, matching
from bot.language.wishes.own_words import HINTED, OwnWords, memories_named, read_own_words
from bot.memory.lifecycle import with_day
from bot.memory.screening import harmless
from bot.memory.supersession import contradicted
from bot.pipeline.actions.receipts import brief
from bot.pipeline.concurrency import TextThread
from bot.pipeline.findings import timezone_of
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import Consent
from bot.pipeline.tools.promises import PromiseTools
from bot.store.events import OWN_WORDS_MS
from bot.store.store import Store
from bot.text.clean import as_data, clean_line
from bot.text.codes import SIGNS, number_of
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import echoes, shares_words

NAMES: dict[str, NameSlot] = {"call": "address", "not": "no_address"}
"""What the tool's `kind` says of a name."""

_LINE = re.compile("[@＠] ?([0-9]{1,9})")
"""A line of a talk as recall numbers it."""

MOST_HEARD = 8
"""Lines of a chat among which the one is that "this" means."""

SHOWN, SHOWN_CHARS = 5, 80
"""How many memories a refusal names, and characters of each."""


class RememberArguments(ToolArguments, tool="remember"):
    """What the model may want to be kept: a fact, with `id` in place of the memory of that number; by `kind` how they
    are called, or not, a promise or what became of one, or an experience of its own."""

    text: str = Field(default="", max_length=500)
    id: int | str | None = None
    kind: Literal["", "call", "not", "promise", "ongoing", "done", "failed", "experience"] = ""


class ForgetArguments(ToolArguments, tool="forget"):
    """What the model may want to be forgotten: a number, or words."""

    text: str | None = Field(default=None, max_length=500)
    id: SkipJsonSchema[int | str | None] = None


class MemoryTools:
    """What a person asks of memory, and what the model concludes from a talk."""

    def __init__(
        self,
        store: Store,
        words: Texts,
        names: tuple[str, ...],
        thread: TextThread,
        consent: Consent,
        promises: PromiseTools,
    ) -> None:
        """`names` are those the bot is called by; what takes long runs in `thread`."""
        self._store = store
        self._words = words
        self._names = names
        self._thread = thread
        self._consent = consent
        self._promises = promises

    def tools(self, specs: Mapping[str, ToolSpec]) -> tuple[Tool, ...]:
        """Each with its text for the model; the answers hold {id} for the number of what is stored."""
        return (
            Tool(specs["remember"], self._remember),
            Tool(specs["forget"], self._forget),
        )

    async def _save_experience(self, context: ToolContext, text: str) -> ToolAnswer:
        """Keep a conclusion, one a session. What repeats a line that was recalled in it is none and kept already: a
        memory that tells the model to save something gets nothing saved (FAULTS X8).
        """
        if not harmless(text):
            raise ToolRefused("experience_unfit")
        if await self._store.events.off_record(context.event_ids):
            raise ToolRefused("experience_unfit")
        session = await self._store.sessions.session(context.session_id)
        if await self._store.memories.experiences_since(session.chat_id, session.opened_at):
            raise ToolRefused("experience_once")
        if self._store.tombstones.covers(text):
            raise ToolRefused("experience_forgotten")
        if any(echoes(text, line) for line in await self._shown(context)):
            raise ToolRefused("experience_kept")
        alone = context.audience.kind == "dm"
        memory = NewMemory(
            owner_id=context.person_id if alone else None,
            chat_id=context.audience.chat_id,
            visibility="private" if alone else "chat",
            kind="experience",
            text=text,
            observed_at=context.now,
            source="tool",
            event_ids=context.event_ids,
        )
        return ToolAnswer(await self._consent.answer(context, "experience_saved"), memory)

    async def _remember(self, context: ToolContext, arguments: str) -> ToolAnswer:
        """Keep what the person asks to keep, once; a day in their words is meant by their own calendar."""
        asked = read_arguments(RememberArguments, arguments)
        text, which = clean_line(asked.text), str(asked.id if asked.id is not None else "").strip()
        if not text:
            raise ToolRefused("remember_empty")
        match asked.kind:
            case "experience":
                return await self._save_experience(context, text)
            case "ongoing" | "done" | "failed" as state:
                return await self._promises.end(context, which, text, state)
            case "promise":
                return await (
                    self._promises.change(context, which, text) if which else self._promises.note(context, text)
                )
        if which and not asked.kind:
            return await self._update(context, which, text)
        said = await self._said(context)
        unasked = not any(own.keeps or own.calls for own in said)
        ground = await self._consent.carrier(context, text, told=unasked)
        event = ground.event_id
        if not event and asked.kind == "not":  # 不要再喊我學姊了, 别这么叫我: the name alone says no
            heard = "\n".join(line.text for line in await self._heard(context))
            event = next((own.event_id for own in said if own.refuses(text, heard)), 0)
        # What stands in the message that is answered a model may take for asked, in whatever words but a no.
        if unasked and (event not in context.event_ids or self._store.tombstones.covers(text)):
            raise ToolRefused("remember_unasked")
        if not event:
            raise ToolRefused("remember_words", as_data(clip(ground.missing, SHOWN_CHARS)))
        slot = NAMES.get(asked.kind, "")
        for known in await self._store.memories.kept_from(context.event_ids, context.person_id):
            if _says_it(known, text, slot):
                raise ToolRefused("remember_known", str(known.id))
        self._store.tombstones.remove_tombstone(text, context.now)
        memory = NewMemory(
            owner_id=context.person_id,
            chat_id=context.audience.chat_id,
            visibility="private" if context.audience.kind == "dm" else "chat",
            kind="knowledge",
            text=text,
            observed_at=context.now,
            source="tool",
            event_ids=(event,),
            asked=True,
        )
        if slot:
            memory = replace(memory, kind="identity", slot=slot)
        else:
            memory = with_day(memory, context.now, await timezone_of(self._store, self._words, context))
        own = await self._consent.lines(context)
        owned = await self._owned(context)
        older = await asyncio.to_thread(contradicted, memory, owned, own[-1].name) if own else None
        if older is not None:
            memory = replace(
                memory, slot=older.slot, subject=older.subject, lasting=older.lasting, replaces=(older.id,)
            )
        receipt = await self._receipt(context, "memory_replaced", text, older) if older is not None else ""
        return ToolAnswer(await self._consent.answer(context, "remember_done"), memory, receipt=receipt)

    async def _update(self, context: ToolContext, which: str, text: str) -> ToolAnswer:
        """The memory of that number becomes former, and what its person now says of it takes its place.

        What they said in a group is changed in their own chat for themselves alone. To correct is to ask: what is new
        in the text must stand in their own words.
        """
        if which.startswith(tuple(SIGNS["promise"])):
            return await self._promises.change(context, which, text)
        number = which.lstrip("#")
        if not (number.isascii() and number.isdigit()):
            raise ToolRefused("tool_bad_arguments", "id")
        old = next((memory for memory in await self._owned(context) if memory.id == int(number[:18])), None)
        if old is None or old.is_name or old.former_at is not None:
            raise ToolRefused("forget_none")
        ground = await self._consent.carrier(context, text, (old.text,))
        if not ground.event_id or fold(text) == fold(old.text):
            raise ToolRefused("update_words", as_data(clip(ground.missing or text, SHOWN_CHARS)))
        away = old.visibility == "chat" and old.chat_id != context.audience.chat_id
        new = NewMemory(
            context.person_id,
            context.audience.chat_id if away else old.chat_id,
            "private" if away else old.visibility,
            old.kind,
            text,
            context.now,
            "tool",
            (ground.event_id,),
            old.slot,
            asked=True,
            subject=old.subject,
            lasting=old.lasting,
            said_at=context.now,
            replaces=(old.id,),
        )
        new = with_day(new, context.now, await timezone_of(self._store, self._words, context), besides=old.observed_at)
        told = await self._consent.answer(context, "update_done")
        for mark, said in (("{new}", text), ("{old}", old.text)):
            told = told.replace(mark, as_data(clip(said, SHOWN_CHARS)))
        return ToolAnswer(told, new, receipt=await self._receipt(context, "memory_changed", text, old))

    async def _receipt(self, context: ToolContext, key: str, new: str, old: Memory) -> str:
        """What the person is told of a change: the new and the old, and how it is taken back."""
        own = await self._consent.lines(context)
        script = self._words.script_of(own[-1].text if own else "", context.script)
        new, was = (clip(" ".join(text.split()), SHOWN_CHARS) for text in (new, old.text))
        return self._words.messages.text(key, script, id="{id}", nick=new, old_id=old.id, old=was)

    async def _forget(self, context: ToolContext, arguments: str) -> ToolAnswer:
        """Forget a memory or a line of theirs that the person's own words, or a question that they answer, mean; where no
        memory tells of the matter, what was said of it goes, or is to be kept nowhere."""
        asked = read_arguments(ForgetArguments, arguments)
        number = str(asked.id if asked.id is not None else "").strip().lstrip("#")
        wanted = all_of_matter((asked.text or "").strip())
        if not number and number_of(wanted) is not None and wanted.startswith(tuple(SIGNS["memory"])):
            number, wanted = wanted[1:].strip(), ""
        line = _LINE.fullmatch(number or wanted)
        if not (number or wanted) or (number and line is None and not (number.isascii() and number.isdigit())):
            raise ToolRefused("tool_bad_arguments", "id | text")
        asking, question = [own for own in await self._said(context) if own.drops], await self._asked(context)
        if not asking and question is None:
            raise ToolRefused("forget_unasked")
        said = (
            max(asking, key=lambda own: (own.asks != HINTED, own.event_id)) if asking else await self._answer(context)
        )
        shown = question.memories if question is not None and question.kind == "about" else ()
        erases = said.erases or question is not None
        beside = await self._store.memories.kept_from((said.event_id,), context.person_id)  # beside the wish
        mine = tuple(memory for memory in await self._owned(context) if memory not in beside)
        if line is not None:
            lines = await self._own_lines(context, said, "", int(line[1]))
            return await self._forget_lines(context, said, lines, shown, erases=erases)
        if wanted and not number and not erases and not any(_says_it(memory, wanted, "") for memory in mine):
            own = await self._consent.lines(context)
            if any(fold(wanted) in fold(line.text) for line in own):  # what they just told, whatever is kept like it
                return await self._set_aside(context, wanted, said)
        pointed = tuple(m for m in mine if m.id == int(number[:18])) if number else matching(wanted, mine)
        if number and wanted:  # with both, the words are those of that memory
            if not any(shares_words(memory.text, wanted) for memory in pointed):
                raise ToolRefused("tool_bad_arguments", "id | text: not the same")
            wanted = ""
        found = memories_named(said, ((memory.id, memory.text) for memory in mine))
        offered = question.memories if question is not None and question.kind == "which" else ()
        both = tuple(memory for memory in pointed if memory.id in (*found.numbers, *offered))
        alone = len(both) == 1 and (number or found.named or offered or len(found.numbers) == 1)
        if alone or _all_of(wanted, said.text, both, pointed):
            return ToolAnswer("", forget=UnlearnRequest(both, said.event_id, said.without(said.drops), said.forever))
        if wanted and (lines := await self._own_lines(context, said, wanted)):
            return await self._forget_lines(context, said, lines, shown, erases=erases)
        unsure = both or pointed
        if not unsure:
            asks = is_about(wanted, said.text, near=True)
            told = await self._told(context, wanted, said.event_id) if asks else ()
            if told and erases:
                return self._unlearn(context, said, told, wanted)
            unsure = tuple(memory for memory in mine if memory.id in found.numbers)
        if not unsure:
            return await self._set_aside(context, wanted, said)
        raise ToolRefused("forget_unsure", _named(unsure))

    async def _own_lines(
        self, context: ToolContext, said: OwnWords, wanted: str, number: int = 0
    ) -> tuple[OwnLine, ...]:
        """The line of theirs with that number, else those that a text is, word for word or for the larger part.

        ToolRefused where the number is of no line that they said.
        """
        chat = await self._store.people.chat(context.audience.chat_id)
        rows = await self._store.memories.said_by(context.person_id, chat)
        lines = [OwnLine(*row) for row in rows if row[0] != said.event_id]
        if number:
            found = tuple(line for line in lines if line.event_id == number)
            if not found:
                raise ToolRefused("forget_not_theirs", f"@{number}")
            return found
        words = _words_of(wanted)
        same = tuple(line for line in lines if words and _words_of(line.text) == words)
        parts = [line for line in lines if words in (whole := _words_of(line.text)) and len(whole) < 2 * len(words)]
        return same or tuple(parts if words and len(parts) == 1 else ())

    async def _forget_lines(
        self, context: ToolContext, said: OwnWords, lines: tuple[OwnLine, ...], shown: tuple[int, ...], *, erases: bool
    ) -> ToolAnswer:
        """These lines go for good where they share words with the wish, or were `shown` in the question that is answered,
        after its own line; what was only said just before is kept nowhere. ToolRefused for any other."""
        just = {line.id for line in await self._consent.lines(context)}
        named = memories_named(said, ((line.event_id, line.text) for line in lines)).numbers
        if not all(line.event_id in (*shown, *just, *named) for line in lines):
            listed = (f"@{line.event_id} {as_data(clip(line.text, SHOWN_CHARS))}" for line in lines[:SHOWN])
            raise ToolRefused("forget_unsure_line", "; ".join(listed))
        if not (erases and all(line.event_id in (*shown, *named) for line in lines)):
            return await self._kept_nowhere(context, said, {line.event_id: line.text for line in lines})
        before = await self._store.events.of(shown[:1])
        return self._unlearn(context, said, lines, wish=tuple(each for each in before if each.id != said.event_id))

    def _unlearn(
        self,
        context: ToolContext,
        said: OwnWords,
        lines: tuple[OwnLine, ...],
        matter: str = "",
        wish: tuple[Event, ...] = (),
    ) -> ToolAnswer:
        """These lines go for good, with what says the matter, or else them, wherever it stands, and the former wish."""
        seen: Visibility = "chat" if context.audience.kind == "group" else "private"
        chat_id, now = context.audience.chat_id, context.now
        named = tuple(
            Memory(0, context.person_id, chat_id, seen, "knowledge", text, now, now, "command")
            for text in ((matter,) if matter else dict.fromkeys(line.text for line in lines))
        )
        gone, before = ((line.event_id, line.text) for line in lines), ((each.id, each.text) for each in wish)
        rest = said.without(said.drops)
        return ToolAnswer(
            "", forget=UnlearnRequest(named, said.event_id, rest, said.forever, tuple(gone), tuple(before))
        )

    async def _asked(self, context: ToolContext) -> MemoryQuestion | None:
        """What they were asked just before: whether, or which, to forget; ToolRefused where they say no now."""
        found = await self._store.events.asked_lately(context.audience.chat_id, context.person_id, context.now)
        if found is None or found.kind not in FORGET_QUESTIONS:
            return None
        own = await self._consent.lines(context)
        if own and self._consent.declines(own[-1].text):
            raise ToolRefused("forget_unasked")
        return found if own else None

    async def _answer(self, context: ToolContext) -> OwnWords:
        """Their newest line, all of it as what asks to forget: it answers the question whether to."""
        own = (await self._consent.lines(context))[-1]
        read = read_own_words(own.id, own.text, self._names)
        return replace(read, asks=read.asks | {"forget"})

    async def _set_aside(self, context: ToolContext, wanted: str, said: OwnWords) -> ToolAnswer:
        """What was just said, by them or right before by somebody else, is kept nowhere, and quoted with the reply."""
        own = await self._consent.lines(context)
        last = [line for line in await self._heard(context) if line.id < said.event_id][-1:]
        meant = {line.id: line for line in (*last, *own) if wanted and is_about(wanted, line.text, near=True)}
        if not meant:
            raise ToolRefused("forget_none")
        telling = {number: line.text for number, line in sorted(meant.items()) if number != said.event_id}
        return await self._kept_nowhere(context, said, telling, wanted)

    async def _kept_nowhere(
        self, context: ToolContext, said: OwnWords, telling: Mapping[int, str], wanted: str = ""
    ) -> ToolAnswer:
        """These lines (number: text), and the one that asks it, are set aside; the last of them is quoted."""
        quoted = brief(list(telling.values())[-1] if telling else wanted)
        script = self._words.script_of(said.text, context.script)
        text = self._words.messages.text
        receipt = text("aside", script, what=text("quote", script, text=quoted).strip())
        aside = tuple(sorted({*telling, said.event_id}))
        return ToolAnswer(await self._consent.answer(context, "aside_done"), aside=aside, receipt=receipt)

    async def _heard(self, context: ToolContext) -> tuple[Event, ...]:
        """What people said there last, within ten minutes, in order."""
        since = context.now - OWN_WORDS_MS
        lines = await self._store.events.recent(context.audience.chat_id, 0, since, MOST_HEARD, waiting=True)
        return tuple(line for line in lines if line.kind == "message")

    async def _said(self, context: ToolContext) -> tuple[OwnWords, ...]:
        """The messages of the turn that its person wrote, read for wishes, in order."""
        lines = await self._consent.lines(context)
        return tuple(read_own_words(line.id, line.text, self._names) for line in lines)

    async def _owned(self, context: ToolContext) -> tuple[Memory, ...]:
        """The memories of the person that the audience may see, newest first."""
        return await self._store.memories.owned(context.person_id, context.audience)

    async def _told(self, context: ToolContext, matter: str, before: int) -> tuple[OwnLine, ...]:
        """What the person said there of a matter before that event, oldest first."""
        chat = await self._store.people.chat(context.audience.chat_id)
        rows = await self._store.memories.said_by(context.person_id, chat)
        lines = [OwnLine(*row) for row in rows if row[0] < before]
        return await self._thread.run(lines_about, matter, "just", lines, context.now)

    async def _shown(self, context: ToolContext) -> tuple[str, ...]:
        """The lines that were recalled in this session."""
        epoch = await self._store.sessions.epoch(context.session_id)
        messages = (entry.message for entry in epoch.entries) if epoch is not None else ()
        return tuple(row for message in messages for row in _recalled(message).splitlines())


def _recalled(message: Message) -> str:
    """What a message of a log brought back: a tool's result, or the memories that stand behind what is new."""
    return message.content if message.role == "tool" else message.content.partition("</ctx>")[2]


def _says_it(known: Memory, text: str, slot: str) -> bool:
    """Whether what is kept says a text, or as a name the very name."""
    one, other = fold(known.text), fold(text)
    if slot or known.is_name:
        return known.is_name and bool(slot) and one == other
    return one in other or other in one


def _words_of(text: str) -> str:
    """A text for comparing: folded, without signs and blanks, and without what stands for its cut end."""
    return re.sub(r"[\W_]+", "", fold(text))


def _all_of(wanted: str, said: str, both: tuple[Memory, ...], pointed: tuple[Memory, ...]) -> bool:
    """Whether all that is meant goes: what is wanted is whom or what memories are about, as the person calls it, too."""
    name = fold(wanted)
    mine = len(name) > 1 and name in fold(said) and any(name in fold(memory.subject) for memory in both)
    return mine and len(both) == len(pointed) and all(name in fold(memory.text) for memory in both)


def _named(memories: tuple[Memory, ...]) -> str:
    return "; ".join(f"#{memory.id} {as_data(clip(memory.text, SHOWN_CHARS))}" for memory in memories[:SHOWN])
