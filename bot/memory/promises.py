"""Whether what a model calls a task is its speaker's own and still open, until its reader judges that itself."""

from collections.abc import Iterable

from bot.memory.minutes import DigestLine
from bot.memory.plain import outcomes_in, owns_task
from bot.text.alike import meant


def is_own_task(sentence: str) -> bool:
    """Whether a sentence may be a task of whoever says it: of no doubt, not denied, not over, not somebody else's."""
    return owns_task(sentence)


def still_open(text: str, line: DigestLine, told: Iterable[tuple[DigestLine, str]]) -> bool:
    """Whether the speaker of `line` says nowhere later that the task is done or off."""
    later = (words for other, words in told if other.person_id == line.person_id and other.number > line.number)
    return not any(meant(one.about, [(1, text)]) for words in later for one in outcomes_in(words))
