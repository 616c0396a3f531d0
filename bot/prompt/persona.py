"""Personas and their skills, read from files at start, and the stable prefixes made of them."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from pydantic import Field

from bot.core.errors import ConfigError
from bot.core.files import resource_dir
from bot.core.models import Message, ToolSpec
from bot.core.people import SCRIPTS, Chat, Script
from bot.core.sessions import BootstrapMode
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.prompt.stickers import NO_PACK, StickerPack
from bot.text.clean import as_data, clean
from bot.text.fold import script_of
from bot.text.length import clip

FOLDER = "skills"

SKILL_CHARS = 4_000
"""Characters of one skill that the model reads: it stays in the log of the talk, and is paid for with every turn."""

PURPOSE_CHARS = 120
"""Characters of what the list says of one skill: every full request brings them."""

NAME_CHARS = 64
"""Characters of a name that are shown back to the model."""

FULL = ("IDENTITY.md", "SOUL.md", "AGENTS.md", "TOOLS.md")
"""The full set, in the order it is sent. Small talk needs the first of them (seed 一般聊天 vs 主題／記憶, L7), and what
the persona is like."""

RULES = ("ai-system.txt", "full.txt", "group.txt", "light.txt")
"""What every persona is told: always, in a full log, in groups, and in small talk; each has twins (full.en.txt)."""

FIRST = "HEARTBEAT.md"
"""When nuan may write first; it would only cost tokens where it never does."""

PACED = "PACED.md"
"""How a reply is written that goes out as several messages; where it is, the persona wants that."""

IN_GROUPS = ("stop_listen",)
"""Tools that have nothing to do where somebody talks with nuan alone."""

USER = "USER.md"
"""What the owner of an installation wrote of themselves: for their own private chats alone, so it is in no prefix."""

NAME_MARK, LABELS_MARK = "{{BOT_NAME}}", "{{LABELS}}"

_NAME = re.compile(r"[\w-]{1,64}")

SKILL = "skill"
"""The tool that a persona without skills does not bring."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: `name` is its file's name without the ending, `purpose` its first line, `text` the whole file.

    `twins` are the same in other languages.
    """

    name: str
    purpose: str
    text: str
    twins: Mapping[Script, "Skill"] = field(default_factory=dict)

    def told_in(self, language: Script) -> "Skill":
        """The skill in that language, where it has one of its own."""
        return self.twins.get(language, self)


class SkillArguments(ToolArguments, tool="skill"):
    """What the model may ask."""

    name: str = Field(default="", max_length=200)


def read_skills(persona: Path) -> tuple[Skill, ...]:
    """The skills of a persona, by name, with their twins; none without a folder for them.

    ConfigError names every file that cannot be read or does not say in its first line what it is for.
    """
    problems: list[str] = []
    skills: list[Skill] = []
    try:
        files = sorted((persona / FOLDER).glob("*.md")) if (persona / FOLDER).is_dir() else []
    except OSError as error:
        raise ConfigError((f"persona: {FOLDER} cannot be read ({error})",)) from error
    for file in files:
        # Some file systems write the same name with other code points than the model will.
        name = unicodedata.normalize("NFC", file.stem)
        if not name.isprintable():
            problems.append(f"persona: {FOLDER}/{file.name!r} is no name that a model could write")
            continue
        try:
            text = clean(file.read_text("utf-8-sig")).strip()
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"persona: {FOLDER}/{file.name} cannot be read ({error})")
            continue
        purpose = text.partition("\n")[0].lstrip("#").strip()
        if not purpose:
            problems.append(f"persona: {FOLDER}/{file.name} must say in its first line what it is for")
            continue
        skills.append(Skill(name, clip(purpose, PURPOSE_CHARS), clip(text, SKILL_CHARS)))
    if problems:
        raise ConfigError(tuple(problems))
    return _with_twins({skill.name: skill for skill in skills})


def _with_twins(known: Mapping[str, Skill]) -> tuple[Skill, ...]:
    """Each skill with those of its name in other languages (comfort.en.md)."""
    named = {(name, language): f"{name}.{language}" for name in known for language in SCRIPTS}
    twins = {file: replace(known[file], name=name) for (name, _), file in named.items() if file in known}
    return tuple(
        replace(skill, twins={each: twins[named[name, each]] for each in SCRIPTS if named[name, each] in twins})
        for name, skill in known.items()
        if name not in twins
    )


def with_shared(own: tuple[Skill, ...], shared: tuple[Skill, ...]) -> tuple[Skill, ...]:
    """A persona's own skills, and those of all personas that are not named like one of them."""
    names = {skill.name for skill in own}
    return (*own, *(skill for skill in shared if skill.name not in names))


def skill_tool(spec: ToolSpec, texts: Callable[[ToolContext], Awaitable[Mapping[str, str]]]) -> Tool:
    """The tool skill(name) over the texts by name of whoever nuan is there: no name from the model becomes a path."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(SkillArguments, arguments)
        text = (await texts(context)).get(unicodedata.normalize("NFC", asked.name.strip()))
        if text is None:
            raise ToolRefused("skill_unknown", as_data(clip(asked.name, NAME_CHARS)))
        return ToolAnswer(text)

    return Tool(spec, run, reads=True)


ToolSpecs = Mapping[Script, Mapping[str, ToolSpec]]
"""What the model reads of tools, in each language by the names of their files, in the order in which they are sent."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """System message and tools, and the 16 hex digits that name them; `who` is the identity's first line, `soul` what the
    persona is like in its own words ("" where it says nothing)."""

    message: Message
    tools: tuple[ToolSpec, ...]
    signature: str
    who: str
    soul: str


@dataclass(frozen=True, slots=True)
class Persona:
    """What a persona brings: its folder, its skills, whether nuan writes first as it, and may pace what it says, and what
    it answers with besides words."""

    folder: Path
    skills: tuple[Skill, ...] = ()
    first: bool = False
    paced: bool = False
    pack: StickerPack = NO_PACK


@dataclass(frozen=True, slots=True)
class Bootstraps:
    """Both stable prefixes: the full one with all tools, and the light one without any, in each language, for groups
    and for talks alone, where some tools have nothing to do.

    Where a persona has no file in a language of its own they are the same in all. `paced` says that replies are scripts
    of several messages; only the full one tells the model how to write them. `pack` is what both offer besides words.
    """

    languages: Mapping[tuple[Script, bool], Mapping[BootstrapMode, Prefix]]
    paced: bool = False
    pack: StickerPack = NO_PACK

    @property
    def full(self) -> Prefix:
        """The full one of the files without a language in their name."""
        return self.of("full", SCRIPTS[0])

    @property
    def signatures(self) -> frozenset[str]:
        """Those of all its prefixes."""
        return frozenset(each.signature for prefixes in self.languages.values() for each in prefixes.values())

    def of(self, mode: BootstrapMode, language: Script, signature: str = "", *, alone: bool = False) -> Prefix:
        """The prefix of a log of that mode; a log that goes on, with that signature, keeps the language it has."""
        for (_, same), prefixes in self.languages.items():
            if same == alone and signature and any(prefix.signature == signature for prefix in prefixes.values()):
                return prefixes[mode]
        return self.languages[language, alone][mode]


def read_bootstraps(
    find: Callable[[str], Path], persona: Persona, name: str, tools: ToolSpecs, dialect: str
) -> Bootstraps:
    """Read the system text and the files of a persona; ConfigError names the one that is missing or unreadable."""
    folder = persona.folder
    wanted = (*FULL, *((FIRST,) if persona.first else ()), *((PACED,) if persona.paced else ()))
    files = [folder / file for file in wanted if (folder / file).exists()]
    if not any(file.name in FULL for file in files):
        raise ConfigError((f"persona: no persona files in {folder.name!r} (wanted {', '.join(FULL)})",))
    rules = {language: _rules(find, language) for language in SCRIPTS}

    def prefix(parts: Iterable[str], tools: tuple[ToolSpec, ...], who: str, soul: str) -> Prefix:
        text = "\n\n".join(part.strip() for part in parts if part.strip()).replace(NAME_MARK, name)
        message = Message("system", text)
        return Prefix(message, tools, signature(message, tools, dialect), who, soul.strip().replace(NAME_MARK, name))

    found: dict[tuple[Script, bool], Mapping[BootstrapMode, Prefix]] = {}
    for language in SCRIPTS:
        known = {file.name: _read(in_language(file, language)) for file in files}
        identity = known.pop(FULL[0], name).strip()
        soul = known.pop(FULL[1], "")
        who = _who(identity, name)
        # Rules in another language than the persona's own would draw the answers to theirs.
        own = script_of(f"{identity}\n{soul}".replace(NAME_MARK, ""), language)
        system, whole, group, small = rules[own]
        skills = tuple(skill.told_in(own) for skill in persona.skills)
        for alone in (False, True):
            brings = tuple(_tools(tools.get(own, {}), skills, alone=alone))
            # Both begin alike, for servers that keep a prompt of which only the beginning is the same.
            begins = (system, *(() if alone else (group,)), identity, soul, *_besides(find, own, persona.pack))
            found[language, alone] = {
                "full": prefix((*begins, whole, *known.values()), brings, who, soul),
                "light": prefix((*begins, small), (), who, soul),
            }
    return Bootstraps(found, folder / PACED in files, persona.pack)


def _besides(find: Callable[[str], Path], language: Script, pack: StickerPack) -> Iterator[str]:
    """What a persona may answer with besides words, where it may."""
    if pack.reactions:
        yield _read(_told(find, "reactions.txt", language))
    if pack.stickers:
        yield _read(_told(find, "stickers.txt", language)).replace(LABELS_MARK, pack.labels)


def _tools(specs: Mapping[str, ToolSpec], skills: tuple[Skill, ...], *, alone: bool) -> Iterator[ToolSpec]:
    """The tools of a log; the one that reads skills tells what each of these is for."""
    for name, spec in specs.items():
        if name == SKILL and skills:
            listed = "; ".join(f"{skill.name}: {skill.purpose}" for skill in skills)
            yield replace(spec, description=f"{spec.description} {listed}")
        elif name != SKILL and not (alone and name in IN_GROUPS):
            yield spec


def _rules(find: Callable[[str], Path], language: Script) -> tuple[str, ...]:
    """The texts of RULES in that language."""
    return tuple(_read(_told(find, file, language)) for file in RULES)


def _told(find: Callable[[str], Path], file: str, language: Script) -> Path:
    """The file of that name that is shipped for a language, or the operator's in its place."""
    return find(in_language(resource_dir("prompts") / file, language).name)


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
    """What a persona is about, to compare talk with: who it is, and what its skills are for.

    What it is like is left out: the words for that (friend, mood, joke) are in everybody's talk.
    """
    identity = persona.folder / FULL[0]
    told = [_read(identity).replace(NAME_MARK, "")] if identity.exists() else []
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


@dataclass(frozen=True, slots=True)
class Personas:
    """The prefixes of every persona by name; `default` holds wherever nobody chose another."""

    default: str
    known: Mapping[str, Bootstraps]

    def name(self, chosen: str) -> str:
        """The persona that holds where this one was chosen: one that is gone is not missed."""
        return chosen if chosen in self.known else self.default

    def of(self, chosen: str) -> Bootstraps:
        """Its prefixes."""
        return self.known[self.name(chosen)]

    def paced(self, chat: Chat) -> bool:
        """Whether replies there are scripts of several messages."""
        return self.of(chat.persona).paced

    def pack(self, chat: Chat) -> StickerPack:
        """What may be answered with there besides words."""
        return self.of(chat.persona).pack

    def near(self, name: str) -> str:
        """The one whose name is most like this, "" when none is."""
        lower = {known.lower(): known for known in self.known}
        found = get_close_matches(name.lower(), lower, n=1)
        return lower[found[0]] if found else ""


def persona_folders(*folders: Path) -> dict[str, Path]:
    """The folders in these that hold a persona, by name; of two of the same name the one in the first counts."""
    found: dict[str, Path] = {}
    for folder in folders:
        for each in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _NAME.fullmatch(each.name) and any((each / file).is_file() for file in FULL):
                found.setdefault(each.name, each)
    return found


def read_personas(
    find: Callable[[str], Path],
    personas: Mapping[str, Persona],
    default: str,
    name: str,
    tools: ToolSpecs,
    dialect: str,
) -> Personas:
    """Read all of them as a bot of that name; ConfigError names the first file that cannot be read."""
    known = {each: read_bootstraps(find, persona, name, tools, dialect) for each, persona in personas.items()}
    return Personas(default, known)
