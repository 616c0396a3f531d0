"""A warm boot within a number of tokens: what each line takes is measured as the template shows it. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.prompt.template import MARK_CLOSE, MARK_OPEN, Lines
from bot.types.opening import Line, Section

Render = Callable[[Lines, bool], str]
"""The text of these lines, with the number of each before its own text where that is asked for."""

LEAST = 0.36
"""Tokens for a byte past the first of a character: a Chinese one of three bytes is .73 (o200k)."""

_MARK = re.compile(f"{MARK_OPEN}([0-9]+){MARK_CLOSE}")


@dataclass(frozen=True, slots=True)
class Fitted:
    """What there was room for, and its text."""

    sections: tuple[Section, ...]
    text: str


def fit(found: tuple[Section, ...], render: Render, limit: int, cost: Callable[[str], int]) -> Fitted | None:
    """The sections with as many of their lines as make a text of at most `limit` tokens; None for no line.

    Lines are told whole or not at all. Each section first takes lines up to its share, the weightiest first, and one
    line even where that is more; what is left goes to the largest share first: what was told to be kept.
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


def _possible(section: Section, limit: int) -> Section:
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


def _chosen(found: tuple[Section, ...], left: int, limit: int, prices: Sequence[int]) -> list[int]:
    """The numbers of the lines that there is room for, in the order in which they took it; `left` is for lines."""
    weights = [line.weight for section in found for line in section.lines]
    ranked: dict[str, list[int]] = {}
    number = 0
    for section in found:
        ranked[section.name] = sorted(range(number, number + len(section.lines)), key=lambda each: -weights[each])
        number += len(section.lines)
    chosen: dict[int, None] = {}
    for shared in (True, False):
        for section in sorted(found, key=lambda section: -section.share):
            least = min(prices[each] for each in ranked[section.name])
            room = min(left, max(int(limit * section.share), least)) if shared else left
            floor = 0
            for each in ranked[section.name]:
                if each in chosen or int(weights[each]) < floor:
                    continue
                if prices[each] > room:
                    floor = max(floor, int(weights[each]))  # nothing of less weight takes its room
                else:
                    room -= prices[each]
                    left -= prices[each]
                    chosen[each] = None
    return list(chosen)


def _prices(found: tuple[Section, ...], render: Render, cost: Callable[[str], int]) -> tuple[int, list[int]]:
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
    found: tuple[Section, ...], chosen: Sequence[int], render: Render, limit: int, cost: Callable[[str], int]
) -> Fitted | None:
    """What was chosen, or less of it where a template shows more than it was measured by."""
    for count in range(len(chosen), 0, -1):
        kept = _of(found, chosen[:count])
        text = render(_lines(kept), False)
        if cost(text) <= limit:
            return Fitted(kept, text)
    return None


def _of(found: tuple[Section, ...], numbers: Sequence[int]) -> tuple[Section, ...]:
    wanted, number = set(numbers), 0
    kept: list[Section] = []
    for section in found:
        lines: list[Line] = []
        for line in section.lines:
            if number in wanted:
                lines.append(line)
            number += 1
        if lines:
            kept.append(replace(section, lines=tuple(lines)))
    return tuple(kept)


def _lines(found: tuple[Section, ...]) -> Lines:
    return {section.name: section.lines for section in found}
