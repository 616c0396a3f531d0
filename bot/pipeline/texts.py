"""The texts that people and models are told: which language, which zone, times and reminders in words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from bot.context import CtxFrame, explained, told_now
from bot.core.errors import ConfigError
from bot.core.people import SCRIPTS, Chat, Person, Script, script_named
from bot.language.time.schedule import zone_or
from bot.text.catalogue import Catalogue
from bot.text.dates import DayWords, clock_label, holiday_name, local_day
from bot.text.fold import script_next

KEEPS = (
    "remembered",
    "remembered_one",
    "remembered_sad",
    "remembered_again",
    "memory_changed",
    "memory_replaced",
    "nick_set",
    "nick_revoked",
    "nick_changed",
    "undone",
)
"""The receipts that say that something is kept."""
_NUMBER, _NICK = "\ue010", "\ue011"


@dataclass(frozen=True, slots=True)
class Texts:
    """`messages` are read by people, `openings` by the model; `zone` is the machine's or the configured one.

    `names` are those the bot is called by: they tell nothing of the language of a message.
    """

    messages: Catalogue
    openings: Catalogue
    language: Script
    zone: str
    holidays: str
    names: tuple[str, ...]

    def script(self, person: Person | None) -> Script:
        """What a person usually writes in, for notices and menus; the configured language for one who never did."""
        return self.script_named(person.script if person is not None else "")

    def script_of(self, text: str, usual: str) -> Script:
        """The script of a message, in which it is replied to, of somebody who usually writes in another."""
        return script_next(text, self.names, self.script_named(usual), self.language)

    def script_named(self, name: str) -> Script:
        """The script of that name, else the configured language."""
        return script_named(name) or self.language

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

    def zone_of(self, chat: Chat, person: Person | None) -> str:
        """The zone whose calendar counts: the person's own in a DM, the machine's in a group and where nobody is."""
        return (person.timezone if person is not None and chat.kind == "dm" else "") or self.zone

    def tz(self, zone: str) -> tzinfo:
        """The zone of that name; the installation's for one that this machine's tables do not know (any more)."""
        return zone_or(zone, self.zone)

    @property
    def default_tz(self) -> tzinfo:
        """The installation's zone."""
        return self.tz(self.zone)

    def tz_of(self, chat: Chat, person: Person) -> tzinfo:
        """The zone that `zone_of` names."""
        return self.tz(self.zone_of(chat, person))

    def tell(self, person: Person, key: str, **values: object) -> str:
        """A sentence for a person, in what they usually write in."""
        return self.messages.text(key, self.script(person), **values)

    def opening(self, script: Script) -> Callable[..., str]:
        """The opening's words in one language."""
        return lambda key, **values: self.openings.text(key, script, **values)

    def days(self, script: Script) -> DayWords:
        """The words for near days."""
        text = self.messages.text
        return DayWords(
            text("today", script),
            text("yesterday", script),
            text("tomorrow", script),
            text("days_ago", script, days="{n}"),
            text("days_ahead", script, days="{n}"),
        )

    def frame(self, now: int, zone: str, script: Script, log: Sequence[str], alone: str | None = None) -> CtxFrame:
        """Time, legend and words of a <ctx> that follows these user messages of a log; the minute, date, weekday and
        holiday where the log has not told them yet. `alone` is the name of who talks with nuan alone, None in a group."""
        tz = self.tz(zone)
        day = local_day(now, tz)
        weekday = self.openings.text("weekday_names", script).split()[day.weekday()]
        label = clock_label(now, tz)
        date, _, time = label.partition(" ")
        told_day, told_time = told_now(log)
        is_news = date != told_day
        return CtxFrame(
            now=label if is_news else "" if time == told_time else time,
            weekday=weekday if is_news else "",
            holiday=holiday_name(day, self.holidays, script) if self.holidays and is_news else "",
            legend=self.openings.text("legend", script),
            explained=explained(log),
            note=self.openings.text("legend_group", script) if alone is None else "",
            cut_note=self.openings.text("cut", script, n="{n}"),
            forgotten=self.openings.text("forgotten", script),
            wish=self.openings.text("wish", script),
            alone=alone,
        )


def read_instructions(find: Callable[[str], Path], folder: str) -> dict[Script, str]:
    """The instruction of that folder in each language; ConfigError names the files that cannot be read."""
    problems: list[str] = []
    found: dict[Script, str] = {}
    for language in SCRIPTS:
        path = find(f"{folder}/{language}.txt")
        try:
            found[language] = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"prompts: {folder}/{path.name} cannot be read ({error})")
    if problems:
        raise ConfigError(tuple(problems))
    return found
