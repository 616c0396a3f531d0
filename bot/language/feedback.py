"""Clear words about the reply that was just said: thanks, that's wrong, 谢谢你记得, 你记错了. Pure."""

import re

from bot.core.memories import SIGNAL_WEIGHTS, Signal
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold

MOST_CHARS = 120
"""A longer message is a topic of its own."""

_TAIL = r"(?:[了啦呀啊哦喔哈噢呢嘛吧耶诶哟的~～]|nya)*"
_WORDS = read_table("bot.language", "feedback")
_PATTERNS = {
    signal: LazyPattern(f"(?:{'|'.join(_WORDS['zh'][signal])}){_TAIL}|(?:{'|'.join(_WORDS['en'][signal])})")
    for signal in SIGNAL_WEIGHTS
}

_BREAKS = LazyPattern(r"[，,。.!！?？;；:：…\n~～、]+|(?<=[一-鿿])\s+|\s+(?=[一-鿿])")
_OPENERS = LazyPattern(
    r"^(?:(?:但是|但|不过|可是|只是|哦|噢|嗯|啊|哎|诶|欸|呃|哇|唉|嗨)+|(?:but|well|oh|ok|okay|um|uh|hmm|hey|wow|no|yes|yeah|ah) )+\s*"
)
_FACES: dict[str, Signal] = _WORDS["faces"]
_ONLY_FACES = LazyPattern(r"[\s❤\U0001f300-\U0001faff]+")


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
