"""The reminders that a person has set: which may be told where they speak, moving them, and calling them off."""

from collections.abc import Callable
from dataclasses import replace

from bot.core.clock import MINUTE_MS
from bot.core.events import Event
from bot.core.memories import IncompleteReminder, NewReminder, Reminder
from bot.core.people import Script
from bot.language.reminders.replies import Change, TimeReply, change_wish, retime_wish, unread_change
from bot.language.reminders.requests import ReminderWish, task_of
from bot.language.time.moments import time_parts
from bot.pipeline.configuration import Current
from bot.pipeline.reminder_texts import ReminderRequest, confirmation, listed_reminders, named_reminders, reminder_time
from bot.pipeline.texts import Texts
from bot.speaking.reminders import (
    due_then,
    just_set,
    names_numbers,
    points,
    reminders_meant,
    retimed,
    shifted,
    tells_none,
)
from bot.store.reminders import ReminderAnswer, Reminders
from bot.text.codes import number_mark
from bot.text.dates import local

JUST_MS = 5 * MINUTE_MS
"""So soon after a line that names a day an hour alone may be of that day, or after a reminder was set correct it."""


class OpenReminders:
    """A person's open reminders, as they may be told and changed where they speak."""

    def __init__(self, store: Reminders, current: Current) -> None:
        self._store = store
        self._current = current

    @property
    def _names(self) -> tuple[str, ...]:
        return self._current.settings.bot.names

    @property
    def _words(self) -> Texts:
        return self._current.words

    async def mine(self, at: ReminderRequest) -> tuple[Reminder, ...]:
        """The open reminders of a person as they may be told here: in a DM all, in a group those of the group."""
        return await self._store.open(at.person.id, None if at.chat.kind == "dm" else at.chat.id)

    async def within_reach(self, at: ReminderRequest) -> tuple[Reminder, ...]:
        """Those of `mine`, and in a group those for everyone: who is reminded may move or end them by saying so."""
        group = at.chat.kind == "group"
        return await self._store.open(at.person.id, at.chat.id, shared=True) if group else await self.mine(at)

    async def listed(self, at: ReminderRequest) -> str:
        """Their open reminders, one a line."""
        return listed_reminders(self._words, at, await self.mine(at))

    async def cancelled(self, at: ReminderRequest, words: str) -> str:
        """End what these words name, by command; what is said to it."""
        text, ends = self._cancelling(at, words, await self.mine(at))
        await self._store.cancel(ends, at.now)
        return text

    async def _ended(self, at: ReminderRequest, wish: ReminderWish) -> bool:
        """End what a wish names; what may be about something else is not answered where it fits none."""
        open_ones = await self.mine(at)
        text, ends = self._cancelling(at, wish.task, open_ones)
        nothing = not ends and (wish.task or not open_ones) and not _meant(wish.task, open_ones)
        if not wish.named and nothing:
            return False
        return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now, ends=ends)

    async def _moved(self, at: ReminderRequest, waiting: IncompleteReminder, reply: TimeReply) -> bool | None:
        """下午三点, right after a reminder for an hour that was assumed, or 不对，三点 after any: it is said then."""
        said = time_parts(waiting.said[0])
        if not reply.corrects and (said.clock or said.times or said.delay):
            return None
        meant = (each for each in await self.mine(at) if each.id in waiting.numbers)
        thens = ((each, retimed(each, reply.parts, said.half, at.now, at.tz)) for each in meant)
        moved = [(each, then) for each, then in thens if then is not None]
        return await self._move(at, moved) if moved else None

    async def _move(self, at: ReminderRequest, moved: list[tuple[Reminder, tuple[int, str]]]) -> bool:
        """Have them said then (ms, rule)."""
        new = (
            (one.id, NewReminder(at.person.id, at.chat.id, one.text, *then, (), shared=one.shared))
            for one, then in moved
        )
        text = "\n".join(confirmation(self._words, at, each, number) for number, each in new)
        return await self._store.move({one.id: then for one, then in moved}, self._answer(at, lambda _: text), at.now)

    async def _retimed(self, at: ReminderRequest, event: Event) -> bool:
        """把开会改到9点, 改成9点 a few lines after one was set, 推迟一小时 or 取消开会, without a model: done, or told that it
        is not, and how it is."""
        if self._current.value.judges or event.why == "window":
            return False
        wish = retime_wish(event.text, self._names)
        change = change_wish(event.text, self._names) if wish is None or wish[1].parts.delay is not None else None
        alone = wish is None and change is None and not self._current.value.uses_tools
        unread = unread_change(event.text) if alone else None
        mine = await self.mine(at) if wish or change or unread else ()
        if change is not None:
            return await self._changed(at, *change, mine)
        if unread is not None and mine:
            key = "remind_unmoved" if unread == "later" else "remind_which"
            return await self._listing(at, key, mine)
        if wish is None:
            return False
        what, reply = wish
        found = await self._named(at, what, mine)
        if not found:
            return False
        said = reminder_time(self._words, at, found[0]) if local(found[0].due_at, at.tz).hour > 12 else ""
        one = IncompleteReminder(found[0].text, (said,), False, False, at.now, at.event_id, numbers=(found[0].id,))
        moved = await self._moved(at, one, replace(reply, corrects=True)) if len(found) == 1 else None
        return await self._listing(at, "remind_unmoved", found) if moved is None else moved

    async def _named(self, at: ReminderRequest, what: str, mine: tuple[Reminder, ...]) -> tuple[Reminder, ...]:
        """Those that words name; where they are none, or only point, that which was set just before; else, where they
        point, all of them."""
        if what and not points(what):
            return () if tells_none(what) else reminders_meant(what, mine, what)
        just = just_set(mine, at.chat.id, at.now - JUST_MS)
        just = () if just and await self._store.kept_since(just[0]) else just
        return just or (mine if what else ())

    async def _changed(
        self, at: ReminderRequest, change: Change, named: str, by: str, mine: tuple[Reminder, ...]
    ) -> bool:
        """End what is called off, by its name or as it was set last, and move what is put off as far as is said."""
        found = await self._named(at, "" if change == "back" else named, mine)
        if not found:
            return False
        if change in ("sooner", "later"):
            then = shifted(found[0], by, at.now, at.tz, sooner=change == "sooner") if len(found) == 1 else None
            return await (self._move(at, [(found[0], then)]) if then else self._listing(at, "remind_unmoved", found))
        if change == "off" and len(found) > 1:
            return await self._listing(at, "remind_which", found)
        numbers = " ".join(number_mark("reminder", each.id) for each in found)
        said, ends = self._cancelling(at, numbers, mine)
        return await self._store.say(self._answer(at, lambda _: said), at.person.id, at.now, ends=ends)

    async def _listing(self, at: ReminderRequest, key: str, found: tuple[Reminder, ...]) -> bool:
        """What cannot be done surely is said, with the reminders that it may be about and how it is asked for."""
        text = self._text(at.script, key, list=named_reminders(self._words, at, found), id=found[0].id)
        return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now)

    def _cancelling(
        self, at: ReminderRequest, words: str, open_ones: tuple[Reminder, ...]
    ) -> tuple[str, tuple[int, ...]]:
        """What is said to a wish to cancel, and the reminders that it ends."""
        if not open_ones:
            return self._text(at.script, "remind_none"), ()
        found = _meant(words, open_ones) or due_then(words, open_ones, at.now, at.tz)
        if not found:
            return self._text(at.script, "remind_which", list=named_reminders(self._words, at, open_ones)), ()
        if len(found) > 1 and words != "*" and not names_numbers(words):
            return self._text(at.script, "remind_which", list=named_reminders(self._words, at, found)), ()
        return (
            self._text(at.script, "remind_cancelled", list=named_reminders(self._words, at, found)),
            tuple(each.id for each in found),
        )

    def _answer(self, at: ReminderRequest, text: Callable[[tuple[int, ...]], str]) -> ReminderAnswer:
        return ReminderAnswer(at.chat.id, at.event_id, text)

    def _text(self, script: Script, key: str, **values: object) -> str:
        return self._words.messages.text(key, script, **values)


def _meant(words: str, open_ones: tuple[Reminder, ...]) -> tuple[Reminder, ...]:
    return reminders_meant(words, open_ones, task_of(words)[0])
