"""Reads a wish to forget, not to store, or to undo. It finds no memory: it says what was asked for."""

import re
from dataclasses import replace

from bot.memory import patterns as p
from bot.memory.numbers import SEVERAL, listed, numbered
from bot.memory.patterns import PARTICLE, POLITE
from bot.memory.reading import Found, Place
from bot.memory.stated import before
from bot.memory.wording import chinese as zh
from bot.memory.wording import english as en
from bot.memory.wording import forgetting_en as of_en
from bot.memory.wording import forgetting_zh as of_zh
from bot.memory.wording.signs import END, STOP
from bot.text.lazy import LazyPattern
from bot.types.memory import Scope, Verb

_SURE = LazyPattern(
    "[忘删清抹撤销除]|wipe|clear|复原|恢复|还原|去掉|不要了|收回|停止|不想|不希望|no longer|unlearn|取消|作废|[别要用必许好使甭勿准][^,。?\n]{0,40}[记存收留]"
    "|undo|restore|forget|off the record"
    "|memor|remember"
    "|delete|remove|erase|drop|scratch|do ?n[o']t|do not|need to|no need"
)
_AFTER = rf"(?:{PARTICLE}|{POLITE})*+{END}"
_NUMBERED = LazyPattern(
    "[/.]?(?:(?P<forget>忘记|忘掉|忘了|forget(?: about)?(?: memory)?"
    "|(?:删掉|删除|delete|remove|erase)(?= ?(?:#|[0-9]+ ?号|编号|记忆|memory)))"
    "|(?P<undo>撤[销消回]|复原|恢复|还原|undo|restore)) ?"
    rf"(?:编?号码?|number ?|no\.? ?|记忆|memory)? ?#?(?P<number>[0-9]{{1,9}})(?: ?[号条])?(?:的?记忆)?"
    f"(?P<ever> (?:permanently|for good|forever))?{_AFTER}"
)
_SEVERAL = LazyPattern(
    "[/.]?(?:忘记|忘掉|忘了|forget(?: about)?(?: memory| memories)?"
    "|(?:删掉|删除|delete|remove|erase)(?= ?(?:#|[0-9]+ ?号|编号|记忆|memor))) ?"
    rf"(?:记忆|memor(?:y|ies))? ?(?P<numbers>{SEVERAL})(?:[这那]?[两三四五几]条)?(?:的?记忆)?{_AFTER}"
)
_FOREVER = LazyPattern("彻底|永久|permanently|for good")
_FOREVER_DROP = LazyPattern(f"[^{STOP}]{{0,200}}?(?:彻底|永久)[忘删清]")
_UNDO = LazyPattern(f"[/.]?(?:撤[销消]|复原|undo(?: (?:that|it|this))?)(?:一下)?{_AFTER}")

_ALL_OF_IT = LazyPattern(
    f"[/.]?(?:忘[记掉](?:全部|所有)(?:的?记忆)?|全部忘[记掉](?!了)|forget (?:everything|all of (?:it|them))){_AFTER}"
)
"""As a whole message only: in a sentence it is said of sorrows, of a film, of a lesson."""

_ORDINAL = LazyPattern("第[一二三四五六七八九十0-9]+条")
"""第二条 may be #2 or the second of a list: asked back."""
_MANY = LazyPattern("[这那][两二三四五几]条")
"""More than one was pointed at, so that the last alone is not meant."""

_EVERYTHING, _POINTED, _NAMED = (
    tuple(LazyPattern(f"(?:{words})") for words in (*chinese, *english))
    for chinese, english in (
        (of_zh.EVERYTHING, of_en.EVERYTHING),
        (of_zh.POINTED, of_en.POINTED),
        (of_zh.NAMED, of_en.NAMED),
    )
)
"""All of them; what was said before; what is named. The first that fits decides."""


_TOLD_DROPPED = LazyPattern(
    "(?:i told you(?: that)?|i said(?: that)?|you (?:know|remember)(?: that)?"
    r"|you have it that) (?P<c>[^,。?\n]{2,80}), *$"
)
_DROP_IT = LazyPattern(rf"{en.DROP} (?:that|it|this) from (?:your |the )?(?:memory|memories|notes)")
_OLD_ONE = LazyPattern("(?:那个?|这个?|我的?)(?P<c>[^,。?\n]{1,20}?)(?:已经)?(?:换|改|变)了,$")
_OLD_GONE = LazyPattern("(?:旧的?|原来的?|以前的?|老的?)(?:那[条个])?(?:可以|就|请)*(?:删|忘|清)[掉除了]")
_FORGETTABLE = LazyPattern(
    "我(?!们|吧|好吗|了|是谁|就|真|也|都|还|,|$|这个人$|的好)|刚[刚才]|之前|关于|有关|旧|老地址|以前的|那[条个件].*(?:记忆|地址|号码|密码)"
    f"|[^,]*[这那两三][条点]$|[^,]*(?:在[a-z0-9]|{zh.PERSONAL})"
)
_NOT_FORGETTABLE = LazyPattern(
    "#|.*(?:怎么|了?吗$|什么|为什么|如何|干嘛)|(?:烦恼|过去|痛苦|不开心|一切|悲伤|伤|自己|他|她|你|吧|了|带|跟|说|告诉|邀请|密码(?:$|了|怎)"
    "|我爱|我们|所有人|那些|不愉快)"
    "|(?:my|the) (?:previous |last |next )?(?:command|message|question|request|password$|order|existence|alarm"
    "|reminder|timer)|.*(?:的生日了|的名字了)$"
    "|(?:i|we) (?:ever|even|sometimes|always|often|just|never|asked|was (?:ever|even)|mentioned it|said (?:that"
    r"|it|anything))\b|my (?:head|keys|way|manners|place)\b"
)
_THING_EN = LazyPattern(en.OTHERWISE)
_STORED = LazyPattern("记忆|memor")
_THING = LazyPattern(f".*(?:{zh.THINGS})")
_TOLD_OF_YOU = LazyPattern("(?:.*[ ,])?(?:你们?|都|就|you|always|never|i)")
"""你忘记我的生日了 tells."""
_ALL_OF_US = ("我", "我的", "关于我", "关于我的", "我们", "我们之间", "me")
_PART = LazyPattern("(?:(?!和|跟|与|、|以及).)+")
_DROPPED = LazyPattern(f"(?:请|就|帮我|麻烦|直接)*(?:删|忘|清|去)[掉除了](?:它)?{zh.DONE}{END}")
_THAT_ONE = LazyPattern(
    r"(?:^|[,。?\n ])(?P<c>[^,。?\n]{0,30}?)(?:刚才|的)?[这那]一?条(?:记忆|记录)?[^,。?\n]{0,12}, *$"
)
_ASIDE = LazyPattern(
    "(?:[别不甭莫勿使停好]|无需)[^,。?]{0,6}(?:记(?!忆)|存|收集|保留)|(?:do ?n[o']t|do not|never|no need|not (?:want|need|have)"
    "|no longer|stop|keep (?:this|that|it) (?:out|away|off))"
)
_DROPS = LazyPattern("忘|删|清|抹|除|去掉|撤|作废|取消|收回|forget|forgot|delete|erase")
_UNSTORED = LazyPattern(
    "(?:千万|请)*(?:别|不要|勿)(?:再|帮我|给我)?(?:记(?:下来?|录(?:下来)?|住)?|存(?:下来?|起来)?)"
    f"(?:{PARTICLE})*+{END}|off the record{END}"
)
"""我下个月要结婚了，别记哦: what stands before it is not to be kept."""
_HELPS = "们|发|给|来|有|帮|会|教|再|把|去|这|记|都|已|等|待|一会|回头|讲|写|拍|背|抄|忘|也|晚|自己|先|替|就|能|可|知道"
"""别记，我发你: what makes notes needless."""
_STUDIES = LazyPattern("忘|背|笔记|记性|单词|公式|默写|抄|作业|答案|考|拍照|说了好?几遍")
"""What makes 别记 advice: it is about learning."""
_NO_MORE = LazyPattern("(?:千万|请|就)*(?:别|不要|不用|勿)(?:再)?记(?:住|下来|着)?了[吧啦哈]*")
_HELPED = LazyPattern(f"[ ,]*我(?:{_HELPS})")
_SAYS = LazyPattern(
    "(?!我(?:想|要|先|再|就|跟你|和你|告诉你)*(?:说|讲))[^,。:]{1,12}"
    "(?:说|讲|问|喊|回复?|告诉我|[叫让劝要]我)(?:过|道)?(?:[:,]|$)"
)
"""我同桌说：别记 is somebody else's."""
_UNSTORED_NEXT = LazyPattern(
    "(?:[这下]面?(?:一?[句条段]|个)话?)?(?:千万|请)*(?:别|不要|勿)(?:帮我|给我)?(?:记(?:下来?|录(?:下来)?|住)?|存下来?)[啊哦]?"
    rf"[,:] ?(?=我(?!{_HELPS}))|off the record[,:] ?(?=(?:i|my)\b)"
)
"""别记，我跟老板吵架了: what follows is not to be kept."""
_OWN_FORGETTING = LazyPattern(
    "我?(?:[好真最就只]*怕|担心|一|老是?|总是?|经常|常常|容易|差点|肯定|万一)[^,]*就[容易会要全都]*忘[了记掉]*+(?!吧)"
)
"""我怕一紧张就忘了 tells of the writer's own memory."""
_TWO = LazyPattern("[^,]*(?:[两三四几]条|[两三四]件事)")


def dropping(place: Place) -> tuple[Found, ...]:
    """The wish to forget or to undo that stands at this place, one for each thing; none in doubt."""
    if not _SURE.search(place.shape, place.start, place.start + 400):
        return ()
    found = _numbered(place) or _forget(place)
    if found and _MANY.search(place.shape, found.start, found.end) and not (found.content or found.scope):
        found = replace(found, scope="unsure")
    return _each(place.shape, found) if found else ()


def _numbered(place: Place) -> Found | None:
    if (several := _SEVERAL.match(place.shape, place.at)) and (numbers := listed(several["numbers"])):
        counted: Scope = "unsure" if _ORDINAL.search(several["numbers"]) else ""
        return Found("forget", place.start, several.end(), None, None, _forever(place), counted, numbers)
    if match := _NUMBERED.match(place.shape, place.at):
        verb: Verb = "forget" if match["forget"] else "undo"
        forever = match["ever"] is not None or _forever(place)
        return Found(verb, place.start, match.end(), None, int(match["number"]), forever)
    if match := _UNDO.match(place.shape, place.at):
        return Found("undo", place.start, match.end()) if _nothing_else(place, match) else None
    return None


def _nothing_else(place: Place, match: re.Match[str]) -> bool:
    """Whether the message says no more than that, a greeting or a courtesy apart."""
    nothing = p.NOTHING_LEFT.fullmatch
    return bool(nothing(place.shape, 0, place.start) and nothing(place.shape, match.end()))


def _forget(place: Place) -> Found | None:
    if (match := _ALL_OF_IT.match(place.shape, place.at)) and _nothing_else(place, match):
        return Found("forget", place.start, match.end(), forever=_forever(place), scope="all")
    for pattern in _EVERYTHING:
        match = pattern.match(place.shape, place.at)
        if match and not _question(place, match):
            return Found("forget", place.start, match.end(), forever=_forever(place), scope="all")
    for pattern in _POINTED:
        match = pattern.match(place.shape, place.at)
        if match and not _question(place, match):
            return None if _stop_noting(place, match) else _pointed(place, match)
    for pattern in _NAMED:
        if match := pattern.match(place.shape, place.at):
            return _named(place, match)
    return _replaced(place) or _dropped(place) or _unstored(place)


def _pointed(place: Place, match: re.Match[str]) -> Found:
    """那条; what it means may stand right before it in the same sentence."""
    told = _TOLD_DROPPED.search(place.shape, max(place.floor, place.start - 120), place.start)
    if told and _DROP_IT.match(place.shape, place.at):
        return Found("forget", told.start("c"), match.end(), told.span("c"), forever=_forever(place))
    if counted := _ORDINAL.search(match[0]):
        return Found("forget", place.start, match.end(), None, numbered(counted[0]), _forever(place), "unsure")
    return Found("forget", place.start, match.end(), forever=_forever(place), scope=_scope(place, match, None))


def _scope(place: Place, match: re.Match[str], named: tuple[int, int] | None) -> Scope:
    """Whether it asks only that a message be kept nowhere (别记这个), in its words beside what is named."""
    words = place.lead + match[0]
    if named is not None:
        words = place.lead + place.shape[match.start() : named[0]] + place.shape[named[1] : match.end()]
    return "aside" if _ASIDE.search(words) and not _DROPS.search(words) else ""


def _unstored(place: Place) -> Found | None:
    """别记 without an object, right beside what its writer tells of themselves."""
    told = before(place, strong=False)
    match = _UNSTORED.match(place.shape, place.at) if told else None
    if match is None or told is None or not p.MINE.match(place.shape, *told) or _others(place.shape[slice(*told)]):
        match = _UNSTORED_NEXT.match(place.shape, place.at)
    return Found("forget", place.start, match.end(), scope="aside") if match else None


def _stop_noting(place: Place, match: re.Match[str]) -> bool:
    """Whether 别记了 is said of notes that somebody takes: 这些单词背不下来，别记了."""
    if not _NO_MORE.fullmatch(match[0].rstrip(" ,。")):
        return False
    told = place.shape[max(place.floor, place.start - 60) : place.start]
    return bool(_STUDIES.search(told) or _SAYS.match(told) or _HELPED.match(place.shape, match.end()))


def _others(told: str) -> bool:
    """Whether what stands before 别记 is about somebody's words, or about learning."""
    return _SAYS.match(told) is not None or _STUDIES.search(told) is not None


def _replaced(place: Place) -> Found | None:
    """那个密码换了，旧的删掉: what is meant is named by the change."""
    old = _OLD_ONE.search(place.shape, max(place.floor, place.start - 40), place.start)
    match = _OLD_GONE.match(place.shape, place.at) if old else None
    return Found("forget", place.start, match.end(), old.span("c")) if old and match else None


def _dropped(place: Place) -> Found | None:
    """…这条过时了，删掉吧: what is meant stands in the clause before."""
    match = _DROPPED.match(place.shape, place.at)
    told = _THAT_ONE.search(place.shape, max(place.floor, place.start - 80), place.start) if match else None
    if not match or not told:
        return None
    span = told.span("c")
    pointed = not told["c"].strip() or p.DEICTIC.fullmatch(told["c"].strip()) or not p.MINE.search(told["c"])
    return Found("forget", told.start("c"), match.end(), None if pointed else span, forever=_forever(place))


def _forever(place: Place) -> bool:
    """Whether nothing is to stay for an undo (彻底忘记)."""
    return bool(_FOREVER.search(place.lead) or _FOREVER_DROP.match(place.shape, place.at))


def _question(place: Place, match: re.Match[str]) -> bool:
    """Whether it is asked about, and not politely asked for."""
    return place.shape[match.end() : match.end() + 1] == "?" and not place.asked and not _polite(match[0])


def _polite(text: str) -> bool:
    return text.rstrip().endswith(("好吗", "可以吗", "行吗", "好不好")) or "可以" in text


def _named(place: Place, match: re.Match[str]) -> Found | None:
    a, b = match.span("c")
    body = place.shape[a:b].strip()
    plain = place.shape.startswith(("忘", "forget", "forgot"), place.at)
    chinese = p.CJK.search(body) is not None
    if not plain and (_SAYS.fullmatch(body) or _OWN_FORGETTING.match(place.shape, a)):
        return None
    if not plain and body in _ALL_OF_US and not _question(place, match):
        return Found("forget", place.start, match.end(), forever=_forever(place), scope="all")
    if p.DEICTIC.fullmatch(body):
        idle = _question(place, match) or (plain and body in ("它", "it", "that", "this", "them"))
        return None if idle else Found("forget", place.start, match.end(), scope=_scope(place, match, None))
    if _question(place, match) or (plain and _NOT_FORGETTABLE.match(body)) or (plain and p.QUESTION.search(body)):
        return None
    if p.OF_ONESELF.search(place.lead) and not chinese:
        return None
    if (
        plain
        and not place.asked
        and not p.FIRMLY.search(place.lead)
        and _TOLD_OF_YOU.fullmatch(place.lead.strip(" ,"))
        and not match[0].rstrip().endswith("吧")
    ):
        return None
    about = place.shape[match.start() : a].rstrip().endswith(("关于", "有关"))
    named = not chinese and place.shape.startswith("忘", place.at) and not p.MINE.search(body)
    if plain and not about and (named or (chinese and not _FORGETTABLE.match(body))):
        return None
    if not plain and (_THING.match(body) or _THING_EN.match(body)) and not _STORED.search(match[0]):
        return None
    return Found(
        "forget", place.start, match.end(), (a, b), forever=_forever(place), scope=_scope(place, match, (a, b))
    )


def _each(shape: str, found: Found) -> tuple[Found, ...]:
    """甲和乙这两条: each of what is named together."""
    if found.content is None or not _TWO.match(shape[found.content[0] : found.end]):
        return (found,)
    a, b = found.content
    stop = _TWO.match(shape[a:b])
    end = a + re.search("这?[两三四几][条件]", shape[a:b]).start() if stop else b  # type: ignore[union-attr]
    spans = [part.span() for part in _PART.finditer(shape[:end], a)]
    return tuple(
        Found("forget", found.start if not n else found.end, found.end, span, forever=found.forever)
        for n, span in enumerate(spans)
    )
