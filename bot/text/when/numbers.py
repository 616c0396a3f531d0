"""Numbers as people write them in times, past and to come: figures, Chinese characters, English words. Pure."""

ZH = r"(?:\d{1,4}|[零〇一二三四五六七八九两俩十百]{1,5})"
DIGITS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "俩": 2}

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_WORDS = {word: number for number, word in enumerate(_ONES, 1)} | _TENS | {"a": 1, "an": 1}
EN_HOUR = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
EN = (
    r"(?:\d{1,4}(?:\.\d+)?|(?:twenty|thirty|forty|fifty|sixty|ninety)(?:[- ](?:one|two|three|four|five|six|seven"
    r"|eight|nine))?|" + "|".join(sorted(_ONES, key=len, reverse=True)) + "|an?)"
)


def count_zh(word: str) -> int:
    """A number in figures or characters; 0 for what is none."""
    if word.isascii() and word.isdigit():
        return int(word)
    total, digit = 0, 0
    for char in word:
        if char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            digit = digit * 10 * (char in "零〇") + DIGITS.get(char, 0)
    return total + digit


def count_en(word: str) -> float:
    """A number in figures or words; 0 for what is none."""
    try:
        return float(word)
    except ValueError:
        return float(sum(_WORDS.get(part, 0) for part in word.replace("-", " ").split()))
