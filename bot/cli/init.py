"""`nuan init`: writes nuan.toml and .env from answers, flags and defaults; of files that are there it changes only what was
asked. How what it wrote is tried: `bot/cli/doctor.py`."""

import asyncio
import contextlib
import getpass
import http.client
import io
import json
import os
import re
import select
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Protocol, TextIO, TypeVar

from pydantic import SecretStr, ValidationError

from bot.cli.config_files import HEADER, already_set, read_text, with_key, with_values, write_files
from bot.cli.installation import ConfigSource
from bot.cli.terminal import system_language
from bot.config.base import is_loopback
from bot.config.models import ModelServer
from bot.config.settings import PREFIX, Settings
from bot.config.sources import load
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, NuanError
from bot.core.files import PromptFiles, program_name, resource_dir
from bot.core.people import SCRIPTS
from bot.pipeline.endpoints import price_problems
from bot.store.people import leave_owner_code
from bot.text.catalogue import catalogue

PORTS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
"""Where local servers listen unless told otherwise, by their own documentation."""
PROBE_SECONDS, MOST_BYTES = 0.5, 1_000_000

ANSWER_SECONDS = 10
"""How long an answer of a pipe is waited for: who sits there and thinks has a terminal."""

MOST_NAME_CHARS = 20
MOST_LISTED = 30
"""Models of a server that are shown; any other can be typed."""

T = TypeVar("T")

BASE_URL, NAME, KEY = "NUAN_MODEL__BASE_URL", "NUAN_MODEL__NAME", "NUAN_MODEL__API_KEY"
PRICES = ("input", "cached", "output")
NUMBER_OR_NOTHING = re.compile(r"(\d{1,9}(\.\d{1,9})?)?")
SECRET = re.compile(r"[!#-&(-\[\]-~]{1,4096}")
SECRET_OR_NOTHING = re.compile(rf"({SECRET.pattern})?")
"""Printable ASCII without blanks, quotes and backslashes: stands in .env as it is, for every reader of such files."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A model server that people know by name: its address for OpenAI's clients, and a model to begin with."""

    name: str
    base_url: str
    model: str


PROVIDERS = (
    Provider("DeepSeek", "https://api.deepseek.com", "deepseek-chat"),
    Provider("OpenAI", "https://api.openai.com/v1", "gpt-5.4-mini"),
    Provider("OpenRouter", "https://openrouter.ai/api/v1", "deepseek/deepseek-chat"),
    Provider("Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-plus"),
    Provider("Moonshot", "https://api.moonshot.cn/v1", "kimi-k2.6"),
    Provider("GLM", "https://open.bigmodel.cn/api/paas/v4", "glm-5.3-flash"),
    Provider("Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3.8-flash"),
    Provider("Ollama", "http://localhost:11434/v1", "qwen3:8b"),
    Provider("LM Studio", "http://localhost:1234/v1", "qwen3-8b"),
)
"""By the providers' own pages, November 2026."""
OTHER, NONE = "other", "none"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a server that listens on this machine."""

    server: str
    base_url: str
    model: str


def _tokens(settings: Settings) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Of each platform whose token is asked for its name, the variable of the token and what it looks like, or nothing.

    Anything else is an answer to another question.
    """
    for name, platform in settings.platforms.items():
        if platform.key_form:
            form = re.compile(f"({platform.key_form})?", re.ASCII)
            yield name, f"{PREFIX}{name}__{platform.starts_with}".upper(), form


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


class Answers(Protocol):
    """Where answers come from."""

    def readline(self) -> str:
        """The next line with its end; "" when there will be none."""
        ...


@dataclass(slots=True)
class PipedAnswers:
    """Lines of a pipe or file; TimeoutError when the next one takes longer than `seconds`."""

    fd: int
    seconds: float = ANSWER_SECONDS
    _read: bytes = b""

    def readline(self) -> str:
        """The next line; bytes that are no text are a wrong answer, not a crash."""
        while b"\n" not in self._read:
            if not select.select([self.fd], [], [], self.seconds)[0]:
                raise TimeoutError
            if not (piece := os.read(self.fd, 65_536)):
                break
            self._read += piece
        line, end, self._read = self._read.partition(b"\n")
        return (line + end).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class SetupConsole:
    """Streams to ask on; `hidden` reads without echo, None (a pipe) takes secrets from `lines`; EOFError at the end."""

    lines: Answers
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
class Given:
    """What the command line says already; an empty text is asked for, or with `yes` the default."""

    yes: bool = False
    provider: str = ""
    base_url: str = ""
    model: str = ""
    name: str = ""
    language: str = ""
    persona: str = ""


@dataclass(slots=True)
class Values:
    """What will be written: keys of nuan.toml as (table, key), None for what goes; variables of .env."""

    keys: dict[tuple[str, str], object] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    def set_model(self, base_url: str, model: str) -> None:
        """Another model, of which nothing is known that was said of the one before."""
        gone = {("model", f"price_{kind}"): None for kind in PRICES}
        self.keys |= {("model", "base_url"): base_url, ("model", "name"): model, **gone}


class Interview:
    """Asks for what nuan.toml and .env need; a wrong answer is asked again, or ends it where nobody sits there."""

    def __init__(
        self,
        console: SetupConsole,
        text: Callable[..., str],
        given: Given,
        settings: Settings,
        served: "ServedModels",
    ) -> None:
        """`settings` are the present ones: what they say is the default of each question. `served` tells the models of a
        server, which are offered where somebody sits there."""
        self._served = served
        self._console = console
        self._text = text
        self._given = given
        self._settings = settings
        self.answers = Values()

    def ask(self, offers: tuple[LocalModel, ...], is_set: Collection[str], language: str) -> Values:
        """All questions; `is_set` are the variables that have a value already, `language` the system's."""
        self._ask_model(offers, KEY in is_set)
        for name, variable, form in _tokens(self._settings):
            kept = "_kept" if variable in is_set else ""
            token = self._until(
                f"init_token{kept}",
                "init_bad_token",
                form.fullmatch,
                secret=True,
                name=name.title(),
            )
            if token[0]:
                self.answers.secrets[variable] = token[0]
        self._ask_who(language)
        return self.answers

    def _ask_model(self, offers: tuple[LocalModel, ...], has_key: bool) -> None:
        present, given = self._settings.model, self._given
        choices = (*(f"{offer.server}: {offer.model}" for offer in offers), *(each.name for each in PROVIDERS), OTHER)
        if not (given.yes or given.provider or given.base_url):
            self._console.say(self._text("init_found" if offers else "init_providers"))
            for number, choice in enumerate(choices, 1):
                self._console.say(f"  {number}. {self._text('init_other') if choice == OTHER else choice}")
        numbers = {str(number): number for number in range(len(choices) + 1)}
        numbers |= {name.lower(): number for number, name in enumerate(choices, 1)} | {NONE: 0}
        numbers |= {each.name.lower(): len(offers) + at for at, each in enumerate(PROVIDERS, 1)}
        keeps = bool(present.base_url)
        numbers[""] = -1 if keeps else 1 if offers else 0
        default = present.name if keeps else choices[0] if offers else self._text("init_offline_choice")
        said = given.provider or (OTHER if given.base_url else "")
        picked = self._until(
            "init_pick", "init_bad_pick", lambda answer: numbers.get(answer.lower()), said=said, default=default
        )
        if picked == -1:
            if given.model:
                self.answers.set_model(present.base_url, given.model)
            return
        if picked == 0:
            if keeps:
                self.answers.set_model("", "")
            return
        if picked <= len(offers):
            self.answers.set_model(offers[picked - 1].base_url, offers[picked - 1].model)
            return
        known = PROVIDERS[picked - len(offers) - 1] if picked < len(choices) else None
        base_url = known.base_url if known else self._until("init_url", "init_bad_url", _url, said=given.base_url)
        if not base_url:
            return
        account = known is None or not is_loopback(base_url)
        lists = self._console.hidden is not None and not (given.yes or given.model)
        if account and lists:  # a server tells its models to whoever has a key
            self._ask_key(has_key)
        names = self._served(settings_at(self._settings, base_url, self.answers.secrets.get(KEY))) if lists else ()
        self.answers.set_model(base_url, self._pick_name(names, known.model if known else ""))
        if account and not lists:
            self._ask_key(has_key)
        if account:
            self._ask_prices(base_url, prices=known is None)

    def _pick_name(self, names: tuple[str, ...], suggested: str) -> str:
        """The name of a model: one of those that its server lists, by number or name, or any other."""
        shown = sorted(names, key=lambda name: name != suggested)[:MOST_LISTED]
        usual = suggested if suggested in names or not names else shown[0]
        numbers = {str(number): name for number, name in enumerate(shown, 1)}
        if shown:
            self._console.say(self._text("init_models", n=len(names)))
            for number, name in numbers.items():
                self._console.say(f"  {number}. {name}")
        return self._until(
            "init_model_listed" if shown else "init_model_known" if suggested else "init_model",
            "init_bad_model",
            lambda answer: numbers.get(answer) or model_name(answer or usual),
            said=self._given.model,
            default=usual,
        )

    def _ask_key(self, has_key: bool) -> None:
        question = "init_key_kept" if has_key else "init_key"
        key = self._until(question, "init_bad_key", SECRET_OR_NOTHING.fullmatch, secret=True)[0]
        if key:
            self.answers.secrets[KEY] = key

    def _ask_prices(self, base_url: str, *, prices: bool) -> None:
        """Of a server that nobody knows what it costs."""
        fresh = self._number("init_price_input") if prices and not is_loopback(base_url) else None
        if fresh is None:
            return
        cached = self._number("init_price_cached")
        output = self._number("init_price_output")
        told = zip(
            PRICES, (fresh, fresh if cached is None else cached, fresh if output is None else output), strict=True
        )
        self.answers.keys |= {("model", f"price_{kind}"): price for kind, price in told}
        if (most := self._number("init_day_money")) is not None:
            self.answers.keys["budget", "day_money"] = most

    def _ask_who(self, language: str) -> None:
        """Its name, its language, its persona; what stays as it is is not written."""
        bot, given, new = self._settings.bot, self._given, self.answers.keys
        name = self._until(
            "init_name",
            "init_bad_name",
            lambda text: _bot_name(text or bot.names[0]),
            said=given.name,
            default=bot.names[0],
        )
        if name != bot.names[0]:
            new["bot", "names"] = [name, *(each for each in bot.names[1:] if each != name)]
        scripts = {str(number): script for number, script in enumerate(SCRIPTS, 1)} | {each: each for each in SCRIPTS}
        picked = self._until(
            "init_language",
            "init_bad_pick",
            lambda text: scripts.get(text or language),
            said=given.language,
            default=language,
        )
        if picked != bot.language:
            new["bot", "language"] = picked
        there = sorted(path.name for path in resource_dir("data/persona").iterdir() if path.is_dir())
        usual = self._settings.persona
        persona = self._until(
            "init_persona",
            "init_bad_pick",
            lambda text: text if text in there else usual if not text else None,
            said=given.persona,
            default=usual,
            names=", ".join(there),
        )
        if persona != usual:
            new["", "persona"] = persona

    def _number(self, question: str) -> float | None:
        answer = self._until(question, "init_bad_number", NUMBER_OR_NOTHING.fullmatch)[0]
        return float(answer) if answer else None

    def _until(
        self,
        question: str,
        wrong: str,
        read: Callable[[str], T | None],
        *,
        said: str = "",
        secret: bool = False,
        **values: object,
    ) -> T:
        """What `read` makes of the answer; of what was `said` on the command line, or of nothing, without asking."""
        asks = not said and not self._given.yes
        ask = self._console.ask_secret if secret else self._console.ask
        while (found := read(ask(self._text(question, **values)) if asks else said)) is None:
            if self._console.hidden is None or not asks:
                raise NuanError(self._text("init_wrong_answer", problem=self._text(wrong, **values)))
            self._console.say(self._text(wrong, **values))
        return found


ServedModels = Callable[[Settings], tuple[str, ...]]
"""The names that the server of these settings lists; none where it tells none within a few seconds."""


def settings_at(settings: Settings, base_url: str, key: str | None) -> Settings:
    """These settings with that server, and that key unless it is None."""
    new = {"base_url": base_url} | ({} if key is None else {"api_key": SecretStr(key)})
    return settings.model_copy(update={"model": settings.model.model_copy(update=new)})


def _bot_name(answer: str) -> str | None:
    return answer if answer.isprintable() and 0 < len(answer) <= MOST_NAME_CHARS else None


def init(path: Path, given: Given, *, tries: bool) -> None:
    """Ask on this terminal, or read the answers from a pipe, write nuan.toml at `path`, and with `tries` try it.

    NuanError, too, when it is written but does not work.
    """
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "replace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)  # bytes that are no text are a wrong answer, not a crash
    there = sys.stdin.isatty()
    lines = sys.stdin if there else PipedAnswers(sys.stdin.fileno())
    console, data = SetupConsole(lines, sys.stdout, getpass.getpass if there else None), Path("data")
    works = write_configuration(
        path,
        console,
        os.environ,
        PORTS,
        lambda: leave_owner_code(data, SystemClock().now()),
        given,
        partial(_try, path, data, console) if tries else None,
        _served if tries else lambda settings: (),
    )
    if not works:
        raise NuanError(catalogue(PromptFiles(None).path, "messages").text("init_fails", system_language(os.environ)))


def _served(settings: Settings) -> tuple[str, ...]:
    """The names that a server lists, asked as a model is."""
    from bot.cli.model_checks import listed_models  # what it needs loads only for this

    return tuple(name for name in asyncio.run(listed_models(settings)) if model_name(name))


def _try(path: Path, data: Path, console: SetupConsole) -> bool:
    """Say, a line for each, what model and platforms answer to what was written; whether all of it works."""
    from bot.cli.doctor import connections  # what it needs loads only for this

    found = asyncio.run(connections(ConfigSource(path, data, os.environ).read()))
    for each in found:
        console.say(each.line)
    return all(each.good for each in found)


def owner_code(data: Path, env: Mapping[str, str]) -> str:
    """A new code for whoever will be the owner, and what to do with it; OSError where the data folder is no place."""
    text = partial(catalogue(PromptFiles(None).path, "messages").text, script=system_language(env))
    return text("init_owner_code", code=leave_owner_code(data, SystemClock().now()))


def write_configuration(
    path: Path,
    console: SetupConsole,
    env: Mapping[str, str],
    ports: Mapping[str, int],
    code: Callable[[], str] | None = None,
    given: Given = Given(),
    try_out: Callable[[], bool] | None = None,
    served: ServedModels = lambda settings: (),
) -> bool:
    """Ask and write; or write nothing, and raise what says why. `code` leaves a code that makes its sender the owner;
    `try_out` tells whether model and platforms work with it, which is the result; `served` the models of a server.

    ConfigError: the result would not be valid; NuanError: answers end early or are none; OSError: cannot be written.
    """
    language = system_language(env)
    text = partial(catalogue(PromptFiles(None).path, "messages").text, script=language)
    dotenv = path.parent / ".env"
    if not path.parent.is_dir() or path.is_dir():
        raise NuanError(text("init_no_file", path=path))
    already = already_set(secrets := read_text(dotenv))
    toml = read_text(path) or HEADER
    settings = load(path, env, price_problems) if path.exists() else Settings()
    usual = settings.bot.language if path.exists() else language
    if path.exists() and not given.yes:
        console.say(text("init_changes", path=path))
    try:
        offers = () if given.yes or given.provider or given.base_url else find_models(ports)
        answers = Interview(console, text, given, settings, served).ask(offers, already | env.keys(), usual)
    except EOFError:
        raise NuanError(text("init_ended")) from None
    except TimeoutError:
        raise NuanError(text("init_waited", seconds=ANSWER_SECONDS)) from None
    for name, secret in answers.secrets.items():
        secrets = with_key(secrets, secret, name)
    try:
        write_files(path, with_values(toml, answers.keys), secrets if answers.secrets else None, env)
    except ConfigError:
        console.say(text("init_invalid"))
        raise
    console.say(text("init_written", path=path))
    if answers.secrets:
        console.say(text("init_key_written", path=dotenv))
    if not (answers.keys.get(("model", "base_url")) or settings.model.base_url):
        console.say(text("init_offline"))
    wins = (already | env.keys()) & {BASE_URL, NAME} if ("model", "name") in answers.keys else set()
    for name in sorted(wins | env.keys() & answers.secrets.keys()):
        console.say(text("init_overruled", name=name))
    works = True
    where = "" if path == Path("nuan.toml") else f" --config {shlex.quote(str(path))}"
    has_platform = any(name in already | env.keys() | answers.secrets.keys() for _, name, _ in _tokens(settings))
    if try_out is not None and (has_platform or answers.secrets or answers.keys.get(("model", "base_url"))):
        console.say(text("init_trying"))
        works = try_out()
    if works:
        console.say(text("init_next", command=f"{program_name()} chat{where}"))
    if works and has_platform:
        console.say(text("init_next_run", command=f"{program_name()} run{where}"))
    if code is not None:
        console.say(text("init_owner_code", code=code()))
    return works


def _url(answer: str) -> str | None:
    try:
        return ModelServer(base_url=answer).base_url if answer.isprintable() and " " not in answer else None
    except ValidationError:
        return None
