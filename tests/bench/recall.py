"""`python -m tests.bench.recall DIR`: conversations through the real ingest into the real store, questions through the
real recall. One JSON object tells how often what answers a question came back, and how long it took.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from pydantic import ValidationError

from bot.config.settings import Settings
from bot.container import make_recall
from bot.core.errors import ModelError
from bot.core.events import Incoming, Place, Sender
from bot.core.people import Audience
from bot.core.recall import RECALL_MODES, RecallMode, RecallQuery, RecallTrace
from bot.pipeline.recall import Recall
from bot.pipeline.vectors import TEXT_CHARS
from bot.recall.query import OWN, meant_parts
from bot.text.length import clip
from tests.bench import longmemeval
from tests.bench.counts import spread
from tests.bench.lines import LINE_S, SESSION_S, Line, json_lines, moment
from tests.fakes.embedding_server import FakeEmbeddings, Meaning
from tests.world import World

MOST = 10
"""Places that count."""

TOGETHER = 64
"""Lines that wait for one commit."""

BEFORE_MS = 86_400_000
"""A question whose moment the data does not tell is asked a day after the last line."""

PATIENT = {"timeout_seconds": 600.0, "query_seconds": 60.0}
"""A machine that is busy loads and answers slowly, and a question without its vector would be measured as words."""

UNSCORED = ("adversarial",)
"""Categories that the README scores apart."""

LINE = ("conv", "session", "turn", "time", "speaker", "text")
QUESTION = ("conv", "question", "category", "gold_turns")
VECTOR = ("text", "vector")
"""The fields that each line of a data set's files has."""

FOLDER = (
    f"a folder with corpus.jsonl ({', '.join(LINE)}) and queries.jsonl ({', '.join(QUESTION)}), a line of JSON each"
)

Convert = Callable[[str], str]


@dataclass(slots=True)
class Tally:
    """Sums of one kind of questions."""

    count: int = 0
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, figures: Mapping[str, float]) -> None:
        """Count one question."""
        self.count += 1
        for name, figure in figures.items():
            self.sums[name] += figure

    def means(self) -> dict[str, float]:
        """In percent."""
        return {name: round(100 * total / self.count, 1) for name, total in self.sums.items()}


def conversations(folder: Path, part: int = 0) -> dict[str, list[Line]]:
    """The lines of each conversation, in their order; of the first `part` conversations (0: of all)."""
    found: dict[str, list[Line]] = defaultdict(list)
    for row in json_lines(folder / "corpus.jsonl", LINE):
        if part and row["conv"] not in found and len(found) == part:
            continue
        lines = found[row["conv"]]
        at, exact = moment(row["time"])
        if not exact and lines:
            last = lines[-1]
            same = last.session == row["session"]
            at = last.at + LINE_S * 1000 if same else max(at, last.at + SESSION_S * 1000)
        lines.append(Line(row["turn"], row["session"], row.get("session_index", 0), row["speaker"], row["text"], at))
    return found


def questions(folder: Path) -> Iterator[dict[str, Any]]:
    """What is asked about the conversations."""
    return json_lines(folder / "queries.jsonl", QUESTION)


async def feed(world: World, name: str, lines: Sequence[Line]) -> None:
    """The conversation as a group's: old lines that nobody answers."""
    place = Place("console", f"group:{name}", "group", name)
    for start in range(0, len(lines), TOGETHER):
        await asyncio.gather(
            *(
                world.app.ingest.accept(
                    Incoming(
                        place,
                        Sender("console", f"{name}:{line.speaker}", line.speaker),
                        "message",
                        line.text,
                        external_id=f"{name}\t{line.turn}",
                        at=line.at,
                    )
                )
                for line in lines[start : start + TOGETHER]
            )
        )
    await world.app.settled()


@dataclass(frozen=True, slots=True)
class Known:
    """What a conversation became: its chat, who is in it, the line of each event and of each document, and the lines of
    each talk."""

    audience: Audience
    lines: Mapping[int, Line]
    docs: Mapping[int, Line]
    talks: Mapping[int, Sequence[Line]]
    starts: Mapping[int, int]
    end: int


async def known(world: World, convs: Mapping[str, Sequence[Line]]) -> dict[str, Known]:
    """Each conversation as the store has it."""
    found: dict[str, Known] = {}
    turns = {f"{name}\t{line.turn}": line for name, lines in convs.items() for line in lines}
    events: dict[int, dict[int, Line]] = defaultdict(dict)
    for number, chat, outside in world.rows("SELECT id, chat_id, external_id FROM event WHERE kind = 'message'"):
        events[int(str(chat))][int(str(number))] = turns[str(outside)]
    rows = world.rows("SELECT id, ref, talk FROM doc WHERE kind = 'line' ORDER BY ref")
    docs = [(int(str(doc)), int(str(ref)), int(str(talk))) for doc, ref, talk in rows]
    chats = {chat.title: chat for chat in await world.store.people.chats()}
    for name, lines in convs.items():
        starts: dict[int, int] = {}
        for line in lines:
            starts.setdefault(line.index, line.at)
        chat = chats[name.strip()]
        there, end = events[chat.id], max(line.at for line in lines)
        own = {doc: there[ref] for doc, ref, _ in docs if ref in there}
        talks: dict[int, list[Line]] = defaultdict(list)
        for doc, _, talk in docs:
            if doc in own:
                talks[talk].append(own[doc])
        found[name] = Known(await world.store.people.audience(chat), there, own, talks, starts, end)
    return found


def sessions(trace: RecallTrace, of: Known) -> list[str]:
    """Sessions in the order of their best talk: what a recall says of talks. One talk may be several sessions."""
    return _sessions_of(line for each in trace.talks for line in of.talks.get(each.talk, ()))


def _sessions_of(lines: Iterable[Line]) -> list[str]:
    return list(dict.fromkeys(line.session for line in lines))


def said(row: Mapping[str, Any], of: Known) -> tuple[str, ...]:
    """What who asks said before in the talk in which the question is asked (the issue: it is part of the query)."""
    if "before_session" not in row:
        return ()
    there = [line for line in of.lines.values() if line.index == int(row["before_session"])]
    asked = next((place for place, line in enumerate(there) if line.text == row["question"]), 0)
    return tuple(line.text for line in there[:asked] if line.speaker == there[asked].speaker)[-OWN:]


def _recall(gold: Sequence[str], found: Sequence[str], most: int) -> float:
    return len(set(gold) & set(found[:most])) / len(set(gold))


def question(row: Mapping[str, Any], of: Known, mode: RecallMode, convert: Convert) -> RecallQuery:
    """A question of the data as a recall is asked."""
    until = of.starts.get(int(row["before_session"])) if "before_session" in row else None
    now = until or (moment(row["asked_at"])[0] if "asked_at" in row else of.end + BEFORE_MS)
    text = convert(row["question"])
    return RecallQuery(of.audience, 0, text, now, MOST, until=until, mode=mode, own=said(row, of))


async def ask(
    recalling: Recall, row: Mapping[str, Any], of: Known, mode: RecallMode, convert: Convert
) -> tuple[RecallTrace, float]:
    """One question and the time it took, s; SystemExit when words alone answered what was asked by meaning, too."""
    asking = question(row, of, mode, convert)
    began = perf_counter()
    trace = await recalling.recall(asking)
    took = perf_counter() - began
    if mode == "hybrid" and trace.missing:
        raise SystemExit(f"words alone answered {asking.text[:80]!r}: its likeness is missing ({trace.missing})")
    return trace, took


async def likest(recalling: Recall, asking: RecallQuery, of: Known) -> list[Line]:
    """The lines by their vectors alone, the likest first; what is less like than counts is left out."""
    like = await recalling._near.like(replace(asking, kinds=("line",)), len(of.docs))
    return [of.docs[number] for number in like.found]


def read(folder: Path, layout: str, part: int = 0) -> tuple[dict[str, list[Line]], list[dict[str, Any]]]:
    """The conversations of a data set, at most `part` (0: all), and what is asked about them; SystemExit when that is
    nothing, or what answers it is not there."""
    if layout == "longmemeval":
        convs, asked = longmemeval.read(folder, part)
    else:
        convs = conversations(folder, part)
        asked = [row for row in questions(folder) if row["conv"] in convs]
    if not asked:
        raise SystemExit(f"{folder}: no question about a conversation that is there")
    turns = {name: {line.turn for line in lines} for name, lines in convs.items()}
    for row in asked:
        if lacking := set(row["gold_turns"]) - turns[row["conv"]]:
            raise SystemExit(f"{folder}: no line {min(lacking)!r} to answer {row['question'][:80]!r}")
    return convs, asked


async def make_vectors(world: World) -> None:
    """All that are missing; SystemExit when they cannot be made."""
    try:
        await world.app._services.vector_maker.make_all(lambda made: None)
    except ModelError as error:
        raise SystemExit(f"no vectors: {error}") from error


@asynccontextmanager
async def fed_world(
    data: Path, settings: Settings, convs: Mapping[str, Sequence[Line]]
) -> AsyncIterator[tuple[World, Recall, dict[str, Known]]]:
    """A nuan that heard all of it and has made its vectors, its recall, and what the conversations became."""
    world = World(data, settings)
    world.clock = type(world.clock)(max(line.at for lines in convs.values() for line in lines) + BEFORE_MS)
    await world.open()
    try:
        for name, lines in convs.items():
            await feed(world, name, lines)
        await make_vectors(world)
        recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
        yield world, recalling, await known(world, convs)
    finally:
        await world.close()
        await world.parts.current.pool.close()


async def measure(
    data: Path,
    settings: Settings,
    mode: RecallMode,
    convert: Convert,
    convs: Mapping[str, Sequence[Line]],
    rows: Sequence[dict[str, Any]],
    *,
    beside: bool = False,
) -> dict[str, object]:
    """Feed, ask and count; `beside` counts BM25 over the same sessions as well, and by LongMemEval's figures."""
    began = perf_counter()
    async with fed_world(data, settings, convs) as (_, recalling, there):
        fed = perf_counter() - began
        found, ranked = await _answers(recalling, mode, convert, rows, there)
    if beside:
        by_words = [longmemeval.Bm25(convs[row["conv"]]).sessions(row["question"]) for row in rows]
        found |= {"by_type": _by_type(rows, ranked), "bm25": _by_type(rows, by_words)}
    return found | {"mode": mode, "questions": len(rows), "fed_seconds": round(fed, 1)}


async def _answers(
    recalling: Recall, mode: RecallMode, convert: Convert, rows: Sequence[dict[str, Any]], there: Mapping[str, Known]
) -> tuple[dict[str, object], list[list[str]]]:
    """What the questions brought back, in shares of what answers them, and the sessions that each brought; in hybrid
    also what vectors alone bring."""
    whole, alone = Shares(), Shares()
    categories: dict[str, Tally] = defaultdict(Tally)
    brought: list[list[str]] = []
    times: list[float] = []
    for row in rows:
        of, scored = there[row["conv"]], row["category"] not in UNSCORED
        trace, took = await ask(recalling, row, of, mode, convert)
        times.append(took * 1000)
        found = [of.lines[one.finding.ref].turn for one in trace.chosen if one.finding.kind == "line"]
        ranked = sessions(trace, of)
        categories[row["category"]].add(whole.add(row, found, ranked, scored=scored))
        brought.append(ranked)
        if mode == "hybrid":
            lines = await likest(recalling, question(row, of, mode, convert), of)
            alone.add(row, [each.turn for each in lines], _sessions_of(lines), scored=scored)
    told = {
        **whole.told(),
        **({"vectors_alone": alone.told()} if mode == "hybrid" else {}),
        "by_category": shown(categories),
        "ms": spread(times),
    }
    return told, brought


def _by_type(rows: Sequence[Mapping[str, Any]], ranked: Sequence[Sequence[str]]) -> dict[str, dict[str, float]]:
    """LongMemEval's figures of the sessions that each question brought."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for row, found in zip(rows, ranked, strict=True):
        for name in (row["category"], "all"):
            tallies[name].add(longmemeval.figures(row["gold_sessions"], found))
    return shown(tallies)


class Shares:
    """How much of what answers the questions is among the first lines and sessions."""

    def __init__(self) -> None:
        self._turn, self._session = Tally(), Tally()

    def add(
        self, row: Mapping[str, Any], turns: Sequence[str], ranked: Sequence[str], *, scored: bool
    ) -> dict[str, float]:
        """The figures of one question; they count where it is scored."""
        lines: dict[str, float] = {}
        whole: dict[str, float] = {}
        if gold := row["gold_turns"]:
            lines = {f"recall@{most}": _recall(gold, turns, most) for most in (5, 10)}
            lines["hit@5"] = float(bool(lines["recall@5"]))
        if gold := row.get("gold_sessions"):
            whole = {f"recall@{most}": _recall(gold, ranked, most) for most in (1, 5, 10)}
        for tally, figures in ((self._turn, lines), (self._session, whole)):
            if figures and scored:
                tally.add(figures)
        return lines | {f"session {name}": figure for name, figure in whole.items()}

    def told(self) -> dict[str, dict[str, float]]:
        """The means of both."""
        return {"turn": self._turn.means(), "session": self._session.means()}


def shown(tallies: Mapping[str, Tally]) -> dict[str, dict[str, float]]:
    """The means of each kind, with how many it has."""
    return {name: each.means() | {"n": each.count} for name, each in sorted(tallies.items())}


def converter(script: str) -> Convert:
    """Questions in the other script, as OpenCC writes it."""
    if not script:
        return lambda text: text
    import opencc

    convert: Convert = opencc.OpenCC({"hant": "s2twp", "hans": "t2s"}[script]).convert
    return convert


def embedded(convs: Mapping[str, Sequence[Line]], rows: Sequence[Mapping[str, Any]], convert: Convert) -> list[str]:
    """Every text that a vector is made of: the lines, the questions, and the parts of these that are compared as well."""
    said = (line.text for lines in convs.values() for line in lines)
    asked = (part for row in rows for part in meant_parts(convert(row["question"])))
    return [text for text in dict.fromkeys(map(_sent, chain(said, asked))) if text]


def recorded(path: Path, needed: Iterable[str]) -> Meaning:
    """The vectors of a file of lines `{"text": "…", "vector": [0.1, …]}`; SystemExit when one of a needed text is
    missing."""
    known = {_sent(row["text"]): row["vector"] for row in json_lines(path, VECTOR)}
    if missing := set(needed) - known.keys():
        raise SystemExit(f"{path} has no vector of {len(missing)} texts, one of them {min(missing)[:80]!r}")
    return lambda text: known[_sent(text)]


def _sent(text: str) -> str:
    """As a server gets it."""
    return clip(text, TEXT_CHARS).strip()


async def _measured(options: argparse.Namespace, memory: dict[str, object]) -> dict[str, object]:
    convs, rows = read(options.folder, options.format, options.part)
    convert, mode = converter(options.script), cast("RecallMode", "hybrid" if options.vectors else options.mode)
    embedding: dict[str, object] = {"provider": options.provider} if mode == "hybrid" else {}
    async with AsyncExitStack() as stack:
        if options.vectors:
            meaning = recorded(options.vectors, embedded(convs, rows, convert))
            server = await stack.enter_async_context(FakeEmbeddings(meaning))
            embedding = {"provider": "openai", "base_url": server.base_url, "model": options.vectors.stem}
        embedding |= PATIENT | {"least_cosine": options.least_cosine}
        table = memory | {"mode": mode, "embedding": embedding}
        try:
            settings = Settings.model_validate(
                {"bot": {"timezone": "UTC"}, "memory": table, "budget": {"day_tokens": None}}
            )
        except ValidationError as error:
            first = error.errors()[0]
            raise SystemExit(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        data = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "data"
        return await measure(data, settings, mode, convert, convs, rows, beside=options.format == "longmemeval")


def key_number(text: str) -> tuple[str, float]:
    """A key and its number; ValueError when it is none."""
    key, _, number = text.partition("=")
    return key, float(number)


def main(arguments: list[str]) -> int:
    """Measure one data set and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.recall", description=__doc__)
    parser.add_argument("folder", type=Path, help=FOLDER + ", or LongMemEval's file")
    parser.add_argument("--format", choices=("folder", "longmemeval"), default="folder")
    parser.add_argument("--mode", choices=RECALL_MODES, default="v2")
    parser.add_argument("--provider", choices=("local", "hash"), default="local", help="who makes hybrid's vectors")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="hybrid with a server that answers from this file")
    parser.add_argument("--texts", action="store_true", help="only print what that file needs, a line of JSON each")
    parser.add_argument("--least-cosine", type=float, metavar="NUMBER", help="likeness below which nothing is common")
    parser.add_argument("--profile", choices=("default", "seed"), default="default")
    parser.add_argument("--script", choices=("", "hans", "hant"), default="", help="ask in this Chinese script")
    parser.add_argument("--part", type=int, default=0, metavar="N", help="only the first N conversations")
    parser.add_argument(
        "--set", nargs="*", default=[], type=key_number, metavar="KEY=NUMBER", help="keys of [memory], after DIR"
    )
    options = parser.parse_args(arguments)
    if options.texts:
        convs, rows = read(options.folder, options.format, options.part)
        for text in embedded(convs, rows, converter(options.script)):
            print(json.dumps({"text": text}, ensure_ascii=False))
        return 0
    memory: dict[str, object] = {"profile": options.profile}
    memory |= dict(options.set)
    print(json.dumps(asyncio.run(_measured(options, memory)), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
