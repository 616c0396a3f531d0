"""The stable prefix: system text and persona files, read from disk. It holds nothing about a person or a time."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from bot.errors import ConfigError
from bot.types.prompt import Message, ToolSpec

BOOTSTRAP = ("IDENTITY.md", "SOUL.md", "AGENTS.md")
"""The full set, in the order it is sent."""

NAME_MARK = "{{BOT_NAME}}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """System message and tools, and the 16 hex digits that name them; `who` is the identity's first line."""

    message: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    who: str


def read_prefix(system: Path, persona: Path, name: str, tools: tuple[ToolSpec, ...], dialect: str) -> Prefix:
    """Read the files of a persona; ConfigError names the one that is missing or unreadable."""
    parts = [_read(system)]
    files = [persona / file for file in BOOTSTRAP if (persona / file).exists()]
    if not files:
        raise ConfigError((f"persona: no persona files in {persona.name!r} (wanted {', '.join(BOOTSTRAP)})",))
    parts += [_read(file) for file in files]
    text = "\n\n".join(part.strip() for part in parts).replace(NAME_MARK, name)
    message = Message("system", text)
    who = _read(files[0]).strip().splitlines()[0].replace(NAME_MARK, name) if files[0].name == BOOTSTRAP[0] else name
    return Prefix(message, tools, signature(message, tools, dialect), who)


def signature(message: Message, tools: tuple[ToolSpec, ...], dialect: str) -> str:
    """sha256[:16] over the canonical prefix (seed AI Chat Pipeline, stablePrefix.sig)."""
    body = {"v": 1, "dialect": dialect, "messages": [message.wire()], "tools": [tool.wire() for tool in tools]}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError((f"prompts: {path.name} cannot be read ({error})",)) from error
