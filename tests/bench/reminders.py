"""`python -m tests.bench.reminders FILE`: how well requests to be reminded are done, each in a fresh World at its time.

Each line of FILE is JSON: id, script, now (local ISO), text, want: a list of {"at", "about": [words]}, what comes
back with "every" (day, week, weekday, month, year) and perhaps "until" (a date); "ask"; or [] for nothing. Or it is id,
lang, now, zone, text, expect: a list of {"at", "repeat" (daily, weekly, weekdays, monthly, yearly), "until", "what"},
"ask" or "none". No model is asked for anything, unless `--calls` names a file of {"id", "calls": [{"text", "when"}]},
which its tool is then called with. What is asked back is neither right (unless that is wanted) nor silently wrong; what
is neither set nor asked is missed: a model that is connected gets it with its tools. With `--by-hand DIR` somebody is
that model: what the grammar leaves to it becomes files there, answered as in byhand.py, and what its tools set counts.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from bot.config.settings import Settings
from bot.core.models import ModelRequest
from bot.language.time.schedule import next_of, rule_step, until_of
from bot.text.dates import local, ms_of
from bot.text.fold import fold
from bot.text.similarity import content_words
from tests.bench.byhand import ByHand
from tests.fakes.clock import SimClock
from tests.fakes.model import Answer, calls
from tests.world import MACHINE_ZONE, World

TZ = ZoneInfo(MACHINE_ZONE)
MODEL = "to the model"
WORKDAYS = "mon,tue,wed,thu,fri"
Verdict = Literal["right", "asked", "missed", "wrong"]
Row = dict[str, object]
EVERY = {"daily": "day", "weekly": "week", "weekdays": "weekday", "monthly": "month", "yearly": "year"}


def read_row(row: Row) -> Row:
    """A row of either form in the first one."""
    expect = row.get("expect")
    if expect is None:
        return row
    wanted = (
        [
            {
                "at": each["at"],
                "every": EVERY.get(each["repeat"], each["repeat"]),
                "until": each["until"],
                "what": each["what"],
            }
            for each in expect
        ]
        if isinstance(expect, list)
        else "ask"
        if expect == "ask"
        else []
    )
    return {**row, "script": row["lang"], "want": wanted}


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a request: the reminders that are set (local time, rule, text), and what was said to it."""

    set: tuple[tuple[str, str, str], ...]
    replies: tuple[str, ...]


async def played(row: Row, tools: list[dict[str, str]], hand: ByHand | None = None) -> Played:
    """The row in a fresh World of its own; `hand` is its model."""
    with tempfile.TemporaryDirectory() as folder:
        tz = ZoneInfo(str(row.get("zone") or MACHINE_ZONE))
        world = World(Path(folder), Settings.model_validate({"bot": {"timezone": tz.key}}))
        world.clock = SimClock(ms_of(datetime.fromisoformat(str(row["now"])).replace(tzinfo=tz)))
        world.model.script = _script(tools)
        if hand is not None:
            world.model = hand  # type: ignore[assignment]
        await world.open()
        try:
            await world.say(str(row["text"]))
            found = world.rows("SELECT due_at, rule, text FROM reminder WHERE ended_at IS NULL ORDER BY due_at, id")
            rows = tuple(
                (local(int(str(at)), tz).strftime("%Y-%m-%dT%H:%M"), str(rule), str(text)) for at, rule, text in found
            )
            return Played(rows, tuple(reply for reply in world.replies if reply != "好的"))
        finally:
            await world.close()


def _script(tools: list[dict[str, str]]) -> Callable[[ModelRequest], Answer]:
    asked = [("remind", json.dumps(each, ensure_ascii=False)) for each in tools]

    def script(request: ModelRequest) -> Answer:
        done = not asked or not request.prompt.tools or request.prompt.messages[-1].role == "tool"
        return "好的" if done else calls(*asked)

    return script


def verdict(row: Row, found: Played, hand: ByHand | None) -> Verdict:
    """right; asked back, where nothing that is set is unwanted; nothing at all; silently wrong."""
    want = row["want"]
    # A model that talks asks many things: only where something is wanted it asks back.
    wanted: list[dict[str, object]] = want if isinstance(want, list) else []
    left = list(wanted)
    for each in [one for whole in found.set for one in _single(whole, len(wanted) > 1)]:
        fits = next((one for one in left if fitting(one, each)), None)
        if fits is None:
            return "wrong"
        left.remove(fits)
    asks = any("?" in fold(reply) for reply in found.replies)
    if want == "ask":
        return "right" if asks else "missed"
    if not left:
        return "right" if not asks or found.set or hand else "asked"
    return "asked" if asks else "missed" if not found.set else "wrong"


def _single(found: tuple[str, str, str], apart: bool) -> list[tuple[str, str, str]]:
    """What comes back on several weekdays, or at several times, where each of them is wanted by itself."""
    at, rule, text = found
    days = rule.split(" ")[4].split(",") if rule else []
    if not apart or (len(days) < 2 and "|" not in rule):
        return [found]
    each = rule.split("|") if "|" in rule else [rule.replace(",".join(days), day) for day in days]
    before = ms_of(datetime.fromisoformat(at).replace(tzinfo=TZ)) - 1
    firsts = [next_of(one, before, TZ) or 0 for one in each]
    return [(local(first, TZ).strftime("%Y-%m-%dT%H:%M"), one, text) for first, one in zip(firsts, each, strict=True)]


def fitting(one: dict[str, object], found: tuple[str, str, str]) -> bool:
    """Whether a reminder is the one that is wanted."""
    at, rule, text = found
    about = one.get("about")
    words, what = about if isinstance(about, list) else [], str(one.get("what"))
    return (
        at == str(one["at"])[:16]
        and every_of(rule) == str(one.get("every") or "")
        and until_of(rule) == str(one.get("until") or "")[:10]
        and all(fold(str(word)) in fold(text) for word in words)
        and ("what" not in one or bool(content_words(what) & content_words(text)) or fold(what) in fold(text))
    )


def every_of(rule: str) -> str:
    """day, week, weekday, month or year; "" for what is said once."""
    if not rule:
        return ""
    _, hour, day, month, weekdays = rule.split("|", maxsplit=1)[0].split(" ")[:5]
    if rule_step(rule)[0] > 1 or hour == "*":
        return rule
    if month != "*":
        return "year"
    if day != "*":
        return "month"
    return "day" if weekdays == "*" else "weekday" if weekdays == WORKDAYS else "week"


async def measured(
    rows: list[Row], tools: dict[str, list[dict[str, str]]], hand: ByHand | None, *, show: bool
) -> dict[str, Counter[str]]:
    """Of all and of each script how many requests got which verdict, and how many went to whoever plays the model."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        before = _calls(hand)
        found = await played(row, tools.get(str(row["id"]), []), hand)
        told = verdict(row, found, hand)
        for group in ("all", str(row["script"])):
            counts.setdefault(group, Counter())[told] += 1
            counts[group][MODEL] += _calls(hand) > before
        if show and told != "right":
            print(
                told, row["id"], row["now"], row["text"], row["want"], "->", found.set, found.replies, file=sys.stderr
            )
    return counts


def _calls(hand: ByHand | None) -> int:
    return hand.asked + hand.replayed if hand is not None else 0


def main() -> int:
    """Print the shares; 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--calls", type=Path, help="What a model with tools calls, by the id of a row.")
    parser.add_argument("--by-hand", type=Path, metavar="DIR", help="Somebody plays the model in this folder.")
    parser.add_argument("--show", action="store_true", help="Print each row that is not right, on standard error.")
    asked = parser.parse_args()
    try:
        rows = [read_row(json.loads(line)) for line in asked.file.read_text("utf-8").splitlines() if line.strip()]
        lines = asked.calls.read_text("utf-8").splitlines() if asked.calls else []
        tools = {row["id"]: row["calls"] for row in map(json.loads, filter(str.strip, lines))}
    except (OSError, ValueError) as error:
        print(f"{asked.file}: {error}", file=sys.stderr)
        return 2
    hand = ByHand(asked.by_hand) if asked.by_hand else None
    try:
        counts = asyncio.run(measured(rows, tools, hand, show=asked.show))
    finally:
        if hand is not None:
            hand.finish()
    for group, counted in counts.items():
        total = counted.total() - counted[MODEL]
        print(
            group,
            total,
            *(
                f"{told} {counted[told]} ({counted[told] / total:.1%})"
                for told in ("right", "asked", "missed", "wrong", *([MODEL] if hand else []))
            ),
            sep="  ",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
