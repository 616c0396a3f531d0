"""How true a digest is: of labelled sessions, the true statements that are kept and the planted false ones stored.

python -m tests.bench.digest FILE [--by-hand DIR | --model URL [--name NAME]] [--verbose]

Without a model each true and each false statement is fed as an answer by itself, with a second look that finds nothing
wrong: what the rules alone keep and refuse. With one (or answers recorded in DIR as ID.answer.txt, beside
ID.request.txt) its digest of each session is scored, with the false statements of the session put into it before the
second look. With --labelled the digest is made of the true statements instead, so only the second look is the model's.
A session is one JSON object on a line: id, lang, zone, bot, known, lines[n, at, who, text, bot, forwarded],
true[statement, who, about, kind, lines, when, keys, replaces], false[statement, type, lines, when].
"""

import argparse
import json
import os
import random
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bot.core.memories import Memory
from bot.core.sessions import Digest
from bot.memory.digest.answer import BrokenAnswer, ItemSection, read_check
from bot.memory.digest.request import KnownFacts, request_text, touchable
from bot.memory.digest.review import Review, checked, digest_of, review
from bot.memory.transcript import DigestLine, TalkScope
from bot.text.dates import local_day
from bot.text.fold import script_of

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"


@dataclass(frozen=True)
class Labelled:
    """One session with what is true and false of it."""

    name: str
    kind: str
    lines: tuple[DigestLine, ...]
    scope: TalkScope
    known: KnownFacts
    people: Mapping[str, int]
    true: tuple[Mapping[str, Any], ...]
    false: tuple[Mapping[str, Any], ...]


@dataclass
class Tally:
    """How many there are and how many were kept, with those that were not as they should be."""

    name: str
    all: int = 0
    kept: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, kept: bool, kind: str, shown: str, wrong: bool) -> None:
        """Count one; `shown` is told where it is `wrong`."""
        self.all += 1
        self.kept += kept
        if wrong:
            self.by_kind[kind] += 1
            self.shown.append(shown)

    def tell(self, verbose: bool) -> None:
        """Print it."""
        share = 100 * self.kept / self.all if self.all else 0
        kinds = ", ".join(f"{kind} {number}" for kind, number in self.by_kind.most_common())
        sys.stdout.write(f"{self.name}: {self.kept} of {self.all} ({share:.1f} %)" + (f"; {kinds}" if kinds else ""))
        sys.stdout.write("\n" + "".join(f"    {row}\n" for row in self.shown if verbose))


def sessions(path: Path) -> Iterable[Labelled]:
    """Every session of a file."""
    for row in path.read_text("utf-8").splitlines():
        if row.strip():
            yield _session(json.loads(row))


def _session(raw: Mapping[str, Any]) -> Labelled:
    zone = ZoneInfo(raw.get("zone") or "UTC")
    people: dict[str, int] = {}
    lines: list[DigestLine] = []
    for row in raw["lines"]:
        is_bot = bool(row.get("bot")) or row["who"] == raw.get("bot")
        person = None if is_bot else people.setdefault(row["who"], len(people) + 1)
        lines.append(
            DigestLine(
                int(row["n"]),
                100 + int(row["n"]),
                person,
                row["who"],
                row["text"],
                _ms(row["at"], zone),
                is_bot,
                str(row.get("marks", "")),
                bool(row.get("forwarded")),
            )
        )
    group = raw.get("kind") == "group"
    owner = None if group else next(iter(people.values()), None)
    scope = TalkScope(7, "group" if group else "dm", raw.get("bot") or "nuan", owner, zone)
    facts = tuple(_known(number, fact, people) for number, fact in enumerate(raw.get("known") or (), 1))
    return Labelled(
        str(raw["id"]),
        f"{raw.get('lang', '')} {raw.get('kind', '')}",
        tuple(lines),
        scope,
        KnownFacts(facts),
        people,
        tuple(raw.get("true") or ()),
        tuple(raw.get("false") or ()),
    )


def _known(number: int, fact: Any, people: Mapping[str, int]) -> Memory:
    read: Mapping[str, Any] = fact if isinstance(fact, Mapping) else {"text": str(fact)}
    text = str(read.get("text") or read.get("statement") or "")
    digits = re.findall(r"\d+", str(read.get("n") or read.get("id") or read.get("number") or number))
    return Memory(
        int(digits[0]),
        people.get(str(read.get("who", "")), 1),
        7,
        "private",
        "knowledge",
        text,
        0,
        0,
        "digest",
        str(read.get("slot") or ""),
        subject=str(read.get("about") or read.get("subject") or ""),
    )


def _ms(at: Any, zone: ZoneInfo) -> int:
    if isinstance(at, int | float):
        return int(at if at > 10**11 else at * 1000)
    there = datetime.fromisoformat(str(at))
    return int((there if there.tzinfo else there.replace(tzinfo=zone)).timestamp() * 1000)


def one_item(item: Mapping[str, Any], section: ItemSection) -> dict[str, object]:
    """A labelled statement as a model would give it."""
    kind = str(item.get("kind") or "")
    about = str(item.get("about") or "")
    return (
        {
            "text": item["statement"],
            "about": "" if about in ("self", "owner", str(item.get("who"))) else about,
            "kind": kind,
            "when": str(item.get("when") or ""),
            "from": item.get("lines") or (),
            "replaces": item.get("replaces") or (),
        }
        if section == "statements"
        else {
            "title": item["statement"],
            "text": item["statement"],
            "when": str(item.get("when") or ""),
            "from": item.get("lines") or (),
        }
    )


def answer_of(items: Iterable[Mapping[str, Any]], section: ItemSection) -> str:
    """An answer that says these."""
    return json.dumps({"summary": "", section: [one_item(item, section) for item in items]}, ensure_ascii=False)


def section_of(kind: str) -> ItemSection:
    """Where an item of that kind stands."""
    return (
        "moods"
        if kind in ("mood", "emotion")
        else "tasks"
        if kind == "task"
        else ("promises" if kind == "promise" else "statements")
    )


def finds(digest: Digest, item: Mapping[str, Any], session: Labelled) -> bool:
    """Whether a digest keeps a true statement: of its owner, with all its keys and, where one is given, its day."""
    owner = session.people.get(str(item.get("who", "")), session.scope.owner_id)
    stored = [(one.text + " " + one.subject, one.owner_id, one.observed_at) for one in digest.memories]
    stored += [(f"{one.text} {one.toward}", one.owner_id, one.due_at or 0) for one in digest.commitments]
    keys = [re.compile(str(key), re.IGNORECASE) for key in item.get("keys") or ()]
    for text, whose, at in stored:
        if (
            whose == owner
            and all(key.search(text) for key in keys)
            and _same_day(str(item.get("when") or ""), at, session)
        ):
            return True
    return False


def _same_day(when: str, at: int, session: Labelled) -> bool:
    day = local_day(at, session.scope.tz).isoformat()
    if not when:
        return True
    return day.endswith(when[2:7]) if when.startswith("--") else day.startswith(when[:10])


def by_itself(found: Iterable[Labelled], verbose: bool) -> None:
    """Feed each labelled statement as an answer of its own, and a second look that finds nothing wrong."""
    true, days, false = Tally("true kept"), Tally("true with the right day"), Tally("false stored")
    for session in found:
        for item in session.true:
            got = confirmed(item, section_of(str(item.get("kind") or "")), session)
            why = "; ".join(one.why for one in got.refused)
            shown = (
                f"{session.name} {item.get('lines')} {why}: {item['statement']} {item.get('about')} {item.get('when')}"
            )
            true.add(bool(got.kept), why.split(" ")[0], shown, not got.kept)
            if got.kept and item.get("when"):
                digest = digest_of(got, session.lines, session.scope, session.known)
                at = [one.observed_at for one in digest.memories] + [one.due_at or 0 for one in digest.commitments]
                right = any(_same_day(str(item["when"]), one, session) for one in at)
                days.add(right, "", shown, not right)
        for item in session.false:
            got = confirmed(item, "statements", session)
            kept = any(one.text == item["statement"] for one, _ in got.kept)
            shown = f"{session.name} {item.get('lines')} {item.get('type')}: {item['statement']} {item.get('when')}"
            false.add(kept, str(item.get("type")), shown, kept)
    for tally in (true, days, false):
        tally.tell(verbose)


def confirmed(item: Mapping[str, Any], section: ItemSection, session: Labelled) -> Review:
    """What the rules leave of one statement."""
    got = review(answer_of([item], section), session.lines, session.scope, session.known)
    assert not isinstance(got, BrokenAnswer), session.name
    return checked(got, {}, session.lines, session.scope, session.known)


Ask = Callable[[str, str, str], str]
"""What a model answers, by the name of the request, its instructions and its text."""


def by_model(found: Iterable[Labelled], ask: Ask, verbose: bool, labelled: bool = False) -> None:
    """Score a model's digests with the false statements in them, after the second look."""
    true, false, own = Tally("true kept"), Tally("false stored"), Tally("of the model's own kept")
    counted: Counter[str] = Counter()
    for session in found:
        script = script_of(" ".join(line.text for line in session.lines if not line.is_bot), "zh-Hans")
        shown = touchable(session.known, session.lines)
        text = request_text(session.lines, session.scope, shown, session.lines[-1].at)
        told = prompt_of("digest", script)
        answer = answer_of(session.true, "statements") if labelled else ask(session.name, told, text)
        got = review(planted(answer, session), session.lines, session.scope, shown)
        if isinstance(got, BrokenAnswer):
            counted[got.fault] += 1
            continue
        lines, rows = got.second_look(session.lines, shown)
        talk = request_text(lines, session.scope, shown, session.lines[-1].at)
        check = ask(f"{session.name}.check", told, f"{talk}\n\n{prompt_of('check', script)}\n{rows}")
        wrong = read_check(check)
        if wrong is None:
            counted["no check"] += 1
        got = checked(got, wrong or {}, session.lines, session.scope, shown)
        digest = digest_of(got, session.lines, session.scope, shown)
        counted.update(
            {
                "proposed": digest.counts.proposed,
                "kept": digest.counts.kept,
                "mended": digest.counts.mended,
                "refused": digest.counts.refused,
            }
        )
        texts = {item.text for item, _ in got.kept}
        for item in session.true:
            kept = item["statement"] in texts if labelled else finds(digest, item, session)
            why = next((one.why for one in got.refused if one.item.text == item["statement"]), "")
            true.add(kept, str(item.get("kind")), f"{session.name} {why}: {item['statement']}", not kept)
        lies = {item["statement"] for item in session.false}
        for item in session.false:
            kept = item["statement"] in texts
            false.add(kept, str(item.get("type")), f"{session.name} {item.get('type')}: {item['statement']}", kept)
        for one in got.answer.items:
            if one.text not in lies:
                kept = any(item.number == one.number for item, _ in got.kept)
                why = next((ref.why for ref in got.refused if ref.item.number == one.number), "")
                own.add(kept, why.split(" ")[0], f"{session.name} {why}: {one.text}", not kept)
    for tally in (true, own, false):
        tally.tell(verbose)
    sys.stdout.write(f"{dict(counted)}\n")


def prompt_of(folder: str, script: str) -> str:
    """The instructions of that folder."""
    return (PROMPTS / folder / f"{script}.txt").read_text("utf-8").strip()


def planted(answer: str, session: Labelled) -> str:
    """The answer with the false statements at places that depend on the session alone."""
    try:
        found = json.loads(answer[answer.find("{") : answer.rfind("}") + 1])
    except ValueError:
        found = {"summary": ""}
    statements = [*(found.get("statements") or []), *(one_item(item, "statements") for item in session.false)]
    random.Random(session.name).shuffle(statements)
    return json.dumps(found | {"statements": statements}, ensure_ascii=False)


def by_hand(folder: Path) -> Ask:
    """Answers from a folder; a request without one is written there, and its answer is waited for on the terminal."""
    folder.mkdir(parents=True, exist_ok=True)

    def ask(name: str, told: str, text: str) -> str:
        (folder / f"{name}.request.txt").write_text(f"{told}\n\n{text}\n", "utf-8")
        answer = folder / f"{name}.answer.txt"
        for _ in count():
            if answer.exists() or not sys.stdin.isatty():
                break
            input(f"put the answer into {answer} and press Enter ")
        return answer.read_text("utf-8") if answer.exists() else ""

    return ask


def by_server(url: str, name: str) -> Ask:
    """Answers of an OpenAI-compatible server; its key, if any, stands in NUAN_MODEL_KEY."""

    def ask(_: str, told: str, text: str) -> str:
        body = {
            "model": name,
            "temperature": 0,
            "messages": [{"role": "system", "content": told}, {"role": "user", "content": text}],
        }
        request = urllib.request.Request(
            f"{url.rstrip('/')}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('NUAN_MODEL_KEY', '')}"},
        )
        with urllib.request.urlopen(request, timeout=180) as reply:
            return str(json.load(reply)["choices"][0]["message"]["content"] or "")

    return ask


def main(arguments: list[str]) -> None:
    """Print how true digests of the sessions of a file are."""
    parser = argparse.ArgumentParser("tests.bench.digest")
    parser.add_argument("file", type=Path)
    parser.add_argument("--by-hand", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--name", default="default")
    parser.add_argument("--labelled", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    found = list(sessions(given.file))
    sys.stdout.write(f"{len(found)} sessions, {sum(len(one.lines) for one in found)} lines\n")
    if given.by_hand or given.model:
        ask = by_hand(given.by_hand) if given.by_hand else by_server(given.model, given.name)
        by_model(found, ask, given.verbose, given.labelled)
    else:
        by_itself(found, given.verbose)


if __name__ == "__main__":
    main(sys.argv[1:])
