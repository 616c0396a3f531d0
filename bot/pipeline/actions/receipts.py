"""How a memory command is confirmed: its words, its buttons, and one reply for all commands of a message."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.core.events import Button, Event
from bot.core.memories import Memory, MemoryCommand, MemoryQuestion
from bot.core.people import Audience, Chat, Script
from bot.core.ports import Clock
from bot.pipeline.configuration import Current
from bot.store.memories import OpenQuestion, Receipt, ReceiptQuote
from bot.store.store import Store
from bot.text.codes import number_mark
from bot.text.fold import script_of
from bot.text.length import ELLIPSIS, clip

DoneCommand = tuple[MemoryCommand, str]
"""A command that was carried out, and its receipt."""

Choices = tuple[str | tuple[str, str], ...]
"""Buttons: keys of what they say, or a label with what it says."""

NAMED = 20
"""Memories that one receipt names."""

QUOTED, QUOTE_CHARS, QUOTE_LATIN_CHARS = 3, 30, 64
"""How many of them it quotes, and characters of each: a Latin letter says less than a Chinese character."""


def memory_line_for_people(memory: Memory, text: Callable[..., str]) -> str:
    """Its text on one line; a way to address somebody says so: 小王 alone tells nobody what was kept.

    `text` is (key, **values) in the reader's script.
    """
    said = " ".join(memory.text.split())
    return text(f"mem_slot_{memory.slot}", text=said) if memory.is_name else said


@dataclass(frozen=True, slots=True)
class CommandContext:
    """A memory command with where and by whom it was said; without a `rest` to answer its receipt is said at once.

    `hide` empties the message afterwards: a command to forget names what is to be forgotten. `account` is the one
    that may press the receipt's button. `before` are the other commands of the message, done before it; `last`: none
    comes after it. `several` facts are kept in the message, so each receipt names its own. `offer` is asked with it.
    `judged`: a model may know what it means where nothing is found that it names.
    """

    command: MemoryCommand
    event: Event
    chat: Chat
    person_id: int
    audience: Audience
    script: Script
    place: int
    rest: str
    hide: bool
    account: str = ""
    last: bool = True
    before: tuple[DoneCommand, ...] = ()
    several: bool = False
    offer: str = ""
    judged: bool = False


class Receipts:
    """Makes receipts."""

    def __init__(self, store: Store, clock: Clock, current: Current) -> None:
        self._store = store
        self._clock = clock
        self._current = current

    def key(self, told: CommandContext) -> str:
        """What makes a command happen once."""
        return f"event:{told.event.id}:{told.place}"

    def text(self, key: str, told: CommandContext, **values: object) -> str:
        """A sentence in the person's script."""
        return self._current.words.messages.text(key, told.script, **values)

    def numbers(self, memories: Sequence[Memory], told: CommandContext) -> str:
        """The numbers of these memories as a receipt names them: whoever forgets thousands is not told each."""
        shown = " ".join(number_mark("memory", memory.id) for memory in memories[:NAMED])
        more = len(memories) - NAMED
        return self.text("numbers_more", told, list=shown, n=more) if more > 0 else shown

    def quoting(self, memories: Sequence[Memory], told: CommandContext) -> tuple[str, tuple[ReceiptQuote, ...]]:
        """The numbers of these memories, each of the first few with what it says, which is not stored with them."""
        texts = [self.text("quote", told, text=brief(memory.text)) for memory in memories[:QUOTED]]
        named = self.numbers(memories, told)
        for memory, quote in zip(memories, texts, strict=False):
            number = number_mark("memory", memory.id)
            named = re.sub(rf"{number}(?![0-9])", partial(_quoted, quote), named, count=1)
        return named, tuple(ReceiptQuote(each) for each in texts)

    async def say(
        self,
        key: str,
        told: CommandContext,
        question: MemoryQuestion | None = None,
        choices: Choices = (),
        **values: object,
    ) -> str:
        """An answer that changes nothing; with a `question` the person's next words may answer it, or the buttons of
        these `choices`."""
        receipt = self.receipt(
            told, lambda number, again: self.text(key, told, **values), question=question, choices=choices
        )
        return await self._store.memories.answer(receipt, self._clock.now())

    def receipt(
        self,
        told: CommandContext,
        text: Callable[[int, bool], str],
        takes_back: str = "",
        question: MemoryQuestion | None = None,
        choices: Choices = (),
        quotes: tuple[ReceiptQuote, ...] = (),
    ) -> Receipt:
        """The receipt; with `takes_back`, the key of what a person says for it, a button that takes the change back."""

        def buttons(number: int) -> tuple[Button, ...]:
            if choices and told.account:
                said = (self.text(each, told) if isinstance(each, str) else each for each in choices)
                pairs = ((one, one) if isinstance(one, str) else one for one in said)
                return tuple(Button(label, says, told.account) for label, says in pairs)
            if not takes_back or not told.account:
                return ()
            label = self.text("button_undo", told)
            says = label if told.before else self.text(takes_back, told, id=number)
            return (Button(label, says, told.account),)

        def whole(own: str) -> str:
            return "\n".join(self.joined((*told.before, (told.command, own)), told.script))

        def address(slot: str, name: str) -> str:
            return self._current.words.opening(told.script)(f"{slot}_event", wanted=" ".join(name.split()))

        until = self._clock.now() + self._current.settings.memory.confirm_seconds * 1000
        asked = OpenQuestion(question, until) if question is not None else None
        return Receipt(
            told.event.id,
            told.chat.id,
            self.key(told),
            text,
            not told.rest,
            told.rest,
            told.hide,
            told.last,
            buttons,
            whole,
            told.person_id,
            asked,
            address,
            quotes,
        )

    def joined(self, done: Sequence[DoneCommand], script: Script) -> tuple[str, ...]:
        """The receipts of one message, where a name refused and the one in its place are one."""
        lines: list[str] = []
        refused: MemoryCommand | None = None
        for command, receipt in done:
            new = self._current.words.confirmed(receipt) if refused is not None and command.verb == "nick_set" else ()
            old = self._current.words.confirmed(lines[-1]) if new else ()
            if refused is not None and new and old:
                lines[-1] = self._current.words.messages.text(
                    "nick_changed", script, old=refused.content, old_id=old[0], nick=command.content, id=new[0]
                )
            else:
                lines.append(receipt)
            refused = command if command.verb == "nick_revoke" and command.content else None
        return tuple(lines)


def _quoted(quote: str, number: re.Match[str]) -> str:
    return number[0] + quote


def brief(text: str) -> str:
    """A few words of a text, on one line, as a receipt quotes it; no Latin word is cut."""
    line = " ".join(text.split())
    if script_of(line, "zh-Hans") != "en":
        return clip(line, QUOTE_CHARS)
    short = clip(line, QUOTE_LATIN_CHARS)
    words, cut, _ = short.rpartition(" ")
    return f"{words}{ELLIPSIS}" if cut and short != line else short
