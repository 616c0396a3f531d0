"""What could change the result of a row, as a short number: the program, what tests stand on, the tests it is made of.

A change of a test that a row has nothing to do with throws none of its results away.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.torture.row import Row

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "bot",
    "adapters",
    "prompts",
    "data/persona",
    "data/providers.toml",
    "data/nuan.example.toml",
    "deploy",
    "pyproject.toml",
    "constraints.txt",
    "hashes.txt",
    "tests",
)
"""All of these count for every row, but of the files called test_*.py only those that the row is made of."""


def keys(rows: Iterable[tuple[Row, str]], root: Path = ROOT) -> Mapping[str, str]:
    """The number of each row, which stands in that module (tests.torture.rows_store)."""
    common = _digest(root, _common(root))
    return {row.id: f"{common}-{_digest(root, _tests(row, home, root))}" for row, home in rows}


def _common(root: Path) -> Iterator[Path]:
    for name in SOURCES:
        for path in (root / name, *(root / name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and not _is_test(path):
                yield path


def _tests(row: Row, home: str, root: Path) -> Iterator[Path]:
    """The tests that the row names, and all that they or its module get something from."""
    waiting = [_path(root, home), *(root / "tests" / name.partition("::")[0] for name in row.existing)]
    seen: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in seen and path.is_file():
            seen.add(path)
            waiting += [_path(root, name) for name in imported(path, path.stat().st_mtime_ns)]
    return (path for path in seen if _is_test(path))


def _is_test(path: Path) -> bool:
    return path.suffix == ".py" and path.name.startswith("test_")


def _path(root: Path, module: str) -> Path:
    return root.joinpath(*module.split(".")).with_suffix(".py")


@cache
def imported(path: Path, changed: int) -> tuple[str, ...]:
    """The modules of tests that a file imports, at its top or in a function; `changed` keeps what is cached true."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import():
                found += [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module)):
                found += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(name for name in found if name.startswith("tests."))


def _digest(root: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(set(paths)):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
