"""Days of the Chinese calendar: 大年初一, 中秋节, 农历八月十五, and where they fall. Pure.

The table holds 2025 to 2056: for each year its new year's day, its leap month (0: none) and its months, 1 for one of 30
days and 0 for one of 29. It is the civil calendar (GB/T 33661-2017); two independent programs give the same days.
"""

import re
from datetime import date, timedelta

from bot.text.lazy import LazyPattern
from bot.text.when.found import Day, Reading
from bot.text.when.numbers import count_zh

_TABLE = (
    "2025:0129:6:1010010101110 2026:0217:0:101001001110 2027:0206:0:110100100110 2028:0126:5:1110100100110 "
    "2029:0213:0:110101010011 2030:0203:0:010110101010 2031:0123:3:0110101101010 2032:0211:0:100101101101 "
    "2033:0131:11:0100101011101 2034:0219:0:010010101101 2035:0208:0:101001001101 2036:0128:6:1101001001011 "
    "2037:0215:0:110100100101 2038:0204:0:110101010010 2039:0124:5:1101101010100 2040:0212:0:101101011010 "
    "2041:0201:0:010101101101 2042:0122:2:0100101011011 2043:0210:0:010010011011 2044:0130:7:1010010010111 "
    "2045:0217:0:101001001011 2046:0206:0:101010100101 2047:0126:5:1011010100101 2048:0214:0:011011010010 "
    "2049:0202:0:101011011010 2050:0123:3:0101010110110 2051:0211:0:100100110111 2052:0201:8:0100100101111 "
    "2053:0219:0:010010010111 2054:0208:0:011001001011 2055:0128:6:0110101001010 2056:0215:0:111010100101 "
)
_FEASTS = {
    "除夕": (12, 0), "大年三十": (12, 0), "年三十": (12, 0), "大年夜": (12, 0), "春节": (1, 1), "农历新年": (1, 1),
    "元宵": (1, 15), "端午": (5, 5), "七夕": (7, 7), "中元": (7, 15), "中秋": (8, 15), "重阳": (9, 9), "腊八": (12, 8),
    "chinese new year's eve": (12, 0), "lunar new year's eve": (12, 0), "chinese new year": (1, 1),
    "lunar new year": (1, 1), "lantern festival": (1, 15), "dragon boat festival": (5, 5),
    "mid-autumn festival": (8, 15), "mid autumn festival": (8, 15),
}  # fmt: skip
"""Month and day; day 0 is the last one of the month."""
_NAMED_MONTHS = {"正": 1, "冬": 11, "腊": 12}
_TENTH = "初[一二三四五六七八九十]"
_NUMBER = rf"(?:{_TENTH}|廿[一二三四五六七八九]?|三十|二?十[一二三四五六七八九]?|[12]\d|30|[1-9](?!\d))"
_DAY = LazyPattern(
    rf"(?:(?:农历|阴历|旧历)(?:的)?(?P<m>正|冬|腊|十[一二]?|[一二三四五六七八九]|1[0-2]|[1-9])月|(?P<own>正|冬|腊)月)的?"
    rf"(?P<d>{_NUMBER})(?:[日号](?!点))?(?![点时:\d])"
)
_NEW_YEAR = LazyPattern(rf"(?:大|过)?年(?P<d>{_TENTH})")
_FEAST = LazyPattern(
    r"(?<![后前])(?P<feast>" + "|".join(sorted(map(re.escape, _FEASTS), key=len, reverse=True))
    + r")(?:节|夜)?(?:当天|那天)?(?!晚会|快乐|节?[前后]|假|联欢)"
)  # fmt: skip


def read_lunar(reading: Reading) -> None:
    """Take the days of the Chinese calendar that a text names."""
    for match in reading.take(_DAY):
        name = match["m"] or match["own"]
        month = _NAMED_MONTHS.get(name) or count_zh(name)
        reading.name_day(Day("lunar", _count(match["d"]), month=month))
    for match in reading.take(_NEW_YEAR):
        reading.name_day(Day("lunar", _count(match["d"]), month=1))
    for match in reading.take(_FEAST):
        month, number = _FEASTS[match["feast"]]
        reading.name_day(Day("lunar", number, month=month))


def lunar_day(month: int, number: int, today: date) -> date | None:
    """The next such day from `today` on, not of a leap month; None where there is none in sight."""
    for year in (today.year - 1, today.year, today.year + 1):
        found = _date(year, month, number)
        if found is not None and found >= today:
            return found
    return None


def lunar_days(month: int, number: int, today: date) -> list[date]:
    """Such days of the years around today, not of a leap month, the earliest first."""
    found = (_date(year, month, number) for year in range(today.year - 2, today.year + 3))
    return [one for one in found if one is not None]


def _date(year: int, month: int, number: int) -> date | None:
    row = next((row for row in _TABLE.split() if row.startswith(f"{year}:")), None)
    if row is None or not 1 <= month <= 12:
        return None
    _, first, leap, months = row.split(":")
    place = month - 1 + (0 < int(leap) < month)
    lengths = [29 + int(bit) for bit in months]
    if number > lengths[place]:
        return None
    return date(year, int(first[:2]), int(first[2:])) + timedelta(sum(lengths[:place]) + (number or lengths[place]) - 1)


def _count(word: str) -> int:
    if word.startswith("廿"):
        return 20 + count_zh(word[1:])
    return count_zh(word.removeprefix("初"))
