"""Which rules of the capability table fit a server and a model, and what they say together. Pure."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from bot.config.capabilities import CapabilityRule
from bot.types.capabilities import Capabilities

PATTERNS = {"hosts", "models"}


def capabilities(rules: Iterable[CapabilityRule], base_url: str, name: str) -> Capabilities:
    """What the rules say of that model on that server, later rules before earlier ones; unknown: safe defaults.

    A gateway's "vendor/model" fits what is said of "model", too.
    """
    host = (urlsplit(base_url).hostname or "").lower()
    names = {name.lower(), name.lower().rpartition("/")[2]}
    known: dict[str, object] = {}
    for rule in rules:
        if any(fnmatchcase(host, glob.lower()) for glob in rule.hosts) and any(
            fnmatchcase(each, glob.lower()) for each in names for glob in rule.models
        ):
            # Only what a rule says: a table that is silent about something does not take it back.
            known |= {key: getattr(rule, key) for key in rule.model_fields_set - PATTERNS}
    return Capabilities(**{key: value for key, value in known.items() if value is not None})  # type: ignore[arg-type]
