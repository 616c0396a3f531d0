"""The vocabulary around memory commands, for shaped text (see reading.py): leads, courtesies, questions, reports."""

from bot.text.lazy import LazyPattern

NAME = "\ue001"
QUOTED = "\ue000"
STOP = r",。?\n"
EDGE = rf"[{STOP}]|$"
END = f"(?={EDGE})"

HINT = LazyPattern(
    "[记忆忘叫喊删惠存称清撤复取恢还]|remember|forget|mind|note|jot|memory|call|name|address|refer"
    "|undo|restore|erase|delete|remove|wipe|drop|clear"
)
"""Without one of these no command is possible: the cheap way out for most messages."""

PARTICLE = "[啊呀哦喔噢啦嘛吧呢哈哟唷嗯呗齁咯哇唉诶欸 ]"


def latin(words: str) -> str:
    """A pattern for any of these words, not followed by another Latin letter (Chinese may follow at once)."""
    return f"(?:{words})(?![a-z])"


POLITE = (
    "(?:请|拜托你?|麻烦(?:你|您|各位|大家)?|劳烦|烦请|求你|谢谢你?|感谢|多谢|辛苦了|好吗|好不好|可以吗|行吗|行不行|"
    + latin("please|pl[sz]|thanks?(?: you)?|thx|kindly|okay|ok")
    + ")"
)
GREETING = (
    f"(?:@?{NAME}+|你好|您好|哈[喽啰]|嗨|早上好|晚上好|晚安|早安|在吗|亲爱的|" + latin("hi|hey|hello|ai|bot") + ")"
)
FILLER = (
    "(?:对了|那个?(?![个些件条段天边])|[欸诶哎唉嗯哦喔啊嘿哈呀额]|哎呀|好的?(?=[, ])|顺便|另外|还有|更正一下|换个称呼"
    "|不过|但是|我觉得|彻底|永久|这[段个事条](?=你|给我|帮我|得)|"
    + latin("ps|btw|oh|well|anyway|so|now|also|actually|and|lol|permanently")
    + ")"
)
ASKING = "(?:能不能|可不可以|可以|能|would you(?: mind| just)?(?: like to)?|(?:can|could|will) you(?: just)?|can we)"
ADDRESSEE = (
    "(?:你们?|您|大家|各位|你?一?定?要(?=记|忘)|可?得(?=记|给)|就|都|先|再(?!叫|喊)|我(?:想|要|需要|希望)(?:要|让"
    "|请)?你"
    "|(?:我)?希望你?能?|想请你|务必|千万|一定|i(?:'d| would) like you to|i (?:want|need) you to|"
    + latin("just|you (?:can|may|should|shall|must|have to)|i(?:'d| would) rather(?: (?:have )?you)?")
    + ")"
)
FROM_NOW = (
    "(?:(?:从今|今|从此)?以后|从现在(?:开始|起)|在?这个?群里?|群里|私聊|别?再也?(?=别|不要)"
    "|记住[,:](?=以后|叫我|别叫|不要叫|你?可以叫)|remember,(?=call me|from now)|"
    + latin("from (?:now|here) on|start|always")
    + ")"
)

LEAD = LazyPattern(f"[ ,]*+(?:(?:{POLITE}|{GREETING}|{FILLER}|{ASKING}|{FROM_NOW}|{ADDRESSEE})[ ,]*+){{0,12}}+")
"""What may stand between the start of a clause and its command; 12 pieces keep hostile text cheap."""
ASKED = LazyPattern(ASKING)
NOTHING_LEFT = LazyPattern(
    f"(?:{POLITE}|{GREETING}|{FILLER}|{PARTICLE}|就行|就好|不说了|记一下|记住|[^\\w{NAME}{QUOTED}])*+"
)
"""A greeting, a name or a courtesy: nothing that has to be answered."""
CLOSING = LazyPattern(f"(?:{POLITE}|{PARTICLE}|@?{NAME}+|哈+|就行了?|就好了?|别忘了?|记住|超开心|可以了?|好了)*+")
CUT = LazyPattern(
    f"(?:{FILLER} ?|你|请|再|也)*+(?:其他的|不说了|之后|顺便|对了|另外|睡了|拜拜|btw|by the way)"
    "|(?:请|再|然后|麻烦|你)*+(?:帮我|给我|推荐|告诉我|提醒我)|你觉得|(?:can|could|would) you|tell me|please (?!note)"
    "|忘[记掉] ?#?[0-9]|撤销|(?:以后|你?可以)?(?:别|不要)?再?叫我|and (?:call me|forget)"
)
"""A later clause that is no part of what to keep: small talk, another request, another command."""

QUESTION = LazyPattern(
    "怎么|什么(?!都)|为什么|为何|[谁哪咋啥]|几[点个]|多少|如何|[吗么]$|呢$|是不是|有没有|要不要|能不能|会不会|来着"
    r"|\b(?:what|where|which|who|why|how|when)\b(?=.*\?)|^(?:do|does|did|is|are|can|could|should|will|would) "
)
REPORTED = LazyPattern("(?:说|讲|问|喊|告诉我|写着|提到|told me|said|says|say|goes|saying)[ :]*,?[ ]*$")
ABOUT_WORDS = LazyPattern(
    r"翻译|造句|歌词|台词|用英[文语]|用中[文语]|怎么说|translate|^\W*(?:帮我|请|给我)?写一?[个篇首]|write a |lyrics"
    r"|[\[【]聊天记录[\]】]"
)
"""The message is about wording or fiction, or shows a log: nothing in it is meant."""
MINE = LazyPattern(r"我(?!们)|俺|本人|\b(?:i|i'm|im|ive|i've|i'd|i'll|my|mine|me|we|our)\b")
CJK = LazyPattern("[一-鿿]")
DEICTIC = LazyPattern(
    "(?:把?(?:我?刚刚?才?|上面|之前)?说?的?(?:这|那)(?:个|条|段|句|些|件)?(?:好?消息|[^,是在叫有要不对]{0,3})"
    "|它|我(?:刚才|刚刚)?说的话?|我的话|(?:that|this|it|them)(?: memory| one)?)(?:给我)?"
)
"""Points at something said before instead of saying it."""
