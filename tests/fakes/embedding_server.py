"""A loopback server of embeddings: it checks what it is asked, and vectors come from a table of meanings or a fault."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.fakes.openai_replies import play, send
from tests.fakes.openai_rules import Violation, mapping
from tests.fakes.openai_script import Fault, Recorded, Reply
from tests.fakes.openai_server import FakeOpenAI

FIELDS = {"model", "input", "encoding_format", "dimensions"}
Meaning = Callable[[str], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Vectors:
    """One answer: a fault of any server, or vectors, which `change` may spoil before they go out."""

    fault: Fault | None = None
    status: int = 500
    retry_after: int | None = None
    change: Callable[[dict[str, object]], object] = lambda body: body


def meaning_of(table: Mapping[str, int], dimensions: int = 8) -> Meaning:
    """A text means the topics whose words are in it; one with none has a place of its own."""

    def mean(text: str) -> list[float]:
        found = [0.0] * dimensions
        for word, topic in table.items():
            if word in text:
                found[topic] += 1.0
        if not any(found):
            found[-1] = 1.0
        return found

    return mean


@dataclass
class Asked:
    """What the server was asked for."""

    inputs: list[list[str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Every text in order."""
        return [text for texts in self.inputs for text in texts]


class FakeEmbeddings(FakeOpenAI):
    """It refuses what a strict server refuses: other fields, base64, empty texts and lists."""

    def __init__(
        self,
        mean: Meaning,
        script: Callable[[list[str]], Vectors] = lambda texts: Vectors(),
        *,
        key: str = "",
        delay: asyncio.Event | None = None,
    ) -> None:
        super().__init__(key=key)
        self.mean = mean
        self.answers = script
        self.asked = Asked()
        self.broken: list[str] = []
        self.delay = delay

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        if path != "/v1/embeddings" or (self._key and headers.get("authorization") != f"Bearer {self._key}"):
            await super()._answer(path, headers, raw, writer)
            return
        try:
            texts, dimensions = check_input(mapping(json.loads(raw)))
        except (ValueError, Violation) as error:
            self.broken.append(str(error))
            await send(writer, 400, json.dumps({"error": {"message": str(error), "type": "invalid_request_error"}}))
            return
        self.asked.inputs.append(texts)
        answer = self.answers(texts)
        if self.delay is not None:
            await self.delay.wait()
        if answer.fault is not None:
            reply = Reply(fault=answer.fault, status=answer.status, retry_after=answer.retry_after)
            await play(writer, reply, {}, Recorded(raw, "", 0, 0, 0))
            return
        rows = [list(self.mean(text))[: dimensions or None] for text in texts]
        body: dict[str, object] = {
            "object": "list",
            "model": "meaning",
            "usage": {"prompt_tokens": sum(map(len, texts)), "total_tokens": 0},
            "data": [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)],
        }
        await send(writer, 200, json.dumps(answer.change(body)))


def check_input(body: Mapping[str, object]) -> tuple[list[str], int | None]:
    """The texts and the dimensions asked for; Violation for what a strict server refuses."""
    if unknown := body.keys() - FIELDS:
        raise Violation(f"unrecognized request argument: {sorted(unknown)}")
    if body.get("encoding_format") != "float":
        raise Violation("this server knows no base64")
    texts, dimensions = body.get("input"), body.get("dimensions")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise Violation("input must be texts that are not empty")
    if dimensions is not None and not (isinstance(dimensions, int) and dimensions > 0):
        raise Violation("dimensions must be a positive integer")
    return list(texts), dimensions
