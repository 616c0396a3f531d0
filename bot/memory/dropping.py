"""Reads a wish to forget, not to store, or to undo. It finds no memory: it says what was asked for."""

import re

from bot.memory import patterns as p
from bot.memory.patterns import END, PARTICLE, POLITE, STOP
from bot.memory.reading import Found, Place
from bot.text.lazy import LazyPattern
from bot.types.memory import Verb

_AFTER = rf"(?:{PARTICLE}|{POLITE})*+{END}"
_NUMBERED = LazyPattern(
    "[/.]?(?:(?P<forget>忘记|忘掉|忘了|forget(?: about)?(?: memory)?"
    "|(?:删掉|删除|delete|remove)(?= ?(?:#|[0-9]+ ?号|记忆|memory)))"
    "|(?P<undo>撤[销消回]|复原|恢复|还原|undo|restore)) ?"
    rf"(?:号码?|no\.? ?|记忆|memory)? ?#?(?P<number>[0-9]{{1,9}})(?: ?[号条])?(?:记忆)?{_AFTER}"
)
_FOREVER = LazyPattern("彻底|永久|permanently")
_FOREVER_DROP = LazyPattern(f"[^{STOP}]{{0,200}}?(?:彻底|永久)[忘删清]")
_UNDO = LazyPattern(f"[/.]?(?:撤[销消]|复原|undo(?: (?:that|it|this))?)(?:一下)?{_AFTER}")

_STUFF = f"[^{STOP}]{{1,200}}?"
_OFF = "(?:这件事|那件事|这[条个]|那[条个]|的?这[条个]?记忆|的?那[条个]?记忆|的?记忆|的事情?|这回事)?"
_DONE = "(?:吧|吗|好吗|可以吗|好不好|行吗|了|掉|啦|哦|喔|嘛|一下| )*?"
_DROP = "(?:彻底|永久)?(?:忘[记掉了]掉?|忘|删[掉除了]|删|清[掉除]|移除|抹掉)"
_FORGETS = tuple(
    LazyPattern(f"(?:{pattern}){END}")
    for pattern in (
        # everything, or a stored id of another kind
        "把?你?(?:记得|记住|知道)的?(?:所有)?关于我的(?:一切|所有|事情?)(?:都|全部?)*" + _DROP + _DONE,
        "(?:清[空除]|删[掉除])(?:你)?(?:对我的|关于我的|我的)?(?:所有|全部|一切)的?记忆" + _DONE,
        "(?:麻烦)?(?:把)?第[一二三四五六七八九十0-9]+条记忆"
        + _DROP
        + _DONE
        + "|(?:删[掉除]|忘[记掉])第[一二三四五六七八九十0-9]+条(?:记忆)?"
        + _DONE,
        r"(?:erase|delete|forget|wipe|clear) (?:everything|all)(?: (?:that )?you (?:know|remember)(?: about me)?"
        r"| about me| my memories| memories)",
        "忘[记掉]掉?(?:所有|一切)?(?:关于我的)(?:一切|所有|事情?)" + _DONE,
        # 删掉那条, 把这个忘掉, 别记这个, 取消刚才记住的东西
        "(?:删[掉除]|忘[掉记]|清掉)(?:刚才|刚刚)?(?:的)?[这那上](?:一)?[条](?:记忆)?" + _DONE,
        "把(?:刚才|刚刚)?[这那上](?:一)?[条个件](?:记忆|事)?" + _DROP + _DONE,
        "(?:刚才|刚刚|上面|之前)?(?:说的|那[个条]|这[个条])(?:话|东西)?(?:别|不要|不用)(?:帮我)?记了?" + _DONE,
        "(?:别|不要|不用)(?:帮我)?记(?:住|下来?|着)?[这那](?:个|条|些|句话?)?" + _DONE,
        "取消(?:刚才|刚刚)?记住?的(?:东西|内容|那条)?" + _DONE,
        r"(?:delete|remove|erase|forget) (?:that|this|the last) memory",
        # with a content
        f"(?:删[掉除]|清[掉除])这?那?条?记忆[: ]+(?P<c>{_STUFF})" + _DONE,
        f"(?:删[掉除]|清[掉除])(?:关于|有关)?(?P<c>(?:我|关于我)(?!(?:对|的)?(?:所有|全部)){_STUFF})(?:的那条"
        f"|的这条|那条|这条|的)(?:记忆|记录)" + _DONE,
        f"(?:真的)?把(?P<c>{_STUFF})(?:那条|这条|的)?(?:从(?:你的)?)?记忆里?(?:中)?" + _DROP + _DONE,
        f"(?:真的)?把(?P<c>我{_STUFF}){_OFF}忘(?:掉|了吧|记|了(?=好吗|可以吗))" + _DONE,
        f"我(?:之前|刚才|刚刚)?(?:让|叫|请)你记(?:住|下)?的(?P<c>{_STUFF})(?:可以|就)?忘[掉记]了?" + _DONE,
        f"(?P<c>我{_STUFF}){_OFF}可以(?:忘[掉记]?了?|删掉了?)" + _DONE,
        f"取消记住(?P<c>{_STUFF})" + _DONE,
        f"(?:别|不要|不用|不必|甭|唔好)再?(?:帮我)?记(?:住|着|下|著|录)?(?:关于)?(?P<c>(?:我|关于我|我嘅)(?!了|们"
        f"|$){_STUFF}){_OFF}{_DONE}",
        f"[/.](?:忘记|forget) ?(?P<c>{_STUFF})" + _DONE,
        f"(?:忘记|忘掉|忘了(?={_STUFF}吧{END})|forget ?掉)(?:掉)?(?:关于|有关)? ?(?P<c>{_STUFF}){_OFF}{_DONE}",
        r"(?:forget|unremember)(?: about)?(?: that| about)? (?P<c>(?:i|i'm|i've|my|our|we|what i|the (?:thing"
        r"|part) (?:about|where) (?:i|my)|"
        rf"(?<=unremember )\w+)\b{_STUFF})",
        rf"stop remembering(?: that| about)? (?P<c>{_STUFF})",
        rf"(?:delete|remove|erase|drop|wipe) (?P<c>{_STUFF}) from (?:your |the )?memor(?:y|ies)",
        rf"do ?n[o']t (?:remember|save|keep|store) (?P<c>my {_STUFF})(?: (?:in|to) (?:your )?memory)?",
    )
)
_FORGETTABLE = LazyPattern(
    "我(?!们|吧|好吗|了|是谁|就|真|也|都|还|,|$)|刚[刚才]|之前|关于|有关|旧|老地址|以前的|那[条个件].*(?:记忆"
    "|地址|号码|密码)|[^,]*[这两三]条$"
    "|[^,]*(?:在[a-z0-9]|住址|地址|号码|密码|生日|名字|学号|工号)"
)
_NOT_FORGETTABLE = LazyPattern(
    "#|.*(?:怎么|了?吗$|什么|为什么|如何|干嘛)|(?:烦恼|过去|痛苦|不开心|一切|悲伤|伤|自己|他|她|你|吧|了|带|跟|说"
    "|告诉|邀请|密码(?:$|了|怎))"
    r"|my (?:previous |last )?(?:command|message|question|request|password|order)|.*(?:的生日了|的名字了)$"
)


def dropping(place: Place) -> Found | None:
    """The wish to forget or to undo that stands at this place, or None; doubt means None."""
    return _numbered(place) or _forget(place)


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
    for pattern in _FORGETS:
        match = pattern.match(place.shape, place.at)
        if not match:
            continue
        if "c" not in pattern.groupindex or not match["c"]:
            return Found("forget", place.start, match.end())
        return _forgotten(place, match)
    return None


def _forever(place: Place) -> bool:
    """Whether nothing is to stay for an undo (彻底忘记)."""
    return bool(_FOREVER.search(place.lead) or _FOREVER_DROP.match(place.shape, place.at))


def _forgotten(place: Place, match: re.Match[str]) -> Found | None:
    a, b = match.span("c")
    body = place.shape[a:b].strip()
    plain = place.shape.startswith(("忘", "forget"), place.at)
    chinese = p.CJK.search(body) is not None
    question = place.shape[match.end() : match.end() + 1] == "?" and not place.asked
    if p.DEICTIC.fullmatch(body):
        return Found("forget", place.start, match.end())
    if question or _NOT_FORGETTABLE.match(body) or p.QUESTION.search(body):
        return None
    if plain and chinese and (place.lead.strip(" ,").endswith("你") or not _FORGETTABLE.match(body)):
        return None
    return Found("forget", place.start, match.end(), (a, b), forever=_forever(place))
