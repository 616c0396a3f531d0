"""The vocabulary of plain statements about oneself, for folded clauses (NFKC, simplified, lower case).

It would rather miss a statement than invent one: whatever smells of doubt, fiction or machines is none.
"""

from bot.memory.turning import CHANGES, EN_TURN, TURN
from bot.text.lazy import LazyPattern


def any_of(*words: str) -> str:
    return "(?:" + "|".join(words) + ")"


LINK = LazyPattern(
    r"(?i)\b[a-z][a-z0-9+.-]{0,20}://\S*|\bwww\.\S+|\b[a-z0-9-]{1,60}\.(?:com|net|org|io|cn|dev)\b\S*"
    r"|\b[a-z0-9-]{1,60}\.[a-z]{2,12}/\S+|\b(?:mailto|javascript|data|tg|magnet|hxxps?):\S+"
)
INSTRUCTION = LazyPattern(
    any_of(
        r"ignore (?:all |any |the |your )*(?:previous|above|prior|earlier|instruction)",
        r"disregard|override|jailbreak|prompt",
        r"forget (?:all|everything|your)|\b(?:system|assistant|developer) *(?::|mode|message)",
        r"\b(?:always|never) (?:say|answer|reply|obey)",
        r"you (?:must|should|are now|have to|will now)|指令|系统(?:提示|消息|设定|:)|提示词|忽略|无视|越狱|<\|",
        "你(?:必须|应该|现在是|要听|只能)|(?:必须|一定要)(?:回答|回复|服从|听)",
    )
)
"""Words that speak to a model instead of telling something."""

# -- what makes a sentence no statement --------------------------------------------------------------------------------

UNSURE = LazyPattern(
    any_of(
        "如果|假如|假设|要是|倘若|万一|的话|除非|也许|或许|可能|大概|好像",
        "似乎|说不定|恐怕|估计|应该|不一定|还没想好|谁[说讲知]|我猜|凭什么|什么时候",
        "没决定|犹豫|是不是|对不对|还是.*(?:好|呢)$|(?<!好)吗$|难道",
        "差点|幸亏|本来|原本|以为|听说|据说|(?:说|问|喊|讲|道|写|告诉[我他她你]) ?[,:]",
        "梦[见到里]|假装|扮演|角色|台词|歌词|小说|翻译",
        "造句|剧本|作文|例如|比如|开玩笑|骗你|逗你|才怪|狗头|哈哈|笑死",
        "[可真]真(?:是|行|会|棒|不错)|真是太(?:幸运|好|棒)|我谢谢|想得美|我就(?!是|喜|住|在|读|姓|叫|一个|两|有)|^那?我(?:肯定|一定|绝对)[会要就]|才有鬼|做梦",
        "(?:帮我|替我|给我|请你?)[^,]{0,20}:|呵呵|hhh|233|🐶|🙃|🤣|😂|我(?:命令|要求|希望|要|想让?|让|请)你",
        r"\b(?:if|unless|would|might|maybe|perhaps"
        r"|probably|possibly|suppose|imagine|pretend|guess|think)\b",
        r"\b(?:wish|hope|almost|seems?|not sure|dream(?:t|ed|s)?|says?"
        r"|said|told|asked|quote|translate|lyrics|kidding|joking)\b",
        r"\b(?:yay|lucky me|just my luck|yeah,? right|as if|love (?:it )?(?:when|how|that)|oh (?:great|joy"
        r"|wonderful|perfect)"
        r"|just (?:great|perfect|what i needed)|thanks a lot|obviously|any day now|a million|in another life)\b",
        r"\b(?:jk|lol|lmao|rofl|ha(?:ha)+|heh|supposed|used to)\b|['’]d\b",
    )
)
"""Questions, conditions, doubt, reports, fiction and jokes."""
QUOTING = LazyPattern('["“”„«»「」『』`<>{}|=\\\\【】]|^[>#$]')
MACHINES = LazyPattern(
    r"\b"
    + any_of(
        r"errors?|bugs?|crash\w*|(?:re)?install\w*|drivers?|kernel|boot\w*",
        r"disks?|mount\w*|files?|folders?|commands?|terminal|servers?",
        r"packages?|updat\w+|upgrad\w+|config\w*|scripts?|versions?|ubuntu",
        r"debian|fedora|windows|linux|kde|gnome|desktop|laptop|pc|repo\w*",
        r"apt\S*|sudo|root|partition\w*|usb|cd|dvd|iso|wifi|wireless|network\w*",
        r"ip|ssh|code|grub|nvidia|ati|flash|firefox|browser|software",
        r"program\w*|router|cards?|screens?|monitors?|gui|shell|vim|emacs",
        r"gb|mb|ram|issues?|support|channel|irc|nick|distro\w*|xp|vista",
        r"machines?|box|system|download\w*|compil\w*|modules?|menu|keyboard",
        r"mouse|settings?|panel|workspaces?|xorg|wine|bash|python|java|php",
    )
    + r"\b"
)
"""English talk about machines is about the machine, whoever says I."""
TAGGED_ON = LazyPattern(
    "(?:那?你呢|你(?:有|喜欢|也|能推荐|觉得有什么)|有什么(?:推荐|建议)"
    "|(?:what|how) about you|(?:and )?you$|do you|any |can you rec|remember$|you know$)"
)
"""A question that only follows a statement and leaves it standing: 我喜欢跑步,你呢"""
SECOND_PERSON = LazyPattern(r"[你您]|\b(?:you|your|u)\b")
LEAD = LazyPattern(
    r"(?:[\W_]|"
    + any_of(
        "对了|其实|话说|不过|而且|因为|所以|但是?|告诉你|跟你说|还有|另外",
        "顺便|说真的|老实说|说正事|你好|大家好|嗯+|哦+|唉+|哎呀?|啊+|呜+|诶|欸|然后|那|可是|反正|总之|好吧|哇|呃+|额+|唔|齁|讲真|真的|有啦|没有?啦|还好|算了",
        r"(?:and|but|so|because|well|oh|hi|hey|hello|btw|also|actually|anyway|then|plus|tbh|honestly|seriously|omg"
        r"|man|dude|yep|nope|nah|true|fyi|at least"
        r"|honestly|yes|yeah|no|ugh|sorry|ok|okay|by the way)\b",
    )
    + ")*+"
)

# -- time and deeds ----------------------------------------------------------------------------------------------------

_NUMBER = "[0-9一二两三四五六七八九十几]"
TIME = (
    any_of(
        "[今昨明前后]天|大[前后]天|今[早晚日]|昨[晚日]|明[早晚日]|[今明去后前]年|(?:上|下|这|本)月(?:初|底|中)?",
        "(?:上|下|这|本){1,2}个?(?:周|星期|礼拜)[一二三四五六日天末]?",
        "(?:上|下|这|本)个月(?:初|底|中)?|(?:周|星期|礼拜)[一二三四五六日天末]",
        f"{_NUMBER}{{1,3}}月(?:{_NUMBER}{{1,3}}[日号])?|[0-9]{{1,2}}[日号](?![楼线店])",
        "前[几两]天|国庆|春节|中秋|五一|元旦|圣诞节?|[寒暑]假",
        f"{_NUMBER}{{1,2}}(?:天|周|年|个月|个?星期)之?[前后]",
    )
    + "(?:[早晚]上|一早|上午|中午|下午|傍晚|半夜|凌晨)?(?:[0-9]{1,2}(?::[0-9]{2}|点半?))?"
)
_DEED = any_of(
    "去(?![掉除年世死])|到(?![底处时现了])|回(?![复答头想应])|飞|搬",
    "见(?!过)|参加|[面口笔复]试|考(?!虑)|出差|旅[游行]|[结离订]婚|分手|毕业",
    "[入离辞升]职|加班|开会|开学|开始|体检|看(?:病|医生|电影|牙|演唱会|展|房|球|日出)",
    "手术|住院|出院|生病|感冒|发烧|失眠|没睡|熬夜|请假",
    "休假|放假|过?生日|演讲|答辩|交(?![流换代])|完成|收到|拿到|通过",
    "丢|摔|受伤|买|做(?:饭|菜|手术|体检)|[吃喝]了|学|跑[步了]|爬山",
    "打(?:球|疫苗)|比赛|约(?!等)|相亲|接(?![着下受近])|值班|上[班课]|报名|拔牙|聚[会餐]|健身|游泳|露营|逛|玩",
)
_WITH = "(?:们|(?:和|跟)(?:(?![你您他她它])[^,]){1,6}?)?"
_BETWEEN = "(?:(?!想|觉得|认为|希望|说|不用|不必|不需要|[你您他她它])[^,]){0,12}?"
EN_TIME = (
    r"\b"
    + any_of(
        r"today|tonight|yesterday|tomorrow|last (?:night|week|weekend|month|year|summer|winter)",
        r"(?:a|one|two|three|\d{1,2}|a few) (?:days?|weeks?|months?|years?) ago",
        r"(?:this|next) (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring|fall)",
        r"in (?:a|one|two|three|\d{1,2}) (?:days?|weeks?|months?)",
        r"(?:(?:on|next|last|this) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|on (?:may )?\d{1,2}(?:st|nd|rd|th)?",
        r"(?:on |in )(?:january|february|march|april|may|june|july|august|september|october|november|december)",
    )
    + r"\b"
)
_EN_DEED = any_of(
    r"(?:am|are|['’]m|['’]re)(?: going to (?!be able)| gonna | (?:flying"
    r"|moving|travel+ing|starting|meeting|visiting|getting married) )",
    r"(?:am|are|['’]m|['’]re) (?:leaving|having|taking|going|seeing) ",
    r"(?:will|['’]ll) (?:go|fly|move|travel|start|meet|visit|take)\b",
    r"(?:went|flew|moved|travel+ed|met|visited|passed|failed|graduated"
    r"|quit|broke up|finished my|celebrated|adopted|gave birth|saw my)\b",
    r"got (?:married|engaged|fired|promoted|sick|back from|a new job|the job|accepted)\b",
    r"started (?:a|my|working|school|college|learning|taking)\b",
    r"(?:had|have|['’]ve got) (?:a|an|my) (?:\w+ ){0,2}(?:exam|interview"
    r"|surgery|date|meeting|party|accident|operation|appointment)\b",
    r"(?:had|have|['’]ve got) (?:a|an|my) (?:\w+ ){0,2}(?:dinner"
    r"|lunch|baby|fight|test|birthday|flight|deadline|wedding|trip)\b",
)
_EN_SELF = r"(?:i|we)(?=['’ ]) ?(?:just |finally |also )?"

# -- feelings ----------------------------------------------------------------------------------------------------------

FEELINGS: dict[str, float] = {
    "累": -0.5, "疲惫": -0.5, "心累": -0.6, "难过": -0.7, "伤心": -0.7, "难受": -0.6, "心碎": -0.9, "痛苦": -0.8,
    "绝望": -0.9, "崩溃": -0.9, "抑郁": -0.8, "沮丧": -0.7, "失落": -0.6, "低落": -0.6, "孤独": -0.6, "寂寞": -0.5,
    "孤单": -0.6, "焦虑": -0.6, "紧张": -0.4, "害怕": -0.6, "担心": -0.5, "烦躁": -0.5, "烦": -0.5, "郁闷": -0.6,
    "生气": -0.6, "愤怒": -0.8, "委屈": -0.6, "失望": -0.6, "无聊": -0.3, "不开心": -0.6, "不高兴": -0.6, "不爽": -0.5,
    "压力": -0.5, "不好": -0.6, "糟": -0.6, "气": -0.5, "急": -0.4,
    "开心": 0.7, "高兴": 0.7, "快乐": 0.7, "兴奋": 0.7, "激动": 0.6, "幸福": 0.9, "满足": 0.6, "感动": 0.7,
    "怕": -0.5, "慌": -0.5, "后悔": -0.6, "心疼": -0.5, "羡慕": 0.2, "想哭": -0.7, "尴尬": -0.4, "迷茫": -0.5, "无助": -0.7,
    "内疚": -0.6, "愧疚": -0.6, "自卑": -0.6, "不安": -0.5, "想家": -0.5, "舍不得": -0.3, "吓": -0.5, "愁": -0.5,
    "轻松": 0.5, "放松": 0.5, "期待": 0.5, "骄傲": 0.7, "自豪": 0.7, "欣慰": 0.6, "心情": 0.6,
    "happy": 0.7, "excited": 0.7, "thrilled": 0.8, "proud": 0.7, "grateful": 0.7, "relieved": 0.5, "delighted": 0.8,
    "unhappy": -0.6, "sad": -0.7, "tired": -0.5, "exhausted": -0.6, "anxious": -0.6, "nervous": -0.4, "stressed": -0.6,
    "worried": -0.5, "upset": -0.6, "angry": -0.7, "furious": -0.8, "depressed": -0.8, "lonely": -0.6, "scared": -0.6,
    "heartbroken": -0.9, "frustrated": -0.5, "bored": -0.3, "overwhelmed": -0.6, "miserable": -0.8,
    "disappointed": -0.6, "devastated": -0.9, "burned out": -0.7, "burnt out": -0.7, "homesick": -0.5, "hopeless": -0.9,
    "terrified": -0.8, "ashamed": -0.7, "embarrassed": -0.5, "guilty": -0.6, "hopeful": 0.5, "worn out": -0.5,
    "drained": -0.6, "stoked": 0.7, "gutted": -0.7, "awful": -0.7,
    "ecstatic": 0.9, "so done": -0.5, "miss": -0.4, "cried": -0.6, "down": -0.5,
}  # fmt: skip
"""How a feeling's word weighs, -1 (worst) to 1 (best). A scale of our own: the sign matters, the strength is rough."""

_PART = ("压力", "不好", "糟", "气", "急", "吓", "愁", "心情", "miss", "cried", "down")
_MOOD = ("压力(?:好|很|太|特别|有点)?大", "心情(?:很|特别|有点|真)?(?:不好|低落|糟糕?)", "心情(?:很|特别|真|超)?好")
_LONGEST_FIRST = sorted((word for word in FEELINGS if word not in _PART), key=len, reverse=True)
ZH_FEEL = f"(?P<tag>{any_of(*_MOOD, *(word for word in _LONGEST_FIRST if not word.isascii()))})"
EN_FEEL = f"(?P<tag>{any_of(*(word for word in _LONGEST_FIRST if word.isascii()))})"
_DEGREE = "(?:超级|非常|特别|十分|有点儿?|有些|越来越|快要?|好|很|太|真|超|挺|要)"
_NOW = any_of(
    TIME,
    "最近|现在|目前|这[几两]天|此刻|真的|心里|感[到觉]|觉得|实在"
    "|又|也|一整天|整个人|上班|上课|加班|工作|考试|学习|开会| ",
)
_ENDED = r"(?:[死坏极透疯]*(?:我?了)?|的)[了啊呀呜哦噢啦呢诶哎唉嘤惹喔欸]*[\W_]*$"
_MORE = (
    "(?:(?:really|also|absolutely|always|just|still|so|very|truly|currently|both|totally|extremely|super|pretty|a bit"
    "|kind of|feeling|too|all|completely) )*"
)
_EN_SINCE = (
    rf"(?: {EN_TIME}| (?:now|right now|rn|lately|these days|again|at the moment|because .*|after .*|about my .*))*"
)
EMOTION = LazyPattern(
    any_of(
        f"(?:{_NOW}|,)*+我(?:{_NOW})*+(?:{_DEGREE})*?{ZH_FEEL}{_ENDED}",
        f"(?:{TIME}|最近|这[几两]天)(?:{_NOW})*+(?:{_DEGREE})+?{ZH_FEEL.replace('tag', 'tag2')}{_ENDED}",
        rf"(?:{EN_TIME} )?(?:i(?:['’]m| am)|i feel|i(?:['’]ve| have) been"
        rf"|i felt) {_MORE}{EN_FEEL.replace('tag', 'tag3')}{_EN_SINCE}\W*$",
    )
)
ALONE = LazyPattern(
    rf"(?:好|太|真|超){ZH_FEEL}{_ENDED}|(?P<tag2>累|烦|气|急|愁|吓|紧张|难受|郁闷|无聊|开心|心疼)死(?:我)?了[啊呀呜]*[\W_]*$"
)
"""A sentence of nothing but a feeling is the speaker's own: 好累啊, 烦死了."""

# -- events, facts, oneself --------------------------------------------------------------------------------------------

EVENT = LazyPattern(
    any_of(
        f"我{_WITH}[也还就都要会得]{{0,2}}(?:打算|准备|计划|已经)?[在从]?{TIME}{_BETWEEN}{_DEED}",
        f"{TIME} ?我{_WITH}{_BETWEEN}{_DEED}",
        rf"(?=.*{EN_TIME}){_EN_SELF}{_EN_DEED}",
        rf"{EN_TIME} {_EN_SELF}{_EN_DEED}",
        f"我{_WITH}(?:已经|刚刚?|终于|真的|也|又)*{TURN}[了啦](?!吗|没)",
        rf"i(?:['’]ve| have)? (?:just |finally |recently )*{EN_TURN}\b",
    )
)
_OTHERS = "[你您他她它]"
_ZH_WORK = any_of(
    "学生|老师|教师|医生|护士|工程师|程序员|设计师|律师|会计|司机",
    "厨师|作家|画家|演员|歌手|教授|研究生|博士生?|硕士生?|本科生",
    "[小初高中大]学?生|警察|军人|公务员|经理|编辑|记者|摄影师|自由职业者?",
    "全职[妈爸]{2}|农民|工人|店长|消防员|科学家|研究员|分析师",
    "插画师|建筑师|药剂师|飞行员|教练|快递员|外卖员",
)
_EN_WORK = any_of(
    "teacher|doctor|nurse|engineer|programmer|developer|designer",
    "lawyer|accountant|driver|chef|cook|writer|painter|actor|actress",
    "singer|professor|student|police officer|soldier|journalist",
    "reporter|translator|photographer|farmer|scientist|researcher",
    "analyst|consultant|architect|pharmacist|pilot|coach|musician",
    "dentist|librarian|electrician|plumber|carpenter|mechanic",
    "barista|waiter|waitress|freelancer|parent|mom|mother|dad|father|veterinarian|vet|therapist|psychologist",
)
IDENTITY = LazyPattern(
    any_of(
        r"我(?:名字)?叫做?(?![了不做醒他她它你您我人车外])[^,的了着过你您他她它我叫]{1,12}(?<![来去走饭床])[\W_]*$",
        r"我的?名字(?:是|叫)(?![这那])[^,的了你您他她它]{1,12}$|我姓[一-鿿]{1,2}[\W_]*$",
        f"我今?年?(?:已经|才|刚)?{_NUMBER}{{1,4}}岁[了半]*[\\W_]*$",
        f"我(?:现在|目前|也)?是一?[名位](?:(?!{_OTHERS})[^,]){{2,14}}$",
        rf"我(?:现在|目前|也)?是(?:一?个)?(?:(?!{_OTHERS}|[这那的不])[^,]){{0,8}}{_ZH_WORK}[\W_]*$",
        r"我(?:是|来自)(?!.*[的个这那好坏自本主老新机男女病局成路熟])(?!.{0,4}[你您他她它])[一-鿿]{2,5}人[\W_]*$",
        r"my (?:\w+ )?name(?: is|['’]s) \S+(?: \S+){0,2}$|i(?: am|['’]m) called \S+(?: \S+)?$",
        rf"i(?:['’]m| am) (?:currently |also )?an? (?:[a-z-]+ ){{0,3}}{_EN_WORK}\b",
        r"i(?:['’]m| am) \d{1,2} years? old\b",
    )
)
_NOT_LIKED = any_of(
    r"(?:it|that|this|th[eo]\w*|how|when|your?|u|them|him|her|being|where|an?|one|having|using|any)\b",
    r"to (?:see|know|hear|say|have|get|be)\b",
)
_KIN = "(?:哥哥|姐姐|弟弟|妹妹|孩子|儿子|女儿|女朋友|男朋友|猫|狗|鸟)"
_EN_KIN = (
    "(?:dogs?|cats?|kids?"
    "|sons?|daughters?|brothers?|sisters?|children|child|parrots?|rabbits?|husband|wife|girlfriend|boyfriend)"
)
_PLAYED = "(?:piano|guitar|violin|drums|cello|flute|tennis|chess|basketball|football|soccer|badminton)"
KNOWLEDGE = LazyPattern(
    any_of(
        *CHANGES,
        "我(?:真的|从小|一直|平时|特别|非常|超级?|最|很|也|还|都|比较|就"
        "|挺|不太|不是很|不)*+(?:喜欢|讨厌|热爱|受不了|爱(?=[吃喝看听玩])"
        f"|怕(?=[黑高狗猫蛇虫蜘打鬼冷热辣]))(?!{_OTHERS}|[这那的过上死得了]|看到|别人|被)[^,]{{1,30}}",
        f"我对(?:(?!{_OTHERS})[^,]){{1,10}}?(?:严重|不|有点|很容易)?过敏",
        f"我(?![妈爸姐哥弟妹奶爷儿女朋同老])(?:(?!{_OTHERS})[^,对]){{1,6}}?过敏",
        "我(?:现在|目前|一直|[和跟][^,]{1,5}?)*?住在?(?![院校这那过了的])[^,]{2,20}",
        "我(?:家|现在|们家)*?养[了着有]?[一二两三四五六几0-9]*[只条头个匹][^,]{1,20}",
        f"我(?:现在|目前|一直|也|还)*?在(?!努力|认真|拼命|好好|忙|想|找|这|那|准备|专心|外面|用|看|{_OTHERS})[^,]{{1,12}}?"
        "(?:工作|上班|上学|读书|念书|读研|读博|实习)(?![的时])",
        f"我(?:从来|一直|从|平时|都|真的|是)*?不(?:能吃|能喝|吃|喝|抽烟"
        f"|会(?=游泳|开车|做饭|喝酒))(?!{_OTHERS}|[了这那早午晚饭])",
        "我(?:是个?|吃)(?:素食者|全素|素)|我属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|我是[一-鿿]{2}座",
        "我的?(?:生日|专业|职业|老家|家乡|爱好|血型|星座|女朋友|男朋友|老婆|老公)[是在叫](?![这那不])[^,]{1,20}",
        f"我有[一二两三四五0-9]*[个只条][^,的你]{{0,4}}?{_KIN}",
        rf"i {_MORE}(?:like|love|enjoy|hate|dislike|adore"
        rf"|can['’]t stand|do(?:n['’]|n| no)t like) (?!{_NOT_LIKED})\w+",
        r"i(?:['’]m| am) (?:\w+ )?allergic to \w+|i(?:['’]m| am) (?:originally )?from (?!(?:the|a|my)\b)\w+",
        r"i(?:['’]m| am) (?:a )?(?:vegetarian|vegan)\b|i was born (?:in|on) \w+|my birthday(?: is|['’]s) \w+",
        rf"i {_MORE}live (?:in|near|with my) (?!a virtual|fear|hope)\w+|i {_MORE}work (?:at|as an?|for) \w+",
        rf"i have (?:an?|one|two|three|four|\d) (?:[a-z-]+ ){{0,2}}{_EN_KIN}\b|i play (?:the )?{_PLAYED}\b",
        r"i (?:don['’]t|do not|never) (?:eat|drink|smoke)\b|my favou?rite \w+(?: \w+)? is \w+",
    )
)

# -- small talk --------------------------------------------------------------------------------------------------------

SMALL_TALK = LazyPattern(
    r"(?:[\W_]|"
    + any_of(
        "[你您]们?好呀?|大家好|哈[喽啰]|嗨|在[吗么不]|早上?好?|[晚午]安",
        "(?:晚上|中午|下午)好|早安|拜拜?|再见|回见|明天见|谢谢[你您]?|多谢|感谢|不客气|没事",
        "好[的吧呀啊嘞]?|嗯+|哦+|噢+|啊+|哈+|呵+|嘿+|行|对|是的?|不是|可以|知道了",
        "收到|我?(?:先|要|得)*去?睡(?:觉|了|啦)+|我?(?:先|要)*(?:走|下|撤)了?",
        "[吧呢啦呀吗嘛了]|有人吗|醒了吗|吃了吗|辛苦了|晚点聊|回头聊|下次聊|你是谁|你在干嘛|你在干什么",
        r"(?:hi|hey+|hello+|yo|morning|good (?:morning|evening|night|afternoon)|gn|bye+"
        r"|goodbye|see (?:you|ya)(?: (?:later|tomorrow|soon))?|thanks?(?: you)?|thx)\b",
        r"(?:ty|np|ok(?:ay)?|yes|yeah|yep|no|nope|lol|lmao|haha+|hmm*|oh|ah|cool|nice|great"
        r"|sure|right|how are you(?: doing)?|what['’]?s up|so much|there|all|everyone)\b",
        r"(?:are )?you there\b|i['’]?m (?:off|going) to (?:bed|sleep)\b|good\b|very much\b|a lot\b",
    )
    + ")*+$"
)
"""Greetings, thanks and nods: a message of nothing else says nothing."""
QUESTION = LazyPattern(r"[?？]\s*$|[吗么]$|^(?:what|who|where|when|why|how|which|do|does|did|is|are|can|could|will)\b")
RECALLING = LazyPattern(
    r"[我俺].*(?:什么|哪|谁|几[点号]|多少)|(?:还)?记得.*[吗么]"
    r"|\b(?:what|where|when|who)\b.*\b(?:i|my)\b|do you remember"
)
"""A question about what was told before tells nothing new."""
