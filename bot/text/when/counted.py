"""English days that are counted from another one: a week from Friday, the day after Christmas. Pure."""

from dataclasses import replace

from bot.text.lazy import LazyPattern
from bot.text.when.found import Day, Delay, Reading
from bot.text.when.numbers import EN, count_en

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WD = r"(?:mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
FEASTS = {"new year's eve": (12, 31), "new years eve": (12, 31), "new year's day": (1, 1), "new years day": (1, 1),
           "christmas eve": (12, 24), "xmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25),
           "xmas": (12, 25), "halloween": (10, 31), "valentine's day": (2, 14), "valentines day": (2, 14)}  # fmt: skip

_FROM = LazyPattern(
    rf"(?a)\b(?P<n>{EN}) (?P<unit>days?|weeks?|fortnights?) (?:from|after) (?:(?P<near>today|tomorrow)"
    rf"|(?:on )?(?:(?P<which>this|next|coming|this coming) )?(?P<day>{WD}))\b"
)
"""A week from Friday."""
_AFTER = LazyPattern(r"(?a)\b(?:on )?the day (?P<way>after|before) (?P<feast>" + "|".join(FEASTS) + r")\b")
_SAME = LazyPattern(r"(?a)\b(?:at )?(?:this|the same|same) time (?P<day>tomorrow|next week)\b")


def read_counted(reading: Reading) -> None:
    """Take days that are counted from another one, and the same time of another day."""
    for match in reading.take(_FROM):
        plus = int(count_en(match["n"]) * {"d": 1, "w": 7, "f": 14}[match["unit"][0]])
        if match["near"]:
            reading.name_day(Day("near", plus + (match["near"] == "tomorrow")))
            continue
        weekday = weekday_of(match["day"])
        base = Day("next", weekday=weekday) if match["which"] == "next" else Day("weekday", weekday=weekday)
        reading.name_day(replace(base, plus=plus))
    for match in reading.take(_SAME):
        reading.parts = replace(reading.parts, delay=Delay(days=1 if match["day"] == "tomorrow" else 7, same=True))
    for match in reading.take(_AFTER):
        month, number = FEASTS[match["feast"]]
        reading.name_day(Day("feast", number, month=month, plus=1 if match["way"] == "after" else -1))


def weekday_of(word: str) -> int:
    """Monday is 0."""
    return next(number for number, name in enumerate(DAYS) if name.startswith(word[:3]))
