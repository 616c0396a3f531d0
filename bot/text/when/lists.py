"""Several times of one day (早上8点和晚上8点, at 8am and 8pm), every few days or weeks, and loose ends. Pure.

It reads before the languages do: what stands in a list must not be read as a second time by mistake.
"""

import re
from dataclasses import replace

from bot.text.lazy import LazyPattern
from bot.text.when import chinese, english
from bot.text.when.counted import WD
from bot.text.when.found import NAMES, TAKEN, Every, Reading
from bot.text.when.numbers import EN, ZH, count_en, count_zh

_HALF_ZH = "(?:凌晨|清晨|清早|一?大?早|早晨|早上|上午|中午|正午|下午|午后|傍晚|晚上|晚间|夜里|晚|早)"
_CLOCK_ZH = rf"(?:{_HALF_ZH}?(?:{chinese.BARE_CLOCK}|\d{{1,2}}:\d{{2}}(?!\d))|中午|正午)"
_LIST_ZH = LazyPattern(rf"{_CLOCK_ZH}(?:\s?(?:[、,]|和|及|与|跟|还有|以及)\s?{_CLOCK_ZH})+")
_BOTH_ZH = LazyPattern(
    rf"早(?:上)?(?:和|、)?晚(?:上)?(?:各?一?次)?的?(?P<clock>{chinese.BARE_CLOCK}|\d{{1,2}}:\d{{2}}(?!\d))"
)
_CLOCK_EN = (
    r"(?:(?:every|each) day |(?:(?:every|each) )?(?:morning|afternoon|evening|"
    r"night) )?(?:(?:at )?(?:noon|midday)|(?:at )?\d{1,2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\b\.?|"
    r" in the (?:morning|afternoon|evening)"
    r"| at night)|(?:at )?\d{1,2}:\d{2}(?![:\d]))"
)
_LIST_EN = LazyPattern(rf"(?a)(?<![\w:.]){_CLOCK_EN}(?:(?:,? and|,| &|,? then) (?:again )?{_CLOCK_EN})+")
_EVERY_ZH = LazyPattern(r"每(?!日(?:一|任|签|报|新|必|打|例|计|总))|工作日|天天")
_EVERY_EN = LazyPattern(
    r"(?a)\b(?:every|each|daily|(?:twice|(?:two|three|four|\d) times|thrice) (?:a|per) day|weekdays)\b"
)
_TIMES_EN = LazyPattern(
    r"(?a)\b(?:(?P<two>twice)|(?P<n>two|three|four|\d) times|(?P<three>thrice)) (?:a|per|every|"
    r"each) day\b|\btwice daily\b"
)
_TIMES_ZH = LazyPattern(rf"(?:每天|每日|一天|一日)(?P<n>{ZH})[次遍]")
_DAYS_ZH = LazyPattern(rf"(?P<other>每隔[一1]?[天日])|每(?P<n>{ZH})[天日](?![一二三四五六七八九十\d])")
_WEEKS_ZH = LazyPattern(
    rf"(?:(?P<other>每隔(?:[一1]个?)?)|每(?P<n>{ZH})个?)(?:周|星期|礼拜)(?:的|,)?(?:周|星期|礼拜)?(?P<day>[一二三四五六日天])(?![一二三四五六日天、到至期])"
)
_DAYS_EN = LazyPattern(
    rf"(?a)\b(?:every|each) (?:(?P<other>other|second|2nd)|(?P<third>third|3rd)|(?P<n>{EN})) days?\b"
)
_WEEKS_EN = LazyPattern(
    rf"(?a)\b(?:every|each) (?:(?:(?P<other>other|second|2nd)|(?P<third>third|3rd)|"
    rf"(?P<n>{EN})) weeks?,?(?: on)?(?: a)? (?P<day>{WD})s?"
    rf"|(?P<other2>other|second|2nd) (?P<day2>{WD})s?)\b"
)
LOOSE = LazyPattern(
    rf"(?:从|自(?!己)|(?<=\d)年|除了?|不是|并非|第[一二三四五六七八九十\d]+个?|闰)\s?{TAKEN}"
    rf"|{TAKEN}\s?(?:的?前(?:一[天晚日]|夕)|的?(?:第二|次|隔|后一)[天日]|后的|开始|起(?![床来身飞夜立])|为止|除外|以外|之间|期间"
    rf"|[以之]内|内(?![容衣部存科心人裤]))"
    rf"|(?a:\b(?:after|before|from|since|past|following|but|except|not|weeks?|days?|hours?|minutes?|"
    rf"mins?|months?|years?|second"
    rf"|third|fourth|first|last|next|of|other|half|quarter|til|than) {TAKEN}|{TAKEN} ?(?:ish\b|-?ish\b|"
    rf"or so\b|ago\b|and a half\b"
    rf"|weeks?\b|before\b|after\b|after next\b|through\b|(?:-|–|to|til|till|until) \d)|(?:\d|"
    rf"\b{EN}) ?(?:to|-|–|til|till|until|or|and) {TAKEN})"
)
"""What stands right beside a time and may change it: nobody has understood it, so it is asked."""


def read_lists(reading: Reading) -> None:
    """Take lists of times of day of what comes back, and every few days or weeks."""
    _steps(reading)
    every = reading.parts.every is not None or _EVERY_ZH.search(reading.text) or _EVERY_EN.search(reading.text)
    if not every:
        return
    for match in reading.take(_BOTH_ZH):
        _name(reading, [f"早上{match['clock']}", f"晚上{match['clock']}"])
    for match in reading.take(_LIST_ZH):
        _name(reading, re.split("[、,]|和|及|与|跟|还有|以及", match[0]))
    for match in reading.take(_LIST_EN):
        if "every" in match[0] or "each" in match[0]:
            reading.parts = replace(reading.parts, every=reading.parts.every or Every())
        _name(reading, re.split(r",? and |, | & |,? then ", match[0]))
    for match in [*reading.take(_TIMES_EN), *reading.take(_TIMES_ZH)]:
        word = match.groupdict().get("n") or ""
        wanted = 3 if match.groupdict().get("three") else int(count_en(word)) or count_zh(word) or 2
        if wanted != max(len(reading.parts.times), 1):
            reading.doubt("rule")
        if not re.search("every|daily|每", reading.text):
            reading.parts = replace(reading.parts, every=Every())


def _name(reading: Reading, words: list[str]) -> None:
    pieces = []
    for word in words:
        piece = Reading(re.sub(r"\b(?:again|every|each|day) ", "", word).strip())
        chinese.read(piece)
        english.read(piece)
        pieces.append(piece)
    if reading.parts.times:
        reading.doubt("several")
    reading.name_times(pieces)


def _steps(reading: Reading) -> None:
    for match in reading.take(_WEEKS_ZH):
        weeks = 2 if match["other"] else count_zh(match["n"])
        _every(reading, Every(weekdays=NAMES[chinese.WEEKDAYS[match["day"]]], step=7 * weeks))
    for match in reading.take(_WEEKS_EN):
        weeks = 3 if match["third"] else 2 if match["other"] or match["other2"] else int(count_en(match["n"]))
        _every(reading, Every(weekdays=(match["day"] or match["day2"])[:3], step=7 * weeks))
    for match in reading.take(_DAYS_ZH):
        _every(reading, Every(step=2 if match["other"] else count_zh(match["n"])))
    for match in reading.take(_DAYS_EN):
        _every(reading, Every(step=3 if match["third"] else 2 if match["other"] else int(count_en(match["n"]))))


def _every(reading: Reading, every: Every) -> None:
    if reading.parts.every is not None or not every.step:
        reading.doubt("rule")
    reading.parts = replace(reading.parts, every=every)
