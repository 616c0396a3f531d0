"""Reads nuan.toml, .env, environment and values set in chats into Settings, reports all problems at once, and says
where each value comes from."""

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from dotenv.parser import parse_stream
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource, InitSettingsSource

from bot.config.checks import contradictions
from bot.config.models import CapabilityRule
from bot.config.settings import PREFIX, SettingKey, Settings, keys
from bot.core.errors import ConfigError
from bot.core.ports import ChatSetting

ERROR_WORDS = {
    "extra_forbidden": "unknown key",
    "model_type": "must be a table",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "tuple_type": 'must be a list, like ["a", "b"]',
}
"""Our words for pydantic's error types; the others are told in pydantic's."""

Tree = dict[str, object]

SettingOrigin = Literal["default", "file", "dotenv", "environment", "chat"]
"""Where a value comes from: nobody set it, nuan.toml, .env beside it, a variable of the process, or a chat."""


@dataclass(frozen=True, slots=True)
class _Given:
    """The value that a variable or a chat gives a key, and how that source is named."""

    value: str
    name: str


class _Variables(EnvSettingsSource):
    """Reads these variables instead of the process's."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = {name.lower(): value for name, value in variables.items()}
        super().__init__(Settings, env_prefix=PREFIX, env_nested_delimiter="__")

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._variables


def load(
    config_file: Path | None,
    env: Mapping[str, str],
    named: Callable[[Settings], tuple[str, ...]] = lambda _: (),
    said: Mapping[str, str] | None = None,
) -> Settings:
    """The configuration: what was `said` in chats before `env` before .env beside the file before the file.

    The file is nuan.toml of this folder when None; `said` is by dotted key, each value as a variable holds it.

    Raises ConfigError with every problem at once, each beginning with its dotted path; values are never shown.
    `named` gives the problems of the files that the settings name.
    """
    path = config_file or Path("nuan.toml")
    problems: list[str] = []
    tree = _read_toml(path, config_file is not None, problems)
    given = _variables(_read_dotenv(path.parent / ".env", problems), problems) | _variables(env, problems)
    told = _from_chats(said or {})
    settings, wrong = _validate(tree, given | told, problems)
    problems += [
        f"{found.path}: {found.text}{next((_set_by(told[path]) for path in sorted(found.involved) if path in told), '')}"
        for found in contradictions(settings)
        if not wrong & found.involved
    ]
    problems += named(settings)
    if problems:
        raise ConfigError(tuple(dict.fromkeys(problems)))
    return settings


def values_set(config_file: Path | None, env: Mapping[str, str]) -> dict[str, tuple[SettingOrigin, str]]:
    """Where each key that is set comes from, and the name of that file or variable; what is wrong is left out."""
    path = config_file or Path("nuan.toml")
    toml = _read_toml(path, False, [])
    found: dict[str, tuple[SettingOrigin, str]] = {
        key.dotted: ("file", path.name) for key in keys() if _holds(toml, key.path)
    }
    dotenv, process = _variables(_read_dotenv(path.parent / ".env", []), []), _variables(env, [])
    found |= {dotted: ("dotenv", variable.name) for dotted, variable in dotenv.items()}
    return found | {dotted: ("environment", variable.name) for dotted, variable in process.items()}


def _holds(tree: object, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(tree, dict) or part not in tree:
            return False
        tree = tree[part]
    return True


def _read_toml(path: Path, must_exist: bool, problems: list[str]) -> Tree:
    """The file's values; the names of its tables may be in capitals."""
    text = _read(path, must_exist, problems)
    try:
        tree = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
        return {name.lower() if name.lower() in Settings.model_fields else name: tree[name] for name in tree}
    except tomllib.TOMLDecodeError as error:
        problems.append(f"{path}: is not valid TOML: {error}")
    except RecursionError:
        problems.append(f"{path}: is not valid TOML: nested too deeply")
    return {}


def _read_dotenv(path: Path, problems: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for binding in parse_stream(StringIO(_read(path, False, problems).removeprefix("\ufeff"))):
        if binding.error:
            problems.append(f"{path}: line {binding.original.line} is not NAME=value")
        elif binding.key is not None and binding.value is not None:
            found[binding.key] = binding.value
    return found


def _read(path: Path, must_exist: bool, problems: list[str]) -> str:
    """The file's text; "" when it is missing and need not exist, or when it is a problem."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if must_exist:
            problems.append(f"{path}: there is no such file")
    except OSError as error:
        problems.append(f"{path}: cannot be read: {error.strerror or type(error).__name__}")
    except UnicodeDecodeError as error:
        problems.append(f"{path}: is not UTF-8 text (byte {error.start})")
    return ""


def _variables(env: Mapping[str, str], problems: list[str]) -> dict[str, _Given]:
    """The NUAN_ variables by the dotted path of their key; one that names no key is a problem."""
    known = {key.variable: key for key in keys()}
    found: dict[str, _Given] = {}
    for name, value in sorted(env.items()):
        if key := known.get(name.upper()):
            found[key.dotted] = _Given(value, name)
        elif name.upper().startswith(PREFIX):
            problems.append(f"{name}: unknown variable{_did_you_mean(name.upper(), list(known))}")
    return found


def _from_chats(said: Mapping[str, str]) -> dict[str, _Given]:
    """What was said in chats by dotted path; a key that this nuan does not know is one of a newer one."""
    return {
        key.dotted: _Given(said[key.dotted], f"a chat; `nuan unset {key.dotted}` takes it back")
        for key in keys()
        if key.dotted in said
    }


def _validate(tree: Tree, given: dict[str, _Given], problems: list[str]) -> tuple[Settings, frozenset[str]]:
    """Settings from the file and what goes before it, and the paths that were wrong: those are told and then left at
    their defaults."""
    wrong: set[str] = set()
    variable = {key.dotted: key.variable for key in keys()}
    while True:
        variables = _Variables({variable[dotted]: one.value for dotted, one in given.items()})
        try:
            # A parameter of BaseSettings that type checkers do not see.
            sources: Any = {"_build_sources": ((variables, InitSettingsSource(Settings, tree)), {})}
            return Settings(**sources), frozenset(wrong)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False, include_input=False):
                loc = _key_of(detail["loc"])
                dotted = ".".join(loc)
                wrong.add(dotted)
                problems.append(_describe(detail, loc, given.get(dotted)))
                _drop(tree, loc)
            given = {dotted: one for dotted, one in given.items() if dotted not in wrong}


def _key_of(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """The path of the key an error belongs to, without the position inside a list."""
    path: list[str] = []
    for part in loc:
        if isinstance(part, int):
            break
        path.append(part)
    return tuple(path)


def _describe(detail: ErrorDetails, loc: tuple[str, ...], given: _Given | None) -> str:
    text = ERROR_WORDS.get(detail["type"], detail["msg"][:1].lower() + detail["msg"][1:])
    if loc == ("capabilities",):
        text = _of_rule(detail, text)
    elif detail["type"] == "extra_forbidden":
        text += _suggest_key(loc)
    return f"{'.'.join(loc)}: {text}{_set_by(given) if given else ''}"


def _set_by(given: _Given) -> str:
    return f" (set by {given.name})"


def _of_rule(detail: ErrorDetails, text: str) -> str:
    """The text of a problem in [[capabilities]], with which of the tables and which of its keys it is about."""
    if len(detail["loc"]) < 2:
        return "must be tables, each headed [[capabilities]]"
    _, number, *inside = detail["loc"]
    if detail["type"] == "extra_forbidden":
        text += _did_you_mean(str(inside[0]), list(CapabilityRule.model_fields))
    return (
        f"table {int(number) + 1}, {'.'.join(map(str, inside))}: {text}"
        if inside
        else f"{text}, headed [[capabilities]]"
    )


def _suggest_key(loc: tuple[str, ...]) -> str:
    paths = [key.dotted for key in keys()]
    tables = {path.rpartition(".")[0] for path in paths} - {""}
    same_name = [path for path in paths if path.rpartition(".")[2] == loc[-1]]
    return f"; did you mean {same_name[0]}?" if same_name else _did_you_mean(".".join(loc), [*paths, *sorted(tables)])


def _did_you_mean(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def _drop(tree: Tree, loc: tuple[str, ...]) -> None:
    node: object = tree
    for part in loc[:-1]:
        node = node.get(part) if isinstance(node, dict) else None
    if isinstance(node, dict):
        node.pop(loc[-1], None)


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One key: its value as it would stand in a file ("" for a secret), where that comes from, and what it is for.

    `name` is the file, variable or person that sets it, `secret` tells whether a secret is set (None: it is none).
    """

    key: str
    value: str
    origin: SettingOrigin
    name: str
    help: str
    secret: bool | None = None


def settings_shown(
    settings: Settings, config_file: Path | None, env: Mapping[str, str], said: Iterable[ChatSetting] = ()
) -> tuple[ShownSetting, ...]:
    """Every key with its value and place, as the files and chats say now; what cannot be read is shown as a default."""
    where = values_set(config_file, env) | {one.key: ("chat", one.name) for one in said}
    return tuple(_shown(settings, key, *where.get(key.dotted, ("default", ""))) for key in keys())


def _shown(settings: Settings, key: SettingKey, origin: SettingOrigin, name: str) -> ShownSetting:
    value, about = key.value(settings), key.help
    if SecretStr in (key.field.annotation, *getattr(key.field.annotation, "__args__", ())):
        return ShownSetting(key.dotted, "", origin, name, about, secret=value is not None)
    return ShownSetting(key.dotted, "none" if value is None else _plain(value), origin, name, about)


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_json)


def _json(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)
