"""A model that somebody plays by hand: each request becomes a file, each answer is waited for and recorded."""

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.errors import ModelError
from bot.core.models import Completion, Message, ModelRequest, ToolCall

RECORDED, DONE = "recorded.jsonl", "DONE"
POLL_S = 0.3


class AskedTool(BaseModel):
    """One call of a tool: its arguments as an object, or as JSON text where a player wants them to be wrong."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, object] | str = {}


class Answer(BaseModel):
    """What stands in an answer file."""

    model_config = ConfigDict(extra="forbid")

    text: str = ""
    tool_calls: list[AskedTool] = []

    def completion(self, key: str) -> Completion:
        """The answer as a model's; the same request gets the same ids of calls."""
        calls = tuple(
            ToolCall(f"call_{key[:10]}_{place}", call.name, arguments(call))
            for place, call in enumerate(self.tool_calls)
        )
        return Completion(self.text, calls, None)


def arguments(call: AskedTool) -> str:
    """As JSON text."""
    given = call.arguments
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Record:
    """One answered request: the key of what was asked, and the answer."""

    key: str
    answer: Answer


def key_of(request: ModelRequest) -> str:
    """The same for the same messages, tools and shape; limits and temperature do not count."""
    prompt, shape = request.prompt, request.shape
    whole = (
        [message.canonical() for message in prompt.messages],
        [tool.wire() for tool in prompt.tools],
        shape.schema if shape is not None else "",
    )
    return hashlib.sha256(json.dumps(whole, ensure_ascii=False).encode()).hexdigest()


def kind_of(request: ModelRequest) -> str:
    """What a request is for, as far as it shows: a turn, or what its answer is shaped as, or another text."""
    if request.shape is not None:
        return request.shape.name
    return "turn" if request.cache_key else "text"


def read_records(folder: Path) -> dict[str, list[Answer]]:
    """The recorded answers of a folder by key, in order; ValueError for a line that is none."""
    path = folder / RECORDED
    known: dict[str, list[Answer]] = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        body = json.loads(line)
        known.setdefault(body["key"], []).append(Answer.model_validate(body["answer"]))
    return known


class ByHand:
    """Answers from what is recorded in `folder`, else by whoever answers the files there; without `asks` by nobody.

    The same request asked again gets its next recorded answer, at last the newest one.
    """

    digests = True

    def __init__(self, folder: Path, name: str = "by-hand", *, asks: bool = True, poll_s: float = POLL_S) -> None:
        self.name = name
        self.dialect = "openai"
        self.replayed = self.asked = self.unknown = 0
        self._folder = folder
        self._asks = asks
        self._poll_s = poll_s
        self._known = read_records(folder)
        self._used: Counter[str] = Counter()
        if asks:
            self._number = begin(folder)

    async def complete(self, request: ModelRequest) -> Completion:
        """The recorded answer, else the one that is written; ModelError when nobody may be asked."""
        key = key_of(request)
        used, known = self._used[key], self._known.setdefault(key, [])
        self._used[key] += 1
        if known and (used < len(known) or not self._asks):
            self.replayed += 1
            return known[min(used, len(known) - 1)].completion(key)
        if not self._asks:
            self.unknown += 1
            raise ModelError("invalid", f"no recorded answer to this request ({kind_of(request)})", final=True)
        self.asked += 1
        answer = await self._ask(request)
        known.append(answer)
        line = {"key": key, "kind": kind_of(request), "answer": answer.model_dump()}
        with (self._folder / RECORDED).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return answer.completion(key)

    async def body(self, request: ModelRequest) -> bytes:
        """The request as it is written."""
        return written(request, 0).encode()

    async def close(self) -> None:
        """Nothing is held."""

    def finish(self) -> None:
        """Tell whoever answers that no more will come."""
        if self._asks:
            (self._folder / DONE).touch()

    async def _ask(self, request: ModelRequest) -> Answer:
        self._number += 1
        stem = self._folder / f"{self._number:04d}"
        put(stem.with_suffix(".request.json"), written(request, self._number))
        path = stem.with_suffix(".answer.json")
        while True:
            if path.exists():
                try:
                    return Answer.model_validate_json(path.read_text("utf-8"))
                except (ValidationError, ValueError) as error:
                    refused = f"{path.name} is no answer and is waited for anew: {error}"
                    print(refused, file=sys.stderr, flush=True)
                    put(stem.with_suffix(".refused.txt"), refused)
                    path.unlink()
            await asyncio.sleep(self._poll_s)


def begin(folder: Path) -> int:
    """Take away what an earlier run left unanswered, and its end; the number of the last request that was answered."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DONE).unlink(missing_ok=True)
    last = 0
    for path in sorted(folder.glob("*.request.json")):
        stem = path.name.partition(".")[0]
        if (folder / f"{stem}.answer.json").exists():
            last = max(last, int(stem))
        else:
            path.unlink()
    return last


def written(request: ModelRequest, number: int) -> str:
    """The request as JSON to read."""
    prompt, shape = request.prompt, request.shape
    body: dict[str, object] = {
        "number": number,
        "kind": kind_of(request),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "messages": messages(prompt.messages),
    }
    if prompt.tools:
        body["tools"] = [tool.wire()["function"] for tool in prompt.tools]
    if shape is not None:
        body["response_schema"] = json.loads(shape.schema)
    return json.dumps(body, ensure_ascii=False, indent=1)


def messages(prompt: Sequence[Message]) -> list[dict[str, object]]:
    """The messages with what matters to who answers."""
    shown: list[dict[str, object]] = []
    for message in prompt:
        body: dict[str, object] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            body["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
            ]
        if message.tool_call_id:
            body["tool_call_id"] = message.tool_call_id
        shown.append(body)
    return shown


def put(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    half = path.with_name(f".{path.name}.half")
    half.write_text(text, "utf-8")
    half.replace(path)
