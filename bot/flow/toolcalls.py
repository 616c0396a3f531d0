"""The tool calls in a turn's log: which wait for a result, what is kept of broken ones, why the next call is made."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import cast

from bot.types.prompt import Message, ToolCall
from bot.types.session import Epoch
from bot.types.speaking import UNASKED
from bot.types.turn import Cause, Turn

LONGEST_NAME = 64
"""Characters of a tool's name that the log keeps: what servers take back."""

LONGEST_ARGUMENTS = 8_000
"""Characters of one call's arguments that the log keeps."""

UNREADABLE = '{"unreadable":true}'
"""What the log keeps of arguments that cannot be used. Every tool refuses names that it does not know: {} would be
taken by one that needs none.
"""


def mine(epoch: Epoch, turn: Turn) -> list[Message]:
    """What a turn has logged so far."""
    return [entry.message for entry in epoch.entries if entry.turn_id == turn.id]


def unanswered(epoch: Epoch, turn: Turn) -> tuple[ToolCall, ...]:
    """The tool calls of this turn's last completion that have no result yet; ids may repeat from call to call."""
    answered: set[str] = set()
    for message in reversed(mine(epoch, turn)):
        if message.role == "tool":
            answered.add(message.tool_call_id)
        else:
            return tuple(call for call in message.tool_calls if call.id not in answered)
    return ()


def cause_of(epoch: Epoch, turn: Turn) -> Cause:
    """Why a turn that is under way makes another call."""
    if turn.why in UNASKED:
        return cast("Cause", turn.why)
    return "tool" if any(message.role == "tool" for message in mine(epoch, turn)) else "reply"


def is_repeated(logged: Sequence[Message], call: ToolCall) -> bool:
    """Whether this turn made a call with the same name and arguments before; its result is in the log, or will be."""
    *earlier, last = [message.tool_calls for message in logged if message.role == "assistant"]
    before = takewhile(lambda other: other.id != call.id, last)
    return any(_is_same(other, call) for calls in (*earlier, before) for other in calls)


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls ask for the same."""
    return _meaning(one) == _meaning(other)


def _meaning(call: ToolCall) -> tuple[str, str]:
    """Name and arguments, whatever the order and the spaces of the JSON."""
    try:
        return call.name, json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments


def sound(message: Message) -> Message:
    """The completion without arguments that are no JSON object, or too long: servers refuse broken ones."""
    return replace(message, tool_calls=tuple(_sound_call(call) for call in message.tool_calls))


def _sound_call(call: ToolCall) -> ToolCall:
    arguments = call.arguments if call.arguments.strip() else "{}"
    try:
        whole = len(arguments) <= LONGEST_ARGUMENTS and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return replace(call, name=call.name[:LONGEST_NAME], arguments=arguments if whole else UNREADABLE)
