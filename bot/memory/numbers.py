"""Reads several numbers of memories that are named together: #3 和 #4, #3, #4 and #7, #3-#5. It knows no memory."""

from bot.text.lazy import LazyPattern

MOST = 1000
"""Numbers that one wish names at most; a longer range is none."""

PLACE = "第[一二三四五六七八九十]{1,3}条"
"""A place told in words; 第一次 and 第一个 are none."""
_ONE = f"(?:{PLACE}|(?:编号|第|memory |number |no\\.? ?)?#? ?[0-9]{{1,9}} ?[号条]?)"
_AND = "(?:[ ,、&+/]|和|跟|与|及|以及|还有|and(?= ?[#0-9]))"
_TO = "(?: ?(?:[-~–—至到]|to|through) ?)"
SEVERAL = f"{_ONE}(?:{_TO}{_ONE}|{_AND}+{_ONE})+"
"""Two or more of them, as part of an expression for shaped text; what leads to it and ends it is checked elsewhere."""

_EACH = LazyPattern(f"(?P<to>{_TO})?(?P<one>{_ONE})")
_RANGE = LazyPattern(f"[0-9] ?[号条]?{_TO}")
_MARKED = LazyPattern("[#号条]|memory|number|编号")
_DIGITS = LazyPattern("[0-9]{1,9}")
_WORDS = LazyPattern("第(?P<tens>[一二三四五六七八九]?十)?(?P<ones>[一二三四五六七八九])?条")
_ORDER = "零一二三四五六七八九"


def listed(text: str) -> tuple[int, ...]:
    """The numbers in order, each once, with those between the ends of a range; () when they are too many or unclear."""
    if _RANGE.search(text) and not _MARKED.search(text):
        return ()  # 2020-2021 is a time
    found: list[int] = []
    for each in _EACH.finditer(text):
        number = numbered(each["one"])
        if each["to"] and found:
            low, high = sorted((found[-1], number))
            if high - low >= MOST:
                return ()
            found += range(low, high + 1)
        else:
            found.append(number)
    numbers = tuple(dict.fromkeys(found))
    if _RANGE.search(text):
        numbers = tuple(sorted(numbers))
    return numbers if len(numbers) <= MOST else ()


def numbered(text: str) -> int:
    """The number in 第3条, #3 or 第十二条; 0 when there is none."""
    if digits := _DIGITS.search(text):
        return int(digits[0])
    words = _WORDS.search(text)
    if not words:
        return 0
    tens = (_ORDER.find(words["tens"][0]) if len(words["tens"]) > 1 else 1) if words["tens"] else 0
    return 10 * tens + (_ORDER.find(words["ones"]) if words["ones"] else 0)
