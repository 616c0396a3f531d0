"""A plugin of pytest, loaded before asyncio: what its debug mode notes of every future is two frames long, not eighty.

Debug mode notes where each future, task and callback was made. Whole stacks of that were a quarter of the suite's time;
asyncio keeps the function that it finds when it is first imported.
"""

import sys
import traceback
from types import FrameType

FRAMES = 2
"""Frames that are noted: who made it, and who asked for that."""

_extract = traceback.extract_stack


def extract_stack(f: FrameType | None = None, limit: int | None = None) -> traceback.StackSummary:
    """As the library's, with at most FRAMES frames unless more are asked for."""
    return _extract(f if f is not None else sys._getframe(1), limit if limit is not None else -FRAMES)


assert "asyncio" not in sys.modules, "asyncio was imported before: nothing is gained"
traceback.extract_stack = extract_stack
