"""The tool look(id, question): the model sees a picture of this chat again. What may be seen is decided by the turn."""

import re
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from bot.flow.media import Asker, Media, NotSeen
from bot.flow.words import Words
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.clip import clip
from bot.text.estimate import estimate_tokens
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments

RESULT_TOKENS = 300
"""Most of a tool's result that enters the log (ARCHITECTURE §5)."""

QUESTION_CHARS = 500

_NUMBER = re.compile(r"\s*(?:image\s*)?#?\s*([0-9]{1,18})(?:\.([0-9]))?\s*", re.IGNORECASE)


class LookArguments(BaseModel):
    """What the model may ask; many write a number without quotes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | int | float
    question: str = Field(max_length=QUESTION_CHARS)


def look_tool(spec: ToolSpec, store: Store, media: Media, words: Words) -> Tool:
    """The tool over the pictures of the chat that a turn belongs to."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(LookArguments, arguments)
        question = " ".join(asked.question.split())
        if not question:
            raise ToolRefused("look_empty")
        shown = as_data(clip(str(asked.id), 20))
        number = _NUMBER.fullmatch(str(asked.id))
        position = max(int(number[2] or 1) - 1, 0) if number else 0
        sent = await store.attachments.find(context.audience.chat_id, int(number[1]), position) if number else None
        if sent is None or sent.attachment.kind != "image":
            raise ToolRefused("look_none", shown)
        script = words.script_named(context.script)
        asker = Asker(await store.people.chat(context.audience.chat_id), context.person_id, script)
        say = words.opening(script)
        try:
            seen = await media.look(asker, sent, context.session_id, question)
        except NotSeen as missed:
            raise ToolRefused("look_not", say(f"media_{missed.reason}")) from missed
        if seen is None:
            raise ToolRefused("look_none", shown)
        return ToolAnswer(_fitting(lambda text: say("look_seen", id=shown, text=text), as_data(seen)))

    return Tool(spec, run, reads=True)


def _fitting(answer: Callable[[str], str], text: str) -> str:
    """The answer with as much of the text as fits into RESULT_TOKENS."""
    whole = answer(text)
    while estimate_tokens(whole) > RESULT_TOKENS:
        text = clip(text, len(text) * 9 // 10)
        whole = answer(text)
    return whole
