"""Time zones by the names people use for them: Asia/Taipei, 台北, 東京, London, utc+8. Pure."""

import difflib
import re
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from bot.text.fold import fold

MOST_CHARS = 64

_CITIES = {
    "Asia/Shanghai": "上海 北京 广州 深圳 杭州 成都 重庆 武汉 南京 西安 天津 中国 大陆 beijing shenzhen guangzhou china",
    "Asia/Taipei": "台北 臺北 台湾 高雄 台中 taiwan", "Asia/Hong_Kong": "香港 hongkong hk", "Asia/Macau": "澳门 macao",
    "Asia/Tokyo": "东京 日本 大阪 京都 japan osaka kyoto", "Asia/Seoul": "首尔 韩国 korea",
    "Asia/Singapore": "新加坡 狮城", "Asia/Kuala_Lumpur": "吉隆坡 马来西亚 malaysia", "Asia/Bangkok": "曼谷 泰国 thailand",
    "Asia/Ho_Chi_Minh": "胡志明市 西贡 越南 saigon hanoi 河内", "Asia/Jakarta": "雅加达", "Asia/Manila": "马尼拉 菲律宾",
    "Asia/Kolkata": "加尔各答 孟买 新德里 印度 mumbai delhi india bangalore", "Asia/Dubai": "迪拜 阿联酋",
    "Asia/Urumqi": "乌鲁木齐", "Europe/London": "伦敦 英国 uk england gmt", "Europe/Paris": "巴黎 法国 france",
    "Europe/Berlin": "柏林 德国 慕尼黑 germany munich hamburg frankfurt 法兰克福",
    "Europe/Madrid": "马德里 西班牙 巴塞罗那 barcelona",
    "Europe/Rome": "罗马 意大利 米兰 milan italy", "Europe/Amsterdam": "阿姆斯特丹 荷兰", "Europe/Zurich": "苏黎世 瑞士 geneva",
    "Europe/Vienna": "维也纳 奥地利", "Europe/Stockholm": "斯德哥尔摩 瑞典", "Europe/Moscow": "莫斯科",
    "Europe/Istanbul": "伊斯坦布尔", "Europe/Lisbon": "里斯本", "Europe/Dublin": "都柏林 爱尔兰",
    "America/New_York": "纽约 波士顿 华盛顿 nyc boston washington eastern est edt",
    "America/Chicago": "芝加哥 休斯顿 houston central",
    "America/Denver": "丹佛 mountain", "America/Los_Angeles":
        "洛杉矶 旧金山 西雅图 加州 la sf seattle pacific pst pdt california",
    "America/Toronto": "多伦多", "America/Vancouver": "温哥华", "America/Mexico_City": "墨西哥城", "America/Sao_Paulo": "圣保罗 巴西",
    "Australia/Sydney": "悉尼 雪梨 canberra", "Australia/Melbourne": "墨尔本", "Australia/Perth": "珀斯",
    "Pacific/Auckland": "奥克兰 新西兰", "Pacific/Honolulu": "夏威夷 檀香山 hawaii", "Africa/Cairo": "开罗 埃及",
    "Africa/Johannesburg": "约翰内斯堡 南非", "UTC": "utc 世界时 z zulu",
}  # fmt: skip
_OFFSET = re.compile(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?00)?")


def zone_or(name: str, other: str) -> ZoneInfo:
    """The zone of that name, or the other where this machine's tables do not know it: a stored name outlives them."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return ZoneInfo(other)


def zone_named(words: str) -> str | None:
    """The IANA zone of a name, a city in Chinese or English, or a whole offset from UTC; None when there is none."""
    wanted = fold(words[:MOST_CHARS]).strip().removesuffix("时间").removesuffix(" time").strip()
    if not wanted:
        return None
    if found := _OFFSET.fullmatch(wanted):
        hours = int(found[2])
        # POSIX has it the other way round: Etc/GMT-8 is eight hours before Greenwich.
        return f"Etc/GMT{'-' if found[1] == '+' else '+'}{hours}" if 0 < hours <= 12 else "UTC" if not hours else None
    return _names().get(wanted.replace(" ", "_")) or _names().get(wanted)


def zone_near(words: str) -> str | None:
    """The zone whose name is most like what was written; None when none is."""
    wanted = fold(words[:MOST_CHARS]).strip().replace(" ", "_")
    near = difflib.get_close_matches(wanted, _names(), 1, 0.72)
    return _names()[near[0]] if near else None


@cache
def _names() -> dict[str, str]:
    """Folded names: cities first, then every zone by its whole name and by its last part."""
    known = sorted(available_timezones())
    names: dict[str, str] = {}
    for zone in known:
        if "/" in zone and not zone.startswith(("Etc/", "posix/", "right/", "SystemV/")):
            names.setdefault(fold(zone.rsplit("/", 1)[1]), zone)
    names |= {fold(zone): zone for zone in known if "/" in zone or zone == "UTC"}
    for zone, words in _CITIES.items():
        if zone in known:
            names |= {fold(word): zone for word in words.split()}
            names[fold(zone.rsplit("/", 1)[-1])] = zone
    return names | {"san_francisco": "America/Los_Angeles"}
