"""Whether the words after a wish to keep tell a fact, and are no advice, errand, maxim or promise. Doubt means no."""

from typing import Literal

from bot.memory import patterns as p
from bot.memory.wording import chinese as zh
from bot.text.lazy import LazyPattern

Kind = Literal["strong", "weak", "fact", "told"]
"""How clearly keeping was asked: noted for me, remember (may be advice), do not forget (mostly an errand), noted (了)."""

_NUM = "[0-9一二两三四五六七八九十几]"
_TIME_ZH = (
    "(?:[今明后昨]天|[听今]日|大后天|[今明][早晚]|(?:下|这|本|上)*个?(?:周|星期|礼拜)[一二三四五六日天末]?|(?:下|这|本)个?月[初中底]?|[今明后]年"
    f"|{_NUM}{{1,3}}月{_NUM}{{0,3}}[日号]?|{_NUM}{{1,3}}[号日点]|每(?:天|周|个?月|年|晚)|周末|[年月]底|农历|国庆|春节|中秋|元旦)"
)
_MANNER = "(?:从小|最近|现在|目前|真的|一直|其实|平时|平常|还|就|都|也|只|今年|去年|已经|完全|根本|已|又|都是|每次|晚上|早上|周[一二三四五六日末])*"
_DEGREE = "(?:很|最|特别|超级?|比较|挺|非常|有点儿?|尤其|极其|更|太)*"
_KIN = (
    "(?:妈妈?|爸爸?|[哥姐弟妹]{1,2}|儿子|女儿|老[婆公板师家]|男朋友|女朋友|爷爷|奶奶|外[婆公]|阿[嬤嬷公姨]|姥[姥爷]|孩子|同事|室友|闺蜜"
    "|朋友|公司|学校|[猫狗]|家|对象|媳妇|爱人|先生|太太|宝宝|表[哥姐弟妹]|舅舅?|姑姑?|叔叔?|房东|领导|同学)"
)
_STATE = (
    f"(?:对[^,]{{1,12}}(?:过敏|敏感|不耐受)|[^,]{{0,6}}(?:不耐受|过敏|近视|失眠|晕[车船机])|{_DEGREE}(?:怕|讨厌|喜欢|钟意|爱(?![你您])|恨(?!你)|偏好"
    f"|习惯|会晕|擅长)|[不唔](?:太|怎么|敢|能|想|爱|喜欢)*(?:吃|喝|能|会|喜欢|爱|敢|碰|抽|想|住|在(?!的)|用|要|信|是|叫|懂|看|听|养|食|穿|去)"
    f"|[只光](?:吃|喝|用|穿|看|听|要|在|有)|吃(?:[^,]{{0,3}}素|斋|辣|得|不)|食|{_DEGREE}(?:忙|胖|瘦|高|矮|穷|内向|外向)$"
    "|是(?!谁|说|不是|想|怕你|为了|真)|属|系|姓|住|在(?!想|等|这里等|你|呢|的时候)|有(?!一次|话|点(?!近)|事$|空|你)|养[了着]?|戒|信[^你]|叫(?![你他人])"
    f"|没有?(?!说|事|想)|{_NUM}+|{_TIME_ZH}[^,]{{0,6}}(?:有|要|休息|不在|值班|考|面试|出差|开会|上班|生日|结婚|手术|回)|改|搬|换|怀孕|要(?!你)[^,]{{2}})"
)
_FACT_ZH = LazyPattern(
    f"(?:我(?!的|们){_MANNER}{_STATE}|我的[^,]{{1,10}}?(?:是|叫|在|有|改|换|过敏|:|=|[0-9])"
    f"|我的?(?:{zh.PERSONAL})(?:是|系|:|在|换|改|=|[0-9])|我(?:的|们)?{_KIN}[^,]{{0,10}}(?:是|叫|在|对|[不没]|有|姓|住|属|喜欢|爱|怕|过敏|生日|要|会|[0-9]))"
)
"""A plain fact about the speaker or the speaker's own people, from its first word."""
_REMINISCENCE = LazyPattern("当时|那时|有一次|以前|小时候|上次|曾经|我们(?!家|公司)|爱你|等你|想你|陪你")
_TENDER = LazyPattern(
    "我(?:会|要|永远|一直|都|最|还|真的|很|始终|只)*(?:爱|想|等|陪|支持|相信|喜欢|在乎|保护|恨|祝|记得)[着你您]|我(?:会|永远|一直|都)+在|照顾好|小心点|保重"
)
"""Promises and tenderness are said with 记住 and kept by nobody."""
_EVENT = "(?:开会|会议|考|面试|出差|值班|体检|手术|上[课班]|加班|放假|搬|聚|年会|结婚|婚礼|复查|答辩|演|比赛|飞|截止|停[电水]|到期|缴|交房租)"
_ADVICE = LazyPattern(
    f"(?:{_TIME_ZH} ?(?:上午|下午|早上|晚上|中午|之前|以前)?(?:{_NUM}{{1,3}}点半?)?)?(?:一定|千万|务必|都|还|也)?"
    f"(?:[得别去来早多少先再勿莫慎]|要(?!{_EVENT})|不要|不能|不许|不准|不可|按时|准时|及时|一定|千万|认真|好好|保持|坚持|注意|小心|带|吃|喝|打[电给]|给|把|回[来家复我电]|拿"
    "|买|关|锁|穿|睡|叫我|喊我|提醒|做(?:人|好|自己)|交(?:作业|钱)|微笑|快乐|感恩|相信|学会)"
    "|to |not to |the milk|your "
)
"""What the listener is to do."""
_STANDING = LazyPattern("以后|今后|每次|每天|每当|(?:在)?我说|回[复答]|别(?:跟|和|给|对|再)我|别在我|不要(?:跟|和|给|对|在)我")
"""How the bot is to behave lasts, and is no errand."""
_MAXIM = LazyPattern(
    "人生|生活|生命|幸福|爱情|快乐|成功|失败|努力|世界|梦想|永远|没有人|任何|只有|只要|时间(?!是)|时间就|难受|密码(?=怎么|安全|$)"
    "|自己|咱(?!们?家)|你|您|他|她|它|我们(?!家|团队|部|组|单位|店|群|班|公司|全家|学校)|(?:^|做)人|机会|善良|坚持|天道|天下|万事|凡事|知识|历史|国耻|规律|公式|单词|单字"
)
_PREDICATE = LazyPattern(
    "[是在叫姓属住有要没=:]|[0-9]|每[天周月年]|对[^,]{1,12}(?:过敏|敏感)|喜欢|讨厌|怕|[爱不][吃喝看听能会敢喜爱]|不吃|放|改|换|生日|密码|电话|地址"
    f"|{_TIME_ZH}"
)
_DATA = LazyPattern(f"[0-9]{{2}}|密码|电话|生日|地址|过敏|{_TIME_ZH}")
_STARTS_WITH_TIME = LazyPattern(_TIME_ZH)
_BARE_NOUN = LazyPattern(
    "我(?:们|这个人|说过?的.*)?的?|我们?的?[^,是在叫有不想喜爱讨怕会能住属姓]{0,8}的[^,是在叫有0-9]{1,5}"
    "|我的[^是在叫有对不没会能0-9:=,]{0,6}|(?:哪怕|就算|即使).*"
)
_THIN = LazyPattern("[^是在叫姓属住有没不了完0-9]{0,3}|(?:今天|明天|这次)?(?:时间|单词|考勤|名字|任务|号码|密码|地址|日程|内容|公式|菜名|作业|笔记)")
"""A noun alone holds nothing to keep."""

_STATEMENT_EN = LazyPattern(
    r"(?:i|i'm|im|ive|i've|i'd|i'll|id|we|we're|we've)(?<!\bme) (?!told|said|mention|asked|talked|am here|will be here"
    r"|love you|already|agreed|discussed|just |did|do n|want you|need you|will always|always be)"
    r"|(?:my|our) [^,]*?(?:'s|\b(?:is|are|was|were|has|have|had|will|lives?|works?|likes?|hates?|loves?|starts?|ends?|goes|moved"
    r"|called|can't|cannot|can|does|expires?|closes?|opens?|needs?|prefers?|only|got|takes?|=)\b|:)"
)
_THIRD_EN = LazyPattern(
    r".*(?:'s|\b(?:is|are|has|have|was|will|lives?|works?|likes?|hates?|loves?|starts?|ends?|goes|can't|closes|opens|=|on|at)\b|:)"
)
_CONCRETE_EN = LazyPattern(
    r"[0-9]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|june|july|august|september|october"
    r"|november|december|birthday|anniversary|password|code|pin|allergic|called|named|name|lives|works|parked|vegan|vegetarian"
    r"|diabetic|address|phone|number|due|meeting|appointment|flight|exam|deadline|likes|hates|loves|tomorrow|next week|key)\b"
)
_GENERIC_EN = LazyPattern(
    r"\b(?:you|your|yourself|people|everyone|nobody|life|kernel|packages?|linux|ubuntu|servers?|sudo|root|install\w*|version|distro"
    r"|filesystem|drivers?|ports?|commands?|scripts?|files?|bugs?|windows|kb|mb|gb|bytes?|always|never give|it's|there|these|those|they"
    r"|one|success|happiness|love is|time is)\b|^(?:what|who|why|how|when|where|if|the time|that time|to|not to|and|or)\b"
)
_NOT_FACT_EN = LazyPattern(
    r"did ?n['o]?t (?:we|i)|(?:always )?here (?:for|if)|to.?do list|shopping list|calendar|reminder|alarm"
    r"|playlist|as (?:i|we) (?:said|told)|\bi(?:'m| am) (?:doing|not asking|just|still waiting|counting|talking|here|with you|proud)"
    r"|(?:love|miss|thinking of|proud of|believe in|waiting for|counting on|rooting for) you|\byou\b.*\bright\b"
    r"|\bi (?:will|'ll|can|could|would|was|had|have been|think|thought|know|guess|said|saw|used|don't know|tried)\b(?=.*\byou\b)"
)
"""Addressed to the listener for its own sake: comfort, argument, a to-do list."""


def worth(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    """Whether `body`, shaped text, can be a fact to keep.

    `after_comma`: a break stands between verb and body, as in discourse; `firmly`: it was put as a request.
    """
    if kind == "strong":
        return len(body) >= 2 and not body.startswith(("to ", "方便", "you ", "your ")) and not _THIN.fullmatch(body)
    if not p.CJK.search(body):
        return _worth_en(body, kind, after_comma, firmly)
    if kind in ("fact", "told"):
        return _plain_fact(body)
    if _STANDING.match(body) and p.MINE.search(body):
        return True
    if _ADVICE.match(body) or _TENDER.search(body):
        return bool(_STANDING.match(body))
    if p.MINE.search(body):
        told = p.MINE.match(body) or tells(body) or not p.CJK.match(body)
        return bool(told) and not _BARE_NOUN.fullmatch(body) and not body.startswith(("你", "您"))
    if after_comma and not _DATA.search(body):
        return False
    told = len(body) >= 4 and (_PREDICATE.search(body) or _STARTS_WITH_TIME.match(body) or p.QUOTED in body)
    return bool(told) and not _MAXIM.search(body)


def plain(part: str) -> bool:
    """Whether a statement that stands before its command is a plain fact about the speaker."""
    if p.CJK.search(part):
        return _plain_fact(part)
    return bool(_STATEMENT_EN.match(part)) and not _NOT_FACT_EN.search(part)


def tells(part: str) -> bool:
    """Whether it says something of anything: a predicate, a number, a time."""
    return bool(_PREDICATE.search(part) or (not p.CJK.search(part) and _CONCRETE_EN.search(part)))


def _plain_fact(body: str) -> bool:
    return (
        bool(_FACT_ZH.match(body)) and not _REMINISCENCE.search(body) and not _TENDER.search(body) and "你" not in body
    )


def _worth_en(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    if _NOT_FACT_EN.search(body):
        return False
    if _STATEMENT_EN.match(body):
        return True
    third = kind == "weak" and (firmly or not after_comma) and _THIRD_EN.match(body) and _CONCRETE_EN.search(body)
    return bool(third) and not _GENERIC_EN.search(body)
