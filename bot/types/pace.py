"""How often people are answered: what holds for one occasion. It counts nothing."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """The limits for one occasion to answer; None is no limit.

    `occasion` is the number of the first message being answered: all calls made for it count once. The local day
    goes from `day_since` to `day_until`, ms.
    """

    occasion: int
    day_since: int
    day_until: int
    cooldown_ms: int | None = None
    person_minute: int | None = None
    person_day: int | None = None
    global_minute: int | None = None
    global_day: int | None = None
