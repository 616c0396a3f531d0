"""`python -m tests.bench.start_probe FILE WORD …`: nuan with these words, and in FILE what each import and step took.

Processor time of the process and growth of its resident memory, without what was imported inside.
"""

import atexit
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1_000_000
IMPORTS: Any = sys.modules["_frozen_importlib"]
STATM = Path("/proc/self/statm")
MOST = 70
STEPS = {
    "bot.cli.installation": ("ConfigSource.read", "make_adapters", "make_dependencies", "preload", "_read_sample"),
    "bot.store.store": ("open_store",),
    "bot.app": ("App.start", "App.__init__", "App.stop"),
    "bot.model.transport": ("_connect",),
    "bot.text.dictionary": ("cutter",),
    "bot.text.dates": ("_holidays",),
    "bot.pipeline.configuration": ("read_texts",),
}
"""Functions whose time is told, by module."""


def resident() -> float:
    """Resident memory, MB."""
    return int(STATM.read_text().split()[1]) * PAGE_MB


class Probe:
    """What was measured so far."""

    def __init__(self) -> None:
        self.own: dict[str, list[float]] = {}
        self.steps: list[str] = []
        self._inside: list[list[float]] = [[0.0, 0.0]]
        self._begin: Callable[..., Any] = IMPORTS._find_and_load

    def load(self, name: str, import_: Callable[..., Any]) -> Any:
        """In the place of the interpreter's own: import a module that is not there yet."""
        at, memory = process_time(), resident()
        self._inside.append([0.0, 0.0])
        try:
            module = self._begin(name, import_)
        finally:
            within = self._inside.pop()
            whole = process_time() - at, resident() - memory
            self._inside[-1][0] += whole[0]
            self._inside[-1][1] += whole[1]
            self.own.setdefault(name, [whole[0] - within[0], whole[1] - within[1], *whole])
        self._watch(name)
        return module

    def _watch(self, name: str) -> None:
        for step in STEPS.get(name, ()):
            owner: Any = sys.modules[name]
            *outer, last = step.split(".")
            for part in outer:
                owner = getattr(owner, part)
            setattr(owner, last, self._timed(f"{name}.{step}", getattr(owner, last)))

    def _timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        from asyncio import iscoroutinefunction

        if iscoroutinefunction(work):

            async def awaited(*args: Any, **named: Any) -> Any:
                began = self._now()
                try:
                    return await work(*args, **named)
                finally:
                    self._tell(name, began)

            return awaited

        def called(*args: Any, **named: Any) -> Any:
            began = self._now()
            try:
                return work(*args, **named)
            finally:
                self._tell(name, began)

        return called

    def _now(self) -> tuple[float, float, float]:
        return process_time(), perf_counter(), resident()

    def _tell(self, name: str, began: tuple[float, float, float]) -> None:
        spent, clock, memory = (now - then for now, then in zip(self._now(), began, strict=True))
        self.steps.append(
            f"{name:<55} until {process_time():6.3f} s, took {spent:6.3f} s, on the clock {clock:6.3f}, {memory:6.1f} MB"
        )

    def report(self) -> str:
        """The steps in their order, libraries by their whole, modules by their own time."""
        by_library: dict[str, list[float]] = {}
        for name, (own, memory, *_) in self.own.items():
            parts = name.split(".")
            library = ".".join(parts[:2]) if parts[0] in ("bot", "adapters") else parts[0]
            found = by_library.setdefault(library, [0.0, 0.0])
            found[0] += own
            found[1] += memory
        lines = [*self.steps, "", f"whole {process_time():.3f} s, {resident():.1f} MB", "", "by library"]
        for table in (by_library, self.own):
            ordered = sorted(table.items(), key=lambda item: -item[1][0])[:MOST]
            lines += [f"{name:<50} {took[0] * 1000:7.1f} ms {took[1]:7.2f} MB" for name, took in ordered]
            lines += ["", "by module"]
        return "\n".join(lines[:-2])


def main() -> None:
    """Run it."""
    file = Path(sys.argv[1])
    probe = Probe()
    IMPORTS._find_and_load = probe.load
    atexit.register(lambda: file.write_text(probe.report(), "utf-8"))
    sys.argv[:] = ["nuan", *sys.argv[2:]]
    runpy.run_module("bot", run_name="__main__")


if __name__ == "__main__":
    main()
