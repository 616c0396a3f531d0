"""`python -m tests.bench.replay DIR --model offline`: recorded group chats through the whole house on a simulated clock.

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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

from bot.app import App, Parts
from bot.config.settings import Settings
from bot.flow.words import Words
from bot.model.offline import OfflineModel
from bot.ops.logs import Logs
from bot.resources import Prompts, resource_dir
from bot.store.store import DATABASE, open_store
from bot.text.catalogue import catalogue
from tests.bench.counts import checksum, count, epochs_of_calls, mean, percentile
from tests.bench.logs import Log, read_logs
from tests.bench.probe import CountedLog, Stopwatch, WatchedAdapter, WatchedClock, WatchedModel

STEP_MS = 1_800_000
MOST_STEPS = 200
"""After the last row time goes on in half hours until every session is digested, at most four days."""

MEASURED = """our own time: from the door's accept() being called (an answer at once) or the alarm firing (a follow-up) to the
  reply being handed to the adapter, less the time inside model.complete; commits to disk and the log line included"""


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay showed: tokens are nuan's own estimates, times real."""

    logs: int
    rows: int
    messages: int
    wall_seconds: float
    messages_per_second: float
    counts: dict[str, int]
    checksum: str
    prompt_tokens: dict[str, float]
    new_tokens: dict[str, float]
    prefix_pairs: int
    prefix_kept: int
    own_ms: dict[str, float]
    accept_ms: dict[str, float]
    model_ms: float
    peak_mb: float
    log_lines: dict[str, int]
    errors: tuple[str, ...]


@dataclass(slots=True)
class Run:
    """One replay under way: its folder, its stopwatch and what was noted."""

    folder: Path
    watch: Stopwatch = field(default_factory=Stopwatch)
    accepts: list[float] = field(default_factory=list)
    model: WatchedModel = field(init=False)
    adapter: WatchedAdapter = field(init=False)
    lines: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = WatchedModel(OfflineModel(catalogue(Prompts(None).path, "offline")), self.watch)
        self.adapter = WatchedAdapter(self.watch)

    async def play(self, log: Log) -> None:
        """One log from its first row until its last session is digested."""
        clock = WatchedClock(log.steps[0].at, self.watch)
        settings = Settings.model_validate({"bot": {"names": log.names, "language": "en", "timezone": "UTC"}})
        logs = Logs(self.folder / "logs", settings.log, clock.now)
        counted = CountedLog(logs.log, self.lines, self.errors)
        async with await open_store(self.folder) as store:
            app = App(self._parts(settings, store, clock, counted))
            await app.start([self.adapter])
            for step in log.steps:
                await clock.advance(step.at - clock.now(), app.settled)
                self.watch.start()
                await app.door.accept(step.incoming)
                self.accepts.append(perf_counter() - self.watch.begun)
                await app.settled()
            chats = {step.incoming.place.external_id for step in log.steps}
            number = (await store.people.find_chat(chats.pop())) if False else None
            for _ in range(MOST_STEPS):
                await clock.advance(STEP_MS, app.settled)
            await app.stop()
        logs.close()
