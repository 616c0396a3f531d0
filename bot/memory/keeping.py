"""Reads a wish to keep something: before the content, after it, or pointing back. It decides nothing else."""

import re
from typing import cast

from bot.memory import patterns as p
from bot.memory.listing import items, list_end
from bot.memory.patterns import PARTICLE, POLITE
from bot.memory.reading import Found, Place
from bot.memory.several import facts
from bot.memory.stated import before, extent
from bot.memory.wording import chinese as zh
from bot.memory.wording import english as en
from bot.memory.wording.signs import END, NAME, QUOTED, STOP
from bot.memory.worth import Kind, plain, tells, worth
from bot.text.lazy import LazyPattern

_SURE = LazyPattern("[记存忘]|惠|备忘|remember|forget|mind|note|jot|memo|write|save|store|record|log |reference")
_REMEMBER = LazyPattern(
    f"(?P<strong>(?:{zh.FOR} ?{zh.NOTE}{zh.COUNTED}|记一[下记](?:子)?|记下来|记个事情?|记一笔|记录一下|(?<=请)记录(?=我|:|今天)|存一下(?=[,: ])"
    f"|记[一两二三四五几]?[件点条个](?:事情?|点)?(?=[,: ])|(?:note|mark|remember) ?一下|{zh.PLACED}|{zh.ENTRY}){zh.NOT_NOTED}"
    f"|{p.latin(en.SAVE)})"
    f"|(?P<weak>记(?:[住下着好牢低](?:起来)?|起来|清楚)(?!得){zh.NOT_NOTED}|{p.latin(en.REMEMBER)})"
    f"|(?P<told>记[住好着下][了喽咯](?={PARTICLE}*[,: ]))"
    f"|(?P<fact>记得|(?:别|不要|不能|不可以|莫|勿)忘(?:[了记掉啦咯喽])?|{p.latin(en.REMIND)})"
)
"""Before the content. `strong` asks to keep anything, `weak` may be advice, `fact` and `told` need a plain fact."""
_INTRO = LazyPattern(
    f"(?:吗(?=,))?(?:{PARTICLE})*+(?:(?:我(?:下面|接下来)?说的(?:话)?|我的话|[这那]?一?[几两三四五]?[个点件句]些?(?:事情?|话)?|(?:下面"
    f"|以下)的?[几两三四五]?[条点个件句](?:事情?|话)?|以下(?:内容|信息|几点)?"
    "|[几两三四五]件事情?|[一几两三四五]点)(?=[:,]))?[:, ]*+"
)
_ANNOUNCED = LazyPattern("[件点个条句]事?情?[些]?:|以下|话:")
"""What is counted or shown before a colon is dictated."""
_PUT = (
    f"(?P<put>记(?:下来?|住|一下|好|牢|着|起来|录(?:一下|下来)?)(?:{zh.PLACED}|[在到](?:记忆|备忘录?)里)?|{zh.PLACED}|存(?:起来|下来?|一下|好)"
    "|[保储]存(?:下来|一下|好)?|写下来)"
)
_KEEP_THIS = LazyPattern(
    f"(?:{zh.FOR})?[把将](?P<c>(?:我[^{STOP}]{{1,60}},(?=我))*[^{STOP}]{{1,200}}?)"
    f"(?:这件事情?|这个|这事儿?|这点|的事情?)?(?:都|也|好好|牢牢|全部?|给我|帮我|给)*"
    f"{_PUT}(?![了啦])(?:{PARTICLE}|{POLITE})*+(?P<more>:)?(?(more)|(?=[{STOP}]|$))"
)
_BELOW = LazyPattern("(?:以下|下面|这|接下来)")
_FILED = LazyPattern("[保储]存|存|写下")
"""Also what is done with files: only facts, never 这个."""
_ALONE = f"(?:{PARTICLE}|,? ?{POLITE}|@?{NAME}+)*+"
_TAIL_REMEMBER = LazyPattern(
    f"(?:(?P<strong>{zh.FOR} ?{zh.NOTE}{zh.NOT_NOTED}|记一[下记]|记下来(?!了)|存一下|存下(?!来|了)|存好|[^{STOP}]{{0,8}}惠存|记得(?:存"
    f"|[保储]存)(?:一下|好|下)?|(?:存|记"
    "|[保储]存|更新)(?:一下|下|好)(?:我的?|这个|一下)*新?(?:号码?|手机号码?|电话(?:号码)?|联系方式|邮箱|地址)|(?<=请)[保储]存(?:一下|好)?"
    f"|[保储]存一下|记录一下|{zh.PLACED}|{p.latin(en.TAIL_SAVE)})"
    "|(?P<weak>给我记[住着牢好]|记住(?![了没])|记下(?!了)|记着|记牢|记好(?!了)|记起来(?!了)|(?<=请)记得|remember (?:this|it|that)(?![a-z]))"
    "|(?P<fact>(?:给我)?记[住好牢](?:了|了?没有?)(?!吗)|要?记[得着]点?|记(?:进去|上)|[别唔]好?唔记得|(?:别|不要|莫|勿|不能)忘(?:[了记掉啦咯]+)?"
    f"|{p.latin(en.TAIL_REMEMBER)}))"
    f"(?:这个|这些|这件?事|此事|位置|地点|时间|日期|一下)?{_ALONE}(?P<more>,(?![。\\n]|$))?"
    r",?(?P<asked>\?)?(?(more)|(?=[。\n]|$))"
)
"""After the content; only a strong one, or one after a plain fact, may be followed by more of the sentence."""
_RUN_ON = LazyPattern(
    f"(?P<c>(?:我(?!们|记|会|要|想|得|没|已|应|也|都)|俺|my |i'm |i )[^{STOP}]{{2,80}}?)(?P<topic>这件事情?|这事儿?|这点)? ?"
    f"(?P<ask>请|麻烦|拜托|希望|你|您|一定|千万|要|务必|也|先|再|得)*"
    f"(?:(?P<strong>{zh.FOR} ?{zh.NOTE}|记一下|记下来)|记[住着牢]|remember(?: that| it| this)?)(?!了){_ALONE}{END}"
)
_RUN_ON_NOT = LazyPattern("[会能没不他她都已把被让叫应得就才只想和跟的]$|(?:should|will|can|to|don't|must|might)$")
_THIS_NOTED = LazyPattern(
    f"(?:{p.POLITE}|@?{NAME}+|[ ,])*+(?P<d>{p.POINTING})(?:{POLITE}|{zh.ADDRESSEE}|{zh.ASKING}|[ ,]|也|都|就)*"
    f"(?:{zh.FOR} ?{zh.NOTE}|记一[下记]|记下来?|记住|记着|记起来|{zh.PLACED})(?:了(?=[!。]|$))?{_ALONE}(?:(?<=吗)\\?)?{END}"
)
_BACK_ONLY = LazyPattern(
    f"(?:{en.TAIL_SAVE}|do ?n[o']t forget (?:this|these)|remember (?:this|these|it)(?: for me)?)(?:{PARTICLE}"
    f"|{POLITE}|@?{NAME}+)*+[。? ]*$"
)
_THIS_NP = LazyPattern("[这那](?:一?[个条件段句])[^是在叫有要不,0-9]{1,3}")
_WEIGHTY = LazyPattern(
    "[这那]一?(?:个|条|点|句|件)[^,0-9]{0,6}(?:很|太|非常|特别|最)?(?:重要|关键|要紧|有用)|this is (?:very |really |so )?important"
)
"""这个很重要 tells only that something before it is worth keeping."""
_ONLY_WEIGHTY = LazyPattern(
    "[这那]一?(?:个|条|点|句|件|些)?(?:事情?|话|信息)?(?:真的|对我(?:来说)?|也)?(?:很|太|非常|特别|最|挺|十分|超)?(?:重要|关键|要紧|有用)的?"
)
"""我对花生过敏，帮我记一下，这很重要: it follows the wish, and what is to be kept stands before it."""
_FOR_LATER = LazyPattern("for (?:me|later|next time|future|the future)")
_TO_LISTENER = LazyPattern(r"\b(?:you|your|it's good|these|those)\b")
_ACKNOWLEDGED = LazyPattern("好|嗯|哦|行|ok|对|是")
_ASKS_MORE = LazyPattern("[帮找订查]|推荐|想要?(?:找|去|问)|多少|哪")


def opens(place: Place) -> bool:
    """Whether a wish to keep begins here; what follows may still not be a fact."""
    return _REMEMBER.match(place.shape, place.at) is not None


def keeping(place: Place) -> tuple[Found, ...]:
    """The wish to keep something that stands at this place, one for each fact; none in doubt."""
    if not _SURE.search(place.shape, place.start, place.start + 400):
        return ()
    if p.OF_ONESELF.search(place.lead) and not p.CAN_WE.search(place.lead):
        return ()
    found = _pointed(place) or _kept(place) or _remember(place) or _tail(place) or _run_on(place)
    if found is None or found.content is None:
        return (found,) if found else ()
    spans = items(place.shape, *found.content)
    if len(spans) == 1:
        spans = facts(place.shape, *found.content)
    return tuple(
        Found("remember", found.start if not n else found.end, found.end, span) for n, span in enumerate(spans)
    )


def _pointed(place: Place) -> Found | None:
    """这个你记一下: what to keep was said before."""
    for at in {place.start, place.at}:
        if match := _THIS_NOTED.match(place.shape, at):
            return _back(place, match.end())
    return None


def _back(place: Place, end: int) -> Found:
    """What stands before in the message, or the message before."""
    told = before(place, strong=True)
    return Found("remember", told[0] if told else place.start, end, told)


def _kept(place: Place) -> Found | None:
    """把…记下来: the content stands before the verb."""
    match = _KEEP_THIS.match(place.shape, place.at)
    if not match or p.QUESTION.search(match["c"]):
        return None
    if p.DEICTIC.fullmatch(match["c"]):
        return None if _FILED.match(match["put"]) and "记忆" not in match["put"] else _back(place, match.end())
    a, b = match.span("c")
    if match["more"]:
        b = extent(place.shape, match.end(), False)[0]
        a = match.end() if _BELOW.match(match["c"]) else a
        return Found("remember", place.start, b, (a, b)) if b > match.end() else None
    if p.MINE.search(match["c"]) or QUOTED in match["c"] or tells(match["c"]):
        return Found("remember", place.start, match.end(), (a, b))
    return None


def _remember(place: Place) -> Found | None:
    shape = place.shape
    match = _REMEMBER.match(shape, place.at)
    intro = _INTRO.match(shape, match.end()) if match else None
    if not match or not intro:
        return None
    kind = cast(Kind, match.lastgroup)
    if kind in ("weak", "strong") and shape.startswith("。", intro.end()) and not _after(place, intro.end()):
        return None
    if kind == "weak" and (_ANNOUNCED.search(intro[0]) or (":" in intro[0] and p.MINE.search(shape, intro.end()))):
        kind = "strong"
    a = intro.end()
    if shape.startswith("。", a):
        a, kind = a + len(shape[a:]) - len(shape[a:].lstrip("。 ")), "fact"
    if (shape.startswith("\n", a) and ":" in intro[0]) or (
        "the following" in match[0] or (match[0].startswith("remember the") and shape.startswith(":", match.end()))
    ):
        a += len(shape[a:]) - len(shape[a:].lstrip("。:, \n"))
        return Found("remember", place.start, len(shape), (a, len(shape)))
    b, end = extent(shape, a, place.asked)
    body = shape[a:b]
    if p.DEICTIC.fullmatch(body) or _ONLY_WEIGHTY.fullmatch(body) or (kind == "strong" and _THIS_NP.fullmatch(body)):
        return _this(place, match, body, end)
    if kind == "told" and (_ACKNOWLEDGED.search(place.lead) or _ASKS_MORE.search(shape, b) or "?" in shape[b:]):
        return None
    firmly = p.FIRMLY.search(place.lead) is not None
    if (
        b <= a
        or not worth(body, kind, "," in intro[0], firmly)
        or not (firmly or kind == "strong" or _opening(place, body))
    ):
        return None
    listed = list_end(shape, a)
    return Found("remember", place.start, max(end, listed), (a, max(b, listed)))


def _after(place: Place, at: int) -> bool:
    """记住！我只喝热水: whether nothing but the wish stands before the stop, so that what follows is meant."""
    return p.NOTHING_LEFT.fullmatch(place.shape, 0, place.start) is not None and len(place.shape) > at + 1


def _opening(place: Place, body: str) -> bool:
    """Whether nothing is argued before it in the sentence; in English "…, remember that …" is discourse."""
    begin = max(place.floor, *(place.shape.rfind(stop, 0, place.start) + 1 for stop in "。?\n"))
    return p.CJK.search(body) is not None or p.NOTHING_LEFT.fullmatch(place.shape, begin, place.start) is not None


def _this(place: Place, match: re.Match[str], body: str, end: int) -> Found | None:
    """记住这个, remember this: put as a question of ability, or with 我的话, it asks for nothing."""
    forgetful = match.lastgroup in ("fact", "told") and body != "this"
    if forgetful or (match.lastgroup == "weak" and place.asked and not _FOR_LATER.search(place.shape, place.at)):
        return None
    back = _back(place, end)
    if back.content is None and body in ("我的话", "我说的话", "我说的"):
        return None
    return back


def _tail(place: Place) -> Found | None:
    """…，记住哦: the content stands before the command."""
    match = _TAIL_REMEMBER.match(place.shape, place.at)
    if not match:
        return None
    if match["asked"] and not (place.asked or match[0].rstrip("?").endswith(("ok", "吗", "me"))):
        return None
    told = before(place, strong=match["strong"] is not None)
    if told is None:
        if match["strong"] and _WEIGHTY.search(place.shape, max(place.floor, place.start - 30), place.start):
            return Found("remember", place.start, match.end())
        alone = not p.CJK.search(match[0]) and _BACK_ONLY.match(place.shape, place.at)
        return Found("remember", place.start, match.end()) if alone and (not place.asked or match["strong"]) else None
    part = place.shape[told[0] : told[1]]
    if _WEIGHTY.fullmatch(part):
        return Found("remember", told[0], match.end())
    sure = match["strong"] is not None or plain(part)
    if ((match["fact"] or match["more"]) and not sure) or (match["more"] and not p.CJK.search(part)):
        return None
    if not p.CJK.search(part) and _TO_LISTENER.search(part):
        return None
    apart = re.search(r"[。\n]", place.shape[told[1] : place.start])
    if apart and not sure:
        return None
    return Found("remember", told[0], match.end(), told)


def _run_on(place: Place) -> Found | None:
    """我老家在洛阳你记一下: no break between the fact and the command."""
    match = _RUN_ON.match(place.shape, place.at)
    if not match or p.QUESTION.search(match["c"]) or _RUN_ON_NOT.search(match["c"].rstrip()):
        return None
    asked = match["strong"] or match["ask"] or match["topic"]
    if not (plain(match["c"]) or (asked and tells(match["c"]) and "你" not in match["c"])):
        return None
    return Found("remember", place.start, match.end(), match.span("c"))
