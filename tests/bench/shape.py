"""`python -m tests.bench.shape [FOLDER]`: how a checkout's code is cut into files: bot/ and adapters/, or --parts.

It reads text alone and imports nothing of it, so it measures any commit: `git worktree add ../before COMMIT`, then once
for each folder. A line of code is one with a token other than a comment or a docstring.
"""

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.counts import percentile

PARTS = ("bot", "adapters")
SLIVER_LINES = 60
"""Fewer lines than these, and one importer: a file that belongs into that one (tests/test_shape.py)."""
BIGGEST = 10
EMPTY = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: where it is, its dotted name, its lines, those that are code, and the names that it imports."""

    path: str
    name: str
    lines: int
    code: int
    imports: frozenset[str]
    unformatted: int

    @property
    def package(self) -> str:
        """The folder of its part that it is in, or the file itself."""
        first, _, rest = self.path.partition("/")
        return f"{first}/{rest.split('/')[0]}"


def source_files(root: Path, parts: Sequence[str] = PARTS) -> tuple[SourceFile, ...]:
    """Every Python file of these folders."""
    paths = sorted(path for part in parts for path in (root / part).rglob("*.py"))
    return tuple(source_file(path.relative_to(root), path.read_text("utf-8")) for path in paths)


def source_file(path: Path, text: str) -> SourceFile:
    """One file as it is counted."""
    tree = ast.parse(text)
    names = path.with_suffix("").parts
    name = ".".join(names[:-1] if names[-1] == "__init__" else names)
    code = lines_of_code(text, tree)
    return SourceFile(
        path.as_posix(), name, len(text.splitlines()), code, frozenset(imported(tree)), text.count("# fmt: skip")
    )


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Lines with a token that is no comment, without those of docstrings."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in EMPTY:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                found.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


def imported(tree: ast.Module) -> Iterator[str]:
    """Dotted names that are imported anywhere in a file, `from a.b import c` as a.b.c."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                yield from (f"{module}.{alias.name}" for alias in node.names)


def importers(files: Sequence[SourceFile]) -> Counter[str]:
    """How many other files import each file, by its dotted name."""
    names = {file.name for file in files}
    found: Counter[str] = Counter()
    for file in files:
        found.update(
            {name if name in names else name.rpartition(".")[0] for name in file.imports} & names - {file.name}
        )
    return found


def show(files: Sequence[SourceFile]) -> str:
    """The figures as lines of text."""
    sizes, code = [file.lines for file in files], sum(file.code for file in files)
    wanted = importers(files)
    inner = [file for file in files if not file.path.endswith(("__init__.py", "__main__.py"))]
    alone = [file for file in inner if wanted[file.name] == 1]
    figures = {
        "files": len(files),
        "lines": sum(sizes),
        "lines of code": code,
        "files per 1,000 lines of code": round(len(files) / max(code, 1) * 1000, 1),
        "median file, lines": int(percentile(sizes, 0.5)),
        "90th percentile, lines": int(percentile(sizes, 0.9)),
        "files imported by one other": len(alone),
        f"of these under {SLIVER_LINES} lines": sum(file.lines < SLIVER_LINES for file in alone),
        "lines with `# fmt: skip`": sum(file.unformatted for file in files),
    }
    packages = {package: [file for file in files if file.package == package] for package in {f.package for f in files}}
    big = sorted(files, key=lambda file: -file.lines)[:BIGGEST]
    return "\n".join(
        [
            *(f"{name:32}{figure:>10,}" for name, figure in figures.items()),
            "",
            *(f"{file.path:50}{file.lines:>6,} lines" for file in big),
            "",
            *(
                f"{name:24}{len(found):>5} files{sum(file.lines for file in found):>8,} lines"
                for name, found in sorted(packages.items())
            ),
        ]
    )


def main() -> None:
    """Print the figures of one checkout."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.shape", description="How code is cut into files.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="a checkout; this one unless given")
    parser.add_argument("--parts", nargs="+", default=PARTS, help="its folders to count")
    asked = parser.parse_args()
    files = source_files(asked.folder, asked.parts)
    if not files:
        sys.exit(f"no Python file in {', '.join(asked.parts)} of {asked.folder}")
    print(show(files))


if __name__ == "__main__":
    main()
