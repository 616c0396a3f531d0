"""What shows that a clause tells a fact of its own, or leans on the one before; folded. Parts of expressions."""

from bot.memory.wording.facts_zh import STANDING

JOIN_ZH = "(?:还有|另外|并且|而且|同时|以及|然后)[,: ]*(?=我|[^,]{0,4}(?:是|在|[0-9]))"
JOIN_EN = "(?:(?:and|plus|also|that|finally|lastly)[ ,]+)+"
"""What only joins a fact to the one before, and is no part of it."""

LEANS_ZH = (
    "所以|因[为此]|由于|但|不过|可是?|然而|虽|尽管|就|才|却|也|都|还|又|再|只是|尤其|特别|比如|例如|包括|不然|否则|要不|一(?!直|般|个人)"
    "|结果|于是|其[次中实余]|而|别|请|不要|不能|不可|不许|你|您|如果|要是|假如|除非|因|当|每次|以后|今后|反正|毕竟|原来|最后|怕[^,]{0,6}就"
)
REFERS_ZH = "[它她他其]|这|那(?![不])|对方|前者|后者"
OPEN_ZH = "(?:说|讲|觉得|认为|以为|知道|时候?|[之以]后|[之以]前|的话|就是|[叫是:和跟与]|不管|无论|因为|如果)$"
"""A clause that ends so goes on in the next."""
WHOLE_ZH = f"如果|要是|假如|只要|只有|无论|不管|当|因为|由于|虽然|尽管|既然|自从|万一|首先|除非|{STANDING}|(?:请|你)?(?:别|不要)"
"""A content that begins so is one, whatever follows."""

_PERSONAL = (
    "生日|年龄|电话|手机号?码?|号码|地址|住址|邮箱|微信|qq|血型|星座|属相|生肖|身高|体重|职业|工作|公司|学校|专业|名字|姓名|昵称|英文名|学号|工号"
    "|老家|籍贯|家乡|车牌号?|鞋码|尺码|衣服尺码|爱好|忌口|过敏原|性别|国籍|民族|学历|门牌号|身份证号?|工资|密码|口味"
)
DATUM_ZH = f"(?:我的)?(?:{_PERSONAL})(?:是|系|:|=|为|叫|在|[0-9]|(?<=血型) ?[abo])[^,]*[^, ]"
PREDICATE_ZH = (
    "(?:(?:现在|目前|平时|最近|从小)?(?:住在|住(?=[^,着的]{2,8}$)|在[^,]{1,10}(?:上班|工作|读书|上学|念书)|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]$|姓[^,]{1,2}$"
    "|今年[0-9一二三四五六七八九十]{1,3}岁|(?:很|最|特别|超|非常)*(?:喜欢|讨厌|爱[吃喝看听玩])|不[吃喝抽]|对[^,]{1,12}(?:过敏|不耐受)))"
)
"""Told of the speaker although nobody is named."""
SPEAKER_ZH = (
    "(?:我(?!的|们|家|[^,]{0,2}(?:妈|爸|[哥姐弟妹]|儿子|女儿|老[婆公板师家]|朋友|爷|奶|[外公姥]婆|孩子|同事|室友|闺蜜|媳妇|对象|爱人|先生|太太|宝宝|[猫狗]))"
    f"|{DATUM_ZH}$|{PREDICATE_ZH})"
)
INTRODUCES_ZH = (
    "[去换改搬]|出差|旅[行游]|到[^,]{1,6}玩|有[^,]{0,3}[只条个位辆台匹头对]|养|买|认识|嫁|娶|生了|收养|叫[^,]*的"
)
"""After it somebody or something else may be told of."""

SUBJECT_EN = "(?:i|i'm|i’m|im|ive|i've|i’ve|i'd|i’d|we|we're|we’re|we've|we’ve|my|our)(?![a-z'’])"
LEANS_EN = r"(?:so|because|but|which|who|since|or|then|if|when|although|though|unless|while|until|especially|not)\b"
REFERS_EN = r"\b(?:it|them|they|he|she|him|her|his|hers|their|this|that|these|those|there|its|both)\b"
WHOLE_EN = r"(?:when|if|because|since|after|before|while|although|though|whenever|unless|once|until|every time|as)\b"
OPEN_EN = r"(?:\b(?:that|when|if|because|since|and|or|but|so|after|before|while|with|like|both|think|know|said|hope)$)"
POSSESSED_EN = r"\b(?:my|our|between|both) [a-z'-]+(?: [a-z'-]+)?$"
"""Before a bare "and": my mother and my father are two in one."""
DATUM_EN = (
    r"(?:birthday|phone(?: number)?|address|e-?mail|blood type|height|weight|shoe size|job|favou?rite [a-z ]{2,20})"
    r"(?: is|:| =) ?[^ ]"
)
