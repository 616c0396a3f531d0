"""`python -m tests.bench.replay DIR`: recorded group chats through the whole house on a simulated clock.

Each log is a chat of its own in one data folder, played by a house whose names are the nicks of its bot.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from bot.app import App, Parts
from bot.config.settings import Settings
from bot.flow.words import Words
from bot.model.offline import OfflineModel
from bot.ops.logs import Logs
from bot.resources import Prompts, resource_dir
from bot.store.store import DATABASE, Store, open_store
from bot.text.catalogue import catalogue
from tests.bench.counts import checksum, count, epochs_of_calls, mean, percentile
from tests.bench.logs import Log, read_logs
from tests.bench.probe import CountedLog, Stopwatch, WatchedAdapter, WatchedClock, WatchedModel

STEP_MS = 1_800_000
MOST_STEPS = 200
"""After the last row time goes on by half hours until every session is digested, for four days at most."""

PROMPTS = Prompts(None)


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay showed; tokens are nuan's own estimates, times are real."""

    logs: int
    rows: int
    messages: int
    wall_seconds: float
    messages_per_second: float
    counts: dict[str, int]
    checksum: str
    request_tokens: dict[str, float]
    new_tokens: dict[str, float]
    prefix_pairs: int
    prefix_kept: int
    own_ms: dict[str, float]
    accept_ms: dict[str, float]
    model_seconds: float
    peak_mb: float
    errors: tuple[str, ...]


@dataclass(slots=True)
class Replay:
    """One run over some logs, and what was measured on the way."""

    folder: Path
    watch: Stopwatch = field(default_factory=Stopwatch)
    accepts: list[float] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    model: WatchedModel = field(init=False)
    adapter: WatchedAdapter = field(init=False)

    def __post_init__(self) -> None:
        self.model = WatchedModel(OfflineModel(catalogue(Prompts(None).path, "offline")), self.watch)
        self.adapter = WatchedAdapter(self.watch)

    async def play(self, log: Log) -> None:
        """One log from its first row until its last session is digested."""
        clock = WatchedClock(log.steps[0].at, self.watch)
        settings = Settings.model_validate({"bot": {"names": log.names, "language": "en", "timezone": "UTC"}})
        logs = Logs(self.folder / "logs", settings.log, clock.now)
        async with await open_store(self.folder) as store:
            app = App(self._parts(settings, store, clock, CountedLog(logs.log, self.lines, self.errors)))
            await app.start([self.adapter])
            for step in log.steps:
                await clock.advance(max(0, step.at - clock.now()), app.settled)
                self.watch.start()
                await app.door.accept(step.incoming)
                self.accepts.append(perf_counter() - self.watch.begun)
                await app.settled()
            chat = (await store.people.chats())[-1]
            for _ in range(MOST_STEPS):
                await clock.advance(STEP_MS, app.settled)
                if not await store.sessions.undigested(chat.id):
                    break
            await app.stop()
        logs.close()

    def _parts(self, settings: Settings, store: Store, clock: WatchedClock, log: CountedLog) -> Parts:
        find = Prompts(None).path
        words = Words(catalogue(find, "messages"), catalogue(find, "opening"), "en", "UTC", "")
        return Parts(store, self.model, clock, settings, words, find, resource_dir("data/persona") / "default", log)

    def report(self, logs: tuple[Log, ...], seconds: float) -> Report:
        """Everything that was measured."""
        database = self.folder / DATABASE
        counts = count(database)
        messages = counts["event: message"]
        epochs = epochs_of_calls(database)
        pairs = [now.extends for now, (a, b) in zip(self.model.asked[1:], pairwise(epochs), strict=True) if a == b]
        return Report(
            logs=len(logs), rows=sum(len(log.steps) for log in logs), messages=messages, wall_seconds=seconds,
            messages_per_second=messages / seconds, counts=counts, checksum=checksum(counts),
            prompt_tokens=_spread([float(asked.tokens) for asked in self.model.asked]),
            new_tokens=_spread([float(asked.new) for asked in self.model.asked]),
            prefix_pairs=len(pairs), prefix_kept=sum(pairs),
            own_ms=_spread([own * 1000 for own in self.adapter.own]),
            accept_ms=_spread([taken * 1000 for taken in self.accepts]), model_ms=self.model.seconds * 1000,
            peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, log_lines=dict(sorted(self.lines.items())),
            errors=tuple(self.errors),
        )  # fmt: skip


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "mean": mean(values), "p50": percentile(values, 0.5), "p95": percentile(values, 0.95),
        "p99": percentile(values, 0.99),
    }  # fmt: skip


async def _waiting(store: Store) -> bool:
    """Whether a session of any chat is not digested yet."""
    return any([await store.sessions.undigested(chat.id) for chat in await store.people.chats()])


async def replay(logs: tuple[Log, ...]) -> Report:
    """Play every log into one data folder, which is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        run = Replay(Path(folder))
        begun = perf_counter()
        for log in logs:
            await run.play(log)
        return run.report(logs, perf_counter() - begun)


def show(report: Report) -> None:
    """The report for people."""
    numbers = report.counts
    print(f"{report.logs} logs, {report.rows} rows, {report.messages} messages in {report.wall_seconds:.1f} s")
    print(f"messages/s          {report.messages_per_second:.0f}")
    for name in ("turns", "follow-ups", "calls", "sessions", "epochs", "digests", "memories"):
        print(f"{name:<20}{numbers[name]}")
    print("tokens per call     " + _row(report.prompt_tokens, 0))
    print("  of them new       " + _row(report.new_tokens, 0))
    share = report.prefix_kept / report.prefix_pairs if report.prefix_pairs else 1.0
    print(f"exact prefix        {share:.2%} of {report.prefix_pairs} successive requests of one epoch")
    print("own ms per turn     " + _row(report.own_ms, 2))
    print("accept ms           " + _row(report.accept_ms, 2))
    print(f"peak memory         {report.peak_mb:.0f} MB")
    print(f"errors              {len(report.errors)}")
    for name, number in numbers.items():
        if ": " in name:
            print(f"  {name:<34}{number}")
    for error in report.errors[:5]:
        print(f"  ! {error[:200]}")
    print(f"counts checksum     {report.checksum}")
    print(MEASURED)


def _row(spread: dict[str, float], digits: int) -> str:
    return "  ".join(f"{name} {value:.{digits}f}" for name, value in spread.items())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.replay", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of *.jsonl logs")
    parser.add_argument("--model", choices=["offline"], default="offline", help="who answers")
    parser.add_argument("--limit", type=int, default=None, help="only the first rows of each log")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    logs = read_logs(options.folder, options.limit)
    if not logs:
        parser.error(f"there is no *.jsonl log in {options.folder}")
    profile = cProfile.Profile()
    if options.profile:
        profile.enable()
    report = asyncio.run(replay(logs), debug=False)
    if options.profile:
        profile.disable()
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(40)
    if options.json:
        print(json.dumps(asdict(report), ensure_ascii=False, indent=1))
    else:
        show(report)


if __name__ == "__main__":
    main()
