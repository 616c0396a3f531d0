"""Times in Chinese text, folded to Simplified before: 昨天, 上周三, 5月2日, 去年夏天, 三天前. Pure."""

from collections.abc import Callable
from datetime import date

from bot.text import calendar
from bot.text.calendar import Days
from bot.text.lazy import LazyPattern
from bot.text.when.numbers import DIGITS, count_zh

_NUMBER = r"(?:\d{1,4}|[零〇一二三四五六七八九两俩十百]{1,5})"
_WEEKDAYS = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6, "末": 5}
_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_HOURS = {"早": (5, 11), "上午": (5, 12), "中午": (11, 14), "下午": (12, 18), "晚": (17, 29), "夜": (17, 29),
          "凌晨": (0, 6)}  # fmt: skip

_HALF = r"(?P<half>早上|早|上午|中午|下午|晚上|晚|夜里|夜|凌晨)?"
_DAY = rf"(?P<near>大前|大后|前|昨|今|明|后)(?:天|日|儿个?)?{_HALF}"
_WEEK = r"(?P<weeks>上+|这|本|下+)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])?"
_MONTHS = rf"(?P<months>上+|这|本|下+)个?月(?:份)?(?:(?P<monthday>{_NUMBER})[日号])?"
_YEAR = (
    rf"(?P<year>大前|前|去|今|本|明|后)年(?:的?(?:(?P<season>[春夏秋冬])[天季]?|(?P<ym>{_NUMBER})月(?:份)?"
    rf"(?:(?P<yd>{_NUMBER})[日号])?))?"
)
_FULL = (
    rf"(?P<y>\d{{4}}|[零〇一二三四五六七八九]{{4}})年(?:的?(?:(?P<fs>[春夏秋冬])[天季]?|(?P<m>{_NUMBER})月(?:份)?"
    rf"(?:(?P<d>{_NUMBER})[日号]?)?))?"
)
_DATE = rf"(?P<month>{_NUMBER})月(?:份)?(?:(?P<number>{_NUMBER})[日号]?)?"
_ONLY = rf"(?P<only>{_NUMBER})[号](?!线|楼|院|店|码|公)"
_AGO = rf"(?P<count>{_NUMBER}|半)个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:以?前|之前)"
_FEW = r"(?P<few>前几天|前两天|前些天|这几天|这两天|前阵子|前段时间)"
_BARE = r"(?:周|星期|礼拜)(?P<bare>[一二三四五六日天])"
_SEASON = r"(?P<alone>[春夏秋冬])天"
_FEWS = {"前几天": 8, "前两天": 4, "前些天": 12, "这几天": 4, "这两天": 3, "前阵子": 45, "前段时间": 45}

_TIME = LazyPattern("|".join((_FEW, _AGO, _WEEK, _MONTHS, _FULL, _YEAR, _DATE, _DAY, _ONLY, _BARE, _SEASON)))


def times(folded: str, today: date) -> list[tuple[int, int, Days]]:
    """The times that a folded text names, with where they stand in it."""
    found: list[tuple[int, int, Days]] = []
    for match in _TIME.finditer(folded):
        if match[0] in ("前", "昨", "今", "明", "后", "大前", "大后"):
            continue  # 前 alone is a word of its own
        days = _days({key: value for key, value in match.groupdict().items() if value}, today)
        if days is not None:
            found.append((match.start(), match.end(), days))
    return found


def _days(part: dict[str, str], today: date) -> Days | None:
    """What one match means: each kind of it has a name of its own."""
    for name, meaning in _MEANINGS.items():
        if name in part:
            return meaning(part, today)
    return None


def _near(part: dict[str, str], today: date) -> Days | None:
    found = calendar.days_off(today, _DAYS[part["near"]])
    half = part.get("half", "")
    hours = next((hours for word, hours in _HOURS.items() if half.startswith(word)), None)
    return Days(found.first, found.last, hours) if found and hours else found


def _week(part: dict[str, str], today: date) -> Days | None:
    off = _steps(part["weeks"])
    if "weekday" not in part:
        return calendar.week_off(today, off)
    found = calendar.weekday_off(today, _WEEKDAYS[part["weekday"]], off)
    return Days(found.first, found.first + calendar.DAY) if found and part["weekday"] == "末" else found


def _month(part: dict[str, str], today: date) -> Days | None:
    month = calendar.month_off(today, _steps(part["months"]))
    if month is None or "monthday" not in part:
        return month
    return calendar.day_of(month.first.year, month.first.month, count_zh(part["monthday"]))


def _year(part: dict[str, str], today: date) -> Days | None:
    return _within(today.year + _YEARS[part["year"]], part.get("season"), part.get("ym"), part.get("yd"))


def _full(part: dict[str, str], today: date) -> Days | None:
    del today
    year = part["y"] if part["y"].isdigit() else "".join(str(DIGITS[char]) for char in part["y"])
    return _within(int(year), part.get("fs"), part.get("m"), part.get("d"))


def _within(year: int, season: str | None, month: str | None, number: str | None) -> Days | None:
    if season:
        return calendar.season_of(year, _SEASONS[season])
    if not month:
        return calendar.year_of(year)
    return (
        calendar.day_of(year, count_zh(month), count_zh(number)) if number else calendar.month_of(year, count_zh(month))
    )


def _date(part: dict[str, str], today: date) -> Days | None:
    month = count_zh(part["month"])
    if not 1 <= month <= 12:
        return None
    return calendar.last_day(today, month, count_zh(part["number"])) if "number" in part else calendar.last_month(
        today, month
    )  # fmt: skip


def _ago(part: dict[str, str], today: date) -> Days | None:
    unit = _UNITS[part["unit"]]
    if part["count"] == "半":
        return calendar.ago(today, 6, "month") if unit == "year" else calendar.ago(today, 2, "week")
    return calendar.ago(today, count_zh(part["count"]), unit)


def _few(part: dict[str, str], today: date) -> Days | None:
    back = _FEWS[part["few"]]
    first = calendar.days_off(today, -back)
    return Days(first.first, today) if first else None


_MEANINGS: dict[str, Callable[[dict[str, str], date], Days | None]] = {
    "few": _few, "count": _ago, "weeks": _week, "months": _month, "y": _full, "year": _year, "month": _date,
    "near": _near, "only": lambda part, today: calendar.last_number(today, count_zh(part["only"])),
    "bare": lambda part, today: calendar.last_weekday(today, _WEEKDAYS[part["bare"]]),
    "alone": lambda part, today: calendar.last_season(today, _SEASONS[part["alone"]]),
}  # fmt: skip


def _steps(word: str) -> int:
    return {"上": -1, "下": 1}.get(word[0], 0) * len(word)
