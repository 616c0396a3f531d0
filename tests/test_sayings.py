"""Many sentences of our own, in both Chinese scripts and English: what each asks of memory.

tests/sayings/*.txt has one on a line: kind|text|content. Kinds: R remember, F forget, V no longer call, S call, B both
(content of V, then of S), N nothing. Several contents are parted by ;; and one that is pointed at is -. What is done is
right; what is not certain is not done, and is a cue.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import opencc
import pytest

from bot.core.memories import MemoryVerb
from bot.language.wishes.reader import understand, wish_cue
from tests.hostile import hostile
from tests.sizes import sized
from tests.tables import all_cases

NAMES = ("小暖", "暖暖", "nuan")
FOLDER = Path(__file__).parent / "sayings"
VERBS: dict[str, tuple[MemoryVerb, ...]] = {
    "R": ("remember",),
    "F": ("forget",),
    "V": ("nick_revoke",),
    "S": ("nick_set",),
    "B": ("nick_revoke", "nick_set"),
    "N": (),
}
LATIN = ("en",)
Wishes = list[tuple[MemoryVerb, str | None]]


@dataclass(frozen=True, slots=True)
class Saying:
    kind: str
    text: str
    contents: tuple[str | None, ...]


def sayings(script: str) -> Iterator[Saying]:
    for line in (FOLDER / f"{script}.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, text, *told = line.split("|")
            contents = told if kind == "B" else told[0].split(";;") if told else []
            yield Saying(kind, text.replace("\\n", "\n"), tuple(None if each == "-" else each for each in contents))


def meant(saying: Saying) -> Wishes:
    """The commands of a sentence and their contents."""
    verbs = VERBS[saying.kind] if saying.kind == "B" else VERBS[saying.kind] * len(saying.contents)
    return list(zip(verbs, saying.contents, strict=True)) if verbs else []


def done(saying: Saying) -> Wishes:
    """What is done on it."""
    return [(each.verb, each.content) for each in understand(saying.text, NAMES).commands]


@pytest.mark.parametrize("script", ["hans", "hant", "en"])
def test_nothing_is_done_that_its_writer_did_not_mean(script: str) -> None:
    wrong = [(saying.text, found) for saying in sayings(script) if (found := done(saying)) not in ([], meant(saying))]
    assert wrong == []


@pytest.mark.parametrize(("script", "share"), [("hans", 0.85), ("hant", 0.85), ("en", 0.85)])
def test_most_wishes_are_done_and_of_the_others_nearly_all_are_a_cue(script: str, share: float) -> None:
    wishes = [saying for saying in sayings(script) if meant(saying)]
    left = [saying.text for saying in wishes if not done(saying)]
    missed = [text for text in left if wish_cue(text, NAMES) is None]
    assert len(left) <= (1 - share) * len(wishes)
    assert len(missed) <= 0.01 * len(wishes), missed


@pytest.mark.parametrize("variant", ["s2t", "s2twp", "s2hk"])
def test_the_other_chinese_script_asks_the_same_in_its_own_characters(variant: str) -> None:
    convert, wrong = opencc.OpenCC(variant).convert, []
    for saying in sayings("hans"):
        text = convert(saying.text)
        found = understand(text, (*NAMES, *map(convert, NAMES))).commands
        same = [each.verb for each in found] == [verb for verb, _ in done(saying)]
        if not same or any(each.content and each.content not in text for each in found):
            wrong.append((text, found))
    assert wrong == []


@pytest.mark.parametrize("before", ["小暖，", "@nuan ", "对了，", "ok nuan, "])
@pytest.mark.parametrize("script", ["hans", "hant", "en"])
def test_calling_the_bot_first_changes_no_command(script: str, before: str) -> None:
    lost = []
    for saying in sayings(script):
        wanted = {verb for verb, _ in done(saying)}
        if wanted and not saying.text.startswith(("/", ".", "小暖", "暖暖")):
            found = {each.verb for each in understand(before + saying.text, NAMES).commands}
            if found != wanted:
                lost.append((before + saying.text, found))
    assert lost == []


@pytest.mark.parametrize("script", ["hans", "hant", "en"])
def test_what_is_quoted_or_reported_writes_nothing(script: str) -> None:
    heard = []
    for saying in sayings(script):
        if "\n" not in saying.text and not set(saying.text) & set('“”「」『』"`《》'):
            told = (f"他说“{saying.text}”", f"`{saying.text}`", f"> {saying.text}", f"[转发] {saying.text}")
            heard += [each for each in told if understand(each, NAMES).commands]
    assert heard == []


@pytest.mark.parametrize("script", ["hans", "hant", "en"])
def test_a_question_after_the_command_stays_to_be_answered(script: str) -> None:
    question = "What should I cook tonight?" if script in LATIN else "今天吃什么好？"
    lost = []
    for saying in sayings(script):
        if done(saying) and saying.text[-1] not in "?？" and not saying.text.startswith(("/", ".")):
            ended = saying.text if saying.text[-1] in ".!。！" else saying.text + ("." if script in LATIN else "。")
            got = understand(f"{ended} {question}", NAMES)
            whole = "\n" in saying.text or "following" in saying.text or "facts:" in saying.text
            if not whole and not got.rest.endswith(question):
                lost.append((ended, got))
    assert lost == []


@all_cases(
    "unit", ["记住 ", "把我", "别再", "我的", "call me ", "i'd like you to ", "forget my ", "1. 我 ", "那条", "请你"]
)
def test_long_hostile_text_is_read_to_its_end(unit: str) -> None:
    for lead in ("记住我", "忘掉我", "叫我", "别叫我", "把我", "remember i ", "call me "):
        text = lead + hostile(unit, sized(8000))
        assert len(understand(text, NAMES).rest) <= len(text)
