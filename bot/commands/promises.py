"""`.ai promise`, `remind` and `tz`: what a person promised or wants to be reminded of, and by whose clock."""

from collections.abc import Callable
from functools import partial

from bot.commands.command import Invocation
from bot.commands.registry import hint
from bot.core.commitments import OPEN_STATES, Commitment, CommitmentState, Reminder
from bot.core.ports import Clock
from bot.language.reminders.requests import ALL_REMINDERS
from bot.language.time.schedule import local, ms_of, next_of, zone_named, zone_near
from bot.pipeline.plan import Planner
from bot.pipeline.reminders import ReminderService
from bot.pipeline.texts import Texts
from bot.store.store import Store
from bot.text.clean import clean_name
from bot.text.codes import number_for
from bot.text.dates import RELATIVE_DAYS, clock_label, local_day, relative_day
from bot.text.fold import fold
from bot.text.length import clip

PROMISES_SHOWN = 20
"""How many promises a list shows."""

TEXT_CHARS = 120

PROMISE_STATES: dict[str, CommitmentState] = {"done": "done", "fail": "failed", "doing": "ongoing", "open": "pending"}
"""What a person may say of a promise of their own: `.ai promise done 3`."""


class PromiseCommand:
    """Lists promises, ends them, opens them again, and drops what was none."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, words: Texts, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai promise …`; only what belongs to the person who asks, and may be told here."""
        audience = await self._planner.audience(asked.chat, asked.person)
        owned = await self._store.commitments.owned(asked.person.id, audience)
        match tuple(fold(word) for word in asked.words):
            case ():
                return self._list(asked, [each for each in owned if each.state in OPEN_STATES])
            case ("all",):
                return self._list(asked, list(owned))
            case (deed, number) if deed in (*PROMISE_STATES, "drop"):
                found = next((each for each in owned if each.id == number_for("promise", number.lstrip("#"))), None)
                return await self._do(asked, deed, found)
            case _:
                return self._text(asked, "promise_words")

    async def _do(self, asked: Invocation, deed: str, found: Commitment | None) -> str:
        if found is None:
            return self._text(asked, "promise_unknown")
        now, commitments = self._clock.now(), self._store.commitments
        if deed == "drop":
            done = await commitments.drop(found.id, asked.person.id, now)
        else:
            done = await commitments.settle(found.id, asked.person.id, PROMISE_STATES[deed], now)
        return self._text(asked, f"promise_did_{deed}" if done else "promise_unknown", id=found.id)

    def _list(self, asked: Invocation, found: list[Commitment]) -> str:
        now, tz = self._clock.now(), self._words.tz(self._words.zone_of(asked.chat, asked.person))
        days, text = self._words.days(asked.script), partial(self._text, asked)
        lines = []
        for each in found[-PROMISES_SHOWN:]:
            due = ""
            if each.due_at is not None and each.state in OPEN_STATES:
                today, day = local_day(now, tz), local_day(each.due_at, tz)
                ahead, due = (day - today).days, relative_day(day, today, days)
                if each.due_at < now:
                    due = text("due_over", day=due)
                elif 1 < ahead <= RELATIVE_DAYS:
                    due = text("due_in", n=ahead)
            state = text(f"promise_{each.state}")
            told = clip(" ".join(each.text.split()), TEXT_CHARS)
            lines.append(
                text("promise_line_due" if due else "promise_line", id=each.id, text=told, state=state, due=due)
            )
        more = len(found) - PROMISES_SHOWN
        if more > 0:
            lines.append(text("promise_more", n=more))
        return "\n".join(lines) or text("promise_none")


SAID_CHARS = 32

CANCEL_ALL_WORDS = ("all", "全部", "所有", "*")


class RemindCommand:
    """Sets, lists and cancels."""

    def __init__(self, reminding: ReminderService) -> None:
        self._reminding = reminding

    async def run(self, asked: Invocation) -> str:
        """`list` or nothing lists, `cancel N|all|words` ends, everything else is a reminder to be set."""
        at = self._reminding.request(asked.chat, asked.person, asked.event.id)
        verb, *rest = asked.words or ("list",)
        if verb.lower() in ("list", "列表", "清单", "清單") and not rest:
            return await self._reminding.listed(at)
        if verb.lower() in ("cancel", "取消", "delete", "删除", "刪除"):
            words = " ".join(rest)
            return await self._reminding.cancelled(at, ALL_REMINDERS if words.lower() in CANCEL_ALL_WORDS else words)
        return await self._reminding.added(at, " ".join(asked.words))


class ZoneCommand:
    """By whose clock a person's times are meant."""

    def __init__(self, store: Store, clock: Clock, words: Texts, text: Callable[..., str]) -> None:
        self._store = store
        self._clock = clock
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
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
