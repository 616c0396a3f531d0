"""The same thing is told once: an open task is not told as an event, too, nor a fact in two sections. Pure."""

from bot.text.fold import fold
from bot.types.opening import Line, Section

ORDER = ("tasks", "knowledge", "who", "events", "moods")
"""Whoever tells it first keeps it; summaries of talks are told whatever is in them."""

SHORTEST = 3
"""Characters from which a task that is a part of another's words is the same task."""


def once(found: tuple[Section, ...]) -> tuple[Section, ...]:
    """The sections without lines that another tells in the same words of the same person."""
    known: set[tuple[str, str]] = set()
    left: dict[str, tuple[Line, ...]] = {}
    for section in sorted(found, key=lambda section: ORDER.index(section.name) if section.name in ORDER else 99):
        kept: list[Line] = []
        for line in section.lines:
            mark = line.who, _plain(line.text)
            if section.name != "talks" and (mark in known or (section.name == "tasks" and _part(mark, known))):
                continue
            known.add(mark)
            kept.append(line)
        left[section.name] = tuple(kept)
    return tuple(Section(section.name, section.share, left[section.name]) for section in found if left[section.name])


def _part(mark: tuple[str, str], known: set[tuple[str, str]]) -> bool:
    who, text = mark
    return any(
        other == who and min(len(text), len(said)) >= SHORTEST and (text in said or said in text)
        for other, said in known
    )


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text)))
