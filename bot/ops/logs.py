"""The operator's log: JSON lines in a private rotating file, and pretty lines on a terminal. No global set-up."""

import contextlib
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from datetime import UTC
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO, cast

from bot.config.settings import LogFile
from bot.core.errors import NuanError
from bot.core.people import ErasedPerson
from bot.core.ports import Log, log_numbers
from bot.lazy_packages import loading_without
from bot.ops.log_files import LOG_NAME, TEXT_FIELDS, one_line, scrub_logs
from bot.text.clean import Redactor
from bot.text.dates import local

with loading_without("rich"):  # structlog would show errors with it, of which a line here tells in its own words
    import structlog

LONGEST_MESSAGE = 500
"""Characters of an error's message; the rest is rarely worth its place."""

LEVELS = ("debug", "info", "warning", "error")

LineObserver = Callable[[str, str, Mapping[str, object]], None]
"""Hears of a line: its level, its event, and its fields as they were said, which stay in this process."""

Fields = MutableMapping[str, object]


class Logs:
    """The open log. `log` is handed to the services; `close` gives back the file and the third-party loggers."""

    def __init__(
        self,
        folder: Path | None,
        options: LogFile,
        now: Callable[[], int],
        secrets: Sequence[str] = (),
        stream: TextIO | None = None,
        watch: LineObserver | None = None,
    ) -> None:
        """Open `folder`/nuan.jsonl; `now` gives ms since 1970 UTC, `stream` gets the pretty lines.

        `watch` hears of every line from info on, also of those below log.level.
        Without a folder there are those alone: for a process beside the one that answers. Raises OSError when the
        folder or the file cannot be made.
        """
        self._file = _opened(folder, options) if folder is not None else None
        self._redactor = Redactor(secrets)
        self.log: Log = structlog.wrap_logger(
            _Outputs(self._file, stream),
            processors=[
                structlog.processors.add_log_level,
                *([_Observed(watch, options.level)] if watch is not None else []),
                _Line(now, self._redactor, options.text),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(_lowest_level(options.level, watch)),
            context_class=dict,
            cache_logger_on_first_use=True,
        )
        self._foreign = _LibraryLogs(self.log, options.text)
        logging.getLogger().addHandler(self._foreign)

    def hide(self, secrets: Sequence[str]) -> None:
        """These must never be in a line, either."""
        self._redactor.hide(secrets)

    def scrub(self, erased: ErasedPerson) -> int:
        """Nothing of that person is left in the files; how many lines changed. OSError when one cannot be written."""
        if self._file is None:
            return 0
        with self._file.shut():
            return scrub_logs(Path(self._file.baseFilename).parent, erased)

    def close(self) -> None:
        """Write nothing more; closing twice does nothing."""
        logging.getLogger().removeHandler(self._foreign)
        if self._file is not None:
            self._file.close()


class _Observed:
    """Tells who watches of each line, and leaves out those that are only for them."""

    def __init__(self, watch: LineObserver, level: str) -> None:
        self._watch = watch
        self._least = LEVELS.index(level)

    def __call__(self, _logger: object, _method: str, said: Fields) -> Fields:
        level = str(said["level"])
        self._watch(level, str(said.get("event", "")), {**log_numbers(), **said})
        if LEVELS.index(level) < self._least:
            raise structlog.DropEvent
        return said


def _lowest_level(level: str, watch: LineObserver | None) -> str:
    return level if watch is None else LEVELS[min(LEVELS.index(level), LEVELS.index("info"))]


class _Line:
    """Turns what was said into one record: time, level, event, then the fields, clean and in their order."""

    def __init__(self, now: Callable[[], int], redactor: Redactor, with_text: bool) -> None:
        self._now = now
        self._redactor = redactor
        self._with_text = with_text

    def __call__(self, _logger: object, _method: str, said: Fields) -> Fields:
        at = local(self._now(), UTC)
        line: Fields = {
            "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": said.pop("level"),
            "event": self._redactor.plain(said.pop("event")),
        }
        said = {**log_numbers(), **said}
        exc_info = said.pop("exc_info", None)
        for name, value in said.items():
            if self._with_text or name not in TEXT_FIELDS:
                line[name] = self._redactor.plain(value)
        error = _error_of(exc_info)
        if error is not None:
            line.update(cast(Fields, self._redactor.plain(describe(error, self._with_text))))
        return line


class _Outputs:
    """Where records end: the file, and the stream if there is one. Named like the levels, as structlog calls it."""

    def __init__(self, file: "_PrivateFile | None", stream: TextIO | None) -> None:
        self._file = file
        self._stream = stream
        self._pretty = structlog.dev.ConsoleRenderer(colors=stream is not None and stream.isatty(), sort_keys=False)

    def info(self, **line: object) -> None:
        """Write one clean record, never two lines."""
        if self._file is not None:
            record = one_line(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
            self._file.handle(logging.makeLogRecord({"msg": record}))
        if self._stream is not None:
            shown = {name: one_line(value) if isinstance(value, str) else value for name, value in line.items()}
            with contextlib.suppress(OSError):  # a terminal that is gone is no reason to stop
                print(self._pretty(None, "", shown), file=self._stream, flush=True)

    debug = warning = error = info


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read, and that says once when it cannot be written."""

    def __init__(self, path: Path, options: LogFile) -> None:
        self._told = False
        size = int(options.max_megabytes * 1_000_000)
        super().__init__(path, maxBytes=size, backupCount=options.keep, encoding="utf-8")

    @contextlib.contextmanager
    def shut(self) -> Iterator[None]:
        """Inside, nobody writes; the next line goes on in the file of that name."""
        with self.lock or contextlib.nullcontext():
            self._put_away()
            yield

    def emit(self, record: logging.LogRecord) -> None:
        """Write it into the file of that name: when it was removed or renamed meanwhile, into a new one."""
        if not os.path.exists(self.baseFilename):  # noqa: PTH110 - it raises nothing
            self._put_away()
        super().emit(record)

    def _put_away(self) -> None:
        if self.stream is not None:
            with contextlib.suppress(OSError):  # what it still held cannot be written
                self.stream.close()
            self.stream = None  # as the library's own close leaves it

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The handler closes it.
        file = open(self.baseFilename, self.mode, encoding=self.encoding, opener=_private)  # noqa: SIM115
        return cast(TextIOWrapper, file)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        """A log that cannot be written is no reason to stop talking."""
        if not self._told:
            self._told = True
            print(f"nuan: the log cannot be written: {sys.exception()}", file=sys.stderr)  # noqa: T201


def _opened(folder: Path, options: LogFile) -> _PrivateFile:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    return _PrivateFile(folder / LOG_NAME, options)


class _LibraryLogs(logging.Handler):
    """Brings the warnings of libraries (openai, httpx2, asyncio …) into the same file."""

    def __init__(self, log: Log, with_text: bool) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._with_text = with_text

    def emit(self, record: logging.LogRecord) -> None:
        """One line; without log.text only the fixed part of the message, its arguments may quote people."""
        message = record.getMessage() if self._with_text else str(record.msg).split("\n", 1)[0]
        write = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        write("library", logger=record.name, message=message[:LONGEST_MESSAGE], exc_info=record.exc_info)


def describe(error: BaseException, with_text: bool) -> dict[str, object]:
    """An error as fields: its kind, message, place and cause; no variables.

    The message of an error that is neither ours nor the system's may quote people and needs `with_text`.
    """
    fields: dict[str, object] = {"error": type(error).__name__}
    if with_text or isinstance(error, (NuanError, OSError)):
        fields["message"] = str(error)[:LONGEST_MESSAGE]
    frames = traceback.extract_tb(error.__traceback__)
    fields["where"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        fields["cause"] = type(cause).__name__
    return fields


def _error_of(exc_info: object) -> BaseException | None:
    match exc_info:
        case BaseException():
            return exc_info
        case (_, BaseException() as error, _):
            return error
    return sys.exception() if exc_info is True else None


def _private(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, 0o600)
    Path(path).chmod(0o600)  # an older file may have been open to all
    return descriptor
