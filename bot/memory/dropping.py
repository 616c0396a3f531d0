"""Reads a wish to forget, not to store, or to undo. It finds no memory: it says what was asked for."""

import re

from bot.memory import patterns as p
from bot.memory.patterns import END, PARTICLE, POLITE, STOP
from bot.memory.reading import Found, Place
from bot.memory.wording import chinese as zh
from bot.memory.wording import english as en
from bot.text.lazy import LazyPattern
from bot.types.memory import Verb

_SURE = LazyPattern(
    "[忘删清抹撤销除]|wipe|clear|复原|恢复|还原|去掉|不要了|no longer|取消|作废|[别要用必许好使甭勿准][^,。?\n]{0,40}[记存收留]|undo|restore|forget|memor|remember"
    "|delete|remove|erase|drop|scratch|do ?n[o']t|do not|need to|no need"
)
_AFTER = rf"(?:{PARTICLE}|{POLITE})*+{END}"
_NUMBERED = LazyPattern(
    "[/.]?(?:(?P<forget>忘记|忘掉|忘了|forget(?: about)?(?: memory)?"
    "|(?:删掉|删除|delete|remove|erase)(?= ?(?:#|[0-9]+ ?号|编号|记忆|memory)))"
    "|(?P<undo>撤[销消回]|复原|恢复|还原|undo|restore)) ?"
    rf"(?:编?号码?|number ?|no\.? ?|记忆|memory)? ?#?(?P<number>[0-9]{{1,9}})(?: ?[号条])?(?:的?记忆)?{_AFTER}"
)
_FOREVER = LazyPattern("彻底|永久|permanently|for good")
_FOREVER_DROP = LazyPattern(f"[^{STOP}]{{0,200}}?(?:彻底|永久)[忘删清]")
_UNDO = LazyPattern(f"[/.]?(?:撤[销消]|复原|undo(?: (?:that|it|this))?)(?:一下)?{_AFTER}")

_STUFF = f"[^{STOP}]{{1,200}}?"
_D = zh.DONE + END
_E = rf"(?:[ ,]?(?:{en.POLITE}|now|anymore|any more|any longer|too|again|permanently|for good|right away|lol|@?{p.NAME}+)(?![a-z]))*(?=[ ]?(?:[{STOP}:]|$)| and | but )"
_OFF = zh.TAIL_OFF
_WHICH = "(?:刚刚?才?|上面|之前|前面|上一|最近|那|这|呢)"
_LAST = f"(?:(?:我)?(?:刚刚?才?|上面|之前|前面)(?:说|讲|发|记|存|记住|提到)?过?的?(?:那|这)?一?(?:条|句话?|个|段话?|件事?|些)?|{_WHICH}一?条)(?:记忆|记录|话|内容|消息|东西|备忘)?|{_WHICH}一?[个件]?(?:记忆|备忘|记录)|(?:这|那)(?:件事|个)"
_ONE = f"(?:(?:我)?{_WHICH}(?:说|讲|发|记|存|记住|提到)?过?的?(?:那|这)?一?(?:条|句话?|个|段话?|件事?|些)?(?:记忆|记录|话|内容|消息|东西|备忘)?)"
_NOT_TO = "(?:别|不要|不用|不必|不许|不准|不可以|请勿|勿|甭|莫|唔好|唔使|无需|不需要)(?:再|帮我|给我|替我|去|也|都|把)*"
_NOTED = "(?:记(?:住|着|低|下来?|录(?:下来)?|在(?:记忆里|心里?)?)?|存(?:下来?|住|起来|进(?:你的)?记忆里?)?|保存|储存|收集|保留|留存)"
_EVERYTHING = tuple(
    LazyPattern(f"(?:{pattern})")
    for pattern in (
        f"把?(?:你)?(?:(?:对我|关于我|我|你)的?)?(?:所有|全部|一切)的?(?:关于我的|我的)?(?:记忆|记录)(?:都|全部?|通通)*{zh.DROP}{_D}",
        f"把?你?(?:记得|记住|知道|记)的?(?:所有|一切)?(?:关于)?(?:我)?的?(?:一切|所有|全部|事情?|东西)?(?:都|全部?|通通)+{zh.DROP}{_D}",
        f"把?你?(?:记得|记住|知道)的?(?:所有|一切)?关于我的(?:一切|所有|全部|事情?|东西)(?:都|全部?|通通)*{zh.DROP}{_D}",
        f"(?:清[空除掉]|删[掉除光]|抹[去掉除]|忘[记掉])(?:掉)?(?:你)?(?:对我的|关于我的|我的|你的)?(?:所有|全部|一切)的?(?:关于我的)?(?:记忆|记录|事情?){_D}",
        f"(?:清[空除掉]|删[掉除]|抹[去掉除])(?:你)?(?:对我|关于我)的(?:记忆|印象){_D}",
        f"忘[掉记]我(?:跟你|和你)?(?:说|讲|聊)过?的?(?:所有|一切|全部)的?(?:话|事情?|东西|内容)?{_D}",
        f"(?:清空|重置)(?:你)?(?:对我的|关于我的|我的|你的)?记忆{_D}",
        f"忘[记掉]掉?(?:所有|一切)?关于我的(?:所有|一切|全部)?(?:一切|所有|全部|事情?|东西)?{_D}",
        r"(?:erase|delete|forget|wipe|clear|remove) (?:everything|all|anything)(?: of)?(?: (?:that )?you(?:['’]ve| have)? "
        r"(?:have|know|remember|stored?|saved?|learned|got)(?: (?:about|on|of) me)?| about me)" + _E,
        rf"(?:erase|delete|forget|wipe|clear|remove|reset)(?: all| all of)?(?: (?:my|your|the|of my))? (?:memories|memory)(?: (?:of|about) me)?{_E}",
    )
)
"""Which means all of them; never carried out without asking back."""
_POINTED = tuple(
    LazyPattern(f"(?:{pattern})")
    for pattern in (
        f"(?:把)?第[一二三四五六七八九十0-9]+条(?:记忆|记录)?{zh.DROP}{_D}|(?:删[掉除]|忘[记掉])第[一二三四五六七八九十0-9]+条(?:记忆|记录)?{_D}",
        f"(?:删[掉除了]|忘[掉记]|清掉|抹掉|去掉|撤[回销]|取消)(?:掉)?(?:{_LAST}){_D}",
        f"取消{_WHICH}的?(?:记忆|记录|记住?的(?:东西|内容|那条)?){_D}",
        f"[把将](?:{_LAST})(?:从(?:你的)?记忆(?:里|中))?{zh.DROP}{_D}",
        f"{_ONE}{_NOT_TO}{_NOTED}了?{_D}",
        f"(?:以上|上述)(?:的?(?:内容|信息|话|对话))?{_NOT_TO}{_NOTED}了?{_D}",
        f"(?:{_LAST})(?:记忆)?(?:不要了|不用留了|作废){_D}",
        "forget (?:about )?(?:the|my|that) (?:old|previous|last|other) one" + _E,
        f"{_NOT_TO}(?:{_NOTED})[这那呢](?:个|条|些|段(?:话)?|句话?|一?[条句]|件事?|样嘢)?{_D}",
        f"删除(?:记忆|备忘) ?[a-z]+[_-][0-9a-z]{{3,16}}{_D}",
        r"(?:delete|remove|erase|forget|drop|scratch)(?: (?:that|this|the)(?: last| previous| latest)?)? (?:memory|memories|note about that)" + _E,
        rf"{en.DROP} (?:that|this|it|the last (?:one|thing|memory|note)) (?:from|off|out of) (?:your |the )?{en.STORED}{_E}",
        r"forget (?:what|everything|all) i(?:['’]ve| have)?(?: just)? (?:said|told you|wrote|sent|mentioned)" + _E,
        r"forget (?:that|this|the) last (?:thing|bit|part|message|one|memory)(?: i said)?" + _E,
        rf"(?:do ?n[o']t|do not|never|no need to|(?:you )?(?:do ?n[o']t|do not) (?:need|have) to) {en.KEEP_NOT} (?:this|that|it|these|those)(?: one)?(?: down)?"
        rf"(?: (?:in|to) (?:your |the )?{en.STORED})?{_E}",
    )
)
"""Which means something said before."""
_NAMED = tuple(
    LazyPattern(f"(?:{pattern})")
    for pattern in (
        f"(?:删[掉除]|清[掉除]|忘[记掉])(?:这|那)?一?条?记忆[: ]+(?P<c>{_STUFF}){_D}",
        f"(?:删[掉除了]|清[掉除]|抹[掉去除]|移除|去掉)(?:关于|有关)?(?:你)?(?P<c>(?:我|关于我)(?!(?:对|的)?(?:所有|全部)){_STUFF})(?:的?那一?[条件个点](?:事)?"
        f"|的?这一?[条件个点](?:事)?|的)?(?:的?(?:相关)?记忆)(?:里的)?{_D}",
        f"(?:删[掉除了]|清[掉除]|抹[掉去除]|移除|去掉)(?:你)?(?:记[住下]?的|存的|知道的)?(?:关于|有关)(?P<c>{_STUFF})的?(?:那一?条|这一?条|相关)?(?:记忆|记录|信息|内容|东西|事情?){_D}",
        f"(?:删[掉除了]|清[掉除]|抹[掉去除]|移除|去掉)(?P<c>(?:我|关于我){_STUFF}(?:记录|信息|资料|{zh.PERSONAL})){_D}",
        f"(?:删[掉除了]|清[掉除]|抹[掉去除]|移除|去掉)(?P<c>{_STUFF})(?:那一?[条点](?:记忆|记录)?|这一?[条点](?:记忆|记录)?){_D}",
        f"从(?:你的)?(?:记忆|备忘录?)(?:里|中|库)*(?:面)?{zh.DROP}(?P<c>{_STUFF}){_OFF}{_D}",
        f"[把将](?:你的?)?(?:记忆|备忘录?)(?:里|中|库)+(?:面)?(?:关于|有关)?的?(?P<c>{_STUFF}){_OFF}{zh.DROP}{_D}",
        f"[把将](?:关于|有关)?(?P<c>{_STUFF})(?:那一?条|这一?条|的)?(?:从(?:你的?)?)?(?:记忆|脑子|备忘录?)(?:里|中|库)*(?:面)?{zh.DROP}{_D}",
        f"[把将](?P<c>(?:我|关于我|之前|以前|旧){_STUFF}){_OFF}(?:都|给|帮我|全部?)*(?:忘(?:掉|了吧|了(?=$|[,。?])|记|了(?=好吗|可以吗))|作废){_D}",
        f"[把将](?P<c>(?:我|关于我)(?!的?(?:照片|图片|文件|视频)){_STUFF}){_OFF}(?:都|给|帮我|全部?)*(?:删[掉除了]?|清[掉除]|抹[掉去]|移除){_D}",
        f"[把将](?P<c>{_STUFF})(?:那一?[条件](?:事|记忆|记录)?|这一?[条件](?:事|记忆|记录)?)(?:都|给|帮我|全部?)*{zh.DROP}{_D}",
        f"(?:关于|有关)(?P<c>我{_STUFF}){_OFF}(?:你)?(?:请|可以|就|都|麻烦|帮我|能不能)*{zh.DROP}{_D}",
        f"[把将](?P<c>[^{STOP}]{{0,12}}?(?:{zh.PERSONAL})){_OFF}(?:都|给|帮我|全部?)*忘(?:掉|了吧|记)(?:了|吧|啊|哦|好吗| )*{END}",
        f"我?(?:之前|刚才|刚刚|以前|上次|上回|昨天)?(?:让|叫|请)你记(?:住|下|着)?的(?P<c>{_STUFF})(?:可以|请|就|都)*{zh.DROP}{_D}",
        f"我?(?:之前|刚才|刚刚|以前)(?:跟你|和你|告诉你)?(?:说|讲|提)过?的?(?P<c>{_STUFF}){_OFF}(?:可以|请|就|都|麻烦)+{zh.DROP}{_D}",
        f"(?:之前|刚才|刚刚|以前)(?:说|讲|提|记)过?(?:的)?(?P<c>(?:我)?{_STUFF})(?:那|这)一?[条件句个](?:事|话|记忆)?(?:可以|请|就|都|麻烦)*{zh.DROP}{_D}",
        f"(?P<c>我(?!们?(?:可以|能|会|要|想|都|已经|已|就|不|也|真|昨|今|刚才|又|还)){_STUFF}){_OFF}(?:可以|麻烦|你就|就)+(?:忘[记掉]?了?|删掉?了?|清掉了?){_D}",
        f"(?P<c>(?:我?的?旧|原来的?|以前的?|老)[^{STOP}]{{0,12}}?)(?:就|可以|都|请|帮我|麻烦)+(?:忘[记掉了]|删[掉除了]?|清[掉除]|作废)+{_D}",
        f"(?P<c>我(?!们|知道|说|真|都|也|就|不|会|要|想){_STUFF}){_OFF}(?:你)?{_NOT_TO}{_NOTED}(?!得)了?{_D}",
        f"取消记住?(?P<c>{_STUFF}){_D}",
        f"{_NOT_TO}(?:把)(?P<c>{_STUFF})(?:给)?{_NOTED}{_D}",
        f"{_NOT_TO}{_NOTED}(?:关于)?(?P<c>(?:我|关于我|我嘅)(?!了|们(?!的)|的?话$|$|这个人$|仇|恨|的?过(?:错|失)?$){_STUFF}|[那这]个{_STUFF}(?=了)){_OFF}{_D}",
        f"[/.](?:忘记|忘掉|forget) ?(?P<c>{_STUFF}){_D}",
        f"如果你?记了(?P<c>我{_STUFF}),(?:就|请)*(?:删|忘)[掉除了]*{_D}",
        f"(?:忘记|忘掉|(?<=请)忘了|忘了(?={_STUFF}(?:吧|那[条个件]|这[条个件事]|的事){zh.DONE}{END})|forget ?掉)(?:掉)?(?:关于|有关)? ?(?P<c>{_STUFF}){_OFF}{_D}",
        rf"(?:un-?remember|forget|forgot)(?: about)?(?: that| about)?(?: (?:the|that) (?:thing|part|fact|bit|stuff)(?: i told you| i said)? (?:about|where|that))? (?P<c>(?:i|i'm|im|i've|i'd|my|our|we|what i|everything (?:about|i)"
        rf"|the [^{STOP}]{{1,40}} (?:i|you|we)|the (?:thing|part|fact|bit) (?:about|where|that)? ?(?:i|my)|(?<=remember )\w+)(?![a-z]){_STUFF}){_E}",
        rf"(?:un-?remember) (?P<c>{_STUFF}){_E}",
        rf"stop (?:remembering|storing|saving|keeping|recording|tracking|logging)(?: that| about)? (?P<c>{_STUFF}){_E}",
        rf"{en.DROP} (?:the )?(?:fact |info(?:rmation)? |data )?(?:that )?(?P<c>{_STUFF}) (?:from|off|out of) (?:your |the )?{en.STORED}{_E}",
        rf"{en.DROP} (?:the |that |any )?(?:memory|memories|note|notes|entry|record|records|fact|(?:info|information|data|bit|part|everything)(?= (?:you have )?(?:about|on|of) (?:me|my|i)\\b))(?: you have)? "
        rf"(?:that|about|on|of|with|where) (?P<c>(?!it\b|this\b|that\b){_STUFF}){_E}",
        rf"(?:scratch|drop|ignore and forget|erase|delete) (?P<c>what (?:i (?:said|told you)|you (?:know|remember|have|stored|saved))(?: about)? {_STUFF}){_E}",
        rf"(?:do ?n[o']t|do not|never) {en.KEEP_NOT} (?:that )?(?P<c>(?:my|our|i|i'm|what i) ?{_STUFF}|[^{STOP}]{{1,40}}(?= (?:in|to) your memory))"
        rf"(?: (?:in|to) (?:your |the )?(?:memory|memories|database|notes))?{_E}",
        rf"i (?:do ?n[o']t|do not) want you to {en.KEEP_NOT} (?:that )?(?P<c>{_STUFF}){_E}",
        rf"(?:no need (?:for you )?to|(?:you )?(?:do ?n[o']t|do not) (?:need|have) to|(?:you )?no longer (?:need|have) to|(?:you can )?stop) {en.KEEP_NOT} (?:that )?(?P<c>(?:my|i|our|that|what)\b{_STUFF}){_E}",
    )
)
_TOLD_DROPPED = LazyPattern(r"(?:i told you(?: that)?|i said(?: that)?|you (?:know|remember)(?: that)?|you have it that) (?P<c>[^,。?\n]{2,80}), *$")
_DROP_IT = LazyPattern(rf"{en.DROP} (?:that|it|this) from (?:your |the )?(?:memory|memories|notes)")
_OLD_ONE = LazyPattern(f"(?:那个?|这个?|我的?)(?P<c>[^,。?\n]{{1,20}}?)(?:已经)?(?:换|改|变)了,$")
_OLD_GONE = LazyPattern("(?:旧的?|原来的?|以前的?|老的?)(?:那[条个])?(?:可以|就|请)*(?:删|忘|清)[掉除了]")
_FORGETTABLE = LazyPattern(
    "我(?!们|吧|好吗|了|是谁|就|真|也|都|还|,|$|这个人$|的好)|刚[刚才]|之前|关于|有关|旧|老地址|以前的|那[条个件].*(?:记忆|地址|号码|密码)"
    f"|[^,]*[这那两三][条点]$|[^,]*(?:在[a-z0-9]|{zh.PERSONAL})"
)
_NOT_FORGETTABLE = LazyPattern(
    "#|.*(?:怎么|了?吗$|什么|为什么|如何|干嘛)|(?:烦恼|过去|痛苦|不开心|一切|悲伤|伤|自己|他|她|你|吧|了|带|跟|说|告诉|邀请|密码(?:$|了|怎)"
    "|我爱|我们|所有人|那些|不愉快)"
    r"|(?:my|the) (?:previous |last |next )?(?:command|message|question|request|password$|order|existence|alarm|reminder|timer)|.*(?:的生日了|的名字了)$"
    r"|(?:i|we) (?:ever|even|sometimes|always|often|just|never|asked|was (?:ever|even)|mentioned it|said (?:that|it|anything))\b|my (?:head|keys|way|manners|place)\b"
)
_THING = LazyPattern(f".*(?:{zh.THINGS})")
_TOLD_OF_YOU = LazyPattern("(?:.*[ ,])?(?:你们?|都|就|you|always|never|i)")
"""你忘记我的生日了 tells."""
_ALL_OF_US = ("我", "我的", "关于我", "关于我的", "我们", "我们之间", "me")
_PART = LazyPattern("(?:(?!和|跟|与|、|以及).)+")
_DROPPED = LazyPattern(f"(?:请|就|帮我|麻烦|直接)*(?:删|忘|清|去)[掉除了](?:它)?{zh.DONE}{END}")
_THAT_ONE = LazyPattern(r"(?:^|[,。?\n ])(?P<c>[^,。?\n]{0,30}?)(?:刚才|的)?[这那]一?条(?:记忆|记录)?[^,。?\n]{0,12}, *$")
_TWO = LazyPattern("[^,]*(?:[两三四几]条|[两三四]件事)")


def dropping(place: Place) -> tuple[Found, ...]:
    """The wish to forget or to undo that stands at this place, one for each thing; none in doubt."""
    if not _SURE.search(place.shape, place.start, place.start + 400):
        return ()
    found = _numbered(place) or _forget(place)
    return _each(place.shape, found) if found else ()


def _numbered(place: Place) -> Found | None:
    if match := _NUMBERED.match(place.shape, place.at):
        verb: Verb = "forget" if match["forget"] else "undo"
        return Found(verb, place.start, match.end(), None, int(match["number"]), _forever(place))
    if match := _UNDO.match(place.shape, place.at):
        alone = p.NOTHING_LEFT.fullmatch(place.shape, 0, place.start) and p.NOTHING_LEFT.fullmatch(
            place.shape, match.end()
        )
        return Found("undo", place.start, match.end()) if alone else None
    return None


def _forget(place: Place) -> Found | None:
    for pattern in (*_EVERYTHING, *_POINTED):
        match = pattern.match(place.shape, place.at)
        if match and not _question(place, match):
            return _pointed(place, match)
    for pattern in _NAMED:
        if match := pattern.match(place.shape, place.at):
            return _named(place, match)
    return _replaced(place) or _dropped(place)


def _pointed(place: Place, match: re.Match[str]) -> Found:
    """那条; what it means may stand right before it in the same sentence."""
    told = _TOLD_DROPPED.search(place.shape, max(place.floor, place.start - 120), place.start)
    if told and _DROP_IT.match(place.shape, place.at):
        return Found("forget", told.start("c"), match.end(), told.span("c"), forever=_forever(place))
    return Found("forget", place.start, match.end(), forever=_forever(place))


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
    if not plain and body in _ALL_OF_US and not _question(place, match):
        return Found("forget", place.start, match.end(), forever=_forever(place))
    if p.DEICTIC.fullmatch(body):
        idle = _question(place, match) or (plain and body in ("它", "it", "that", "this", "them"))
        return None if idle else Found("forget", place.start, match.end())
    if _question(place, match) or (plain and _NOT_FORGETTABLE.match(body)) or p.QUESTION.search(body):
        return None
    if plain and not place.asked and not p.FIRMLY.search(place.lead) and _TOLD_OF_YOU.fullmatch(place.lead.strip(" ,")) and not match[0].rstrip().endswith("吧"):
        return None
    if plain and chinese and not _FORGETTABLE.match(body):
        return None
    if not plain and _THING.match(body) and "记忆" not in match[0]:
        return None
    return Found("forget", place.start, match.end(), (a, b), forever=_forever(place))


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
