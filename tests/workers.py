"""A plugin of pytest: `--workers 4` collects once and forks processes that run the tests, a few at a time as each is free.

Importing and collecting in each process was a tenth of the suite's processor time: pytest-xdist does it. Needs
--capture=sys, as captured descriptors would be shared. A test whose process ends counts as failed.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import pytest

from tests.nursery import Nursery

SHARE = 4
"""Tests that a process takes at once: neighbours share what their file sets up, and the last process is not long alone."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The number of processes."""
    parser.addoption("--workers", type=int, default=0, metavar="N", help="run the tests in N forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run what was collected in processes, if that is asked for and there is something to share."""
    config = session.config
    count = min(config.option.workers, len(session.items) // SHARE)
    if count < 2 or session.testsfailed or config.option.collectonly:
        return None
    if config.option.capture == "fd":
        raise pytest.UsageError("--workers needs --capture=sys")
    _Pool(session, count).run()
    return True


@dataclass(eq=False)
class _Worker:
    """A process with its end of a pipe, and the tests that it took and has not ended."""

    process: BaseProcess
    wire: Connection
    taken: deque[pytest.Item] = field(default_factory=deque)


class _Pool:
    """The processes of one run, seen from the one that collected: it hands out tests and tells their reports."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self._session = session
        self._next = 0
        factory = session.config._tmp_path_factory  # type: ignore[attr-defined]
        factory.getbasetemp()
        fork = multiprocessing.get_context("fork")
        self._nursery = Nursery(count)
        self._workers: set[_Worker] = set()
        for number in range(count):
            ours, theirs = fork.Pipe()
            process = fork.Process(
                target=_work, args=(session, theirs, number, self._nursery), name=f"worker-{number}", daemon=True
            )
            process.start()
            theirs.close()
            self._workers.add(_Worker(process, ours))
        self._nursery.leave()

    def run(self) -> None:
        """Until all tests are run, or somebody asks to stop."""
        try:
            while self._workers:
                ready = wait([worker.wire for worker in self._workers])
                for worker in [worker for worker in self._workers if worker.wire in ready]:
                    self._hear(worker)
            for item in self._session.items[self._next :]:
                self._lost(item, "no process was left to run it")
        finally:
            for worker in self._workers:
                worker.process.terminate()
                worker.process.join()
            self._nursery.end()

    def _hear(self, worker: _Worker) -> None:
        hook, config = self._session.config.hook, self._session.config
        try:
            report = worker.wire.recv()
        except EOFError:
            self._ended(worker)
            return
        if report is None:
            first, self._next = self._next, min(self._next + SHARE, len(self._session.items))
            worker.taken.extend(self._session.items[first : self._next])
            worker.wire.send((first, self._next))
            return
        told = hook.pytest_report_from_serializable(config=config, data=report)
        hook.pytest_runtest_logreport(report=told)
        if told.when == "teardown":
            worker.taken.popleft()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _ended(self, worker: _Worker) -> None:
        """A process ends when nothing is left for it; one that ends before has lost its tests."""
        self._workers.remove(worker)
        worker.wire.close()
        worker.process.join()
        for item in worker.taken:
            self._lost(item, f"its process ended with {worker.process.exitcode}")
        if worker.process.exitcode and not worker.taken:
            raise self._session.Interrupted(f"{worker.process.name} ended with {worker.process.exitcode}")

    def _lost(self, item: pytest.Item, why: str) -> None:
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self._session.config.hook.pytest_runtest_logreport(report=report)


def _work(session: pytest.Session, wire: Connection, number: int, shared: Nursery) -> None:
    """In a process: run what is handed out until nothing is left, each test set up and taken down as in one process."""
    config = session.config
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_ReportSender(config, wire.send))
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.mktemp(f"worker-{number}", numbered=False)
    shared.take(number)
    items = _handed_out(session, wire)
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    config._ensure_unconfigure()


def _handed_out(session: pytest.Session, wire: Connection) -> Iterator[pytest.Item]:
    while True:
        wire.send(None)
        first, end = wire.recv()
        if first == end:
            return
        yield from session.items[first:end]


@dataclass(frozen=True, slots=True)
class _ReportSender:
    """Tells each report to the process that collected."""

    config: pytest.Config
    tell: Callable[[object], None]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """As JSON would have it."""
        self.tell(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))
