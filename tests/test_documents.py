"""The documents in docs/ say what the code says, and the adapter that they show works."""

import asyncio
import json
import re
import sys
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

from bot.commands.registry import COMMANDS
from bot.config.settings import Settings, keys
from docs.site import READMES, gather
from docs.write import DOCS, pages, shell_commands
from tests.fakes.clock import let_others_run
from tests.sizes import PATIENCE_S
from tests.test_shape import LAYERS
from tests.world import World

FILES = (".py", ".db", ".token", ".jsonl")
MODULES = ("bot.core", "bot.core.ports", "bot.core.errors", "bot.text", "bot.config.base")
TEXTS = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
ROOT = DOCS.parent
BESIDE = ("README.md", "README.zh.md", "SECURITY.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "deploy/README.md")
"""What else names files of the code."""
README_BYTES = 8_192
PICTURE_BYTES = 200_000
MADE_UP = (
    "adapters/socket/",
    "adapters/socket/__init__.py",
    "adapters/socket/adapter.py",
    "adapters/NAME/",
    "prompts/tools/NAME.json",
)


def test_the_written_pages_are_what_the_code_gives() -> None:
    for name, text in pages().items():
        assert TEXTS[name] == text, f"docs/{name} has grown old: run python -m docs.write"


def test_every_key_and_every_listed_command_is_there() -> None:
    for key in keys():
        assert f"| `{key.path[-1]}` |" in TEXTS["configuration.md"], key.dotted
    for command in COMMANDS:
        assert (f"`.ai {command.name}" in TEXTS["commands.md"]) == command.listed, command.name


def test_no_table_row_has_an_empty_cell_or_one_too_many() -> None:
    for name in ("configuration.md", "commands.md"):
        for table in re.findall(r"(?m)(?:^\|.*\n)+", TEXTS[name]):
            rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
            assert {len(row) for row in rows} == {len(rows[0])}, rows[0]
            assert all(cell.strip() for row in rows for cell in row)


def test_the_pages_name_only_commands_keys_and_files_that_exist() -> None:
    shell = {tuple(row.split("`")[1].split()) for row in shell_commands()}
    chat = {name for command in COMMANDS for name in (command.name, *command.aliases)}
    dotted = {key.dotted for key in keys()}
    tables = {key.path[0] for key in keys() if len(key.path) > 1}
    for name, text in TEXTS.items():
        for said in re.findall(r"`(nuan [a-z].*?)`", text):
            words = tuple(said.split()[:3])
            assert words in shell or words[:2] in shell, (name, said)
        for said in re.findall(r"`\.ai ([a-z]+)", text):
            assert said in chat, (name, said)
        for said in re.findall(r"`([a-z_]+\.[a-z_.]+)`", text):
            if said.split(".")[0] in tables and not said.endswith(FILES):
                assert said in dotted or said in MODULES, (name, said)
        for said in re.findall(r"`([a-z_]+/[\w/.-]*\.(?:py|txt))`", text):
            places = (ROOT / said, ROOT / "bot" / said)
            assert said in MADE_UP or any(place.exists() for place in places), (name, said)


def test_every_file_and_module_of_ours_that_a_page_names_exists() -> None:
    texts = TEXTS | {name: (ROOT / name).read_text(encoding="utf-8") for name in BESIDE}
    keys_named = {key.dotted for key in keys()}
    missing = [
        (name, said)
        for name, text in texts.items()
        for said in re.findall(r"(?<![\w./-])(?:bot|adapters|tests|prompts|docs|deploy)/[\w./*-]*[\w*/]", text)
        if not any(ROOT.glob(said)) and said not in MADE_UP and "_resources" not in said
    ] + [
        (name, said)
        for name, text in texts.items()
        for said in re.findall(r"(?:python -m |`)((?:bot|adapters|tests)(?:\.[a-z_]+)+)", text)
        if not any((ROOT / (said.replace(".", "/") + end)).exists() for end in ("", ".py")) and said not in keys_named
    ]
    assert missing == []


def test_the_table_of_packages_has_every_package_in_its_layer() -> None:
    rows = re.findall(r"(?m)^\| (\d+) \| `bot/(\w+)`", TEXTS["architecture.md"])
    layers = {name: number for number, names in enumerate(LAYERS, 1) for name in names}
    folders = {path.parent.name for path in (ROOT / "bot").glob("*/__init__.py")}
    assert {name: int(number) for number, name in rows} == {name: layers[name] for name in folders}


def test_the_trees_of_the_guides_have_every_package() -> None:
    folders = {path.parent.name for path in (ROOT / "bot").glob("*/__init__.py")}
    for name in ("guide/en/development.md", "guide/zh/development.md"):
        tree = TEXTS[name].partition("    bot/\n")[2].partition("    adapters/")[0]
        assert set(re.findall(r"(?:^|  )(\w+)/  ?", tree, re.MULTILINE)) == folders, name


def test_every_link_between_the_documents_leads_to_a_file() -> None:
    pages = [ROOT / name for name in BESIDE if name.endswith(".md")] + [DOCS / name for name in TEXTS]
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("language", READMES)
def test_the_site_leads_to_every_page_of_its_language_and_every_link_in_it_to_a_file(
    language: str, tmp_path: Path
) -> None:
    project = tomllib.loads(gather(language, tmp_path).read_text("utf-8"))["project"]
    folder = tmp_path / project["docs_dir"]
    pages = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    assert set(leaves(project["nav"])) == pages
    assert len(pages) == len(TEXTS) - len(list((DOCS / "guide/en").iterdir())) + len(
        ("index", "security", "changes", "deploy")
    )
    broken = [
        (name, link)
        for name in pages
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (folder / name).read_text("utf-8"))
        if "://" not in link and not ((folder / name).parent / link).is_file()
    ]
    assert broken == []


def leaves(nav: object) -> list[str]:
    """The pages that a table of contents names."""
    if isinstance(nav, str):
        return [nav]
    inside = nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ()
    return [page for entry in inside for page in leaves(entry)]


def test_the_readmes_show_small_pictures_of_the_terminal_and_of_the_page() -> None:
    for name in ("README.md", "README.zh.md"):
        shown = re.findall(r"!\[[^]]+\]\((docs/pictures/[\w.]+\.png)\)", (ROOT / name).read_text("utf-8"))
        assert [path.rsplit("/")[-1].split(".")[0] for path in shown] == ["terminal", "page"], name
        assert all((ROOT / path).stat().st_size <= PICTURE_BYTES for path in shown), name


def test_the_readmes_are_short_and_say_the_same() -> None:
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md")]
    assert all(len(text.encode()) <= README_BYTES for text in texts)
    assert len({len(re.findall(r"(?m)^## ", text)) for text in texts}) == 1
    assert {path.name for path in (DOCS / "guide/en").iterdir()} == {
        path.name for path in (DOCS / "guide/zh").iterdir()
    }


async def test_the_adapter_of_the_document_talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, code = re.findall(r"(?s)```python\n(.*?)```", TEXTS["adapter.md"])
    assert len(code.splitlines()) <= 60
    for name, text in (("socket", table), ("socket.adapter", code)):
        module = ModuleType(f"adapters.{name}")
        exec(compile(text, "adapter.md", "exec"), vars(module))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    path = tmp_path / "s"
    platform = sys.modules["adapters.socket"].SocketSettings(path=str(path))
    assert platform.configured
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai", "owners": ["socket:local"]}})
    world = World(tmp_path / "data", settings)
    world.talk = resolve_name(platform.adapter)(platform, (), world.clock, world.log)
    await world.open()
    serving = asyncio.create_task(world.talk.run(world.app.ingest))
    try:
        reader, writer = await connected(path)

        async def answers(line: str, count: int) -> dict[str, str]:
            writer.write(line.encode() + b"\n")
            lines = [json.loads(await asyncio.wait_for(reader.readline(), PATIENCE_S)) for _ in range(count)]
            return {key: value for said in lines for key, value in said.items()}

        told = await answers('{"id": "1", "text": "记住我对花生过敏"}', 2)
        assert told["stored"] == "1"
        assert "#1" in told["text"]
        assert path.stat().st_mode & 0o777 == 0o600
        for bad in ("no json", "[]", '{"id": "3"}', "\x00"):
            assert (await answers(bad, 1)).keys() == {"error"}
        assert (await answers('{"id": "2", "text": "今天好累"}', 2)).keys() == {"stored", "id", "text"}
        await world.wait(5)  # longer than a copy of the same words counts as one
        assert await answers('{"id": "2", "text": "今天好累"}', 1) == {"stored": "2"}
        await world.app.settled()
        writer.close()
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await world.close()
    assert world.peek.memories.count() == 1
    assert len(world.model.requests) == 1


async def connected(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            return await asyncio.open_unix_connection(path)
        except (FileNotFoundError, ConnectionRefusedError):
            await let_others_run()
