"""Time ranges in Chinese text, past or open, folded to Simplified."""

from collections.abc import Callable
from datetime import date

from bot.language.time import calendar
from bot.language.time.calendar import DateRange, NamedTime, TimeReading, only
from bot.language.time.moments_zh import delay_of
from bot.language.time.parts import DAYS_OFF, DIGITS, FEASTS_ZH, WEEKDAYS_ZH, ZH, count_zh
from bot.text.catalogue import LazyPattern

_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_HOURS = {
    "早": (5, 11),
    "上午": (5, 12),
    "中午": (11, 14),
    "下午": (12, 18),
    "晚": (17, 29),
    "夜": (17, 29),
    "凌晨": (0, 6),
}

_LOOSE = "(?![0-9零一二三四五六七八九十个点时分次年天年万千百岁名位家人元块度些:/.])"
"""What may follow a number that has no 日 beside it."""
_NO_DAY = "(?!线|楼|院|店|码|公|文|门|桌|房|机|柜|馆|选|球|车|电|令|称|召|角|手|段|站|口|位|床|铺|字|外|子|出口)"
"""1号线 and 3号楼 are no days."""

_SURNAMES = "(?<![王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁])"
"""赵国庆 is a name."""

_HALF = r"(?P<half>早上|早|上午|中午|下午|晚上|晚|夜里|夜|凌晨)?"
_DAY = rf"(?<![以之今])(?P<near>大前|大后|前|昨|今|明|后|[听寻琴](?=日))(?:天|日(?![期子常记程语本文剧])|儿个?(?!子|童))?{_HALF}"
_WEEK = (
    r"(?P<weeks>上+|这|本|下+)个?(?:周|星期|礼拜)(?:的?(?:周|星期|礼拜)?(?P<weekday>[一二三四五六日天末])(?![次期]))?"
)
_MONTHS = (
    rf"(?P<months>上+|这|本|下+)个?月(?:份)?的?(?:(?P<monthday>{ZH})(?:[日号]|{_LOOSE})|(?P<monthend>底|末|最后一天))?"
)
_YEAR = (
    rf"(?P<year>大前|前|去|今|本|明|后)年(?:的?(?:(?P<season>[春夏秋冬])[天季]?|(?P<ym>{ZH})月(?:份)?"
    rf"(?:(?P<yd>{ZH})(?:[日号]|{_LOOSE})|(?P<ymend>[底末]))?|(?P<yend>年?[底末])))?"
)
_FULL = (
    rf"(?:民国(?P<roc>\d{{2,3}})|(?P<y>\d{{4}}|[零〇一二三四五六七八九]{{4}}))年(?:的?(?:(?P<fs>[春夏秋冬])[天季]?|(?P<m>{ZH})月"
    rf"(?:份)?(?:(?P<d>{ZH})[日号]?)?|(?P<fend>年?[底末])))?"
)
_DATE = (
    rf"(?P<month>{ZH})月(?:份)?(?!天|饼|亮|光|经|票|薪|费|租|供|嫂|子)"
    rf"(?:(?P<number>{ZH})(?:[日号]|{_LOOSE})|(?P<end>[底末]))?"
)
_SLASH = r"(?<![\d/.:])(?P<slash>1[0-2]|0?[1-9])/(?P<slashed>[12]\d|3[01]|0?[1-9])(?![\d/%]|的)"
_DOTTED = (
    r"(?<![\d.版本v价约花涨跌重长高低第率均费])(?P<dot>1[0-2]|0?[1-9])\.(?P<dotted>[12]\d|3[01]|0?[1-9])(?![\d.%])"
    r"(?!\s?(?:[a-z]|元|块|万|亿|千|百|米|公|斤|克|升|度|分|秒|倍|折|版|级|寸|吋|个|次|天|小时|年|岁|点|平|英|欧|美|刀|镑|两))"
)
_ONLY = rf"(?<![第编型账])(?<!(?<![月当最起年])初)(?:(?P<only>{ZH})(?:号{_NO_DAY}|(?<!\d:\d)(?<!\d:\d\d)(?=[-~到至、]{ZH}号{_NO_DAY}))|(?<![\d月])(?P<dated>\d{{1,2}})日(?![元内后前圆均程间志游本语文常]))"
_AGO = rf"(?P<count>{ZH}|半)个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:以?前|之前)"
_LENGTH = rf"(?:半|{ZH})个?半?(?:天|日|周|星期|礼拜|(?<=[个半])月|年)半?"
_LATER = rf"(?:再过|再等|再)(?P<more>{_LENGTH})(?:以后|之后|后)?|过?(?P<later>{_LENGTH})(?:以后|之后|后)(?!天|来)(?P<exact>的(?:今天|这一?天))?"
_FEW = r"(?P<few>前几天|前两天|前些天|这几天|这两天|前阵子|前段时间)"
_BARE = r"(?<![一二两三四五六七八九十几每\d个])(?:(?:周|星期|礼拜)(?P<bare>[一二三四五六日天])(?![次期个])|(?P<weekend>周末))"
_END = r"(?<![一二三四五六七八九十\d个])(?:(?P<monthly>月(?:底|末))|(?P<yearly>年(?:底|末)))"
_SEASON = r"(?P<alone>[春夏秋冬])天"
_FEAST = (
    rf"(?:(?P<feastyear>去|今|明|前|后)年的?)?(?P<feast>{_SURNAMES}(?:"
    + "|".join(sorted(FEASTS_ZH, reverse=True))
    + r"|圣诞|(?<![周期拜])五一))节?(?!广场|路|老|树|礼|卡|歌|快乐|[前后]|假|期间)"
)
_YEAR_DAYS = {**FEASTS_ZH, "圣诞": (12, 25), "五一": (5, 1)}
_FEWS = {"前几天": 8, "前两天": 4, "前些天": 12, "这几天": 4, "这两天": 3, "前阵子": 45, "前段时间": 45}

_TIME = LazyPattern(
    "|".join(
        (
            _FEW,
            _AGO,
            _LATER,
            _FEAST,
            _WEEK,
            _MONTHS,
            _FULL,
            _YEAR,
            _DATE,
            _SLASH,
            _DOTTED,
            _DAY,
            _ONLY,
            _BARE,
            _END,
            _SEASON,
        )
    )
)
_PASSING = frozenset(("weekend", "monthly", "yearly", "feast", "slash", "dot", "dated", "more", "later"))
_HAN = LazyPattern("[\u4e00-\u9fff]")


def times(folded: str, today: date) -> list[NamedTime]:
    """The times that a folded text names, in their order."""
    found: list[NamedTime] = []
    for match in _TIME.finditer(folded) if _HAN.search(folded) else ():
        if match[0] in ("前", "昨", "今", "明", "后", "大前", "大后"):
            continue  # 前 alone is a word of its own
        part = {key: value for key, value in match.groupdict().items() if value}
        name = next(name for name in _MEANINGS if name in part)
        meant = _MEANINGS[name](part, today)
        if meant is not None:
            found.append(NamedTime(*match.span(), meant.choices, meant.left, meant.counted, name in _PASSING))
    return found


def _near(part: dict[str, str], today: date) -> TimeReading | None:
    found = calendar.days_off(today, DAYS_OFF[part["near"]])
    half = part.get("half", "")
    hours = next((hours for word, hours in _HOURS.items() if half.startswith(word)), None)
    return only(DateRange(found.first, found.last, hours) if found and hours else found)


def _week(part: dict[str, str], today: date) -> TimeReading | None:
    off = _steps(part["weeks"])
    if "weekday" not in part:
        return only(calendar.week_off(today, off))
    if part["weekday"] == "末":
        return only(calendar.longer(calendar.weekday_off(today, WEEKDAYS_ZH["六"], off), 2))
    return only(calendar.weekday_off(today, WEEKDAYS_ZH[part["weekday"]], off))


def _month(part: dict[str, str], today: date) -> TimeReading | None:
    month = calendar.month_off(today, _steps(part["months"]))
    if month is None:
        return None
    if "monthend" in part:
        return only(calendar.day(month.last))
    if "monthday" in part:
        return only(calendar.day_of(month.first.year, month.first.month, count_zh(part["monthday"])))
    return only(month)


def _year(part: dict[str, str], today: date) -> TimeReading | None:
    year = today.year + _YEARS[part["year"]]
    return only(_within(year, part, "season", "ym", "yd", "ymend", "yend"))


def _full(part: dict[str, str], today: date) -> TimeReading | None:
    del today
    if "roc" in part:
        year = 1911 + int(part["roc"])
    else:
        year = int(part["y"] if part["y"].isdigit() else "".join(str(DIGITS[char]) for char in part["y"]))
    return only(_within(year, part, "fs", "m", "d", "", "fend"))


def _within(
    year: int, part: dict[str, str], season: str, month: str, number: str, end: str, last: str
) -> DateRange | None:
    if season in part:
        return calendar.season_of(year, _SEASONS[part[season]])
    if month in part:
        return _day(
            year, count_zh(part[month]), count_zh(part.get(number, "")), last=end in part, whole=number not in part
        )
    return calendar.month_of(year, 12) if last in part else calendar.year_of(year)


def _day(year: int, month: int, number: int, *, last: bool = False, whole: bool = False) -> DateRange | None:
    """A month, its last day or one of its days."""
    if last or whole:
        found = calendar.month_of(year, month)
        return calendar.day(found.last) if found and last else found
    return calendar.day_of(year, month, number)


def _date(part: dict[str, str], today: date) -> TimeReading | None:
    month, number = count_zh(part["month"]), count_zh(part.get("number", ""))
    end, whole = "end" in part, "number" not in part
    return calendar.every_year(today, lambda year: _day(year, month, number, last=end, whole=whole))


def _month_day(month: int, number: int, today: date) -> TimeReading | None:
    return calendar.every_year(today, lambda year: _day(year, month, number))


def _ago(part: dict[str, str], today: date) -> TimeReading | None:
    unit = _UNITS[part["unit"]]
    if part["count"] == "半":
        return calendar.ago(today, 6, "month") if unit == "year" else calendar.ago(today, 2, "week")
    return calendar.ago(today, count_zh(part["count"]), unit)


def _later(part: dict[str, str], today: date) -> TimeReading | None:
    delay = delay_of(part.get("more") or part["later"])
    meant = calendar.ahead(today, delay.days, delay.months) if delay else None
    return only(calendar.day(meant.counted)) if meant and meant.counted and "exact" in part else meant


def _few(part: dict[str, str], today: date) -> TimeReading | None:
    first = calendar.days_off(today, -_FEWS[part["few"]])
    return only(DateRange(first.first, today) if first else None)


def _feast(part: dict[str, str], today: date) -> TimeReading | None:
    month, number = _YEAR_DAYS[part["feast"]]
    if "feastyear" in part:
        return only(_day(today.year + _YEARS[part["feastyear"]], month, number))
    return _month_day(month, number, today)


_MEANINGS: dict[str, Callable[[dict[str, str], date], TimeReading | None]] = {
    "few": _few,
    "count": _ago,
    "more": _later,
    "later": _later,
    "feast": _feast,
    "weeks": _week,
    "months": _month,
    "roc": _full,
    "y": _full,
    "year": _year,
    "month": _date,
    "slash": lambda part, today: _month_day(int(part["slash"]), int(part["slashed"]), today),
    "dot": lambda part, today: _month_day(int(part["dot"]), int(part["dotted"]), today),
    "near": _near,
    "only": lambda part, today: _number(today, count_zh(part["only"])),
    "dated": lambda part, today: _number(today, int(part["dated"])),
    "bare": lambda part, today: calendar.every_week(today, WEEKDAYS_ZH[part["bare"]]),
    "weekend": lambda part, today: calendar.every_week(today, 5, 2),
    "monthly": lambda part, today: calendar.every_month(today, 0),
    "yearly": lambda part, today: calendar.every_year(today, lambda year: calendar.month_of(year, 12)),
    "alone": lambda part, today: calendar.every_year(
        today, lambda year: calendar.season_of(year, _SEASONS[part["alone"]])
    ),
}


def _number(today: date, number: int) -> TimeReading | None:
    return calendar.every_month(today, number) if number else None


def _steps(word: str) -> int:
    return {"上": -1, "下": 1}.get(word[0], 0) * len(word)
