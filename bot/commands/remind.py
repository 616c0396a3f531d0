"""`.ai remind` and `.ai tz`: reminders by command, and by whose clock they are meant."""

from collections.abc import Callable

from bot.commands.nearest import hint
from bot.commands.table import Asked
from bot.flow.reminding import Reminding
from bot.flow.words import Words
from bot.people.asking import ALL
from bot.ports import Clock
from bot.store.store import Store
from bot.text.clean import clean_name
from bot.text.clip import clip
from bot.text.dates import clock_label
from bot.text.when.rules import local, ms_of, next_of
from bot.text.zones import zone_named, zone_near
from bot.types.reminder import Reminder

SAID_CHARS = 32

ALL_WORDS = ("all", "全部", "所有", "*")


class RemindCommand:
    """Sets, lists and cancels."""

    def __init__(self, reminding: Reminding) -> None:
        self._reminding = reminding

    async def run(self, asked: Asked) -> str:
        """`list` or nothing lists, `cancel N|all|words` ends, everything else is a reminder to be set."""
        at = self._reminding.request(asked.chat, asked.person, asked.event.id)
        verb, *rest = asked.words or ("list",)
        if verb.lower() in ("list", "列表", "清单", "清單") and not rest:
            return await self._reminding.listed(at)
        if verb.lower() in ("cancel", "取消", "delete", "删除", "刪除"):
            words = " ".join(rest)
            return await self._reminding.cancelled(at, ALL if words.lower() in ALL_WORDS else words)
        return await self._reminding.added(at, " ".join(asked.words))


class ZoneCommand:
    """By whose clock a person's times are meant."""

    def __init__(self, store: Store, clock: Clock, words: Words, text: Callable[..., str]) -> None:
        self._store = store
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Asked) -> str:
        """Show the zone, or set it; `reset` goes back to the machine's."""
        now, wish = self._clock.now(), " ".join(asked.words)
        if not wish:
            zone = asked.person.timezone or self._words.zone
            key = "tz_own" if asked.person.timezone else "tz_house"
            return self._text(asked, key, zone=zone, time=clock_label(now, self._words.tz(zone)))
        reset = wish.lower() in ("reset", "off", "默认", "預設")
        zone = self._words.zone if reset else zone_named(wish) or ""
        if not zone:
            near = zone_near(wish)
            told = self._text(
                asked, "tz_near" if near else "tz_unknown", zone=near, said=clip(clean_name(wish), SAID_CHARS)
            )
            return told + hint(asked, "tz", self._text)
        tz = self._words.tz(zone)
        old = self._words.tz(asked.person.timezone or self._words.zone)

        def due(reminder: Reminder) -> int | None:
            if reminder.rule:
                return next_of(reminder.rule, now, tz)
            return ms_of(local(reminder.due_at, old).replace(tzinfo=tz))

        moved = await self._store.reminders.rezone(asked.person.id, "" if reset else zone, due, now)
        done = self._text(asked, "tz_set", zone=zone, time=clock_label(now, tz))
        return f"{done}\n{self._text(asked, 'tz_moved', n=moved)}" if moved else done
