"""How nuan behaves in recorded group chats, mode by mode: who was answered, who was interrupted, how often it entered.

Everything is counted from the recorded rows and from what was sent when; nuan's own reasons are not asked.
"""

import random
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.config.speaking import JoinRules
from bot.core.events import Outgoing
from bot.core.models import Completion, ModelRequest
from bot.core.speaking import GroupMode
from tests.bench.logs import Log
from tests.bench.probe import WatchedAdapter, WatchedModel
from tests.bench.replay import Run

WINDOW_MS, SILENCE_MS, DIALOGUE_MS, HOUR_MS = 60_000, 5_000, 60_000, 3_600_000
DRAWS = 200
"""Random entries are drawn so often for each entry that was made."""

_QUESTION = re.compile(r"[?？]\s*$")


class Ready:
    """A model that always has a short word to say, so that nothing but the rules keeps nuan silent."""

    name = dialect = "ready"
    digests = False

    async def complete(self, request: ModelRequest) -> Completion:
        """Say it."""
        return Completion("I see")

    async def body(self, request: ModelRequest) -> bytes:
        """Nobody looks at it."""
        return b""

    async def close(self) -> None:
        """Nothing is held."""


class Noting(WatchedAdapter):
    """A platform that notes when each reply came, ms of the simulated clock."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.watch)
        self.replies: list[int] = []
        self._now: Callable[[], int] = lambda: run.clock.now() if run.clock is not None else 0

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it."""
        if outgoing.kind == "reply":
            self.replies.append(self._now())
        return (str(outgoing.outbox_id),)


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a log: who said it, whether it calls the bot, whom of the others it is for ("" for nobody)."""

    at: int
    person: str
    calls: bool
    to: str
    asks: bool


@dataclass(slots=True)
class Behaviour:
    """What was counted; of entries and random ones the shares that stood well or badly."""

    mode: GroupMode
    hours: float = 0.0
    waking_hours: float = 0.0
    calls: int = 0
    answered: int = 0
    replies: int = 0
    uncalled: int = 0
    follow_ups: int = 0
    windows: int = 0
    double: int = 0
    entries: int = 0
    most_in_an_hour: int = 0
    in_quiet_hours: int = 0
    entered: Counter[str] = field(default_factory=Counter)
    at_random: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Behaviour") -> None:
        """Count another log, too."""
        self.most_in_an_hour = max(self.most_in_an_hour, other.most_in_an_hour)
        self.entered.update(other.entered)
        self.at_random.update(other.at_random)
        for name in (
            "hours",
            "waking_hours",
            "calls",
            "answered",
            "replies",
            "uncalled",
            "follow_ups",
            "windows",
            "double",
            "entries",
            "in_quiet_hours",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def lines_of(log: Log) -> tuple[Line, ...]:
    """The messages of a log as this bench reads them: by its own plain rules, not by nuan's."""
    names = "|".join(re.escape(name) for name in sorted(log.names, key=len, reverse=True))
    hello = r"(?:(?:hi|hiya|hey|hello|yo|ok|okay|thanks|thank you|please)\W+){0,4}"
    start = re.compile(rf"\W*{hello}(?:{names})(?![\w]|[-.'/@#]\w)", re.IGNORECASE)
    end = re.compile(rf"(?<![\w/#\\])(?<!\w[-.'@])(?:{names})\W*(?:(?:please|pls|plz|thanks|thx)\W*)?$", re.IGNORECASE)
    people: dict[str, str] = {}
    found: list[Line] = []
    for step in log.steps:
        sender = step.incoming.sender
        assert sender is not None
        people[sender.name] = sender.external_id
        if step.incoming.kind != "message":
            continue
        text = step.incoming.text
        head = re.match(r"([^\s:,]+)[:,]", text)
        to = people.get(head[1], "") if head is not None and head[1] not in log.names else ""
        calls = bool(start.match(text) or end.search(text))
        found.append(Line(step.at, sender.external_id, calls, to, bool(_QUESTION.search(text))))
    return tuple(found)


def count(log: Log, replies: Sequence[int], mode: GroupMode, rules: JoinRules) -> Behaviour:
    """One log's rows beside the replies to it."""
    lines = lines_of(log)
    began, ended = log.steps[0].at, log.steps[-1].at
    calls = Counter(line.at for line in lines if line.calls)
    said = Counter(replies)
    seen = Behaviour(mode, hours=(ended - began) / HOUR_MS, calls=sum(calls.values()), replies=len(replies))
    seen.answered = sum(many for at, many in calls.items() if said[at])
    waited = Counter(line.at + SILENCE_MS for line in lines if not line.calls)
    seen.double = sum(max(many - max(calls[at] + waited[at], 1), 0) for at, many in said.items())
    others = sorted(at for at in said if not calls[at])
    follow_ups = followed(lines, replies, set(others))
    seen.follow_ups, seen.windows = len(follow_ups), windows(lines, follow_ups)
    entries = [at for at in others if at not in follow_ups] if mode == "join" else []
    seen.uncalled = len(others) - len(entries) - (len(follow_ups) if mode != "called" else 0)
    waking = [at for at in range(began, ended + 1, 1_000) if not quiet(at, rules)]
    seen.waking_hours = len(waking) / 3_600
    seen.entries = len(entries)
    seen.in_quiet_hours = sum(quiet(at, rules) for at in entries)
    seen.most_in_an_hour = max(
        (bisect_right(entries, at) - bisect_right(entries, at - HOUR_MS) for at in entries), default=0
    )
    seen.entered.update(quality for at in entries for quality in qualities(lines, at))
    draw = random.Random(log.title)
    if waking:
        drawn = (draw.choice(waking) for _ in range(DRAWS * len(entries)))
        seen.at_random.update(quality for at in drawn for quality in qualities(lines, at))
    return seen


def quiet(at: int, rules: JoinRules) -> bool:
    """Whether a moment lies in the quiet hours; the installation of this bench lives in UTC."""
    hour = datetime.fromtimestamp(at / 1000, UTC).hour
    span = (rules.quiet_until - rules.quiet_from) % 24
    return (hour - rules.quiet_from) % 24 < span


def followed(lines: Sequence[Line], replies: Sequence[int], others: set[int]) -> dict[int, str]:
    """The replies that came 5 s after the last line of somebody who had called within a minute, and whose line."""
    until: dict[str, int] = {}
    found: dict[int, str] = {}
    moments = sorted(
        [*((line.at, 0, line) for line in lines), *((at, 1, None) for at in replies)], key=lambda moment: moment[:2]
    )
    for at, _, line in moments:
        if line is not None and line.calls:
            until[line.person] = at + WINDOW_MS
        if line is not None and not line.calls and until.get(line.person, 0) > at:
            until[line.person] = at + WINDOW_MS if not line.to else until[line.person]
        if line is None and at in others:
            index = bisect_left([one.at for one in lines], at - SILENCE_MS)
            source = next((one for one in lines[index:] if one.at == at - SILENCE_MS and not one.calls), None)
            if source is not None and until.get(source.person, 0) > source.at:
                found[at] = source.person
                until[source.person] = at + WINDOW_MS
    return found


def windows(lines: Sequence[Line], follow_ups: dict[int, str]) -> int:
    """How many windows people opened: a call more than a minute after the last call or follow-up of its person."""
    last: dict[str, int] = {}
    opened = 0
    moments = [(line.at, line.person) for line in lines if line.calls] + list(follow_ups.items())
    for at, person in sorted(moments):
        opened += at - last.get(person, -WINDOW_MS - 1) > WINDOW_MS
        last[person] = at
    return opened


def qualities(lines: Sequence[Line], at: int) -> tuple[str, ...]:
    """How a moment to enter stands: in a dialogue, on a line for somebody else, in a pause, on an open question."""
    times = [line.at for line in lines]
    upto = bisect_left(times, at)  # a row of the same instant came after it
    before, after = lines[:upto], lines[upto : bisect_right(times, at + WINDOW_MS)]
    recent = [line for line in before if at - line.at < DIALOGUE_MS]
    pairs = {(line.person, line.to) for line in recent if line.to}
    turns = [line.person for line in recent[-3:]]
    dialogue = any((to, person) in pairs for person, to in pairs)
    dialogue = dialogue or (len(turns) == 3 and turns[0] == turns[2] != turns[1])
    asked = next((line for line in reversed(before[-5:]) if line.asks and not line.to and not line.calls), None)
    answers = [line for line in before if asked is not None and line.at > asked.at and line.person != asked.person]
    facts = {
        "all": True,
        "in a dialogue": dialogue,
        "on a line for somebody else": bool(before) and bool(before[-1].to),
        "within 10 s of a line": bool(before) and at - before[-1].at < 10_000,
        "on an open question": asked is not None and at - asked.at < 300_000 and not answers,
        "followed by a line for nobody": bool(after) and not after[0].to and not after[0].calls,
    }
    return tuple(name for name, holds in facts.items() if holds)


async def observe(logs: Sequence[Log], folder: Path, mode: GroupMode) -> Behaviour:
    """Play every log in that mode and count."""
    whole, rules = Behaviour(mode), JoinRules()
    for number, log in enumerate(logs):
        place = folder / str(number)
        place.mkdir()
        run = Run(place, speak={"mode": mode})
        adapter = Noting(run)
        run.adapter, run.model = adapter, WatchedModel(Ready(), run.watch)
        await run.play(log)
        whole.add(count(log, adapter.replies, mode, rules))
    return whole


def show(seen: Behaviour) -> str:
    """The behaviour as lines to read."""
    rules = JoinRules()
    lines = [
        f"mode {seen.mode}: {seen.hours:.1f} hours, {seen.waking_hours:.1f} of them outside the quiet ones",
        f"answered when called         {seen.answered} of {seen.calls} ({_share(seen.answered, seen.calls)})",
        f"replies                      {seen.replies}, {seen.uncalled} without any reason that the rows give",
        f"follow-ups                   {seen.follow_ups} in {seen.windows} windows "
        f"({seen.follow_ups / max(seen.windows, 1):.2f} each)",
        f"double answers               {seen.double}",
    ]
    if seen.mode == "join":
        lines += [
            f"entries                      {seen.entries} ({seen.entries / max(seen.waking_hours, 1e-9):.2f} per hour, "
            f"at most {seen.most_in_an_hour} in any hour, cap {rules.per_hour}), {seen.in_quiet_hours} in quiet hours",
            *(
                f"  {name:<27}{_share(seen.entered[name], seen.entries):>7}, at random "
                f"{_share(seen.at_random[name], seen.at_random['all'])}"
                for name in (
                    "in a dialogue",
                    "on a line for somebody else",
                    "within 10 s of a line",
                    "on an open question",
                    "followed by a line for nobody",
                )
            ),
        ]
    return "\n".join(lines)


def wrong(seen: Behaviour) -> bool:
    """Whether something that must not happen did."""
    missed = seen.answered < seen.calls
    bad = seen.entered["in a dialogue"] + seen.entered["on a line for somebody else"] + seen.in_quiet_hours
    return missed or bool(bad) or bool(seen.double) or seen.most_in_an_hour > JoinRules().per_hour


def as_json(seen: Behaviour) -> dict[str, object]:
    """The behaviour as JSON."""
    return asdict(seen)


def _share(some: float, whole: float) -> str:
    return f"{100 * some / whole:.1f} %" if whole else "–"
