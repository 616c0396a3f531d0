"""Signs that a message is made to work on a model: tags, roles, JSON, orders to a memory. Pure."""

import re

from bot.language.wishes.patterns import pattern as wish_pattern
from bot.text.fold import fold
from bot.text.patterns import LazyPattern

LINK = LazyPattern(
    r"(?i)\b[a-z][a-z0-9+.-]{0,20}://\S*|\bwww\.\S+|\b[a-z0-9-]{1,60}\.(?:com|net|org|io|cn|dev)\b\S*"
    r"|\b[a-z0-9-]{1,60}\.[a-z]{2,12}/\S+|\b(?:mailto|javascript|data|tg|magnet|hxxps?):\S+"
)
INSTRUCTION = LazyPattern(
    r"ignore (?:all |any |the |your )*(?:previous|above|prior|earlier|instruction)|disregard|override|jailbreak|prompt"
    r"|forget (?:all|everything|your)|\b(?:system|assistant|developer) *(?::|mode|message)"
    r"|\b(?:always|never) (?:say|answer|reply|obey)|you (?:must|should|are now|have to|will now)"
    r"|指令|系统(?:提示|消息|设定|:)|提示词|忽略|无视|越狱|<\|"
    "|你(?:必须|应该|现在是|要听|只能)|(?:必须|一定要)(?:回答|回复|服从|听)"
)
"""Words that speak to a model instead of telling something."""

_HARMLESS_TAGS = "b|i|u|s|em|strong|code|del|br|sub|sup|mark|small|kbd|h[1-6]|a|img"
_TAG = LazyPattern(
    rf"</? ?(?!(?:{_HARMLESS_TAGS})\b)[a-z_][a-z0-9_:-]{{0,30}}(?:\s[^<>]{{0,200}})?/?>"
    r"|<\||\|>|<</?sys>>|\[/?inst\]|&lt;/?[a-z]|\bcdata\b|<!--|-->|^\s*#{1,6} ?(?:system|assistant|instructions?|系统)"
)
_ROLE = LazyPattern(
    r"(?:^|[\n。.!?;,(\[【])[\W_]{0,8}(?:the )?(?:system|assistant|developer|user|tool"
    r"|admin(?:istrator)?|owner|operator|root"
    r"|系统|助手|助理|管理员|开发者|用户|主人|客服|平台)"
    r"(?: ?(?:message|prompt|note|notice|update|override|提示|消息|通知|指令|指示|公告|更新))?[\]】)]? ?[:>=]"
)
_JSON = LazyPattern(
    r"[{\[]\s*[\"'][^\"'\n]{1,40}[\"']\s*:"
    r"|[\"']?\b(?:summary|memories|memory|type|text|from|tag|commitments?|role|content|arguments|name|tool|function)\b"
    r"[\"']?"
    r"\s*:\s*(?:[\"'\[{]|\d)"
)
_POWER = "(?:主人|管理员|拥有者|所有者|老板娘?大人|owner|admin(?:istrator)?|operator|developer|master|root)"
_OWNER = LazyPattern(
    rf"(?:记[住下得着]|记录|保存|存[下入]|写[入下]|默认|remember|note|store|save|record|keep in mind|memori[sz]e)"
    rf".{{0,40}}?{_POWER}"
    rf"|(?:才|就|现在)?是(?:你的?|小暖的?|这里的?|机器人的?|新的?|唯一的?|真正的?)*{_POWER}"
    rf"|\b(?:is|am|are|['’]m|be|as|becomes?) (?:now )?(?:the |your |its |a |an |new |only |real )*{_POWER}\b"
    rf"|(?:new |your ){_POWER}|{_POWER} ?(?:换成|改成|变成|改为|=)"
)
_OUTPUT = LazyPattern(
    r"(?:输出|返回|回答|回复|生成|打印|填[入写]|output|return|print|respond|reply|answer|emit)[^\n]{0,24}"
    r"(?:json|summary|memor(?:y|ies)|摘要|总结|记忆|记录|以下|exactly|verbatim)"
    r"|(?:^|\n)[\W_]{0,8}(?:摘要|总结|小结|记忆|会话记录|聊天记录|digest|summary|memor(?:y|ies)|minutes|commitments?)\s*[:=]"
    r"|(?:以下|下面|这)是[^\n]{0,8}(?:摘要|总结|记忆|会议?记录)|记录员|书记员|minute[- ]taker|note[- ]taker"
    r"|(?:存|写|加|放|录|添加)(?:入|进|到)?(?:你的?|长期|永久)*(?:记忆|数据库|档案)|(?:长期|永久)记忆"
    r"|\b(?:to|into|in) (?:your |the |its |long[- ]term |permanent )*(?:memory|memories|database|profile)\b"
    r"|调用 ?[a-z_工]|\b(?:call|invoke|use|run|execute) (?:the )?(?:tool|function|remember|forget|add_)"
    r"|\b(?:remember|forget|add_commitment|save_experience|memory_\w+)\s*\("
    r"|(?:从现在起|从现在开始|从今以后|今后|以后)[,，]?你|\bfrom now on\b|\bnew (?:rules?|instructions?|orders?)\b"
    r"|\b(?:pretend|act) (?:as|to be|you)|\brole[- ]?play|扮演|假装你|你(?:现在|其实)?是一?[个名]?(?:记|摘要|数据库|程序)"
)
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]")
"""Signs that turn or hide text; no keyboard makes them."""
_SPELT = re.compile(r"(?<![a-z0-9])(?:[a-z][ ._*-]){3,}[a-z](?![a-z0-9])")
"""i g n o r e, s.y.s.t.e.m"""


def is_injection(text: str) -> bool:
    """Whether a message speaks to a program instead of to people; of its words nothing is to be kept."""
    if _HIDDEN.search(text):
        return True
    folded = fold(text)
    plain = _SPELT.sub(lambda spelt: re.sub("[ ._*-]", "", spelt[0]), folded)
    return any(
        pattern.search(plain)
        for pattern in (INSTRUCTION, wish_pattern("override"), _TAG, _ROLE, _JSON, _OWNER, _OUTPUT)
    )  # fmt: skip


def holds_link(text: str) -> bool:
    """Whether something in it can be opened."""
    return bool(LINK.search(fold(text)))
