"""What SQLite does for an operation: statements, who asks them, and the steps of its virtual machine, the same on every
run."""

import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from bot.store.sqlite.connection import SqliteTx

FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
"""What begins and ends transactions."""

FOR_EACH_WORD = "INSERT INTO posting"
"""One statement that is run with the words of a line, as many as there are."""

EXACT = 10
"""Steps between two counts: SQLite counts on from one use of a statement to the next, so that nothing is lost."""


@dataclass(frozen=True, slots=True)
class Work:
    """Statements, and the steps they took: some for each row that is visited."""

    statements: int
    steps: int


class Meter:
    """Counts on the connections it watches; what an index of words asks of its own tables is part of a statement."""

    def __init__(self, every: int = EXACT) -> None:
        self._every = every
        self.statements: Counter[str] = Counter()
        self.steps: Counter[str] = Counter()
        self._last = ""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Every connection to a database of nuan that is opened meanwhile is counted, as long as it is open."""

        def begin(connection: SqliteTx, *arguments: Any, **more: Any) -> None:
            sqlite3.Connection.__init__(connection, *arguments, **more)
            connection.set_trace_callback(self._trace)
            connection.set_progress_handler(self._step, self._every)

        SqliteTx.__init__ = begin  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            del SqliteTx.__init__

    def start(self) -> None:
        """Forget what was counted."""
        self.statements.clear()
        self.steps.clear()

    @property
    def asked(self) -> int:
        """Statements but those that only begin and end transactions, and that of the words of a line."""
        left_out = (*FRAME, FOR_EACH_WORD)
        return sum(count for statement, count in self.statements.items() if not statement.startswith(left_out))

    @property
    def looks(self) -> int:
        """Reading transactions: each takes two changes of threads."""
        return self.statements["BEGIN"]

    @property
    def transactions(self) -> int:
        """Transactions of the writer; several that wait at once are one commit."""
        return self.statements["SAVEPOINT one"]

    @property
    def work(self) -> Work:
        """What was counted."""
        return Work(self.statements.total(), self.steps.total())

    def _trace(self, statement: str) -> None:
        if not statement.startswith("--"):
            self.statements[statement] += 1
            self._last = statement

    def _step(self) -> None:
        self.steps[self._last] += self._every


ASKING = ("metering.py", "sqlite.py", "transactions.py")
"""Files that hand statements on."""


@contextmanager
def recorded() -> Iterator[dict[str, str]]:
    """The statements that are asked of databases of nuan meanwhile, as they are written, each with who asked it first."""
    found: dict[str, str] = {}
    before = {name: getattr(SqliteTx, name) for name in ("execute", "executemany")}

    def recording(name: str) -> Callable[..., Any]:
        def ask(connection: SqliteTx, statement: str, *values: object) -> Any:
            if statement not in found:
                found[statement] = _asking(sys._getframe(1))
            return before[name](connection, statement, *values)

        return ask

    for name in before:
        setattr(SqliteTx, name, recording(name))
    try:
        yield found
    finally:
        for name, method in before.items():
            setattr(SqliteTx, name, method)


def _asking(frame: FrameType | None) -> str:
    while frame is not None and frame.f_code.co_filename.rpartition("/")[2] in ASKING:
        frame = frame.f_back
    return frame.f_code.co_qualname.partition(".<locals>")[0] if frame is not None else ""
