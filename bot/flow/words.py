"""The house's texts in one place: which language, which words, which zone. It writes none of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from bot.context.xml import Frame
from bot.text.catalogue import Catalogue
from bot.text.dates import DayWords, clock_label, holiday_name, local_day
from bot.text.script import SCRIPTS, Script, script_next
from bot.text.zones import zone_or
from bot.types.people import Chat, Person

KEEPS = (
    "remembered", "remembered_one", "remembered_again", "memory_changed", "memory_replaced", "nick_set", "nick_revoked",
    "nick_changed", "undone",
)  # fmt: skip
"""The receipts that say that something is kept."""
_NUMBER, _NICK = "\ue010", "\ue011"


@dataclass(frozen=True, slots=True)
class Words:
    """`messages` are read by people, `openings` by the model; `zone` is the machine's or the configured one."""

    messages: Catalogue
    openings: Catalogue
    language: Script
    zone: str
    holidays: str

    def script(self, person: Person | None) -> Script:
        """What a person usually writes in, for notices and menus; the configured language for one who never did."""
        return self.script_named(person.script if person is not None else "")

    def script_of(self, text: str, usual: str) -> Script:
        """The script of a message, in which it is replied to, of somebody who usually writes in another."""
        return script_next(text, (), self.script_named(usual), self.language)

    def script_named(self, name: str) -> Script:
        """The script of that name, else the configured language."""
        match name:
            case "zh-Hans" | "zh-Hant" | "en" as script:
                return script
            case _:
                return self.language

    def confirmed(self, receipt: str) -> tuple[int, ...]:
        """The numbers of the memories that a receipt says are kept; none for every other text."""
        numbers: list[int] = []
        for line in receipt.split("\n"):
            for key, script in ((key, script) for key in KEEPS for script in SCRIPTS):
                text = self.messages.text(key, script, id=_NUMBER, old_id=_NUMBER, nick=_NICK, old=_NICK)
                pattern = re.escape(text).replace(_NUMBER, "([0-9]{1,9})").replace(_NICK, "[^\n]*")
                if found := re.fullmatch(pattern, line):
                    numbers += [int(number) for number in found.groups()]
                    break
            else:
                return ()
        return tuple(numbers)

    def zone_of(self, chat: Chat, person: Person) -> str:
        """The zone whose calendar counts: the person's own in a DM, the machine's in a group."""
        return (person.timezone if chat.kind == "dm" else "") or self.zone

    def tz(self, zone: str) -> tzinfo:
        """The zone of that name; the house's for one that this machine's tables do not know (any more)."""
        return zone_or(zone, self.zone)

    def opening(self, script: Script) -> Callable[..., str]:
        """The opening's words in one language."""
        return lambda key, **values: self.openings.text(key, script, **values)

    def days(self, script: Script) -> DayWords:
        """The words for near days."""
        text = self.messages.text
        return DayWords(
            text("today", script), text("yesterday", script), text("tomorrow", script),
            text("days_ago", script, days="{n}"), text("days_ahead", script, days="{n}"),
        )  # fmt: skip

    def _legend(self, script: Script, *, group: bool) -> str:
        legend = self.openings.text("legend", script)
        return f"{legend} {self.openings.text('legend_group', script)}" if group else legend

    def frame(self, now: int, zone: str, script: Script, *, first: bool, group: bool) -> Frame:
        """Date, weekday and holiday of a <ctx>, with the legend in the first one of a log."""
        tz = self.tz(zone)
        day = local_day(now, tz)
        weekdays = self.messages.words("weekdays", script)
        return Frame(
            now=clock_label(now, tz),
            weekday=weekdays[day.weekday()] if weekdays else "",
            holiday=holiday_name(day, self.holidays, script) if self.holidays else "",
            legend=self._legend(script, group=group) if first else "",
            cut_note=self.openings.text("cut", script, n="{n}"),
            forgotten=self.openings.text("forgotten", script),
        )
