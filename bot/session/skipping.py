"""Whether the model chose to say nothing to what was said. Pure."""

import re

from bot.session.heartbeat import skips
from bot.text.fold import fold
from bot.types.event import ChatKind
from bot.types.speaking import UNCALLED

SKIP = "skip"
"""What a model answers that has nothing to say."""

_ALL = re.compile(r"[\W_]*skip[\W_]*")


def silent(text: str, why: str, kind: ChatKind) -> bool:
    """Whether nothing is to be said: only what nobody asked for, and in groups, may be passed over.

    To a follow-up a line that is only the word is enough, as with first messages: whoever explains it means it. What
    somebody called for is passed over only when the word is all there is: a list may hold it.
    """
    if why in UNCALLED:
        return skips(text)
    return kind == "group" and refuses(text)


def refuses(text: str) -> bool:
    """Whether the answer is that word and nothing else."""
    return _ALL.fullmatch(fold(text)) is not None
