"""`nuan init`: writes nuan.toml from a local model server or from answers, and the key to .env beside it."""

import contextlib
import getpass
import http.client
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TextIO, TypeVar

from dotenv.parser import parse_stream
from pydantic import ValidationError

from bot.cli.terminal import YES_WORDS
from bot.config.base import is_loopback
from bot.config.models import ModelServer
from bot.config.sources import load
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, NuanError
from bot.core.files import PromptFiles
from bot.core.models import Price
from bot.pipeline.endpoints import price_problems
from bot.store.people import leave_owner_code
from bot.text.catalogue import catalogue

PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
"""Where local servers listen unless told otherwise, by their own documentation."""
PROBE_SECONDS, MOST_BYTES = 0.5, 1_000_000

T = TypeVar("T")

BASE_URL, NAME, KEY = "NUAN_MODEL__BASE_URL", "NUAN_MODEL__NAME", "NUAN_MODEL__API_KEY"
NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")
NUMBER_OR_NOTHING = re.compile(rf"({NUMBER.pattern})?")
SECRET = re.compile(r"[!#-&(-\[\]-~]{1,4096}")
SECRET_OR_NOTHING = re.compile(rf"({SECRET.pattern})?")
"""Printable ASCII without blanks, quotes and backslashes: stands in .env as it is, for every reader of such files."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a server that listens on this machine."""

    server: str
    base_url: str
    model: str


def find_models(ports: Mapping[str, int]) -> tuple[LocalModel, ...]:
    """The models of the servers that listen on these ports of 127.0.0.1, asked at the same time, half a second each."""
    found: dict[str, tuple[str, ...]] = {}
    # A server that drips for ever keeps its thread, so nobody may have to wait for the thread's end.
    threads = [Thread(target=_probe, args=(name, port, found), daemon=True) for name, port in ports.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PROBE_SECONDS)
    return tuple(
        LocalModel(server, f"http://127.0.0.1:{port}/v1", model)
        for server, port in ports.items()
        for model in found.get(server, ())
    )


def _probe(name: str, port: int, found: dict[str, tuple[str, ...]]) -> None:
    """Plain http.client: it takes no proxy from the environment and follows no redirect off this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PROBE_SECONDS)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        if response.status == 200:
            found[name] = models_in(response.read(MOST_BYTES))


def models_in(body: bytes) -> tuple[str, ...]:
    """The model names in a server's list; none when the body is no such list, whatever it is."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    entries = content.get("data") if isinstance(content, dict) else None
    names = [entry.get("id") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and model_name(name)))


def model_name(answer: str) -> str | None:
    """The answer when it can be the name of a model, None otherwise."""
    return answer if answer.isprintable() and 0 < len(answer) <= 200 else None


@dataclass(frozen=True, slots=True)
class SetupConsole:
    """Streams to ask on; `hidden` reads without echo, None (a pipe) takes secrets from `lines`; EOFError at the end."""

    lines: TextIO
    out: TextIO
    hidden: Callable[[str], str] | None = None

    def say(self, text: str) -> None:
        """Show one line."""
        print(text, file=self.out, flush=True)

    def ask(self, question: str) -> str:
        """The next line of the input."""
        print(question, end="\n" if self.hidden is None else "", file=self.out, flush=True)
        line = self.lines.readline()
        if not line:
            raise EOFError
        return line.strip()

    def ask_secret(self, question: str) -> str:
        """The next line, not shown where a person types it."""
        return self.ask(question) if self.hidden is None else self.hidden(question).strip()


@dataclass(frozen=True, slots=True)
class Answers:
    """What will be written; an empty base_url means the offline model, an empty key leaves .env alone."""

    base_url: str = ""
    model: str = ""
    key: str = ""
    price: Price | None = None
    day_money: float | None = None

    def toml(self) -> str:
        """The text of nuan.toml; the key is never in it."""
        lines = ["# Written by nuan init; data/nuan.example.toml explains every key. A secret key belongs into .env."]
        if self.base_url:
            # JSON's quoting is TOML's, too, for printable text.
            base_url, name = (json.dumps(text, ensure_ascii=False) for text in (self.base_url, self.model))
            lines += ["", "[model]", f"base_url = {base_url}", f"name = {name}"]
        if self.price is not None:
            lines += [f"price_{kind} = {getattr(self.price, kind)!r}" for kind in ("input", "cached", "output")]
        if self.day_money is not None:
            lines += ["", "[budget]", f"day_money = {self.day_money!r}"]
        return "\n".join(lines) + "\n"


class Interview:
    """Asks for what nuan.toml needs; a wrong answer is asked again or, from a pipe, ends it with NuanError."""

    def __init__(self, console: SetupConsole, text: Callable[..., str]) -> None:
        self._console = console
        self._text = text

    def answers(self, offers: tuple[LocalModel, ...], has_key: bool) -> Answers:
        """One of the local models found, or what is answered; `has_key` says that a key is already set."""
        self._console.say(self._text("init_found" if offers else "init_none_found"))
        for number, offer in enumerate(offers, 1):
            self._console.say(f"  {number}. {offer.server}: {offer.model}")
        if offers:
            numbers = {str(number): number for number in range(len(offers) + 1)} | {"": 1}
            picked = self._until("init_pick", "init_bad_pick", numbers.get)
            if picked:
                return Answers(offers[picked - 1].base_url, offers[picked - 1].model)
        base_url = self._until("init_url", "init_bad_url", _url)
        if not base_url:
            return Answers()
        model = self._until("init_model", "init_bad_model", model_name)
        return self._account(base_url, model, has_key)

    def _account(self, base_url: str, model: str, has_key: bool) -> Answers:
        remote = not is_loopback(base_url)
        question = "init_key_kept" if has_key else "init_key_remote" if remote else "init_key_local"
        fits = SECRET if remote and not has_key else SECRET_OR_NOTHING
        key = self._until(question, "init_bad_key", fits.fullmatch, secret=True)[0]
        fresh = self._number("init_price_input") if remote else None
        if fresh is None:
            return Answers(base_url, model, key)
        cached = self._number("init_price_cached")
        output = float(self._until("init_price_output", "init_bad_number", NUMBER.fullmatch)[0])
        price = Price(fresh, fresh if cached is None else cached, output, fresh)
        return Answers(base_url, model, key, price, self._number("init_day_money"))

    def _number(self, question: str) -> float | None:
        answer = self._until(question, "init_bad_number", NUMBER_OR_NOTHING.fullmatch)[0]
        return float(answer) if answer else None

    def _until(self, question: str, wrong: str, read: Callable[[str], T | None], secret: bool = False) -> T:
        ask = self._console.ask_secret if secret else self._console.ask
        while (found := read(ask(self._text(question)))) is None:
            if self._console.hidden is None:
                raise NuanError(self._text("init_wrong_answer", problem=self._text(wrong)))
            self._console.say(self._text(wrong))
        return found


def init(path: Path) -> None:
    """Ask on this terminal, or read the answers from a pipe, and write nuan.toml at `path`; errors as in `run`."""
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "replace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)  # bytes that are no text are a wrong answer, not a crash
    console = SetupConsole(sys.stdin, sys.stdout, getpass.getpass if sys.stdin.isatty() else None)
    write_configuration(path, console, os.environ, PORTS, lambda: leave_owner_code(Path("data"), SystemClock().now()))


def owner_code(data: Path, env: Mapping[str, str]) -> str:
    """A new code for whoever will be the owner, and what to do with it; OSError where the data folder is no place."""
    text = partial(catalogue(PromptFiles(None).path, "messages").text, script=_language(env))
    return text("init_owner_code", code=leave_owner_code(data, SystemClock().now()))


def write_configuration(
    path: Path,
    console: SetupConsole,
    env: Mapping[str, str],
    ports: Mapping[str, int],
    code: Callable[[], str] | None = None,
) -> None:
    """Ask and write; or write nothing, and raise what says why. `code` leaves a code that makes its sender the owner.

    ConfigError: the result would not be valid; NuanError: answers end early or are none; OSError: cannot be written.
    """
    text = partial(catalogue(PromptFiles(None).path, "messages").text, script=_language(env))
    dotenv = path.parent / ".env"
    if not path.parent.is_dir() or path.is_dir():
        raise NuanError(text("init_no_file", path=path))
    try:
        if path.exists() and console.ask(text("init_overwrite", path=path)).lower() not in YES_WORDS:
            console.say(text("init_kept", path=path))
            return
        already = _already_set(secrets := _read(dotenv))
        answers = Interview(console, text).answers(find_models(ports), bool(KEY in already or env.get(KEY)))
    except EOFError:
        raise NuanError(text("init_ended")) from None
    try:
        _write(path, answers, with_key(secrets, answers.key), env)
    except ConfigError:
        console.say(text("init_invalid"))
        raise
    console.say(text("init_written", path=path))
    if answers.key:
        console.say(text("init_key_written", path=dotenv))
    if not answers.base_url:
        console.say(text("init_offline"))
    for name in sorted((already | env.keys()) & {BASE_URL, NAME} | env.keys() & ({KEY} if answers.key else set())):
        console.say(text("init_overruled", name=name))
    if code is not None:
        console.say(text("init_owner_code", code=code()))
    command = "nuan chat" if path == Path("nuan.toml") else f"nuan chat --config {shlex.quote(str(path))}"
    console.say(text("init_next", command=command))


def with_key(dotenv: str, key: str) -> str:
    """The .env text with the key's line replaced or added, every other line as it was; unchanged for an empty key."""
    if not key:
        return dotenv
    parts, line = [], f"{KEY}={key}\n"
    for binding in parse_stream(io.StringIO(dotenv, newline="")):
        written = binding.original.string
        if (binding.key or "").upper() == KEY:
            written, line = written[: len(written) - len(written.lstrip())] + line, ""
        parts.append(written)
    before = "".join(parts)
    return before + ("\n" if line and before and not before.endswith(("\n", "\r")) else "") + line


def _write(path: Path, answers: Answers, secrets: str, env: Mapping[str, str]) -> None:
    """Write both files in a folder beside them, check them as a start would, then move them into place."""
    dotenv = path.parent / ".env"
    with tempfile.TemporaryDirectory(prefix=".nuan-init-", dir=path.parent) as folder:
        new_toml, new_dotenv = Path(folder, "nuan.toml"), Path(folder, ".env")
        _create(new_toml, answers.toml(), 0o666)
        _create(new_dotenv, secrets, 0o600)
        try:
            load(new_toml, env, price_problems)
        except ConfigError as error:
            raise ConfigError(tuple(told.replace(str(new_dotenv), str(dotenv)) for told in error.problems)) from None
        if answers.key:
            new_dotenv.replace(dotenv.resolve())
        new_toml.replace(path.resolve())


def _create(path: Path, text: str, mode: int) -> None:
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8", newline=""
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError((f"{path}: is not UTF-8 text (byte {error.start})",)) from None


def _already_set(dotenv: str) -> frozenset[str]:
    return frozenset(
        (found.key or "").upper() for found in parse_stream(io.StringIO(dotenv, newline="")) if found.value
    )


def _language(env: Mapping[str, str]) -> str:
    locale = (env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "").lower()
    chinese = "zh-Hant" if re.match("zh[_-](tw|hk|mo|hant)", locale) else "zh-Hans"
    return chinese if locale.startswith("zh") else "en"


def _url(answer: str) -> str | None:
    try:
        return ModelServer(base_url=answer).base_url if answer.isprintable() and " " not in answer else None
    except ValidationError:
        return None
