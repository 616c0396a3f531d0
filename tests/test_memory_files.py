"""The files of `nuan memory` for any text: JSON Lines are read back, Markdown is readable, and what cannot be read
never raises."""

import json
from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.archive import (
    ExportContents,
    ExportedChat,
    ExportedMemory,
    ExportedMerge,
    ExportedNote,
    ExportedPerson,
    ExportedSummary,
    ImportBase,
)
from bot.core.people import MemoryKind
from bot.memory.archive.export import TITLE, is_export, write_markdown
from bot.memory.archive.imports import ForeignOwner, make_plan, parse_foreign
from bot.memory.archive.records import parse_jsonl, write_jsonl
from bot.text.clean import clean
from tests.storing import NOW
from tests.tables import all_cases

TEXTS = st.text(min_size=1, max_size=60).map(clean).filter(str.strip)
NASTY = st.sampled_from(
    ["- #1 2026-01-01 x", "<!-- {} -->", "\\n", "\n\n## a", "a --> b", " x ", "###", "{", TITLE, "## Notes"]
)
TIMES = st.integers(0, 4_000_000_000_000)
OWNER = ExportedPerson(("discord:2", "telegram:1"), "小 <!-- 王", "zh-Hans", "Asia/Shanghai")
CHAT = ExportedChat(("telegram:-100", "telegram:-1"), "group", "家")


MERGE = ExportedMerge(5, "join", "旧的\n--> <", 6, "新的", "event", "digest", 7, 8)


@st.composite
def memories(draw: st.DrawFn) -> ExportedMemory:
    """Any memory of the owner or of the chat."""
    created = draw(TIMES)
    return ExportedMemory(
        0,
        draw(st.sampled_from(["", "discord:2"])),
        "telegram:-100",
        draw(st.sampled_from(["chat", "public"])),
        draw(st.sampled_from(["identity", "emotion", "knowledge", "event", "experience"])),
        draw(TEXTS | NASTY),
        draw(TIMES | st.just(created)),
        created,
        draw(st.sampled_from(["command", "digest", "tool"])),
        draw(st.sampled_from([90.0, 14.0, 1.5])),
        draw(TIMES),
        draw(TIMES),
        draw(st.sampled_from(["", "a > b"])),
        draw(st.sampled_from(["", "address"])),
        draw(st.booleans()),
        draw(st.integers(0, 99)),
        draw(st.sampled_from(["", "开心", "<x>"])),
        draw(st.sampled_from([0.0, -0.5])),
        draw(st.integers(0, 9)),
        draw(st.booleans()),
        draw(st.just(0) | TIMES),
        draw(st.just("") | TEXTS),
        draw(st.sampled_from([(), (MERGE,)])),
        draw(st.sampled_from([(), (("faded", 0.5), ("helpful", 2))])),
    )


@st.composite
def exports(draw: st.DrawFn) -> ExportContents:
    """Any export."""
    found = tuple(replace(memory, id=number) for number, memory in enumerate(draw(st.lists(memories(), max_size=5)), 1))
    told = tuple(
        ExportedSummary(number, "", "telegram:-100", text, "model", ("小王",), draw(TIMES), draw(TIMES), draw(TIMES))
        for number, text in enumerate(draw(st.lists(TEXTS | NASTY, max_size=2)), 1)
    )
    notes = tuple(
        ExportedNote(f"notes/{number}.md", (), "telegram:-100", "chat", (3, 4, 9), text)
        for number, text in enumerate(draw(st.lists(TEXTS | NASTY, max_size=2)), 1)
    )
    return ExportContents("ab12", draw(TIMES), (OWNER,), (CHAT,), found, told, notes)


@given(exports())
@settings(max_examples=20, deadline=None)
def test_what_is_written_is_read_back(carried: ExportContents) -> None:
    lines = parse_jsonl("".join(write_jsonl(carried)), "f")
    assert lines.problems == ()
    assert lines.carried == carried
    assert make_plan(lines, ImportBase(carried, len(carried.memories)), lambda text: False).count == 0


MEMORY = ExportedMemory(
    1,
    "discord:2",
    "telegram:-100",
    "private",
    "event",
    "x",
    1,
    2,
    "digest",
    14.0,
    3,
    4,
    merges=(MERGE,),
    more=(("n", 1),),
)


@all_cases(
    ("name", "value", "problem"),
    [
        ("kind", "dream", f"kind should be one of {', '.join(get_args(MemoryKind))}"),
        ("type", "dream", "type should be one of person, chat, memory, summary, note"),
        ("type", None, "type should be one of person, chat, memory, summary, note"),
        ("text", " ", "text should be a text"),
        ("text", "x" * 20_001, "text is longer than 20000 characters"),
        ("slot", "x" * 201, "slot should be a short text"),
        ("owner", "Ann", "owner should be platform:id, like telegram:123"),
        ("created_at", 1_765_000_000, "created_at should be a time like 2026-06-12T01:00:00.000Z"),
        ("archived_at", "2026-13-40T01:00:00Z", "archived_at is no day or hour that there is"),
        ("asked", 1, "asked should be true or false"),
        ("importance", -1, "importance should be 0 or more"),
        ("importance", True, "importance should be a number, 0 or more"),
        ("stability_days", 2e9, "stability_days should be 1000000000 or less"),
        ("emotion_value", float("nan"), "emotion_value should be a number"),
        ("merges", {}, "merges should be a list"),
        ("merges", [3], "merges should be a list of merges"),
        ("merges", [{"at": 3}], "merges: at should be a time like 2026-06-12T01:00:00.000Z"),
        ("more", {"n": [1]}, "more should be an object of names with numbers and texts"),
        ("mood", "x", "'mood' is not known of a memory"),
        ("section", ..., "section is missing"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_in_a_few_words(name: str, value: object, problem: str) -> None:
    header, line = "".join(write_jsonl(ExportContents("ab12", memories=(MEMORY,)))).splitlines()
    values = {**json.loads(line), name: value}
    changed = json.dumps({key: each for key, each in values.items() if each is not ...})
    assert [each.text for each in parse_jsonl(f"{header}\n{changed}", "f").problems] == [problem]


@given(exports())
@settings(max_examples=20, deadline=None)
def test_markdown_has_a_line_for_each_memory_and_hides_nothing(carried: ExportContents) -> None:
    text = "".join(write_markdown(carried))
    assert is_export(text)
    rows = [line for line in text.split("\n") if not line.startswith(">")]
    numbers = sorted(int(line[3:].split(" ")[0]) for line in rows if line.startswith("- #"))
    assert numbers == sorted([each.id for each in carried.memories] + [each.id for each in carried.summaries])
    assert "<!--" not in "".join(rows).replace("\\<", "")
    notes = [line[1:].removeprefix(" ") for line in text.split("\n") if line.startswith(">")]
    assert notes == [line for note in carried.notes for line in note.text.split("\n")]


LINES = (
    st.text(max_size=40)
    | NASTY
    | st.sampled_from(
        [
            "## 2026-13-40",
            "### event",
            "- #9 2026-13-40 x",
            "- y",
            "> z",
            '{"type": "memory", "id": -1}',
            '{"type": 3}',
            '{"nuan": "memories", "version": 1, "house": "x", "exported_at": "2026-01-01T00:00:00Z", "memories": 1}',
            '{"nuan": "memories", "version": 1, "house": "x", "exported_at": "9999-99-99T00:00:00Z", "memories": 1}',
            '{"type": "note", "path": "notes/../x.md", "owners": [], "chat": "", "visibility": "chat", "events": "9-1"}',
            '{"type": "person", "accounts": ["a:b"]}',
            "[" * 3000,
            "[]",
            "3",
            '"\\ud800"',
            "NaN",
        ]
    )
)


@given(st.lists(LINES, max_size=8))
@settings(max_examples=50, deadline=None)
def test_no_file_ends_in_a_traceback(lines: list[str]) -> None:
    text = "\n".join(lines)
    for parsed in (parse_jsonl(text, "f"), parse_foreign(text, "f", ForeignOwner("a:b", "", NOW))):
        assert len(parsed.lines) == len(parsed.carried.memories)
        assert all(problem.where.startswith("f:") for problem in parsed.problems)
        make_plan(parsed, ImportBase(ExportContents("x"), 3), lambda text: False)
