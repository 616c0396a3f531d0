"""Reads several numbers of memories that are named together: #3 和 #4, #3, #4 and #7, #3-#5. It knows no memory."""

from bot.text.lazy import LazyPattern

MOST = 1000
"""Numbers that one wish names at most; a longer range is none."""

_ONE = "(?:编号|第|memory |number |no\\.? ?)?#? ?[0-9]{1,9} ?[号条]?"
_AND = "(?:[ ,、&+/]|和|跟|与|及|以及|还有|and(?= ?[#0-9]))"
_TO = "(?: ?(?:[-~–—至到]|to|through) ?)"
SEVERAL = f"{_ONE}(?:{_TO}{_ONE}|{_AND}+{_ONE})+"
"""Two or more of them, as part of an expression for shaped text; what leads to it and ends it is checked elsewhere."""

_EACH = LazyPattern(f"(?P<to>{_TO})?(?P<one>{_ONE})")
_RANGE = LazyPattern(f"[0-9] ?[号条]?{_TO}")
_MARKED = LazyPattern("[#号条]|memory|number|编号")
_DIGITS = LazyPattern("[0-9]{1,9}")


def listed(text: str) -> tuple[int, ...]:
    """The numbers in order, each once, with those between the ends of a range; () when they are too many or unclear."""
    if _RANGE.search(text) and not _MARKED.search(text):
        return ()  # 2020-2021 is a time
    found: list[int] = []
    for each in _EACH.finditer(text):
        digits = _DIGITS.search(each["one"])
        number = int(digits[0]) if digits else 0
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
