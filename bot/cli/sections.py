"""`nuan sections`: which sections of memory talks stay with, which are searched first, which are never hit."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.cli.installation import Installation, make_words
from bot.cli.terminal import json_document, write_private
from bot.config.memory import SectionRules
from bot.core.clock import SystemClock
from bot.core.errors import NuanError
from bot.core.people import Audience
from bot.core.ports import Clock
from bot.core.recall import RecallRound, SectionAdvice, SectionHistory, TopicLine
from bot.memory.archive.records import time_text
from bot.pipeline.recall import topic_of
from bot.prompt.opening import TEXT_CHARS, section_name
from bot.recall.sections import FRESH_MS, SectionLabel, advice, index_state, sections_to_search, shares, topic_file
from bot.store.store import Store, open_store
from bot.text.clean import clean
from bot.text.length import clip

STATE, TOPIC = "index_state.json", "MEMORY_TOPIC.md"


@dataclass(frozen=True, slots=True)
class SectionReport:
    """One person in one chat: the rounds of late, the advice, what is searched first, and the topic."""

    sighted: SectionHistory
    rounds: tuple[RecallRound, ...]
    advice: tuple[SectionAdvice, ...]
    first: tuple[str, ...]
    topic: TopicLine | None


async def show_sections(place: Installation, export: Path | None, clock: Clock | None = None, *, as_json: bool) -> str:
    """The advice list, beside a running nuan; with `export` the states are written into that folder instead."""
    rules, now = place.settings.sections, (clock or SystemClock()).now()
    async with await open_store(place.data, read_only=True) as store:
        shown = [await _report(store, rules, each, now) for each in await store.feedback.section_histories()]
    words = make_words(place).opening(place.settings.bot.language)

    def name(key: str) -> str:
        return section_name(key, words)

    if export is not None:
        if await asyncio.to_thread(export.is_file):
            raise NuanError(f"{export} is no folder: give another name")
        if not shown:
            raise NuanError("no turn has searched memory yet: nothing was written")
        for each in shown:
            _write(export / f"chat-{each.sighted.chat_id}-person-{each.sighted.person_id}", each, rules, name)
        if as_json:
            return json_document({"folder": str(export), "states": len(shown)})
        return f"{len(shown)} states are in {export}; they tell what people said: what is forgotten later stays there"
    if as_json:
        return json_document([_json(each, rules, name) for each in shown])
    return "\n".join(line for each in shown for line in _lines(each, rules, name)) or "no turn has searched memory yet"


async def _report(store: Store, rules: SectionRules, sighted: SectionHistory, now: int) -> SectionReport:
    late = tuple(each for each in sighted.rounds if each.at >= now - FRESH_MS)
    audience = Audience(sighted.chat_id, sighted.kind, (sighted.person_id,))
    topic = await topic_of(store, rules, audience, sighted.person_id, now)
    first = sections_to_search(late, (), rules) if rules.on else ()
    return SectionReport(sighted, late, advice(late, sighted.sizes, rules), first, topic)


def _state(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> dict[str, object]:
    topic = (name(shown.topic.section), _sentence(shown.topic)) if shown.topic is not None else ("", "")
    return index_state(shown.rounds, shown.sighted.sizes, rules, topic, (name, time_text))


def _sentence(topic: TopicLine) -> str:
    return " ".join(clean(clip(topic.text, TEXT_CHARS)).split())


def _json(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> dict[str, object]:
    return {
        "chat": shown.sighted.chat_id, "person": shown.sighted.person_id, "state": _state(shown, rules, name),
        "advice": [{**asdict(each), "name": name(each.key)} for each in shown.advice], "first": list(shown.first),
    }  # fmt: skip


def _lines(shown: SectionReport, rules: SectionRules, name: SectionLabel) -> Iterator[str]:
    sighted, total = shown.sighted, len(shares(shown.rounds, rules.window))
    title = f" {clean(sighted.title)}" if sighted.title else ""
    who = " ".join(clean(sighted.name).split())
    yield f"chat {sighted.chat_id} ({sighted.kind}{title}), person {sighted.person_id} {who}:"
    for each in shown.advice:
        told = f"  {each.key} ({name(each.key)}): {each.share:.0%} of the hits, {each.memories} memories"
        standing = {"also": "", "none": ""}.get(each.standing, f", {each.standing}")
        merge = f"; no hit in {each.misses} turns: might be merged into another" if each.merge else ""
        yield told + standing + merge
    if shown.first:
        yield f"  searched first: {', '.join(shown.first)} and what a message names; everything when that is not enough"
    else:
        yield "  everything is searched" + ("" if total else ": no hit of late")
    if shown.topic is not None:
        yield f"  topic: {name(shown.topic.section)}: {_sentence(shown.topic)} (#{shown.topic.memory_id})"


def _write(folder: Path, shown: SectionReport, rules: SectionRules, name: SectionLabel) -> None:
    state = json_document(_state(shown, rules, name)) + "\n"
    write_private(folder / STATE, (state,), force=True)
    if shown.topic is None:
        (folder / TOPIC).unlink(missing_ok=True)
    else:
        write_private(folder / TOPIC, (topic_file(name(shown.topic.section), _sentence(shown.topic)),), force=True)
