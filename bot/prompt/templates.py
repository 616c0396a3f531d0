"""Templates that render a warm boot, tried before use, and the choice of lines that fit a number of tokens."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from markupsafe import Markup

from bot.core.errors import ConfigError
from bot.core.files import resource_dir
from bot.core.memories import NumberedThing
from bot.core.people import SCRIPTS, Script
from bot.prompt.opening_facts import PRESSING, OpeningLine, OpeningSection, OpeningSectionName
from bot.prompt.persona import Persona, read_user, read_who
from bot.text.clean import as_data
from bot.text.codes import number_mark

if TYPE_CHECKING:
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment


SectionLines = Mapping[OpeningSectionName, tuple[OpeningLine, ...]]

SECTION_NAMES: tuple[OpeningSectionName, ...] = ("who", "about", "ahead", "moods", "events", "talks")

FORMER_NAMES = {"knowledge": "about", "tasks": "ahead"}
"""What older templates call two of them."""

MARK_OPEN, MARK_CLOSE = "\ue000", "\ue001"
"""Around the number of a line while it is measured what it takes; people's text never holds them."""

_UNMARKED = dict.fromkeys((ord(MARK_OPEN), ord(MARK_CLOSE)))

LONGEST_TRIAL = 20_000
"""Characters of a trial: a template that makes more of eight lines is none."""

LINE_FIELDS = ("id", "sign", "who", "text", "tag", "value", "when", "day", "due", "over")
"""What a template may say of a line."""

SAMPLE = OpeningLine('喜欢{{ 7*7 }} <茶> & "x"', 12, "小王", "开心", 0.6, "昨天", "明天", when="6月15日周一，明天")
"""What a template is tried with."""

RenderLines = Callable[[SectionLines, bool], str]
"""The text of these lines, with the number of each before its own text where that is asked for."""

LEAST = 0.36
"""Tokens for a byte past the first of a character: a Chinese one of three bytes is .73 (o200k)."""

_MARK = re.compile(f"{MARK_OPEN}([0-9]+){MARK_CLOSE}")


class TemplateFailed(Exception):
    """A template could not be rendered; the text says where (`line` 0: nowhere in it) and why."""

    def __init__(self, name: str, line: int, reason: str) -> None:
        super().__init__(f"{name} line {line}: {reason}" if line else f"{name}: {reason}")
        self.name = name
        self.line = line


@dataclass(frozen=True, slots=True)
class BootTemplate:
    """A template that can be rendered; `name` is that of its file. It is compiled at its first use."""

    name: str
    source: str

    def begin(self, name: str, since: str) -> Callable[[SectionLines, bool], str]:
        """What renders lines; where it is told to, each line's own text begins with its number over all sections.

        It raises TemplateFailed whatever is wrong: the template may be an operator's. What it was given it keeps, as it
        is called several times with the same lines: let it go with the opening.
        """
        template, known = _compiled(self.source, self.name), dict[str, Markup]()

        def plain(text: str) -> Markup:
            found = known.get(text)
            if found is None:
                found = known[text] = Markup(as_data(text.translate(_UNMARKED)))  # noqa: S704 - as_data escapes
            return found

        def render(lines: SectionLines, marked: bool) -> str:
            count = 0
            values: dict[str, list[TemplateLine]] = {section: [] for section in SECTION_NAMES}
            values |= {old: values[new] for old, new in FORMER_NAMES.items()}
            for section in SECTION_NAMES:
                for line in lines.get(section, ()):
                    mark = f"{MARK_OPEN}{count}{MARK_CLOSE}" if marked else ""
                    values[section].append(TemplateLine(line, plain, mark))
                    count += 1
            try:
                text: str = template.render(name=plain(name), since=plain(since), **values)
            except Exception as error:
                raise TemplateFailed(self.name, _line_of(error.__traceback__), _reason(error)) from error
            return str(text).strip("\n")

        return render

    def try_out(self) -> None:
        """Render sample lines; TemplateFailed says what is wrong."""
        bare = replace(SAMPLE, id=0, who="", tag="", day="", due="", when="")
        full = {section: (SAMPLE, replace(SAMPLE, over=True), bare) for section in SECTION_NAMES}
        for since in ("", "隔了三天"):
            for lines in ({}, full, *({section: full[section]} for section in SECTION_NAMES)):
                if len(self.begin("小暖", since)(lines, False)) > LONGEST_TRIAL:
                    too_long = f"makes more than {LONGEST_TRIAL} characters of eighteen short lines"
                    raise TemplateFailed(self.name, 0, too_long)


class TemplateLine:
    """A line as templates see it: all texts escaped for a prompt."""

    __slots__ = LINE_FIELDS

    def __init__(self, line: OpeningLine, plain: Callable[[str], Markup], mark: str) -> None:
        self.id, self.value, self.over = line.id, line.value, line.over
        self.who, self.tag, self.day, self.due = plain(line.who), plain(line.tag), plain(line.day), plain(line.due)
        self.when, self.sign = plain(line.when), thing_numbers(line)
        text = plain(line.text)
        self.text = Markup(mark + text) if mark else text  # noqa: S704 - digits between private signs


def thing_numbers(line: OpeningLine) -> str:
    """The numbers by which tools and people name what lies ahead: of its promise and reminder, else of its memory."""
    things: tuple[tuple[NumberedThing, int], ...] = (("promise", line.commitment), ("reminder", line.reminder))
    memory = line.id if any(number for _, number in things) else line.memory
    return " ".join(number_mark(thing, number) for thing, number in (("memory", memory), *things) if number)


def read_templates(find: Callable[[str], Path], persona: Path) -> dict[Script, BootTemplate]:
    """The template of each language: the persona's own (warmboot.zh-Hans.md.j2), else that of the prompts.

    ConfigError names every one that cannot be read, or an operator's that does not work with sample facts.
    """
    problems: list[str] = []
    found: dict[Script, BootTemplate] = {}
    for language in SCRIPTS:
        own = persona / f"warmboot.{language}.md.j2"
        path = own if own.exists() else find(f"warmboot/{language}.md.j2")
        name = f"persona: {own.name}" if own.exists() else f"prompts: warmboot/{path.name}"
        try:
            found[language] = BootTemplate(name, path.read_text("utf-8-sig"))
            if not path.is_relative_to(resource_dir("prompts")):
                found[language].try_out()
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
        language: BootTemplate(f"warmboot/{language}.md.j2", find(f"warmboot/{language}.md.j2").read_text("utf-8"))
        for language in SCRIPTS
    }


@dataclass(frozen=True, slots=True)
class PersonaOpening:
    """How a persona wakes up: by which templates, as whom (the first line of its identity), and what its owner wrote
    of themselves for it."""

    templates: Mapping[Script, BootTemplate]
    who: Mapping[Script, str]
    user: str = ""


def read_opening(find: Callable[[str], Path], persona: Persona, name: str) -> PersonaOpening:
    """How a persona wakes up as a bot of that name; ConfigError for a file that cannot be used."""
    return PersonaOpening(read_templates(find, persona.folder), read_who(persona, name), read_user(persona))


@lru_cache(maxsize=32)
def _compiled(source: str, name: str) -> "jinja2.Template":
    """The same text is compiled once; TemplateFailed says what is wrong."""
    from jinja2 import TemplateSyntaxError

    try:
        return _environment().from_string(source)
    except TemplateSyntaxError as error:
        raise TemplateFailed(name, error.lineno, str(error.message)) from error
    except Exception as error:
        raise TemplateFailed(name, 0, _reason(error)) from error


@cache
def _environment() -> "SandboxedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    class Sandbox(SandboxedEnvironment):
        """A sandbox that does not look long at what it looks at most."""

        def getattr(self, obj: object, attribute: str) -> object:
            if type(obj) is TemplateLine and attribute in LINE_FIELDS:
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


@dataclass(frozen=True, slots=True)
class Fitted:
    """What there was room for, and its text."""

    sections: tuple[OpeningSection, ...]
    text: str


def fit_sections(
    found: tuple[OpeningSection, ...], render: RenderLines, limit: int, cost: Callable[[str], int]
) -> Fitted | None:
    """The sections with as many of their lines as make a text of at most `limit` tokens; None for no line.

    Lines are told whole or not at all. Each section first takes lines up to its share, the weightiest first, and one
    line even where that is more; what is left goes to the largest share first: what was told to be kept, then what
    comes soon, then the rest.
    """
    found = tuple(_possible(section, limit) for section in found)
    while found:
        fixed, prices = _prices(found, render, cost)
        chosen = _chosen(found, limit - fixed, limit, prices)
        kept = _of(found, chosen)
        if len(kept) == len(found):
            return _held(found, chosen, render, limit, cost)
        # Without the headings of those that got no line there is more room for the others.
        least = min(found, key=lambda section: section.share)
        told = {section.name for section in kept} or {each.name for each in found if each is not least}
        found = tuple(section for section in found if section.name in told)
    return None


def _possible(section: OpeningSection, limit: int) -> OpeningSection:
    """The section without the lines that have no room even if it had all of it: they need not be measured."""
    ranked = sorted(range(len(section.lines)), key=lambda each: -section.lines[each].weight)
    total, count = 0.0, 0
    while count < len(ranked) and (not count or total <= limit):
        total += _least(section.lines[ranked[count]].text)
        count += 1
    if count == len(ranked):
        return section
    kept = set(ranked[:count])
    return replace(section, lines=tuple(line for each, line in enumerate(section.lines) if each in kept))


def _least(text: str) -> float:
    """Tokens that a text takes at least, counted cheaply: more than this is sure."""
    return 1 + (len(text.encode("utf-8", "replace")) - len(text)) * LEAST


def _chosen(found: tuple[OpeningSection, ...], left: int, limit: int, prices: Sequence[int]) -> list[int]:
    """The numbers of the lines that there is room for, in the order in which they took it; `left` is for lines."""
    weights = [line.weight for section in found for line in section.lines]
    ranked: dict[str, list[int]] = {}
    number = 0
    for section in found:
        ranked[section.name] = sorted(range(number, number + len(section.lines)), key=lambda each: -weights[each])
        number += len(section.lines)
    chosen: dict[int, None] = {}
    for shared, lightest in ((True, 0.0), (False, PRESSING), (False, 0.0)):
        for section in sorted(found, key=lambda section: -section.share):
            least = min(prices[each] for each in ranked[section.name])
            room = min(left, max(int(limit * section.share), least)) if shared else left
            floor = 0
            for each in ranked[section.name]:
                if each in chosen or weights[each] < max(floor, lightest):
                    continue
                if prices[each] > room:
                    floor = max(floor, int(weights[each]))  # nothing of less weight takes its room
                else:
                    room -= prices[each]
                    left -= prices[each]
                    chosen[each] = None
    return list(chosen)


def _prices(
    found: tuple[OpeningSection, ...], render: RenderLines, cost: Callable[[str], int]
) -> tuple[int, list[int]]:
    """What the text takes without any line, its headings with it, and what each line takes."""
    prices = [0] * sum(len(section.lines) for section in found)
    fixed = 0
    for row in render(_lines(found), True).split("\n"):
        head, *rest = _MARK.split(row)
        if not rest:
            fixed += cost("\n" + head)
            continue
        begun = "\n" + head
        for number, text in zip(rest[::2], rest[1::2], strict=True):
            prices[int(number)] += cost(begun + text)
            begun = ""
    return fixed, prices


def _held(
    found: tuple[OpeningSection, ...],
    chosen: Sequence[int],
    render: RenderLines,
    limit: int,
    cost: Callable[[str], int],
) -> Fitted | None:
    """What was chosen, or less of it where a template shows more than it was measured by."""
    for count in range(len(chosen), 0, -1):
        kept = _of(found, chosen[:count])
        text = render(_lines(kept), False)
        if cost(text) <= limit:
            return Fitted(kept, text)
    return None


def _of(found: tuple[OpeningSection, ...], numbers: Sequence[int]) -> tuple[OpeningSection, ...]:
    wanted, number = set(numbers), 0
    kept: list[OpeningSection] = []
    for section in found:
        lines: list[OpeningLine] = []
        for line in section.lines:
            if number in wanted:
                lines.append(line)
            number += 1
        if lines:
            kept.append(replace(section, lines=tuple(lines)))
    return tuple(kept)


def _lines(found: tuple[OpeningSection, ...]) -> SectionLines:
    return {section.name: section.lines for section in found}
