"""What comes from outside is read or refused, whatever it is: arguments, headers, zones, files, commands, sockets."""

import json
import sqlite3
import tempfile
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo, available_timezones

import discord
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from adapters.discord.sending import _wait
from bot.cli.main import app
from bot.core.errors import LONGEST_WAIT_MS, ConfigError, StoreError
from bot.core.files import PromptFiles
from bot.core.people import ErasedPerson
from bot.core.tools import ToolArguments, ToolRefused, read_arguments
from bot.language.time.schedule import zone_named, zone_near
from bot.mcp.agents import _Boot, _Dialog, _Forget, _Remember
from bot.memory.grounding import parse_verdict
from bot.model.transport import _seconds
from bot.ops.control import _REQUEST
from bot.ops.log_files import _keeper
from bot.pipeline.media import LookArguments
from bot.pipeline.tools.calls import ListenArguments
from bot.pipeline.tools.memories import ForgetArguments, RememberArguments
from bot.pipeline.tools.reminders import RemindArguments
from bot.prompt.persona import FOLDER, FULL, Persona, SkillArguments, read_bootstraps, read_skills
from bot.prompt.templates import read_templates
from bot.store.files import ERASURES_FILE, Erasures, KeptInFolder, Tombstones
from bot.store.people import OWNER_FILE, _read
from bot.store.sqlite.copies import verify_copy
from bot.tools.recall import RecallArguments, parse_moment

SHAPES = (
    ToolArguments,
    LookArguments,
    RemindArguments,
    RecallArguments,
    ListenArguments,
    SkillArguments,
    RememberArguments,
    ForgetArguments,
    _Boot,
    _Dialog,
    _Remember,
    _Forget,
)
"""What every tool takes, of a model and of an agent."""
FIELDS = sorted({name for shape in SHAPES for name in shape.model_fields})
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=4), inner),
    max_leaves=8,
)
WRITTEN = JSON.map(json.dumps) | JSON.map(lambda value: json.dumps(value, ensure_ascii=False))
BYTES = WRITTEN.map(lambda text: text.encode("utf-8", "surrogatepass"))
DEEP = "[" * 100_000
ZONES = st.sampled_from([ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York"), ZoneInfo("UTC")])
DATES = st.datetimes(timezones=st.none() | ZONES).map(str) | st.dates().map(str) | st.from_regex(r"[0-9T:+.Z -]{1,32}")
ERASED = ErasedPerson(7, frozenset({2}), frozenset({3}), frozenset({"700001"}), frozenset({"小王", "a(b"}), {})
"""Somebody whose lines are to go from the log."""


@given(st.sampled_from(SHAPES), WRITTEN | st.text(st.characters(exclude_categories=())))
@example(RecallArguments, DEEP)
@example(RecallArguments, '{"query": "\\ud800"}')
@settings(max_examples=30)
def test_arguments_of_a_tool_are_taken_or_refused(shape: Any, arguments: str) -> None:
    problem = "none"
    try:
        assert isinstance(read_arguments(shape, arguments), shape)
    except ToolRefused as refused:
        problem = refused.problem
    assert problem


@given(st.text(max_size=40) | DATES, ZONES, st.booleans())
@settings(max_examples=30)
def test_a_moment_is_a_number_that_can_be_stored_or_refused(text: str, zone: ZoneInfo, after: bool) -> None:
    try:
        assert abs(parse_moment(text, zone, after=after)) < 2**63
    except ToolRefused:
        pass


@given(st.text() | WRITTEN | WRITTEN.map("```json\n{}\n```".format))
@example("{" + DEEP)
@settings(max_examples=30)
def test_any_answer_about_a_wording_is_a_verdict_or_none(answer: str) -> None:
    verdict = parse_verdict(answer)
    assert verdict is None or (verdict.kind == "reject") == (not verdict.text)
    assert verdict is None or len(verdict.text.splitlines()) < 2


@given(st.text(max_size=40) | st.floats().map(str) | st.integers().map(str))
@example("inf")
@example("1e999")
@example("-5")
@settings(max_examples=30)
def test_a_wait_that_a_server_names_is_none_or_can_be_waited_for(header: str) -> None:
    answer = SimpleNamespace(status=429, reason="", headers={"Retry-After": header})
    wait = _wait(discord.HTTPException(cast("Any", answer), ""))
    assert wait is None or 0 <= wait <= LONGEST_WAIT_MS
    seconds = _seconds(header)
    assert seconds is None or 0 <= seconds <= 86_400


@given(st.text(max_size=60) | st.sampled_from(["utc", "gmt", "+", "-", "٣", "²", "１"]).map(lambda sign: sign * 2))
@settings(max_examples=30)
def test_a_zone_is_one_that_there_is_or_none(words: str) -> None:
    known = available_timezones()
    assert {zone_named(words), zone_near(words)} <= {*known, None}


@given(
    st.dictionaries(st.sampled_from(FULL), st.binary(max_size=60) | st.text(max_size=60).map(str.encode), max_size=2),
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
)
@settings(max_examples=12)
def test_a_persona_of_any_bytes_is_read_or_named(files: Mapping[str, bytes], skill: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        persona = Path(folder)
        for name, text in files.items():
            (persona / name).write_bytes(text)
        (persona / FOLDER).mkdir()
        (persona / FOLDER / "tea.md").write_bytes(skill)
        try:
            skills = read_skills(persona)
            made = read_bootstraps(PromptFiles(None).path, Persona(persona, skills), "暖", {}, "openai")
        except ConfigError as error:
            problems = error.problems
        else:
            problems = ("persona: none",)
            assert json.dumps(made.full.message.wire(), ensure_ascii=False).encode()
            assert len(made.full.who.splitlines()) == 1
        assert all(problem.startswith(("persona: ", "prompts: ")) for problem in problems)


TEMPLATE = st.lists(
    st.sampled_from(
        [
            "{{",
            "}}",
            "{%",
            "%}",
            "{#",
            "#}",
            " for x in tasks ",
            " endfor ",
            " if since ",
            "x.text",
            "who",
            "|e",
            "\n",
            "好",
            "()",
            "[0]",
            "'",
            ".",
            "since",
            "tasks",
            "__class__",
            "1",
        ]
    ),
    max_size=12,
).map("".join)


@given(TEMPLATE | st.text(max_size=30))
@settings(max_examples=12)
def test_an_opening_of_any_text_is_taken_or_named(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warmboot.zh-Hans.md.j2"
        path.write_text(text, "utf-8", errors="replace")
        problems: tuple[str, ...] = ()
        try:
            read_templates(PromptFiles(None).path, Path(folder))
        except ConfigError as error:
            problems = error.problems
        assert all(path.name in problem for problem in problems)


@given(st.binary(max_size=80) | BYTES)
@example(DEEP.encode())
@settings(max_examples=30)
def test_what_an_agent_asks_over_the_socket_is_a_wish_or_refused(line: bytes) -> None:
    try:
        _REQUEST.validate_json(line)
    except ValidationError:
        pass


DAMAGE = [
    b'{"mac": []}',
    b'{"mac": {}, "lifted": 1}',
    b'{"id": 1e999, "mac": "a"}',
    b"[]",
    b"null",
    DEEP.encode(),
    b'{"code": "AAAA2222", "expires_at": 1e999}',
    b'{"chat": []}',
]
LINES = st.lists(BYTES | st.binary(max_size=20) | st.sampled_from(DAMAGE), max_size=5).map(b"\n".join)


@given(LINES)
@example(b"\n".join(DAMAGE))
@example(DAMAGE[6])
@example(DAMAGE[7])
@example(DEEP.encode())
@settings(max_examples=12)
def test_files_of_the_installation_that_somebody_damaged_are_read_or_named(written: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tombstones.key").write_bytes(b"k" * 32)
        for name in ("tombstones.jsonl", ERASURES_FILE, OWNER_FILE):
            (Path(folder) / name).write_bytes(written)
        tombstones = Tombstones(KeptInFolder(Path(folder)))
        tombstones.add_tombstones([(1, "茶")], 1)
        assert Tombstones(KeptInFolder(Path(folder))).covers("茶"), "what is written behind the damage counts"
        name = Erasures(KeptInFolder(Path(folder)), tombstones).begin(["discord:1"], 1)
        assert Erasures(KeptInFolder(Path(folder)), tombstones).all()[-1].name == name
        told = OWNER_FILE
        try:
            _read(Path(folder) / OWNER_FILE)
        except StoreError as error:
            told = str(error)
        assert OWNER_FILE in told
    keeps = _keeper(ERASED)
    for line in written.decode("utf-8", "replace").splitlines():
        assert keeps(line) in (line, "")


@cache
def whole() -> bytes:
    """A database of some pages with a table of the right name."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder) / "a.db")) as db:
            db.executescript("CREATE TABLE memory (id INTEGER PRIMARY KEY, text TEXT); PRAGMA user_version = 1")
            db.executemany("INSERT INTO memory (text) VALUES (?)", [("荷花" * 50,)] * 80)
            db.commit()
        return (Path(folder) / "a.db").read_bytes()


@given(st.binary(min_size=1, max_size=8), st.integers(0, 2**20), st.booleans())
@example(b"\x80", whole().index(b"CREATE TABLE") + 8, False)  # the schema is no text any more
@example(b"\x80", 60, False)  # the version is below zero
@settings(max_examples=15)
def test_a_backup_with_any_bytes_in_it_is_whole_or_refused_and_stays_as_it_is(more: bytes, at: int, cut: bool) -> None:
    copy = whole()
    at %= len(copy)
    damaged = copy[:at] + more + (b"" if cut else copy[at + len(more) :])
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "b.db").write_bytes(damaged)
        told = path.name
        try:
            assert verify_copy(path) > 0
        except StoreError as error:
            told = str(error)
        assert path.name in told
        assert path.read_bytes() == damaged


COMMANDS = {
    name: command
    for group in (typer.main.get_command(app),)
    for name, found in cast("Any", group).commands.items()
    for name, command in (getattr(found, "commands", None) or {name: found}).items()
}
OPTIONS = sorted({flag for command in COMMANDS.values() for one in command.params for flag in one.opts})


@given(st.sampled_from(sorted(COMMANDS)), st.lists(st.sampled_from(OPTIONS) | st.text(max_size=8), max_size=5))
@settings(max_examples=30)
def test_any_words_after_a_command_are_taken_or_told(name: str, words: list[str]) -> None:
    try:
        COMMANDS[name].make_context(name, list(words))
    except (typer.TyperException, typer.Exit):
        pass
