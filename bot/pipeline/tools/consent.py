"""What a person's own words allow a tool to write: their lines of the last minutes, and what they said yes to."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.core.events import Event
from bot.core.memories import MemoryQuestion
from bot.core.people import SCRIPTS
from bot.core.tools import ToolContext, ToolRefused
from bot.language import assertions
from bot.language.assertions import folded_plain, parts_of
from bot.language.pasted import own_part
from bot.language.reminders.wording import in_second_person
from bot.language.statements import READ_CHARS, UNSURE, sentences
from bot.language.wishes.own_words import read_own_words
from bot.language.wishes.reader import answer_to
from bot.memory.digest.answer import ItemSection
from bot.memory.grounding import stands
from bot.memory.transcript import TalkScope
from bot.pipeline.actions.receipts import brief
from bot.pipeline.concurrency import TextThread
from bot.pipeline.findings import timezone_of
from bot.pipeline.texts import Texts
from bot.store.store import Store
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold
from bot.text.terms import words

YES = MemoryQuestion("cue", (0,))
"""A question that a yes answers."""

LEAST = 4
"""Characters of a sentence that says by itself what is promised."""

_ASKED = LazyPattern(r"[^。.!！?？;；\n]*[?？](?=[^?？]*$)|[^。.!！?？;；\n]*[吗嗎](?=\W*$)")
"""The last question of a text."""

OR_NOT = LazyPattern(r"(\w)不\1")
"""要不要: asked, not denied."""

_I_SAID = LazyPattern(r"\bi (?:said|told \w+|promised(?: \w+)?)(?: that)? i(?:['’](?:d|ll)| would| will)\b")
"""Who tells what they said themselves tells no report."""
_NICKNAME = LazyPattern("[阿小老][㐀-鿿]")
_HAN, _LATIN = LazyPattern("[㐀-鿿]"), LazyPattern("[a-z]{3}")

_TAG = LazyPattern(
    r"[\s,，]*(?<![a-z])(?:ok(?:ay)?|alright|please|好吗|好嗎|好不好|行吗|行嗎|可以吗|可以嗎)\s*[?？!！~～]+\s*$",
    re.IGNORECASE,
)
"""don't forget i'm vegan now, ok? A request that ends so asks nothing."""

_FIRST = LazyPattern(r"[,，。.!！;；~～\n]")


@dataclass(frozen=True, slots=True)
class Ground:
    """The message that a text to be written rests on; 0 where `missing` of it stands nowhere in their own words."""

    event_id: int
    missing: str = ""


class Consent:
    """Looks in a person's own words for a wish and for what a tool is to write."""

    def __init__(self, store: Store, words: Texts, names: tuple[str, ...], thread: TextThread) -> None:
        """`names` are those the bot is called by; what takes long or loads a dictionary runs in `thread`."""
        self._store = store
        self._words = words
        self._names = names
        self._thread = thread

    async def answer(self, context: ToolContext, key: str) -> str:
        """What a tool answers, in the language of what the person wrote in this turn."""
        own = await self._store.events.own_lines(context.event_ids, context.person_id, context.now, answered=True)
        said = " ".join(line.text for line in own if line.id in context.event_ids)
        keep = {name: "{" + name + "}" for name in ("id", "new", "old", "due")}
        return self._words.openings.text(key, self._words.script_of(said, context.script), **keep)

    async def lines(self, context: ToolContext, *, done: bool = False) -> tuple[Event, ...]:
        """Their own lines of the last ten minutes, four at most; with `done` also what was done as a command.

        A question of nuan's that one of them says yes to stands before it, as that person's own words; so does what they
        pasted, once they said that it is to be done.
        """
        own = partial(self._store.events.own_lines, context.event_ids, context.person_id, context.now)
        own_lines = await own(answered=done)
        asked = await self._store.events.said_before(tuple(line.id for line in own_lines))
        agreed = {line.id: asked[line.id] for line in own_lines if line.id in asked and self._agrees(line.text)}
        pasted = [
            line
            for line in (await own(answered=True) if agreed else ())
            if any(self._asks_about_paste(question, line.text) for question in agreed.values())
        ]
        found: list[Event] = []
        for line in (*pasted, *(line for line in own_lines if line not in pasted)):
            question = _ASKED.search(agreed.get(line.id, ""))
            if question is not None:
                words = OR_NOT.sub(r"\1", question[0].strip().rstrip("?？吗嗎"))
                found.append(replace(line, text=in_second_person(words)))
            own_words = line.text if line in pasted else own_part(line.text, self._names)
            if own_words.strip():
                found.append(replace(line, text=_TAG.sub("", own_words) or own_words))
        return tuple(found)

    async def wished(
        self, context: ToolContext, asks: Callable[[Event], bool], refusal: str, *, done: bool = False
    ) -> tuple[Event, ...]:
        """As `lines`; ToolRefused with that key when none of them asks for it."""
        found = await self.lines(context, done=done)
        if not any(asks(line) for line in found):
            raise ToolRefused(refusal)
        return found

    async def carrier(
        self,
        context: ToolContext,
        text: str,
        known: Iterable[str] = (),
        section: ItemSection = "statements",
        *,
        again: bool = False,
        since: int = 0,
        told: bool = False,
    ) -> Ground:
        """What a text to be written rests on.

        The words may be cleaned: their numbers, names, days and denials must stand there, or in what is `known`, the
        very thing that is changed. Something of it must be new, unless the known may be said `again`.
        Only what was written after `since`, ms, counts; with `told`, what nobody asked to keep, only what was said after a
        wish to forget something. Of a line that is to be kept nowhere only what stands behind that wish counts.
        """
        lines = await self.lines(context, done=True)
        unkept = await self._store.events.off_record(tuple(line.id for line in lines))
        found: list[Event] = []
        for line in lines:
            own = read_own_words(line.id, line.text, self._names)
            if told and own.drops:
                found.clear()
            left = own.behind if line.id in unkept or (told and own.drops) else line.text
            if line.at > since and left:
                found.append(replace(line, text=left))
        for line in found if section != "promises" else ():
            if read_own_words(line.id, line.text, self._names).carries(text):
                return Ground(line.id)
        things = assertions.terms(folded_plain("\n".join(known)))
        if again and assertions.terms(folded_plain(text)) <= things:
            named = (line.id for line in reversed(found) if things & assertions.terms(folded_plain(line.text)))
            number = next(named, 0)
            return Ground(number, "" if number else text)
        audience, tz = context.audience, await timezone_of(self._store, self._words, context)
        scope = TalkScope(audience.chat_id, audience.kind, self._names[0], context.person_id, tz)
        said = [(line.text, line.at) for line in found]
        name = found[-1].name if found else ""
        at = await self._thread.run(partial(stands, text, said, scope, "\n".join(known), section, name))
        heard = "\n".join((*(line.text for line in found), *known))
        if unheard := await self._thread.run(_unheard, text, fold(f"{heard}\n{name}")):
            return Ground(0, " ".join(unheard))
        denied = next((part.folded for part in parts_of(0, text) if part.denied), "")
        if denied and not any(assertions.denied(each) for each in _sayings(heard)):
            return Ground(0, denied)
        if isinstance(at, str):
            return Ground(0, at or text)
        firm = section != "promises" or _firm(found[at].text, text)
        return Ground(found[at].id) if firm else Ground(0, text)

    async def strange(self, context: ToolContext, title: str, known: Iterable[str]) -> str:
        """What a title holds that stands neither in their own words nor in what is `known` of them: its numbers and
        names, or a denial; "" for nothing. Its other words are the model's, as are names in a script that their newest
        line has no letter of: those are translated.
        """
        own = [folded_plain(line.text) for line in await self.lines(context, done=True)]
        heard = [*own, *(folded_plain(text) for text in known)]
        return await self._thread.run(_strange, title, heard, own[-1] if own else "")

    def _asks_about_paste(self, question: str, pasted: str) -> bool:
        """Whether that is nuan's own question whether what was pasted is to be done; a model's that quotes it is none."""
        told = (self._words.messages.text("pasted_asks", script, text=brief(pasted)) for script in SCRIPTS)
        return any(each in question for each in told)

    def declines(self, text: str) -> bool:
        """Whether a line says no, alone or beside what else it says."""
        return "let_be" in self._answers(text)

    def _agrees(self, text: str) -> bool:
        """Whether a line says yes, alone or before what else it says, and no nowhere."""
        return "agree" in self._answers(text)[:2] and not self.declines(text)

    def _answers(self, text: str) -> list[str]:
        """What a line, and each piece of it, answers to a question."""
        said = (answer_to(YES, piece, self._names) for piece in (text, *_FIRST.split(text)))
        return [each.verb if each is not None else "" for each in said]


def _firm(words: str, text: str) -> bool:
    """Whether the sentence that carries a promise neither asks, nor guesses, nor tells what others say."""
    wanted = fold(text)
    carrying = [
        each
        for each in sentences(words[:READ_CHARS])
        if wanted in each.folded or (len(each.folded) >= LEAST and each.folded in wanted)
    ]
    return not any(each.asks or UNSURE.search(_I_SAID.sub("", each.folded)) for each in carrying)


def _sayings(heard: str) -> Iterable[str]:
    """Lines, and each clause by itself: not veggie anymore.. dont judge."""
    yield from (folded_plain(line) for line in heard.split("\n"))
    yield from (part.folded for part in parts_of(0, heard))


def _unheard(text: str, heard: str) -> list[str]:
    """What a text calls somebody for short, 阿明 or 小李, that nobody said."""
    names = (name for name in _NICKNAME.findall(fold(text)) if name[0] == "阿" or len(words(name)) > 1)
    return [name for name in names if name not in heard]


def _strange(title: str, heard: Sequence[str], newest: str) -> str:
    folded, whole = folded_plain(title), "\n".join(heard)
    found = sorted(assertions.numbers(folded, all_of_them=False) - assertions.numbers(whole, all_of_them=True))
    names = [*(name for name in assertions.names(title) if name not in whole), *_unheard(title, whole)]
    found += [name for name in names if (_LATIN if name.isascii() else _HAN).search(newest)]
    if assertions.denied(folded) and not any(assertions.denied(text) for text in heard):
        found.append(title)
    return " ".join(found)
