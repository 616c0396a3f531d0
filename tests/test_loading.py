"""What a command loads: only what it needs, and before the first message, not during it. Nothing is timed."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.text.dictionary import cutter
from bot.text.fold import simplified
from bot.text.tables import keep_tables_in
from tests.e2e import KEY, running, with_server
from tests.fakes.openai_server import FakeOpenAI
from tests.fork_server import TABLES
from tests.platforms import Platforms, PlatformsHome, stop
from tests.source import ROOT
from tests.test_run import ANN

LIBRARIES = (
    "openai",
    "httpx2",
    "httpx",
    "telegram.ext",
    "discord",
    "aiohttp",
    "jieba",
    "opencc",
    "holidays",
    "numpy",
    "starlette",
    "prometheus_client",
    "genai_prices",
    "mcp",
    "uvicorn",
    "psycopg",
    "apscheduler",
    "pkg_resources",
)
"""What no command needs before there is a message."""

_LOADED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \| +(\S+)", re.MULTILINE)


LONG = "a long expression"
NOTING = f"""import re._compiler as compiler, sys
compile = compiler.compile
def noted(pattern, flags=0):
    if len(pattern) > 500:
        sys.stderr.write("{LONG}: " + str(pattern) + chr(10))
    return compile(pattern, flags)
compiler.compile = noted
"""
"""What an interpreter runs as it starts: it tells each long expression that it compiles."""


class Told(PlatformsHome):
    """The interpreter tells on standard error what it imports, and what long expressions it compiles."""

    def command(self, command: str, *more: str) -> tuple[str, ...]:
        """As usual, with that option."""
        program, *rest = super().command(command, *more)
        return (program, "-X", "importtime", *rest)

    def environment(self) -> dict[str, str]:
        """As usual, with what it runs first."""
        usual = super().environment()
        first = self.folder / "first"
        first.mkdir(exist_ok=True)
        (first / "sitecustomize.py").write_text(NOTING)
        return {**usual, "PYTHONPATH": f"{first}{os.pathsep}{usual['PYTHONPATH']}"}


def loaded(errors: str) -> set[str]:
    """Each module that was imported, and the packages it is in."""
    names = _LOADED.findall(errors)
    return {
        ".".join(parts[:count]) for name in names if (parts := name.split(".")) for count in range(1, len(parts) + 1)
    }


def earlier_start(data: Path) -> None:
    """The tables of libraries are in the data folder, as an earlier start left them."""
    keep_tables_in(TABLES)
    for read in (cutter, simplified):
        read.cache_clear()
        read()
    shutil.copytree(TABLES, data / "cache")


async def test_the_first_message_waits_for_no_import_and_no_long_expression(tmp_path: Path) -> None:
    async with Platforms() as platforms:
        made = platforms.home(tmp_path, TELEGRAM__ALLOW=str(ANN.id))
        home = Told(tmp_path, {name: value for name, value in made.settings.items() if name != "DISCORD__TOKEN"})
        earlier_start(home.data_folder)
        async with running(home, "run") as nuan:
            await platforms.telegram.until(lambda: bool(platforms.telegram.calls("getUpdates")))
            before = len(nuan.errors)
            assert LONG in nuan.errors[:before]
            assert await platforms.tell(ANN, "在吗？ hello there @0@ 今天下午去公园走了走，第1句") == "收到第1句"
            assert loaded(nuan.errors[before:]) == set()
            assert LONG not in nuan.errors[before:]
            await stop(nuan)


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (
            ("--version",),
            {"asyncio", "pydantic", "sqlite3", "rich", "bot.core.memories", "bot.text.clean", "bot.store"},
        ),
        (("logs", "--help"), {"asyncio", "sqlite3", "bot.core.memories", "bot.store", "bot.config"}),
        (("logs",), {"sqlite3", "bot.store", "bot.config", "bot.language", "jinja2", *LIBRARIES}),
        (("logs", "--chat", "家"), {"bot.config", "bot.pipeline", "bot.language.wishes", "jinja2", *LIBRARIES}),
    ],
    ids=["version", "help", "logs", "logs of a chat"],
)
def test_a_command_loads_only_what_it_needs(tmp_path: Path, words: tuple[str, ...], absent: set[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "bot", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert loaded(ran.stderr) & {"typer", "bot.cli.commandline"} == {"typer", "bot.cli.commandline"}
    assert loaded(ran.stderr) & absent == set()


async def test_the_prompt_of_a_talk_waits_for_no_model_and_no_dictionary(tmp_path: Path) -> None:
    async with FakeOpenAI(key=KEY) as server:
        home = Told(tmp_path, with_server(server))
        earlier_start(home.data_folder)
        async with running(home, "chat", tty=True) as nuan:
            assert loaded(nuan.errors) & {*LIBRARIES, "rich.console", "prompt_toolkit"} == {"prompt_toolkit"}
            assert await nuan.ask("今天过得怎么样？") == "好的，我知道了。"
            assert {"openai", "jieba"} <= loaded(nuan.errors)
            await nuan.end_input()
            assert await nuan.ended() == 0


def program(code: str, printed: str = "") -> None:
    """Run it in an interpreter of its own."""
    command = [sys.executable, "-c", f"import sys\n{code}"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ran.stdout, ran.stderr) == (printed, "")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="another C library than glibc")
def test_threads_of_a_bot_that_runs_share_one_heap(tmp_path: Path) -> None:
    told = tmp_path / "heaps.xml"
    program(
        "import ctypes, threading\n"
        "from bot.cli.terminal import use_one_heap\n"
        "use_one_heap()\n"
        "together, kept = threading.Barrier(4), []\n"
        "def fill():\n"
        "    together.wait()\n"
        "    kept.append([bytes(2_000) for _ in range(100)])\n"
        "threads = [threading.Thread(target=fill) for _ in range(4)]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.fopen.restype = ctypes.c_void_p\n"
        f"file = ctypes.c_void_p(libc.fopen({bytes(told)!r}, b'w'))\n"
        "libc.malloc_info(0, file)\n"
        "libc.fclose(file)\n"
    )
    assert told.read_text("ascii").count("<heap nr=") == 1


def test_the_types_of_openai_and_countries_are_loaded_as_they_are_used_also_by_several_connections_at_once() -> None:
    program(
        "import asyncio, datetime\n"
        "from bot.model.client import ServerClient\n"
        "from bot.text.dates import holiday_name\n"
        "assert holiday_name(datetime.date(2026, 10, 1), 'CN', 'zh-Hans') == '国庆节'\n"
        "async def load():\n"
        "    clients = [ServerClient('http://127.0.0.1:9/v1', 'k', name) for name in 'abc']\n"
        "    await asyncio.gather(*(client.prepare() for client in clients))\n"
        "asyncio.run(load())\n"
        "from openai.types import chat\n"
        "from openai.types.chat.chat_completion import ChatCompletion\n"
        "assert chat.ChatCompletion is ChatCompletion\n"
        "assert {'openai.types.responses.response', 'holidays.countries.france', 'aiohttp', 'numpy'}.isdisjoint(sys.modules)\n"
        "from openai.types.responses import Response\n"
        "from holidays.countries import France, FR\n"
        "assert Response.__module__ == 'openai.types.responses.response' and issubclass(FR, France)\n"
    )


def test_parts_of_a_package_load_when_they_are_asked_for(tmp_path: Path) -> None:
    for name, text in {
        "gathers/__init__.py": "from .one import A, B as C\nfrom gathers.two import D\n",
        "gathers/one.py": "A, B = 1, 2\n",
        "gathers/two.py": "D = 3\n",
        "gathers/works/__init__.py": "from .three import E\nF = E + 1\n",
        "gathers/works/three.py": "E = 4\n",
        "absent.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    program(
        f"sys.path.append({str(tmp_path)!r})\n"
        "from bot.lazy_packages import load_parts_when_asked, loading_without\n"
        "load_parts_when_asked('gathers')\n"
        "import gathers\n"
        "assert not [name for name in sys.modules if name.startswith('gathers.')]\n"
        "from gathers import C, D, two\n"
        "from gathers.works import E, F\n"
        "assert (C, D, E, F, two) == (2, 3, 4, 5, sys.modules['gathers.two'])\n"
        "try:\n    from gathers import nothing\nexcept ImportError as error:\n    assert 'nothing' in str(error)\n"
        "with loading_without('absent', 'gathers'):\n"
        "    try:\n        import gathers\n        print('found')\n    except ModuleNotFoundError:\n        pass\n"
        "    try:\n        import absent\n    except ModuleNotFoundError:\n        print('done', end='')\n"
        "import absent\n"
        "assert sys.modules['gathers'] is gathers\n",
        "done",
    )
