"""The summary of a talk without a model: the most telling of people's own lines, in forty characters. Pure."""

import re
from collections import Counter

from bot.memory import statements as s
from bot.memory.forging import forged
from bot.memory.minutes import DigestLine, Told, was_forgotten
from bot.memory.telling import ADDRESSED, SENTENCE, clauses_of, one_row
from bot.text.clean import clean_name
from bot.text.clip import ELLIPSIS, clip
from bot.text.fold import fold
from bot.text.script import Script, script_of
from bot.text.tokens import weight_of

SUMMARY_CHARS = 40
"""Longest summary (C35: 40 字)."""

QUOTED_ROW = re.compile(r"\s*[>#|]")
"""A row of somebody else's words."""

_NAME_CHARS, _ITEM_CHARS, _ITEMS, _TELLING = 8, 32, 4, 3
"""In the summary: a name, what one line may take of it, how many lines, how many telling words make one."""


_REMIND = re.compile(
    r"(?<!谢谢你)(?:提醒|通知)(?:一下|下)?我|(?:叫|喊)我起|叫醒我|\b(?:remind|wake|ping|nudge) (?:me|us)\b"
)
"""What nuan was asked to say later: a reminder says it, the summary only where nothing else was said."""

_WORD_CHARS = 12
"""So much is given up at most to cut behind a whole Latin word."""


def rule_summary(told: Told, gone: Told, memorable: set[int]) -> str:
    """The most telling lines, in the order they were said, as many as fit."""
    ranked: dict[tuple[int | None, str], tuple[int, DigestLine, str]] = {}
    for line, words in told:
        item = _item(words)
        if item and not was_forgotten(item, line, gone):
            asks = bool(s.QUESTION.search(fold(words).strip())) + bool(s.RECALLING.search(fold(words)))
            cut = item.endswith(ELLIPSIS)
            score = 100 * (line.event_id in memorable) + min(weight_of(item), 10) - 5 * asks - 3 * cut
            ranked.setdefault((line.person_id, fold(item)), (score, line, item))
    said = {key: entry for key, entry in ranked.items() if not _REMIND.search(key[1])}
    ranked = said or ranked
    best = sorted(ranked.values(), key=lambda entry: (-entry[0], -entry[1].number))
    if not best:
        return ""
    script = _script(told)
    chosen: list[tuple[DigestLine, str]] = []
    for _, line, item in best:
        wider = sorted([*chosen, (line, item)], key=lambda entry: entry[0].number)
        if not chosen or (len(chosen) < _ITEMS and len(_written(wider, script)) <= SUMMARY_CHARS):
            chosen = wider
    return _cut(_written(chosen, script), SUMMARY_CHARS)


def _cut(text: str, most: int) -> str:
    """Clipped, and Latin words not in their middle."""
    short = clip(text, most)
    if len(text) <= most or not (text[most - 2 : most].isascii() and text[most - 2 : most].isalnum()):
        return short
    whole = short.rfind(" ", most - 1 - _WORD_CHARS)
    return short if whole < 0 else short[:whole].rstrip(" ,;:") + ELLIPSIS


def _item(words: str) -> str:
    """The sentence of a message that tells most, short, without marks, links and orders to a model; or ""."""
    items: list[str] = []
    for row in s.LINK.sub(" ", words).split("\n"):
        if QUOTED_ROW.match(row):
            continue
        addressed = ADDRESSED.match(row)
        for match in SENTENCE.finditer(row, addressed.end() if addressed else 0):
            plain = one_row(re.sub(r"<[^<>]*>|[<>]", " ", match[1])).strip(" ,，、:：-")
            folded = fold(plain)
            if folded and not s.SMALL_TALK.match(folded) and not s.INSTRUCTION.search(folded):
                items.append(_cut(_short(plain), _ITEM_CHARS))
    telling = (item for item in items if weight_of(item) >= _TELLING)
    return next(telling, items[0] if items else "")


def _short(plain: str) -> str:
    """A sentence's first clause when that tells something by itself, else the whole of it."""
    first = clauses_of(plain)[0].strip()
    return first if weight_of(first) >= _TELLING and not s.SMALL_TALK.match(fold(first)) else plain


def _written(chosen: list[tuple[DigestLine, str]], script: Script) -> str:
    colon, comma = (": ", "; ") if script == "en" else ("：", "；")
    parts: list[str] = []
    speaker: int | None = None
    for line, item in chosen:
        named = not parts or line.person_id != speaker
        name = clip(one_row(re.sub("[<>]", "", clean_name(line.name))), _NAME_CHARS)
        told = f"{name}{colon}"
        parts.append(f"{told}{item}" if named and not forged(f"{line.name}\n{told}") else item)
        speaker = line.person_id
    return comma.join(parts)


def _script(told: Told) -> Script:
    """The script in which most was said."""
    counted: Counter[Script] = Counter()
    for _, words in told:
        counted[script_of(words, "zh-Hans")] += len(words)
    return counted.most_common(1)[0][0]
