"""Reads how someone wants to be called, and how no longer. Other people's names for them are no wish."""

import re

from bot.memory import patterns as p
from bot.memory.patterns import EDGE, END, NAME, STOP
from bot.memory.reading import Found, Place
from bot.memory.wording import chinese as zh
from bot.memory.wording import english as en
from bot.text.lazy import LazyPattern
from bot.types.memory import Verb

_SURE = LazyPattern("[叫喊称唤名]|go by|known as|when (?:you )?(?:talk|address)|call|address|refer|name|speak to me")
_CALL = f"(?:{zh.CALL}|call)"
_STOP_IT = f"(?:请?{zh.STOP}(?:你|您)?{zh.OVER})"
_WHO = f"(?P<name>[^{STOP}:]{{1,24}}?)"
_GOOD = (
    f"(?:吧|好了|就好|就行|就可以|就ok|就是|即可|得了|好吗|行吗|可以吗|好不好|or whatever|@?{NAME}+|[了啦拉吗 ]|{p.PARTICLE}|谢谢)*"
    f"(?={EDGE}|叫我|别叫我|不要叫我|喊我|我(?:就)?(?:拉黑|生气|不理|跟你)|(?<=[拉啦了吧哦呀嘛] ))"
)
_AS = zh.AS
_WORDS = rf"(?P<name>[^{STOP}: ]{{1,24}}(?: [^{STOP}: ]{{1,24}}){{0,2}}?)"
_WELL = (
    r"(?: (?:from (?:now|here|today) on(?: out)?|please|pls|ok|okay|instead(?: of .{1,20})?|any ?more|any longer|again|now|thanks|thank you|or whatever|lol"
    r"|for me|when (?:you (?:talk|speak|write|address)|talking|speaking|addressing)(?: to)?(?: me)?|then|will you|would you|alright|if you (?:can|would|do ?n[o']t mind)"
    r"|ever|right|going forward|too|at least))*"
    rf"(?=[ ]?[{STOP}:]| and | but | so | because |$)"
)
_REVOKES = tuple(
    LazyPattern(pattern)
    for pattern in (
        f"{_STOP_IT} ?(?:这么|这样子?|那么|那样子?|咁)(?:地)?{_CALL}(?:我|了|人)?{_GOOD}",
        f"{zh.STOP}(?:再|老|总)*(?:这么|这样|那么|那样){_CALL}(?:我|了)?{_GOOD}",
        f"{en.STOPPING} (?:call(?:ing)?|address(?:ing)?|refer(?:ring)? to) me (?:that|this|it|like that)(?: name| again| anymore| any more| please)*(?= |{EDGE})",
        f"{_STOP_IT} ?{_CALL} ?{zh.ME}{_AS} *{_WHO}{_GOOD}",
        f"{zh.STOP}(?:再)?一口一个{_WHO}[地的]?(?:{_CALL})?(?:我|的)?{_GOOD}",
        f"{_STOP_IT} ?(?:管|把|称)我(?:叫成|喊成|当成|叫做?|喊作?|称为|称作|为)? *{_WHO}{_GOOD}",
        f"{_STOP_IT} ?用 ?{_WHO}(?:这个?(?:称呼|名字))?(?:来)?(?:称呼|叫|喊)我{_GOOD}",
        f"{_STOP_IT} ?在?我的?名字(?:的)?(?:前|后)[面边头]?(?:再)?加(?:上)?(?:个)? *{_WHO}{_GOOD}",
        f"(?:我|(?=不想再?被|讨厌被|不要再?被))(?:真的|很|可|最|实在)*(?:不想|不喜欢|不要|不愿意?|不爱|讨厌|受不了|反感|烦)(?:再|别人|大家|你|人家|总|老)*(?:被(?:人|你|别人|大家)?)?(?:再)?{_CALL}(?:我)?(?:为|作|成|做)? ?{_WHO}{_GOOD}",
        f"再{_CALL}我{_WHO}(?:的话)?,?(?:我(?:就|可|会|真|跟|和|要|拉|不理|生气)|就)",
        f"(?:这个?|那个?)(?:称呼|名字|叫法|外号|昵称)(?:请|以后|就|我不喜欢,?)*{zh.STOP}(?:再|老)*(?:用|{_CALL})(?:我)?了?{_GOOD}",
    )
)
_TOPIC = LazyPattern(
    rf"(?P<name>[^{STOP}:的]{{1,12}}?)(?:这个?(?:称呼|名字|叫法|外号|昵称)|这种(?:称呼|叫法)|什么的|这俩字)(?:我(?:真的|很|一点都)?(?:不喜欢|讨厌|受不了)|(?:以后)?(?:就)?),?"
    f"(?:请|以后|就|你)*{zh.STOP}(?:再|老)*(?:{_CALL}|用)(?:我)?了?{_GOOD}"
)
"""阿姨这个称呼我不喜欢，别叫了: the name comes first."""
_NO_MORE = LazyPattern(f"(?:请|以后|就|你|都)*{zh.STOP}(?:再|老|这么|这样)*{_CALL}(?:我)?了?{_GOOD}")
_CALLED_BEFORE = LazyPattern(rf"(?:叫|喊)我(?P<name>[^{STOP}:]{{1,8}}?)(?=干嘛|干什么|的|我|很|真|太|会|让|,)[^{STOP}]{{0,8}},")
_NAMED_BEFORE = LazyPattern(rf"(?:我(?:现在|已经)?(?:不叫|不是)|那个?)(?P<name>[^{STOP}:]{{1,12}}?)了?,")
_THIS_NAME = LazyPattern(f"(?:请|以后|就|你)*{zh.STOP}(?:再|老)*(?:{_CALL}|用)(?:我)?[这那]个?名字?了?{_GOOD}")
_REVOKES_EN = tuple(
    LazyPattern(pattern + _WORDS + _WELL)
    for pattern in (
        f"{en.STOPPING} (?:call(?:ing)?|refer(?:ring)? to|address(?:ing)?) me (?:as |by )?",
        f"{en.STOPPING} (?:us(?:e|ing)) (?:the (?:name|word|nickname) )",
        "i (?:really |just )?(?:do ?n[o']t|do not|never|no longer|would ?n[o']t) (?:want|like|wish|care|love)(?: you)? (?:to (?:be|get) (?:called|addressed as|known as|referred to as)|being called|to call me|calling me|"
        "it when you call me) ",
        "i (?:really |absolutely )?(?:hate|dislike|detest|ca ?n[o']t stand|can't stand)(?: it when| when)?(?: you| being| getting| to be)*(?: call(?:ed|ing)?)(?: me)? ",
        "i(?:['’]d| would)? (?:rather|prefer)(?: it)?(?: if)?(?: that)? you (?:did ?n[o']t|did not|not|do ?n[o']t|do not) call me ",
        "i(?:['’]d| would) (?:rather|prefer) not (?:to )?be (?:called|addressed as|known as) ",
        "i (?:do ?n[o']t|do not|no longer) (?:go by|use|answer to)(?: the name)? ",
        "(?:drop|lose|ditch) the (?:nick ?name|name|title) ",
        "(?:would you mind|could you|can you) not (?:call|calling) me ",
    )
)
_SETS = tuple(
    LazyPattern(pattern)
    for pattern in (
        f"(?:管我叫|(?:把我|称我|唤我)(?:叫做?|喊作?|称为|称作|为|作)|快?{_CALL} ?我){_AS} *(?:一声(?=[^ ,。?]))?(?:全?名字?(?=[^就吧好,。?]))?{_WHO}{_GOOD}",
        f"(?:改口?|就)?叫{_WHO}就(?:好|行|可以)了?{END}",
        f"(?:改口叫我?|改叫我?){_WHO}{_GOOD}",
        f"(?:把?(?:你?对)?我的?)(?:名字|称呼|[昵暱]称|外号|备注)(?:改成|改为|改做|换成|换做|设成|设为|定为|改叫){_WHO}{_GOOD}",
        f"(?:给我)(?:改|换|起|取)个?(?:名字?|称呼|昵称)(?:,)?(?:叫做?|为|成)?{_WHO}{_GOOD}",
        f"我改名(?:字)?(?:叫|为|成)?(?:了,?)?(?:叫)?{_WHO}{_GOOD}",
    )
)
_MY_NAME = r"(?:nick ?name|user ?name|display name|name|title)"
_SETS_EN = tuple(
    LazyPattern(pattern + _WORDS + _WELL)
    for pattern in (
        "(?:just |simply |only )?(?:call(?:ing|ed)?|refer(?:ring)? to|address(?:ing)?|speak(?:ing)? to|know) (?:me|be|myself) (?:as |by )?(?:(?:the|my) (?:nick)?name )?(?:of )?",
        f"(?:change|set|update|switch|make|edit|modify|turn|reset|alter)(?: what you call me| the name (?:that )?you (?:call|have for|use for) me(?: by)?| my {_MY_NAME})(?: (?:to|as|into|be|from .{{1,20}} to))? (?:be )?",
        "(?:change|switch) (?:over )?to calling me ",
        f"(?:us(?:e|ing)|go with|try) (?:the |my )(?:nick)?name ",
        f"i (?:want|would like|['’]d like|wish|need|prefer|would prefer|['’]d prefer|would rather|['’]d rather|like)(?: for)? (?:my {_MY_NAME} (?:to be |changed to |set to )|to (?:be|get) (?:called|addressed(?: as)?|known as|referred to as|named)(?: by)? )",
        f"i['’]d (?:like|want|prefer|rather)(?: for)? (?:my {_MY_NAME} (?:to be |changed to )|to (?:be|get) (?:called|addressed(?: as)?|known as|referred to as|named)(?: by)? )",
        f"my (?:new {_MY_NAME} (?:is|will be|shall be)|{_MY_NAME} (?:should (?:now )?be|is now|will be|shall be|must be|needs to be|has changed to|has been changed to|changed to)(?: changed to)?|{_MY_NAME} from now on is) ",
        f"i (?:wanna|want to|need to|have to|gotta|['’]d like to|would like to) (?:be (?:called|known as|addressed as)|change my {_MY_NAME} to) ",
        f"i['’]d (?:like to|love to) (?:be (?:called|known as|addressed as)|change my {_MY_NAME} to) ",
        f"(?:can|could|may|let) (?:i|me) (?:please )?be (?:called|known as|addressed as) ",
        "(?:i|we) (?:shall|will|am to|['’]ll) (?:now )?be (?:called|known as) ",
        f"my (?:preferred|chosen|real|correct) {_MY_NAME} is (?=[^,。?\\n]{{1,24}}$)",
        f"(?:save|store|put|register|list|keep) (?:my {_MY_NAME}|me) (?:as|under) ",
        f"my {_MY_NAME} (?:is|has) to be (?:changed to )?",
        f"(?:my friends|people|everyone|they all) calls? me (?=[^,。?\\n]{{1,24}},? ?(?:and |so )*you (?:can|should|may) (?:too|as well))",
        "i (?:now go|am now going|will (?:now )?go|want to go|would like to go|prefer to go|prefer going|['’]d like to go) by ",
    )
)
_MY_NAME_EN = LazyPattern(
    r"my (?:nick)?name(?: is|['’]s) (?P<name>[^ ,。?\n:]{1,24}(?: (?!please|pls|and|so|but|use|now)[^ ,。?\n:]{1,24})?)(?=(?P<use>,? ?(?:and |so )?(?:please |pls )?(?:use (?:my name|it|that)|call me (?:that|it|by (?:it|that|my name))))|[ ]?[,。?\n]|$)"
)
"""An introduction, which is a wish only with "use it", after "from now on" or after a name refused."""
_RENAMED = LazyPattern(f"我的?(?:名字|称呼|[昵暱]称|外号)?(?:就)?(?:是|叫){_WHO}{_GOOD}")
_INSTEAD = LazyPattern(f"(?:请|要|改)*叫(?!我){_WHO}{_GOOD}")
_USE_AS = LazyPattern(r"use (?P<name>[^ ,。?\n:]{1,24}) (?:when (?:you )?(?:talk|speak|address|writ)|to address me|for me$|to refer to me|as my (?:nick)?name)")
_GO_NOW = LazyPattern(r"i go by (?P<name>[^ ,。?\n:]{1,24}) now")
_FIRM_NAME = LazyPattern("from (?:now|here|today)|going forward|henceforth")
_NAME_REFUSED = LazyPattern(r"(?:stop|quit|do ?n[o']t|do not|never) (?:call|referr?|address)[^。?\n]{0,60}[,。] *$")
_SOON = 4
"""Characters between a name refused and the one that takes its place."""
_STATED = LazyPattern("(?<![想要让请望欢])你$|都$|大家$|各位$|^(?:and |so |well |oh )?you$")
_LASTING = LazyPattern("以?后|开始|from now|今往")
"""你叫我X, 大家都叫我X tell what others say; they ask for nothing."""
_NO_NAME = LazyPattern(
    "(?!先生|学[霸长姐妹弟渣神生者委员]|打工|(.)\\1$|难[^做办受堪过]|大|老|小|阿|吃货|姐姐|妹妹|爸爸|哥|弟弟|帮主|跑男|开心果)"
    "(?:[们起来去出吃喝回咋啥干做说讲别不给帮把买看玩等到在再也都还又走睡写跑陪请跟往让几多醒留滚开发拿送找背洗搬坐呆快赶怎什记忘交拍拉抱听停放唱练试想用该得是有没准进退接换选挑猜念读借还付掏订入参学教照修关打扫收取点签改骂哭笑活戒减]|加(?!班[狂王狗])|死(?:$|了|去|心)"
    "|[打上下过先学早晚被一了吧吗呢啊哦的,、]|如何|情何|失望|难过|伤心|生气|害怕|感动|心疼|尴尬|明天|今天|后天|周[一二三四五六日]|[0-9]+[:点]|名字$|全名$|真名$|本名$|外号$|什么|怎么"
    "|难[做办受堪过]|声|下$|时|干嘛|代驾|外卖|车|滴滴|服务员|家长|救护车|一声|一下)"
    "|.{1,5}(?:接电话|开门|来接|去接|买单|付钱|过来|回来)|.*(?:怎么|什么|干嘛|的时候|一声|一下|起床|起来|吃饭|睡觉|过来|回家|出门|[来去我]$|一起|帮忙|[我你他她]|东西|过去|不)"
)
_NO_NAME_MOST = 9
"""Characters of a Chinese name; longer ones are sentences."""
_GIVEN = LazyPattern("名字|全名|真名|本名|my ")
_NO_NAME_EN = LazyPattern(
    r"(?:at|when|if|an?|later|back|tomorrow|tonight|today|on|in|by|after|before|and|or|out|for|asap|crazy|names?"
    r"|that|which|something|any\w*|whatever|maybe|old|stupid|dumb|paranoid|lazy|cynical|weird|to|with|about|up|now|please|collect"
    r"|again|soon|sometime|every|right|over|ahead|around|asap|instead|directly|immediately|anytime|always|it's|is|was|are|from|via|through|cell"
    r"|your(?! (?:majesty|highness|grace|honou?r|excellency))|it|this|what|whenever|as|im|i'm|i|he|she|they|but|because|next|once|first|not|ignorant|confused|or|so|then"
    r"|naive|picky|dumb|insane|nuts|biased|sceptical|skeptical|pessimistic|ungrateful|bored|impressed|blind|silly|ignorant|different|the (?:same|next|first|one|idiot|fool|liar))\b"
    r"|[0-9]|.*\b(?:a|an|different|another|when|because|but|if|at|why|who|was|names|else|that)\b"
)
_ALL_HOLD = LazyPattern("the (?:boss|chief|king|queen|captain|great|man|dude|user|one and only)|my (?:full|first|last|middle|real) name|your [a-z]+")
_TYPO_ME = LazyPattern("(?:have|to|want|rather)(?: have)?(?: you)?(?: to)?$")


def naming(place: Place) -> tuple[Found, ...]:
    """The wish to be called, or no longer called, by a name that stands at this place; none in doubt."""
    if not _SURE.search(place.shape, place.start, place.start + 400):
        return ()
    found = _read(place) or _named_first(place) or _my_name(place)
    return (found,) if found else ()


def _read(place: Place) -> Found | None:
    readings: tuple[tuple[Verb, tuple[LazyPattern, ...], LazyPattern], ...] = (
        ("nick_revoke", _REVOKES, _NO_NAME),
        ("nick_revoke", _REVOKES_EN, _NO_NAME_EN),
        ("nick_set", _SETS, _NO_NAME),
        ("nick_set", _SETS_EN, _NO_NAME_EN),
    )
    for verb, patterns, refused in readings:
        for pattern in patterns:
            if match := pattern.match(place.shape, place.at):
                return _named(verb, place, match, refused)
    return None


def _named(verb: Verb, place: Place, match: re.Match[str], refused: LazyPattern) -> Found | None:
    if "name" not in match.re.groupindex:
        return Found(verb, place.start, match.end())
    name = match["name"].strip()
    asked = place.shape.startswith("?", match.end()) and not place.asked and not match[0].rstrip().endswith("吗")
    told = verb == "nick_set" and not place.asked and _STATED.search(place.lead.strip(" ,"))
    told = told and match.end() == match.end("name") and not _LASTING.search(place.lead)
    if asked or told or not name or p.QUESTION.search(name):
        return None
    if verb == "nick_revoke" and (_ALL_HOLD.fullmatch(name) or name in ("全名", "真名", "本名", "名字")):
        return Found(verb, place.start, match.end(), match.span("name"))
    if refused.match(name) or (verb == "nick_set" and _GIVEN.match(name)):
        return None
    if p.CJK.search(name) and len(name) > _NO_NAME_MOST:
        return None
    return Found(verb, place.start, match.end(), match.span("name"))


def _named_first(place: Place) -> Found | None:
    """The name stands before the wish that it be dropped."""
    if (match := _TOPIC.match(place.shape, place.at)) and not _NO_NAME.match(match["name"]):
        return Found("nick_revoke", place.start, match.end(), match.span("name"))
    match = _NO_MORE.match(place.shape, place.at)
    if match and (told := _CALLED_BEFORE.search(place.shape, max(place.floor, place.start - 40), place.start)):
        named = not _NO_NAME.match(told["name"])
        return Found("nick_revoke", told.start(), match.end(), told.span("name")) if named else None
    match = _THIS_NAME.match(place.shape, place.at)
    if match is None:
        return None
    told = _NAMED_BEFORE.search(place.shape, max(place.floor, place.start - 30), place.start)
    return Found("nick_revoke", place.start, match.end(), told.span("name") if told else None)


def _my_name(place: Place) -> Found | None:
    renamed = _RENAMED.match(place.shape, place.at) if _LASTING.search(place.lead) else None
    if renamed is None and 0 < place.floor and place.start - place.floor < _SOON:
        renamed = _INSTEAD.match(place.shape, place.at)
    if renamed is not None:
        return _named("nick_set", place, renamed, _NO_NAME)
    for pattern in (_USE_AS, _GO_NOW):
        if (match := pattern.match(place.shape, place.at)) and not _NO_NAME_EN.match(match["name"]):
            return Found("nick_set", place.start, match.end(), match.span("name"))
    match = _MY_NAME_EN.match(place.shape, place.at)
    if match is None:
        return None
    refused = _NAME_REFUSED.search(place.shape, max(0, place.start - 80), place.start)
    if not (match["use"] or _FIRM_NAME.search(place.lead) or refused) or _NO_NAME_EN.match(match["name"]):
        return None
    return Found("nick_set", place.start, match.end("use") if match["use"] else match.end(), match.span("name"))
