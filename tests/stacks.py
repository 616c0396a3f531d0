"""A plugin of pytest, loaded before asyncio: what its debug mode notes of every future and call is two frames long.

Debug mode notes where each future, task and callback was made. Whole stacks of that, with a look at the disk for every
file in them, were a third of the time of what runs in it; asyncio keeps the function that it finds when it is first
imported.
"""

import sys
import traceback
from types import FrameType

FRAMES = 2
"""Frames that are noted: who made it, and who asked for that."""

_extract = traceback.extract_stack


def extract_stack(f: FrameType | None = None, limit: int | None = None) -> traceback.StackSummary:
    """As the library's, with at most FRAMES frames, the innermost, unless another number is asked for."""
    frame = f if f is not None else sys._getframe(1)
    return noted(frame) if limit is None else _extract(frame, limit)


def noted(f: FrameType | None = None, limit: int | None = None) -> traceback.StackSummary:
    """FRAMES frames from this one outward, the outermost first; their lines are read when somebody prints them."""
    frame = f if f is not None else sys._getframe(1)
    stack = traceback.StackSummary()
    for _ in range(limit or FRAMES):
        code = frame.f_code
        stack.append(traceback.FrameSummary(code.co_filename, frame.f_lineno, code.co_name, lookup_line=False))
        if frame.f_back is None:
            break
        frame = frame.f_back
    stack.reverse()
    return stack


assert "asyncio" not in sys.modules, "asyncio was imported before: nothing is gained"
traceback.extract_stack = extract_stack

from asyncio import constants, format_helpers  # noqa: E402 - they shall find the function above

constants.DEBUG_STACK_DEPTH = FRAMES  # type: ignore[misc]  # its types call it final
format_helpers.extract_stack = noted
