"""How long a Chinese length is: 一个半小时, 两小时二十分钟, 半个月. Pure."""

from bot.text.lazy import LazyPattern
from bot.text.when.found import Delay
from bot.text.when.numbers import ZH, count_zh
from bot.types.duration import HOUR_MS, MINUTE_MS

_ONE_UNIT = LazyPattern(
    rf"(?P<n>\d+(?:\.\d+)?|半|{ZH})个?\s?(?P<half>半)?"
    r"(?P<unit>小时|钟头|(?<=个)钟|分钟|分|秒钟|秒|刻钟|天|日|周|星期|礼拜|月|年|min|hour|hr)(?P<more>半)?"
)
_MS = {"小时": HOUR_MS, "钟": HOUR_MS, "钟头": HOUR_MS, "分钟": MINUTE_MS, "分": MINUTE_MS, "秒": 1000, "秒钟": 1000,
       "刻钟": 15 * MINUTE_MS, "min": MINUTE_MS, "hour": HOUR_MS, "hr": HOUR_MS}  # fmt: skip


def delay_of(body: str) -> Delay | None:
    """The length; None where it is no whole number of days or months."""
    ms, days, months = 0.0, 0, 0
    for match in _ONE_UNIT.finditer(body):
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
