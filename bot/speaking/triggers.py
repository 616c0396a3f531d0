"""Whether a message calls the bot by one of its names."""

import re
import unicodedata

from bot.text.fold import fold
from bot.text.tables import read_table

_ANY = {name: "|".join(texts) for name, texts in read_table("bot.speaking", "triggers").items()}
_GREETINGS = re.compile(rf"(?:{_ANY['greetings_zh']}|(?:{_ANY['greetings_en']})(?![a-z0-9]))")
"""Words that may stand before a name that calls, folded."""

_ENDINGS = re.compile(r"(?:[呀啊呢哦喔哈嘛啦哟唷诶欸噢酱]|(?<![a-z0-9])(?:please|pls|plz|thanks|thx))$")
"""What may follow a name at the end, folded. 吗 and 吧 are missing: 你认识小暖吗 is talk about her."""

_DESCRIBES = ("的", "地")
"""A name before these describes something: 暖暖的被子."""

_QUOTES = frozenset("\"'`“”‘’「」『』《》")
"""A name in quotes is mentioned, not called."""

_JOINERS = frozenset(".-'’/@#\\")
"""Between letters these make one word of a Latin name and its neighbour: nuan.toml, you@nuan, nuan's."""

_SENTENCE_END = re.compile(r"(?:[!?。]|\.{2,}|\.(?=\s))+\s*")
_SPOKEN_TO = re.compile(rf"\s*(?:[,:~!]|[你您帮记提能请别给叫把](?!们))|\s+(?:{_ANY['spoken_to_en']})\b")
"""What stands behind a name inside a message that speaks to it: do NOT. Nuan, call me Kev; else it is told of."""

_GOES_ON = re.compile(rf"(?:(?:{_ANY['goes_on_en']})(?![a-z0-9])|{_ANY['goes_on_zh']})[\s,，]*", re.IGNORECASE)
"""What may stand before a name that a message speaks to: and Nuan, remind us."""

_PREFIX = 3
"""Letters of a Latin name that are enough with `prefix_trigger` (SEED_SYSTEMS 1.2)."""


def called_by_name(text: str, names: tuple[str, ...], prefix_trigger: bool = False) -> bool:
    """Whether `text` calls one of `names` at its start, its end or the start of a sentence that speaks to it; elsewhere
    a name is talk about the bot.

    Script, case and width do not matter. Greetings may stand before the name, particles after it; a Latin name ends
    at a word boundary. Lines quoted with > call nobody. With `prefix_trigger` the first three letters of a Latin name
    call at the very start, without a boundary.
    """
    said = fold("\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">", "＞"))))
    said = " ".join(said.split())
    folded = tuple(name for name in (" ".join(fold(name).split()) for name in names) if name)
    starts = _starts(said)
    if any(_begins(start, name) for start in starts for name in folded):
        return True
    if prefix_trigger and any(starts[1].startswith(prefix) for prefix in _prefixes(folded)):
        return True
    if any(_ends(end, name) for end in _ends_of(said) for name in folded):
        return True
    begun = [*_SENTENCE_END.split(said)[1:], *([said[goes_on.end() :]] if (goes_on := _GOES_ON.match(said)) else [])]
    return any(_begins(one, name) and _SPOKEN_TO.match(one, len(name)) for one in begun for name in folded)


def _starts(said: str) -> tuple[str, ...]:
    """The text, the text after its leading signs, and again after each greeting (at most four: 喂喂喂喂小暖)."""
    found = [said, _skip_signs(said)]
    for _ in range(4):
        greeting = _GREETINGS.match(found[-1])
        if greeting is None:
            break
        found.append(_skip_signs(found[-1][greeting.end() :]))
    return tuple(found)


def _ends_of(said: str) -> tuple[str, ...]:
    """The text, the text without its closing signs, and again without each closing particle (at most four)."""
    found = [said, _drop_signs(said)]
    for _ in range(4):
        ending = _ENDINGS.search(found[-1])
        if ending is None:
            break
        found.append(_drop_signs(found[-1][: ending.start()]))
    return tuple(found)


def _begins(start: str, name: str) -> bool:
    if not start.startswith(name):
        return False
    after = start[len(name) :]
    if not _latin(name):
        return not after.startswith(_DESCRIBES)
    return not (_latin(after[:1]) or (after[:1] in _JOINERS and _latin(after[1:2])))


def _ends(end: str, name: str) -> bool:
    if not end.endswith(name):
        return False
    before = end[: len(end) - len(name)]
    if not _latin(name):
        return True
    last, second = before[-1:], before[-2:-1]
    if last in {"/", "\\", "#"}:
        return False
    return not (_latin(last) or (last in _JOINERS and _latin(second)))


def _prefixes(names: tuple[str, ...]) -> tuple[str, ...]:
    letters = ("".join(char for char in name if char.isascii() and char.isalnum()) for name in names)
    return tuple(word[:_PREFIX] for word in letters if len(word) >= _PREFIX)


def _skip_signs(text: str) -> str:
    for index, char in enumerate(text):
        if not _sign(char):
            return text[index:]
    return ""


def _drop_signs(text: str) -> str:
    end = len(text)
    while end and _sign(text[end - 1]):
        end -= 1
    return text[:end]


def _sign(char: str) -> bool:
    """Punctuation, symbols, spaces and emoji, but no quotes."""
    return char not in _QUOTES and unicodedata.category(char)[0] not in "LN"


def _latin(text: str) -> bool:
    """Whether it has a letter or digit of a script that writes words apart (or _, which joins them)."""
    return any(unicodedata.category(char) in {"Ll", "Lu", "Lt", "Nd", "Pc"} for char in text)
