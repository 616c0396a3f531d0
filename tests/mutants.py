"""Small faults put into a copy of the code, one at a time: each must be found by the tests that are named for it.

`python -m tests.mutants [NAME …]` tries all of them, or those of these names or kinds; `stale` only looks whether each is
still found in the code. The table is `mutants.toml`.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from tests.source import ROOT

TABLE = Path(__file__).with_suffix(".toml")
CODE = ("bot", "adapters")
TIMEOUT_S = 300
"""A test that does not end is one that found the fault."""
LEFT_OUT = (
    ".git",
    ".venv",
    ".audit",
    ".torture",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
    "*.db*",
    "logs",
    "notes",
)
TESTS_FAILED = 1
"""How pytest ends when tests ran and some failed; 2 and more: they could not run."""

Kind = Literal[
    "audience",
    "consent",
    "money",
    "delivery",
    "once",
    "order",
    "forgetting",
    "limits",
    "secrets",
    "rank",
    "truth",
    "time",
]
"""The promise that a fault breaks: who may see what, what people agreed to, what is spent, what arrives, what happens
once, in which order, what is forgotten, how much there is at most, what is nobody's, who may do what, what is told, when."""
ALWAYS: tuple[Kind, ...] = ("audience", "consent", "money", "delivery")
"""Kinds of which every fault must be found."""
ENOUGH = 0.97
"""The part of all others that must be."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: what stands once in that file as `old`, or in another one it has moved to, reads `new`; these tests
    find it."""

    name: str
    kind: Kind
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def found_in(self, tree: Path) -> Path:
        """The file that the fault is of; ValueError where the table no longer fits the code."""
        if (tree / self.file).is_file() and self.old in (tree / self.file).read_text("utf-8"):
            found = [tree / self.file]
        else:
            paths = (path for folder in CODE for path in sorted((tree / folder).rglob("*.py")))
            found = [path for path in paths if self.old in path.read_text("utf-8")]
        times = sum(path.read_text("utf-8").count(self.old) for path in found)
        if times != 1:
            raise ValueError(f"{self.name}: found {times} times: {self.old!r}")
        return found[0]


def all_mutants() -> tuple[Mutant, ...]:
    """The table, in its order."""
    rows = tomllib.loads(TABLE.read_text("utf-8"))["mutant"]
    return tuple(Mutant(**{**row, "tests": tuple(f"tests/{test}" for test in row["tests"])}) for row in rows)


def stale(mutants: Iterable[Mutant]) -> Iterator[str]:
    """What of the table no longer fits the code."""
    for mutant in mutants:
        try:
            compile(mutant.found_in(ROOT).read_text("utf-8").replace(mutant.old, mutant.new), mutant.file, "exec")
        except (ValueError, SyntaxError) as error:
            yield str(error)
        yield from (f"{mutant.name}: no {test}" for test in mutant.tests if not _exists(test))
        if mutant.kind not in get_args(Kind):
            yield f"{mutant.name}: no kind {mutant.kind}"


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and f"def {name}" in (ROOT / file).read_text("utf-8")


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of the code, in which faults are put; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        yield copy


def tried(mutant: Mutant, tree: Path) -> tuple[str, str]:
    """What became of a fault in that copy: "killed", "survived" or "broken", and by which test."""
    path = mutant.found_in(tree)
    whole = path.read_text("utf-8")
    try:
        path.write_text(whole.replace(mutant.old, mutant.new), "utf-8")
        _forget_compiled(path)
        code, said = run_tests(tree, mutant.tests)
    finally:
        path.write_text(whole, "utf-8")
        _forget_compiled(path)
    failed = next((line.split()[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))), "")
    if code is None:
        return "killed", "no end"
    if code == TESTS_FAILED:
        return "killed", failed
    return ("survived", "") if code == 0 else ("broken", said[-500:])


def _forget_compiled(path: Path) -> None:
    """What was compiled of a file is told by its size and second, which a fault may share."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def run_tests(tree: Path, tests: Iterable[str]) -> tuple[int | None, str]:
    """Run these tests of a copy up to the first that fails: how pytest ended (None: not in time), and what it said."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--assert=plain",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON"))}
    process = subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, said.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def main(arguments: list[str]) -> int:
    """Try them and tell; 1 when too few were found."""
    mutants = all_mutants()
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    kinds = ", ".join(get_args(Kind))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of a fault, or a kind ({kinds}); or stale alone")
    wanted: list[str] = parser.parse_args(arguments).names
    if wanted and wanted != ["stale"]:
        if unknown := set(wanted) - {name for each in mutants for name in (each.name, each.kind)}:
            parser.error(f"no fault and no kind: {', '.join(sorted(unknown))}")
        mutants = tuple(each for each in mutants if {each.name, each.kind} & set(wanted))
    if wrong := [*stale(mutants)]:
        print("\n".join(("stale:", *wrong)))
        return 1
    if wanted == ["stale"]:
        print(f"{len(mutants)} faults fit the code")
        return 0
    with copied_tree() as tree:
        code, said = run_tests(tree, sorted({test for mutant in mutants for test in mutant.tests}))
        if code != 0:
            print(f"{said}\nthese tests fail without any fault")
            return 1
        found: list[tuple[Mutant, str]] = []
        for mutant in mutants:
            state, by = tried(mutant, tree)
            found.append((mutant, state))
            print(f"{state:9}{mutant.kind:11}{mutant.name:60}{by}", flush=True)
    return told(found)


def told(found: list[tuple[Mutant, str]]) -> int:
    """Print the table by kinds and who survived; 1 when too few were found."""
    every, killed = (
        Counter(mutant.kind for mutant, state in found if state in which)
        for which in (("killed", "survived", "broken"), ("killed",))
    )
    print(f"\n{'kind':12}{'killed':>8}{'of':>6}")
    for kind in sorted(every, key=lambda kind: (kind not in ALWAYS, kind)):
        print(f"{kind:12}{killed[kind]:8}{every[kind]:6}")
    print(f"{'all':12}{killed.total():8}{every.total():6}  {killed.total() / max(every.total(), 1):.1%}")
    for mutant, state in found:
        if state != "killed":
            print(f"{state}: {mutant.name} ({mutant.kind}) {mutant.file}")
    broken = any(state == "broken" for _, state in found)
    lost = any(killed[kind] < every[kind] for kind in ALWAYS)
    return int(broken or lost or killed.total() < ENOUGH * every.total())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
