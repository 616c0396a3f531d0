"""Warm boots as templates: one file a language, read and tried before it is used. What people wrote is never code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from markupsafe import Markup

from bot.errors import ConfigError
from bot.text.clean import as_data
from bot.text.script import SCRIPTS, Script
from bot.text.signs import marked
from bot.types.memory import Thing
from bot.types.opening import Line, SectionName

if TYPE_CHECKING:
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

Lines = Mapping[SectionName, tuple[Line, ...]]

NAMES: tuple[SectionName, ...] = ("who", "about", "ahead", "moods", "events", "talks")

FORMER = {"knowledge": "about", "tasks": "ahead"}
"""What older templates call two of them."""

MARK_OPEN, MARK_CLOSE = "\ue000", "\ue001"
"""Around the number of a line while it is measured what it takes; people's text never holds them."""

_UNMARKED = dict.fromkeys((ord(MARK_OPEN), ord(MARK_CLOSE)))

LONGEST = 20_000
"""Characters of a trial: a template that makes more of eight lines is none."""

SHOWN = ("id", "sign", "who", "text", "tag", "value", "when", "day", "due", "over")
"""What a template may say of a line."""

SAMPLE = Line('喜欢{{ 7*7 }} <茶> & "x"', 12, "小王", "开心", 0.6, "昨天", "明天", when="6月15日周一，明天")
"""What a template is tried with."""


class TemplateFailed(Exception):
    """A template could not be rendered; the text says where (`line` 0: nowhere in it) and why."""

    def __init__(self, name: str, line: int, reason: str) -> None:
        super().__init__(f"{name} line {line}: {reason}" if line else f"{name}: {reason}")
        self.name = name
        self.line = line


@dataclass(frozen=True, slots=True)
class BootTemplate:
    """A template that can be rendered; `name` is that of its file."""

    name: str
    _template: "jinja2.Template"

    def begin(self, name: str, since: str) -> Callable[[Lines, bool], str]:
        """What renders lines; where it is told to, each line's own text begins with its number over all sections.

        It raises TemplateFailed whatever is wrong: the template may be an operator's. What it was given it keeps, as it
        is called several times with the same lines: let it go with the opening.
        """
        known: dict[str, Markup] = {}

        def plain(text: str) -> Markup:
            found = known.get(text)
            if found is None:
                found = known[text] = Markup(as_data(text.translate(_UNMARKED)))  # noqa: S704 - as_data escapes
            return found

        def render(lines: Lines, marked: bool) -> str:
            count = 0
            values: dict[str, list[Shown]] = {section: [] for section in NAMES}
            values |= {old: values[new] for old, new in FORMER.items()}
            for section in NAMES:
                for line in lines.get(section, ()):
                    mark = f"{MARK_OPEN}{count}{MARK_CLOSE}" if marked else ""
                    values[section].append(Shown(line, plain, mark))
                    count += 1
            try:
                text: str = self._template.render(name=plain(name), since=plain(since), **values)
            except Exception as error:
                raise TemplateFailed(self.name, _line_of(error.__traceback__), _reason(error)) from error
            return str(text).strip("\n")

        return render


class Shown:
    """A line as templates see it: all texts escaped for a prompt."""

    __slots__ = SHOWN

    def __init__(self, line: Line, plain: Callable[[str], Markup], mark: str) -> None:
        self.id, self.value, self.over = line.id, line.value, line.over
        self.who, self.tag, self.day, self.due = plain(line.who), plain(line.tag), plain(line.day), plain(line.due)
        self.when, self.sign = plain(line.when), sign(line)
        text = plain(line.text)
        self.text = Markup(mark + text) if mark else text  # noqa: S704 - digits between private signs


def sign(line: Line) -> str:
    """The numbers by which tools and people name what lies ahead: of its promise and reminder, else of its memory."""
    things: tuple[tuple[Thing, int], ...] = (("promise", line.commitment), ("reminder", line.reminder))
    memory = line.id if any(number for _, number in things) else line.memory
    return " ".join(marked(thing, number) for thing, number in (("memory", memory), *things) if number)


def read_templates(find: Callable[[str], Path], persona: Path) -> dict[Script, BootTemplate]:
    """The template of each language: the persona's own (warmboot.zh-Hans.md.j2), else that of the prompts.

    ConfigError names every one that cannot be read, or that does not work with sample facts.
    """
    problems: list[str] = []
    found: dict[Script, BootTemplate] = {}
    for language in SCRIPTS:
        own = persona / f"warmboot.{language}.md.j2"
        path = own if own.exists() else find(f"warmboot/{language}.md.j2")
        name = f"persona: {own.name}" if own.exists() else f"prompts: warmboot/{path.name}"
        try:
            found[language] = _compiled(path.read_text("utf-8-sig"), name)
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"{name} cannot be read ({error})")
        except TemplateFailed as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(tuple(problems))
    return found


def shipped_templates(find: Callable[[str], Path]) -> dict[Script, BootTemplate]:
    """Those that came with nuan, for when an operator's fails on what the trial did not show."""
    return {
        language: _compiled(find(f"warmboot/{language}.md.j2").read_text("utf-8"), f"warmboot/{language}.md.j2")
        for language in SCRIPTS
    }


@lru_cache(maxsize=32)
def _compiled(source: str, name: str) -> BootTemplate:
    """Compile and try; the same text is compiled once. TemplateFailed says what is wrong."""
    from jinja2 import TemplateSyntaxError

    try:
        made = BootTemplate(name, _environment().from_string(source))
    except TemplateSyntaxError as error:
        raise TemplateFailed(name, error.lineno, str(error.message)) from error
    except Exception as error:
        raise TemplateFailed(name, 0, _reason(error)) from error
    bare = replace(SAMPLE, id=0, who="", tag="", day="", due="", when="")
    for since in ("", "隔了三天"):
        full = {section: (SAMPLE, replace(SAMPLE, over=True), bare) for section in NAMES}
        for lines in ({}, full, *({section: full[section]} for section in NAMES)):
            if len(made.begin("小暖", since)(lines, False)) > LONGEST:
                raise TemplateFailed(name, 0, f"makes more than {LONGEST} characters of eighteen short lines")
    return made


@cache
def _environment() -> "SandboxedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    class Sandbox(SandboxedEnvironment):
        """A sandbox that does not look long at what it looks at most."""

        def getattr(self, obj: object, attribute: str) -> object:
            if type(obj) is Shown and attribute in SHOWN:
                return getattr(obj, attribute)
            return super().getattr(obj, attribute)

    # What people wrote comes in escaped for prompts already; all else that is no text of the template is escaped too.
    return Sandbox(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _line_of(trace: TracebackType | None) -> int:
    """The line of the template in which it went wrong."""
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
