"""What is shipped: the wheel's files, what deploy/ relies on, and a database that is newer than this nuan."""

import asyncio
import json
import re
import shutil
import sqlite3
import sys
import tomllib
from collections.abc import Mapping
from contextlib import closing
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import metadata, packages_distributions
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from typer.testing import CliRunner

from bot import __version__
from bot.cli.main import app
from bot.config.sources import load
from bot.store.schema import MIGRATIONS
from bot.store.store import DATABASE, open_store
from tests.source import ROOT, modules

DEPLOY = ROOT / "deploy"
INSIDE = "bot/_resources"
OURS = ("bot", "adapters", "tests", "docs")
RUNTIME = ("telegram", "discord", "mcp", "metrics", "postgres", "semantic", "web")
"""Extras that an operator chooses from; the image has them all."""
APART = ("bench", "docs", "pictures")
"""Extras that neither nuan nor its tests need."""


def wheel_of(root: Path) -> frozenset[str]:
    """The files that the build backend would put into a wheel of this tree; nothing is written."""
    builder = WheelBuilder(str(root))
    return frozenset(file.distribution_path for file in builder.recurse_included_files() if file.distribution_path)


def under(*folders: str) -> set[str]:
    """All files of these folders that git would keep."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != "USER.md"
    }


def test_the_wheel_holds_the_program_and_all_it_reads_and_nothing_else() -> None:
    program = under("bot", "adapters")
    texts = under("prompts", "data/persona") | {"data/nuan.example.toml", "data/providers.toml"}
    assert wheel_of(ROOT) == program | {f"{INSIDE}/{name}" for name in texts}
    for part in (
        "bot/store/sqlite/migrations/0001_first_tables.sql",
        "bot/web/templates/base.html",
        "bot/web/static/htmx.min.js",
    ):
        assert part in program
    for part in ("prompts/warmboot/en.md.j2", "prompts/messages/zh-Hant.toml", "data/persona/default/SOUL.md"):
        assert part in texts


def test_what_an_operator_keeps_beside_the_program_stays_out_of_the_wheel(tmp_path: Path) -> None:
    for name in ("pyproject.toml", ".gitignore", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    kept = ("prompts/light.txt", "data/persona/default/SOUL.md", "data/nuan.example.toml", "data/providers.toml")
    own = (
        "data/persona/default/USER.md",
        "data/nuan.db",
        "data/web.token",
        "prompts/.light.txt.swp",
        "nuan.toml",
        ".env",
    )
    for name in ("bot/__init__.py", "adapters/__init__.py", *kept, *own):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert wheel_of(tmp_path) == {"bot/__init__.py", "adapters/__init__.py", *(f"{INSIDE}/{name}" for name in kept)}


def test_the_image_takes_only_what_it_needs_and_runs_as_nobody_s_root() -> None:
    said = (DEPLOY / "Dockerfile").read_text("utf-8")
    copied = {name for line in re.findall(r"^COPY (?!--)(.+) \S+$", said, re.MULTILINE) for name in line.split()}
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert copied <= {line[1:] for line in ignored if line.startswith("!")}
    assert {"*", "data/*", "**/USER.md"} <= set(ignored)
    assert all((ROOT / name).exists() for name in copied)
    assert re.findall(r"^USER (\S+)$", said, re.MULTILINE) == ["10001:10001"]
    assert len(re.findall(r"^VOLUME ", said, re.MULTILINE)) == 1
    installs = re.findall(r"pip (?:install|wheel) .*", said.replace("\\\n", " "))
    assert all("--require-hashes" in each or "--no-index" in each for part in installs for each in part.split("&&"))


def test_the_image_can_back_up_the_server_that_its_compose_file_starts() -> None:
    [client] = re.findall(r"apt-get install .* postgresql-client-(\d+)", (DEPLOY / "Dockerfile").read_text("utf-8"))
    [server] = re.findall(r"image: postgres:(\d+)", (DEPLOY / "compose.postgres.yaml").read_text("utf-8"))
    assert int(client) >= int(server)


def test_the_processes_on_postgresql_are_built_once_and_their_secrets_are_in_no_address_and_no_commit() -> None:
    said = (DEPLOY / "compose.postgres.yaml").read_text("utf-8")
    shared, one = (re.split(r"^(?=\S|  \S)", part, flags=re.MULTILINE) for part in said.split("\nservices:\n"))
    builds = [block.split(":")[0].strip() for block in one if re.search(r"^    build:$", block, re.MULTILINE)]
    assert builds == ["gateway-one"]
    assert not any("build:" in block for block in shared if not block.startswith("#"))
    assert ("  pull_policy: never\n" in said, said.count("image: nuan\n")) == (True, 1)
    assert re.findall(r"postgresql://\S+", said) == ["postgresql://nuan@db/nuan"]
    assert re.findall(r"^ +(\w+): \$\{DB_PASSWORD:\?\}$", said, re.MULTILINE) == ["PGPASSWORD", "POSTGRES_PASSWORD"]
    [test] = re.findall(r"test: (\[.+\])", said)
    assert json.loads(test)[:4] == ["CMD", "pg_isready", "-h", "127.0.0.1"], (
        "the socket answers while the server is made"
    )
    kept_out = (ROOT / ".gitignore").read_text("utf-8").split()
    assert any(fnmatch("nuan.env", pattern) for pattern in kept_out)


def test_the_image_names_extras_keys_and_the_health_page_as_they_are(tmp_path: Path) -> None:
    said = (DEPLOY / "Dockerfile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(re.findall(r"'nuan\[(.+)\]'", said)[0].split(","))
    assert extras == set(project["optional-dependencies"]) - {"dev", *APART}
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    named = dict(re.findall(r"(NUAN_\w+)(?:=|: )\"?([\w.]+)", said + compose))
    empty = tmp_path / "nuan.toml"
    empty.touch()
    settings = load(empty, named)
    assert settings.metrics.on
    assert settings.web.on
    assert f"To('{settings.metrics.host}', {settings.metrics.port}," in said
    assert f"127.0.0.1:{settings.web.port}:{settings.web.port}" in compose


def test_the_unit_starts_reloads_and_does_not_start_again_what_a_person_must_mend() -> None:
    said = (DEPLOY / "nuan.service").read_text("utf-8").splitlines()
    for line in (
        "ExecStart=/opt/nuan/bin/nuan run",
        "ExecReload=/bin/kill -HUP $MAINPID",
        "RestartPreventExitStatus=2",
    ):
        assert line in said
    assert {"User=nuan", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet="} <= set(said)


def test_every_version_is_bounded_and_every_file_has_its_hash() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert all(re.search(r"==\d|>=\d{4}\.|^nuan\[", one) for one in asked)
    hashed = (ROOT / "hashes.txt").read_text("utf-8")
    exact = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split())
    exact = {plain(name): version for name, version in exact.items()}
    held = re.findall(r"^([\w.-]+)==(\S+)[^\n]*((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)+)$", hashed, re.MULTILINE)
    assert {plain(name): version for name, version, _ in held}.items() <= exact.items()
    apart = {plain(re.split(r"[=\[]", one)[0]) for extra in APART for one in project["optional-dependencies"][extra]}
    assert exact.keys() - {plain(name) for name, _, _ in held} == apart
    assert len(re.findall("^[a-z]", hashed, re.MULTILINE)) == len(held)
    assert "://" not in hashed


def imported(*folders: str) -> set[str]:
    """The packages of others that the files there import, as they are published; an extra that is not there by its name."""
    tops = {each.name.partition(".")[0] for module in modules(*folders) for each in module.imports}
    return {plain(published().get(top, [top])[0]) for top in tops - sys.stdlib_module_names - set(OURS)}


@cache
def published() -> Mapping[str, list[str]]:
    """The packages that bring a name to be imported; it looks into all that are installed."""
    return packages_distributions()


def declared(*extras: str) -> set[str]:
    """The packages that pyproject.toml names, those of these extras too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]
    return {plain(re.split(r"[\[=>]", one)[0]) for one in named}


def test_every_package_that_is_imported_is_declared() -> None:
    assert imported("adapters/telegram") <= declared("telegram")
    assert imported("adapters/discord") <= declared("discord")
    assert imported("bot", "adapters") <= declared(*RUNTIME)
    assert imported("tests", "docs") <= declared(*RUNTIME, "dev", *APART)


def test_the_licence_of_every_package_that_is_declared_is_listed() -> None:
    listed = (ROOT / "docs" / "operations.md").read_text("utf-8").partition("## Licences")[2]
    assert {name for name in declared(*RUNTIME) if name not in listed} == set()
    for name in declared(*RUNTIME):
        if "LGPL" in (metadata(name)["License-Expression"] or ""):
            assert f"{name}: LGPL" in listed


def plain(name: str) -> str:
    """A package's name in one spelling."""
    return re.sub("[-_.]+", "-", name).lower()


def test_nothing_is_read_that_may_carry_code() -> None:
    carries = re.compile(
        r"^\s*(?:import|from)\s+(?:pickle|marshal|shelve|dill|dbm)\b|allow_pickle|\b(?:eval|exec)\(", re.MULTILINE
    )
    found = [
        path.name
        for folder in ("bot", "adapters")
        for path in (ROOT / folder).rglob("*.py")
        if carries.search(path.read_text("utf-8"))
    ]
    assert found == []


def test_what_is_promised_is_said_and_found() -> None:
    said = (ROOT / "SECURITY.md").read_text("utf-8")
    for promise in ("at least once", "exactly once", "at most once", "No encryption at rest", "speak.links", "安全"):
        assert promise in said
    assert all("(SECURITY.md)" in (ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md"))


def test_the_version_is_told_both_ways() -> None:
    for words in (["--version"], ["version"]):
        told = CliRunner().invoke(app, words)
        assert (told.exit_code, told.stdout) == (0, f"nuan {__version__}\n")


@pytest.mark.parametrize("words", [["boot"], ["chat"], ["memory", "list"]])
def test_an_older_nuan_refuses_a_newer_database_in_one_clear_line(tmp_path: Path, words: list[str]) -> None:
    data, config = tmp_path / "data", tmp_path / "nuan.toml"
    config.touch()
    asyncio.run(begun(data))
    with closing(sqlite3.connect(data / DATABASE)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = (data / DATABASE).read_bytes()
    ran = CliRunner().invoke(app, [*words, "--data", str(data), "--config", str(config)], input="你好\n")
    schema = len(MIGRATIONS) + 1
    said = f"nuan: {DATABASE} was written by a newer nuan (schema {schema}): update nuan, nothing was changed\n"
    assert (ran.exit_code, ran.stdout, ran.stderr) == (1, "", said)
    assert (data / DATABASE).read_bytes() == before
    assert not list(data.glob("*.before-*"))


async def begun(folder: Path) -> None:
    async with await open_store(folder):
        pass
