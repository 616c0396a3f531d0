"""`python -m tests.bench.truth TALKS_DIR --offline | --model URL --name NAME | --by-hand DIR | --replay DIR`.

Plays talks over days through the real bot and counts, at their checkpoints, which facts are there (`must`) and what
is there that must not be (`never`). The format and the score are those of the README beside the talks.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.files import PromptFiles
from bot.core.models import Completion, ModelRequest
from bot.core.ports import Model
from bot.model.offline import OfflineModel
from bot.pipeline.endpoints import endpoint_of
from bot.text.catalogue import catalogue
from bot.text.fold import fold
from bot.text.length import estimate_tokens
from tests.bench.byhand import ByHand
from tests.bench.played import Played, Row, Spent, Talk, play, read_talk
from tests.fakes.clock import SimClock

KINDS = ("opening", "light", "recall", "said", "receipt")
TRIES = 5
"""How often a server is asked before a call counts as failed; each wait is twice the one before, from 2 s on."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One checkpoint with the text that was searched, what is missing of it and what should not be there."""

    talk: str
    at: str
    kind: str
    about: str
    asked: int
    missing: tuple[str, ...]
    nevers: int
    seen: tuple[str, ...]
    tokens: int
    why: str
    text: str

    @property
    def clean(self) -> bool:
        """Everything is there and nothing else."""
        return not self.missing and not self.seen


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one kind of checkpoints, or of all; tokens are the mean of one text."""

    checks: int
    found: int
    asked: int
    seen: int
    nevers: int
    clean: int
    tokens: float


def check(talk: str, row: Row, text: str) -> Checked:
    """Look for the patterns of a checkpoint in the text it is about, as the README of the talks does."""
    folded = fold(text)
    missing = tuple(pattern for pattern in row.must if not re.search(pattern, folded, re.IGNORECASE))
    seen = tuple(pattern for pattern in row.never if re.search(pattern, folded, re.IGNORECASE))
    about = (
        f"#{row.number}"
        if row.check == "receipt"
        else " ".join(part for part in (row.chat, row.who, row.query or row.text) if part)
    )
    tokens = estimate_tokens(text)
    return Checked(
        talk, row.when, row.check, about, len(row.must), missing, len(row.never), seen, tokens, row.why, text
    )


def score(checks: Sequence[Checked]) -> Score:
    """Every pattern weighs the same."""
    asked = sum(one.asked for one in checks)
    return Score(
        len(checks),
        asked - sum(len(one.missing) for one in checks),
        asked,
        sum(len(one.seen) for one in checks),
        sum(one.nevers for one in checks),
        sum(one.clean for one in checks),
        round(sum(one.tokens for one in checks) / len(checks), 1) if checks else 0.0,
    )


def scores(checks: Sequence[Checked]) -> dict[str, Score]:
    """By kind, and of all."""
    kinds = {kind: score([one for one in checks if one.kind == kind]) for kind in KINDS}
    return {kind: found for kind, found in kinds.items() if found.checks} | {"all": score(checks)}


def added(every: Sequence[tuple[Spent, ...]]) -> tuple[Spent, ...]:
    """What all talks spent together, by cause."""
    causes = sorted({one.cause for spent in every for one in spent})

    def of(cause: str) -> Spent:
        ones = [one for spent in every for one in spent if one.cause == cause]
        return Spent(
            cause,
            sum(one.calls for one in ones),
            sum(one.prompt for one in ones),
            sum(one.cached for one in ones),
            sum(one.output for one in ones),
        )

    return tuple(map(of, causes))


class Patient:
    """A model on a server that is asked again when it fails, in real time: the simulated clock stands still."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.dialect, self.digests = model.name, model.dialect, model.digests
        self.failed = 0

    async def complete(self, request: ModelRequest) -> Completion:
        """The server's answer; ModelError after the last try."""
        for tried in range(TRIES):
            try:
                return await self._model.complete(request)
            except ModelError as error:
                print(f"  try {tried + 1} of {TRIES}: {error}", file=sys.stderr, flush=True)
                if error.final or tried == TRIES - 1:
                    self.failed += 1
                    raise
                await asyncio.sleep(error.wait_s or 2 ** (tried + 1))
        raise AssertionError

    async def body(self, request: ModelRequest) -> bytes:
        """The model's own."""
        return await self._model.body(request)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


@dataclass(slots=True)
class Players:
    """Who answers: makes the model of each talk, and knows how it went."""

    given: argparse.Namespace
    hands: list[ByHand] = field(default_factory=list)
    patients: list[Patient] = field(default_factory=list)

    def of(self, talk: Talk) -> Callable[[SimClock, Settings], Model]:
        """What makes the model for that talk."""

        def make(_: SimClock, settings: Settings) -> Model:
            folder = self.given.by_hand or self.given.replay
            if folder is not None:
                hand = ByHand(folder / talk.name, asks=self.given.by_hand is not None)
                self.hands.append(hand)
                return hand
            if self.given.model:
                self.patients.append(Patient(endpoint_of(settings, settings.model).model))
                return self.patients[-1]
            return OfflineModel(catalogue(PromptFiles(None).path, "offline"))

        return make

    @property
    def sections(self) -> dict[str, object]:
        """What the configuration says of the model; caches and prices, and so sessions, go by it."""
        server = self.given.model or self.given.like
        if not server:
            return {}
        key = os.environ.get(self.given.key_env, "") if self.given.key_env else ""
        return {"model": {"base_url": server, "name": self.given.name} | ({"api_key": key} if key else {})}

    @property
    def name(self) -> str:
        """Who answers, for the report."""
        by_hand = "by hand" if self.given.by_hand else "replayed" if self.given.replay else ""
        return " ".join(part for part in (by_hand, self.given.name) if part) or "offline"

    @property
    def failures(self) -> int:
        """Calls that nobody answered."""
        return sum(hand.unknown for hand in self.hands) + sum(patient.failed for patient in self.patients)


def table(title: str, found: dict[str, Score]) -> str:
    """The figures as lines to read."""
    lines = [f"{title:24} {'checks':>7} {'must':>12} {'':>6} {'never':>10} {'clean':>12} {'tokens':>8}"]
    for kind, one in found.items():
        share = f"{one.found / one.asked:6.1%}" if one.asked else "     –"
        lines.append(
            f"{kind:24} {one.checks:7} {f'{one.found}/{one.asked}':>12} {share} {f'{one.seen}/{one.nevers}':>10} "
            f"{f'{one.clean}/{one.checks}':>12} {one.tokens:8.1f}"
        )
    return "\n".join(lines)


def costs(spent: Sequence[Spent]) -> str:
    """Tokens by cause as lines to read."""
    lines = [f"{'tokens by cause':24} {'calls':>7} {'prompt':>12} {'cached':>10} {'output':>10}"]
    lines += [f"{one.cause:24} {one.calls:7} {one.prompt:12} {one.cached:10} {one.output:10}" for one in spent]
    return "\n".join(lines)


def failed(checks: Sequence[Checked]) -> str:
    """Every checkpoint that is not clean, with its text."""
    lines: list[str] = []
    for one in checks:
        if not one.clean:
            lines += [f"── {one.talk} {one.at} {one.kind} {one.about} ({one.why})"]
            lines += [f"   missing {pattern}" for pattern in one.missing]
            lines += [f"   SEEN    {pattern}" for pattern in one.seen]
            lines += [f"   | {line}" for line in one.text.splitlines()] or ["   | (empty)"]
    return "\n".join(lines)


async def run(talks: Sequence[Talk], players: Players, folder: Path) -> list[tuple[Played, tuple[Checked, ...]]]:
    """Play them one after the other, each with data of its own in `folder`."""
    results = []
    for talk in talks:
        data = folder / talk.name
        data.mkdir()
        try:
            played = await play(talk, data, players.of(talk), players.sections)
        finally:
            for hand in players.hands:
                hand.finish()
        checks = tuple(check(talk.name, look.row, look.text) for look in played.looks)
        results.append((played, checks))
        whole = score(checks)
        print(f"{talk.name}: over; must {whole.found}/{whole.asked}, never {whole.seen}/{whole.nevers}", flush=True)
    return results


def as_json(name: str, results: Sequence[tuple[Played, tuple[Checked, ...]]]) -> dict[str, object]:
    """Everything, for a file."""
    every = [one for _, checks in results for one in checks]
    return {
        "model": name,
        "scores": {kind: asdict(one) for kind, one in scores(every).items()},
        "tokens": [asdict(one) for one in added([played.spent for played, _ in results])],
        "talks": [
            {
                "talk": played.talk,
                "scores": {kind: asdict(one) for kind, one in scores(checks).items()},
                "tokens": [asdict(one) for one in played.spent],
                "checks": [asdict(one) | {"clean": one.clean} for one in checks],
                "sent": [asdict(one) for one in played.sent],
            }
            for played, checks in results
        ],
    }


def report(name: str, results: Sequence[tuple[Played, tuple[Checked, ...]]], *, verbose: bool) -> str:
    """All tables; with `verbose` what failed as well."""
    every = [one for _, checks in results for one in checks]
    parts = [failed(every)] if verbose else []
    if len(results) > 1:
        parts += [table(played.talk, scores(checks)) for played, checks in results]
    parts += [table(f"all talks, {name}", scores(every)), costs(added([played.spent for played, _ in results]))]
    return "\n\n".join(parts)


def arguments(program: str = "python -m tests.bench.truth") -> argparse.ArgumentParser:
    """What may be asked for: a folder, who answers, which talks."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("folder", type=Path)
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--model", metavar="URL", help="an OpenAI-compatible server answers")
    who.add_argument("--offline", action="store_true", help="the built-in offline model answers")
    who.add_argument(
        "--by-hand", metavar="DIR", type=Path, help="whoever answers the files of DIR/TALK; recorded there"
    )
    who.add_argument("--replay", metavar="DIR", type=Path, help="what is recorded there, and nobody else")
    parser.add_argument("--name", default="", help="name of the server's model")
    parser.add_argument(
        "--like", default="", metavar="URL", help="by hand: be configured as for a model of that server"
    )
    parser.add_argument("--key-env", default="", metavar="VAR", help="variable that holds the server's key")
    parser.add_argument("--talk", action="append", metavar="NAME", help="only this talk; may be given more than once")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, print the figures; 1 when a call was answered by nobody."""
    parser = arguments()
    parser.add_argument("--verbose", action="store_true", help="print every failed checkpoint with its text")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the data folders there")
    given = parser.parse_args(words)
    if (given.model or given.like) and not given.name:
        parser.error("--model and --like: give --name, too")
    if given.like and given.offline:
        parser.error("--like: the offline model is like no server")
    talks = [read_talk(path) for path in sorted(given.folder.glob("*.jsonl"))]
    talks = [talk for talk in talks if not given.talk or talk.name in given.talk]
    if not talks:
        parser.error(f"there is no such talk in {given.folder}")
    players = Players(given)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = asyncio.run(run(talks, players, folder), debug=False)
    print(report(players.name, results, verbose=given.verbose))
    if players.hands:
        asked, replayed = (sum(getattr(hand, name) for hand in players.hands) for name in ("asked", "replayed"))
        print(f"\n{asked} requests answered by hand, {replayed} replayed")
    if players.failures:
        print(f"{players.failures} calls were answered by nobody")
    if given.json:
        given.json.write_text(json.dumps(as_json(players.name, results), ensure_ascii=False, indent=1), "utf-8")
    return 1 if players.failures else 0


if __name__ == "__main__":
    sys.exit(main())
