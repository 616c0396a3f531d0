"""The vocabulary around memory commands, for shaped text (see reading.py): leads, courtesies, questions, reports."""

from bot.memory.wording import chinese as zh
from bot.memory.wording import english as en
from bot.memory.wording.signs import NAME, QUOTED
from bot.text.lazy import LazyPattern

HINT = LazyPattern(
    "[记忆忘叫喊称惠存备撤复取恢还删清抹移]|名字|remember|forget|mind|note|jot|memor|call|name|address|refer|respond|forgot"
    "|keep |go by|known as|when (?:you )?(?:talk|address)|undo|restore|erase|delete|remove|wipe|drop|clear|record"
    "|save|store|scratch|write|log |memo|忆|speak to me|reference"
    "|mark ?一"
)
"""Without one of these no command is possible: the cheap way out for most messages."""

PARTICLE = zh.PARTICLE


def latin(words: str) -> str:
    """A pattern for any of these words, not followed by another Latin letter (Chinese may follow at once)."""
    return f"(?:{words})(?![a-z])"


POLITE = f"(?:{zh.POLITE}|{latin(en.POLITE)})"
GREETING = f"(?:@?{NAME}+|{zh.GREETING}|{latin(en.GREETING)})"
FILLER = f"(?:{zh.FILLER}|{latin(en.FILLER)})"
ASKING = f"(?:{zh.ASKING}|{latin(en.ASKING)})"
ADDRESSEE = f"(?:{zh.ADDRESSEE}|{latin(en.ADDRESSEE)})"
FROM_NOW = f"(?:{zh.FROM_NOW}|remember,? ?(?=call me|from now)|{latin(en.FROM_NOW)})"

LEAD = LazyPattern(f"[ ,]*+(?:(?:{POLITE}|{GREETING}|{ASKING}|{FROM_NOW}|{FILLER}|{ADDRESSEE})[ ,]*+){{0,12}}+")
"""What may stand between the start of a clause and its command; 12 pieces keep hostile text cheap."""
ASKED = LazyPattern(ASKING)
OF_ONESELF = LazyPattern(en.OF_ONESELF)
CAN_WE = LazyPattern("can we")
LET_ME = LazyPattern("let me|can i|could i|may i")
FIRMLY = LazyPattern(
    f"{NAME}|{POLITE}|{ASKING}|i want|i need|i['’]d like|i would like|make sure|rather|prefer|appreciate"
)
"""A lead that shows a request and no advice."""
NOTHING_LEFT = LazyPattern(
    f"(?:{POLITE}|{GREETING}|{FILLER}|{PARTICLE}|就行|就好|不说了|记一下|记住|[^\\w{NAME}{QUOTED}])*+"
)
"""A greeting, a name or a courtesy: nothing that has to be answered."""
CLOSING = LazyPattern(
    f"(?:{POLITE}|{PARTICLE}|@?{NAME}+|哈+|就行了?|就好了?|别忘了?|不要忘了?|记住|超开心|可以了?|好了|don't forget)*+"
)
THEN = "(?:然后|接着|并且?|同时|再|and then(?![a-z])|then(?![a-z])|and(?![a-z]))"
"""What joins a wish to the one before it."""
_DROPPED_NEXT = (
    "(?=我(?![会把在放跟和说也都还去忘们])|关于|有关|刚才|[这那]条|第[一二三四五六七八九十0-9]+条| ?#?[0-9])"
)
CUT = LazyPattern(
    f"顺便|对了|另外|btw|by the way|(?:{FILLER} ?|你|请|再|也)*+(?:其他的|不说了|之后|睡了|拜拜)"
    f"|(?:{FILLER} ?|{THEN}|请|就|你|也)*+(?:(?:彻底|永久)?(?:忘[记掉]|删[掉除]){_DROPPED_NEXT}"
    f"|(?:please )?forget (?:that (?:i|my)|about (?:me|my)|my|#)(?![a-z]))"
    f"|(?:{FILLER}|{THEN}) ?把{_DROPPED_NEXT}[^,]{{1,40}}(?:忘[记掉了]|删[掉除了])"
    "|(?:请|再|然后|麻烦|你)*+(?:帮我|给我|推荐|告诉我|提醒我)|你(?:觉得|说说|看看|知道)|(?:can|could|would) you|tell me"
    "|please (?!note)|忘[记掉] ?#?[0-9]|撤销|(?:以后|你?可以)?(?:别|不要)?再?叫我|and (?:call me|forget)"
)
"""A later clause that is no part of what to keep: small talk, another request, another command."""

QUESTION = LazyPattern(
    "怎么|什么(?!都)|为什么|为何|[谁哪咋啥]|几[点个](?![的了])|多少|如何|[吗么]$|呢$|是不是|有没有|要不要|能不能|会不会|来着"
    r"|\b(?:what|where|which|who|why|how|when)\b(?=.*\?)|^(?:do|does|did|is|are|can|could|should|will|would) "
)
REPORTED = LazyPattern(
    "(?:说|讲|问|喊|告诉我|写着|提到|叮嘱我?|提醒我|told me|said|says|say|goes|saying)(?:过|道|的是)?[ :]*,?[ ]*$"
)
ABOUT_WORDS = LazyPattern(
    '(?:^|[,。:?!\n]|请|帮我|给我|帮忙|麻烦|你)翻译|翻译(?:一下|成|[:,：，「“"])|怎么(?:翻译|说|写|念)|造句|歌词[是里:]|[这那][句首]歌词|台词'
    "|用[英中日法德韩][文语]|translate|lyrics|^\\W*(?:帮我|请|给我)?写一?[个篇首段]|write a |how (?:do|would) (?:you|i) say"
    r"|\bin (?:french|german|spanish|chinese|japanese|korean|italian)\?|[\[【]聊天记录[\]】]|the song"
)
"""The message is about wording or fiction, or shows a log: nothing in it is meant."""
MINE = LazyPattern(
    r"我(?!们(?!家|公司|学校|小区|班|宿舍|部门|老板|医院|团队|部|组|单位|店|群|全家))|俺|本人|咱们?(?:家|小区|公司|学校)"
    r"|\b(?:i|i'm|im|ive|i've|i'd|i'll|my|mine|me|we|our)\b"
)
CJK = LazyPattern("[一-鿿]")
_POINTED = "(?:刚刚?才?|上面|之前|前面|上一|以上|上述)"
POINTING = (
    f"(?:把?我?{_POINTED}(?:的|我)?(?:说|讲|提|聊|发|写|告诉你)?过?的?(?:所有|全部)?(?:话|内容|消息|东西|聊天|对话|记录|事情?|这?[一两几]?[条个段句些件点]?)?"
    f"|把?(?:我?{_POINTED}?)说?的?(?:这|那|呢)一?(?:两|几)?(?:条|个|段|句|些|件|点|样)?(?:好?消息|话|事情?|内容|东西|偏好|信息|笔记|样[嘢东]西?"
    "|玩笑|号码|电话|地址|密码|日子|时间|名字|数字|单号|账号)?"
    f"|(?:以上|上述)(?:的?(?:内容|信息|话))?|它|我{_POINTED}?说的话?|我的话|以上"
    "|(?:that|this|it|them|these|those)(?: (?:last|one|memory|message|thing|info|information|note|stuff|fact|down"
    "|part))*"
    "|what i(?: just|'ve just| have just)? (?:said|told you|wrote|mentioned|shared))(?:都|给我)?"
)
"""Points at something said before instead of saying it."""
DEICTIC = LazyPattern(POINTING)
