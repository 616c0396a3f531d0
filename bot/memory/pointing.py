"""Reads a bare wish to forget, which as a reply means the message replied to: 忘记, 把这条忘掉, forget this.

Patterns alone decide, doubt means no: 忘了 and "forget it" are what people answer. Whether it is a reply is not known.
"""

from bot.memory import patterns as p
from bot.memory.reading import beginning, shaped
from bot.memory.wording.signs import NAME
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryCommand

MOST_CHARS = 100
"""A bare wish is short; names and courtesies around it as well."""

_THIS = (
    "(?:(?:上面|刚才|刚刚)?(?:的)?[这那]一?(?:条|则|个|句|段|件)?(?:消息|信息|讯息|话|内容|记忆|事情?)?"
    "|(?:我)?(?:上面|刚才|刚刚|这里)说的(?:话|这?句|那句)?|它)"
)
_FORGET = "(?:忘记|忘掉)"
_DROP = "(?:忘记|忘掉|忘了|删[掉除了]|抹掉|清除|撤回)"
_WISH = LazyPattern(
    f"(?:请|帮我|给我|麻烦)*(?:彻底|永久)?(?:{_DROP}掉?{_THIS}|{_THIS}(?:帮我|给我)?(?:彻底|永久)?{_DROP}"
    f"|[把将]{_THIS}(?:给我|帮我)?(?:彻底|永久)?{_DROP}|{_FORGET}|忘了吧)"
    "(?:吧|好吗|可以吗|好不好|行吗|吗|啊|哦|喔|嘛|一下|谢谢|[ ,。])*"
    "|(?:forget(?: (?:this|that)(?: (?:message|memory|one|line))?)?"
    "|(?:delete|erase|remove|unremember) (?:this|that)(?: (?:message|memory|one|line))?)"
    "(?:[ ,。]|please|pls|thanks?(?: you)?|permanently|for good)*"
)
_CLOSING = LazyPattern(f"(?:[ ,。]|@?{NAME}+|@[^ ,。?]+|{p.POLITE})*\\??")
_FOREVER = LazyPattern("彻底|永久|permanently|for good")


def pointing(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The command to forget what is replied to, when the whole text is that wish; `names` call the bot."""
    if len(text) > MOST_CHARS:
        return None
    folded = fold(text)
    if not p.HINT.search(folded):
        return None
    shape = shaped(folded, names)
    place = beginning(shape)
    wish = _WISH.match(shape, place.at)
    if wish is None:
        return None
    closing = _CLOSING.match(shape, wish.end())
    if closing is None or closing.end() < len(shape) or ("?" in shape and not _asks(place.lead, wish[0])):
        return None
    return MemoryCommand("forget", None, forever=_FOREVER.search(shape) is not None, replied=True)


def _asks(lead: str, wish: str) -> bool:
    """Whether a question is a polite wish (能忘记这条吗?) and no question about one (忘记这条?)."""
    return p.ASKED.search(lead) is not None or wish.rstrip(" ,。").endswith(("好吗", "可以吗", "好不好", "行吗"))
