"""The skills of a persona: a Markdown file each, listed by name, read whole by a tool. Files are read at start only."""

import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from bot.errors import ConfigError
from bot.text.clean import as_data, clean
from bot.text.clip import clip
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments

FOLDER = "skills"

SKILL_CHARS = 4_000
"""Characters of one skill that the model reads: it stays in the log of the talk, and is paid for with every turn."""

PURPOSE_CHARS = 120
"""Characters of what the list says of one skill: every full request brings them."""

NAME_CHARS = 64
"""Characters of a name that are shown back to the model."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill: `name` is its file's name without the ending, `purpose` its first line, `text` the whole file."""

    name: str
    purpose: str
    text: str


class SkillArguments(BaseModel):
    """What the model may ask."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(max_length=200)


def read_skills(persona: Path) -> tuple[Skill, ...]:
    """The skills of a persona, by name; none without a folder for them.

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
    return tuple(skills)


def skill_list(skills: tuple[Skill, ...], heading: str) -> str:
    """What the full prefix says of them: one line each; "" when there are none."""
    return "\n".join((heading.strip(), *(f"- {skill.name}: {skill.purpose}" for skill in skills))) if skills else ""


def skill_tool(spec: ToolSpec, texts: Callable[[ToolContext], Awaitable[Mapping[str, str]]]) -> Tool:
    """The tool skill(name) over the texts by name of whoever nuan is there: no name from the model becomes a path."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(SkillArguments, arguments)
        text = (await texts(context)).get(unicodedata.normalize("NFC", asked.name.strip()))
        if text is None:
            raise ToolRefused("skill_unknown", as_data(clip(asked.name, NAME_CHARS)))
        return ToolAnswer(text)

    return Tool(spec, run, reads=True)
