"""The shape of the house: floors, cycles, sizes and habits. Raising a number here is a decision to explain."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINE, FILE_LINES, FUNCTION_LINES, PUBLIC_METHODS, PARAMETERS = 120, 600, 60, 16, 12

FLOORS = (
    ("types", "ports", "errors", "config", "resources", "clock"),
    ("text",),
    ("context", "prompt", "memory", "recall", "people", "model", "money", "session", "store"),
    ("flow",),
    ("commands",),
    ("ops",),
    ("rooms",),
    ("app",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
MAY_KNOW_ADAPTERS = ("app", "cli", "__main__")
ADAPTERS_MAY_KNOW = ("types", "ports", "errors", "text")
HEAVY = (
    "openai", "genai_prices", "jieba", "opencc", "holidays", "numpy", "discord", "telegram", "prompt_toolkit", "mcp",
    "jinja2", "apscheduler", "prometheus_client", "starlette", "uvicorn",
)  # fmt: skip
EDGES = (
    "bot.model.wire", "bot.cli.mcpwire", "bot.ops.meters", "adapters.telegram.", "adapters.discord.", "bot.ops.web.",
)  # fmt: skip
"""Modules that are heavy themselves: they may import a heavy library at the top, and nobody imports them there."""
CLOCK = re.compile(
    r"(?:\w*\.)?datetime\.(?:now|utcnow|today)|(?:\w*\.)?date\.today|asyncio\.sleep"
    r"|time\.(?:time|time_ns|monotonic|monotonic_ns|sleep|localtime|gmtime)"
    r"|(?:\w+\.)*\w*loop\w*\.(?:time|call_later|call_at)"
)
CLOCK_NAMES = ("time", "time_ns", "monotonic", "monotonic_ns", "sleep", "localtime", "gmtime")
CLOCK_ENDS = frozenset((*CLOCK_NAMES, "now", "utcnow", "today", "call_later", "call_at"))
"""The last names of all that CLOCK matches."""


Place = Literal["top", "function", "typing"]


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: from where, and whether at the top, inside a function, or for type checking only."""

    line: int
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Module:
    """One source file, what it says and imports; `name` is dotted, `room` its second part (bot.flow.turn → flow).

    Its tree is not kept: millions of nodes would slow every later look for garbage in the process.
    """

    path: Path
    name: str
    text: str
    says: str
    imports: tuple[Import, ...]

    @property
    def room(self) -> str:
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


def wrong_imports(module: Module) -> Iterator[str]:
    """Imports that climb a floor, cross to a neighbour, or bring an adapter where none belongs."""
    for found in module.imports:
        package, room = (*found.name.split("."), "")[:2]
        where = f"{module.at(found.line)} imports {found.name}"
        match (module.name.split(".")[0], package):
            case ("bot", "bot") if room in FLOOR and module.room in FLOOR:
                up = FLOOR[room] > FLOOR[module.room]
                neighbour = FLOOR[room] == FLOOR[module.room] > 0 and room != module.room
                if up or neighbour:
                    yield where
            case ("bot", "adapters") if module.room not in MAY_KNOW_ADAPTERS:
                yield where
            case ("adapters", "bot") if room not in ADAPTERS_MAY_KNOW:
                yield where
            case ("adapters", "adapters") if room != module.room and module.name != "adapters":
                yield where
            case (_, "tests" | "unittest"):
                yield where


def too_big(module: Module) -> Iterator[str]:
    lines = module.text.count("\n")
    if lines > FILE_LINES:
        yield f"{module.at(1)} has {lines} lines"
    for number, line in enumerate(module.text.splitlines(), 1):
        if len(line) > LINE:
            yield f"{module.at(number)} has {len(line)} characters"
    for node in statements(ast.parse(module.text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                count = len(names) - (names[:1] in (["self"], ["cls"]))
                if length > FUNCTION_LINES:
                    yield f"{module.at(node.lineno)} {node.name} has {length} lines"
                if count > PARAMETERS:
                    yield f"{module.at(node.lineno)} {node.name} has {count} parameters"
            case ast.ClassDef():
                inside = [item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
                public = [item for item in inside if not item.name.startswith("_")]
                if len(public) > PUBLIC_METHODS:
                    yield f"{module.at(node.lineno)} {node.name} has {len(public)} public methods"


def heavy_imports(module: Module) -> Iterator[str]:
    """Heavy libraries at the top, and anything else inside a function (a command line loads only its command)."""
    for found in module.imports:
        library = found.name.split(".")[0] in HEAVY
        heavy = not module.name.startswith(EDGES) and (library or found.name.startswith(EDGES))
        if found.place == ("top" if heavy else "function") and (heavy or module.room != "cli"):
            yield f"{module.at(found.line)} imports {found.name}"


def clock_uses(module: Module) -> Iterator[str]:
    for found in module.imports:
        package, _, name = found.name.rpartition(".")
        if (package == "time" and name in CLOCK_NAMES) or found.name == "asyncio.sleep":
            yield f"{module.at(found.line)} imports {found.name}"
    for node in ast.walk(ast.parse(module.text)):
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_ENDS and CLOCK.fullmatch(ast.unparse(node)):
            yield f"{module.at(node.lineno)} uses {ast.unparse(node)}"


def cycles(found: tuple[Module, ...]) -> list[str]:
    names = {module.name for module in found}
    graph: dict[str, set[str]] = {}
    for module in found:
        targets = {target for item in module.imports if (target := module_named(item.name, names))}
        graph[module.name] = targets - {module.name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" → ".join(error.args[1])]
    return []


def module_named(name: str, names: set[str]) -> str | None:
    """The module an imported name comes from: bot.types.event.Event is bot.types.event."""
    return name if name in names else next((short for short in [name.rpartition(".")[0]] if short in names), None)


def test_every_room_has_its_floor() -> None:
    assert sorted({module.room for module in modules("bot")} - set(FLOOR) - {""}) == []


def test_nobody_climbs_the_floors_or_visits_a_neighbour() -> None:
    assert [line for module in modules("bot", "adapters") for line in wrong_imports(module)] == []


def test_no_two_modules_need_each_other() -> None:
    assert cycles(modules("bot", "adapters")) == []


def test_files_functions_and_classes_stay_small() -> None:
    assert [line for module in modules("bot", "adapters", "tests") for line in too_big(module)] == []


def test_heavy_libraries_load_late_and_everything_else_at_the_top() -> None:
    assert [line for module in modules("bot", "adapters") for line in heavy_imports(module)] == []


def test_only_the_clock_knows_the_time() -> None:
    found = [module for module in modules("bot", "adapters") if module.name != "bot.clock"]
    assert [line for module in found for line in clock_uses(module)] == []


def test_nothing_is_left_for_later() -> None:
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    files = [path for folder in ("bot", "adapters", "tests", "prompts", "data/persona") for path in files_in(folder)]
    left = [path.relative_to(ROOT) for path in files if mark.search(path.read_text(encoding="utf-8"))]
    assert left == []


def files_in(folder: str) -> Iterator[Path]:
    return (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".txt", ".md", ".toml"))


def test_every_module_says_what_it_is_in_three_lines_at_most() -> None:
    said = {module.at(1): module.says for module in modules("bot", "adapters")}
    drawing = "bot/errors.py:1"  # the tree of errors is a drawing
    lines = {where: [line for line in text.splitlines() if line] for where, text in said.items() if where != drawing}
    assert [where for where, text in lines.items() if not 0 < len(text) <= 3] == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("bot/types/x.py", "from bot.text import fold"),
        ("bot/memory/x.py", "from bot.store.events import Events"),
        ("bot/memory/x.py", "import bot.flow.turn"),
        ("bot/flow/x.py", "from bot import app"),
        ("bot/flow/x.py", "def f():\n    from adapters.console import Console"),
        ("adapters/x.py", "from bot.config import Settings"),
        ("adapters/x.py", "from adapters.console import Console"),
        ("bot/app.py", "from tests.world import World"),
    ],
)
def test_a_wrong_import_is_seen(path: str, line: str) -> None:
    assert len(list(wrong_imports(module_of(line, ROOT / path)))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "from datetime import datetime\ndatetime.now()",
        "import datetime as d\nd.datetime.now()",
        "import time\nx = time.monotonic",
        "from time import time",
        "from asyncio import sleep",
        "loop.call_later(1, f)",
        "self._loop.time()",
    ],
)
def test_a_second_clock_is_seen(line: str) -> None:
    assert list(clock_uses(module_of(line, ROOT / "bot/flow/x.py")))


def test_a_file_that_is_too_big_is_seen() -> None:
    many = ", ".join(f"a{number}" for number in range(13))
    methods = "\n".join(f"    def m{number}(self): ..." for number in range(17))
    text = f"def f({many}):\n" + "    pass\n" * 60 + "#" * 121 + f"\nclass C:\n{methods}\n" + "\n" * 540
    assert len(list(too_big(module_of(text, ROOT / "bot/x.py")))) == 5


def test_a_heavy_import_at_the_top_and_a_light_one_inside_are_seen() -> None:
    text = "import openai\ndef f():\n    import jieba\n    import json\n"
    assert [line.split()[-1] for line in heavy_imports(module_of(text, ROOT / "bot/x.py"))] == ["openai", "json"]


def test_a_cycle_is_seen() -> None:
    pair = (
        module_of("from bot.flow.b import x", ROOT / "bot/flow/a.py"),
        module_of("from bot.flow import a", ROOT / "bot/flow/b.py"),
    )
    assert cycles(pair) != []
