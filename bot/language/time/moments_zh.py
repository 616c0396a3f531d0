"""Reads future times in Chinese text, folded to Simplified."""

import re
from collections.abc import Callable
from dataclasses import replace

from bot.core.clock import HOUR_MS, MINUTE_MS
from bot.language.time.parts import (
    DAYS_OFF,
    FEASTS_ZH,
    TAKEN,
    WEEKDAY_NAMES,
    WEEKDAYS_ZH,
    ZH,
    ClockTime,
    DayPart,
    Delay,
    NamedDay,
    Reading,
    RepeatPeriod,
    Repetition,
    count_zh,
    read_lunar,
)
from bot.text.catalogue import LazyPattern

_ONE_UNIT = LazyPattern(
    rf"(?P<n>\d+(?:\.\d+)?|半|{ZH})个?\s?(?P<half>半)?"
    r"(?P<unit>小时|钟头|(?<=[个半])钟|分钟|分|秒钟|秒|刻钟|天|日|周|星期|礼拜|月|年|min|hour|hr)(?P<more>半)?"
)
_MS = {
    "小时": HOUR_MS,
    "钟": HOUR_MS,
    "钟头": HOUR_MS,
    "分钟": MINUTE_MS,
    "分": MINUTE_MS,
    "秒": 1000,
    "秒钟": 1000,
    "刻钟": 15 * MINUTE_MS,
    "min": MINUTE_MS,
    "hour": HOUR_MS,
    "hr": HOUR_MS,
}

_WEEK = "(?:周|星期|礼拜)"
_AFTER_HALF = "(?!餐|饭|茶|安|会|些|已|就|晨|点|恋|期|市|宵|车|班|景)"

_VAGUE = LazyPattern(
    r"过一阵子?|过阵子|(?<![今明后当])晚一?点儿?(?![半钟整\d])|早一点(?!钟)|"
    r"回头|改天|过两[天周日](?!后)|随便(?:哪|什么)[个天]?(?:时间|时候)?|找一?天|找个时间|抽空|哪天|早晚(?=提醒|[叫喊]我)|有空|"
    r"(?:再?过)?(?:好)?几个?(?:分钟|小时|钟头|天|周|星期|月)(?:以后|之后|后)?|半天(?:以后|之后|后)|"
    r"农历|阴历|旧历|正月(?:初?[一二三四五六七八九十]{1,3})?|腊月|初[一二三四五六七八九十]|(?<![月当最起年])初\d{1,2}(?=[号日])|春节|过年|(?:清明|冬至|夏至)节?|"
    r"(?:\d+|半|[一二三四五六七八九十两]+)个?(?:小时|钟头|分钟|天|周|星期|月)[之以]?内|"
    r"(?:这个?|下个?)?月[初中](?!旬)|[上中下]旬|年[初底]"
)
_MOVABLE = LazyPattern("感恩节|母亲节|父亲节|教师节|复活节")
"""Feasts whose day nobody knows here; beside a day they only say what it is."""
_EVENT = LazyPattern(
    r"等?(?:待|一)会儿?|等会儿?|过(?:一)?会儿?|晚些(?:时候)?|"
    r"吃[完饱过好]了?[早午晚中]?饭?了?|[洗做写喝打看忙弄]完[^\s,。]{0,3}?(?=提醒|[叫喊]我)|"
    r"(?:下班|放学|下课|到家|回家)(?=提醒|[叫喊]我)|(?:下班|上班|放学|下课|吃完饭?|饭|睡觉?|到家|回家|起床|开会)(?:了(?=再|就|提醒|[叫喊]我|[,。]|$)|"
    r"以后|之后|后|的?时候?|以前|之前|前)"
)
"""What happens at a time that nobody knows: it says nothing beside a time of day."""
_OVER = LazyPattern(
    r"昨[天日晚早]|前[天晚](?!后)|上+个?(?:周|星期|礼拜|月)[一二三四五六日天]?|去年|刚才|刚刚|"
    + ZH
    + r"(?:个小时|小时|分钟|天|周|个月|年)[以之]?前(?!提|叫)"
)
_UNIT = rf"(?:(?<![\d一二三四五六七八九十两])个半(?:小时|钟头?)|(?:\d+(?:\.\d+)?|{ZH}|半)(?:个?半?(?:小时|钟头|分钟|分|秒钟|秒|刻钟|(?<=个)钟|天|日|周|星期|礼拜|(?<=个)月|年)半?|\s?(?:min|hour|hr)s?))"
_DELAY = LazyPattern(
    rf"(?:再?过|再等|再|还有|还剩)(?P<a>(?:{_UNIT})(?:零|又)?(?:{_UNIT})*)(?:以后|之后|过后|后)?|"
    rf"(?P<b>(?:{_UNIT})(?:零|又)?(?:{_UNIT})*)\s?(?:以后|之后|过后|后)(?!天)(?:的?(?:这个?时候|此时|同一时间|这个点儿?)|的(?:今|同一)天)?"
)
_LETTERS: tuple[tuple[LazyPattern, DayPart], ...] = (
    (
        LazyPattern(
            rf"(?a)(?<={TAKEN})\s?a\.?m\b|"
            rf"\ba\.?m\.?\s?(?={TAKEN})"
        ),
        "am",
    ),
    (LazyPattern(rf"(?a)(?<={TAKEN})\s?p\.?m\b|\bp\.?m\.?\s?(?={TAKEN})"), "pm"),
)
_SAME = LazyPattern(r"(?P<near>大后|后|明)天的?(?:也是?)?(?:现在)?(?:这个?时候|此时|同一时间|这个点儿?)")
"""明天这个时候 is a day from now."""
_LENGTH = LazyPattern(rf"(?:\d+|半|{ZH})个?半?(?:小时|钟头|分钟|刻钟)")
"""How long, without a word that says from when."""
LENGTH = LazyPattern(rf"(?<![点时:.\d零一二三四五六七八九十两])(?:{_UNIT}|{ZH}个?刻钟)(?:(?:零|又)?{_UNIT})*")
"""As _LENGTH, in any unit: 推迟两天."""
_STRAY = LazyPattern("每(?!日|一?[个件次份页步句]|[样种])|隔(?=[一二三两\\d])")
_LEAD = LazyPattern(rf"提前(?P<a>{_UNIT})?|早(?P<b>{_UNIT})|(?:^|(?<=[,，。;\s]))前(?P<c>{_UNIT})")
_EACH = r"(?:每(?:一?个|逢)?|逢)"
_LISTED = rf"[一二三四五六日天](?:(?P<to>[到至-])|[、,和及与])?(?:{_WEEK}?[一二三四五六日天][、,和及与]?)*"
_EVERY_WEEK = LazyPattern(
    rf"{_EACH}{_WEEK}(?P<days>{_LISTED})|{_WEEK}(?P<span>[一二三四五六][到至-]{_WEEK}?[二三四五六日天])(?=的?(?:每天|天天|都))"
)
_EVERY_WORKDAY = LazyPattern(rf"(?:{_EACH})?(?:工作日|上班日|平日)")
_EVERY_WEEKEND = LazyPattern(rf"{_EACH}周末")
_EVERY_HOUR = LazyPattern(r"每隔?(?:一|1)?个?(?:小时|钟头)|每隔?60分钟")
_EVERY_MONTH = LazyPattern(rf"{_EACH}月(?:的)?(?:(?P<n>{ZH})[号日]|(?P<last>最后一天|底|末))")
_EVERY_YEAR = LazyPattern(rf"{_EACH}年(?:的)?(?P<m>{ZH})月(?P<d>{ZH})[号日]?")
_EVERY_DAY = LazyPattern(
    rf"{_EACH}天|每日(?!一|任|签|报|新|必|打|例|计|总)|(?<![今明后昨前整成全白])天天(?!气)|每(?=[早晚])"
)
_EVERY_OTHER = LazyPattern(
    rf"每(?!日(?:一|任|签|报|新|必|打|例|计|总))隔?.{{0,4}}?(?:秒|分|刻|时|天|日|周|星期|礼拜|月|年)钟?|隔[天日周]|{_EACH}(?:周|星期|礼拜|月|年)"
)
_PERIOD = LazyPattern(rf"{_EACH}(?P<unit>周|星期|礼拜|月|年)(?:都|也|的)?(?![\d一二三四五六七八九十末底中前后])")
_PERIODS: dict[str, RepeatPeriod] = {"周": "week", "星": "week", "礼": "week", "月": "month", "年": "year"}
_BOUNDED = LazyPattern(r"从.{0,8}?(?:开始|起)|直到|为止|连续|接下来")

_NEAR = LazyPattern(
    r"(?P<near>大后|后|明|今|听(?=日(?!本|语)|朝|晚(?!会|间)))(?:天|日(?!期|子|常|记)|儿(?!子|童)个?|(?=[早晚])|(?<=听)(?=朝))"
)
_WEEKDAY = LazyPattern(rf"(?P<steps>这个?|本|下+个?)?{_WEEK}(?P<day>[一二三四五六日天])(?![期个])")
_WEEKEND = LazyPattern(rf"(?P<steps>这个?|本|下+个?)?{_WEEK}(?:末|六日)(?!愉快|快乐)")
_WEEKS = LazyPattern(rf"(?:这个?|本|下+个?){_WEEK}")
_FULL = LazyPattern(r"(?<!\d)(?P<y>\d{4})[-/.年](?P<m>\d{1,2})[-/.月](?P<d>\d{1,2})(?:[日号]|(?!\d))")
_DATE = LazyPattern(
    rf"(?:国历|阳历|公历|新历)?(?P<year>今年|明年|后年|民国\d{{2,3}}年|\d{{4}}年)?的?(?P<m>{ZH})月(?:份)?(?P<d>{ZH})[日号]?(?!点|时|:)"
)
_SLASH = LazyPattern(r"(?<![\d/:.])(?P<m>\d{1,2})/(?P<d>\d{1,2})(?![\d/])")
_DOTTED = LazyPattern(r"(?<![\d.])\d{1,2}\.\d{1,2}(?!\d|\.|\s?(?:小时|个|元|块|分|am|pm|a\.|p\.|hours?|h\b))")
_MONTH_DAY = LazyPattern(rf"(?P<steps>这个?|本|下+个?)月的?(?P<n>{ZH})[号日]")
_MONTH_END = LazyPattern(r"(?P<steps>这个?|本|下+个?)?月的?(?:底|末|最后一天)")
_MONTHS = LazyPattern(r"下+个?月|这个月|本月|明年|后年")
_NO_DAY = "号(?!线|楼|院|店|码|公|文|门|桌|房|机|柜|馆|选|球|车|电|令)"
_NUMBER = LazyPattern(rf"(?P<n>{ZH})(?:{_NO_DAY}|(?<!\d:\d)(?<!\d:\d\d)(?=[-~到至、]{ZH}{_NO_DAY}))")
_FEAST = LazyPattern("(?P<feast>" + "|".join(FEASTS_ZH) + "|圣诞(?!老|树|礼|卡|歌))节?")

_HOUR = r"(?P<h>\d{1,2}|[零〇一二三四五六七八九十两]{1,3})"
_LESS = r"(?:差(?P<less>一刻|\d{1,2}|[一二三四五六七八九十]{1,3})分?钟?)?"
_MINUTE = (
    r"(?:(?P<half>半)|(?P<quarter>[一二三123])刻|(?P<fives>1[01]|[1-9]|十一?|[一二三四五六七八九])个字|差(?P<less2>一刻|\d{1,2}|[一二三四五六七八九十]{1,3})分?|"
    r"(?:过)?(?P<m>\d{1,2}(?=分)|\d{2}(?!\d)|[二三四五六七八九]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九]|[一二三四五六七八九](?=分))"
    r"(?:分(?!钟[后以之]))?(?!个|人|块|元))?"
)
_LITTLE = rf"(?!(?<=[快慢多少好大小有])一点)(?!(?<=[^{TAKEN}]早)一点)(?!(?<=[^{TAKEN}上]晚)一点)(?!一点(?:时间|[工功]夫|空|事|东西))"
"""一点 is "a little" after and before these."""
BARE_CLOCK = re.sub(r"\(\?P<\w+>", "(?:", rf"(?<!\d){_HOUR}(?:点|时)(?:钟|整)?{_MINUTE}")
"""A time of day by the word, without names for its parts."""
_OVER_IT = r"(?:来钟|出头|多(?=$|[\W_]|提醒|[叫喊去要会有就才再到回接]))?"
"""七点多 is told by its hour; 八点多穿点 is something else."""
_CLOCK = LazyPattern(rf"{_LESS}(?<!\d){_LITTLE}{_HOUR}(?:点|时(?!候|间|差|光|常|段))(?:钟|整)?{_MINUTE}{_OVER_IT}")
_COLON = LazyPattern(
    r"(?<![\d:./-])(?P<h>\d{1,2}):(?P<m>\d{2})(?::\d{2})?(?![\d:])(?!\s*(?:am|pm|a\.m|p\.m))(?:[ -]?ish\b)?"
)
_AHEAD = LazyPattern(rf"[^\s,，。\x00]{{0,6}}?(?<!提)前(?P<a>{_UNIT})")
"""开播前十分钟, beside the time of day of it."""
_OR = LazyPattern(rf"{TAKEN}\s?(?:或者?|还是|到|至|-|~|不对|不是|改成)[,，]?\s?{TAKEN}")
_BEFORE = LazyPattern(rf"(?<={TAKEN})\s*(?:以前|之前|前(?![台面门后往天妻男女]))")

_ODD = LazyPattern(r"(?<!周)(?<!期)(?<!拜)[一二三四五六七八九两][一二三四五六七八九](?=[点个天日分刻周月年小号星礼])")
"""三四点, 两三天."""


def delay_of(body: str) -> Delay | None:
    """The length; None where it is no whole number of days or months."""
    ms, days, months = 0.0, 0, 0
    for match in _ONE_UNIT.finditer(re.sub("^个半", "一个半", body)):
        unit = match["unit"]
        number = 0.5 if match["n"] == "半" else float(match["n"]) if "." in match["n"] else float(count_zh(match["n"]))
        number += 0.5 * bool(match["half"] or match["more"])
        if unit in _MS:
            ms += number * _MS[unit]
        elif unit in ("月", "年"):
            whole = number * (12 if unit == "年" else 1)
            if whole == 0.5:
                days += 15
            elif whole != int(whole):
                return None
            else:
                months += int(whole)
        elif number != int(number):
            return None
        else:
            days += int(number) * (1 if unit in ("天", "日") else 7)
    return Delay(int(ms), days, months)


def _short(word: str) -> str:
    """One character is a part of the day only beside another part of a time: 熬夜, 早操 and 晚自习 are none."""
    return f"(?<=[{TAKEN}每]){word}|{word}(?=[{TAKEN}]|的?{TAKEN})"


_HALF_WORDS: tuple[tuple[str, DayPart], ...] = (
    ("凌晨|半夜|深夜|午夜", "dawn"),
    (f"清晨|清早|一大?早|早晨|早上|朝早|上午|早间|今早|{_short('[早朝]')}", "morning"),
    ("中午|正午|晌午", "noon"),
    ("下午|下昼|晏昼|午后", "afternoon"),
    ("傍晚|黄昏", "dusk"),
    (f"晚上|晚间|夜里|夜晚|{_short('晚')}|{_short('夜')}", "night"),
)
_HALVES = tuple((LazyPattern(f"(?:{words}){_AFTER_HALF}"), half) for words, half in _HALF_WORDS)


def read(reading: Reading) -> None:
    """Take every part of a time that Chinese names."""
    if _ODD.search(reading.text):
        reading.doubt("vague")
    read_lunar(reading)
    _unclear(reading)
    _every(reading)
    _durations(reading)
    _days(reading)
    _clocks(reading)
    parts = reading.parts
    if not (parts.day or parts.clock or parts.delay or parts.every or reading.halves) and reading.take(_LENGTH):
        reading.doubt("vague")
    if _STRAY.search(reading.text) and not parts.every:
        reading.doubt("rule")
    for match in reading.take(_AHEAD):
        reading.parts = replace(reading.parts, lead=delay_of(match["a"]))
        if not reading.clocks:
            reading.doubt("vague")
    if reading.take(_BEFORE):
        reading.doubt("before")
    if _OR.search(reading.text):
        reading.doubt("several")


def _unclear(reading: Reading) -> None:
    if reading.take(_VAGUE):
        reading.doubt("vague")
    reading.feast = bool(reading.take(_MOVABLE))
    if reading.take(_EVENT):
        reading.loose = True
    if reading.take(_OVER):
        reading.doubt("past")


def _every(reading: Reading) -> None:
    def set_every(every: Repetition) -> None:
        before = reading.parts.every
        if before is not None and every == Repetition():
            return  # 工作日每天
        if before is not None and before != Repetition():
            reading.doubt("rule")
        reading.parts = replace(reading.parts, every=every)

    if reading.take(_EVERY_HOUR):
        set_every(Repetition(hourly=True))
    for match in reading.take(_EVERY_YEAR):
        set_every(Repetition(str(count_zh(match["d"])), str(count_zh(match["m"]))))
    for match in reading.take(_EVERY_MONTH):
        set_every(Repetition("last" if match["last"] else str(count_zh(match["n"]))))
    for match in reading.take(_EVERY_WEEK):
        set_every(Repetition(weekdays=_weekdays(match["days"] or match["span"])))
    if reading.take(_EVERY_WORKDAY):
        set_every(Repetition(weekdays=",".join(WEEKDAY_NAMES[:5])))
    if reading.take(_EVERY_WEEKEND):
        set_every(Repetition(weekdays="sat,sun"))
    if reading.take(_EVERY_DAY):
        set_every(Repetition())
    for match in reading.take(_PERIOD):
        reading.parts = replace(reading.parts, period=_PERIODS[match["unit"][0]])
        if reading.parts.every is None:
            reading.doubt("rule")
    if reading.take(_EVERY_OTHER):
        reading.doubt("rule")
    if reading.parts.every is not None and reading.take(_BOUNDED) and not reading.bounded:
        reading.doubt("rule")


def _weekdays(words: str) -> str:
    numbers = [WEEKDAYS_ZH[char] for char in re.sub("周|星期|礼拜", "", words) if char in WEEKDAYS_ZH]
    if re.search("[到至-]", words) and len(numbers) == 2 and numbers[0] < numbers[1]:
        numbers = list(range(numbers[0], numbers[1] + 1))
    return ",".join(WEEKDAY_NAMES[number] for number in sorted(set(numbers)))


def _durations(reading: Reading) -> None:
    for match in reading.take(_LEAD):
        body = match["a"] or match["b"] or match["c"]
        delay = delay_of(body) if body else None
        if delay is None:
            reading.doubt("before")
        reading.parts = replace(reading.parts, lead=delay)
    for match in reading.take(_SAME):
        reading.parts = replace(reading.parts, delay=Delay(days=DAYS_OFF[match["near"]], same=True))
    for match in reading.take(_DELAY):
        delay = delay_of(match["a"] or match["b"])
        if delay is None or reading.parts.delay is not None:
            reading.doubt("vague" if delay is None else "several")
        reading.parts = replace(reading.parts, delay=delay)


def _days(reading: Reading) -> None:
    def each(pattern: LazyPattern, day: Callable[[re.Match[str]], NamedDay]) -> None:
        for match in reading.take(pattern):
            reading.name_day(day(match))

    each(_FULL, lambda found: NamedDay("date", int(found["d"]), month=int(found["m"]), year=int(found["y"])))
    each(_MONTH_DAY, lambda found: NamedDay("number", count_zh(found["n"]), off=_steps(found["steps"])))
    each(_DATE, _date)
    if re.search("[\u4e00-\u9fff]", reading.text):  # in English 3/4 may be either
        each(_SLASH, lambda found: NamedDay("date", int(found["d"]), month=int(found["m"])))
    each(_MONTH_END, lambda found: NamedDay("last", off=_steps(found["steps"] or "")))
    each(_FEAST, lambda found: _feast(found["feast"]))
    each(_WEEKEND, lambda found: NamedDay("weekend", _steps(found["steps"] or "")))
    if reading.take(_DOTTED):
        reading.doubt("day")
    each(_WEEKDAY, _weekday)
    if reading.take(_WEEKS) or reading.take(_MONTHS):
        reading.doubt("day")
    for match in reading.take(_NEAR):
        reading.name_day(NamedDay("near", DAYS_OFF[match["near"]]))
        rest = reading.text[match.end() : match.end() + 1]
        tonight = match["near"] == "今" and rest in ("晚", "夜")
        reading.parts = replace(reading.parts, tonight=reading.parts.tonight or tonight)
    each(_NUMBER, lambda found: NamedDay("number", count_zh(found["n"])))


def _date(match: re.Match[str]) -> NamedDay:
    year = match["year"] or ""
    off = {"今年": 0, "明年": 1, "后年": 2}.get(year)
    return NamedDay(
        "date",
        count_zh(match["d"]),
        month=count_zh(match["m"]),
        year=_year(year),
        off=off,
    )


def _year(word: str) -> int:
    """2027年, or 民国116年 by the calendar of Taiwan; 0 where none is named."""
    return int(word[:4]) if word[:4].isdigit() else 1911 + int(word[2:-1]) if word.startswith("民国") else 0


def _feast(name: str) -> NamedDay:
    month, number = FEASTS_ZH.get(name, (12, 25))
    return NamedDay("feast", number, month=month)


def _weekday(match: re.Match[str]) -> NamedDay:
    weekday = WEEKDAYS_ZH[match["day"]]
    return NamedDay("week", _steps(match["steps"]), weekday) if match["steps"] else NamedDay("weekday", weekday=weekday)


def _steps(word: str) -> int:
    return word.count("下")


def _clocks(reading: Reading) -> None:
    for match in reading.take(_COLON):
        reading.name_clock(ClockTime(int(match["h"]), int(match["m"]), whole=match["h"].startswith("0")))
    for match in reading.take(_CLOCK):
        hour, minute = count_zh(match["h"]), 0
        less = match["less"] or match["less2"]
        if match["half"]:
            minute = 30
        elif match["quarter"]:
            minute = 15 * count_zh(match["quarter"])
        elif match["fives"]:
            minute = 5 * count_zh(match["fives"])  # 三个字 is where a clock says three
        elif match["m"]:
            minute = count_zh(match["m"])
        if less:
            hour, minute = (hour - 1) or 12, 60 - (15 if less == "一刻" else count_zh(less))
        reading.name_clock(ClockTime(hour, minute, whole=match["h"].startswith("0") and len(match["h"]) == 2))
    for pattern, half in (*_HALVES, *_LETTERS):
        if reading.take(pattern):
            reading.halves.append(half)
