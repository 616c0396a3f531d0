"""What Discord refuses of slash commands: the documented limits of a command and everything below it."""

import re

from tests.fakes.discord_front import Refused, invalid
from tests.fakes.discord_world import Json

NAME = re.compile(r"[-_\w]{1,32}")
MOST_COMMANDS, MOST_OPTIONS, MOST_CHARS = 100, 25, 8_000
SUB, GROUP = 1, 2


def check_commands(bodies: list[Json]) -> None:
    """Refuse too many commands, and two of one name."""
    names = [body.get("name") for body in bodies]
    if len(names) > MOST_COMMANDS or len(set(names)) < len(names):
        raise Refused(400, 30032, "Maximum number of application commands reached, or a name twice")


def check_command(body: Json) -> None:
    """Refuse a slash command beyond a limit; its texts count together, of translations the longest."""
    _check(body)
    if _chars(body) > MOST_CHARS:
        raise invalid("name", "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({MOST_CHARS})")


def _check(body: Json) -> None:
    name, about = str(body.get("name", "")), str(body.get("description", ""))
    if not NAME.fullmatch(name) or name != name.lower():
        raise invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
    if any(not 0 < len(text) <= 100 for text in (about, *_texts(body))):
        raise invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    options = body.get("options") or []
    kinds = {option.get("type") in (SUB, GROUP) for option in options}
    names = {option.get("name") for option in options}
    if len(options) > MOST_OPTIONS or len(names) < len(options) or len(kinds) > 1:
        raise invalid("options", "BASE_TYPE_BAD_LENGTH", f"Must be {MOST_OPTIONS} or fewer, each name once.")
    for option in options:
        _check(option)


def _texts(body: Json) -> list[str]:
    return [str(text) for text in (body.get("description_localizations") or {}).values()]


def _chars(body: Json) -> int:
    about = max(len(text) for text in (str(body.get("description", "")), *_texts(body)))
    return len(str(body.get("name", ""))) + about + sum(_chars(option) for option in body.get("options") or [])
