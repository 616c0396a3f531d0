"""Reads the answer to a question about memories: yes, 1 and 3, all, never mind, or the words that were missing.

Only the next thing the person says can be one; what is none is ordinary talk.
"""

from bot.memory import patterns as p
from bot.memory.numbers import SEVERAL, listed, numbered
from bot.memory.patterns import FILLER, GREETING, PARTICLE, POLITE
from bot.memory.reading import shaped
from bot.memory.wording.signs import NAME
from bot.memory.worth import thin
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.types.memory import MemoryCommand, Question

MOST_CHARS = 60
"""An answer that chooses is short."""

NAME_CHARS = 24
"""Longest name that is taken as one."""

_PIECE = f"(?>[ ,。那]|{POLITE}|{GREETING}|{FILLER}|{PARTICLE})"
_BEFORE, _AROUND = f"{_PIECE}*?", f"{_PIECE}*+"
"""A no or a yes may open ordinary talk as well (no, wait): what comes before the answer takes as little as it can."""


def _said(words: str) -> LazyPattern:
    return LazyPattern(f"(?:{_BEFORE}(?:{words}))+{_AROUND}")


_NO = _said(
    "算了|没什么|(?:我)?(?:忘|不记得)了|不知道|没想好|(?:下次|以后|回头)?再说|取消|不用了?"
    "|不要了?|不是|不删了?|不忘了?|别删|没事了?|都不是?|不|(?:都|全)?(?:留着|留下|保留)"
    "|no(?:ne)?|nope|cancel|never ?mind|forget it|leave it|neither|nothing|i forg[eo]t|(?:i )?do ?n[o']t know"
    "|maybe later|later|keep (?:it|them|that|all|both|everything)"
)
_LATER = LazyPattern(
    f"{_AROUND}(?:(?:你|先)?稍?等(?:一?等|一?下|会儿?|我(?:一?下|想想|看看|查查|找找)?)|稍[等候](?:一?下|片刻)?|慢着"
    "|(?:让?我)?(?:先|再)?(?:想|看|查|找)(?:一?想|一?看|一?下|一?查|一?找)|(?:wait|hold on|hang on"
    "|(?:one|a|just a|gimme a) ?(?:sec(?:ond)?|moment|minute|min)"
    f"|let me (?:think|see|check)|brb|give me (?:a|one) (?:sec(?:ond)?|moment|minute))(?![a-z])){_AROUND}"
    f"(?:(?:我|让我)?(?:想想|看看|找找|查查)|let me (?:think|see|check)|(?:a|one) (?:sec|second|moment|minute))?{_AROUND}"
)
"""What asks for time: the question stays open."""
_ALL = _said(
    "是的?|对的?|确认|确定|全部|全都?|都(?:是|要|忘掉?|删掉?)?|所有|全(?:部)?(?:忘掉?|删掉?|要)|[一两二三]条?都(?:忘|删)掉?"
    "|y|yes|yeah|yep|sure|confirm(?:ed)?|do it|go ahead|all|all of (?:them|it)|both|everything"
)
_CHOSEN = LazyPattern(
    f"{_BEFORE}(?:就|要|忘记?掉?|删掉?|forget|delete|number)*[ ]*"
    "(?P<list>(?:第|no\\.? ?)?#?[0-9]{1,9}(?:[条个号])?(?:(?:[ ,、/和跟与及+&]|and)+(?:第)?#?[0-9]{1,9}(?:[条个号])?)*"
    f"|第?[一二两三四五](?:[条个]))(?:那?[条个])?{_AROUND}"
)
_FINE = LazyPattern(f"{_BEFORE}(?:好的?|嗯+|行|可以|没问题|ok|okay|right|correct){_AROUND}")
"""Agrees where there is one thing to agree to; of several it chooses none."""
_SEVERAL = LazyPattern(f"{_AROUND}(?P<numbers>{SEVERAL}){_AROUND}")
_CALLED = LazyPattern(f"(?:@?{NAME}+[ ,:]*)*")
_BEFORE_IT = LazyPattern(
    f"{_AROUND}(?:我?(?:刚才|刚刚|前面|上面)(?:的|说的)?(?:那|这)?(?:一?[句条个段]|些)?(?:话|事)?|上一?[句条个]"
    f"|(?:that|the) last (?:one|thing|line)|what i (?:just )?said){_AROUND}"
)
_NO_FACT = LazyPattern("[/.][A-Za-z]|```|(?:去死|滚|你真|你个|闭嘴|傻)")
"""A command, code or abuse that comes where a fact was asked for."""
_NUMBER = LazyPattern("(?P<known>#?)(?P<n>[0-9]{1,9})")
_ORDINAL = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}


def answer_to(question: Question, text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """What an answer asks to be done; None when the text answers nothing. `names` call the bot."""
    said = _uncalled(text.strip(), names)
    shape = shaped(fold(said), names).replace(NAME, " ").strip(" ,")
    if not shape or question.kind == "clarify":  # whether the line answers that, the model that asked decides
        return None
    if len(shape) <= MOST_CHARS and _NO.fullmatch(shape):
        return MemoryCommand("let_be", None)
    if _LATER.fullmatch(shape):
        return None
    if question.kind == "which":
        return _chosen(question, shape) if len(shape) <= MOST_CHARS else None
    if "?" in shape or p.QUESTION.search(shape) or thin(said):
        return None
    if question.kind == "name":
        name = _bare(said)
        return MemoryCommand("nick_revoke", name) if 0 < len(name) <= NAME_CHARS else None
    if question.kind == "drop":
        return _named(question, said, shape)
    if _BEFORE_IT.fullmatch(shape):
        return MemoryCommand("remember", None)
    return None if _NO_FACT.match(said) else MemoryCommand("remember", said)


def takes_back(command: MemoryCommand, question: Question) -> bool:
    """Whether 撤销 is said to a question: what was asked for is not to be done, and nothing before it is meant."""
    return command.verb == "undo" and command.number is None and question.kind in ("what", "which", "drop")


def waits(question: Question, text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether a text that answers nothing leaves the question open: 等一下, let me think, 嗯, a smile."""
    shape = shaped(fold(text.strip()), names).replace(NAME, " ").strip(" ,")
    if len(shape) > MOST_CHARS or "?" in shape:
        return False
    return _LATER.fullmatch(shape) is not None or (question.kind not in ("which", "clarify") and thin(text))


def _named(question: Question, said: str, shape: str) -> MemoryCommand | None:
    """What is to be forgotten: numbers, everything, or words, which are a wish when something fits them."""
    if _ALL.fullmatch(shape):
        return MemoryCommand("forget", None, forever=question.forever, scope="all")
    several = _SEVERAL.fullmatch(shape)
    one = _CHOSEN.fullmatch(shape)
    if numbers := listed(several["numbers"]) if several else ():
        return MemoryCommand("forget", None, forever=question.forever, chosen=numbers)
    if one and (number := _NUMBER.search(one["list"])):
        return MemoryCommand("forget", None, int(number["n"]), question.forever)
    if one and (counted := numbered(one["list"])):
        return MemoryCommand("forget", None, counted, question.forever, scope="unsure")
    return MemoryCommand("forget", _bare(said), forever=question.forever, scope="unsure")


def _chosen(question: Question, shape: str) -> MemoryCommand | None:
    offered = question.memories
    if _ALL.fullmatch(shape) or (len(offered) == 1 and _FINE.fullmatch(shape)):
        return MemoryCommand("forget", None, forever=question.forever, chosen=offered)
    match = _CHOSEN.fullmatch(shape)
    if match is None:
        return None
    found: list[int] = []
    listed = match["list"]
    if not any(char.isdigit() for char in listed):
        places = [(False, _ORDINAL[char]) for char in listed if char in _ORDINAL]
    else:
        places = [(bool(each["known"]), int(each["n"])) for each in _NUMBER.finditer(listed)]
    for by_number, number in places:
        if not by_number and 1 <= number <= len(offered):
            found.append(offered[number - 1])
        elif number in offered:
            found.append(number)
        else:
            return None
    return MemoryCommand("forget", None, forever=question.forever, chosen=tuple(dict.fromkeys(found)))


def _uncalled(said: str, names: tuple[str, ...]) -> str:
    """The text without the bot's name before it."""
    folded, origin = fold_mapped(said)
    shape = shaped(folded, names)
    called = _CALLED.match(shape)
    return unfold(said, origin, called.end(), len(shape)).strip() if called and called.end() else said


def _bare(said: str) -> str:
    """A name without the signs around it."""
    return said.strip(" ,，。.!！~～\"'“”「」")
