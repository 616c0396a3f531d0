"""The source files as tests of the code read them: what each says and imports."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent

Place = Literal["top", "function", "typing"]


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: from where, and whether at the top, inside a function, or for type checking only."""

    line: int
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Module:
    """One source file, what it says and imports; `name` is dotted, `package` its second part (bot.pipeline.turn → pipeline).

    Its tree is not kept: millions of nodes would slow every later look for garbage in the process.
    """

    path: Path
    name: str
    text: str
    says: str
    imports: tuple[Import, ...]

    @property
    def package(self) -> str:
        return [*self.name.split("."), ""][1]

    def at(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


def modules(*folders: str) -> tuple[Module, ...]:
    return tuple(module for folder in folders for module in modules_in(folder))


@cache
def modules_in(folder: str) -> tuple[Module, ...]:
    paths = sorted((ROOT / folder).rglob("*.py"))
    return tuple(module_of(path.read_text(encoding="utf-8"), path) for path in paths)


def module_of(text: str, path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    tree = ast.parse(text)
    return Module(path, name, text, ast.get_docstring(tree) or "", tuple(imports_of(tree)))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements inside, wherever they stand; none stands in an expression."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


def imports_of(tree: ast.AST, place: Place = "top") -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import():
                yield from (Import(node.lineno, alias.name, place) for alias in node.names)
            case ast.ImportFrom():
                yield from (Import(node.lineno, f"{node.module}.{alias.name}", place) for alias in node.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from imports_of(node, "function")
            case ast.If() if "TYPE_CHECKING" in ast.unparse(node.test):
                yield from imports_of(node, "typing")
            case ast.expr():
                pass  # nothing is imported there
            case _:
                yield from imports_of(node, place)
