"""Vocabulary of reminder requests, and the words of a request without its times and courtesies."""

import re

from bot.language.time.parts import MONTH_NAMES, TAKEN, TimeParts
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold_mapped, unfold
from bot.text.length import clip

_DATA = read_table("bot.language.reminders", "vocabulary")


def _whole(text: str) -> str:
    """An alternative with the parts that it names."""
    for name, part in _DATA["part"].items():
        text = text.replace(f"{{{name}}}", part)
    return text


ANY: dict[str, str] = {name: "|".join(map(_whole, texts)) for name, texts in _DATA["any"].items()}
"""Alternatives of regular expressions by their name."""
_NUDGE_EN = ANY["nudge_en"]
ABOUT = LazyPattern(f"{ANY['about']}|{_NUDGE_EN}")
QUOTED = LazyPattern('“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|`[^`]*`|《[^》]*》|^>.*$', re.MULTILINE)
_FULL_STOP = rf"(?<![ap]\.m)(?<!{'|'.join(name for name in MONTH_NAMES if name != 'may')})\.(?=\s)"
"""The dot of p.m. or Jan. ends nothing; May is written out."""
STOPS = LazyPattern(rf"[。！？!?\n；;]|{_FULL_STOP}")
MISSPELT = LazyPattern(ANY["misspelt"])
"""Another sign of the same sound, or the letters of remind in another order."""
SPELT = {1: "后", 2: "提醒", 6: "remind"}
"""What is meant, by its length."""
SPACED = LazyPattern(r"(?<=[㐀-鿿])\s+(?=[㐀-鿿])|(?<=\d)\s+(?=[㐀-鿿](?<![点时分月日号年周]))")
"""A space in Chinese ends a clause."""
MUST = LazyPattern(ANY["must"])
THEN = LazyPattern(ANY["then"])
"""The time that was named just before."""
CORRECTS = LazyPattern(ANY["corrects"])
"""Words beside a request that may mean another time for it."""
WANTED, ENDED, KEPT, CHANGED, GONE = (LazyPattern(ANY[name]) for name in ("wanted", "ended", "kept", "changed", "gone"))
"""What a line says that allows a tool to set a reminder, to cancel one, to change one set just before; that one is to
stay; what is no more."""
DAY_BEFORE = LazyPattern(ANY["day_before"])
"""A day that is counted from another one."""
CLAUSE_END = LazyPattern(rf"[，。！？；,!?;\n…~～]|\.{{2,}}|{_FULL_STOP}")
_BESIDE_HAN = LazyPattern(r"(?<=[㐀-鿿])\s+|\s+(?=[㐀-鿿])")
MOST_CLAUSES, LEAST_CLAUSE = 2, 4
"""Clauses of a request that is set as it is read, and from how many characters on a clause counts."""
_ALL_ZH, _ME, _CALLED_TO = ANY["all_zh"], ANY["me"], ANY["called_to"]
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
CALLED = LazyPattern(rf"一[声下]|[哦喔啊呀吧哈啦呗。，,！!\s]|$|{_CALLED_TO}")
"""What follows 叫我 where it asks to be called; 叫我小陈 is how somebody is called."""
CALLED_TO = LazyPattern(rf"(?<=[叫喊]我){_CALLED_TO}")
"""What somebody else may have asked of its writer, where no hour is named: 11/20 叫我做伴娘."""
PARTICLES = ANY["particles"]
KIN = LazyPattern(ANY["kin"])
"""提醒我妈吃药 may be about somebody else."""
NOT_WHOLE = LazyPattern(ANY["not_whole"])
"""What a title does not say: another wish, or what a time leaves out."""
ASIDE = LazyPattern(rf"\s*(?:{ANY['aside']})")
"""A clause that only says why, or how much, somebody wants it."""
FILL_ZH, FILL_EN = ANY["fill_zh"], ANY["fill_en"]
NOT_ZH = LazyPattern(f"(?:{ANY['not_zh']})$")
_NO_MORE, _DROPPED = ANY["no_more"], ANY["dropped"]
NO_ZH = LazyPattern(f"{_NO_MORE}$")
NO_EN = LazyPattern(f"(?:{ANY['no_en']})$")
VERB = LazyPattern(ANY["verb"])
TIME_EN = LazyPattern(ANY["time_en"])
FRAME = LazyPattern(
    rf"^(?:{FILL_ZH})+(?:我\s*(?:要|得|还)+|我(?=\s))?\s*|^[我咱](?:\s*(?:要|得|还)+\s*|们?\s+|(?=有|去))|[,，\s]*(?:记得|请|麻烦|帮我|到时候?|到点)$"
    r"|^i(?: (?:need|have|want|must|should|always forget|keep forgetting)| got|'ve got) to "
)
TIMELIKE = LazyPattern(ANY["timelike"])
"""What belongs to a time that was not understood as a whole: it is asked, not passed over."""
NEAR = LazyPattern(r"[前后]$")
"""午饭前十一点: what it is near to adds nothing to a time of day."""
TOLD = LazyPattern(ANY["told"])
DONE = LazyPattern(ANY["done"])
ASKS_ZH = LazyPattern(ANY["asks_zh"])
AFTER_EN = LazyPattern(ANY["after_en"])
JOINS = LazyPattern(rf"{TAKEN}(?:或者?|还是|和|跟|与|及|到|至|之前|以前|之间|前|or|and|to|-|~)(?={TAKEN}|$|\s*$)")

CANCEL_ZH = LazyPattern(ANY["cancel_zh"])
SOFT = LazyPattern(
    rf"(?:算了)?(?P<a>.{{0,30}}?)(?:那个|这个|那件事|的事情?|的)?你?就?{_NO_MORE}(?:提醒|[叫喊](?=我)|通知)我?(?P<e>.{{0,30}}?)[了啦吧]*"
    rf"|(?P<b>.{{1,30}}?)的?(?:那个)?(?:提醒|闹钟|闹铃)(?:就|可以|请|都|也)*{_DROPPED}[掉了吧啦]*"
    "|(?P<c>.{2,30}?)就?(?:不用|不必)[了啦]"
    r"|(?:never ?mind|forget|skip|scratch|cancel)(?: about)? (?:the|that|my) (?P<d>.{1,40}?) (?:reminder|alarm)s?"
)
"""A clause that ends a reminder if one fits it: 水电费不用提醒了, never mind the plants reminder."""
CALLED_OFF = LazyPattern(ANY["called_off"])
"""What is told of the thing itself: 开会取消了."""
CANCEL_EN = LazyPattern(ANY["cancel_en"])


TASK_CHARS = 200
"""What is kept of what to remind of."""

_LEAD = LazyPattern(f"(?:{ANY['lead']})+")
_TAIL = LazyPattern(f"(?:{PARTICLES}|{ANY['tail']})+$")
_REASON = LazyPattern(rf"[,，。;；…]\s?(?:{ANY['reason']})")

_YOURS: dict[str, str] = _DATA["yours"]
_MINE: dict[str, str] = _DATA["mine"]
_PERSONS = LazyPattern(
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


def spelt(folded: str) -> str:
    """Folded text with the word for reminding as it is meant."""
    return MISSPELT.sub(lambda found: SPELT[len(found[0])], folded)


def says_more(text: str) -> bool:
    """Whether a message says more than a request is: what of it is the task, and which time is meant, is a judgement."""
    return (
        sum(len(piece) >= LEAST_CLAUSE for piece in CLAUSE_END.split(_BESIDE_HAN.sub("，", text.strip())))
        > MOST_CLAUSES
    )


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


def without_frame(task: str, frame: re.Pattern[str] | LazyPattern) -> str:
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
