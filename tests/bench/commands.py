"""`python -m tests.bench.commands FILE`: how well the wishes to remember, forget and be called are understood.

Each line of FILE is JSON with id, text, script, label, content and note; scorer.py beside it defines the metric.
One JSON object is printed: shares from 0 to 1, for the headline rows (no `ambig` note) and for all rows. Or a line is
id, lang, text, kind (remember, forget, call, nocall, norecord, none) and content, which needs no scorer: of what is
done the share that is right (precision), of the wishes what is done or asked about without a model (answered), what is
done or a cue for one (cued), done, and told rightly (content); of the rest what acts, is asked about, and writes. With `--by-hand DIR` such rows are played in the installation
instead, each in one of its own, with a model that is played in that folder (byhand.py), and what is kept afterwards
is looked at: to remember is done right by what holds the content, and told rightly without much beside it.
"""

import argparse
import asyncio
import importlib.util
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import ModuleType

from bot.config.settings import BotSettings
from bot.core.memories import Memory, MemoryCommand
from bot.core.people import Audience
from bot.language.wishes.forget import matter_in
from bot.language.wishes.reader import (
    bare_object,
    bare_wish,
    has_wish_word,
    menu_command,
    understand,
    wish_cue,
    wish_hint,
)
from bot.text.fold import fold
from tests.bench.byhand import ByHand
from tests.world import World

NAMES = BotSettings().names
SCRIPTS = ("hans", "hant", "en", "mixed")
Row = dict[str, object]
Answer = tuple[str, str | list[str] | None]
KINDS = {"call": "nick_set", "nocall": "nick_revoke"}
SAME = 0.8
"""Of the characters of a content so many are told."""


def main() -> int:
    """Print the figures; 2 when the file or its scorer cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="Print each row that went wrong, on standard error.")
    parser.add_argument(
        "--ordinary",
        type=Path,
        nargs="*",
        default=[],
        help="JSON lines with text, or folders of them: how often ordinary messages act, are asked about, or are a cue.",
    )
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--by-hand", type=Path, metavar="DIR", help="A model is played there; recorded answers replay.")
    who.add_argument("--replay", type=Path, metavar="DIR", help="What is recorded there, and nobody else.")
    asked = parser.parse_args()
    try:
        rows = [json.loads(line) for line in asked.file.read_text("utf-8").splitlines() if line.strip()]
        scorer = scorer_beside(asked.file) if not any("kind" in row for row in rows) else None
    except (OSError, ValueError) as error:
        print(f"{asked.file}: {error}", file=sys.stderr)
        return 2
    fold("暖")  # the table of characters is read once, at the first use
    if scorer is None and (folder := asked.by_hand or asked.replay):
        hand = ByHand(folder, asks=asked.by_hand is not None)
        print(json.dumps(asyncio.run(measured_by_hand(rows, hand, show=asked.show)), ensure_ascii=False))
        return 1 if hand.unknown else 0
    if scorer is None:
        print(json.dumps(measured_kinds(rows, show=asked.show), ensure_ascii=False))
        return 0
    answers, times = {}, []
    for row in rows:
        began = perf_counter()
        answers[row["id"]] = answer(row["text"])
        times.append((perf_counter() - began) * 1e6)
    figures = {
        name: measured(scorer, chosen, answers)
        for name, chosen in (("headline", [row for row in rows if not _doubtful(row)]), ("all", rows))
    }
    times.sort()
    speed = {f"p{share}": round(times[len(times) * share // 100]) if times else 0 for share in (50, 95)}
    ordinary = measured_ordinary(texts_in(asked.ordinary), asked.show) if asked.ordinary else {}
    print(json.dumps({**figures, "us": speed, **ordinary}, ensure_ascii=False))
    if asked.show:
        for row in rows:
            label, content = answers[row["id"]]
            known = row["content"] is None or label != row["label"] or scorer.content_ok(content, row)
            if label != row["label"] or not known:
                asks = "asks" if label == "none" and is_asked(row["text"]) else ""
                print(row["id"], row["text"], row["label"], row["content"], "->", label, content, asks, file=sys.stderr)
    return 0


def scorer_beside(file: Path) -> ModuleType:
    """The scorer.py in the folder of `file`. OSError when there is none."""
    spec = importlib.util.spec_from_file_location("memory_commands_scorer", file.parent / "scorer.py")
    if spec is None or spec.loader is None:
        raise OSError("no scorer.py beside it")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(text: str) -> Answer:
    """The one label and content of a message, taken as the installation takes it; "none" without a command."""
    order = menu_command(text)
    return told((order,) if order is not None else understand(text, NAMES).commands)


def told(commands: Iterable[MemoryCommand]) -> Answer:
    """One label for all commands: a new name stands for the old one refused, otherwise the first counts."""
    known = [each for each in commands if each.verb != "undo"]
    if not known:
        return "none", None
    label = "nick_set" if any(each.verb == "nick_set" for each in known) else known[0].verb
    contents = [each.content for each in known if each.verb == label and each.content]
    return label, contents if len(contents) > 1 else contents[0] if contents else None


def measured(scorer: ModuleType, rows: Sequence[Row], answers: dict[str, Answer]) -> dict[str, object]:
    """The scorer's figures for these rows, and the share of commands found in each script."""
    score = scorer.score(rows, answers, skip_ambig=False)
    labels = {
        label: {
            "precision": _rounded(score[label]["P"]),
            "recall": _rounded(score[label]["R"]),
            "content": _rounded(score[label]["content_end_to_end"]),
            "rows": score[label]["n"],
        }
        for label in scorer.LABELS
    }
    recall = {}
    for script in SCRIPTS:
        mine = [row for row in rows if row["script"] == script and row["label"] != "none"]
        found = sum(answers[str(row["id"])][0] == row["label"] for row in mine)
        recall[script] = {"recall": _rounded(found / len(mine) if mine else None), "rows": len(mine)}
    wishes = [row for row in rows if row["label"] != "none"]
    done = [row for row in wishes if scorer.gold_ok(answers[str(row["id"])][0], row)]
    left = [str(row["text"]) for row in wishes if answers[str(row["id"])][0] == "none"]
    none = [row for row in rows if row["label"] == "none"]
    return {
        "done": _share(len(done), len(wishes)),
        "answered": _share(len(done) + sum(map(is_asked, left)), len(wishes)),
        "cued": _share(len(done) + sum(map(is_cued, left)), len(wishes)),
        "asked_on_none": _share(sum(is_asked(str(row["text"])) for row in none), len(none)),
        "cues_on_none": _share(sum(is_cued(str(row["text"])) for row in none), len(none)),
        "rows": len(rows),
        "labels": labels,
        "recall_by_script": recall,
        "none_rows": score["none"]["n"],
        "false_action": _rounded(score["none"]["false_action"]),
        "false_write": _rounded(score["none"]["false_write"]),
    }


def measured_kinds(rows: Sequence[Row], *, show: bool) -> dict[str, object]:
    """The figures of rows that tell their kind."""
    wishes = nothing = acted = right = done = asked = cued = told = acts = writes = doubts = 0
    for row in rows:
        text, wanted = str(row["text"]), KINDS.get(str(row["kind"]), str(row["kind"]))
        label, content = answer_to(text)
        acted, right = acted + (label != "none"), right + (wanted != "none" and label == wanted)
        fits = label == wanted and (not row["content"] or alike(content, str(row["content"])))
        asks, cues = label == "none" and is_asked(text), label == "none" and is_cued(text)
        if wanted == "none":
            nothing, acts, writes = nothing + 1, acts + (label != "none"), writes + (label == "remember")
            doubts += asks
        else:
            wishes, done, told = wishes + 1, done + (label == wanted), told + fits
            asked, cued = asked + (label == wanted or asks), cued + (label == wanted or cues)
        if show and not fits:
            told_how = "asks" if asks else "cue" if cues else ""
            print(row["id"], text, wanted, row["content"], "->", label, content, told_how, sep=" | ", file=sys.stderr)
    return {
        "wishes": wishes,
        "precision": _share(right, acted),
        "answered": _share(asked, wishes),
        "cued": _share(cued, wishes),
        "done": _share(done, wishes),
        "content": _share(told, wishes),
        "nothing": nothing,
        "acts": acts,
        "asked": doubts,
        "false_writes": writes,
    }


@dataclass(slots=True)
class Played:
    """How many rows of a kind were played, were done rightly, and told what they were to tell."""

    rows: int = 0
    right: int = 0
    kept: int = 0
    told: int = 0


async def measured_by_hand(rows: Sequence[Row], hand: ByHand, *, show: bool) -> dict[str, object]:
    """The figures of rows that are played in the installation with that model."""
    played: dict[str, Played] = {}
    try:
        for row in rows:
            kind, wanted = str(row["kind"]), str(row["content"])
            before = hand.asked + hand.replayed
            with tempfile.TemporaryDirectory() as folder:
                memories, aside, replies = await _played(Path(folder), row, hand)
            right, kept, told = _right(kind, wanted, memories, aside)
            one = played.setdefault(kind, Played())
            one.rows, one.right, one.kept, one.told = one.rows + 1, one.right + right, one.kept + kept, one.told + told
            if show and not right:
                texts = [(memory.slot, memory.text) for memory in memories]
                asked = hand.asked + hand.replayed - before
                print(
                    row["id"], row["text"], kind, wanted, "->", texts, replies[-1:], asked, sep=" | ", file=sys.stderr
                )
    finally:
        hand.finish()
    kept, told = (
        sum(getattr(played[kind], name) for kind in ("remember", "call") if kind in played) for name in ("kept", "told")
    )
    none = played.pop("none", Played())
    shares = {kind: {"right": _share(one.right, one.rows), "rows": one.rows} for kind, one in sorted(played.items())}
    naming = [played[kind] for kind in KINDS if kind in played]
    return {
        **shares,
        "naming": _share(sum(one.right for one in naming), sum(one.rows for one in naming)),
        "content": _share(told, kept),
        "nothing": none.rows,
        "false_writes": none.rows - none.right,
        "requests": hand.asked + hand.replayed,
        "replayed": hand.replayed,
        "unknown": hand.unknown,
    }


async def _played(folder: Path, row: Row, hand: ByHand) -> tuple[tuple[Memory, ...], bool, list[str]]:
    """A row said to an installation that knows what it is to forget: what is kept after a new session, whether a line
    was set aside, and the replies.
    """
    kind, content, text = str(row["kind"]), str(row["content"]), str(row["text"])
    world = World(folder)
    world.model = hand  # type: ignore[assignment]
    await world.open()
    if kind == "forget":
        await world.say(f"/remember {content or 'Lisbon'}")
    elif kind == "nocall":
        await world.say(f"叫我{content or '阿宝'}" if not content.isascii() or not content else f"call me {content}")
    await world.wait(1)
    first = len(world.replies)
    hand.digests = True  # it judges wishes
    await world.say(text)
    if kind != "none" and world.rows("SELECT 1 FROM question"):
        await world.say("yes" if text.isascii() else "是")
    hand.digests = False  # what wishes do is looked at, not what a talk leaves
    await world.say("/new")
    chat = await world.store.people.chat(1)
    memories = await world.store.memories.owned(1, Audience(chat.id, "dm", (1,)))
    aside = bool(world.rows("SELECT 1 FROM edge WHERE kind = 'aside'"))
    replies = world.replies[first:]
    await world.close()
    return tuple(memory for memory in memories if memory.asked), aside, replies


def _right(kind: str, wanted: str, memories: Sequence[Memory], aside: bool) -> tuple[bool, bool, bool]:
    """Whether a row was done rightly, whether something was kept for it, and whether that tells what was wanted."""
    match kind:
        case "remember":
            texts = [memory.text for memory in memories if not memory.is_name]
        case "call":
            texts = [memory.text for memory in memories if memory.slot == "address"]
        case "nocall":
            called = any(memory.slot == "address" for memory in memories)
            refused = [memory.text for memory in memories if memory.slot == "no_address"]
            return (
                not called and (not wanted or not refused or any(alike(each, wanted) for each in refused)),
                False,
                False,
            )
        case "norecord":
            return aside and not memories, False, False
        case _:
            return not memories, False, False
    whole = (*texts, " ".join(texts))
    right = covers(whole[-1], wanted) if kind == "remember" else any(alike(text, wanted) for text in whole)
    return right, bool(texts), any(alike(text, wanted) for text in whole)


def answer_to(text: str) -> Answer:
    """As `answer`, with the wishes that name little; what is kept nowhere has a label of its own where it is not named,
    for then nothing that is kept goes with it."""
    label, content = answer(text)
    if label == "none":
        one = bare_wish(text, NAMES) or matter_in(text, NAMES)
        found = bare_object(text, NAMES) if one is None else None
        one = MemoryCommand("forget", found.content) if found is not None and not found.soft else one
        label, content = told((one,)) if one is not None else (label, content)
    aside = label == "forget" and any(each.scope in ("aside", "ahead") for each in understand(text, NAMES).commands)
    return ("norecord" if aside and not content else label), content


def alike(content: str | list[str] | None, wanted: str) -> bool:
    """Whether a content says what is wanted, by its characters."""
    one, other = _characters(content if isinstance(content, str) else " ".join(content or ())), _characters(wanted)
    return 2 * (one & other).total() >= SAME * (one.total() + other.total())


def covers(text: str, wanted: str) -> bool:
    """Whether a text says what is wanted, and perhaps more."""
    one, other = _characters(text), _characters(wanted)
    return (one & other).total() >= SAME * other.total()


def _characters(words: str) -> Counter[str]:
    return Counter(char for char in fold(words) if char.isalnum())


def texts_in(places: Iterable[Path]) -> Iterator[str]:
    """The texts of JSON lines files, and of those in folders."""
    for place in places:
        for file in sorted(place.glob("**/*.jsonl")) if place.is_dir() else [place]:
            for line in file.read_text("utf-8").splitlines():
                row = json.loads(line) if line.strip() else {}
                if isinstance(row, dict) and isinstance(row.get("text"), str):
                    yield row["text"]


def measured_ordinary(texts: Iterable[str], show: bool) -> dict[str, object]:
    """The shares of ordinary messages on which something is done, and that are a cue."""
    count = acted = asked = cued = 0
    for text in texts:
        count += 1
        acts = bool(understand(text, NAMES).commands)
        asks = not acts and is_asked(text)
        cues = not acts and is_cued(text)
        acted, asked, cued = acted + acts, asked + asks, cued + cues
        if show and (acts or cues):
            which = "acts" if acts else "asks" if asks else "cue"
            print("ordinary:", which, text[:160].replace("\n", " "), file=sys.stderr)
    shares = {"acts": _share(acted, count), "asked": _share(asked, count), "cues": _share(cued, count)}
    return {"ordinary": {"messages": count, **shares}}


def is_asked(text: str) -> bool:
    """Whether its writer is asked, without a model, whether a message is a wish."""
    return wish_cue(text, NAMES) is not None or wish_hint(text, NAMES) is not None


def is_cued(text: str) -> bool:
    """Whether a model is told that a message may hold a wish."""
    return wish_cue(text, NAMES) is not None or has_wish_word(text, NAMES)


def _share(part: int, whole: int) -> float | None:
    return _rounded(part / whole if whole else None)


def _doubtful(row: Row) -> bool:
    return str(row["note"]).startswith("ambig")


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


if __name__ == "__main__":
    sys.exit(main())
