"""Why a line of the log was said, in so few words that it can be a label: never a text, a person or a chat."""

import re
from collections.abc import Mapping

OTHER = "other"
FIELDS = ("fault", "error.type", "limit", "fate", "platform", "cause", "why")
"""Where the cause of a line stands, the surest first."""

_KIND = re.compile(r"[A-Z][A-Za-z]{2,39}", re.ASCII)
_TOLD = re.compile(r"([A-Z][A-Za-z]{0,34}(?:Error|Exception)): ", re.ASCII)
"""The kind of an exception before what it said."""

_WORD = re.compile(r"[A-Za-z][A-Za-z_]{0,39}(?: [a-z_]{1,40}){0,2}", re.ASCII)


def cause_of(fields: Mapping[str, object]) -> str:
    """The cause of a warning or an error: a fault, the kind of an exception; "other" for what only a text says."""
    match fields.get("exc_info"):
        case BaseException() as error:
            return type(error).__name__
        case (_, BaseException() as raised, _):
            return type(raised).__name__
    logger = fields.get("logger")
    if isinstance(logger, str):
        return logger.split(".")[0][:40] or OTHER
    said = (fields.get(name) for name in FIELDS)
    known = next((value for value in said if isinstance(value, str) and _WORD.fullmatch(value)), "")
    what = fields.get("error")
    kind = what if isinstance(what, str) else ""
    kind = told[1] if (told := _TOLD.match(kind)) is not None else kind
    return known or (kind if _KIND.fullmatch(kind) else OTHER)


class Bounded:
    """Lets so many different labels through, and calls all others the same."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[tuple[str, ...]] = set()

    def one_of(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """The labels, or "other" for each when there are too many by now."""
        if labels not in self._known:
            if len(self._known) >= self._most:
                return (OTHER,) * len(labels)
            self._known.add(labels)
        return labels
