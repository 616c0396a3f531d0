"""How people ask that a matter they talked of be forgotten; folded. The first group that is set names the matter."""

from bot.memory.wording.signs import NAME, QUOTED
from bot.text.lazy import LazyPattern

_X = f"[^,。?\\n:{NAME}{QUOTED}]{{1,24}}?"
_EN = f"[a-z0-9][^,。?\\n:{NAME}{QUOTED}]{{0,40}}?"

HINT = LazyPattern(
    "忘|删|抹|清|记|当我?没|当作?没|forget|remember|delete|erase|wipe|scratch|drop|keep|store|save|never said|didn['’]?t say"
)
"""Without one of these there is no such wish."""

LEAD = (
    "对(?=,)|是的?(?=,)|好(?=,)|嗯+|诶|欸|唉|喂|那(?=,)|算了|等等|拜托|麻烦你?|请你?|可以(?=把)|能不能|可不可以|帮我|给我|你(?=把|就|可以|能)"
    "|(?:actually|hey|oh|um+|uh+|also|please|pls|plz|ok(?:ay)?|and|but|wait|no|just|so|well|yeah|yes|sorry|hm+"
    "|on second thou?ght|now that i think of it"
    "|can you|could you|would you|will you|can u|you can|you should|you may|i(?:['’]d| would) (?:like|prefer|rather"
    "|love)(?: it)?(?: if)?(?: you)?(?: to)?(?: could)?"
    "|i (?:want|need) you to|i(?:['’]d| would) appreciate it if you(?: could)?|let['’]?s|it(?:['’]s"
    "| is) best (?:if you|to)|maybe|nuan)(?![a-z])"
)

AFTER = (
    "全部?|都|所有的?|一个都别留|一点都别留|一句都别留|好吗|好不好|可以吗|行吗|谢谢|拜托|请|真的|彻底|了吧|吧"
    "|(?:now|anymore|any more|at all|for me|again|thanks?|thank you|ok(?:ay)?|pls|please|alright|completely|entirely"
    "|all of it|every bit"
    "|(?:do ?n[o'’]?t|not) (?:keep|store|save|remember) (?:it|that|any of it)(?: anywhere)?|it(?:['’]s"
    "| is) (?:private|personal|not important)"
    "|from (?:your |my )?(?:memory|memories|notes|records)|(?:that )?i (?:just )?(?:told you|mentioned|said"
    "|shared)(?: about| earlier| before| yesterday| today)?"
    "|right away|for good|permanently|from now on|will you|would you|if you can|if possible)(?![a-z])"
)

_DROP = "(?:忘(?:掉|记)(?!了)掉?|忘了?(?=吧)|删(?:掉|除|了)?|抹(?:掉|除|去)|清(?:掉|除|空))"
_ASK = "(?:你|请|就|可以|麻烦|帮我|给我|也|通通|统统|一起|一并|,)*"
_HOW = "(?:都|全部?|全都|通通|统统|一起|一并|彻底|给我|帮我|从(?:你的)?记忆里?)*"
_BIT = "(?:的(?:事情?|话|那些事|那件事|所有事情?|东西)|[那这](?:件事情?|个(?:事情?|话题)?|事儿?|回事|些(?:事|话)?|段))"
_NOT_KEPT = "(?:别|不要|不用|不必|甭)(?:再|帮我|给我)*记(?:着|住|得|下来?|录)?(?:了)?"
_UNSAID = "(?:就)?当(?:我|作|做|是|成)*(?:没|从没|不曾)(?:有)?(?:说|讲|提|听)(?:见|到)?过?"
_TOLD = "(?:我)?(?:刚刚?才?|之前|上次|以前|前面|昨天|上面)?(?:跟你|和你|告诉你)?(?:说|讲|提|聊)?(?:过|到)?的?(?:那个|那件|那|这个)?"
_OF = "(?:跟|和|与|同)?(?:关于|有关)?"
_KNOW = (
    r"(?:(?:that |which )?(?:(?:you (?:know|remember|have)|i(?:['’]ve| have)?(?: ever| just)? (?:told|said|mentioned"
    r"|shared|wrote)(?: to)?(?: you)?"
    r"|we(?:['’]ve| have)? (?:said|talked|discussed)|to do)) )?"
)
_ABOUT = "(?:about|on|of|regarding|involving|concerning|with|related to)"
_FORGET = r"(?:forget|delete|erase|wipe|remove|clear|drop|scratch|un-?remember|stop remembering)(?: about)?"
_NOT = (
    r"(?:(?:do ?n[o'’]?t|do not|never|not(?: to)?)"
    r" (?:remember|keep|store|save|record|note|hold on ?to|log|memori[sz]e)(?: about)?)"
)
_THING = (
    "(?:thing|stuff|bit|part|business|story|situation|topic"
    "|info|information|talk|details?|numbers?|matter|issue|drama|conversation)s?"
)

ALL = (
    f"(?:把|将)?{_OF}(?P<a>{_X})(?:有关|相关)?的?(?:所有|全部|一切)?的?(?:人和事|事情?|话|东西|内容|消息|一切)?{_ASK}"
    f"(?:都|全部?|全都|通通|统统)+{_HOW}{_DROP}",
    f"(?:把|将)(?P<b>{_X})(?:这个人|那个人)?(?:给|都|全)*(?:{_DROP}|忘了)吧?[, ]*{_OF}(?:他|她|它|这个人|那个人|人家)们?(?:有关"
    f"|相关)?的?[^,。]{{0,6}}?{_HOW}{_DROP}",
    f"{_DROP}(?P<c>{_X})(?:这个人|那个人)?[吧, ]*{_OF}(?:他|她|它|这个人|那个人|人家)们?(?:有关|相关)?的?[^,。]{{0,6}}?{_HOW}{_DROP}",
    f"{_DROP}(?:掉)?(?:所有|一切|全部)(?:关于|有关)(?P<d>{_X})的(?:一切|所有(?:事情?|话)?|全部|事情?|话|东西|内容)",
    f"{_DROP}(?P<e>{_X})的(?:一切|所有(?:事情?|话)?|全部)",
    f"{_FORGET} (?:everything|all|anything|whatever|every ?thing|what|any ?thing and everything"
    f"|all the things?) {_KNOW}{_ABOUT} (?P<f>{_EN})",
    f"{_NOT} (?:everything|anything|whatever|what) {_KNOW}{_ABOUT} (?P<g>{_EN})",
)
"""All of it."""

THAT = (
    f"{_DROP}(?:掉)?(?:关于|有关)(?P<l>{_X})的(?:事情?|话|东西)",
    f"(?:把|将)?{_TOLD}(?:关于|有关)?(?P<h>{_X}){_BIT}{_ASK}(?:{_HOW}{_DROP}|{_NOT_KEPT}|{_UNSAID})",
    f"{_NOT_KEPT}{_TOLD}(?:关于|有关)?(?P<i>{_X}){_BIT}",
    f"(?:{_NOT}|(?:please|can you|could you) {_FORGET}|{_FORGET}(?= [^,。]*{_THING},? (?:please|pls|ok|i ))) "
    rf"(?:all )?(?:that|the|this|those|my|our|any of (?:the|that))(?: whole)? (?P<j>{_EN}) {_THING}",
    f"(?:{_NOT}|{_FORGET}) (?:all )?(?:that|the|this|those) (?:whole )?{_THING} {_ABOUT} (?P<k>{_EN})",
)
"""What was said of it."""

NOBODY = (
    "(?:关于|有关)?我们?(?:自己)?(?:的)?|你(?:的)?|它|他们?|她们?|这|那|[这那]个|事|什么|一切|过去|烦恼|不开心|不愉快|所有|大家|我(?:说|学|背|讲|把|想)[^,]*|[学背][^,]*"
    "|(?:me|my|us|it|that|this|him|her|them|you|everything|everyone|all|life|love|work|today|yesterday|the past|past"
    "|whole|first|last|other|same|new|old|right)"
)
"""What names no matter: these wishes are read elsewhere, or are none."""

WHO = r"[他她]|\b(?:he|she|him|her|his|hers|they|them|their)\b"
"""Who goes on about somebody."""
