"""What the small models are told beside a conversation, from a folder of prompts/, one file per language."""

from collections.abc import Callable
from pathlib import Path

from bot.errors import ConfigError
from bot.text.script import SCRIPTS, Script


def read_instructions(find: Callable[[str], Path], folder: str) -> dict[Script, str]:
    """The instruction of that folder in each language; ConfigError names the files that cannot be read."""
    problems: list[str] = []
    found: dict[Script, str] = {}
    for language in SCRIPTS:
        path = find(f"{folder}/{language}.txt")
        try:
            found[language] = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"prompts: {folder}/{path.name} cannot be read ({error})")
    if problems:
        raise ConfigError(tuple(problems))
    return found
