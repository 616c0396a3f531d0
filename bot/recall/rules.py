"""The numbers of a ranking: nuan's own, and the reference's as they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.types.recall import Profile


@dataclass(frozen=True, slots=True)
class Rules:
    """How relevance, age and importance are mixed, and what is too little.

    `relevance`, `recency` and `importance` are the weights of the mix; `half_life_days` the age at which recency is one
    half; `count_saturation` how often something is told until its importance is full; `saturation` the figure at which
    relevance is 1-1/e.
    """

    min_score: float
    min_relevance: float
    half_life_days: float
    relevance: float
    recency: float
    importance: float
    count_saturation: float
    saturation: float


SEED = Rules(0.30, 0.06, 14, 0.6, 0.2, 0.2, 20, 18)
"""Seed Recall, v2 (checklist C29)."""

DEFAULT = Rules(0.0, 0.06, 14, 0.6, 0.3, 0.2, 20, 6)
"""As the seed, but newness counts more, as it only scales what the words say; no score hides what is old; and a
saturation of 6 is one rare word of a question found whole."""

PROFILES: Mapping[Profile, Rules] = {"default": DEFAULT, "seed": SEED}
