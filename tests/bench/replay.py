"""`python -m tests.bench.replay DIR`: recorded group chats through the whole bot on a simulated clock.

Each log is a chat of its own in one data folder, played by an installation whose names are the nicks of its bot.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from bot.app import App
from bot.config.settings import RetentionRules, Settings
from bot.container import Dependencies
from bot.core.files import PromptFiles
from bot.core.models import Capabilities
from bot.core.speaking import GroupMode
from bot.model.offline import OfflineModel
from bot.model.pool import Endpoint, ModelPool
from bot.money import rate_of
from bot.ops.logs import Logs
from bot.store.store import DATABASE, Store, open_store
from bot.text.catalogue import catalogue
from tests.bench.counts import checksum, count, epochs_of_calls, peak_mb, spread
from tests.bench.logs import Log, read_logs
from tests.bench.probe import CountedLog, Stopwatch, WatchedAdapter, WatchedClock, WatchedModel
from tests.configured import configured

STEP_MS = 1_800_000
MOST_STEPS = 200
"""After the last row time goes on by half hours until every session is digested, for four days at most."""

PROMPTS = PromptFiles(None)

KEPT_DAYS = 36_500
"""Between two logs lie years: what the first ones left must still be there when it is counted at the end."""

RETENTION = dict.fromkeys(RetentionRules.model_fields, KEPT_DAYS)


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
class Run:
    """One replay under way: its data folder, its stopwatch and what was noted."""

    folder: Path
    watch: Stopwatch = field(default_factory=Stopwatch)
    speak: dict[str, object] = field(default_factory=dict)
    clock: WatchedClock | None = None
    accepts: list[float] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    model: WatchedModel = field(init=False)
    adapter: WatchedAdapter = field(init=False)

    def __post_init__(self) -> None:
        self.model = WatchedModel(OfflineModel(catalogue(PROMPTS.path, "offline")), self.watch)
        self.adapter = WatchedAdapter(self.watch)

    async def play(self, log: Log) -> None:
        """One log from its first row until its last session is digested."""
        clock = self.clock = WatchedClock(log.steps[0].at, self.watch)
        bot = {"names": log.names, "language": "en", "timezone": "UTC"}
        settings = Settings.model_validate({"bot": bot, "speak": self.speak, "retention": RETENTION})
        logs = Logs(self.folder / "logs", settings.log, clock.now)
        try:
            async with await open_store(self.folder) as store:
                app = App(_parts(settings, store, self.model, clock, CountedLog(logs.log, self.lines, self.errors)))
                await app.start([self.adapter])
                await self._bring(log, app, clock)
                for _ in range(MOST_STEPS):
                    if not await _waiting(store):
                        break
                    await clock.advance(STEP_MS, app.settled)
                await app.stop()
        finally:
            logs.close()

    async def _bring(self, log: Log, app: App, clock: WatchedClock) -> None:
        for step in log.steps:
            await clock.advance(step.at - clock.now(), app.settled)
            self.watch.start()
            await app.ingest.accept(step.incoming)
            self.accepts.append(perf_counter() - self.watch.begun)
            await app.settled()


async def _waiting(store: Store) -> bool:
    """Whether a session of any chat is not digested yet."""
    return any([await store.sessions.undigested(chat.id) for chat in await store.people.chats()])


def _parts(settings: Settings, store: Store, model: WatchedModel, clock: WatchedClock, log: CountedLog) -> Dependencies:
    pool = ModelPool(Endpoint(model, rate_of(settings.model, Capabilities())))
    return Dependencies(store, clock, log, configured(settings, pool=pool, log=log))


async def replay(logs: Sequence[Log], folder: Path) -> Report:
    """Play every log in turn with data in `folder`, which must be empty."""
    run = Run(folder)
    begun = perf_counter()
    for log in logs:
        await run.play(log)
    return _report(logs, run, perf_counter() - begun)


def _report(logs: Sequence[Log], run: Run, wall: float) -> Report:
    database = run.folder / DATABASE
    counts, epochs, asked = count(database), epochs_of_calls(database), run.model.asked
    if len(epochs) != len(asked):
        run.errors.append(f"{len(asked)} requests, but {len(epochs)} calls of turns in the ledger")
    placed = pairwise(zip(epochs, asked, strict=False))
    pairs = [later for (before, _), (epoch, later) in placed if epoch == before]
    kept = sum(later.extends for later in pairs)
    steps = [step for log in logs for step in log.steps]
    messages = sum(step.incoming.kind == "message" for step in steps)
    counts |= {f"log: {name}": number for name, number in sorted(run.lines.items())}
    counts |= {"request tokens": sum(one.tokens for one in asked), "new tokens": sum(one.new for one in asked)}
    counts |= {"prefix pairs": len(pairs), "prefix kept": kept}
    return Report(
        logs=len(logs),
        rows=len(steps),
        messages=messages,
        wall_seconds=round(wall, 2),
        messages_per_second=round(messages / wall, 1),
        counts=counts,
        checksum=checksum(counts),
        request_tokens=spread([one.tokens for one in asked]),
        new_tokens=spread([one.new for one in asked]),
        prefix_pairs=len(pairs),
        prefix_kept=kept,
        own_ms=spread([taken * 1000 for taken in run.adapter.own]),
        accept_ms=spread([taken * 1000 for taken in run.accepts]),
        model_seconds=round(run.model.seconds, 2),
        peak_mb=peak_mb(),
        errors=tuple(run.errors),
    )


def show(report: Report) -> str:
    """The report as lines to read."""
    counts = report.counts
    share = 100 * report.prefix_kept / report.prefix_pairs if report.prefix_pairs else 100.0
    numbers = ("turns", "follow-ups", "calls", "sessions", "epochs", "digests", "memories", "persons", "events")
    lines = [
        f"{report.logs} logs, {report.rows} rows, {report.messages} messages in {report.wall_seconds} s: "
        f"{report.messages_per_second} messages/s",
        " · ".join(f"{name} {counts[name]}" for name in numbers),
        f"prompt tokens per request    {_line(report.request_tokens)}",
        f"  of them new                {_line(report.new_tokens)}",
        f"exact prefix                 {share:.2f} % ({report.prefix_kept} of {report.prefix_pairs} pairs of an epoch)",
        f"our own time per turn, ms    {_line(report.own_ms)}",
        "  from accept() called, or the alarm of a follow-up firing, until the adapter gets the reply; without",
        "  model.complete, with the commits to disk, composing, tools and the outbox; the log line is before or after",
        f"accept(), ms                 {_line(report.accept_ms)}",
        f"model and its bookkeeping    {report.model_seconds} s",
        f"peak memory                  {report.peak_mb} MB",
        f"errors logged                {len(report.errors)}",
        *(f"  {error[:300]}" for error in report.errors[:10]),
        *(f"{name} {number}" for name, number in counts.items() if ": " in name),
        f"checksum of all counts       {report.checksum}",
    ]
    return "\n".join(lines)


def _line(values: dict[str, float]) -> str:
    return " ".join(f"{name} {value:g}" for name, value in values.items())


def behave(logs: Sequence[Log], mode: GroupMode, as_json: bool) -> bool:
    """Print how nuan behaves in a mode; True when something happened that must not."""
    from tests.bench import speaking

    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(speaking.observe(logs, Path(folder), mode), debug=False)
    print(json.dumps(speaking.as_json(seen), ensure_ascii=False) if as_json else speaking.show(seen))
    return speaking.wrong(seen)


def main() -> None:
    """Replay a folder of logs and print what was measured; exit code 1 after an error or a broken prefix."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.replay")
    parser.add_argument("folder", type=Path, help="folder of *.jsonl logs")
    parser.add_argument("--model", choices=["offline"], default="offline", help="who answers")
    parser.add_argument("--mode", choices=["window", "called", "join"], help="how nuan behaves in that mode, instead")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--limit", type=int, help="only the first rows of each log")
    parser.add_argument("--profile", action="store_true", help="print the costliest functions of the main thread")
    given = parser.parse_args()
    logs = read_logs(given.folder, given.limit)
    if not logs:
        parser.error(f"there is no *.jsonl in {given.folder}")
    if given.mode:
        sys.exit(behave(logs, given.mode, given.json))
    profiler = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        if given.profile:
            profiler.enable()
        report = asyncio.run(replay(logs, Path(folder)), debug=False)
        profiler.disable()
    print(json.dumps(asdict(report), ensure_ascii=False) if given.json else show(report))
    if given.profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30).sort_stats("cumtime").print_stats(60)
    sys.exit(bool(report.errors) or report.prefix_kept < report.prefix_pairs)


if __name__ == "__main__":
    main()
