"""The command line as a whole: help, JSON, exit codes, completion, wrong words."""

import hashlib
import json
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer import Context
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from bot.cli.commandline import run_program
from bot.cli.main import app
from bot.cli.terminal import ExitCode, progress_bar
from bot.store.schema import SCHEMA_VERSION
from docs.write import DOCS, examples_of, exit_codes
from tests.belonging import nuan
from tests.carrying import fill, in_installation

Command = TyperCommand | TyperGroup
ROOT = get_command(app)
assert isinstance(ROOT, TyperGroup)


def commands(group: TyperGroup, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    for name in group.list_commands(Context(group)):
        command = group.commands[name]
        assert isinstance(command, Command)
        yield (*before, name), command
        if isinstance(command, TyperGroup):
            yield from commands(command, (*before, name))


EVERY = dict(commands(ROOT))
NO_DATA = {"init", "owner-code", "chat", "run", "web", "mcp", "memory"}
"""What prints nothing for programs: it talks, asks or serves."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people, a group and five memories."""
    folder = tmp_path_factory.mktemp("filled") / "data"
    in_installation(folder, fill)
    return folder


@pytest.fixture
def installation(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of a test's own, with an empty configuration beside it."""
    shutil.copytree(filled, tmp_path / "data")
    (tmp_path / "nuan.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def told(folder: Path, *words: str) -> object:
    """What --json says, which is one document, with nothing on standard error."""
    said = nuan(folder, *words, "--json")
    assert (said.code, said.err) == (0, ""), (words, said)
    return json.loads(said.out)


def sums(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_all_commands_of_the_installation_are_there_with_help_and_examples_that_can_be_typed() -> None:
    wanted = (
        "init owner-code chat run ctx boot memory sections usage logs doctor backup restore export erase move unset mcp web "
        "reload version workers"
    )
    assert {words[0] for words in EVERY} == set(wanted.split())
    for shell in ("", "memory import", "reload"):
        words = tuple(shell.split())
        shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"})
        assert shown.exit_code == 0
        lines = examples_of((EVERY[words] if words else ROOT).epilog)
        assert set(lines) <= {line.strip() for line in shown.stdout.splitlines()}
    for words, command in EVERY.items():
        lines = examples_of(command.epilog)
        assert lines, words
        for line in lines:
            nuan, *rest = shlex.split(line)
            assert nuan == "nuan"
            found, left = ROOT, rest
            while isinstance(found, TyperGroup) and left and not left[0].startswith("-"):
                found, left = found.commands[left[0]], left[1:]
            if "--help" not in left:
                found.make_context(line, left)  # it takes these options and arguments


def test_whatever_prints_data_prints_json() -> None:
    having = {words[0] for words, command in EVERY.items() if any("--json" in each.opts for each in command.params)}
    assert having == {words[0] for words in EVERY} - NO_DATA | {"memory"}
    inner = {words for words in EVERY if words[0] == "memory" and len(words) == 2}
    assert all(any("--json" in each.opts for each in EVERY[words].params) for words in inner)


def test_json_is_one_document_and_nothing_else(installation: Path) -> None:
    usage, shown = told(installation, "usage", "--days", "2"), told(installation, "memory", "show", "1")
    assert isinstance(usage, dict)
    assert isinstance(shown, dict)
    assert len(usage["by_day"]) == 2
    assert usage["all"]["calls"] == 0
    assert shown["number"] == 1
    assert told(installation, "sections") == []
    made, files = told(installation, "backup"), told(installation, "memory", "export", "out")
    assert isinstance(made, dict)
    assert isinstance(files, dict)
    assert (made["schema"], files["memories"]) == (SCHEMA_VERSION, 5)
    assert told(installation, "restore", made["file"], "--check") == {
        "file": made["file"],
        "schema": SCHEMA_VERSION,
        "good": True,
    }
    plan = told(installation, "memory", "import", "out", "--yes")
    assert isinstance(plan, dict)
    assert (plan["taken"], plan["counts"]["same"], plan["memories"]) == (0, 5, [])
    new = told(installation.parent / "new", "memory", "import", "out", "--yes")
    assert isinstance(new, dict)
    assert (new["taken"], [each["fate"] for each in new["memories"]].count("new")) == (5, 5)
    back = told(installation, "memory", "rollback", made["file"])
    assert isinstance(back, dict)
    assert Path(str(back["before"])).exists()
    for words in (("backup", "--list"), ("memory", "list"), ("memory", "backfill"), ("export", "1"), ("version",)):
        assert told(installation, *words[:1], *words[1:]) if words != ("version",) else True
    gone = told(installation, "erase", "2", "--yes")
    assert isinstance(gone, dict)
    assert gone["person"] == 2
    ran = CliRunner().invoke(app, ["version", "--json"])
    assert json.loads(ran.stdout).keys() == {"version"}


def test_a_question_and_a_refusal_leave_standard_output_to_the_document(installation: Path) -> None:
    in_file = nuan(installation, "memory", "export", "mem.jsonl")
    assert in_file.code == 0
    (installation.parent / "mem.jsonl").write_text(
        Path("mem.jsonl").read_text("utf-8").replace("小安", "安安"), "utf-8"
    )
    before = sums(installation)
    for words in (("memory", "import", "mem.jsonl"), ("erase", "1"), ("export", "nobody"), ("usage", "--days", "x")):
        said = nuan(installation, *words, "--json")
        assert said.out == ""
        assert said.err.splitlines()[-1].startswith("nuan: ")
        assert said.code in (1, 2)
    assert sums(installation) == before


WRONG = (
    ("run --role gatway,worker", 2, "nuan: invalid value for '--role': 'gatway' is not one of gateway, "),
    ("run --role=", 2, "nuan: invalid value for '--role': '' is not one of gateway, "),
    ("run --role worker", 2, "--role: several processes share a PostgreSQL database: set store.url"),
    ("usag", 2, "nuan: no such command 'usag'; did you mean 'usage'? `nuan --help` says more"),
    ("memory lst", 2, "nuan: no such command 'lst'; did you mean 'list'? `nuan memory --help` says more"),
    ("usage --dayz 3", 2, "nuan: no such option: --dayz; did you mean --data, --days? `nuan usage --help` says more"),
    ("usage --days 3x", 2, "nuan: invalid value for '--days': must be a whole number; `nuan usage --help` says more"),
    ("usage --days 0", 2, "greater than or equal to 1"),
    ("usage --days", 2, "nuan: option '--days' requires an argument"),
    ("usage extra", 2, "nuan: got unexpected extra argument(s) (extra); `nuan usage --help` says more"),
    ("export", 2, "nuan: missing argument 'person'; `nuan export --help` says more"),
    ("usage --data=", 2, "nuan: invalid value for '--data': must not be empty; `nuan usage --help` says more"),
    ("memory list --kind dream", 2, "nuan: invalid value for '--kind': 'dream' is not one of 'identity', "),
    ("memory show 99", 1, "nuan: there is no memory #99"),
    ("memory rollback data/nuan.db", 1, "nuan: data/nuan.db is the database itself: give a backup"),
    ("restore text.db", 1, "nuan: text.db cannot be used (file is not a database): nothing was changed"),
    ("restore newer.db", 1, "nuan: newer.db was written by a newer nuan (schema 9999"),
    ("restore older.db", 1, "nuan: older.db cannot be brought to schema"),
    ("restore --check older.db", 1, "nuan: older.db cannot be brought to schema"),
    ("restore cut.db", 1, "nuan: cut.db cannot be used (database disk image is malformed): nothing was changed"),
    ("sections --export states", 1, "nuan: no turn has searched memory yet: nothing was written"),
    ("logs --turn 7", 1, "nuan: no line of the log is of that chat or turn"),
    ("ctx --chat nowhere", 1, "nuan: --chat: give one of: "),
    ("boot --chat 1 --person nobody", 1, "nuan: --person: give one of: 1 "),
    ("export nobody", 1, "nuan: there is nobody 'nobody'"),
    ("usage --config wrong.toml", 2, "nuan: bot.ownerz: unknown key; did you mean bot.owner?"),
)


def test_what_is_wrong_is_one_line_an_exit_code_and_no_change(installation: Path) -> None:
    home = installation.parent
    (home / "text.db").write_text("hello\n")
    (home / "wrong.toml").write_text('[bot]\nownerz = ["a"]\n')
    (installation / "logs").mkdir(exist_ok=True)
    (installation / "logs" / "nuan.jsonl").write_text(
        '{"timestamp": "x", "level": "info", "event": "turn", "turn": 1}\n'
    )
    assert nuan(installation, "backup", "newer.db").code == nuan(installation, "backup", "older.db").code == 0
    for name, version in (("newer.db", 9999), ("older.db", 3)):
        with closing(sqlite3.connect(name)) as db:
            db.execute(f"PRAGMA user_version = {version}")
            db.execute("VACUUM")
    Path("cut.db").write_bytes(Path("older.db").read_bytes()[:20_000])
    before = sums(installation)
    for line, code, text in WRONG:
        ran = CliRunner().invoke(app, [*shlex.split(line)])
        assert (ran.exit_code, ran.stdout) == (code, ""), (line, ran.output, ran.exception)
        assert text in ran.stderr, line
        assert ran.stderr.startswith("nuan: "), line
        assert ran.stderr.count("\n") == 1, line
    odd = CliRunner().invoke(app, ["export", "\udcff"])
    assert (odd.exit_code, odd.stderr.count("\n")) == (2, 1)
    assert sums(installation) == before


def test_nothing_is_begun_for_a_folder_that_is_not_there(installation: Path) -> None:
    (installation.parent / "bad.jsonl").write_text("{}\n{")
    for words in (
        ("erase", "1", "--yes"),
        ("memory", "backfill", "--apply"),
        ("memory", "import", "nofile", "--yes"),
        ("memory", "import", "bad.jsonl", "--yes"),
        ("run",),
        ("backup",),
        ("logs",),
        ("reload",),
        ("usage",),
    ):
        said = nuan(installation.parent / "nowhere", *words)
        assert (said.code, said.out) in ((1, ""), (2, "")), words
        assert not (installation.parent / "nowhere").exists(), words


def test_the_exit_codes_are_one_table_and_even_a_defect_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert {code.value for code in ExitCode} == {0, 1, 2, 70, 130}
    assert exit_codes() in (DOCS / "commands.md").read_text("utf-8")
    for error, code in ((KeyError("secret words"), ExitCode.DEFECT), (KeyboardInterrupt(), ExitCode.INTERRUPTED)):

        def fail(error: BaseException = error) -> None:
            raise error

        with pytest.raises(SystemExit) as ended:
            run_program(fail)
        assert ended.value.code == code
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("nuan: this is a defect of nuan: KeyError at tests/test_command_line.py:")
    assert "secret" not in said


def test_no_bar_is_drawn_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet in (True, False):
        with progress_bar("work", quiet=quiet) as tell:
            tell(1, 2)
    assert capsys.readouterr() == ("", "")


def complete(line: str, shell: str = "bash") -> list[str]:
    words = line.split(" ")
    env = {"_NUAN_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line}
    env |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    ran = CliRunner().invoke(app, [], env=env, prog_name="nuan")
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return [line for line in ran.stdout.splitlines() if line]


def test_a_shell_completes_commands_options_and_values(installation: Path) -> None:
    assert complete("nuan mem") == ["memory"]
    assert complete("nuan memory ") == ["export", "import", "list", "show", "backfill", "rollback"]
    assert complete("nuan usage --d") == ["--days", "--data"]
    assert complete("nuan memory list --kind e") == ["emotion", "event", "experience"]
    assert sorted(complete("nuan ctx --person ")) == sorted(complete("nuan export "))
    assert complete("nuan ctx --person 2") == ["2"]
    assert complete("nuan ctx --data nowhere --chat ") == []
    assert "1" in complete("nuan ctx --chat 1")
    assert nuan(installation, "backup").code == 0
    assert complete("nuan restore ")[0].startswith("nuan-2")
    zsh = "\n".join(complete("nuan usage --d", "zsh"))
    assert '"--days":"How many local days, today included."' in zsh


def test_the_shards_of_run_are_those_of_the_configuration(installation: Path) -> None:
    said = nuan(installation, "run", "--shards", "4/4")
    assert said.code == ExitCode.WRONG
    assert "discord.shards: must name shards from 0 to 3, the first one first" in said.err
