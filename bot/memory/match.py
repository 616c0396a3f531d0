"""Which memories a 忘记 X means, by folded text, parts and shared words. It asks nobody and changes nothing."""

import re

from bot.text.alike import named
from bot.text.fold import fold
from bot.text.script import ENGLISH
from bot.types.memory import Memory

SHARE = 0.6
"""Share of the asked words that a memory must hold when neither text holds the other."""
_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""

_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")

_HEAD = re.compile(
    r"[\W_]+|(?:关于|有关|之前|刚才|刚刚|那[条个件]|这[条个件]|说过?的?|记得|我(?:叫|让)你记(?:住|下)?的|我(?!们|国)的?|俺|本人|的(?!士))"
    r"|(?:everything|anything|all)(?= (?:about|on|of|that|with|related|i|you)\b)"
    r"|(?:related to|regarding|concerning)\b"
    r"|(?:所有|一切)(?:关于|有关|跟|和|与)?"
    r"|(?:about|that|this|the|thing|fact|memory|of|how|what|i['’]m|i['’]ve|i|my|me|am|is|it|have)\b"
)
_TAIL = re.compile(
    r"[\W_]+$|(?:有关|相关)的?$|的?(?:一切|所有)$|(?:的?(?:这|那)(?:件事|条|个|回事)|的?(?:事情?|记忆|内容|消息)|了|吧|啦|的|呢|啊|哦)$"
    r"|\b(?:thing|fact|stuff|memory|please|anymore|any more|part)$"
)
_TAIL_CHARS = 40
"""More than any tail has: looked for in the whole of thousands of 吧 it would take seconds."""
_EDGES = re.compile(r"^[\W_]+|(?<![\W_])[\W_]+$")
_LATIN = re.compile(r"[a-z0-9\u00c0-\u024f]+")
_OTHER = re.compile(r"[^\W_a-z0-9\u00c0-\u024f]+")
_WEAK = re.compile("[我你您的对了在是吗呢吧啊也都很就还有]")
"""Characters that come and go between two ways to say the same."""


def match(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories that `content` means, in the given order: the same text, else a part, else most of the words.

    Several when several fit equally well, none when nothing does. Either Chinese script fits the other. Never raises.
    """
    wanted = core_of(content)
    features = features_of(wanted)
    if not wanted:
        return ()
    cores = [(memory, core_of(memory.text)) for memory in memories]
    same = tuple(memory for memory, core in cores if core == wanted)
    if same:
        return same
    if not features:
        return _as_said(content, memories)
    parts = tuple(memory for memory, core in cores if holds(core, wanted) or _nearly_all(wanted, core))
    return parts or _most_shared(features, cores)


def perhaps(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories to ask about where `match` finds none: those with the one character that is named (关于猫的记忆)."""
    word = core_of(content)
    if len(word) != 1 or not _OTHER.fullmatch(word) or _WEAK.fullmatch(word):
        return ()
    return tuple(memory for memory in memories if word in fold(memory.text))


def tells(content: str, text: str) -> bool:
    """Whether a promise or a reminder is what `content` names: its very words, or nearly all that they say."""
    wanted = core_of(content)
    return bool(features_of(wanted)) and (holds(fold(text), wanted) or named(content, text))


def _as_said(content: str, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories with these very words: a single character tells only together with what leads to it (我的猫)."""
    said = _EDGES.sub("", fold(content))
    bare = _HEAD.sub("", said)
    if len(said) < 2 or not bare:
        return ()
    return tuple(memory for memory in memories if holds(fold(memory.text), said))


def core_of(text: str) -> str:
    """The folded text without what only leads to it or trails after it; the whole of it when nothing else is there."""
    core = fold(text).strip()
    while head := _HEAD.match(core):
        core = core[head.end() :]
    while (tail := _TAIL.search(core, max(0, len(core) - _TAIL_CHARS))) and tail.start() < len(core):
        core = core[: tail.start()]
    return core or re.sub(r"[\W_]+", "", fold(text))


def holds(text: str, part: str) -> bool:
    """Whether `part` stands in `text`; a Latin word only as a whole one (cat is not in category)."""
    before = r"(?<![a-z0-9])" if _LATIN.match(part) else ""
    after = r"(?![a-z0-9])" if _LATIN.match(part[-1:]) else ""
    return re.search(before + re.escape(part) + after, text) is not None


def _nearly_all(wanted: str, core: str) -> bool:
    """Whether a memory is the larger part of what was asked for."""
    return 2 * len(core) >= len(wanted) and bool(features_of(core)) and holds(wanted, core)


def _most_shared(features: frozenset[str], cores: list[tuple[Memory, str]]) -> tuple[Memory, ...]:
    shared = [(memory, len(features & features_of(core))) for memory, core in cores]
    best = max((count for _, count in shared), default=0)
    if best < SHARE * len(features):
        return ()
    return tuple(memory for memory, count in shared if count == best)


def features_of(core: str) -> frozenset[str]:
    """Beginnings of telling Latin words, and pairs of other characters; a single character is none."""
    words = (word for word in _LATIN.findall(core) if word not in ENGLISH and (len(word) > 1 or word.isdigit()))
    runs = (run for part in _OTHER.findall(core) if (run := _WEAK.sub("", part)))
    pairs = (run[index : index + 2] for run in runs for index in range(len(run) - 1))
    return frozenset([*(_stem(word) for word in words), *pairs])


def _stem(word: str) -> str:
    return word if word.isdigit() else _ENDING.sub("", word)[:_STEM]
