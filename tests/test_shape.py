"""The shape of the code: layers, cycles, the size of files, and no slivers."""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.source import ROOT, Module, module_of, modules
from tests.tables import all_cases

FILE_LINES, SLIVER_LINES = 600, 60
"""Most lines of a file; a file with fewer that only one other imports belongs into that one."""

LAYERS = (
    ("core", "config", "lazy_packages"),
    ("text",),
    ("language",),
    ("context", "prompt", "memory", "recall", "model", "money", "session", "store", "speaking", "tools"),
    ("pipeline",),
    ("commands",),
    ("ops", "web", "mcp", "plugins"),
    ("container",),
    ("app",),
    ("peer",),
    ("cli",),
    ("__main__",),
)
LAYER = {package: number for number, packages in enumerate(LAYERS) for package in packages}
MAY_KNOW_ADAPTERS = ("app", "cli", "__main__")
ADAPTERS_MAY_KNOW = ("text", "core")
REGISTRY, PLATFORM_TABLE = "bot.config.settings", re.compile(r"adapters\.\w+\.\w+Settings")
"""The table of a platform stands in the package of its adapter, and is listed in the settings."""


def wrong_imports(module: Module) -> Iterator[str]:
    """Imports that go up a layer, or to one beside, or bring an adapter where none belongs."""
    for found in module.imports:
        top, package = (*found.name.split("."), "")[:2]
        where = f"{module.at(found.line)} imports {found.name}"
        match (module.name.split(".")[0], top):
            case ("bot", "bot") if package in LAYER and module.package in LAYER:
                up = LAYER[package] > LAYER[module.package]
                beside = LAYER[package] == LAYER[module.package] > 0 and package != module.package
                if up or beside:
                    yield where
            case ("bot", "adapters") if module.package not in MAY_KNOW_ADAPTERS:
                if not (module.name == REGISTRY and PLATFORM_TABLE.fullmatch(found.name)):
                    yield where
            case ("adapters", "bot") if package not in ADAPTERS_MAY_KNOW:
                if not (found.name.startswith("bot.config.base.") and module.path.name == "__init__.py"):
                    yield where
            case ("adapters", "adapters") if package != module.package and module.name != "adapters":
                yield where
            case (_, "tests" | "unittest"):
                yield where


def too_long(path: Path, text: str) -> Iterator[str]:
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{path.relative_to(ROOT)} has {lines} lines"


def slivers(found: tuple[Module, ...]) -> list[str]:
    """Short files with a single importer; faces of packages and programs apart."""
    names = {module.name for module in found}
    importers: Counter[str] = Counter()
    for module in found:
        importers.update({target for item in module.imports if (target := module_named(item.name, names))})
    short = (each for each in found if each.text.count("\n") < SLIVER_LINES and each.path.name[:2] != "__")
    return [module.at(1) for module in short if importers[module.name] == 1]


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
    """The module an imported name comes from: bot.core.events.Event is bot.core.events."""
    return name if name in names else next((short for short in [name.rpartition(".")[0]] if short in names), None)


def test_every_package_has_its_layer() -> None:
    assert sorted({module.package for module in modules("bot")} - set(LAYER) - {""}) == []


def test_no_import_goes_up_a_layer_or_beside() -> None:
    assert [line for module in modules("bot", "adapters") for line in wrong_imports(module)] == []


def test_no_two_modules_need_each_other() -> None:
    assert cycles(modules("bot", "adapters")) == []


def test_no_file_is_too_long() -> None:
    paths = [path for folder in ("bot", "adapters", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert [line for path in paths for line in too_long(path, path.read_text(encoding="utf-8"))] == []


def test_there_are_no_slivers() -> None:
    assert slivers(modules("bot", "adapters")) == []


@all_cases(
    ("path", "line"),
    [
        ("bot/core/x.py", "from bot.text import fold"),
        ("bot/memory/x.py", "from bot.store.events import Events"),
        ("bot/memory/x.py", "import bot.pipeline.turn"),
        ("bot/pipeline/x.py", "from bot import app"),
        ("bot/pipeline/x.py", "def f():\n    from adapters.console import Console"),
        ("bot/config/settings.py", "from adapters.discord.adapter import DiscordAdapter"),
        ("adapters/x.py", "from bot.config.settings import Settings"),
        ("adapters/discord/__init__.py", "from bot.config.settings import Settings"),
        ("adapters/x.py", "from adapters.console import Console"),
        ("bot/app.py", "from tests.world import World"),
    ],
)
def test_a_wrong_import_is_seen(path: str, line: str) -> None:
    assert len(list(wrong_imports(module_of(line, ROOT / path)))) == 1


def test_a_file_that_is_too_long_is_seen() -> None:
    assert len(list(too_long(ROOT / "bot/x.py", "\n" * 601))) == 1


def test_a_sliver_is_seen() -> None:
    pair = (
        module_of("x = 1\n", ROOT / "bot/text/a.py"),
        module_of("from bot.text.a import x\n", ROOT / "bot/text/b.py"),
    )
    assert slivers(pair) == ["bot/text/a.py:1"]


def test_a_cycle_is_seen() -> None:
    pair = (
        module_of("from bot.pipeline.b import x", ROOT / "bot/pipeline/a.py"),
        module_of("from bot.pipeline import a", ROOT / "bot/pipeline/b.py"),
    )
    assert cycles(pair) != []
