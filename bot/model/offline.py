"""The built-in model: no server, no network, the same answer to the same request. It is no language model."""

import json
import re
import zlib
from collections.abc import Iterable

from bot.model.heard import Heard, hear, mood_of, nearest
from bot.text.catalogue import Catalogue
from bot.text.clip import clip
from bot.text.script import SCRIPTS
from bot.types.prompt import Completion, Prompt, Request, ToolCall

RECALL = "memory_recall"
TOLD = 3
"""Memories of the warm boot in a greeting."""
FOUND = 5
"""Lines of a tool's result in an answer."""
QUOTE_CHARS = 120
"""Characters of one quoted line."""
INTRO_CHARS = 20
"""By so much of it the introduction is known again."""
QUERY_CHARS = 200
"""Characters of a question that are searched for."""


OFFLINE = "offline"
"""The dialect of the model that is none."""


class OfflineModel:
    """Answers by rule, and only from the request: its messages and its tools; `texts` are those of prompts/offline."""

    name = "offline"
    dialect = OFFLINE
    digests = False

    def __init__(self, texts: Catalogue) -> None:
        self._texts = texts

    async def complete(self, request: Request) -> Completion:
        """Answer at once; never raises ModelError. Nothing was counted, so there is no usage."""
        heard = hear(request.prompt)
        asks = not heard.forwarded and mood_of(heard.said) == "past"
        if asks and heard.results is None and any(tool.name == RECALL for tool in request.prompt.tools):
            query = json.dumps({"query": clip(heard.said.strip(), QUERY_CHARS)}, ensure_ascii=False)
            call = ToolCall(f"offline_{heard.calls}", RECALL, query)
            return Completion("", (call,), None, "tool_calls")
        answer = self._recalled(heard) if asks or heard.results is not None else self._reply(heard)
        lines = (self._say("intro", heard), answer) if heard.first and not self._known_in(request.prompt) else (answer,)
        return Completion("\n".join(lines), (), None, "stop")

    async def body(self, request: Request) -> bytes:
        """The prompt as canonical JSON; the limits change nothing here and are left out."""
        prompt = request.prompt
        body = {"messages": [m.wire() for m in prompt.messages], "tools": [t.wire() for t in prompt.tools]}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    async def close(self) -> None:
        """Nothing is held."""

    def _known_in(self, prompt: Prompt) -> bool:
        """Whether an older log, of which the lines are told, began with the introduction already."""
        begins = [self._texts.text("intro", script)[:INTRO_CHARS] for script in SCRIPTS]
        return any(begin in message.content for message in prompt.messages for begin in begins)

    def _recalled(self, heard: Heard) -> str:
        """What the tool found, else what was said in this very log, else that nothing is known."""
        if heard.results:
            # What the opening tells is not brought again, so it is looked through first.
            opened = nearest(heard.said, (*heard.tasks, *heard.happened, *heard.known))
            results = (one for one in heard.results if _text(one) not in opened)
            found = tuple(dict.fromkeys(filter(None, (opened, *results))))
            return self._say("found", heard, lines=_quote(found[:FOUND], "\n"))
        told = (*heard.talked, *heard.tasks, *heard.happened, *heard.known, *heard.earlier)
        line = nearest(heard.said, told)
        return self._say("said", heard, line=clip(line, QUOTE_CHARS)) if line else self._say("nothing", heard)

    def _reply(self, heard: Heard) -> str:
        mood = "talk" if heard.forwarded else mood_of(heard.said)
        answer = self._say(mood, heard)
        if not heard.first:
            return answer
        talked = (heard.talked or heard.happened)[:1]
        known = heard.known[: TOLD - len(talked)]
        warm = [self._say("warm_talked", heard, line=_quote(talked, ""))] if talked else []
        if known:
            warm.append(self._say("warm_known", heard, lines=_quote(known, self._say("between", heard))))
        return "\n".join((answer, self._say("pause", heard).join(warm))) if warm else answer

    def _say(self, key: str, heard: Heard, **values: object) -> str:
        """The text `key`; of several, the one that this line always gets."""
        several = self._texts.words(key, heard.script)
        if several:
            return several[zlib.crc32(heard.said.encode("utf-8", "replace")) % len(several)]
        return self._texts.text(key, heard.script, **values)


def _text(result: str) -> str:
    """What a finding says, without its day, or that it stands above."""
    return re.sub(r" ?[(（][^()（）]*[)）]$", "", result).rstrip("…")


def _quote(lines: Iterable[str], between: str) -> str:
    return between.join(clip(line, QUOTE_CHARS) for line in lines)
