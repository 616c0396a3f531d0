"""The reminders that a person has set: which may be told where they speak, moving them, and calling them off."""

from collections.abc import Callable
from dataclasses import replace

from bot.core.clock import MINUTE_MS
from bot.core.events import Event
from bot.core.memories import IncompleteReminder, NewReminder, Reminder
from bot.core.people import Script
from bot.language.reminders.replies import Change, TimeReply, change_wish, retime_wish
from bot.language.reminders.requests import ReminderWish, task_of
from bot.language.time.moments import time_parts
from bot.pipeline.configuration import Current
from bot.pipeline.reminder_texts import ReminderRequest, confirmation, listed_reminders, named_reminders, reminder_time
from bot.pipeline.texts import Texts
from bot.speaking.reminders import due_then, just_set, names_numbers, reminders_meant, retimed
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
        half = said.half
        moved: dict[int, tuple[int, str]] = {}
        lines: list[str] = []
        for each in await self.mine(at):
            then = retimed(each, reply.parts, half, at.now, at.tz) if each.id in waiting.numbers else None
            if then is not None:
                moved[each.id] = then
                new = NewReminder(at.person.id, at.chat.id, each.text, *then, (), shared=each.shared)
                lines.append(confirmation(self._words, at, new, each.id))
        if not moved:
            return None
        return await self._store.move(moved, self._answer(at, lambda _: "\n".join(lines)), at.now)

    async def _retimed(self, at: ReminderRequest, event: Event) -> bool:
        """把开会改到9点, 改成9点 a few lines after one was set, or 取消开会, without a model: done, or told that it is not."""
        if self._current.value.judges or event.why == "window":
            return False
        wish = retime_wish(event.text, self._names)
        change = change_wish(event.text, self._names) if wish is None else None
        mine = await self.mine(at) if wish or change else ()
        if change is not None:
            return await self._changed(at, *change, mine)
        if wish is None:
            return False
        what, reply = wish
        found = reminders_meant(what, mine, what) if what else just_set(mine, at.chat.id, at.now - JUST_MS)
        if not found or (not what and await self._store.kept_since(found[0])):
            return False
        said = reminder_time(self._words, at, found[0]) if local(found[0].due_at, at.tz).hour > 12 else ""
        one = IncompleteReminder(found[0].text, (said,), False, False, at.now, at.event_id, numbers=(found[0].id,))
        moved = await self._moved(at, one, replace(reply, corrects=True)) if len(found) == 1 else None
        return await self._unmoved(at, found) if moved is None else moved

    async def _changed(self, at: ReminderRequest, change: Change, named: str, mine: tuple[Reminder, ...]) -> bool:
        """End what is called off, by its name or as it was set last; of what is put off it is told that it was not."""
        if change == "back":
            found = just_set(mine, at.chat.id, at.now - JUST_MS)
            found = () if found and await self._store.kept_since(found[0]) else found
        else:
            found = reminders_meant(named, mine, named)
        if not found:
            return False
        if change == "later":
            return await self._unmoved(at, found)
        several = " ".join(number_mark("reminder", each.id) for each in found) if change == "back" else named
        text, ends = self._cancelling(at, several, mine)
        return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now, ends=ends)

    async def _unmoved(self, at: ReminderRequest, found: tuple[Reminder, ...]) -> bool:
        text = self._text(at.script, "remind_unmoved", list=named_reminders(self._words, at, found), id=found[0].id)
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
