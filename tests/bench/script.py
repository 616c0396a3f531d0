"""`python -m tests.bench.script FILE`: a short talk with the real program on a pipe, before and after a restart.

The tests' own server gives one and the same short answer to everything. Nothing of the program is replaced.
"""

import argparse
import asyncio
import json
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from time import perf_counter

from tests.e2e import Home, Nuan, running, with_server
from tests.fakes.openai_script import Asked, Reply
from tests.fakes.openai_server import FakeOpenAI

CJK, OTHER = 0.73, 0.21
"""Tokens of a character of U+2E80 or above, and of any other: one rule by which all programs are compared."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the script: what is said, or `restart` or `newchat` as `phase` with no text."""

    phase: str
    number: int = 0
    kind: str = ""
    text: str = ""
    expect: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as the server got it: when, its words, its tokens in system message and tools, and in the rest."""

    at: float
    words: str
    fixed: int
    new: int
    is_turn: bool


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """One turn: tokens of its first request (0 without a call), calls, ms to the request and from answer to output.

    `found` says whether the expected word was in a request; None when none is expected.
    """

    number: int
    text: str
    fixed: int
    new: int
    calls: int
    to_request_ms: float | None
    to_output_ms: float | None
    total_ms: float
    found: bool | None


@dataclass(frozen=True, slots=True)
class ScriptReport:
    """What the talk showed; times in ms, memory in MB of 10^6 bytes, tokens by the rule of this module."""

    turns: tuple[TurnSeen, ...]
    prompt_ms: float
    first_answer_ms: tuple[float, ...]
    peak_mb: float
    first_request: int
    before_restart: int
    digest_calls: int
    violations: tuple[str, ...]


@dataclass(slots=True)
class Witness:
    """The server's script: always the same answer, and a note of every request."""

    sent: list[Sent] = field(default_factory=list)
    answered: float = 0.0

    def __call__(self, asked: Asked) -> Reply:
        """好的，我知道了。"""
        self.sent.append(sent_of(asked, perf_counter()))
        self.answered = perf_counter()
        return Reply()


def sent_of(asked: Asked, at: float) -> Sent:
    """The request in tokens; tools count with their schemas, messages with content and tool calls."""
    tools = compact(asked.body["tools"]) if "tools" in asked.body else ""
    texts = [
        str(message["content"]) + (compact(message["tool_calls"]) if "tool_calls" in message else "")
        for message in asked.messages
    ]
    fixed = tokens(tools + texts[0])
    return Sent(at, "\n".join(texts), fixed, tokens("".join(texts[1:])), any("<ctx" in text for text in texts))


def compact(value: object) -> str:
    """JSON without blanks, as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tokens(text: str) -> int:
    """Tokens of a text by the rule of this module."""
    wide = sum(ord(char) >= 0x2E80 for char in text)
    return round(wide * CJK + (len(text) - wide) * OTHER)


def read_script(lines: Sequence[str]) -> tuple[Line, ...]:
    """The rows of a script; ValueError or KeyError for a line that is none."""
    rows = [json.loads(line) for line in lines if line.strip()]
    return tuple(
        Line(row["phase"], row.get("n", 0), row.get("kind", ""), row.get("text", ""), row.get("expect", ""))
        for row in rows
    )


async def play(script: Sequence[Line], folder: Path) -> ScriptReport:
    """Hold the talk with data in `folder`."""
    witness, turns, starts, peak, before = Witness(), list[TurnSeen](), list[float](), 0.0, 0
    async with FakeOpenAI(witness) as server:
        prompt = await _prompt_ms(Home(folder, with_server(server), data="ready"))
        home = Home(folder, with_server(server))
        for number, part in enumerate(talks(script)):
            begun = perf_counter()
            async with running(home) as nuan:
                for line in part:
                    if line.phase == "newchat":
                        await nuan.ask("/new")
                        continue
                    turns.append(await _turn(nuan, line, witness))
                    if line is part[0]:
                        starts.append((perf_counter() - begun) * 1000)
                peak = max(peak, peak_mb(nuan.process.pid))
                nuan.send(signal.SIGTERM)
                await nuan.ended()
            if number == 0:
                before = sum(sent.fixed + sent.new for sent in witness.sent)
        violations = tuple(server.violations)
    first = witness.sent[0].fixed + witness.sent[0].new if witness.sent else 0
    digests = sum(not sent.is_turn for sent in witness.sent)
    return ScriptReport(tuple(turns), prompt, tuple(starts), peak, first, before, digests, violations)


def talks(script: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines between restarts."""
    for restart, lines in groupby(script, lambda line: line.phase == "restart"):
        if not restart:
            yield list(lines)


async def _prompt_ms(home: Home) -> float:
    """From the start of the process on a terminal to the prompt."""
    begun = perf_counter()
    async with running(home, tty=True) as nuan:
        taken = (perf_counter() - begun) * 1000
        await nuan.end_input()
        await nuan.ended()
    return taken


async def _turn(nuan: Nuan, line: Line, witness: Witness) -> TurnSeen:
    already, begun = len(witness.sent), perf_counter()
    await nuan.ask(line.text)
    seen = perf_counter()
    # A digest of an earlier session may be asked for meanwhile: it holds no <ctx>.
    sent = [one for one in witness.sent[already:] if one.is_turn]
    return TurnSeen(
        line.number,
        line.text,
        sent[0].fixed if sent else 0,
        sent[0].new if sent else 0,
        len(sent),
        (sent[0].at - begun) * 1000 if sent else None,
        (seen - witness.answered) * 1000 if sent else None,
        (seen - begun) * 1000,
        any(line.expect in one.words for one in sent) if line.expect else None,
    )


def peak_mb(pid: int | None) -> float:
    """The most memory that process ever held, in MB of 10^6 bytes (Linux; 0 elsewhere)."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text("utf-8")) if status.exists() else None
    return round(int(found[1]) * 1024 / 1e6, 1) if found else 0.0


def show(report: ScriptReport) -> str:
    """The report as lines to read."""
    lines = [" n  calls  fixed    new  →request  reply→  whole turn, ms  expected"]
    for turn in report.turns:
        to_request = f"{turn.to_request_ms:9.1f}" if turn.to_request_ms is not None else f"{'-':>9}"
        to_output = f"{turn.to_output_ms:8.1f}" if turn.to_output_ms is not None else f"{'-':>8}"
        found = {None: "", True: "there", False: "MISSING"}[turn.found]
        lines.append(
            f"{turn.number:2d}  {turn.calls:5d}  {turn.fixed:5d}  {turn.new:5d} {to_request}{to_output}"
            f"{turn.total_ms:16.1f}  {found:8} {turn.text}"
        )
    starts = ", ".join(f"{taken:.0f}" for taken in report.first_answer_ms)
    lines += [
        f"prompt on a terminal after {report.prompt_ms:.0f} ms; first answer after {starts} ms (each start)",
        f"first request {report.first_request} tokens; input of all calls before the restart {report.before_restart}",
        f"peak memory {report.peak_mb} MB; digest calls {report.digest_calls}",
        "the first turn after each start includes that start; tokens are ours to compare, no tokenizer's",
        *(f"refused by the server: {violation}" for violation in report.violations),
    ]
    return "\n".join(lines)


def main() -> None:
    """Hold the talk and print what was measured; exit code 1 when an expected word was missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.script")
    parser.add_argument("file", type=Path, help="JSON lines: phase, n, kind, text, expect")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    script = read_script(given.file.read_text("utf-8").splitlines())
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(play(script, Path(folder)), debug=False)
    print(json.dumps(asdict(report), ensure_ascii=False) if given.json else show(report))
    sys.exit(bool(report.violations) or any(turn.found is False for turn in report.turns))


if __name__ == "__main__":
    main()
