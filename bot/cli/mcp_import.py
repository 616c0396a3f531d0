"""`nuan mcp import`: takes the servers of another program's configuration (Claude Desktop's JSON) into nuan.toml."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import SecretStr, ValidationError

from bot.cli.installation import ConfigSource
from bot.cli.terminal import read_text_file
from bot.config.mcp import OutsideServer
from bot.core.errors import ConfigError, NuanError
from bot.core.files import write_file

TABLES = ("mcpServers", "servers")
"""Under which key programs keep them: Claude Desktop and most others, VS Code."""

TAKEN = ("command", "args", "env", "url", "headers")
"""The keys that mean the same everywhere; what else a program says of a server is its own."""

NAME_CHARS = 32

_ODD = re.compile(r"[^A-Za-z0-9]+")
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")


def import_servers(source: ConfigSource, file: Path) -> str:
    """Write the servers of that file at the end of the configuration; what was done, a line for each.

    NuanError for a file that cannot be used. What is there already stays as it is.
    """
    wanted = read_servers(file)
    before = source.file.read_text("utf-8") if source.file.exists() else ""
    present = _present(before)
    lines: list[str] = []
    tables: list[str] = []
    for name, body in wanted.items():
        if name in present:
            lines.append(f"{name}: is there already, left as it is")
            continue
        try:
            server = OutsideServer.model_validate(body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            lines.append(f"{name}: left out ({f'{where}: ' if where else ''}{first['msg']})")
            continue
        tables.append("\n".join(_table(name, server)))
        marks = sorted({mark for value in (*server.args, *server.secrets) for mark in _PLACEHOLDER.findall(value)})
        open_marks = f"; write the values in place of {', '.join(marks)}" if marks else ""
        lines.append(f"{name}: taken{open_marks}")
    if tables:
        text = "\n\n".join((*((before.rstrip(),) if before.strip() else ()), *tables)) + "\n"
        _check(text, source.file)
        write_file(source.file, text.encode())
        lines.append(
            f"written to {source.file}, which only you can read. A server is for your own private chats unless its key "
            "`chats` says more, and it is off until you approve it: .ai mcp NAME"
        )
    return "\n".join(lines or [f"{file}: there is no server in it"])


def read_servers(file: Path) -> Mapping[str, Mapping[str, object]]:
    """The servers of a file, by a name that nuan takes, with the keys that it knows."""
    try:
        whole = json.loads(read_text_file(file))
    except (ValueError, RecursionError) as error:
        raise NuanError(f"{file}: is no JSON ({type(error).__name__})") from error
    tables = [whole[key] for key in TABLES if isinstance(whole, dict) and isinstance(whole.get(key), dict)]
    if not tables:
        raise NuanError(f"{file}: holds no {' or '.join(TABLES)}")
    found: dict[str, Mapping[str, object]] = {}
    for name, body in tables[0].items():
        if isinstance(body, dict):
            own = _ODD.sub("-", str(name)).strip("-")[:NAME_CHARS].strip("-") or "server"
            found[own] = {key: body[key] for key in TAKEN if body.get(key)}
    return found


def _present(text: str) -> Mapping[str, object]:
    """The servers that the configuration has."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError((f"nuan.toml: is not valid TOML: {error}",)) from error
    servers = tree.get("mcp", {}).get("servers", {})
    return servers if isinstance(servers, dict) else {}


def _check(text: str, path: Path) -> None:
    """ConfigError where the tables cannot stand at the end of the file, as after `servers = {…}`."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            (f"{path}: the servers cannot be added ({error}); write each as [mcp.servers.NAME]",)
        ) from error


def _table(name: str, server: OutsideServer) -> Iterator[str]:
    yield f"[mcp.servers.{name}]"
    for key in TAKEN:
        value = getattr(server, key)
        if isinstance(value, dict) and value:
            inner = ", ".join(f"{_string(each)} = {_string(_plain(text))}" for each, text in value.items())
            yield f"{key} = {{ {inner} }}"
        elif isinstance(value, tuple) and value:
            yield f"{key} = [{', '.join(map(_string, value))}]"
        elif isinstance(value, str) and value:
            yield f"{key} = {_string(value)}"


def _plain(value: SecretStr) -> str:
    return value.get_secret_value()


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
