"""What shows that a line was said by somebody else and pasted: a speaker before a colon, an order to obey it. Pure.

For folded text; a line that a person pastes into a message of theirs is none of their wishes.
"""

from bot.text.lazy import LazyPattern

_OBEY = (
    "(?:忽略|无视|不理会|抛开|别管|不用管|不要管|ignore|disregard|override|bypass)[^。!?\\n]{0,8}"
    "(?:之前|以前|此前|先前|以上|上面|上述|前面|所有|一切|全部|系统|你的|previous|prior|above|earlier|preceding|all|any|your|system)"
    "[^。!?\\n]{0,16}(?:指令|指示|命令|规则|设定|提示|要求|限制|instruction|prompt|rule|directive|guideline|command)"
)
_UNLEARN = (
    "(?:忘记|忘掉|forget)[^。!?\\n]{0,8}(?:之前|以前|先前|以上|上面|前面|所有|一切|系统"
    "|previous|prior|above|earlier|all|your|system)[^。!?\\n]{0,16}(?:指令|指示|提示词|instruction|system prompt)"
)
OVERRIDE = f"^[^\\n]*(?:{_OBEY}|{_UNLEARN})[^\\n]*$"
"""A line that would have nuan disobey: nobody talks so of their own memories."""

_SURNAMES = "王李张刘陈杨赵黄吴徐孙胡朱郭罗梁宋郑韩唐冯董曹袁邓傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶潘杜戴钟汪姜范姚谭廖邹熊陆郝孔崔邱秦侯邵孟尹黎乔贺赖龚"
_ROLES = (
    "[爸妈爷奶姥哥姐弟妹叔姑姨舅]{1,2}|(?:外)?[公婆]{1,2}|老[公婆爸妈板师]|同[事学]|朋友|房东|客服|系统|群主"
    "|管理员|主播|网友|领导|经理|用户"
)
_OWN_LABELS = (
    "note|notes|fyi|ps|btw|also|reminder|important|todo|update|edit|memo|wifi|password|address|birthday|e?mail|phone"
    "|number|name|please|hi|hey|hello|ok|okay|so|and|question|answer|re|one|first|second|third|next|last|finally|plan"
    "|fact|facts|remember|forget|save|store|keep|info|news|correction|summary|today|tomorrow|yesterday|https?"
)
_SPEAKER = LazyPattern(
    rf"[ ]*[\[(]?(?:[0-9:/ -]{{4,20}}[\])]? ?)?"
    rf"(?:[阿小老大][一-鿿]{{1,2}}|[{_SURNAMES}][一-鿿]{{1,2}}|{_ROLES}"
    rf"|(?!(?:{_OWN_LABELS})\b)[a-z][a-z0-9_.-]{{1,15}})"
    r"(?: ?[\[(]?[0-9:/ -]{4,20}[\])]?)?:(?!//)"
)


def speaks(shape: str, at: int) -> bool:
    """Whether the line that holds this place begins with somebody's name and a colon before it."""
    start = shape.rfind("\n", 0, at) + 1
    said = _SPEAKER.match(shape, start)
    return said is not None and said.end() <= at
