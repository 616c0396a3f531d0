"""What a message says about what was said before it: clear words about a reply (thanks, that's wrong, 谢谢你记得), and what
a person corrects: a value of something kept, or a day or an hour that they named right before. By rule. Pure."""

import re
from itertools import takewhile

from bot.core.clock import MINUTE_MS
from bot.core.memories import SIGNAL_WEIGHTS, Signal
from bot.language.statements import patterns_of
from bot.language.time.parts import MONTH_LIKE_EN, WEEKDAY_EN
from bot.text.catalogue import LazyPattern, read_table
from bot.text.clean import one_row
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.length import CLAUSE_MARKS
from bot.text.similarity import FORM_WORDS

MOST_CHARS = 120
"""A longer message is a topic of its own."""

_TAIL = r"(?:[了啦呀啊哦喔哈噢呢嘛吧耶诶哟的~～]|nya)*"
_WORDS = read_table("bot.language", "feedback")
_PATTERNS = {
    signal: LazyPattern(f"(?:{'|'.join(_WORDS['zh'][signal])}){_TAIL}|(?:{'|'.join(_WORDS['en'][signal])})")
    for signal in SIGNAL_WEIGHTS
}

_BREAKS = LazyPattern(rf"{CLAUSE_MARKS}|(?<=[一-鿿])\s+|\s+(?=[一-鿿])")
_OPENERS = LazyPattern("|".join(_WORDS["corrects"]["openers"]))
_FACES: dict[str, Signal] = _WORDS["faces"]
_ONLY_FACES = LazyPattern(r"[\s❤\U0001f300-\U0001faff]+")

CORRECTION_CHARS = 60
"""A longer line tells something else as well."""

AT_ONCE_MS, AT_ONCE = 10 * MINUTE_MS, 3
"""Who corrects a day that they named does it so soon, and so few lines on."""

_LEAD, _CUES, _BESIDE, _SMALL = ("|".join(_WORDS["corrects"][name]) for name in ("lead", "cues", "beside", "small"))
_CUE = LazyPattern(rf"\W*(?:(?:{_LEAD})\W*)*(?:{_CUES})(?![a-z])")
_BARE = LazyPattern(rf"(?:[\W_]|(?:{_LEAD}|{_CUES}|{_BESIDE})(?![a-z])|\b(?:{_SMALL})\b)*+")
"""A cue, and small words that say nothing of their own beside a value."""
_NUMERAL = "(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})"
_MONTH = rf"{MONTH_LIKE_EN}\.?"
_KINDS = tuple(
    LazyPattern(pattern)
    for pattern in (
        f"{_NUMERAL}月{_NUMERAL}[日号]?|{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?\\b"
        f"|\\b[0-9]{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}"
        r"|(?<![0-9])(?:[0-9]{4}[-/.])?[0-9]{1,2}[-/][0-9]{1,2}(?![0-9])",
        f"{_NUMERAL}[日号](?![楼线])|\\b(?:the )?[0-9]{{1,2}}(?:st|nd|rd|th)\\b",
        rf"(?:这|下|上)*个?(?:周|星期|礼拜)[一二三四五六日天]|\b{WEEKDAY_EN}\b",
        rf"(?:早上|上午|中午|下午|傍晚|晚上|凌晨)?(?:[0-9]{{1,2}}[:：][0-9]{{2}}|{_NUMERAL}点(?:半|一刻|{_NUMERAL}分?)?)"
        r"|\b[0-9]{1,2}(?::[0-9]{2})? ?[ap]\.?m\b\.?|\b[0-9]{1,2}:[0-9]{2}\b",
        r"(?<![0-9.])[0-9]+(?:\.[0-9]+)?(?![0-9.]*[0-9])",
    )
)
_PART = re.compile("早上|上午|中午|下午|傍晚|晚上|凌晨")
_DAY_OF_MONTH = re.compile(f"(?<=月){_NUMERAL}[日号]?|(?<=[a-z.] )[0-9]{{1,2}}(?:st|nd|rd|th)?")
_REDATED = patterns_of("change", "corrected")


def feedback_signals(text: str, names: tuple[str, ...] = ()) -> tuple[Signal, ...]:
    """What the message lets on about the last reply; `names` are the bot's, who may be called in it.

    Beside a complaint thanks are politeness and do not count.
    """
    if len(text) > MOST_CHARS:
        return ()
    folded = fold(text).replace("’", "'")
    for name in sorted({fold(name) for name in names}, key=lambda name: -len(name)):
        latin = name.isascii()
        folded = re.sub(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])" if latin else re.escape(name), " ", folded)
    found = dict.fromkeys(signal for part in _BREAKS.split(folded) if (signal := _signal(part.strip(" \"'“”@"))))
    if not found and _ONLY_FACES.fullmatch(folded):
        found = dict.fromkeys(_FACES[face] for face in folded if face in _FACES)
    signals = tuple(found)
    against = tuple(signal for signal in signals if SIGNAL_WEIGHTS[signal] < 0)
    return against or signals


def _signal(part: str) -> Signal | None:
    for bare in dict.fromkeys((part, _OPENERS.sub("", part))):
        found = next((signal for signal in SIGNAL_WEIGHTS if bare and _PATTERNS[signal].fullmatch(bare)), None)
        if found is not None:
            return found
    return None


def corrects(text: str) -> bool:
    """Whether a line begins as a correction does, and is as short as one."""
    return len(text) <= CORRECTION_CHARS and _CUE.match(fold_mapped(text)[0]) is not None


def corrected(kept: str, said: str) -> tuple[str, str, str] | None:
    """What was kept with the value that a correction gives, that value and the one before; None where any is unclear.

    Both must hold exactly one value of that kind: a day of a month, a day, a weekday, a time or a number. Beside the
    cue and the value (with its unit, if that was kept) nothing is said: any other word may be about something else.
    """
    folded, origin = fold_mapped(said)
    cue = _CUE.match(folded)
    if cue is None or len(said) > CORRECTION_CHARS:
        return None
    old, place = fold_mapped(kept)
    for number, kind in enumerate(_KINDS):
        given = [found.span() for found in kind.finditer(folded, cue.end())]
        if not given:
            continue
        there = [found.span() for found in kind.finditer(old)]
        if number == 1 and not there:  # the 4th, of May 3rd
            there = [found.span() for found in _DAY_OF_MONTH.finditer(old)]
        if len(given) != 1 or len(there) != 1:
            return None
        (start, end), unit = given[0], old[there[0][1] :]
        same = takewhile(lambda both: both[0] == both[1], zip(folded[end:], unit, strict=False))
        rest = folded[end + sum(1 for _ in same) :]
        if not _BARE.fullmatch(folded[cue.end() : start] + " " + rest) or folded[:start].endswith("不是"):
            return None
        new, before = unfold(said, origin, *given[0]), unfold(kept, place, *there[0])
        if new.strip() == before.strip():
            return None
        if part := _PART.match(old[there[0][0] : there[0][1]]):
            new = new if _PART.match(folded[given[0][0] :]) else unfold(kept, place, *there[0])[: part.end()] + new
        if number == 1 and old[: there[0][0]].endswith(" "):
            new = new.removeprefix("the ")
        text = unfold(kept, place, 0, there[0][0]) + new + unfold(kept, place, there[0][1], len(old))
        return text, new.strip(), before.strip()
    return None


def redates(words: str) -> bool:
    """Whether words correct a day or an hour that their speaker named right before."""
    return _REDATED.match(fold(words)) is not None and names_time(words)


def with_correction(words: str, correction: str) -> str:
    """What somebody said, with their correction of it."""
    return f"{words}{', ' if words.isascii() else '，'}{one_row(correction)}"


def names_time(words: str) -> bool:
    """Whether words name a day or an hour."""
    return FORM_WORDS.search(fold(words)) is not None or re.search(r"\d", words) is not None
