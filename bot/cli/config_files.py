"""The files that `nuan init` writes: nuan.toml and .env, of which every line that was not asked for stays as it was."""

import io
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import parse_stream

from bot.config.sources import load
from bot.core.errors import ConfigError
from bot.pipeline.endpoints import price_problems

HEADER = "# Written by nuan init; data/nuan.example.toml explains every key. A secret key belongs into .env.\n"


def with_values(toml: str, values: Mapping[tuple[str, str], object]) -> str:
    """The text with these keys set, or taken out where the value is None; every other line as it was."""
    lines = toml.splitlines()
    for (table, key), value in values.items():
        # JSON's quoting is TOML's, too, for printable text, numbers and lists of them.
        line = "" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
        _set_line(lines, table, key, line)
    return "\n".join(lines) + "\n"


def _set_line(lines: list[str], table: str, key: str, line: str) -> None:
    heads = [number for number, text in enumerate(lines) if text.lstrip().startswith("[")]
    top = heads[0] if heads else len(lines)
    head = next((at for at in heads if re.fullmatch(rf"\s*\[\s*{table}\s*\]\s*(#.*)?", lines[at])), None)
    begin = 0 if not table else top if head is None else head + 1
    end = (
        top if not table else len(lines) if head is None else min([at for at in heads if at > head], default=len(lines))
    )
    for start, stop, name in ((begin, end, key), (0, top, rf"{table}\s*\.\s*{key}")):
        for at in range(start, stop if start or head is not None or not table else top):
            if re.match(rf"\s*{name}\s*=", lines[at]):
                dotted = f"{table}.{line}" if line and name != key else line
                lines[at : at + 1] = [dotted] if dotted else []
                return
    if not line:
        return
    if not table:
        lines.insert(top, line)
    elif head is not None:
        lines.insert(head + 1, line)
    elif any(re.match(rf"\s*{table}\s*\.", text) for text in lines[:top]):
        lines.insert(top, f"{table}.{line}")
    else:
        lines += ["", f"[{table}]", line]


def with_key(dotenv: str, key: str, name: str) -> str:
    """The .env text with the line of that name replaced or added, every other line as it was."""
    parts, line = [], f"{name}={key}\n"
    for binding in parse_stream(io.StringIO(dotenv, newline="")):
        written = binding.original.string
        if (binding.key or "").upper() == name:
            written, line = written[: len(written) - len(written.lstrip())] + line, ""
        parts.append(written)
    before = "".join(parts)
    return before + ("\n" if line and before and not before.endswith(("\n", "\r")) else "") + line


def write_files(path: Path, toml: str, secrets: str | None, env: Mapping[str, str]) -> None:
    """Write both files in a folder beside them, check them as a start would, then move them into place."""
    dotenv = path.parent / ".env"
    with tempfile.TemporaryDirectory(prefix=".nuan-init-", dir=path.parent) as folder:
        new_toml, new_dotenv = Path(folder, "nuan.toml"), Path(folder, ".env")
        _create(new_toml, toml, 0o666)
        _create(new_dotenv, read_text(dotenv) if secrets is None else secrets, 0o600)
        try:
            load(new_toml, env, price_problems)
        except ConfigError as error:
            raise ConfigError(tuple(told.replace(str(new_dotenv), str(dotenv)) for told in error.problems)) from None
        if secrets is not None:
            new_dotenv.replace(dotenv.resolve())
        new_toml.replace(path.resolve())


def _create(path: Path, text: str, mode: int) -> None:
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_text(path: Path) -> str:
    """What the file says, "" when there is none; ConfigError when it is no text."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError((f"{path}: is not UTF-8 text (byte {error.start})",)) from None


def already_set(dotenv: str) -> frozenset[str]:
    """The variables that have a value there."""
    return frozenset(
        (found.key or "").upper() for found in parse_stream(io.StringIO(dotenv, newline="")) if found.value
    )
