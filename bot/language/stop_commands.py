"""Whether a message is a command to stop or to be quiet, and nothing else."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Literal

from bot.core.speaking import Stop
from bot.text.fold import fold

LONGEST_COMMAND = 40
"""Characters; whoever wants silence says so briefly, and what is longer is talk about it."""

WordKind = Literal["stop", "quiet", "fill", "tail", "lead", "polite", "ask"]

_LAUGHS = frozenset("😂🤣😆😹😄😁😅😊🥰😘😜")
"""With these 别说了 is a joke."""
_QUOTES = frozenset('"“”「」『』《》`>')
_JOINERS = frozenset("'-_./@#")
"""Between letters they make one word: non-stop, stop.sh, don't."""

_STOP = (
    "停止 停止回答 停止回复 停止说话 停止输出 停止生成 停止发言 停止聊天 停 停一停 停停 停下 停下来 "
    "停一下 打住 中止 终止 暂停 立即停止 先停 停手 停嘴 别继续 别继续了 不要继续 不要继续了 别再继续 "
    "别再继续了 不要再继续 不要再继续了 不用继续了 不用再继续了 不用回 不用回了 别回了 别再回了 不用回我 "
    "不用回我了 别回我 别回我了 别再回我 别再回我了 不用说了 不用再说了 不必说了 不必再说了 不用讲了 "
    "不用再讲了 少废话 少啰嗦 唔好讲啦 唔好再讲 唔好再讲啦 唔使答啦 唔好讲嘞 可以停了 可以停下了 "
    "可以停下来了 停啦 停嘞 停低 停止回应 不要回我 不要回我了 别回复我 别回复我了 不要回复我 不要回复我了 "
    "不用回复我 不用回复我了 无需回复 无需回答 不需要回复 不需要回答"
)
_ELSE = frozenset(
    [
        "能停吗",
        "可以停吗",
        "能不能停",
        "可不可以停",
        "能停",
        "可以停",
        "好停",
        "停好了",
        "停好啦",
        "停那",
        "停那吧",
        "好安静",
        "好安静啊",
        "好安静呀",
        "好安静哦",
    ]
)
"""Made of the same words, and about parking or a quiet place."""
_NO = ("别", "别再", "不要", "不要再", "不用", "不用再", "不必", "甭", "莫")
_VERBS = "回答 回复 回应 输出 生成 唠叨 啰嗦 念叨 打字 发消息 发言 废话 答 写 发 念"
_SAYS = ("说", "讲")
_ENDED = ("了", "啦", "了啦", "下去", "下去了", "下去啦")
_QUIET = (
    "闭嘴 闭嘴啦 住口 住嘴 收声 闭上嘴 闭上嘴巴 闭上你的嘴 把嘴闭上 安静 安静点 安静点儿 安静些 安静一点 "
    "安静一下 安静下来 安静一会 安静一会儿 安静会儿 保持安静 静一静 肃静 别吵 别吵了 别吵啦 别再吵了 "
    "不要吵 不要吵了 别出声 不要出声 别作声 不许出声 不许说话 不准说话 别插嘴 别插嘴了 "
    "不要插嘴 别再插嘴了 别插话 别插话了 不要插话 别接话 别接话了 不要接话 别搭话 别搭话了 别说话 "
    "别说话了 别说话啦 别再说话 别再说话了 不要说话 不要说话了 不要再说话 不要再说话了 先别说话 先别出声 "
    "咪嘈 唔好嘈 别讲话 别讲话了 别再讲话 别再讲话了 不要讲话 不要讲话了 不要再讲话 不要再讲话了 不许讲话 "
    "不准讲话 先别讲话 唔好讲嘢 唔好再讲嘢 收声啦 保持沉默 别吵我 不要吵我"
)
_FILL = (
    "请 请你 请您 麻烦 麻烦你 拜托 拜托你 求你 求求你 求你了 你 您 给我 快 快点 赶紧 赶快 马上 立刻 立即 "
    "现在 先 好了 行了 够了 好啦 好 行 嗯 喂 哎 唉 诶 欸 嘿 嗨 等等 等一下 等下 算了 ok okay 那 那就 那你 "
    "你好 机器人 啊 呀 哦 喔 嘛 唉呀 哎呀 拜托了 求求你了"
)
_TAIL = "吧 一下 一会 一会儿 会儿 先 谢谢 谢谢你 多谢 thanks"
_LEAD = "能 能不能 能否 可以 可不可以 可以先 能先 can could would will"
_POLITE = "好吗 好不好 行吗 行不行 可以吗 可以不 好嘛"
_EN_STOP = (
    "stop|stop it|stop that|stop there|stop right there|stop this|halt|stop talking|stop replying|"
    "stop answering|stop writing|stop typing|stop generating|stop responding|stop speaking|stop rambling|"
    "stop sending messages|stop messaging|don't reply|don't answer|do not reply|do not answer|dont reply|"
    "dont answer|don't reply to this|don't answer that|don't answer this|no need to reply|"
    "no need to answer|no need to respond|don't respond|do not respond|don't go on|don't continue|"
    "do not continue|enough talking|cut it out"
)
_EN_QUIET = (
    "shut up|shut it|shut your mouth|be quiet|be silent|keep quiet|stay quiet|stay silent|quiet down|"
    "quiet please|hush|stfu|zip it|stop listening|stop butting in|stop interrupting|don't talk|"
    "do not talk|don't speak|do not speak|dont talk|don't say anything|do not say anything|"
    "don't say a word|not another word|pipe down|shut the hell up|shut the fuck up|shush|shh|shhh"
)
_EN_FILL = (
    "please|pls|plz|hey|hi|hello|now|just|alright|right|enough|that's enough|thank you|thx|already|"
    "for now|for a moment|for a while|for a bit|for a second|for a minute|for a sec|right now|at once|"
    "immediately|wait|no|you|you can|you may|i said|bot|this instant|anymore|any more|anything else|"
    "never mind|nevermind|hold on"
)


@dataclass(frozen=True, slots=True)
class _Word:
    """One word of the language of commands; with `last` nothing may follow it but a sign."""

    text: str
    kind: WordKind
    last: bool = False


@dataclass(frozen=True, slots=True)
class _Read:
    """What one reading of the beginning of a message holds so far."""

    stop: Stop = ""
    led: bool = False
    polite: bool = False
    asks: bool = False


def stop_command(text: str, names: tuple[str, ...] = ()) -> Stop:
    """Whether `text` is nothing but a command to stop, or to be quiet. Never raises; time is linear in the text.

    Script, case and width do not matter. `names` are the names the bot is called by.
    """
    if len(text) > 2 * LONGEST_COMMAND or not _LAUGHS.isdisjoint(text):
        return ""
    folded = fold(text)
    if not _QUOTES.isdisjoint(folded):
        return ""
    said = _spaced(folded)
    if not said or len(said) > LONGEST_COMMAND or said in _ELSE:
        return ""
    asked = "?" in folded
    readings = (read for read in _read(said, _index(names)) if read.stop and _fits(read, asked))
    return max((read.stop for read in readings), key=("", "stop", "quiet").index, default="")


def _fits(read: _Read, asked: bool) -> bool:
    """A question is a command only in the form of a request: 能安静点吗, can you stop."""
    return not (asked or read.asks) or read.led or read.polite


def _read(said: str, words: dict[str, tuple[_Word, ...]]) -> set[_Read]:
    """Every way in which the whole text is made of known words."""
    reached: list[set[_Read]] = [set() for _ in range(len(said) + 1)]
    reached[0].add(_Read())
    for at, char in enumerate(said):
        if not reached[at]:
            continue
        if char == " ":
            reached[at + 1] |= reached[at]
            continue
        for word in words.get(char, ()):
            if said.startswith(word.text, at) and _bounded(said, at, word):
                reached[at + len(word.text)] |= {after for read in reached[at] for after in _after(read, word)}
    return reached[-1]


def _after(read: _Read, word: _Word) -> Iterator[_Read]:
    """The reading with one more word; none where that word has no place."""
    match word.kind:
        case "fill":
            yield read
        case "stop" | "quiet":
            yield replace(read, stop="quiet" if "quiet" in (word.kind, read.stop) else "stop")
        case "lead":
            if not read.stop:
                yield replace(read, led=True)
        case _ if not read.stop:
            return
        case "tail":
            yield read
        case "polite":
            yield replace(read, polite=True)
        case "ask":
            yield replace(read, asks=True)


def _bounded(said: str, at: int, word: _Word) -> bool:
    end = at + len(word.text)
    if word.last and said[end : end + 1] not in ("", " "):
        return False
    return not (_joined(said, at) or _joined(said, end))


def _joined(said: str, at: int) -> bool:
    """Whether a Latin word goes on across this place."""
    return 0 < at < len(said) and _latin(said[at - 1]) and _latin(said[at])


def _latin(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) in {"Ll", "Lu", "Nd", "Pc"}


def _spaced(folded: str) -> str:
    """The text with every sign as a space, but for those within a word, and without mentions by @."""
    plain = folded.replace("’", "'")
    chars = [
        char if unicodedata.category(char)[0] in "LN" or _within(plain, at) else " " for at, char in enumerate(plain)
    ]
    return " ".join(word for word in "".join(chars).split() if not word.startswith("@"))


def _within(text: str, at: int) -> bool:
    """Whether the sign at this place belongs to a word: don't, non-stop, @nuan_bot; those of stop... do not."""
    if text[at] not in _JOINERS or not _letter(text[at + 1 : at + 2]):
        return False
    return text[at] == "@" or _letter(text[max(at - 1, 0) : at])


def _letter(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in {"Ll", "Lu", "Nd"}


@lru_cache(maxsize=8)
def _index(names: tuple[str, ...]) -> dict[str, tuple[_Word, ...]]:
    """The known words by their first character."""
    called = (_Word(spaced, "fill") for name in names if (spaced := _spaced(fold(name))))
    index: dict[str, list[_Word]] = {}
    for word in dict.fromkeys((*_known(), *called)):
        index.setdefault(word.text[0], []).append(word)
    return {char: tuple(words) for char, words in index.items()}


def _known() -> Iterator[_Word]:
    lists: tuple[tuple[WordKind, str, str], ...] = (
        ("stop", _STOP, " "), ("quiet", _QUIET, " "), ("fill", _FILL, " "), ("tail", _TAIL, " "),
        ("polite", _POLITE, " "), ("stop", _EN_STOP, "|"), ("quiet", _EN_QUIET, "|"), ("fill", _EN_FILL, "|"),
    )  # fmt: skip
    for kind, texts, sign in lists:
        yield from (_Word(text, kind) for text in texts.split(sign))
    for lead in _LEAD.split():
        yield _Word(lead, "lead")
    yield _Word("吗", "ask")
    for no, verb in product(_NO, (*_VERBS.split(), *_SAYS)):
        if verb in _SAYS and no not in ("别", "别再", "不要", "不要再", "甭", "莫"):
            continue
        yield _Word(no + verb, "stop", last=True)
        yield from (_Word(no + verb + end, "stop") for end in _ENDED)
        yield from (_Word(no + "继续" + verb + end, "stop") for end in ("", "了", "下去", "下去了"))
