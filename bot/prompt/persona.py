"""The stable prefix: system text and persona files, read from disk. It holds nothing about a person or a time."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import ConfigError
from bot.prompt.skills import Skill, skill_list
from bot.text.script import SCRIPTS, Script
from bot.types.prompt import Message, ToolSpec
from bot.types.session import Mode

FULL = ("IDENTITY.md", "SOUL.md", "AGENTS.md", "TOOLS.md")
"""The full set, in the order it is sent. Small talk needs the first of them (seed 一般聊天 vs 主題／記憶, L7), and what
the persona is like."""

FIRST = "HEARTBEAT.md"
"""When nuan may write first; it would only cost tokens where she never does."""

PACED = "PACED.md"
"""How a reply is written that goes out as several messages; where it is, the persona wants that."""

IN_GROUPS = ("stop_listen",)
"""Tools that have nothing to do where somebody talks with nuan alone."""

USER = "USER.md"
"""What the owner of a house wrote of themselves: for their own private chats alone, so it is in no prefix."""

NAME_MARK = "{{BOT_NAME}}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """System message and tools, and the 16 hex digits that name them; `who` is the identity's first line."""

    message: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    who: str


@dataclass(frozen=True, slots=True)
class Persona:
    """What a persona brings: its folder, its skills, whether nuan writes first as it, and may pace what it says."""

    folder: Path
    skills: tuple[Skill, ...] = ()
    first: bool = False
    paced: bool = False


@dataclass(frozen=True, slots=True)
class Bootstraps:
    """Both stable prefixes: the full one with all tools, and the light one without any, in each language, for groups
    and for talks alone, where some tools have nothing to do.

    Where a persona has no file in a language of its own they are the same in all. `paced` says that replies are scripts
    of several messages; only the full one tells the model how to write them. `soul` is what the persona is like in its
    own words, "" where it says nothing.
    """

    languages: Mapping[tuple[Script, bool], Mapping[Mode, Prefix]]
    paced: bool = False
    soul: str = ""

    @property
    def full(self) -> Prefix:
        """The full one of the files without a language in their name."""
        return self.of("full", SCRIPTS[0])

    def of(self, mode: Mode, language: Script, signature: str = "", *, alone: bool = False) -> Prefix:
        """The prefix of a log of that mode; a log that goes on, with that signature, keeps the language it has."""
        for (_, same), prefixes in self.languages.items():
            if same == alone and signature and any(prefix.signature == signature for prefix in prefixes.values()):
                return prefixes[mode]
        return self.languages[language, alone][mode]


def read_bootstraps(
    find: Callable[[str], Path], persona: Persona, name: str, tools: tuple[ToolSpec, ...], dialect: str
) -> Bootstraps:  # fmt: skip
    """Read the system text and the files of a persona; ConfigError names the one that is missing or unreadable."""
    folder = persona.folder
    wanted = (*FULL, *((FIRST,) if persona.first else ()), *((PACED,) if persona.paced else ()))
    files = [folder / file for file in wanted if (folder / file).exists()]
    if not any(file.name in FULL for file in files):
        raise ConfigError((f"persona: no persona files in {folder.name!r} (wanted {', '.join(FULL)})",))
    system, rule = _read(find("ai-system.txt")), _read(find("light.txt"))
    skills = skill_list(persona.skills, _read(find("skills.txt")))

    def prefix(parts: Iterable[str], tools: tuple[ToolSpec, ...], who: str) -> Prefix:
        text = "\n\n".join(part.strip() for part in parts if part.strip()).replace(NAME_MARK, name)
        message = Message("system", text)
        return Prefix(message, tools, signature(message, tools, dialect), who)

    found: dict[tuple[Script, bool], Mapping[Mode, Prefix]] = {}
    for language in SCRIPTS:
        known = {file.name: _read(in_language(file, language)) for file in files}
        identity = known.get(FULL[0], name).strip()
        who = _who(identity, name)
        for alone in (False, True):
            brings = tuple(tool for tool in tools if not (alone and tool.name in IN_GROUPS))
            found[language, alone] = {
                "full": prefix((system, *known.values(), skills), brings, who),
                "light": prefix((system, identity, known.get(FULL[1], ""), rule), (), who),
            }
    soul = _read(folder / FULL[1]).strip() if (folder / FULL[1]) in files else ""
    return Bootstraps(found, folder / PACED in files, soul.replace(NAME_MARK, name))


def read_who(persona: Persona, name: str) -> dict[Script, str]:
    """The first line of a persona's identity in each language; its name where it has none."""
    found: dict[Script, str] = {}
    for language in SCRIPTS:
        path = in_language(persona.folder / FULL[0], language)
        found[language] = _who(_read(path).strip() if path.exists() else "", name)
    return found


def in_language(path: Path, language: Script) -> Path:
    """The file of that language beside this one, IDENTITY.en.md, if there is one; else this one."""
    own = path.with_suffix(f".{language}{path.suffix}")
    return own if own.exists() else path


def read_user(persona: Persona) -> str:
    """What the owner wrote of themselves for a persona; "" where they wrote nothing."""
    path = persona.folder / USER
    return _read(path).strip() if path.exists() else ""


def _who(identity: str, name: str) -> str:
    return identity.splitlines()[0].replace(NAME_MARK, name) if identity else name


def persona_words(persona: Persona) -> str:
    """What a persona is about, to compare talk with: who it is, and what its skills are for."""
    files = (persona.folder / name for name in FULL[:2])
    told = [_read(file).replace(NAME_MARK, "") for file in files if file.exists()]
    return "\n".join((*told, *(f"{skill.name} {skill.purpose}" for skill in persona.skills)))


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
