"""Are two promises the same one, and which of several do words mean? By the words they share, without time and form.

The reference joined promises that share 72 % of their pairs of characters: 给小李发文件 and 给小王发文件 were one.
Here each may say more than the other, but not both something of their own.
"""

import re
from collections.abc import Iterable

from bot.text.fold import fold
from bot.text.script import ENGLISH

LEAST = 3
"""Characters (a Latin word counts as two) of a promise that is found again in a longer one."""

STEM = 4
"""Latin words are the same when they begin alike: report and reports."""

MEANT = 0.5
"""Words mean a promise when so much of them is in it."""

NAMED = 0.8
"""Words name a promise when so much of them is in it: 修药箱的事 says one thing more."""

FORM = re.compile(
    r"答应|保证|发誓|承诺|[说约讲][好定]|一定|肯定|绝对|记得|记着|不会忘记?|尽快|按时|准时|已经|终于|总算|刚刚|等会儿?|等下|待会儿?|一会儿?|晚点|回头|马上"
    r"|大?后天|[今明昨][天晚早儿日]|(?:这|下)*个?(?:周|星期|礼拜)[一二三四五六日天末]?|早上|上午|中午|下午|晚上|[0-9一二三四五六七八九十]+[点号月日](?:半)?"
    r"|\b(?:promised?|swear|guarantee|definitely|surely|certainly|remember|forget|sure|won|gonna|going|today"
    r"|tonight|tomorrow"
    r"|later|soon|already|just|finally|next|week|month|morning|evening|afternoon|day|after|before|monday"
    r"|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|word|agreed|sorry|ok|okay|done|all|now|back|get|got|first|thing)\b"
)
"""What words of a promise do not tell what it is of: how it is given, and when."""
_EMPTY = frozenset(
    "我你您他她它们的了吗呢吧啊呀哦嘛啦是在也都就还又很和跟与把被这那会要给得着过来去向对好完定掉上下再才正快一个儿下"
)
_RUNS = re.compile(r"([\u3400-\u9fff])|([a-z0-9']+)")
_IRREGULAR = {
    "sent": "send", "paid": "pay", "brought": "bring", "wrote": "write", "written": "write", "bought": "buy",
    "gave": "give", "told": "tell", "fed": "feed", "did": "do", "made": "make", "picked": "pick",
}  # fmt: skip


def alike(one: str, other: str) -> bool:
    """Whether two promises of the same person are the same: what one says, the other says too."""
    mine, theirs = core(one), core(other)
    if not mine or not theirs:
        return fold(one).strip() == fold(other).strip()
    less, more = (mine, theirs) if len(mine) <= len(theirs) else (theirs, mine)
    return less == more or (less <= more and weight(less) >= LEAST)


def meant(about: str, texts: Iterable[tuple[int, str]]) -> int | None:
    """The number of the one text that these words are about; None when none is, or several are equally.

    Without words it is the only one there is.
    """
    known = tuple(texts)
    words = core(about)
    if not words:
        return known[0][0] if len(known) == 1 else None
    shared = {number: words & core(text) for number, text in known}
    fits = {
        number: len(both)
        for number, both in shared.items()
        if len(both) >= MEANT * len(words) and (weight(both) >= 2 or both == words)
    }
    most = [number for number, count in fits.items() if count == max(fits.values())]
    return most[0] if len(most) == 1 else None


def named(about: str, text: str) -> bool:
    """Whether words name this promise beyond doubt: nearly all that they say is in it."""
    words = core(about)
    shared = words & core(text)
    return weight(shared) >= LEAST and len(shared) >= NAMED * len(words)


def core(text: str) -> frozenset[str]:
    """The characters and word stems that tell what is to be done."""
    plain = FORM.sub(" ", fold(text).replace("’", "'"))
    found = set[str]()
    for char, word in _RUNS.findall(plain):
        if char and char not in _EMPTY:
            found.add(char)
        elif word and word.split("'")[0] not in ENGLISH:
            found.add(_IRREGULAR.get(word, word)[:STEM])
    return frozenset(found)


def weight(words: frozenset[str]) -> int:
    return sum(2 if word.isascii() else 1 for word in words)
