"""One short summary of many: the most telling ones, each cut to its share. Without a model, the same every time."""

from collections.abc import Sequence

from bot.text.clip import clip
from bot.text.fold import fold
from bot.text.tokens import weight_of

GIST_CHARS = 50
"""Longest summary of several (SEED_SYSTEMS 1.7: 50 字)."""

PARTS = 3
"""How many of them it is made of; more would leave too little of each."""

JOINT = " / "

_ENOUGH = 10
"""From so many telling words on the newer one is taken: a longer summary is not a weightier one."""


def gist(told: Sequence[str], limit: int = GIST_CHARS) -> str:
    """At most `limit` characters of these summaries, which are in the order of time; "" of none."""
    once = list({fold(text).strip(): text.strip() for text in told if text.strip()}.values())
    best = sorted(range(len(once)), key=lambda place: (-min(weight_of(once[place]), _ENOUGH), -place))[:PARTS]
    chosen = [once[place] for place in sorted(best)]
    room = limit - len(JOINT) * (len(chosen) - 1)
    parts = dict[str, str]()
    for count, text in enumerate(sorted(chosen, key=len)):
        parts[text] = clip(text, room // (len(chosen) - count))
        room -= len(parts[text])
    return JOINT.join(parts[text] for text in chosen)
