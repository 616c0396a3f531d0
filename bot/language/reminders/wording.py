"""Vocabulary of reminder requests, and the words of a request without its times and courtesies."""

import re

from bot.language.time.parts import TAKEN, TimeParts
from bot.text.fold import fold_mapped, unfold
from bot.text.length import clip
from bot.text.patterns import LazyPattern

_NUDGE_EN = (
    r"(?:ping|nudge|poke|buzz|bug|nag|prod|pester|shout at|yell at|holler at|text|message|alert|notify)"
    r" (?:me|us)\b|tell (?:me|us)(?= to\b)"
    r"|give (?:me|us) an? (?:little |quick )?(?:nudge|shout|buzz|ping|poke|prod|holler|heads[- ]up)"
)
ABOUT = LazyPattern(
    "(?:不用|不必)(?:了|啦)|提醒|闹钟|闹铃|[叫喊催敲戳踢滴盯提](?:着?我|大家|一下)|叫醒|通知我|让我忘|吱一?个?声|盯着点|remind|wake|alarm"
    rf"|{_NUDGE_EN}|(?:ping|call|cue|nudge|poke)我|let (?:me|us) forget|make sure|get me "
)
QUOTED = re.compile('“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|`[^`]*`|《[^》]*》|^>.*$', re.MULTILINE)
STOPS = re.compile(r"[。！？!?\n；;]|(?<![ap]\.m)(?<!jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\.(?=\s)")
MISSPELT = re.compile(
    r"(?a)题醒|提型(?=我)|(?<=小时)候(?=提醒|[叫喊提]我)|\b(?!remind)(?=\w*n)(?=\w*m)r[emind]{5}(?= (?:me|us)\b)"
)
"""Another sign of the same sound, or the letters of remind in another order."""
SPELT = {1: "后", 2: "提醒", 6: "remind"}
"""What is meant, by its length."""
SPACED = re.compile(r"(?<=[㐀-鿿])\s+(?=[㐀-鿿])|(?<=\d)\s+(?=[㐀-鿿](?<![点时分月日号年周]))")
"""A space in Chinese ends a clause."""
MUST = re.compile(r"记得|别忘|一定|务必")
THEN = re.compile(r"到时候?|到点|那时候?")
"""The time that was named just before."""
CORRECTS = re.compile(
    r"不对|不是|错了|改|还是|或者?|要不|\b(?:or|no|not|wait|actually|instead|rather|make (?:it|that)|correction)\b"
)
"""Words beside a request that may mean another time for it."""
CLAUSE_END = re.compile(
    r"[，。！？；,!?;\n…~～]|\.{2,}|(?<![ap]\.m)(?<!jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\.(?=\s)"
)
_ALL_ZH = "(?:我们|咱们?|大家伙?儿?|所有人|全体|各位)"
_ME = "(?:me|us(?: all)?|every(?:one|body)|all of us|the (?:group|team|family|class))"
SHARED = LazyPattern(rf"{_ALL_ZH}|我们|大家|(?a:\b(?:us|every(?:one|body)|the (?:group|team|family|class))\b)")
"""Whom a request names that is for all of a group."""
ZH = LazyPattern(
    rf"(?P<me>收到(?:你的|一个)?提醒(?![你他她])|(?:提醒|通知|remind|remind me ?)(?:一下|下)?(?:{_ALL_ZH}|我(?!们|自己))"
    r"(?!(?:已经|早就?|都|刚|也)*(?:看到|收到|知道|听到|忘|没))"
    r"|(?:别|不要)让(?:我们?|大家)忘(?:记|了)*"
    r"|(?<=[点时候得])提醒(?:一?下)?(?=[呗吧哈啊哦啦喔呀~]*(?:[。，,！!…\n]|$)))|(?P<wake>叫醒我|"
    r"(?:叫|喊)我(?:起床|起来|起身|醒)"
    r"|(?:叫|喊)我(?=[^，。,!！?？\s]{2,10}起床))"
    rf"|(?P<call>吱(?:一|个|一个)?声|(?:敲|戳|踢|滴|盯着?)(?:{_ALL_ZH}|我)?(?:一声|一下|点)|(?a:ping|call|cue|nudge|poke)我(?:一声|一下)?"
    rf"|[叫喊催提](?:{_ALL_ZH}|我))"
    r"|(?P<set>(?:设|(?<![一确决肯必否])定|订|建|加|弄)(?!了|好|过|的)(?:置|定)?(?:一?个|一条|一下)?[^，。,！!？?]{0,16}?"
    r"(?:提醒(?![我他她你您]|一下)|闹钟|闹铃))"
)
EN = LazyPattern(
    rf"(?a)\b(?:(?P<me>remind {_ME}|(?:would |do )?(?:you )?mind reminding {_ME}|(?:don't|dont|"
    r"do not) let (?:me|us) forget)|(?P<wake>wake (?:me|us)(?: up)?|get me (?:up|out of bed))|"
    r"(?P<set>(?:set|create|add|schedule|make|give|i need|i want|i'd like|can i (?:get|"
    r"have))(?: me)?(?: up)? (?:a |an |the |another )(?:quick )?"
    rf"(?:reminder|alarm))|(?P<call>{_NUDGE_EN}|make sure (?:that )?(?:i|we)|reminder(?=:| to))(?!\w))"
)
CALLED = LazyPattern(r"一[声下]|[哦喔啊呀吧哈啦呗。，,！!\s]|$|[去出吃关开喝上看睡收下交写打做拿取带接送买洗发回走]")
"""What follows 叫我 where it asks to be called; 叫我小陈 is how somebody is called."""
PARTICLES = r"[呗齁嗷咧嘞啫㗎喎捏呐咯啰喽啦吧呀啊哦喔哈呢嘛噢欸诶]|唔该晒?|好[吗嘛]|可以[吗咩]|[okOK]{2}"
KIN = re.compile(
    r"(?:老?[妈爸爷奶公婆]|[姐哥弟妹]|外[婆公]|女儿|儿子|女?朋友|男?朋友|同[事学]|老板|娃|家人)(?![^，。,]{0,3}(?:生日|节|纪念日))"
)
"""提醒我妈吃药 may be about somebody else."""
NOT_WHOLE = re.compile(
    r"[，,。；;!！?？].*(?:提醒|remind)|再[叫喊提]|除了|除外|不算|不包括|跳过|\b(?:except|unless|apart from|other than|but not)\b"
)
"""What a title does not say: another wish, or what a time leaves out."""
ASIDE = LazyPattern(
    r"\s*(?:不然|否则|要不然?|因为|毕竟|省得|免得|以免|懒得|怕|别|不要|谢谢|(?a:because|otherwise|or else|don't|thanks?|cheers)\b)"
)
"""A clause that only says why, or how much, somebody wants it."""
FILL_ZH = (
    r"别忘了?|不要忘了?|请|麻烦|劳烦|拜托|帮我|记一?下|记着|您|帮忙|给我|替我|"
    r"到时候?|到点|话说|以后|之后|今后|往后|eod|cob|也|都(?=提醒|[叫喊]|$)|"
    r"嗯+|哦|噢|啊+|呃|欸|诶|哎呀?|唉|好的?|行|等?到(?![家站了])|等我?|快|我想(?=在|要)|我想$|记得|记住|一定|务必|要|到时候?|到点|的时候|时候|你|可不可以|能不能|可以|能|再|就|"
    r"然后|还有|对了|那么|那|在|于|大概|大约|左右|准时|喂|嗨|嘿|哈喽|如果|要是|万一|我?(?:要|想|需要|希望|想要|想让|想请|想麻烦)你|(?:如果|要是|万一)?我(?:忘了|"
    r"忘记了?|没记住)(?:的话)?|一下|下|的|从|等|于"
)
FILL_EN = (
    r"please|pls|plz|can (?:yo)?u|could (?:yo)?u|would (?:yo)?u|will (?:yo)?u|hey|hi|hello|yo|ok(?:ay)?|"
    r"and|then|also|so|just|i need you to|btw|oh|ah|ugh|um|uh|hmm|well"
    r"|anyway|actually|by the way|quick(?:ly)?|one more thing|do me a favou?r|be a dear|maybe|possibly|"
    r"kindly|if (?:yo)?u could|if (?:yo)?u can"
    r"|(?:i(?:'d| would)|it(?:'d| would)) (?:love it|be great|be nice|be awesome|appreciate it|like it)|"
    r"i want you to|i'd like you to|don't forget to|make sure (?:to|you)|at|on|to|by|for|the|thanks"
)
NOT_ZH = re.compile(
    r"(?:不用|不要|不必|别|甭|无需|不需要|用不着|不许|没必要|没|不会|不该|为什么|为何|怎么|干嘛|是不是|有没有|会不会|(?<![开聚约宴机舞晚年班社])会|总是?|谢谢)$"
)
NO_ZH = re.compile(r"(?:不用|不要|不必|别|甭|无需|不需要|用不着)(?:再)?$")
NO_EN = re.compile(
    r"(?:(?:don't|dont|do not|no longer)(?: have to| need to| need you to)?|never|no need to|you needn't|stop"
    r"|stop to|no longer)$"
)
VERB = re.compile(
    "(?:我(?:还|也|得|要|有|想|打算|准备|约|需要|必须)*)?(?:的|会议?$|[有约开去交打吃看上接取拿买做考面还跟参起出坐赶缴领约拜复回寄])|我(?:还|也|得|要|有|想|打算|准备|约|需要|必须)"
)
TIME_EN = re.compile(
    r"\b(?:weeks?|months?|years?|days?|next|after|before|last|first|second|third|half|quarter|other|eve|of|or|\d+)\b"
)
FRAME = re.compile(
    rf"^(?:{FILL_ZH})+(?:我\s*(?:要|得|还)+|我(?=\s))?\s*|^我(?:\s*(?:要|得|还)+\s*|\s+|(?=有|去))|[,，\s]*(?:记得|请|麻烦|帮我|到时候?|到点)$"
    r"|^i(?: (?:need|have|want|must|should|always forget|keep forgetting)| got|'ve got) to "
)
TIMELIKE = re.compile(
    r"(?:[0-9零一二三四五六七八九十两半点时分秒刻钟周月年天日号早中晚午上下前后内外间之过到起第个末底初旬约近许多几来整期节都]|季度|未来|接下来|最近|民国|星期|礼拜|左右|随便|可以|什么|[ap]m)+"
    r"|[^\s,，]{1,8}[前后]"
)
NEAR = re.compile(r"[前后]$")
"""午饭前十一点: what it is near to adds nothing to a time of day."""
"""What belongs to a time that was not understood as a whole: it is asked, not passed over."""
TOLD = re.compile("[说讲]|告诉|答应|表示|(?<![开聚约宴机舞晚年班社体])会[在于]?$")
DONE = re.compile(r"(?:了吗|了没有?|过吗|了么|了嘛)[?？。!\s]*$")
ASKS_ZH = re.compile(r"什么|谁|哪[个里儿些]|为啥|咋|怎么|多少")
AFTER_EN = re.compile(
    r"(?:again )?(?:what|who|whom|where|when(?! (?:i|we|you|the|it|he|she|they|my)\b)|how|why|which|whether|of)\b"
)
JOINS = re.compile(rf"{TAKEN}(?:或者?|还是|和|跟|与|及|到|至|之前|以前|之间|前|or|and|to|-|~)(?={TAKEN}|$|\s*$)")

CANCEL_ZH = re.compile(
    r"^(?:取消|删掉|删除|删了|去掉|关掉|关了)(?:一下)?(?:那个|这个|我的|刚才的|刚才那个|那条|这条|第)?(?P<a>.{0,60}?)(?:的)?(?:提醒|闹钟|闹铃)(?:吧|了|一下)?$"
    r"|^把?(?P<b>.{0,60}?)(?:的)?(?:提醒|闹钟|闹铃)(?:给?我?)?(?:取消|删掉|删除|删了|去掉|关掉|关了)(?:掉)?(?:吧|了|一下)?$"
    r"|^(?:取消|删掉|删除|关掉)(?:提醒|闹钟)(?P<c>.{0,60})$"
)
_NO_MORE = "(?:不用|不必|不要|别|甭|无需|不需要|用不着)(?:再)?"
_DROPPED = "(?:取消|删|关|去掉|不用|不要)"
SOFT = re.compile(
    rf"(?P<a>.{{0,30}}?)(?:那个|这个|那件事|的事情?|的)?你?就?{_NO_MORE}(?:提醒|[叫喊](?=我)|通知)我?[了啦吧]*"
    rf"|(?P<b>.{{1,30}}?)的?(?:那个)?(?:提醒|闹钟|闹铃)(?:就|可以|请|都|也)*{_DROPPED}[掉了吧啦]*"
    "|(?P<c>.{2,30}?)就?(?:不用|不必)[了啦]"
    r"|(?:never ?mind|forget|skip|scratch|cancel)(?: about)? (?:the|that|my) (?P<d>.{1,40}?) (?:reminder|alarm)s?"
)
"""A clause that ends a reminder if one fits it: 水电费不用提醒了, never mind the plants reminder."""
CALLED_OFF = re.compile("(?:已经)?(?:取消|改期|延期|推迟|搞定|办好|做完|解决)[了啦]*$")
"""What is told of the thing itself: 开会取消了."""
CANCEL_EN = re.compile(
    r"^(?:please )?(?:cancel|delete|remove|drop|turn off) (?:(?:that|this|the|my|all(?: of)?(?: my)?) )*"
    r"(?P<a>.{0,60}?) ?"
    r"(?:reminders?|alarms?)(?: (?:for|about|to|of|on))?(?P<b>.{0,60})$"
)


TASK_CHARS = 200
"""What is kept of what to remind of."""

_LEAD = LazyPattern(
    r"(?:一下|一声|一次|到时候?(?!了)|下(?![午个周班次星礼月载单雨楼车])|的是|的|[吗嘛](?=[?!。,\s])|之前|以前|[喔哦啊呀吧哈啦呢嘛](?=[,。!?~\s])|:|[,.!?。、!…~]|\s"
    r"|(?:我|咱)?(?:要|得|需要)(?![求点价命债领闻紧素害塞到了])(?=.)"
    r"|(?a:(?:up|to|about|that|for|of|with|and|an?|-)\b(?!['’])|(?:at|on|by|in)\s+(?=to\b)))+"
)
_TAIL = LazyPattern(
    rf"(?:{PARTICLES}|大[概约]|左右|差不多|[,，]?(?:千万|可)?别(?:又|再)?(?:给?忘)(?:了|记)*|哈+|哟|好不好|好嘛|可以吗|行吗|行不行|可不可以|吗|嘛"
    r"|(?:谢谢|多谢|感谢|谢)(?:你|您|啦|了|宝贝?|亲|哦|喔|哈)*|拜托(?:你|您)?(?:了|啦)?|感恩|辛苦(?:你|您)?(?:了|啦)?|麻烦(?:你|您)?(?:了|啦)|么么哒|爱你"
    r"|(?a:\b(?:please|pls|plz|thanks(?: a lot| so much)?|thank (?:you|u)(?: so much)?|thx|ty|ok|okay|"
    r"lol|haha|will you|would you|can you|then"
    r"|alright|at|on|by|for|to|from|is|are|maybe)\b)|\s|[。,!?~.、…\U0001f300-\U0001faff\u2600-\u27bf])+$"
)
_REASON = LazyPattern(
    r"[,，。;；…]\s?(?:不然|否则|要不然?|因为|毕竟|省得|免得|以免|懒得|怕|我(?!们)|(?a:because|otherwise|or else|cause|i|i'm|i'll|i've|or i)\b)"
)

_YOURS = {"我": "你", "我们": "你们", "我們": "你們", "i": "you", "i'm": "you're", "i’m": "you’re", "i am": "you are",
          "i've": "you've", "i'll": "you'll", "i'd": "you'd", "i was": "you were", "me": "you", "my": "your",
          "mine": "yours", "myself": "yourself"}  # fmt: skip
_MINE = {"你": "我", "您": "我", "you": "me", "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm",
         "you’re": "I’m", "you are": "I am", "you've": "I've", "you'll": "I'll"}  # fmt: skip
_PERSONS = re.compile(
    r"(?P<kept>[\"“「『][^\"”」』]*[\"”」』]|自我|忘我|我国|我國|你们|你們|你好|迷你|thank you|see you|love you|miss you)|我们|我們|我|你|您"
    r"|(?<![\w'’])(?:i['’]m|i am|i was|i['’](?:ve|ll|d)|i|me|my|mine|myself"
    r"|you['’](?:re|ve|ll)|you are|yourself|yours?|you)(?![\w'’])",
    re.IGNORECASE,
)


def reason_at(folded: str, after: int) -> int | None:
    """Where, after the request itself, its writer goes on to say why."""
    found = _REASON.search(folded, after)
    return found.start() if found else None


def without_times(folded: str, parts: TimeParts) -> str:
    """The folded text with its times blanked out."""
    chars = list(folded)
    for begin, end in parts.spans:
        chars[begin:end] = TAKEN * (end - begin)
    return "".join(chars)


def time_words(text: str, folded: str, origin: tuple[int, ...], parts: TimeParts) -> str:
    """The person's own words for the time."""
    taken = "".join(TAKEN if char != TAKEN else "x" for char in without_times(folded, parts))
    return cut_out(text, taken, origin, ())


def cut_out(text: str, blanked: str, origin: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> str:
    """The text without its times and without the parts that are cut out, each left out as one space."""
    keep = [char != TAKEN and not any(begin <= index < end for begin, end in cut) for index, char in enumerate(blanked)]
    pieces: list[str] = []
    begin = 0
    for index in range(len(keep) + 1):
        if index == len(keep) or not keep[index]:
            if begin < index:
                pieces.append(unfold(text, origin, begin, index))
            begin = index + 1
    return re.sub(r"\s+(?=[,.!?，。！？])", "", re.sub(r"\s+", " ", " ".join(pieces))).strip()


def without_courtesy(task: str) -> str:
    """Words without what leads to them and the courtesy behind them, in either script."""
    before = None
    while before != task:
        before = task
        folded, origin = fold_mapped(task)
        lead, tail = _LEAD.match(folded), _TAIL.search(folded)
        begin, end = lead.end() if lead else 0, tail.start() if tail else len(folded)
        task = unfold(task, origin, begin, end) if begin < end else ""
    return clip(task, TASK_CHARS)


def in_second_person(task: str, *, back: bool = True) -> str:
    """What somebody wants to be reminded of as it is said to them: 我 is 你 and my is your; nuan (你, you) is 我, me.

    Without `back` what they call you stays: it may be anybody.
    """

    def turned(found: re.Match[str]) -> str:
        word = found[0]
        if found["kept"]:
            return word
        other = _YOURS.get(word.casefold())
        other = _MINE.get(word.casefold(), word) if other is None and back else other or word
        return other[:1].upper() + other[1:] if word[:1].isupper() and word[:1] != "I" else other

    return _PERSONS.sub(turned, task)


def reminder_title(text: str) -> str:
    """What a model says to remind of; in the person's own voice it is turned to them."""
    mine = any(found[0].casefold() in _YOURS for found in _PERSONS.finditer(text))
    yours = any(found[0].casefold() in _MINE for found in _PERSONS.finditer(text))
    return in_second_person(text) if mine and not yours else text


def without_frame(task: str, frame: re.Pattern[str]) -> str:
    """Words without what matches a frame of folded text, once at either end."""
    for _ in range(2):
        folded, origin = fold_mapped(task)
        found = frame.search(folded)
        if found is None:
            break
        task = (
            unfold(task, origin, found.end(), len(folded))
            if found.start() == 0
            else unfold(task, origin, 0, found.start())
        )
    return task
