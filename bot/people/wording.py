"""The words of a request without its times and its courtesies: what a person would say the reminder is about. Pure."""

import re

from bot.people.askwords import PARTICLES
from bot.text.clip import clip
from bot.text.fold import fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.text.when.found import TAKEN, Parts

TASK_CHARS = 200
"""What is kept of what to remind of."""

_LEAD = LazyPattern(
    r"(?:一下|一声|一次|到时候?(?!了)|下(?![午个周班次星礼月载单雨楼车])|的是|的|[吗嘛](?=[?!。,\s])|之前|以前|[喔哦啊呀吧哈啦呢嘛](?=[,。!?~\s])|:|[,.!?。、!…~]|\s"
    r"|(?:我|咱)?(?:要|得|需要)(?![求点价命债领闻紧素害塞到了])(?=.)"
    r"|(?a:(?:up|to|about|that|for|of|with|and|an?|-)\b(?!['’])|(?:at|on|by|in)\s+(?=to\b)))+"
)
_TAIL = LazyPattern(
    rf"(?:{PARTICLES}|大[概约]|左右|差不多|[,，]?(?:千万|可)?别(?:又|再)?(?:给?忘)(?:了|记)*|哈+|哟|好不好|好嘛|可以吗|行吗|行不行|可不可以|吗|嘛"
    r"|(?:谢谢|多谢|感谢|谢)(?:你|您|啦|了|宝贝?|亲|哦|喔|哈)*|拜托(?:你|您)?(?:了|啦)?|感恩|辛苦(?:你|您)?(?:了|啦)?|麻烦(?:你|您)?(?:了|啦)|么么哒|爱你"
    r"|(?a:\b(?:please|pls|plz|thanks(?: a lot| so much)?|thank (?:you|u)(?: so much)?|thx|ty|ok|okay|"
    r"lol|haha|will you|would you|can you|then"
    r"|alright|at|on|by|for|to|from|is|are|maybe)\b)|\s|[。,!?~.、…\U0001f300-\U0001faff\u2600-\u27bf])+$"
)
_REASON = LazyPattern(
    r"[,，。;；…]\s?(?:不然|否则|要不然?|因为|毕竟|省得|免得|以免|懒得|怕|我(?!们)|(?a:because|otherwise|or else|cause|i|i'm|i'll|i've|or i)\b)"
)

_YOURS = {"我": "你", "我们": "你们", "我們": "你們", "i": "you", "i'm": "you're", "i’m": "you’re", "i am": "you are",
          "i've": "you've", "i'll": "you'll", "i'd": "you'd", "i was": "you were", "me": "you", "my": "your",
          "mine": "yours", "myself": "yourself"}  # fmt: skip
_MINE = {"你": "我", "您": "我", "you": "me", "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm",
         "you’re": "I’m", "you are": "I am", "you've": "I've", "you'll": "I'll"}  # fmt: skip
_PERSONS = re.compile(
    r"(?P<kept>[\"“「『][^\"”」』]*[\"”」』]|自我|忘我|我国|我國|你们|你們|你好|迷你|thank you|see you|love you|miss you)|我们|我們|我|你|您"
    r"|(?<![\w'’])(?:i['’]m|i am|i was|i['’](?:ve|ll|d)|i|me|my|mine|myself"
    r"|you['’](?:re|ve|ll)|you are|yourself|yours?|you)(?![\w'’])",
    re.IGNORECASE,
)


def reason_at(folded: str, after: int) -> int | None:
    """Where, after the request itself, its writer goes on to say why."""
    found = _REASON.search(folded, after)
    return found.start() if found else None


def blanked_of(folded: str, parts: Parts) -> str:
    """The folded text with its times blanked out."""
    chars = list(folded)
    for begin, end in parts.spans:
        chars[begin:end] = TAKEN * (end - begin)
    return "".join(chars)


def said_of(text: str, folded: str, origin: tuple[int, ...], parts: Parts) -> str:
    """The person's own words for the time."""
    taken = "".join(TAKEN if char != TAKEN else "x" for char in blanked_of(folded, parts))
    return without(text, taken, origin, ())


def without(text: str, blanked: str, origin: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> str:
    """The text without its times and without the parts that are cut out, each left out as one space."""
    keep = [char != TAKEN and not any(begin <= index < end for begin, end in cut) for index, char in enumerate(blanked)]
    pieces: list[str] = []
    begin = 0
    for index in range(len(keep) + 1):
        if index == len(keep) or not keep[index]:
            if begin < index:
                pieces.append(unfold(text, origin, begin, index))
            begin = index + 1
    return re.sub(r"\s+(?=[,.!?，。！？])", "", re.sub(r"\s+", " ", " ".join(pieces))).strip()


def trimmed(task: str) -> str:
    """Words without what leads to them and the courtesy behind them, in either script."""
    before = None
    while before != task:
        before = task
        folded, origin = fold_mapped(task)
        lead, tail = _LEAD.match(folded), _TAIL.search(folded)
        begin, end = lead.end() if lead else 0, tail.start() if tail else len(folded)
        task = unfold(task, origin, begin, end) if begin < end else ""
    return clip(task, TASK_CHARS)


def told(task: str, *, back: bool = True) -> str:
    """What somebody wants to be reminded of as it is said to them: 我 is 你 and my is your; nuan (你, you) is 我, me.

    Without `back` what they call you stays: it may be anybody.
    """

    def turned(found: re.Match[str]) -> str:
        word = found[0]
        if found["kept"]:
            return word
        other = _YOURS.get(word.casefold())
        other = _MINE.get(word.casefold(), word) if other is None and back else other or word
        return other[:1].upper() + other[1:] if word[:1].isupper() and word[:1] != "I" else other

    return _PERSONS.sub(turned, task)


def titled(text: str) -> str:
    """What a model says to remind of; in the person's own voice it is turned to them."""
    mine = any(found[0].casefold() in _YOURS for found in _PERSONS.finditer(text))
    yours = any(found[0].casefold() in _MINE for found in _PERSONS.finditer(text))
    return told(text) if mine and not yours else text


def bared(task: str, frame: re.Pattern[str]) -> str:
    """Words without what matches a frame of folded text, once at either end."""
    for _ in range(2):
        folded, origin = fold_mapped(task)
        found = frame.search(folded)
        if found is None:
            break
        task = (
            unfold(task, origin, found.end(), len(folded))
            if found.start() == 0
            else unfold(task, origin, 0, found.start())
        )
    return task
