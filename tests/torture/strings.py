"""Hostile names, titles, bodies, file names and results of tools in all that a model reads, and in the log."""

import io
import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError, fromstring

from tests.torture.row import Found, Size
from tests.torture.words import hostile_text, longer, tags

if TYPE_CHECKING:
    from bot.core.ports import Log
    from tests.world import World

Strings = tuple[str, str, str, str, str]
"""A name, a title, a body, the name of a file, the result of a tool."""

PLAIN: Strings = ("阿明", "家", "早上好", "a.txt", "阿明喜欢爬山")
ROOM = 1_000_000
MOVING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""What would end a line, or move or turn something on a terminal."""


async def told(folder: Path, size: Size) -> Found:
    """Any five strings wherever they enter a request: the elements and lines are those of ordinary ones."""
    from tests.test_text_clean import test_any_text_comes_back_from_xml_as_it_was_cleaned as round_trip
    from tests.world import World

    longer(round_trip, size)
    chance, ill, extra, changed, opened, lines = Random(size.seed), 0, 0, 0, 0, 0
    world = await World(folder / "data").open()
    await world.say("早")
    shape, plain = elements(context(PLAIN)), [*around(PLAIN), await result(world, PLAIN)]
    for _ in range(size.units):
        name, title, body, file, found = (hostile_text(chance) for _ in PLAIN)
        strings = (name or "a", title, body or "x", file, found)
        made = context(strings)
        try:
            changed += body_of(made) != said(strings)
            extra += elements(made) != shape
        except ParseError:
            ill += 1
        for text, wanted in zip([*around(strings), await result(world, strings)], plain, strict=True):
            opened += tags(text) != tags(wanted)
            lines += text.count("\n") != wanted.count("\n")
    await world.close()
    return Found(
        {
            "texts": size.units,
            "strings": size.units * len(PLAIN),
            "ill-formed": ill,
            "extra elements": extra,
            "changed": changed,
            "tags": opened,
            "lines": lines,
        }
    )


def context(strings: Strings) -> str:
    """One <ctx> with all of them: who speaks, is quoted, renames, what the place is called, what was sent along."""
    from bot.core.events import Event
    from bot.store.events import attachment_mark
    from bot.text.clean import clean_file
    from tests.test_context_xml import NOW, event, turn

    name, title, body, file, found = strings
    marks = attachment_mark(2, 0, "file", clean_file(f"甲{file}"), "new", "")
    return turn(
        event(1, f"甲{found}", "event", "", "scene", 60),
        Event(2, 1, NOW - 50_000, "message", 1, name, "早", quote=f"甲{body}", marks=marks),
        event(3, f"甲{title}", "event", name, "title", 40),
        event(4, f"甲{name}", "event", name, "rename", 30),
        event(5, f"甲{found}", "tool", "", "", 20),
        event(6, body, name=name),
        answering=(2, 6),
    ).text


def elements(made: str) -> list[tuple[str, list[str]]]:
    """Its elements with their attributes, in order; ParseError."""
    return [(one.tag, sorted(one.attrib)) for one in fromstring(made).iter()]


def body_of(made: str) -> str:
    """What the last line says."""
    return list(fromstring(made).iter("p"))[-1].text or ""


def said(strings: Strings) -> str:
    """What it should say."""
    from bot.text.clean import clean

    return clean(strings[2])


def around(strings: Strings) -> list[str]:
    """The opening of a group and of a private chat, and what a digest is made from."""
    from bot.core.people import Chat, Person
    from bot.memory.transcript import DigestLine, numbered_lines
    from bot.text.clean import clean_file, clean_name
    from tests import waking

    name, title, body, file, found = strings
    names = [clean_name(name), clean_name(f"乙{name}")]
    memories = [
        waking.memory(number, f"{number}{text}"[:60], asked=True, owner=number)
        for number, text in ((1, body), (2, found))
    ]
    known = replace(
        waking.facts(*memories),
        present=tuple(Person(number, each) for number, each in enumerate(names, 1)),
        names=dict(enumerate(names, 1)),
    )
    group = replace(known, chat=Chat(1, "telegram", "1", "group", title=clean_name(title)))
    line = DigestLine(1, 1, 1, name, f"甲{body}", 1, False, f"[file #1 {clean_file(file)}]")
    return [
        waking.opened(group, limit=5_000).text,
        waking.opened(known, limit=5_000).text,
        numbered_lines((line, line), 48, 100, 3_200),
    ]


async def result(world: "World", strings: Strings) -> str:
    """What memory_recall says of them."""
    from bot.core.people import Audience
    from bot.core.recall import SearchHit
    from bot.core.tools import ToolContext
    from bot.pipeline.findings import findings_text

    name, title, body, file, found = strings
    context = ToolContext(Audience(1, "dm", (1,)), 1, 1, (), "zh-Hans", world.clock.now())
    return await findings_text(
        world.store,
        world.parts.current.words,
        context,
        (
            SearchHit(1, "memory", 1, found, 1, name, 1),
            SearchHit(2, "line", 2, body, 1, name, 1, around=((name, file),)),
            SearchHit(3, "digest", 3, found, 1, name, 1),
            SearchHit(4, "note", 4, title, None, "", 1),
        ),
        ROOM,
    )


async def logged(folder: Path, size: Size) -> Found:
    """The same five in the log at DEBUG with texts on, as fields, in a library's message, in an error: a line each."""
    from bot.config.settings import LogFile
    from bot.ops.logs import Logs

    chance, stream = Random(size.seed), io.StringIO()
    options = LogFile.model_validate({"text": True, "level": "debug", "max_megabytes": 1_000})
    logs = Logs(folder / "logs", options, lambda: 1_700_000_000_000, ("local-key-of-nobody-42",), stream)
    try:
        for number in range(size.units):
            forged = f"x\n2026 ERROR\x1b[2J{hostile_text(chance)}"
            say(logs.log, number, (*(hostile_text(chance) for _ in range(4)), forged))
    finally:
        logs.close()
    raw, shown = (folder / "logs" / "nuan.jsonl").read_bytes().decode(), stream.getvalue()
    rows = raw.split("\n")[:-1]
    events = [json.loads(row)["event"] for row in rows]
    broken = sum(event != EVENTS[number % len(EVENTS)] for number, event in enumerate(events))
    return Found(
        {
            "texts": size.units,
            "extra lines": len(rows) - size.units,
            "broken": broken,
            "moving": len(MOVING.findall(raw)) + len(MOVING.findall(shown)),
            "extra shown": shown.count("\n") - size.units,
        }
    )


EVENTS = ("turn", "library", "turn", "failed")


def say(log: "Log", number: int, strings: tuple[str, ...]) -> None:
    """One line of each way in turn."""
    name, title, file, found, text = strings
    match EVENTS[number % len(EVENTS)]:
        case "library":
            logging.getLogger("openai").warning("%s of %s: %s", text, name, found)
        case "failed":
            log.error("failed", chat=number, title=title, file=file, exc_info=RuntimeError(text))
        case _:
            log.debug("turn", chat=number, name=name, title=title, text=text, file=file, reply=found, more=[text, name])
