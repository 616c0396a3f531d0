"""Every command of the READMEs works: cloned from this checkout, tried against the fakes of the networks."""

import re
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.config.sources import load
from docs.write import shell_commands
from tests.bench import first_reply
from tests.e2e import KEY, PROGRAM, run, running
from tests.fakes.telegram_shapes import Person
from tests.platforms import TELEGRAM, Platforms, PlatformsHome, code_of, stop
from tests.source import ROOT

READMES = ("README.md", "README.zh.md")
PROGRAMS = r"(?:git|make|python|apt|nuan|\.venv/bin/\w+)"
EXTRAS = ("telegram", "discord")
INSTALLS = tuple(f".venv/bin/pip install -c constraints.txt -e '.[{extra}]'" for extra in EXTRAS)
CLONE = "git clone ADDRESS nuan && cd nuan"
TRIED = {CLONE, "make run", ".venv/bin/nuan init", ".venv/bin/nuan run", *INSTALLS}
"""What is carried out or taken apart below."""
SEMANTIC = ".venv/bin/pip install -c constraints.txt -e '.[semantic]'"
LOOKED_FOR = {"nuan init", "nuan doctor", "make test", "python -m tests.bench.start", SEMANTIC}
"""What takes long or says nothing new: it only has to be there."""
OF_THE_SYSTEM = {"apt install python3-venv make"}


def commands(name: str) -> set[str]:
    """All commands of a README: lines of its blocks, and in its sentences."""
    text = (ROOT / name).read_text("utf-8").replace("地址 nuan", "ADDRESS nuan")
    lines = re.findall(rf"(?m)^    ({PROGRAMS} .*?)(?:  +#.*)?$", text)
    return {*lines, *re.findall(rf"`({PROGRAMS} [^`]+)`", text)}


@pytest.mark.parametrize("name", READMES)
def test_no_command_of_a_readme_is_tried_by_nobody(name: str) -> None:
    assert commands(name) == TRIED | LOOKED_FOR | OF_THE_SYSTEM
    shell = {row.split("`")[1] for row in shell_commands()}
    assert {"nuan init", "nuan run", "nuan doctor"} <= shell
    targets = re.findall(r"(?m)^(\w+):", (ROOT / "Makefile").read_text("utf-8"))
    assert {"run", "test"} <= set(targets)
    assert find_spec("tests.bench.start") is not None


def test_what_the_way_to_a_first_reply_is_counted_by_stands_in_the_readmes() -> None:
    assert all({*lines} <= commands(name) for lines in first_reply.PATHS.values() for name in READMES)
    assert [len(lines) for lines in first_reply.PATHS.values()] == [2, 4, 5]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked tree cannot be cloned")
def test_what_is_cloned_installs_by_make_and_answers(tmp_path: Path) -> None:
    def sh(line: str, folder: Path) -> str:
        done = subprocess.run(("sh", "-ec", line), cwd=folder, check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    sh(CLONE.replace("ADDRESS", f"'{ROOT}'"), tmp_path)
    cloned = tmp_path / "nuan"
    planned = sh("make -n --no-print-directory run", cloned)
    assert "pip install" in planned
    assert planned.rstrip().endswith(".venv/bin/nuan chat")
    assert (cloned / "constraints.txt").is_file()
    project = tomllib.loads((cloned / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["optional-dependencies"].keys() >= set(EXTRAS)
    said = sh(f"printf '你好\\n' | '{PROGRAM[0]}' -m bot chat", cloned)
    assert "离线应答" in said


@pytest.mark.parametrize("name", READMES)
def test_the_configuration_of_a_readme_is_a_good_one(name: str, tmp_path: Path) -> None:
    block = re.findall(r"(?m)^    \[model\]\n(?:    .+\n)+", (ROOT / name).read_text("utf-8"))[0]
    (tmp_path / "nuan.toml").write_text(re.sub("(?m)^    ", "", block), "utf-8")
    (tmp_path / ".env").write_text("NUAN_MODEL__API_KEY=a-key\n")
    model = load(tmp_path / "nuan.toml", {}).model
    assert (model.base_url, model.name, model.api_key is not None) == (
        "https://api.deepseek.com",
        "deepseek-chat",
        True,
    )


async def test_init_asks_for_model_and_telegram_and_tries_both_and_run_answers(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        home = PlatformsHome(tmp_path, {"TELEGRAM__BASE_URL": platforms.telegram.url, "BUDGET__DAY_TOKENS": "none"})
        answers = ("other", platforms.model.base_url, "fake", KEY, TELEGRAM, *[""] * 4)
        made = await run(home, "init", stdin="".join(f"{line}\n" for line in answers).encode())
        assert made.code == 0, made.err
        assert "✓ model.call" in made.text, made.text
        assert "✓ telegram" in made.text, made.text
        assert not any(secret in made.text for secret in (KEY, TELEGRAM))
        async with running(home, "run") as nuan:
            ann = Person(501, "Ann", language="en")
            assert "owner" in await platforms.tell(ann, f"/start {code_of(made.text)}")
            assert await platforms.tell(ann, "第1句") == "收到第1句"
            await stop(nuan)
