"""One short summary of many without a model: the most telling ones, each whole. The same every time."""

from collections.abc import Sequence

from bot.text.clip import clip
from bot.text.estimate import estimate_tokens
from bot.text.fold import fold
from bot.text.tokens import weight_of

GIST_TOKENS = 60
"""Longest summary of several, as of one talk."""

PARTS = 3
"""How many of them it is made of at most."""

JOINT = " / "

_ENOUGH = 10
"""From so many telling words on the newer one is taken: a longer summary is not a weightier one."""

_LONGEST = 160
"""Characters of the only one that is taken where none has room."""


def gist(told: Sequence[str], limit: int = GIST_TOKENS) -> str:
    """The most telling of these summaries, which are in the order of time, in about `limit` tokens; "" of none."""
    once = list({fold(text).strip(): text.strip() for text in told if text.strip()}.values())
    best = sorted(range(len(once)), key=lambda place: (-min(weight_of(once[place]), _ENOUGH), -place))
    chosen: list[int] = []
    for place in best:
        wider = sorted((*chosen, place))
        if len(wider) <= PARTS and estimate_tokens(JOINT.join(once[each] for each in wider)) <= limit:
            chosen = wider
    if not chosen and best:
        return clip(once[best[0]], _LONGEST)
    return JOINT.join(once[each] for each in chosen)
