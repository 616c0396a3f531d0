"""Reads how somebody introduces themselves to nuan alone: 我叫小陈, hi, I'm Maya. Doubt means no. Pure."""

import re

from bot.text.fold import fold

MOST_CHARS = 200
"""Who introduces themselves says so in few words."""

_GREETING = "(?:你好|您好|嗨|哈[喽囉啰]|哈囉|hi|hey|hello|yo|nice to meet you|good (?:morning|evening|afternoon))"
_START = rf"(?:^|[，,。.!！~～\n]\s*)(?:{_GREETING}(?: there)?[\s，,。.!！~～]*)*(?:by the way,? |btw,? |对了[，,]?|對了[，,]?)?"
_END = r"(?=\s*(?:$|[，,。.!！~～\n;；:：()（）]|(?:and|but|from|by the way)\b|[哦喔啦呀哈]))(?!\s*[?？])"
_NAMES = (
    re.compile(
        rf"{_START}我(?:(?:的)?名字)?(?:叫|是(?=[小阿老][^是的](?![\u4e00-\u9fff])))"
        rf"(?P<name>[\u4e00-\u9fff·]{{2,4}}|[A-Za-z]{{2,15}}){_END}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?i:{_START}(?:my name(?:['’]s| is)|i['’]?m|i am|this is))\s+"
        rf"(?P<name>[A-Z][a-z]{{1,14}}(?: [A-Z][a-z]{{1,14}})?){_END}"
    ),
)
_NO_NAME = re.compile(
    "[什啥谁誰怎哪不没沒你您我他她它]|.*(?:一声|一聲|一下|起床|外卖|外賣|不醒|车|車|[了吗嗎呢吧的])$"
    "|(?i:.*(?:ian|ese|ish|ican|rman)$"
    r"|(?:back|home|here|fine|good|okay|sorry|busy|tired|sick|happy|sad|done|sure|not|so|just|in|at|on)\b)"
)
"""What follows 我叫 in other sentences, and what people say they are: 我叫他来, I'm Italian, I'm Fine."""


def introduced(text: str) -> str | None:
    """The name that somebody gives as their own, verbatim; None where the text gives none, or asks."""
    for pattern in _NAMES if len(text) <= MOST_CHARS else ():
        found = pattern.search(text)
        if found and not _NO_NAME.match(found["name"]):
            return found["name"]
    return None


_ABOUT_NAMES = re.compile(
    r"(?:用[户戶]|名字|我|他|她|的|叫做?|是|以后|\b(?:user|person|the|is|are|am|i|my|me|they|called?|named?|goes by|s|m)\b|[\W_])*"
)


def only_names(text: str, name: str) -> bool:
    """Whether a statement says no more than that somebody is called `name`: that is kept already."""
    before, found, after = fold(text).partition(fold(name))
    return bool(found) and all(_ABOUT_NAMES.fullmatch(part) is not None for part in (before, after))
